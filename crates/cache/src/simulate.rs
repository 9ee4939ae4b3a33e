//! Replays of request traces in a cache, and the ideal bound on the hits that any cache can have.
//!
//! [`replay`] replays a trace in any [`Cache`], which does not know the future requests. [`belady`] computes the
//! ideal bound for the same trace, and knows all requests.

use std::collections::{BTreeSet, HashMap, HashSet};

use types::Bytes;

use crate::cache::{BlockId, Cache};

/// One request of a trace: the name of a block, and the block's length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRequest {
    /// The block that the request reads.
    pub id: BlockId,
    /// The length of the block in bytes. All requests for the same block must have the same length.
    pub bytes: u32,
}

/// The hits and misses that the replay of a trace counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// The number of requests after the warm-up, which are counted.
    pub requests: u64,
    /// The number of counted requests whose block was in the cache.
    pub hits: u64,
    /// The total size in bytes of the requested blocks that were not in the cache. A tree would have read these
    /// blocks from storage.
    pub missed_bytes: u64,
}

impl Score {
    /// Returns the fraction of the counted requests that are hits. The result is 0 if no request was counted.
    pub fn hit_rate(&self) -> f64 {
        self.hits as f64 / self.requests.max(1) as f64
    }

    fn count(&mut self, request: &BlockRequest, is_hit: bool) {
        self.requests += 1;
        self.hits += u64::from(is_hit);
        self.missed_bytes += if is_hit { 0 } else { u64::from(request.bytes) };
    }
}

/// Replays `trace`: requests each block from `cache` in order, and inserts the block after a miss. The score counts
/// the requests from number `warm_up` on.
pub fn replay(cache: &dyn Cache, trace: &[BlockRequest], warm_up: usize) -> Score {
    let mut score = Score::default();
    let mut blocks: HashMap<u32, Bytes> = HashMap::new();
    for (number, request) in trace.iter().enumerate() {
        let is_hit = cache.get(&request.id).is_some();
        if !is_hit {
            // Blocks with equal lengths share their bytes, because a policy sees only the length.
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

/// Returns the ideal bound on the hits of a cache of `capacity` bytes. The score counts the requests of `trace` from
/// number `warm_up` on.
///
/// Hits in the warm-up do not count, so a policy may accept fewer hits in the warm-up to have more hits later. At the
/// end of the warm-up, the simulated cache therefore has the best content for the later requests, chosen from all
/// blocks that were requested during the warm-up.
///
/// The algorithm keeps the blocks whose next request is nearest, including the incoming block (Belady, "A study of
/// replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966; proved optimal by Mattson et
/// al., 1970, even if the cache may decline a block). The bound is exact if all blocks have the same length. For
/// different lengths, the exact bound is NP-hard (Chrobak et al., 2012). In this case, the result is not a bound, but
/// the score of a very good policy.
pub fn belady(trace: &[BlockRequest], capacity: u64, warm_up: usize) -> Score {
    let (warm, scored) = trace.split_at(warm_up.min(trace.len()));
    let mut seen = HashSet::new();
    let once = warm.iter().filter(|request| seen.insert(request.id));
    let trace: Vec<BlockRequest> = once.chain(scored).copied().collect();
    let warm_up = trace.len() - scored.len();
    let next = next_requests(&trace);
    let mut score = Score::default();
    let mut held: HashMap<BlockId, usize> = HashMap::new();
    // The cached blocks, ordered by their next request. Blocks without a next request get numbers after the last
    // request.
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

/// Returns, for each request of the trace, the index of the next request for the same block. The index is the length of
/// the trace if no further request exists.
fn next_requests(trace: &[BlockRequest]) -> Vec<usize> {
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

    fn request(offset: u64) -> BlockRequest {
        BlockRequest { id: BlockId { tree: 0, table: 0, offset }, bytes: 10 }
    }

    /// Returns the maximum number of hits, found by trying all possible evictions.
    fn most_hits(trace: &[BlockRequest], held: &mut Vec<BlockRequest>, capacity: usize) -> u64 {
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
            let trace: Vec<BlockRequest> = (0..11).map(|_| request(random.random_range(0..5))).collect();
            for capacity in 1..4 {
                let best = most_hits(&trace, &mut Vec::new(), capacity);
                assert_eq!(belady(&trace, capacity as u64 * 10, 0).hits, best, "{trace:?} in {capacity}");
            }
        }
    }

    /// Returns the maximum number of hits after a warm-up. Tries every set of blocks that the warm-up can leave in
    /// the cache.
    fn most_scored_hits(warm: &[BlockRequest], scored: &[BlockRequest], capacity: usize) -> u64 {
        let mut blocks = warm.to_vec();
        blocks.sort_by_key(|request| request.id.offset);
        blocks.dedup();
        let contents = (0..1_u32 << blocks.len()).filter(|chosen| chosen.count_ones() as usize <= capacity);
        let hits = contents.map(|chosen| {
            let is_chosen = |(at, _): &(usize, &BlockRequest)| chosen >> at & 1 == 1;
            let mut held = blocks.iter().enumerate().filter(is_chosen).map(|(_, block)| *block).collect();
            most_hits(scored, &mut held, capacity)
        });
        hits.max().unwrap_or(0)
    }

    #[test]
    fn the_bound_after_a_warm_up_is_the_best_of_all_contents() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(3);
        for _ in 0..100 {
            let trace: Vec<BlockRequest> = (0..12).map(|_| request(random.random_range(0..5))).collect();
            for capacity in 1..4 {
                let best = most_scored_hits(&trace[..5], &trace[5..], capacity);
                assert_eq!(belady(&trace, capacity as u64 * 10, 5).hits, best, "{trace:?} in {capacity}");
            }
        }
    }

    /// Tests a warm-up whose blocks differ from the blocks of the counted requests. An algorithm that maximizes the
    /// hits of the whole trace would lose counted hits to gain hits in the warm-up.
    #[test]
    fn a_change_at_the_end_of_the_warm_up_leaves_the_bound_above_every_cache() {
        let phased = |random: &mut Xoshiro256PlusPlus, scored: u64| -> Vec<BlockRequest> {
            let warm = (0..2000).map(|_| random.random_range(0..150)).collect::<Vec<u64>>();
            let later = (0..2000).map(|_| scored + random.random_range(0..150)).collect::<Vec<u64>>();
            [warm, later].concat().into_iter().map(request).collect()
        };
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(4);
        let regular: Vec<BlockRequest> = (0..4000).map(|number| request(number % 130)).collect();
        for trace in [phased(random, 1000), phased(random, 100), phased(random, 0), regular] {
            let bound = belady(&trace, 1000, 2000);
            for variant in CATALOG.variants().iter().filter(|variant| !variant.oracle) {
                let mut table = variant.defaults();
                table.insert("kind".to_owned(), Value::from(variant.kind));
                if table.contains_key("capacity") {
                    table.insert("capacity".to_owned(), Value::from(1000));
                }
                let cache = CATALOG.build(&CATALOG.choose(&Value::Table(table)).unwrap()).unwrap();
                let hits = replay(&*cache, &trace, 2000).hits;
                assert!(hits <= bound.hits, "{}: {hits} above {}", variant.kind, bound.hits);
            }
        }
        // The cache has room for one block. The counted requests begin with a block that the warm-up requested once,
        // long before.
        let trace = [1, 2, 2, 2, 1].map(request);
        assert_eq!(belady(&trace, 10, 4).hits, 1);
    }

    #[test]
    fn no_cache_of_the_catalog_hits_more_than_belady() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(2);
        let trace: Vec<BlockRequest> = (0..20_000)
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
