//! One page of a static B-tree. A page has children, and separators between the children.
//!
//! ```text
//! kind u32 | children u32 | first u32 | prefix length u32
//! | end of each child u32 × children            inner pages only
//! | end of each suffix u32 × (children − 1)
//! | common prefix | suffixes, end to end | padding
//! ```
//! Child i of a leaf is the data block `first + i`. Child 0 of an inner page starts at the page `first`, and each
//! other child starts where the previous child ends. Starts and exclusive ends are page numbers, counted from 0 at
//! the first page of the tree. Separator i is between child i and child i + 1. A key at or above separator i belongs
//! to child i + 1 or to a later child. The common prefix of the separators is stored once (Bayer & Unterauer, "Prefix
//! B-trees", 1977).

use std::ops::Range;

use catalog::ByteSize;
use types::common_prefix;

use crate::fence::FenceError;
use crate::stored::{corrupt, take, u32s};

const HEAD_BYTES: usize = 16;
const U32: usize = size_of::<u32>();

/// The valid lengths of a page of a static B-tree, in bytes.
const PAGE_BYTES: Range<u64> = 512..(64 << 10) + 1;

/// Returns whether `bytes` is a valid length of a page: a power of two from 512 B to 64 KiB.
pub(crate) fn is_page_length(bytes: u64) -> bool {
    PAGE_BYTES.contains(&bytes) && bytes.is_power_of_two()
}

/// Checks the parameter `page_bytes`, the length of a page of a fence.
///
/// # Errors
/// Returns an error that names the length and the valid lengths.
pub(crate) fn check_page_bytes(page_bytes: ByteSize) -> Result<(), String> {
    match is_page_length(page_bytes.0) {
        true => Ok(()),
        false => Err(format!("page_bytes is {page_bytes}; it must be a power of two from 512B to 64KiB")),
    }
}

/// The kind of the children to which a page of a static B-tree refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The children are pages of the next lower layer.
    Inner = 1,
    /// The children are data blocks.
    Leaf = 2,
}

/// A page of a static B-tree before it is encoded.
pub(crate) struct Draft<'a> {
    pub(crate) kind: Kind,
    /// For a leaf, the number of the data block of its first child. For an inner page, the number of the page at which
    /// its first child starts.
    pub(crate) first: u32,
    /// The exclusive end of each child of an inner page, as a page number. The list is empty for a leaf.
    pub(crate) child_ends: &'a [u32],
    /// The separators between the children, which are one fewer than the children.
    pub(crate) separators: &'a [&'a [u8]],
}

impl Draft<'_> {
    /// Appends the encoded page to `stored`, without padding.
    pub(crate) fn write(&self, stored: &mut Vec<u8>) {
        let prefix = shared_by(self.separators);
        let head = [self.kind as u32, self.separators.len() as u32 + 1, self.first, prefix as u32];
        let suffix_ends = self.separators.iter().scan(0, |end, separator| {
            *end += (separator.len() - prefix) as u32;
            Some(*end)
        });
        for number in head.into_iter().chain(self.child_ends.iter().copied()).chain(suffix_ends) {
            stored.extend(number.to_le_bytes());
        }
        stored.extend(self.separators.first().map_or(&[][..], |first| &first[..prefix]));
        self.separators.iter().for_each(|separator| stored.extend(&separator[prefix..]));
    }
}

/// Returns the length of the common prefix of sorted separators.
fn shared_by(separators: &[&[u8]]) -> usize {
    match separators {
        [] => 0,
        [first, .., last] => common_prefix(first, last),
        [only] => only.len(),
    }
}

/// Distributes the children of one layer of a static B-tree to pages. Returns the range of children of each page.
/// `firsts[i]` is the first separator under child i.
///
/// A page has at least two children, unless only one child remains. Each page is filled up to `unit_bytes`. If the
/// separator between the first two children of a page needs more space, the page takes a multiple of `unit_bytes`. The
/// separator between two pages moves to the next higher layer. If this separator is too long for a page of
/// `unit_bytes`, the first of the two pages ends one child earlier, and another separator moves to the higher layer.
pub(crate) fn split(kind: Kind, firsts: &[&[u8]], unit_bytes: usize) -> Vec<Range<usize>> {
    let mut pages = Vec::new();
    let mut start = 0;
    while start < firsts.len() {
        let mut end = fill(kind, &firsts[start..], unit_bytes) + start;
        let next_is_long = firsts.get(end).is_some_and(|next| page_bytes(kind, 1, next.len()) > unit_bytes);
        if next_is_long && end - start > 2 {
            end -= 1;
        }
        pages.push(start..end);
        start = end;
    }
    pages
}

/// Returns the number of children that fit into a page of `unit_bytes` bytes, counted from the first child. The result
/// is at least two if there are two children.
fn fill(kind: Kind, firsts: &[&[u8]], unit_bytes: usize) -> usize {
    let (mut limit_bytes, mut separator_bytes) = (unit_bytes, 0);
    for (separators, next) in firsts.iter().enumerate().skip(1) {
        separator_bytes += next.len();
        let prefix = common_prefix(firsts[1], next);
        let page = page_bytes(kind, separators, separator_bytes - prefix * (separators - 1));
        if separators == 1 {
            limit_bytes = page.next_multiple_of(unit_bytes);
        } else if page > limit_bytes {
            return separators;
        }
    }
    firsts.len()
}

/// Returns the length in bytes, without padding, of a page that has these separators between its children.
pub(crate) fn encoded_bytes(kind: Kind, separators: &[&[u8]]) -> usize {
    let all: usize = separators.iter().map(|separator| separator.len()).sum();
    page_bytes(kind, separators.len(), all - shared_by(separators) * separators.len().saturating_sub(1))
}

/// Returns the length of an encoded page in bytes, without padding. `separator_bytes` is the total length of its
/// separators, in which the common prefix is counted once.
fn page_bytes(kind: Kind, separators: usize, separator_bytes: usize) -> usize {
    let child_ends = if kind == Kind::Inner { separators + 1 } else { 0 };
    HEAD_BYTES + (child_ends + separators) * U32 + separator_bytes
}

/// A page of a static B-tree that was read from storage. The lengths in the page are checked when they are used.
pub(crate) struct Page<'a> {
    pub(crate) kind: Kind,
    first: u32,
    children: usize,
    child_ends: &'a [u8],
    suffix_ends: &'a [u8],
    prefix: &'a [u8],
    suffixes: &'a [u8],
}

impl<'a> Page<'a> {
    /// Decodes the start of a page of a static B-tree.
    ///
    /// # Errors
    /// Returns an error if the kind of the page is unknown, or if the parts do not fit into the page.
    pub(crate) fn parse(mut bytes: &'a [u8]) -> Result<Self, FenceError> {
        let head = take(&mut bytes, HEAD_BYTES)?;
        let [kind, children, first, prefix] = [0, 1, 2, 3].map(|at| number(head, at) as usize);
        let kind = match kind {
            1 => Kind::Inner,
            2 => Kind::Leaf,
            other => {
                return Err(corrupt(format!(
                    "a page of the stored fence has the kind {other}, which is not valid"
                )));
            }
        };
        if children == 0 {
            return Err(corrupt("a page of the stored fence has no children"));
        }
        let child_ends = take(&mut bytes, if kind == Kind::Inner { children * U32 } else { 0 })?;
        let suffix_ends = take(&mut bytes, (children - 1) * U32)?;
        let prefix = take(&mut bytes, prefix)?;
        Ok(Self { kind, first: first as u32, children, child_ends, suffix_ends, prefix, suffixes: bytes })
    }

    /// Returns the number of the child that can contain `key`, which is the number of separators at or below the key.
    ///
    /// # Errors
    /// Returns an error if a separator is outside of the page.
    pub(crate) fn child_of(&self, key: &[u8]) -> Result<usize, FenceError> {
        self.count_separators(key, |separator, key| separator <= key)
    }

    /// Returns the number of the first child whose largest key is at or above `key`, for a page whose separators are
    /// the largest keys of its children. The result is the number of separators below the key.
    ///
    /// # Errors
    /// Returns an error if a separator is outside of the page.
    pub(crate) fn first_child_up_to(&self, key: &[u8]) -> Result<usize, FenceError> {
        self.count_separators(key, |separator, key| separator < key)
    }

    /// Returns the number of separators of the page for which `before` is true. If `before` is true for a separator, it
    /// must be true for all smaller separators.
    #[inline]
    fn count_separators(
        &self,
        key: &[u8],
        before: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Result<usize, FenceError> {
        let last = self.children - 1;
        let Some(suffix) = key.strip_prefix(self.prefix) else {
            return Ok(if key < self.prefix { 0 } else { last });
        };
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = low.midpoint(high);
            if before(self.suffix(middle)?, suffix) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Returns the number of the data block that is child number `child` of a leaf.
    pub(crate) fn block(&self, child: usize) -> u32 {
        self.first.saturating_add(child as u32)
    }

    /// Returns the page numbers that child number `child` of an inner page takes. If the page is corrupt, the
    /// range may be empty or outside of the tree.
    pub(crate) fn pages(&self, child: usize) -> Range<u32> {
        let start = if child == 0 { self.first } else { number(self.child_ends, child - 1) };
        start..number(self.child_ends, child)
    }

    fn suffix(&self, index: usize) -> Result<&'a [u8], FenceError> {
        let start = if index == 0 { 0 } else { number(self.suffix_ends, index - 1) };
        let end = number(self.suffix_ends, index);
        self.suffixes.get(start as usize..end as usize).ok_or_else(|| {
            corrupt(format!(
                "separator {index} of a page of the stored fence, at bytes {start} to {end}, is outside of \
                 the page"
            ))
        })
    }
}

/// Returns the little-endian 32-bit number at position `index` of an array of such numbers.
#[inline]
fn number(numbers: &[u8], index: usize) -> u32 {
    u32s(&numbers[index * U32..][..U32])
        .next()
        .expect("a number in a page of a static B-tree must have four bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(kind: Kind, first: u32, child_ends: &[u32], separators: &[&[u8]]) -> Vec<u8> {
        let mut stored = Vec::new();
        Draft { kind, first, child_ends, separators }.write(&mut stored);
        assert_eq!(stored.len(), encoded_bytes(kind, separators));
        stored
    }

    #[test]
    fn leaves_number_their_blocks() {
        let stored = write(Kind::Leaf, 70, &[], &[b"key1", b"key10", b"key2"]);
        let page = Page::parse(&stored).unwrap();
        assert_eq!(page.prefix, b"key");
        let blocks = [&b""[..], b"key", b"key1", b"key1zz", b"key10", b"key2", b"kez"]
            .map(|key| page.block(page.child_of(key).unwrap()));
        assert_eq!(blocks, [70, 70, 71, 72, 72, 73, 73]);
    }

    #[test]
    fn inner_pages_know_where_children_start_and_end() {
        let stored = write(Kind::Inner, 3, &[4, 9], &[b"m"]);
        let page = Page::parse(&stored).unwrap();
        assert_eq!(page.pages(page.child_of(b"a").unwrap()), 3..4);
        assert_eq!(page.pages(page.child_of(b"m").unwrap()), 4..9);
    }

    #[test]
    fn a_page_of_one_child_has_no_separator() {
        let stored = write(Kind::Leaf, 5, &[], &[]);
        assert_eq!(Page::parse(&stored).unwrap().child_of(b"any").unwrap(), 0);
    }

    #[test]
    fn pages_are_full_and_have_two_children_at_least() {
        let long = vec![b'x'; 5000];
        let names: Vec<Vec<u8>> = (0..1000).map(|i| format!("{i:08}").into_bytes()).collect();
        let mut firsts: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        firsts.push(&long);
        for kind in [Kind::Inner, Kind::Leaf] {
            let pages = split(kind, &firsts, 512);
            assert_eq!((pages[0].start, pages.last().unwrap().end), (0, firsts.len()));
            assert!(pages.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(pages[..pages.len() - 1].iter().all(|page| page.len() >= 2));
            assert!(pages[..10].iter().all(|page| page.len() >= 25), "{:?}", pages[0]);
        }
        let longer = vec![b'y'; 6000];
        let firsts: [&[u8]; 8] = [b"", b"a", b"b", b"c", &long, &longer, b"z", b"zz"];
        assert_eq!(split(Kind::Leaf, &firsts, 512), [0..3, 3..5, 5..8]);
    }
}
