//! The order in which a store sorts the keys of a workload.

use crate::format::KeyFormat;
use crate::operation::KeyId;

/// Mapping between the index of a key, which is the number of its insert, and the position of the key in key order.
pub(crate) enum KeyOrder {
    /// The key format sorts keys by their indexes, so the position of a key equals its index.
    Index,
    /// The key format scatters the keys over the key order. `index_at` maps each position to an index, and `place_of`
    /// maps each index to a position.
    Sorted { index_at: Vec<u32>, place_of: Vec<u32> },
}

impl KeyOrder {
    /// Determines the order of the first `keys` keys of the key format. Returns `None` if the format scatters the keys
    /// and `keys` does not fit into 32 bits.
    pub(crate) fn new(format: &dyn KeyFormat, keys: u64) -> Option<Self> {
        if format.ordered() {
            return Some(Self::Index);
        }
        let keys = u32::try_from(keys).ok()?;
        let mut key = Vec::new();
        let mut heads: Vec<(u128, u32)> =
            (0..keys).map(|index| (head(format, index, &mut key), index)).collect();
        heads.sort_unstable();
        let mut index_at: Vec<u32> = heads.iter().map(|(_, index)| *index).collect();
        sort_ties(format, &heads, &mut index_at);
        let mut place_of = vec![0; index_at.len()];
        for (place, index) in index_at.iter().enumerate() {
            place_of[*index as usize] = place as u32;
        }
        Some(Self::Sorted { index_at, place_of })
    }

    /// Returns whether the mapping contains all keys with an index below `keys`.
    pub(crate) fn covers(&self, keys: u64) -> bool {
        match self {
            Self::Index => true,
            Self::Sorted { index_at, .. } => keys <= index_at.len() as u64,
        }
    }

    /// Returns the position of the key with the index `index` in key order.
    pub(crate) fn place(&self, index: u64) -> u64 {
        match self {
            Self::Index => index,
            Self::Sorted { place_of, .. } => u64::from(place_of[index as usize]),
        }
    }

    /// Returns the number of positions in the mapping, which is at least `keys`.
    pub(crate) fn places(&self, keys: u64) -> u64 {
        match self {
            Self::Index => keys,
            Self::Sorted { index_at, .. } => index_at.len() as u64,
        }
    }

    /// Returns the position of the smallest key that is at or above `bound`. `keys` is the number of existing keys.
    pub(crate) fn lower_bound(&self, format: &dyn KeyFormat, bound: &[u8], keys: u64) -> u64 {
        let (mut below, mut not_below, mut key) = (0, self.places(keys), Vec::new());
        while below < not_below {
            let middle = below + (not_below - below) / 2;
            let index =
                self.index(middle, keys).expect("the key order must contain a key for each of its positions");
            key.clear();
            format.append(KeyId::present(index), &mut key);
            if key.as_slice() < bound {
                below = middle + 1;
            } else {
                not_below = middle;
            }
        }
        below
    }

    /// Returns the index of the key at the position `place`. Returns `None` if there is no such position; `keys` is the
    /// number of existing keys.
    pub(crate) fn index(&self, place: u64, keys: u64) -> Option<u64> {
        match self {
            Self::Index => (place < keys).then_some(place),
            Self::Sorted { index_at, .. } => index_at.get(place as usize).map(|index| u64::from(*index)),
        }
    }
}

/// Returns the first 16 bytes of the key with the index `index`, as an integer. The integers sort like the bytes, and
/// comparing integers is faster. `key` is a buffer.
fn head(format: &dyn KeyFormat, index: u32, key: &mut Vec<u8>) -> u128 {
    key.clear();
    format.append(KeyId::present(u64::from(index)), key);
    let mut padded = [0; 16];
    let bytes = key.len().min(16);
    padded[..bytes].copy_from_slice(&key[..bytes]);
    u128::from_be_bytes(padded)
}

/// Completes the sort of keys whose first 16 bytes are equal, by comparing the whole keys. `heads` contains the first
/// 16 bytes of the sorted keys.
fn sort_ties(format: &dyn KeyFormat, heads: &[(u128, u32)], index_at: &mut [u32]) {
    let mut start = 0;
    for group in heads.chunk_by(|a, b| a.0 == b.0) {
        if group.len() > 1 {
            index_at[start..start + group.len()].sort_by_cached_key(|index| {
                let mut key = Vec::new();
                format.append(KeyId::present(u64::from(*index)), &mut key);
                key
            });
        }
        start += group.len();
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::format::FORMATS;

    #[test]
    fn places_are_those_of_sorted_keys() {
        let scattered =
            ["u64(scattered=true)", "decimal(scattered=true)", "decimal(bytes=40B, scattered=true)"];
        let scattered = scattered.map(|label| FORMATS.choose(&label.into()).unwrap());
        let plain = ["u64", "decimal", "user"].map(|kind| FORMATS.variant(kind).unwrap().default_choice());
        for choice in scattered.into_iter().chain(plain) {
            let format = FORMATS.build(&choice).unwrap().open(None).unwrap();
            let order = KeyOrder::new(&*format, 5000).unwrap();
            let mut last = Vec::new();
            for place in 0..5000 {
                let index = order.index(place, 5000).unwrap();
                assert_eq!(order.place(index), place);
                let mut key = Vec::new();
                format.append(KeyId::present(index), &mut key);
                assert!(last < key, "{choice}: {place}");
                assert_eq!(order.lower_bound(&*format, &key, 5000), place);
                key.push(0);
                assert_eq!(order.lower_bound(&*format, &key, 5000), place + 1);
                key.pop();
                last = key;
            }
            assert_eq!(order.index(5000, 5000), None);
            assert!(order.covers(5000));
        }
    }
}
