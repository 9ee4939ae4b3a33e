//! A model of W-TinyLFU: an LRU window, a segmented LRU, and a frequency sketch whose counters are bytes.

use xxhash_rust::xxh3::xxh3_64;

use super::{Model, take};

/// A sketch of four rows of counters. A counter stops at 15. All counters are halved after ten increments per
/// counter of a row.
struct Sketch {
    rows: [Vec<u8>; 4],
    increments: usize,
}

impl Sketch {
    fn new(counters: usize) -> Self {
        Self { rows: std::array::from_fn(|_| vec![0; counters]), increments: 0 }
    }

    /// Returns the counter of a name in each row. The index is the highest bits of the name's hash times the row's
    /// odd number.
    fn counters(&mut self, name: u64) -> [&mut u8; 4] {
        const ODD: [u64; 4] =
            [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];
        let bytes = [1, name / 100, name % 100 * 4096].map(u64::to_le_bytes).concat();
        let hash = xxh3_64(&bytes);
        let counters = self.rows[0].len() as u128;
        let mut odd = ODD.iter();
        self.rows.each_mut().map(|row| {
            let scrambled = u128::from(hash.wrapping_mul(*odd.next().unwrap()));
            &mut row[((scrambled * counters) >> 64) as usize]
        })
    }

    fn increment(&mut self, name: u64) {
        self.counters(name).into_iter().for_each(|counter| *counter = 15.min(*counter + 1));
        self.increments += 1;
        if self.increments == 10 * self.rows[0].len() {
            self.rows.iter_mut().flatten().for_each(|counter| *counter /= 2);
            self.increments /= 2;
        }
    }

    fn frequency(&mut self, name: u64) -> u8 {
        self.counters(name).into_iter().map(|counter| *counter).min().unwrap()
    }
}

/// W-TinyLFU. The window has 1 % of the entries, and the protected segment has 80 % of the rest.
pub(crate) struct WTinyLfu {
    window: Vec<u64>,
    probation: Vec<u64>,
    protected: Vec<u64>,
    sketch: Sketch,
    capacity: usize,
}

impl WTinyLfu {
    pub(crate) fn new(capacity: usize) -> Self {
        let sketch = Sketch::new(64);
        Self { window: Vec::new(), probation: Vec::new(), protected: Vec::new(), sketch, capacity }
    }

    fn main_len(&self) -> usize {
        self.probation.len() + self.protected.len()
    }

    /// Returns whether the window is too large if it has this number of entries. The capacity of the window is 1 % of
    /// the capacity of the cache, and is not rounded to whole entries.
    fn overflows(&self, entries: usize) -> bool {
        entries * 100 > self.capacity
    }

    fn main_has_room(&self) -> bool {
        self.main_len() < self.max_main()
    }

    /// Returns the capacity of the main part in entries. The window's share is rounded down to a byte, and the main
    /// part gets the rest.
    fn max_main(&self) -> usize {
        let window_bytes = self.capacity * 1024 / 100;
        (self.capacity * 1024 - window_bytes) / 1024
    }

    fn max_protected(&self) -> usize {
        let window_bytes = self.capacity * 1024 / 100;
        (self.capacity * 1024 - window_bytes) * 80 / 100 / 1024
    }

    fn evict(&mut self) {
        let candidate = self.window.first().copied().filter(|_| self.overflows(self.window.len() + 1));
        if candidate.is_some() && self.main_has_room() {
            self.probation.push(self.window.remove(0));
            return self.evict();
        }
        let worst = self.probation.first().or(self.protected.first()).copied();
        match (candidate, worst) {
            (Some(candidate), Some(worst))
                if self.sketch.frequency(candidate) > self.sketch.frequency(worst) =>
            {
                let _ = take(&mut self.probation, worst) || take(&mut self.protected, worst);
                take(&mut self.window, candidate);
                self.probation.push(candidate);
            }
            (Some(candidate), _) => {
                take(&mut self.window, candidate);
            }
            (None, Some(worst)) => {
                let _ = take(&mut self.probation, worst) || take(&mut self.protected, worst);
            }
            (None, None) => {
                self.window.remove(0);
            }
        }
    }
}

impl Model for WTinyLfu {
    fn request(&mut self, name: u64) -> bool {
        self.sketch.increment(name);
        if take(&mut self.window, name) {
            self.window.push(name);
            return true;
        }
        if take(&mut self.probation, name) || take(&mut self.protected, name) {
            self.protected.push(name);
            if self.protected.len() > self.max_protected() {
                self.probation.push(self.protected.remove(0));
            }
            return true;
        }
        if self.window.len() + self.main_len() == self.capacity {
            self.evict();
        }
        let held = self.window.len() + self.main_len() + 1;
        if held > self.sketch.rows[0].len() {
            self.sketch = Sketch::new(held.next_power_of_two());
        }
        self.window.push(name);
        while self.overflows(self.window.len()) && self.main_has_room() {
            self.probation.push(self.window.remove(0));
        }
        false
    }
}
