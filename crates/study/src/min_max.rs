//! The standard fence of the published system cs265. These fence pointers contain the smallest key, the largest key and
//! the offset of every block. A binary search finds the block of a key.
//!
//! Source: sections 2.3.2 and 3.4.1 of the document, which print the entry. Section 4.4.5 states its size, 24 bytes.
//! If all keys have eight bytes, the entries are numbers as in the document, with 24 bytes per block. Other keys are
//! byte strings, whose lengths take memory too.
//!
//! A tree of lsmbench addresses a block by its number, so searches do not read the offset. The fence only checks that
//! the offsets increase. The largest keys could show that a key between two blocks is absent. However, a search in a
//! fence of lsmbench always returns a block, so a lookup of such a key still reads a block. The fence "binary" has one
//! separator per block, so "binary" returns the same blocks as this fence.
//!
//! ```text
//! tag [u8; 4] | block*
//! block: length of the smallest key u32, length of the largest key u32, offset u64, smallest key, largest key
//! ```

use std::cmp::Ordering;

use catalog::{Variant, origin};
use fence::{BlockBounds, Fence, FenceError, FenceInput, FencePolicy, Separators, TableView};

/// The variant `min-max`: the fence pointers that the published system cs265 calls the standard fence.
pub static VARIANT: Variant<dyn FencePolicy> = Variant::<dyn FencePolicy>::plain(
    "min-max",
    "binary search over the smallest key, the largest key and the offset of every block (cs265)",
    || Box::new(MinMax),
)
.from(origin!());

const TAG: [u8; 4] = *b"f265";

/// The length in bytes of keys that the fence pointers store as numbers.
const NUMBER_BYTES: usize = size_of::<u64>();

/// A policy that builds fence pointers from the smallest key, the largest key and the offset of every block.
struct MinMax;

impl FencePolicy for MinMax {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        let bounds = input
            .bounds
            .expect("the caller must provide the bounds of the blocks, because `needs_bounds` returns true");
        let mut stored = Vec::from(TAG);
        for ((first, last), offset) in
            bounds.first_keys.iter().zip(bounds.last_keys.iter()).zip(&bounds.offsets)
        {
            stored.extend((first.len() as u32).to_le_bytes());
            stored.extend((last.len() as u32).to_le_bytes());
            stored.extend(offset.to_le_bytes());
            stored.extend([first, last].concat());
        }
        stored
    }

    fn needs_bounds(&self) -> bool {
        true
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        let stored = table.read_stored(0..table.stored_bytes())?;
        let bounds = read(&stored, table.block_count()).ok_or_else(|| {
            FenceError::Corrupt(
                "another variant than \"min-max\" wrote the stored fence, or its bytes are corrupt"
                    .to_owned(),
            )
        })?;
        Ok(match numbers(&bounds) {
            Some(entries) => Box::new(MinMaxFence(entries)),
            None => Box::new(MinMaxFence(bounds)),
        })
    }
}

/// Decodes stored fence pointers into the smallest keys, the largest keys and the offsets of `blocks` blocks. Returns
/// `None` if the bytes are corrupt.
fn read(stored: &[u8], blocks: u32) -> Option<BlockBounds> {
    let mut rest = stored.strip_prefix(&TAG)?;
    let mut bounds = BlockBounds::default();
    for _ in 0..blocks {
        let (first_len, last_len) =
            (u32::from_le_bytes(take(&mut rest)?), u32::from_le_bytes(take(&mut rest)?));
        let offset = u64::from_le_bytes(take(&mut rest)?);
        let (first, behind) = rest.split_at_checked(first_len as usize)?;
        let (last, behind) = behind.split_at_checked(last_len as usize)?;
        rest = behind;
        let is_above = |keys: &Separators| keys.is_empty() || keys.get(keys.len() - 1) < first;
        let is_behind = bounds.offsets.last().is_none_or(|before| *before < offset);
        if first > last || !is_above(&bounds.last_keys) || !is_behind {
            return None;
        }
        bounds.first_keys.push(first);
        bounds.last_keys.push(last);
        bounds.offsets.push(offset);
    }
    rest.is_empty().then_some(bounds)
}

/// Removes `N` bytes from the start of `rest`, and returns them. Returns `None` if `rest` is shorter.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (front, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*front)
}

/// The fence pointer of one block, as the published system cs265 prints it.
struct Entry {
    min_key: u64,
    max_key: u64,
    /// The position of the block in the file, as cs265 stores it. The tree finds blocks by number, so no search reads
    /// this field.
    #[expect(
        dead_code,
        reason = "no code reads the offset, but it is a part of the entry that cs265 prints"
    )]
    offset: u64,
}

/// Converts the bounds of all blocks to entries whose keys are numbers. Returns `None` if a key does not have eight
/// bytes.
fn numbers(bounds: &BlockBounds) -> Option<Vec<Entry>> {
    let number = |key: &[u8]| key.try_into().ok().map(u64::from_be_bytes);
    let ends = bounds.first_keys.iter().zip(bounds.last_keys.iter()).zip(&bounds.offsets);
    ends.map(|((first, last), offset)| {
        Some(Entry { min_key: number(first)?, max_key: number(last)?, offset: *offset })
    })
    .collect()
}

/// The smallest and the largest keys of all blocks of an SSTable, in memory.
trait Ends: Send + Sync {
    fn blocks(&self) -> usize;

    /// Compares `key` with the keys of a block. The result is `Equal` if the key is between the smallest and the
    /// largest key of the block.
    fn order(&self, key: &[u8], block: usize) -> Ordering;

    fn memory_bytes(&self) -> usize;
}

/// Compares `key` with the range of keys from `min` to `max`. The result is `Equal` if the key is in the range.
fn order(key: &[u8], min: &[u8], max: &[u8]) -> Ordering {
    if key < min {
        Ordering::Less
    } else if key > max {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

impl Ends for Vec<Entry> {
    fn blocks(&self) -> usize {
        self.len()
    }

    fn order(&self, key: &[u8], block: usize) -> Ordering {
        let entry = &self[block];
        let [min, max]: [[u8; NUMBER_BYTES]; 2] = [entry.min_key, entry.max_key].map(u64::to_be_bytes);
        order(key, &min, &max)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&**self)
    }
}

impl Ends for BlockBounds {
    fn blocks(&self) -> usize {
        self.offsets.len()
    }

    fn order(&self, key: &[u8], block: usize) -> Ordering {
        order(key, self.first_keys.get(block), self.last_keys.get(block))
    }

    fn memory_bytes(&self) -> usize {
        self.first_keys.memory_bytes() + self.last_keys.memory_bytes() + size_of_val(&*self.offsets)
    }
}

/// The fence pointers of one SSTable: the smallest and the largest keys of its blocks.
struct MinMaxFence<E>(E);

impl<E: Ends> Fence for MinMaxFence<E> {
    fn seek(&self, key: &[u8], _: &dyn TableView) -> Result<u32, FenceError> {
        let (mut low, mut high) = (0, self.0.blocks());
        while low < high {
            let middle = low.midpoint(high);
            match self.0.order(key, middle) {
                Ordering::Less => high = middle,
                Ordering::Greater => low = middle + 1,
                Ordering::Equal => return Ok(middle as u32),
            }
        }
        // The key is between two blocks, and all keys of the blocks before `low` are smaller.
        Ok(low.saturating_sub(1) as u32)
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stored;

    /// Returns the fence of blocks with the keys 10 · i to 10 · i + 5, with keys of `key_bytes` bytes.
    fn fence(blocks: u64, key_bytes: usize) -> (Box<dyn Fence>, Stored) {
        let key = |number: u64| number.to_be_bytes()[NUMBER_BYTES - key_bytes..].to_vec();
        let mut bounds = BlockBounds::default();
        for block in 0..blocks {
            bounds.first_keys.push(&key(block * 10));
            bounds.last_keys.push(&key(block * 10 + 5));
            bounds.offsets.push(block * 4096);
        }
        let separators = bounds.first_keys.clone();
        let input = FenceInput {
            separators: &separators,
            hashes: &[],
            block_starts: &[],
            level: 0,
            bounds: Some(&bounds),
        };
        let table = Stored { bytes: MinMax.build(&input), blocks: blocks as u32 };
        (MinMax.open(&table).unwrap(), table)
    }

    #[test]
    fn an_entry_of_numbers_takes_24_bytes_as_the_document_says() {
        let (numbers, table) = fence(1000, 8);
        assert_eq!(numbers.memory_bytes(), 1000 * 24);
        assert_eq!(table.bytes.len(), TAG.len() + 1000 * (24 + 8));
        let (strings, _) = fence(1000, 7);
        assert!(strings.memory_bytes() > 1000 * 24, "the lengths of byte strings take memory");
    }

    #[test]
    fn both_ends_of_a_block_lead_to_the_block() {
        for key_bytes in [7, 8] {
            let (fence, table) = fence(100, key_bytes);
            let seek =
                |number: u64| fence.seek(&number.to_be_bytes()[NUMBER_BYTES - key_bytes..], &table).unwrap();
            for block in 0..100u32 {
                let first = u64::from(block) * 10;
                assert_eq!([0, 3, 5, 7, 9].map(|more| seek(first + more)), [block; 5]);
            }
            assert_eq!(fence.seek(b"", &table).unwrap(), 0);
            assert_eq!(fence.seek(&[0xff; 20], &table).unwrap(), 99);
        }
    }

    #[test]
    fn bounds_out_of_order_are_corrupt() {
        let (_, sound) = fence(3, 8);
        let block_bytes = 16 + 2 * NUMBER_BYTES;
        // The last byte of the smallest key, of the largest key and of the offset of block 1.
        for (at, value) in [(16 + 7, 99), (16 + 15, 0), (9, 0)] {
            let mut bytes = sound.bytes.clone();
            bytes[TAG.len() + block_bytes + at] = value;
            assert!(MinMax.open(&Stored { bytes, ..sound }).is_err(), "byte {at}");
        }
    }
}
