//! The invariants of block caches. Some checks use one thread, and others use several threads.

use std::collections::HashMap;
use std::thread;

use catalog::laws::Invariant;
use types::{Bytes, SplitMix64};

use super::calls::{self, Call};
use crate::{BlockId, Cache};

/// The number of calls that each thread makes to a cache under test.
pub(crate) const CALLS: u64 = 6_000;

/// A function that builds a new, empty cache under test.
pub(crate) type Make<'a> = &'a (dyn Fn() -> Box<dyn Cache> + Sync);

/// The subject of the invariants: a function that builds a new cache of one kind with fixed parameters.
pub(crate) struct Subject(pub(crate) Box<dyn Fn() -> Box<dyn Cache> + Sync>);

/// The invariants of block caches. Each invariant has a name and a function that checks it.
pub(crate) const INVARIANTS: &[Invariant<Subject>] = &[
    ("equal calls by one thread give equal answers, and the capacity is never exceeded", |subject| {
        check(&*subject.0)
    }),
    ("a cache with more capacity keeps more blocks", |subject| check_resizing(&*subject.0())),
    ("concurrent calls return only blocks that were inserted under the requested name", |subject| {
        check_concurrent(&*subject.0())
    }),
];

/// Checks all invariants that one thread can observe. The check makes the same calls on three new caches, and the gets
/// of all three caches must have the same hits. Another thread uses one of the caches, because the hits must not depend
/// on the calling thread.
pub(crate) fn check(make: Make<'_>) -> Result<(), String> {
    let first = replay(&*make())?;
    let second = replay(&*make())?;
    let elsewhere = thread::scope(|scope| {
        scope.spawn(|| replay(&*make())).join().expect("a thread that calls the cache must not panic")
    })?;
    if first == second && first == elsewhere {
        Ok(())
    } else {
        Err("invariant 3: the same calls on two new caches gave different hits".to_owned())
    }
}

/// Makes all calls of a sequence to `cache`, and checks every answer. Returns one element for each get of the sequence:
/// `true` for a hit, and `false` for a miss.
fn replay(cache: &dyn Cache) -> Result<Vec<bool>, String> {
    let mut inserted: HashMap<BlockId, Bytes> = HashMap::new();
    let mut hits = Vec::new();
    let base = cache.capacity();
    for (number, call) in calls::sequence(1, CALLS, base).into_iter().enumerate() {
        match call {
            Call::Get(id) => hits.push(check_get(cache, &inserted, id)?),
            Call::Insert(id, block) => {
                cache.insert(id, block.clone());
                inserted.insert(id, block);
            }
            Call::RemoveTable(tree, table) => check_removal(cache, &inserted, tree, table)?,
            Call::SetCapacity(bytes) => {
                cache.set_capacity(bytes);
                check_capacity(cache, if cache.is_resizable() { bytes } else { base })?;
            }
        }
        if cache.weight_bytes() > cache.capacity() {
            return Err(format!(
                "invariant 2: the cache contains {} bytes, but its capacity is {}",
                cache.weight_bytes(),
                cache.capacity()
            ));
        }
        if number % 500 == 0 {
            held(cache, &inserted)?;
        }
    }
    held(cache, &inserted)?;
    Ok(hits)
}

/// Checks that `get` and `read` return the bytes that were last inserted for a block (invariant 1 of [`Cache`]).
/// Returns whether the block is cached.
fn check_get(cache: &dyn Cache, inserted: &HashMap<BlockId, Bytes>, id: BlockId) -> Result<bool, String> {
    let found = cache.get(&id);
    let mut shown = None;
    let is_shown = cache.read(&id, &mut |block| shown = Some(block.to_vec()));
    if is_shown != shown.is_some() || shown.as_deref() != found.as_deref() {
        return Err(format!("invariant 1: read and get return different bytes for {id:?}"));
    }
    let Some(block) = found else { return Ok(false) };
    if inserted.get(&id).map(|block| &**block) == Some(&*block) {
        Ok(true)
    } else {
        Err(format!("invariant 1: for {id:?}, the cache does not return the bytes that were last inserted"))
    }
}

/// Returns the names of all blocks that the cache contains. Returns an error if the total length of these blocks
/// differs from `weight_bytes` of the cache.
fn held(cache: &dyn Cache, inserted: &HashMap<BlockId, Bytes>) -> Result<Vec<BlockId>, String> {
    let mut held = Vec::new();
    let mut weight = 0;
    for id in calls::all_blocks() {
        if check_get(cache, inserted, id)? {
            held.push(id);
            weight += inserted[&id].len() as u64;
        }
    }
    if weight == cache.weight_bytes() {
        Ok(held)
    } else {
        Err(format!(
            "invariant 2: the cached blocks have {weight} bytes, but weight_bytes() returns {}",
            cache.weight_bytes()
        ))
    }
}

/// Checks that `remove_table` of a cache removes all blocks of the SSTable and no other blocks.
fn check_removal(
    cache: &dyn Cache,
    inserted: &HashMap<BlockId, Bytes>,
    tree: u64,
    table: u64,
) -> Result<(), String> {
    let mut expected = held(cache, inserted)?;
    expected.retain(|id| (id.tree, id.table) != (tree, table));
    cache.remove_table(tree, table);
    if held(cache, inserted)? == expected {
        Ok(())
    } else {
        Err(format!(
            "after the removal of table {table} of tree {tree}, the cache must contain the blocks of all \
             other tables and no block of this table, but it does not"
        ))
    }
}

fn check_capacity(cache: &dyn Cache, expected: u64) -> Result<(), String> {
    let capacity = cache.capacity();
    if capacity == expected {
        Ok(())
    } else {
        Err(format!(
            "after a call of set_capacity, the capacity must be {expected}, but capacity() returns {capacity}"
        ))
    }
}

/// Checks that a resizable cache fills a larger capacity, and that it evicts blocks at once when its capacity is
/// reduced. Does nothing for a cache that is not resizable.
pub(crate) fn check_resizing(cache: &dyn Cache) -> Result<(), String> {
    if !cache.is_resizable() {
        return Ok(());
    }
    let mut before = 0;
    for capacity in [128 << 10, 512 << 10, 1024 << 10, 128 << 10, 0, 512 << 10] {
        cache.set_capacity(capacity);
        check_capacity(cache, capacity)?;
        let at_once = cache.weight_bytes();
        calls::all_blocks().for_each(|id| cache.insert(id, calls::block(id, 0, 4096)));
        let filled = cache.weight_bytes();
        if at_once.max(filled) > capacity || (capacity > before && filled <= before) {
            return Err(format!(
                "invariant 2: the capacity changed from {before} to {capacity} bytes. The cache contained \
                 {at_once} bytes directly after this change, and {filled} bytes after insertions of \
                 1310720 bytes. Neither number may exceed the new capacity. If the new capacity is larger \
                 than the old capacity, the cache must contain more than {before} bytes after the \
                 insertions"
            ));
        }
        before = capacity;
    }
    Ok(())
}

/// Checks that gets of concurrent threads return only blocks with the requested names. Then removes all SSTables, and
/// checks that the cache is empty.
pub(crate) fn check_concurrent(cache: &dyn Cache) -> Result<(), String> {
    const THREADS: u64 = 3;
    let base = cache.capacity();
    thread::scope(|scope| {
        let spawn = |seed| scope.spawn(move || churn(cache, seed, base));
        let threads: Vec<_> = (0..THREADS).map(spawn).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("a thread that calls the cache must not panic"))
    })?;
    let held: u64 = calls::all_blocks().filter_map(|id| cache.get(&id)).map(|block| block.len() as u64).sum();
    if held != cache.weight_bytes() || held > cache.capacity() {
        return Err(format!(
            "invariant 2: after concurrent calls, the cached blocks have {held} bytes. weight_bytes() must \
             return this number, but returns {}. The capacity is {} bytes",
            cache.weight_bytes(),
            cache.capacity()
        ));
    }
    for id in calls::all_blocks() {
        cache.remove_table(id.tree, id.table);
    }
    let left = cache.weight_bytes();
    if left == 0 {
        Ok(())
    } else {
        Err(format!("after the removal of all tables, weight_bytes() must return 0, but returns {left}"))
    }
}

/// Makes the calls of one thread to a cache. Checks that each returned block was inserted with the requested name.
fn churn(cache: &dyn Cache, seed: u64, base: u64) -> Result<(), String> {
    let random = &mut SplitMix64::new(seed);
    for call in calls::sequence(seed, CALLS, base) {
        match call {
            Call::Insert(id, block) => cache.insert(id, block),
            Call::RemoveTable(tree, table) => cache.remove_table(tree, table),
            Call::SetCapacity(bytes) => cache.set_capacity(bytes),
            Call::Get(_) => {
                let id = calls::any_block(random);
                let Some(block) = cache.get(&id) else { continue };
                let name = calls::block(id, 0, 24);
                let is_own = |block: &[u8]| block.iter().zip(&name[..]).all(|(byte, own)| byte == own);
                let mut is_shown_own = true;
                cache.read(&id, &mut |block| is_shown_own = is_own(block));
                if !is_shown_own || !is_own(&block) {
                    return Err(format!(
                        "invariant 1: for {id:?}, the cache returns the bytes of another block"
                    ));
                }
            }
        }
    }
    Ok(())
}
