//! Fuzz target for the stored bytes of fences of every variant.

use std::cell::Cell;
use std::ops::Range;

use fence::{BlockBounds, CATALOG, Fence, FenceInput, FencePolicy, Separators, TableReadError, TableView};
use types::{Bytes, HashedKey, KeyHash};

use super::input::{SPARE_BYTES, choose};
use crate::bounds::bounded;
use crate::target::{FuzzTarget, InputForm};

/// The fuzz target for stored fence pointers, which the target opens and searches. The first byte of an input selects
/// the variant, and the next two bytes are the number of blocks.
///
/// A search must return a block of the SSTable, and read only a limited number of pages. Batches must give the same
/// results as single searches.
pub(super) const TARGET: FuzzTarget = FuzzTarget {
    name: "fence",
    about: "stored fence pointers of any variant, which the target opens and searches",
    form: InputForm::Bytes,
    seeds,
    run,
};

/// The maximum number of reads of one search or of one batch of three searches. A search is a binary search over
/// blocks, or a search in a tree of pages.
const MOST_READS: u32 = 200;

/// A model of an SSTable for fence pointers. It contains the stored bytes of the fence pointers, and blocks whose first
/// keys are numbers.
struct View<'a> {
    stored: &'a [u8],
    blocks: u32,
    reads: Cell<u32>,
}

impl View<'_> {
    fn count(&self) {
        self.reads.set(self.reads.get() + 1);
        assert!(self.reads.get() <= MOST_READS, "a search made more than {MOST_READS} reads");
    }
}

impl TableView for View<'_> {
    fn block_count(&self) -> u32 {
        self.blocks
    }

    fn stored_bytes(&self) -> u64 {
        self.stored.len() as u64
    }

    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        self.count();
        let range = usize::try_from(range.start)?..usize::try_from(range.end)?;
        self.stored
            .get(range)
            .map(Bytes::copy_from)
            .ok_or_else(|| "the range is outside of the stored bytes of the fence pointers".into())
    }

    fn page(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        self.read_stored(range)
    }

    fn first_key(&self, block: u32) -> Result<Bytes, TableReadError> {
        self.count();
        match block < self.blocks {
            true => Ok(Bytes::copy_from(&separator(block))),
            false => Err("the SSTable has no block with this number".into()),
        }
    }
}

fn separator(number: u32) -> Vec<u8> {
    format!("user{:06}", number * 5).into_bytes()
}

fn policies() -> impl Iterator<Item = Box<dyn FencePolicy>> {
    CATALOG.all().map(|choice| {
        CATALOG.build(&choice).expect("every fence variant must build with its default parameters")
    })
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for blocks in [1u16, 3, 40, 700] {
        let separators: Vec<Vec<u8>> = (0..blocks).map(|number| separator(number.into())).collect();
        let separators: Separators = separators.iter().map(Vec::as_slice).collect();
        let hashes: Vec<KeyHash> =
            (0..u64::from(blocks) * 2).map(|i| KeyHash(i.wrapping_mul(1 << 45))).collect();
        let block_starts: Vec<u32> = (0..u32::from(blocks)).map(|block| block * 2).collect();
        let bounds = BlockBounds {
            first_keys: separators.clone(),
            last_keys: (0..blocks).map(|number| [&separator(number.into())[..], b"z"].concat()).fold(
                Separators::default(),
                |mut keys, key| {
                    keys.push(&key);
                    keys
                },
            ),
            offsets: (0..u64::from(blocks)).map(|block| block * 4096).collect(),
        };
        for (number, policy) in policies().enumerate() {
            let input = FenceInput {
                separators: &separators,
                hashes: &hashes,
                block_starts: &block_starts,
                level: 0,
                bounds: Some(&bounds),
            };
            seeds.push([&[number as u8][..], &blocks.to_le_bytes(), &policy.build(&input)].concat());
        }
    }
    seeds
}

fn run(input: &[u8]) -> bool {
    let Some((variant, rest)) = choose(input) else { return false };
    let Some((blocks, stored)) = rest.split_first_chunk::<2>() else { return false };
    let blocks = u32::from(u16::from_le_bytes(*blocks)).max(1);
    let policy = policies()
        .nth(variant % CATALOG.variants().len())
        .expect("the first byte of an input must select a variant of the fence pointers");
    let view = View { stored, blocks, reads: Cell::new(0) };
    // Fence pointers may keep some memory for each block of the SSTable, in addition to their stored bytes.
    bounded(input.len() + blocks as usize, SPARE_BYTES, || {
        let opened = policy.open(&view);
        opened.is_ok_and(|fence| {
            check(&*fence, &view);
            true
        })
    })
}

fn check(fence: &dyn Fence, view: &View<'_>) {
    let numbers = [0, 1, 2, 17, 199, 3500].map(separator);
    let keys =
        numbers.iter().map(Vec::as_slice).chain([&b""[..], b"a", b"user", b"user000003x", &[0xff; 50]]);
    let keys: Vec<HashedKey<'_>> =
        keys.zip(0..).map(|(bytes, hash)| HashedKey { bytes, hash: KeyHash(hash << 60 | hash) }).collect();
    let ask = |answer: Result<u32, fence::FenceError>| {
        view.reads.set(0);
        if let Ok(block) = &answer {
            assert!(
                *block < view.blocks,
                "a search returned block {block}, but the SSTable has {} blocks",
                view.blocks
            );
        }
        answer.ok()
    };
    let mut single = Vec::new();
    for key in &keys {
        ask(fence.seek(key.bytes, view));
        single.push(ask(fence.find(*key, view)));
    }
    let mut blocks = vec![0; keys.len()];
    let mut several = Vec::new();
    for (key, block) in keys.chunks(3).zip(blocks.chunks_mut(3)) {
        view.reads.set(0);
        let answered = fence.find_batch(key, block, view).is_ok();
        several.extend(block.iter().map(|block| answered.then_some(*block)));
    }
    for (single, several) in single.iter().zip(several) {
        if let Some(block) = several {
            assert_eq!(*single, Some(block), "a batch and a single search returned different blocks");
        }
    }
}
