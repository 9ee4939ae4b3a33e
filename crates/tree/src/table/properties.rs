//! The properties of an SSTable, which are stored in the file of the SSTable.

use std::sync::Arc;

use types::{ENTRY_CHARGE_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES};

use crate::checksum::Checksum;
use crate::codec::{Reader, put_bytes, put_varint};

/// The limit for the number of entries in an SSTable, for the total size of its keys in bytes, and for the total size
/// of its values. The tree rejects larger numbers as corrupt, so that sums over several SSTables do not overflow.
const MOST_BYTES: u64 = 1 << 40;

/// The maximum size of a data block before compression, in bytes. The tree rejects an SSTable with a larger block as
/// corrupt.
// A block with several entries has at most 64 KiB. The largest block therefore has a single entry with a key and a
// value of maximum length. The space of two more keys is enough for all other parts of this block.
const LARGEST_BLOCK_BYTES: u64 = (MAX_VALUE_BYTES + 3 * MAX_KEY_BYTES) as u64;

/// The bit of the stored checksum code that is set if the filter of the SSTable has a file of its own.
const FILTER_APART: u8 = 0x80;

/// The properties of an SSTable: its counts and sizes, its key range, and the components that wrote it. The file of the
/// SSTable contains them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Properties {
    /// The number of entries in the SSTable, including tombstones.
    pub(crate) entries: u64,
    /// The number of tombstones in the SSTable.
    pub(crate) tombstones: u64,
    /// The total size of all keys in the SSTable, in bytes.
    pub(crate) key_bytes: u64,
    /// The total size of all values as stored in the SSTable, in bytes.
    pub(crate) value_bytes: u64,
    /// The size of the largest data block before compression, in bytes. A reader never allocates more memory than this
    /// for a block.
    pub(crate) largest_block_bytes: u64,
    /// The smallest key of the entries in the SSTable.
    pub(crate) smallest: Arc<[u8]>,
    /// The largest key of the entries in the SSTable.
    pub(crate) largest: Arc<[u8]>,
    /// The label of the filter policy that built the filter of the SSTable.
    pub(crate) bloom: String,
    /// The label of the fence policy that built the fence of the SSTable.
    pub(crate) fence: String,
    /// The label of the hash function that the filter and the hash indexes use.
    pub(crate) hash: String,
    /// The algorithm that computes the checksum of each data block.
    pub(crate) checksum: Checksum,
    /// Whether the filter of the SSTable has a file of its own.
    pub(crate) is_filter_apart: bool,
    /// The compression dictionaries that codecs trained on the first data blocks. Empty without such dictionaries.
    pub(crate) dictionaries: Vec<u8>,
}

impl Properties {
    /// Returns the size of the SSTable for size limits, in bytes: the sizes of all keys and values plus 8 bytes per
    /// entry.
    pub(crate) fn charged_bytes(&self) -> u64 {
        self.key_bytes + self.value_bytes + self.entries * ENTRY_CHARGE_BYTES
    }

    /// Appends the encoded properties of the SSTable to `out`.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let numbers =
            [self.entries, self.tombstones, self.key_bytes, self.value_bytes, self.largest_block_bytes];
        numbers.into_iter().for_each(|number| put_varint(out, number));
        put_bytes(out, &self.smallest);
        put_bytes(out, &self.largest);
        for label in [&self.bloom, &self.fence, &self.hash] {
            put_bytes(out, label.as_bytes());
        }
        out.push(self.checksum as u8 | if self.is_filter_apart { FILTER_APART } else { 0 });
        out.extend_from_slice(&self.dictionaries);
    }

    /// Decodes the properties of an SSTable. Returns `None` if the bytes are corrupt.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let kinds;
        let properties = Self {
            entries: reader.varint()?,
            tombstones: reader.varint()?,
            key_bytes: reader.varint()?,
            value_bytes: reader.varint()?,
            largest_block_bytes: reader.varint()?,
            smallest: reader.bytes()?.into(),
            largest: reader.bytes()?.into(),
            bloom: reader.text()?.to_owned(),
            fence: reader.text()?.to_owned(),
            hash: reader.text()?.to_owned(),
            checksum: {
                kinds = reader.byte()?;
                *Checksum::ALL.get(usize::from(kinds & !FILTER_APART))?
            },
            is_filter_apart: kinds & FILTER_APART > 0,
            dictionaries: bytes[reader.position()..].to_vec(),
        };
        properties.is_sound().then_some(properties)
    }

    /// Returns whether the properties are valid: they do not contradict each other, no number exceeds [`MOST_BYTES`],
    /// and no block is larger than [`LARGEST_BLOCK_BYTES`].
    fn is_sound(&self) -> bool {
        let numbers = [self.entries, self.key_bytes, self.value_bytes];
        self.smallest <= self.largest
            && self.tombstones <= self.entries
            && numbers.into_iter().all(|number| number <= MOST_BYTES)
            && self.largest_block_bytes <= LARGEST_BLOCK_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_read_back_and_cut_ones_are_refused() {
        let properties = Properties {
            entries: 10,
            tombstones: 2,
            key_bytes: 160,
            value_bytes: 800,
            largest_block_bytes: 4096,
            smallest: (*b"a").into(),
            largest: (*b"z").into(),
            bloom: "blocked(bits_per_key=12)".to_owned(),
            fence: "eytzinger".to_owned(),
            hash: "xxh3".to_owned(),
            checksum: Checksum::Crc32c,
            is_filter_apart: true,
            dictionaries: Vec::new(),
        };
        let mut bytes = Vec::new();
        properties.encode(&mut bytes);
        assert_eq!(Properties::decode(&bytes).as_ref(), Some(&properties));
        for cut in 0..bytes.len() {
            assert_eq!(Properties::decode(&bytes[..cut]), None);
        }
        let (most, whole) = (u64::MAX, properties.clone());
        for impossible in [
            Properties { entries: most, ..whole.clone() },
            Properties { tombstones: 11, ..whole.clone() },
            Properties { key_bytes: most, ..whole.clone() },
            Properties { value_bytes: most, ..whole.clone() },
            Properties { largest_block_bytes: 1 << 32, ..whole.clone() },
            Properties { largest: (*b"A").into(), ..whole },
        ] {
            let mut bytes = Vec::new();
            impossible.encode(&mut bytes);
            assert_eq!(Properties::decode(&bytes), None, "{impossible:?}");
        }
        let properties = Properties { dictionaries: b"what codecs read".to_vec(), ..properties };
        bytes.clear();
        properties.encode(&mut bytes);
        assert_eq!(Properties::decode(&bytes), Some(properties));
    }
}
