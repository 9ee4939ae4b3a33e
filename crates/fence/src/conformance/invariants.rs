//! The invariants of fences. Each invariant is a function that checks one policy.

use std::panic::{AssertUnwindSafe, catch_unwind};

use catalog::laws::{Invariant, ensure};
use types::HashedKey;

use super::table::{Cut, Table, numbered, shapes};
use crate::{Fence, FencePolicy};

/// A fence policy under test, with its entry in the catalog.
pub(crate) struct Subject {
    pub(crate) policy: Box<dyn FencePolicy>,
    pub(crate) oracle: bool,
}

/// All invariants of fences, each with its name.
pub(crate) const INVARIANTS: &[Invariant<Subject>] = &[
    ("`seek` and `find` return the block that can contain the key", seek_and_find_answer_rightly),
    ("a batch of searches gives the same answers as single searches", a_batch_answers_like_its_keys_alone),
    ("keys with equal hashes do not change the answers of searches", colliding_hashes_change_nothing),
    ("two builds from equal input return equal bytes", what_is_stored_depends_on_the_input_alone),
    ("a search reads at most as many blocks as a binary search", a_search_reads_no_more_than_a_binary_search),
    ("the result of `memory_bytes` is plausible for the number of blocks", memory_is_told),
    (
        "with corrupt bytes, a search returns an error or a block of the SSTable",
        corruption_is_an_error_or_a_block_of_the_table,
    ),
];

/// Checks the results of `seek` and `find` for all kinds of keys and both kinds of separators. The SSTables have from
/// one block to many blocks.
fn seek_and_find_answer_rightly(subject: &Subject) -> Result<(), String> {
    for (shape, keys) in shapes() {
        let tables = [(1, 2000), (2, 1), (3, 1), (keys.len(), 6), (keys.len(), 1)];
        for (count, keys_per_block) in tables {
            for cut in [Cut::FirstKeys, Cut::Shortest] {
                let mut table = Table::new(&keys[..count.min(keys.len())], keys_per_block, cut);
                check_answers(&*subject.policy, &mut table, &[]).map_err(|error| {
                    format!(
                        "for the key set \"{shape}\" in {} blocks with the separators {cut:?}, {error}",
                        table.blocks.len()
                    )
                })?;
            }
        }
    }
    Ok(())
}

/// Checks the blocks that `seek` and `find` return. The keys for `seek` are present keys, their neighbors, the
/// separators, keys below and above all keys, and the keys in `more`. The keys for `find` are all present keys.
pub(crate) fn check_answers(
    policy: &dyn FencePolicy,
    table: &mut Table,
    more: &[Vec<u8>],
) -> Result<(), String> {
    table.store(policy);
    let fence = policy.open(table).map_err(|error| error.to_string())?;
    let may_be_later = policy.needs_bounds();
    let mut probes = more.to_vec();
    for (block, keys) in table.blocks.iter().enumerate() {
        for key in keys {
            let found = fence.find(table.hashed(key), table).map_err(|error| error.to_string())?;
            ensure(found as usize == block, || {
                format!(
                    "`find` returned block {found} for key {}, but block {block} contains the key",
                    show(key)
                )
            })?;
        }
        for key in [&keys[0], &keys[keys.len() - 1]] {
            probes.extend(neighbours(key));
        }
    }
    probes.extend(table.separators().iter().flat_map(neighbours));
    probes.extend([vec![], vec![0; 20], vec![0xff; 20]]);
    probes.iter().try_for_each(|key| check_seek(&*fence, table, key, may_be_later))
}

/// Returns the key itself, the nearest keys below and above it, and other similar keys.
fn neighbours(key: &[u8]) -> Vec<Vec<u8>> {
    let mut near = vec![key.to_vec(), [key, b"\0"].concat(), [key, b"\xff"].concat()];
    if let Some((last, front)) = key.split_last() {
        near.extend([front.to_vec(), [front, &[last.wrapping_sub(1)]].concat()]);
        near.extend([
            [front, &[last.wrapping_add(1)]].concat(),
            [front, &[last.wrapping_sub(1), 0xff]].concat(),
        ]);
    }
    near
}

/// Checks the block that `seek` returns for one key. All earlier blocks must have only smaller keys, and all later
/// blocks only larger keys.
///
/// If the separators are first keys, the block must be the last block whose first key is at or below the key. With
/// `may_be_later`, the block may also be the next block, which fences of largest keys return for a key between two
/// blocks.
fn check_seek(fence: &dyn Fence, table: &Table, key: &[u8], may_be_later: bool) -> Result<(), String> {
    let block = fence.seek(key, table).map_err(|error| error.to_string())? as usize;
    let blocks = &table.blocks;
    ensure(block < blocks.len(), || {
        format!(
            "`seek` of key {} returned block {block}, but there are only {} blocks",
            show(key),
            blocks.len()
        )
    })?;
    let before = block == 0
        || blocks[block - 1].last().expect("each block of the tested SSTable must have a key").as_slice()
            < key;
    let behind = block + 1 == blocks.len() || blocks[block + 1][0].as_slice() > key;
    ensure(before && behind, || {
        format!(
            "`seek` of key {} returned block {block}, but an earlier block has keys at or above this key, or a \
             later block has keys at or below this key",
            show(key)
        )
    })?;
    let at_or_below = blocks.partition_point(|keys| keys[0].as_slice() <= key).saturating_sub(1);
    ensure(table.cut != Cut::FirstKeys || may_be_later || block == at_or_below, || {
        format!(
            "`seek` of key {} returned block {block}, but block {at_or_below} is the last block whose first key \
             is at or below this key",
            show(key)
        )
    })
}

fn show(key: &[u8]) -> String {
    let shown = &key[..key.len().min(30)];
    format!("\"{}\"{}", shown.escape_ascii(), if shown.len() < key.len() { "…" } else { "" })
}

/// Checks that searches in batches of many sizes give the same results as single searches. The keys of a batch are
/// unsorted, and the SSTable lacks some of them.
fn a_batch_answers_like_its_keys_alone(subject: &Subject) -> Result<(), String> {
    for (shape, keys) in shapes() {
        let mut table = Table::new(&keys, 2, Cut::Shortest);
        table.store(&*subject.policy);
        let fence = subject.policy.open(&table).map_err(|error| error.to_string())?;
        let mut probes: Vec<Vec<u8>> = keys
            .iter()
            .step_by(3)
            .cloned()
            .chain(keys.iter().step_by(7).flat_map(|k| neighbours(k)))
            .collect();
        // Sorting by the reversed keys puts the keys into an order that looks random.
        probes.sort_by(|a, b| a.iter().rev().cmp(b.iter().rev()));
        for size in [0, 1, 2, 7, 31, 32, 33, 100] {
            let batch: Vec<_> = probes.iter().take(size).map(|key| table.hashed(key)).collect();
            check_batch(&*fence, &table, &batch)
                .map_err(|error| format!("for a batch of {size} keys of the key set \"{shape}\", {error}"))?;
        }
        let all: Vec<_> = probes.iter().map(|key| table.hashed(key)).collect();
        check_batch(&*fence, &table, &all)
            .map_err(|error| format!("for a batch of all keys of the key set \"{shape}\", {error}"))?;
    }
    Ok(())
}

fn check_batch(fence: &dyn Fence, table: &Table, keys: &[HashedKey<'_>]) -> Result<(), String> {
    let mut blocks = vec![u32::MAX; keys.len()];
    fence.find_batch(keys, &mut blocks, table).map_err(|error| error.to_string())?;
    keys.iter().zip(blocks).try_for_each(|(key, block)| {
        let alone = fence.find(*key, table).map_err(|error| error.to_string())?;
        ensure(block == alone, || {
            format!(
                "for key {}, `find_batch` returned block {block}, but `find` returned block {alone}",
                show(key.bytes)
            )
        })
    })
}

fn colliding_hashes_change_nothing(subject: &Subject) -> Result<(), String> {
    for hash_mask in [0, 1, 0x3f, 0xfff] {
        let mut table = Table::new(&numbered(1000), 4, Cut::Shortest);
        table.hash_mask = hash_mask;
        check_answers(&*subject.policy, &mut table, &[])
            .map_err(|error| format!("if the fence uses only the hash bits {hash_mask:#x}, {error}"))?;
    }
    Ok(())
}

fn what_is_stored_depends_on_the_input_alone(subject: &Subject) -> Result<(), String> {
    let table = Table::new(&numbered(1000), 4, Cut::Shortest);
    let same = table.build(&*subject.policy) == table.build(&*subject.policy);
    ensure(same, || "two builds from equal input return different bytes".to_owned())?;
    let alignment = subject.policy.alignment();
    ensure(alignment.is_power_of_two(), || {
        format!("`alignment` returns {alignment}, which is not a power of two")
    })
}

/// Checks that a search in an SSTable of n blocks makes at most ⌈log₂ n⌉ + 1 reads. Each page of the fence and each
/// first key of a block that the search reads counts as one read.
fn a_search_reads_no_more_than_a_binary_search(subject: &Subject) -> Result<(), String> {
    for keys in [1, 2, 3, 4, 5, 100, 5000] {
        let mut table = Table::new(&numbered(keys), 1, Cut::FirstKeys);
        table.store(&*subject.policy);
        let fence = subject.policy.open(&table).map_err(|error| error.to_string())?;
        let most = table.blocks.len().next_power_of_two().ilog2() + 1;
        for key in table.keys() {
            table.reads.set(0);
            fence.seek(key, &table).map_err(|error| error.to_string())?;
            let reads = table.reads.get();
            ensure(reads <= most, || {
                format!(
                    "`seek` read {reads} pages or blocks in an SSTable of {keys} blocks; the maximum is {most}"
                )
            })?;
        }
    }
    Ok(())
}

/// Checks that [`memory_bytes`](Fence::memory_bytes) is plausible. The result must be at most about three times the
/// memory of the separators. If a search reads no pages, the result must be at least four bytes per block. An ideal
/// bound must report 0.
fn memory_is_told(subject: &Subject) -> Result<(), String> {
    let mut table = Table::new(&numbered(5000), 1, Cut::FirstKeys);
    table.store(&*subject.policy);
    let fence = subject.policy.open(&table).map_err(|error| error.to_string())?;
    fence.seek(&table.blocks[100][0], &table).map_err(|error| error.to_string())?;
    let memory = fence.memory_bytes();
    // A fence may take three times the memory of the separators: for example, for the smallest key, the largest key and
    // the offset of each block, or for two copies of the separators in different layouts.
    let most = 3 * table.separators().memory_bytes() + 1024;
    ensure(memory <= most, || {
        format!("`memory_bytes` is {memory} for {} blocks; the maximum is {most}", table.blocks.len())
    })?;
    if subject.oracle {
        return ensure(memory == 0, || {
            format!("`memory_bytes` of an ideal variant returns {memory}; it must return 0")
        });
    }
    // An exact fence needs at least four bytes per block, to distinguish each block from the next block.
    let least = if table.reads.get() == 0 { 4 * table.blocks.len() } else { 0 };
    ensure(memory >= least, || {
        format!("`memory_bytes` is {memory} for {} blocks; the minimum is {least}", table.blocks.len())
    })
}

/// Checks that corrupt bytes never cause a panic. A fence must not open if its stored bytes are too short or too long.
/// With flipped bits, the fence must not open, or each search must return an error or a block of the SSTable.
fn corruption_is_an_error_or_a_block_of_the_table(subject: &Subject) -> Result<(), String> {
    let mut table = Table::new(&numbered(300), 5, Cut::Shortest);
    table.store(&*subject.policy);
    let sound = table.stored.clone();
    let probes: Vec<Vec<u8>> = table.keys().step_by(37).cloned().chain([vec![], vec![0xff; 9]]).collect();
    let mut opens = |corrupt: Vec<u8>| {
        table.stored = corrupt;
        catch_unwind(AssertUnwindSafe(|| opens_and_answers(&*subject.policy, &table, &probes))).map_err(
            |_| {
                "opening or searching a fence with corrupt bytes panics; it must return an error or a \
                 block of the SSTable"
                    .to_owned()
            },
        )?
    };
    for len in 0..sound.len() {
        ensure(!opens(sound[..len].to_vec())?, || {
            format!(
                "a stored fence that is truncated to {len} of {} bytes opens without an error; it must be \
                 rejected",
                sound.len()
            )
        })?;
    }
    for extra in [1, 4, 8, 4096] {
        let longer = [&sound[..], &vec![0; extra]].concat();
        ensure(!opens(longer)?, || {
            format!(
                "a stored fence with {extra} additional bytes at its end opens without an error; it must \
                 be rejected"
            )
        })?;
    }
    for bit in 0..sound.len() * 8 {
        let mut flipped = sound.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        opens(flipped)?;
    }
    for at in 0..sound.len().saturating_sub(4) {
        let mut overwritten = sound.clone();
        overwritten[at..at + 4].fill(0xff);
        opens(overwritten)?;
    }
    Ok(())
}

/// Returns whether the policy opens the stored fence. If the fence opens, checks that each search returns an error or a
/// block of the SSTable.
fn opens_and_answers(policy: &dyn FencePolicy, table: &Table, probes: &[Vec<u8>]) -> Result<bool, String> {
    let Ok(fence) = policy.open(table) else { return Ok(false) };
    let keys: Vec<_> = probes.iter().map(|key| table.hashed(key)).collect();
    let mut blocks = vec![0; keys.len()];
    if fence.find_batch(&keys, &mut blocks, table).is_ok() {
        let most = blocks.iter().max().copied().unwrap_or(0);
        ensure((most as usize) < table.blocks.len(), || {
            format!("`find_batch` of a corrupt fence returned block {most}, but the SSTable has fewer blocks")
        })?;
    }
    for key in probes {
        for block in [fence.seek(key, table), fence.find(table.hashed(key), table)].into_iter().flatten() {
            ensure((block as usize) < table.blocks.len(), || {
                format!(
                    "`seek` or `find` of a corrupt fence returned block {block}, but the SSTable has fewer blocks"
                )
            })?;
        }
    }
    Ok(true)
}
