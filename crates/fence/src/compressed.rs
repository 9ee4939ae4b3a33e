//! Prefix-compressed groups of separators in memory. Each separator omits the prefix that it shares with the
//! previous separator.
//!
//! The first separator of each group is stored in full. A binary search over the first separators of all groups finds
//! a group, and the search then reads this group in order. The search need not reconstruct separators, because it
//! remembers how many bytes the key shares with the previous separator. Usually the stored shared length of the next
//! separator is enough to compare this separator with the key. Sources: the document cs265, section 2.3.2,
//! "Compressed"; the index blocks of LevelDB, `doc/table_format.md`.
//!
//! ```text
//! tag [u8; 4] | count u32 | interval u32 | start of each group u32 | separators
//! the first separator of a group: length | bytes
//! the others:                     shared length | length of the rest | rest
//! ```
//! Lengths are varints with seven bits per byte. The memory equals the stored size, which is 3 to 10 bytes per
//! separator if neighboring separators are similar. With n separators, a search reads log2(n / interval) first
//! separators, and one group.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, common_prefix};

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::separators::Separators;
use crate::stored::{self, corrupt, take, u32s};

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::new::<Compressed>(
    "compressed",
    "prefix-compressed separators, searched without decompression; less memory than \"binary\", slower than \"s-tree\"",
    "# Distance between two separators that are stored in full, as a number of separators, 2 to 1024. A\n\
     # larger distance takes less memory, but makes searches slower.\n\
     interval = 16\n",
);

const TAG: stored::Tag = *b"fcmp";
const HEAD_BYTES: usize = 12;

/// A policy that builds fences of prefix-compressed separators. A separator omits the prefix that it shares with the
/// previous separator of its group.
struct Compressed {
    interval: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    interval: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { interval: 16 }
    }
}

impl Build<dyn FencePolicy> for Compressed {
    type Params = Params;

    fn build(Params { interval }: Params) -> Result<Box<dyn FencePolicy>, String> {
        if !(2..=1024).contains(&interval) {
            return Err(format!("interval is {interval}; it must be 2 to 1024"));
        }
        Ok(Box::new(Self { interval }))
    }
}

/// Returns the policy of the variant "compressed" with its default parameters. Fences that contain another fence use
/// this policy.
pub(crate) fn policy() -> Box<dyn FencePolicy> {
    Box::new(Compressed { interval: Params::default().interval })
}

impl FencePolicy for Compressed {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        encode(input.separators, self.interval)
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        let stored = table.read_stored(0..table.stored_bytes())?;
        let fence = CompressedFence::parse(stored, table.block_count())?;
        fence.check()?;
        Ok(Box::new(fence))
    }
}

fn encode(separators: &Separators, interval: u32) -> Vec<u8> {
    let (mut starts, mut coded) = (Vec::new(), Vec::new());
    let mut last: &[u8] = &[];
    for (index, separator) in separators.iter().enumerate() {
        let mut shared = 0;
        if index.is_multiple_of(interval as usize) {
            starts.extend((coded.len() as u32).to_le_bytes());
        } else {
            shared = common_prefix(last, separator);
            push_varint(&mut coded, shared);
        }
        push_varint(&mut coded, separator.len() - shared);
        coded.extend(&separator[shared..]);
        last = separator;
    }
    let head = [separators.len() as u32, interval].map(u32::to_le_bytes);
    [&TAG[..], head.as_flattened(), &starts, &coded].concat()
}

fn push_varint(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Removes a varint from the start of `bytes` and returns its value. Returns `None` if `bytes` does not begin with a
/// varint of at most 32 bits.
#[inline]
fn take_varint(bytes: &mut &[u8]) -> Option<usize> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return (u32::try_from(number).is_ok()).then_some(number);
        }
        shift += 7;
        if shift > 28 {
            return None;
        }
    }
}

/// Removes a separator from the start of `bytes`. Returns the number of bytes that the separator shares with the
/// previous separator, and the separator's remaining bytes. Returns `None` if the bytes are corrupt.
#[inline]
fn take_separator<'a>(bytes: &mut &'a [u8], is_first: bool) -> Option<(usize, &'a [u8])> {
    let shared = if is_first { 0 } else { take_varint(bytes)? };
    let length = take_varint(bytes)?;
    let (rest, behind) = bytes.split_at_checked(length)?;
    *bytes = behind;
    Some((shared, rest))
}

/// The separators of one SSTable in prefix-compressed groups. The first separator of a group is stored in full.
struct CompressedFence {
    stored: Bytes,
    count: u32,
    interval: u32,
    /// The offset in the stored bytes at which the first group of separators starts.
    coded: usize,
}

impl CompressedFence {
    /// Reads the header of a stored fence, but not the separators.
    fn parse(stored: Bytes, blocks: u32) -> Result<Self, FenceError> {
        let mut rest: &[u8] = &stored;
        if take(&mut rest, TAG.len())? != TAG {
            return Err(corrupt("another variant than \"compressed\" wrote the stored fence"));
        }
        let numbers = take(&mut rest, HEAD_BYTES - TAG.len())?;
        let [count, interval] = [0, 1].map(|at| {
            u32s(numbers).nth(at).expect("the eight bytes of the header of a fence must contain two numbers")
        });
        if count != blocks || count == 0 || interval == 0 {
            return Err(corrupt(format!(
                "the header of the stored fence states {count} separators and the interval {interval}, but \
                 the SSTable has {blocks} blocks; both numbers must be above 0, and each block must have one \
                 separator"
            )));
        }
        let starts = count.div_ceil(interval) as usize * size_of::<u32>();
        take(&mut rest, starts)?;
        Ok(Self { coded: HEAD_BYTES + starts, stored, count, interval })
    }

    /// Checks all separators of the stored fence. Returns an error in these cases:
    ///
    /// * a group of separators does not start where the previous group ends
    /// * bytes follow after the last group
    /// * a separator is not above the previous separator
    /// * a separator states a wrong length of the prefix that it shares with the previous separator
    fn check(&self) -> Result<(), FenceError> {
        let mut rest = &self.stored[self.coded..];
        let mut last: Vec<u8> = Vec::new();
        for index in 0..self.count {
            let is_first = index.is_multiple_of(self.interval);
            let at = self.stored.len() - self.coded - rest.len();
            let wrong = || {
                corrupt(format!(
                    "separator {index} of the stored fence, at byte {at} after its header, is corrupt: the \
                     separator is truncated, it does not sort after the previous separator, or the stored \
                     start of its group is wrong"
                ))
            };
            if is_first && self.group_start(index / self.interval) != Some(at) {
                return Err(wrong());
            }
            let (shared, suffix) = take_separator(&mut rest, is_first).ok_or_else(wrong)?;
            let is_above = match last.get(shared..) {
                _ if index == 0 => true,
                Some(before) if is_first => before < suffix,
                Some(before) => suffix.first() > before.first(),
                None => false,
            };
            if !is_above {
                return Err(wrong());
            }
            last.truncate(shared);
            last.extend(suffix);
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err(corrupt(format!("the stored fence has {} additional bytes at the end", rest.len())))
        }
    }

    /// Returns the offset at which a group of separators starts, relative to the first group. Returns `None` if the
    /// group does not exist.
    #[inline]
    fn group_start(&self, group: u32) -> Option<usize> {
        let starts = &self.stored[HEAD_BYTES..self.coded];
        Some(u32::from_le_bytes(*starts.as_chunks().0.get(group as usize)?) as usize)
    }

    /// Returns the bytes from the start of a group of separators to the end of all groups. Returns `None` if the group
    /// does not exist, or if its offset is corrupt.
    #[inline]
    fn group(&self, group: u32) -> Option<&[u8]> {
        self.stored.get(self.coded + self.group_start(group)?..)
    }

    /// Returns the number of separators at or below `key`. Returns `None` if the stored bytes are corrupt.
    fn rank(&self, key: &[u8]) -> Option<u32> {
        let (mut low, mut high) = (0, self.count.div_ceil(self.interval));
        while low < high {
            let middle = low.midpoint(high);
            let (_, first) = take_separator(&mut self.group(middle)?, true)?;
            if first <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(group) = low.checked_sub(1) else { return Some(0) };
        let first = group * self.interval;
        let members = self.interval.min(self.count - first);
        Some(first + rank_in_group(self.group(group)?, members, key)?)
    }
}

/// Returns the number of separators of a group that are at or below `key`. The group has `members` separators, and its
/// first separator must be at or below `key`. Returns `None` if the bytes are corrupt.
fn rank_in_group(mut group: &[u8], members: u32, key: &[u8]) -> Option<u32> {
    let (_, first) = take_separator(&mut group, true)?;
    // The number of bytes that the key shares with the previous separator. The previous separator is at or below the
    // key.
    let mut matched = common_prefix(first, key);
    for rank in 1..members {
        let (shared, suffix) = take_separator(&mut group, false)?;
        // If the separator shares more bytes with the previous separator than the key does, the separator and the
        // previous separator differ from the key at the same byte. If the separator shares fewer bytes, it is above
        // the key, because it is above the previous separator at a byte that the key shares.
        if shared > matched {
            continue;
        }
        if shared < matched || suffix > &key[matched..] {
            return Some(rank);
        }
        matched += common_prefix(suffix, &key[matched..]);
    }
    Some(members)
}

impl Fence for CompressedFence {
    fn seek(&self, key: &[u8], _: &dyn TableView) -> Result<u32, FenceError> {
        let rank = self.rank(key).ok_or_else(|| {
            corrupt(
                "the stored fence states a group of separators outside of its bytes, or has a corrupt \
                 separator in this group",
            )
        })?;
        Ok(rank.saturating_sub(1))
    }

    fn memory_bytes(&self) -> usize {
        self.stored.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(separators: &Separators, interval: u32) -> CompressedFence {
        let stored = Bytes::copy_from(&encode(separators, interval));
        let fence = CompressedFence::parse(stored, separators.len() as u32).unwrap();
        fence.check().unwrap();
        fence
    }

    #[test]
    fn ranks_are_those_of_the_separators_themselves() {
        let mut names: Vec<Vec<u8>> = (0..500).map(|i: u32| i.to_string().into_bytes()).collect();
        names.extend([vec![], vec![0], vec![0, 0], vec![b'1'; 300], vec![0xff; 3], vec![0xff; 4]]);
        names.sort_unstable();
        let separators: Separators = names.iter().map(Vec::as_slice).collect();
        for interval in [2, 3, 16, 1024] {
            let fence = fence(&separators, interval);
            for name in &names {
                for key in [name.clone(), [name, &b"\0"[..]].concat(), [name, &b"~"[..]].concat()] {
                    assert_eq!(fence.rank(&key), Some(separators.rank(&key) as u32), "{key:?}, {interval}");
                }
            }
        }
    }

    #[test]
    fn neighbours_that_are_alike_cost_little() {
        let mut separators = Separators::default();
        (0..10_000).for_each(|i| separators.push(format!("user{i:020}").as_bytes()));
        let bytes = fence(&separators, 16).memory_bytes();
        assert!(bytes < 5 * 10_000, "{bytes}");
        assert!(5 * bytes < separators.memory_bytes());
    }

    #[test]
    fn varints_end() {
        for number in [0, 1, 127, 128, 300, 65_536, u32::MAX as usize] {
            let mut bytes = Vec::new();
            push_varint(&mut bytes, number);
            assert_eq!(take_varint(&mut bytes.as_slice()), Some(number));
            bytes.pop();
            assert_eq!(take_varint(&mut bytes.as_slice()), None);
        }
        assert_eq!(take_varint(&mut &[0xff; 20][..]), None);
    }
}
