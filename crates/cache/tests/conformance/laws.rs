//! The laws as functions: of one thread, of many, and of exact LRU.

use std::collections::HashMap;
use std::thread;

use lsmbench_cache::{BlockId, Cache};
use types::Bytes;

use crate::calls::{self, Call};

const CALLS: u64 = 6_000;

/// Makes one more cache of the same kind.
pub(crate) type Make<'a> = &'a (dyn Fn() -> Box<dyn Cache> + Sync);

/// Checks all laws that one thread can see; three caches get the same calls and must answer alike.
pub(crate) fn check(make: Make<'_>) -> Result<(), String> {
    let first = replay(&*make())?;
    let second = replay(&*make())?;
    let elsewhere = thread::scope(|scope| scope.spawn(|| replay(&*make())).join().expect("no panic"))?;
    if first == second && first == elsewhere {
        Ok(())
    } else {
        Err("law 3: the same calls gave other hits".to_owned())
    }
}

/// Makes the calls, checks every answer, and returns which gets were hits.
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
                if cache.capacity() != bytes && cache.capacity() != base {
                    return Err(format!("the capacity was set to {bytes} and is {}", cache.capacity()));
                }
            }
        }
        if cache.weight_bytes() > cache.capacity() {
            return Err(format!("law 2: {} bytes of {}", cache.weight_bytes(), cache.capacity()));
        }
        if number % 500 == 0 {
            held(cache, &inserted)?;
        }
    }
    held(cache, &inserted)?;
    Ok(hits)
}

/// Law 1 for one block; says whether it was there.
fn check_get(cache: &dyn Cache, inserted: &HashMap<BlockId, Bytes>, id: BlockId) -> Result<bool, String> {
    let found = cache.get(&id);
    let mut shown = None;
    let is_shown = cache.read(&id, &mut |block| shown = Some(block.to_vec()));
    if is_shown != shown.is_some() || shown.as_deref() != found.as_deref() {
        return Err(format!("law 1: read shows another {id:?} than get returns"));
    }
    let Some(block) = found else { return Ok(false) };
    if inserted.get(&id).map(|block| &**block) == Some(&*block) {
        Ok(true)
    } else {
        Err(format!("law 1: {id:?} gives bytes that were not last inserted under it"))
    }
}

/// All blocks held; together they must weigh what the cache says.
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
        Err(format!("law 2: {weight} bytes are held, {} are reported", cache.weight_bytes()))
    }
}

/// Removing a table takes its blocks and no others.
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
        Err(format!("table {table} of tree {tree} was removed: other blocks are held than its neighbours'"))
    }
}

/// Checks that threads at once get blocks that belong to the names they asked for, and that nothing is
/// left over afterwards.
pub(crate) fn check_concurrent(cache: &dyn Cache) -> Result<(), String> {
    const THREADS: u64 = 3;
    let base = cache.capacity();
    thread::scope(|scope| {
        let spawn = |seed| scope.spawn(move || churn(cache, seed, base));
        let threads: Vec<_> = (0..THREADS).map(spawn).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    let held: u64 = calls::all_blocks().filter_map(|id| cache.get(&id)).map(|block| block.len() as u64).sum();
    if held != cache.weight_bytes() || held > cache.capacity() {
        return Err(format!(
            "law 2: {held} bytes are held, {} reported, {} allowed",
            cache.weight_bytes(),
            cache.capacity()
        ));
    }
    for id in calls::all_blocks() {
        cache.remove_table(id.tree, id.table);
    }
    let left = cache.weight_bytes();
    if left == 0 { Ok(()) } else { Err(format!("all tables were removed and {left} bytes are held")) }
}

/// One thread's calls: whatever others do, a block that comes back was inserted under its name.
fn churn(cache: &dyn Cache, seed: u64, base: u64) -> Result<(), String> {
    let random = &mut calls::random(seed);
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
                    return Err(format!("law 1: {id:?} gives bytes of another block"));
                }
            }
        }
    }
    Ok(())
}

/// Checks call by call that a cache of `capacity` bytes holds what an independent LRU list holds.
pub(crate) fn check_exact_lru(cache: &dyn Cache, capacity: u64) -> Result<(), String> {
    let mut model = LruModel { blocks: Vec::new(), capacity };
    for (number, call) in calls::sequence(7, CALLS, capacity).into_iter().enumerate() {
        match call {
            Call::Get(id) => {
                if cache.get(&id).is_some() != model.get(id) {
                    return Err(format!("get number {number} is a hit in one and a miss in the other"));
                }
            }
            Call::Insert(id, block) => {
                model.insert(id, block.len() as u64);
                cache.insert(id, block);
            }
            Call::RemoveTable(tree, table) => {
                model.blocks.retain(|(id, _)| (id.tree, id.table) != (tree, table));
                cache.remove_table(tree, table);
            }
            Call::SetCapacity(bytes) => {
                model.capacity = bytes;
                model.evict();
                cache.set_capacity(bytes);
            }
        }
        if cache.weight_bytes() != model.weight() {
            return Err(format!(
                "{} bytes are held, exact LRU holds {}",
                cache.weight_bytes(),
                model.weight()
            ));
        }
    }
    Ok(())
}

/// LRU as a list, the most recently used last.
struct LruModel {
    blocks: Vec<(BlockId, u64)>,
    capacity: u64,
}

impl LruModel {
    fn weight(&self) -> u64 {
        self.blocks.iter().map(|(_, weight)| weight).sum()
    }

    fn get(&mut self, id: BlockId) -> bool {
        let Some(at) = self.blocks.iter().position(|(held, _)| *held == id) else { return false };
        let used = self.blocks.remove(at);
        self.blocks.push(used);
        true
    }

    fn insert(&mut self, id: BlockId, weight: u64) {
        self.blocks.retain(|(held, _)| *held != id);
        if weight > 0 && weight <= self.capacity {
            self.blocks.push((id, weight));
        }
        self.evict();
    }

    fn evict(&mut self) {
        while self.weight() > self.capacity {
            self.blocks.remove(0);
        }
    }
}
