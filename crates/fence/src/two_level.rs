//! A partitioned fence. The separators are in pages, which are read through the block cache. Only one separator per
//! page is in memory.
//!
//! A search first finds a page with a static B-tree over the separators in memory. Then the search reads this page. A
//! page has about two hundred separators, so the memory is about 1/200 of the memory of a fence in memory. Frequently
//! searched pages stay in the cache. Source: RocksDB, "Partitioned Index Filters"
//! (`docs/_posts/2017-05-12-partitioned-index-filter.markdown`).
//!
//! ```text
//! pages | top | page length u32 | page lengths of all pages u32 | pages u32 | tag
//! top: end of each page u32 | its first block u32 | length of its first separator u32 | first separators
//! ```
//! Pages have the format of the leaves of a static B-tree. If a separator is longer than a page length, its page
//! takes several page lengths.

use std::ops::Range;

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::heads::HeadIndex;
use crate::page::{self, Draft, Kind, Page};
use crate::s_tree;
use crate::separators::Separators;
use crate::stored::{self, corrupt, take, u32s};
use crate::suffixes::Suffixes;

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::new::<TwoLevel>(
    "two-level",
    "a partitioned index with one separator per page in memory; a search reads one page through the cache",
    "# Page length, a power of two from 512 B to 64 KiB. Longer pages take less memory, but a search\n\
     # reads more bytes.\n\
     page_bytes = \"4KiB\"\n",
);

const TAG: stored::Tag = *b"f2lv";
const FOOTER_BYTES: u64 = 16;

/// The number of bytes that each page takes in the directory at the end of the stored fence, in addition to the page's
/// first separator.
const TOP_BYTES: usize = 12;

/// A policy that builds partitioned fences: pages of separators, and one separator of each page in memory.
struct TwoLevel {
    page_bytes: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    page_bytes: ByteSize,
}

impl Default for Params {
    fn default() -> Self {
        Self { page_bytes: ByteSize(4096) }
    }
}

impl Build<dyn FencePolicy> for TwoLevel {
    type Params = Params;

    fn build(Params { page_bytes }: Params) -> Result<Box<dyn FencePolicy>, String> {
        page::check_page_bytes(page_bytes)?;
        Ok(Box::new(Self { page_bytes: page_bytes.0 }))
    }
}

impl FencePolicy for TwoLevel {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        let firsts: Vec<&[u8]> = input.separators.iter().collect();
        let page_bytes = self.page_bytes as usize;
        let (mut stored, mut top) = (Vec::new(), [Vec::new(), Vec::new(), Vec::new()]);
        let pages = page::split(Kind::Leaf, &firsts, page_bytes);
        for blocks in &pages {
            let separators = &firsts[blocks.start + 1..blocks.end];
            Draft { kind: Kind::Leaf, first: blocks.start as u32, child_ends: &[], separators }
                .write(&mut stored);
            stored.resize(stored.len().next_multiple_of(page_bytes), 0);
            let numbers = [stored.len() / page_bytes, blocks.start, firsts[blocks.start].len()];
            top.iter_mut().zip(numbers).for_each(|(top, number)| top.extend((number as u32).to_le_bytes()));
        }
        let page_lengths = stored.len() / page_bytes;
        stored.extend(top.concat());
        pages.iter().for_each(|blocks| stored.extend(firsts[blocks.start]));
        for number in [page_bytes, page_lengths, pages.len()] {
            stored.extend((number as u32).to_le_bytes());
        }
        stored.extend(TAG);
        stored
    }

    fn alignment(&self) -> u64 {
        self.page_bytes
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        Ok(Box::new(TwoLevelFence::open(table)?))
    }
}

/// A partitioned fence. The pages of separators are on disk, and the first separator of each page is in memory.
struct TwoLevelFence {
    page_bytes: u64,
    /// The exclusive end of each page of separators, as a number of page lengths. A page starts where the previous page
    /// ends.
    ends: Vec<u32>,
    /// The first separators of all pages except the first page, without their common prefix.
    firsts: Suffixes,
    index: Box<dyn HeadIndex>,
}

impl TwoLevelFence {
    fn open(table: &dyn TableView) -> Result<Self, FenceError> {
        let bytes = table.stored_bytes();
        let footer = bytes.checked_sub(FOOTER_BYTES).ok_or_else(|| {
            corrupt(format!(
                "the stored fence has {bytes} bytes, fewer than its footer of {FOOTER_BYTES} bytes"
            ))
        })?;
        let numbers = table.read_stored(footer..bytes)?;
        let mut numbers: &[u8] = &numbers;
        let [page_bytes, page_lengths, pages] = {
            let numbers = take(&mut numbers, FOOTER_BYTES as usize - TAG.len())?;
            [0, 1, 2].map(|at| {
                u32s(numbers)
                    .nth(at)
                    .expect("the footer of a partitioned fence must have three numbers in twelve bytes")
            })
        };
        let page_bytes = u64::from(page_bytes);
        let top = u64::from(page_lengths) * page_bytes;
        if numbers != TAG || !page::is_page_length(page_bytes) || top > footer {
            return Err(corrupt(format!(
                "the footer of the stored fence does not match a partitioned fence of {bytes} bytes"
            )));
        }
        let top = table.read_stored(top..footer)?;
        let (ends, firsts) = read_top(&top, pages, page_lengths, table.block_count())?;
        let (firsts, heads) = Suffixes::new(&firsts);
        Ok(Self { page_bytes, ends, firsts, index: s_tree::index(&heads) })
    }

    /// Returns the byte range of a page in the stored bytes.
    fn range(&self, page: usize) -> Range<u64> {
        let start = if page == 0 { 0 } else { self.ends[page - 1] };
        u64::from(start) * self.page_bytes..u64::from(self.ends[page]) * self.page_bytes
    }
}

/// Decodes the directory of a stored fence: for each page of separators, its exclusive end in page lengths, its first
/// block and its first separator.
fn read_top(
    mut top: &[u8],
    pages: u32,
    page_lengths: u32,
    blocks: u32,
) -> Result<(Vec<u32>, Separators), FenceError> {
    if pages == 0 || top.len() / TOP_BYTES < pages as usize {
        return Err(corrupt(format!(
            "the stored fence has a directory of {pages} pages that does not fit into the {} bytes that the \
             footer states",
            top.len()
        )));
    }
    let mut numbers = || -> Result<Vec<u32>, FenceError> {
        Ok(u32s(take(&mut top, pages as usize * size_of::<u32>())?).collect())
    };
    let (ends, starts, lengths) = (numbers()?, numbers()?, numbers()?);
    let increase = |numbers: &[u32]| numbers.is_sorted_by(|a, b| a < b);
    let is_possible = increase(&ends)
        && ends[0] > 0
        && ends[ends.len() - 1] == page_lengths
        && increase(&starts)
        && starts[0] == 0
        && starts[starts.len() - 1] < blocks;
    if !is_possible {
        return Err(corrupt(
            "the directory of the stored fence is corrupt: the ends or the first blocks of its pages do \
             not increase, or exceed the stored fence or the SSTable",
        ));
    }
    let mut firsts = Separators::default();
    for length in lengths {
        stored::push_above(&mut firsts, take(&mut top, length as usize)?)?;
    }
    if top.is_empty() {
        Ok((ends, firsts))
    } else {
        Err(corrupt(format!("the stored fence has {} additional bytes at the end", top.len())))
    }
}

impl Fence for TwoLevelFence {
    fn seek(&self, key: &[u8], table: &dyn TableView) -> Result<u32, FenceError> {
        let bytes = table.page(self.range(self.index.rank(&self.firsts, key)))?;
        let page = Page::parse(&bytes)?;
        let block = page.block(page.child_of(key)?);
        if page.kind != Kind::Leaf || block >= table.block_count() {
            return Err(corrupt(format!(
                "the stored fence has a page that is not a leaf, or refers to block {block} of only {} \
                 blocks",
                table.block_count()
            )));
        }
        Ok(block)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.ends) + self.firsts.memory_bytes() + self.index.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Stored, numbered};

    #[test]
    fn a_search_reads_one_page_and_little_is_held() {
        let separators = numbered(20_000);
        let input =
            FenceInput { separators: &separators, hashes: &[], block_starts: &[], level: 0, bounds: None };
        for page_bytes in [512, 4096, 65_536] {
            let policy = TwoLevel { page_bytes };
            let table = Stored::new(&policy.build(&input), &separators);
            let fence = policy.open(&table).unwrap();
            for block in (0..20_000).step_by(97).chain([19_999]) {
                table.pages.borrow_mut().clear();
                let key = format!("user{:020}", block * 10 + 5);
                assert_eq!(fence.seek(key.as_bytes(), &table).unwrap(), block);
                let pages = table.pages.borrow();
                assert_eq!(pages.len(), 1);
                assert_eq!(pages[0].end - pages[0].start, page_bytes);
            }
            // A page needs memory for one separator, its head and its offset. On the page, a separator takes at
            // least 5 bytes.
            assert!(fence.memory_bytes() < 20_000 * 5 / page_bytes as usize * 60 + 1000);
        }
    }
}
