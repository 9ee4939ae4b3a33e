//! The keys for the test of a component: distinct keys in ascending order, stored back to back in one buffer.

use serde::{Deserialize, Serialize};
use workload::{KeyFormat, KeyId, Random};

/// Maximum total size of all keys in bytes, because components count key bytes with 32 bits.
pub(crate) const MOST_BYTES: u64 = u32::MAX as u64;

/// How the numbers of the keys are selected. A key format encodes each number as a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Spread {
    /// The numbers are drawn at random from all numbers of the key format.
    #[default]
    Random,
    /// The numbers are consecutive. Interpolation search and learned indexes have the smallest errors with such keys.
    Even,
}

/// The keys for the test of a component: distinct keys in ascending order, in one buffer.
pub(crate) struct SortedKeys {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl SortedKeys {
    /// Creates `count` keys of a format.
    ///
    /// # Errors
    /// The format has too few different keys, or the total length of the keys exceeds [`MOST_BYTES`]. With
    /// [`Spread::Random`], the format must have at least twice as many different keys as requested.
    pub(crate) fn new(
        format: &dyn KeyFormat,
        count: usize,
        spread: Spread,
        random: &mut Random,
    ) -> Result<Self, String> {
        let room = format.capacity().min(1 << 62);
        let needed = count as u64 * if spread == Spread::Random { 2 } else { 1 };
        if room < needed {
            return Err(format!(
                "keys are too short: only {room} distinct keys exist, and {needed} are needed; use longer \
                 keys or fewer entries"
            ));
        }
        if count as u64 * format.max_bytes() as u64 > MOST_BYTES {
            return Err(format!("{count} keys of {} bytes exceed the limit of 4 GiB", format.max_bytes()));
        }
        let numbers = match spread {
            Spread::Even => (0..count as u64).collect(),
            Spread::Random => numbers(room, count, random),
        };
        let spelt = Self::spell(format, &numbers);
        Ok(if format.ordered() { spelt } else { spelt.sorted() })
    }

    fn spell(format: &dyn KeyFormat, numbers: &[u64]) -> Self {
        let mut keys = Self { bytes: Vec::new(), ends: Vec::with_capacity(numbers.len()) };
        for number in numbers {
            format.append(KeyId::present(*number), &mut keys.bytes);
            keys.ends.push(keys.bytes.len() as u32);
        }
        keys
    }

    fn sorted(self) -> Self {
        let mut order: Vec<u32> = (0..self.ends.len() as u32).collect();
        order.sort_unstable_by(|a, b| self.get(*a as usize).cmp(self.get(*b as usize)));
        let mut sorted =
            Self { bytes: Vec::with_capacity(self.bytes.len()), ends: Vec::with_capacity(self.ends.len()) };
        for at in order {
            sorted.bytes.extend_from_slice(self.get(at as usize));
            sorted.ends.push(sorted.bytes.len() as u32);
        }
        sorted
    }

    /// Returns the number of keys.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the key with the index `index` in ascending order.
    pub(crate) fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.bytes[start..self.ends[index] as usize]
    }

    /// Returns all keys, in ascending order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// Draws `count` distinct numbers below `room`, in ascending order. `room` must be at least twice `count`.
fn numbers(room: u64, count: usize, random: &mut Random) -> Vec<u64> {
    let mut numbers: Vec<u64> = Vec::with_capacity(count);
    while numbers.len() < count {
        let missing = count - numbers.len();
        numbers.extend((0..missing).map(|_| random.below(room)));
        numbers.sort_unstable();
        numbers.dedup();
    }
    numbers
}

#[cfg(test)]
mod tests {
    use toml::Value;
    use workload::FORMATS;

    use super::*;

    fn keys(format: &str, count: usize, spread: Spread) -> Result<SortedKeys, String> {
        let choice = FORMATS.choose(&Value::String(format.to_owned())).unwrap();
        let format = FORMATS.build(&choice).unwrap().open(None).unwrap();
        SortedKeys::new(&*format, count, spread, &mut Random::new(1))
    }

    #[test]
    fn keys_ascend_and_differ_in_every_format() {
        for format in ["u64", "u64(scattered=true)", "decimal", "user", "u64(bytes=2)"] {
            for spread in [Spread::Random, Spread::Even] {
                let keys = keys(format, 5_000, spread).unwrap();
                assert_eq!(keys.len(), 5_000);
                assert!(keys.iter().zip(keys.iter().skip(1)).all(|(a, b)| a < b), "{format}");
            }
        }
    }

    #[test]
    fn more_keys_than_there_are_is_an_error() {
        let error = keys("u64(bytes=1)", 5_000, Spread::Even).map(|_| ()).unwrap_err();
        assert!(error.contains("keys are too short: only "), "{error}");
    }
}
