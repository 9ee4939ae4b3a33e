//! Replays of request traces in a cache, and the ideal bound on the hits of any cache.
//!
//! A cache in a tree sees one request at a time and not the future. The bound on the hits of any policy needs a
//! second pass over a recorded trace. [`replay`] is the first pass, with any [`Cache`]; [`belady`] is the second pass
//! over the same trace.

use std::collections::{BTreeSet, HashMap};

use types::Bytes;

use crate::cache::{BlockId, Cache};

/// One request of a trace: a block, and its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The requested block.
    pub id: BlockId,
    /// The length of the block in bytes, the same at every request for it.
    pub bytes: u32,
}

/// The result of replaying a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// The number of requests that were counted.
    pub requests: u64,
    /// The number of counted requests that found their block.
    pub hits: u64,
    /// The total size in bytes of the blocks that were not found, which a tree would have read from storage.
    pub missed_bytes: u64,
}

impl Score {
    /// The hits as a share of the requests; 0 without requests.
    pub fn hit_rate(&self) -> f64 {
        self.hits as f64 / self.requests.max(1) as f64
    }

    fn count(&mut self, request: &Request, is_hit: bool) {
        self.requests += 1;
        self.hits += u64::from(is_hit);
        self.missed_bytes += if is_hit { 0 } else { u64::from(request.bytes) };
    }
}

/// Gets every block of `trace` from `cache` in turn, inserts the missed ones, and scores all requests from number
/// `warm_up` on.
pub fn replay(cache: &dyn Cache, trace: &[Request], warm_up: usize) -> Score {
    let mut score = Score::default();
    let mut blocks: HashMap<u32, Bytes> = HashMap::new();
    for (number, request) in trace.iter().enumerate() {
        let is_hit = cache.get(&request.id).is_some();
        if !is_hit {
            // Blocks of one length share their bytes, because a policy sees only the length.
            let block = blocks
                .entry(request.bytes)
                .or_insert_with(|| Bytes::copy_from(&vec![0; request.bytes as usize]));
            cache.insert(request.id, block.clone());
        }
        if number >= warm_up {
            score.count(request, is_hit);
        }
    }
    score
}

/// The ideal bound on the hits of a cache of `capacity` bytes on `trace`, scored from number `warm_up` on.
///
/// The blocks whose next request is nearest are kept, the incoming block included (Belady, "A study of replacement
/// algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966; optimal by Mattson et al., 1970, also
/// if a block may be declined). The bound is exact for blocks of one length. For different lengths the exact bound is
/// NP-hard (Chrobak et al., 2012), and the result is a strong policy, not a bound.
pub fn belady(trace: &[Request], capacity: u64, warm_up: usize) -> Score {
    let next = next_requests(trace);
    let mut score = Score::default();
    let mut held: HashMap<BlockId, usize> = HashMap::new();
    // The cached blocks by their next request, the farthest last. Blocks without a next request count from the end
    // on.
    let mut by_next: BTreeSet<(usize, BlockId, u32)> = BTreeSet::new();
    let mut weight = 0;
    for (number, request) in trace.iter().enumerate() {
        let is_hit = held.remove(&request.id).is_some();
        if is_hit {
            by_next.remove(&(number, request.id, request.bytes));
            weight -= u64::from(request.bytes);
        }
        if number >= warm_up {
            score.count(request, is_hit);
        }
        if next[number] < trace.len() && request.bytes > 0 {
            held.insert(request.id, next[number]);
            by_next.insert((next[number], request.id, request.bytes));
            weight += u64::from(request.bytes);
        }
        while weight > capacity
            && let Some((_, id, bytes)) = by_next.pop_last()
        {
            held.remove(&id);
            weight -= u64::from(bytes);
        }
    }
    score
}

/// For every request, the number of the next request for the same block, or the length of the trace.
fn next_requests(trace: &[Request]) -> Vec<usize> {
    let mut next = vec![trace.len(); trace.len()];
    let mut later: HashMap<BlockId, usize> = HashMap::new();
    for (number, request) in trace.iter().enumerate().rev() {
        if let Some(later) = later.insert(request.id, number) {
            next[number] = later;
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use toml::Value;

    use super::*;
    use crate::CATALOG;

    fn request(offset: u64) -> Request {
        Request { id: BlockId { tree: 0, table: 0, offset }, bytes: 10 }
    }

    /// Maximum number of hits over all possible eviction choices, found by trying all of them.
    fn most_hits(trace: &[Request], held: &mut Vec<Request>, capacity: usize) -> u64 {
        let Some((now, later)) = trace.split_first() else { return 0 };
        if held.contains(now) {
            return 1 + most_hits(later, held, capacity);
        }
        let declined = most_hits(later, held, capacity);
        if held.len() < capacity {
            held.push(*now);
            let best = most_hits(later, held, capacity);
            held.pop();
            return best.max(declined);
        }
        (0..held.len()).fold(declined, |best, victim| {
            let evicted = std::mem::replace(&mut held[victim], *now);
            let hits = most_hits(later, held, capacity);
            held[victim] = evicted;
            best.max(hits)
        })
    }

    #[test]
    fn no_choices_hit_more_than_belady() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..200 {
            let trace: Vec<Request> = (0..11).map(|_| request(random.random_range(0..5))).collect();
            for capacity in 1..4 {
                let best = most_hits(&trace, &mut Vec::new(), capacity);
                assert_eq!(belady(&trace, capacity as u64 * 10, 0).hits, best, "{trace:?} in {capacity}");
            }
        }
    }

    #[test]
    fn no_cache_of_the_catalog_hits_more_than_belady() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(2);
        let trace: Vec<Request> = (0..20_000)
            .map(|_| request(random.random_range(0..400).min(random.random_range(0..400))))
            .collect();
        let bound = belady(&trace, 1000, 0);
        for variant in CATALOG.variants().iter().filter(|variant| !variant.oracle) {
            let mut table = variant.defaults();
            table.insert("kind".to_owned(), Value::from(variant.kind));
            if table.contains_key("capacity") {
                table.insert("capacity".to_owned(), Value::from(1000));
            }
            let cache = CATALOG.build(&CATALOG.choose(&Value::Table(table)).unwrap()).unwrap();
            let score = replay(&*cache, &trace, 0);
            assert_eq!(score.requests, bound.requests);
            assert!(score.hits <= bound.hits, "{}: {score:?} against {bound:?}", variant.kind);
        }
    }

    #[test]
    fn a_score_counts_what_comes_after_the_warm_up() {
        let trace = [1, 2, 1, 3, 1].map(request);
        let score = belady(&trace, 10, 2);
        assert_eq!(score, Score { requests: 3, hits: 2, missed_bytes: 10 });
        assert!((score.hit_rate() - 2.0 / 3.0).abs() < 1e-9);
    }
}
