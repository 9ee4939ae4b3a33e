//! Models of FIFO, CLOCK, SIEVE and S3-FIFO, which move no entry on a hit.

use super::{Model, shorten, take};

pub(crate) struct Fifo {
    pub(crate) entries: Vec<u64>,
    pub(crate) capacity: usize,
}

impl Model for Fifo {
    fn request(&mut self, name: u64) -> bool {
        let is_held = self.entries.contains(&name);
        if !is_held {
            shorten(&mut self.entries, self.capacity - 1);
            self.entries.push(name);
        }
        is_held
    }
}

/// CLOCK as a ring of frames. The ring fills up once, and a hand goes around it.
pub(crate) struct Clock {
    frames: Vec<(u64, u8)>,
    hand: usize,
    capacity: usize,
    max_uses: u8,
}

impl Clock {
    pub(crate) fn new(capacity: usize, max_uses: u8) -> Self {
        Self { frames: Vec::new(), hand: 0, capacity, max_uses }
    }
}

impl Model for Clock {
    fn request(&mut self, name: u64) -> bool {
        if let Some((_, uses)) = self.frames.iter_mut().find(|(held, _)| *held == name) {
            *uses = (*uses + 1).min(self.max_uses);
            return true;
        }
        if self.frames.len() < self.capacity {
            self.frames.push((name, 0));
            return false;
        }
        while self.frames[self.hand].1 > 0 {
            self.frames[self.hand].1 -= 1;
            self.hand = (self.hand + 1) % self.capacity;
        }
        self.frames[self.hand] = (name, 0);
        self.hand = (self.hand + 1) % self.capacity;
        false
    }
}

/// SIEVE by algorithm 1 of the paper. The head of the paper's queue is the end of this list.
pub(crate) struct Sieve {
    queue: Vec<(u64, bool)>,
    hand: Option<usize>,
    capacity: usize,
}

impl Sieve {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { queue: Vec::new(), hand: None, capacity }
    }
}

impl Model for Sieve {
    fn request(&mut self, name: u64) -> bool {
        if let Some((_, is_visited)) = self.queue.iter_mut().find(|(held, _)| *held == name) {
            *is_visited = true;
            return true;
        }
        if self.queue.len() == self.capacity {
            let mut at = self.hand.unwrap_or(0);
            while self.queue[at].1 {
                self.queue[at].1 = false;
                at = if at + 1 == self.queue.len() { 0 } else { at + 1 };
            }
            // The hand advances to the next newer entry, which has this index after the removal.
            self.hand = (at + 1 < self.queue.len()).then_some(at);
            self.queue.remove(at);
        }
        self.queue.push((name, false));
        false
    }
}

/// S3-FIFO by algorithm 1 of the paper.
pub(crate) struct S3Fifo {
    small: Vec<(u64, u8)>,
    main: Vec<(u64, u8)>,
    ghosts: Vec<u64>,
    capacity: usize,
    small_percent: usize,
}

impl S3Fifo {
    pub(crate) fn new(capacity: usize, small_percent: usize) -> Self {
        Self { small: Vec::new(), main: Vec::new(), ghosts: Vec::new(), capacity, small_percent }
    }

    fn is_main_full(&self) -> bool {
        self.main.len() * 100 > self.capacity * (100 - self.small_percent)
    }

    fn evict(&mut self) {
        if self.small.len() * 100 >= self.capacity * self.small_percent {
            self.evict_small();
        } else {
            self.evict_main();
        }
    }

    fn evict_small(&mut self) {
        while !self.small.is_empty() {
            let (name, uses) = self.small.remove(0);
            if uses <= 1 {
                self.ghosts.push(name);
                shorten(&mut self.ghosts, self.capacity * (100 - self.small_percent) / 100);
                return;
            }
            self.main.push((name, 0));
            if self.is_main_full() {
                break;
            }
        }
        self.evict_main();
    }

    fn evict_main(&mut self) {
        while !self.main.is_empty() {
            let (name, uses) = self.main.remove(0);
            if uses == 0 {
                return;
            }
            self.main.push((name, uses - 1));
        }
    }
}

impl Model for S3Fifo {
    fn request(&mut self, name: u64) -> bool {
        let held = self.small.iter_mut().chain(&mut self.main).find(|(held, _)| *held == name);
        if let Some((_, uses)) = held {
            *uses = 3.min(*uses + 1);
            return true;
        }
        while self.small.len() + self.main.len() >= self.capacity {
            self.evict();
        }
        if take(&mut self.ghosts, name) {
            self.main.push((name, 0));
        } else {
            self.small.push((name, 0));
        }
        false
    }
}
