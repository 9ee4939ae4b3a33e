//! A parallel sort by heads. A head is eight bytes of a key as an integer. One radix pass distributes the items into
//! buckets by the highest bits in which the heads differ. Then several threads sort the buckets.
//!
//! The radix pass makes one read and one scattered write per item. The comparison sort within a bucket is fast, because
//! a bucket fits into the L1 cache. If most heads are in a few buckets, the sort takes as long as a comparison sort.
//! Sources: Knuth, TAOCP 3, 5.2.5; for the radix pass by the most significant digit, Bentley and `McIlroy`,
//! "Engineering Radix Sort", 1993.

use std::cmp::Ordering;
use std::thread;

use types::head;

/// An item to sort. The head is the first eight bytes of its key as an integer, and the payload is the data that
/// belongs to the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Headed<T> {
    pub(crate) head: u64,
    pub(crate) item: T,
}

impl<T> Headed<T> {
    /// Creates an item to sort, with the payload `item`. The head is computed from `rest`, the bytes of the key after
    /// the common prefix of all keys.
    #[inline]
    pub(crate) fn new(rest: &[u8], item: T) -> Self {
        Self { head: head(rest), item }
    }
}

/// The approximate number of items in a bucket of the radix sort.
const BUCKET_ITEMS: usize = 256;

/// The largest number of bits that select a bucket of the radix sort. The sort writes to all buckets in turn, and each
/// bucket has one cache line at its write position. All these cache lines must fit into the L2 cache.
const MAX_BUCKET_BITS: u32 = 12;

/// The smallest number of items for each thread of the radix sort. For fewer items, the sort uses fewer threads.
const ITEMS_PER_THREAD: usize = 1 << 15;

/// The largest number of threads of the radix sort. The limit leaves some CPUs for other work during a flush.
const MAX_THREADS: usize = 8;

/// Sorts `items` by their heads. The function `tie` compares the payloads of items with equal heads, and must never
/// return `Equal`.
pub(crate) fn sort<T, F>(items: &mut Vec<Headed<T>>, tie: F)
where
    T: Copy + Default + Send,
    F: Fn(T, T) -> Ordering + Sync,
{
    let order = |a: &Headed<T>, b: &Headed<T>| a.head.cmp(&b.head).then_with(|| tie(a.item, b.item));
    let bits = (items.len() / BUCKET_ITEMS).max(1).ilog2().min(MAX_BUCKET_BITS);
    let (least, greatest) =
        items.iter().fold((u64::MAX, 0), |(low, high), item| (low.min(item.head), high.max(item.head)));
    if bits == 0 || least >= greatest {
        items.sort_unstable_by(order);
        return;
    }
    let shift = (u64::BITS - (greatest - least).leading_zeros()).saturating_sub(bits);
    let mut ends = scatter(items, 1 << bits, |head| ((head - least) >> shift) as usize);
    let processors = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let threads = (items.len() / ITEMS_PER_THREAD).clamp(1, processors);
    let share = items.len().div_ceil(threads);
    thread::scope(|scope| {
        let mut rest = &mut items[..];
        let mut first = 0;
        while !rest.is_empty() {
            // Each thread gets a share of complete buckets.
            let wanted = ends.partition_point(|end| *end < first + share);
            let end = ends.get(wanted).copied().unwrap_or(first + rest.len());
            let taken = ends.drain(..(wanted + 1).min(ends.len())).collect::<Vec<_>>();
            let (own, others) = rest.split_at_mut(end - first);
            let mut work = move || sort_buckets(own, first, &taken, order);
            rest = others;
            first = end;
            if rest.is_empty() { work() } else { drop(scope.spawn(work)) }
        }
    });
}

/// Distributes items into the buckets of the radix sort by the highest bits of their heads. Returns the end of each
/// bucket.
fn scatter<T: Copy + Default>(
    items: &mut Vec<Headed<T>>,
    buckets: usize,
    bucket_of: impl Fn(u64) -> usize,
) -> Vec<usize> {
    let mut ends = vec![0; buckets];
    items.iter().for_each(|item| ends[bucket_of(item.head)] += 1);
    let mut begin = 0;
    for end in &mut ends {
        begin += std::mem::replace(end, begin);
    }
    let mut scattered = vec![Headed::default(); items.len()];
    for item in &*items {
        let end = &mut ends[bucket_of(item.head)];
        scattered[*end] = *item;
        *end += 1;
    }
    *items = scattered;
    ends
}

/// Sorts the items of each bucket. `first` is the index of the first item of `items` among all items.
fn sort_buckets<T>(
    items: &mut [Headed<T>],
    first: usize,
    ends: &[usize],
    order: impl Fn(&Headed<T>, &Headed<T>) -> Ordering,
) {
    let mut begin = 0;
    for end in ends.iter().map(|end| end - first) {
        items[begin..end].sort_unstable_by(&order);
        begin = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sorts_like_a_sort_by_comparison() {
        let mixed = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let shapes: [fn(u64) -> u64; 6] =
            [|m| m, |m| m >> 40, |m| m % 3, |m| u64::MAX - (m >> 60), |_| 7, |m| (m >> 32) * (m >> 63)];
        for len in [0u64, 1, 2, 500, 513, 5_000, 200_000] {
            for shape in shapes {
                let mut items: Vec<_> =
                    (0..len).map(|i| Headed { head: shape(mixed(i)), item: mixed(i) as u32 }).collect();
                let mut expected = items.clone();
                expected.sort_by_key(|item| (item.head, item.item));
                sort(&mut items, |a, b| a.cmp(&b));
                assert_eq!(items, expected);
            }
        }
    }
}
