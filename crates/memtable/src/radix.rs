//! Sorting by 8-byte heads: one radix pass over as many bits as distinguish the heads, and then a separate sort of
//! every bucket, on all CPUs.
//!
//! The pass costs one read and one scattered write per item. Buckets fit into the first-level cache, where the
//! following comparison sort is fast. If the heads fall into few buckets, the cost is that of a plain comparison sort,
//! never more. Sources: Knuth, TAOCP 3, 5.2.5; as the first pass of a most-significant-digit radix sort, Bentley and
//! `McIlroy`, "Engineering Radix Sort", 1993.

use std::cmp::Ordering;
use std::thread;

use types::head;

/// An item to sort: a head with its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Headed<T> {
    pub(crate) head: u64,
    pub(crate) item: T,
}

impl<T> Headed<T> {
    /// An item of a key whose bytes after the common prefix are `rest`.
    #[inline]
    pub(crate) fn new(rest: &[u8], item: T) -> Self {
        Self { head: head(rest), item }
    }
}

/// Approximate number of items per bucket.
const BUCKET_ITEMS: usize = 256;

/// Limit on the number of buckets. The write positions of all buckets are in use and must stay within the second-level
/// cache.
const MAX_BUCKET_BITS: u32 = 12;

/// Minimum number of items that justifies another thread.
const ITEMS_PER_THREAD: usize = 1 << 15;

/// Maximum number of threads, because a flush shares the machine.
const MAX_THREADS: usize = 8;

/// Sorts `items` by their heads, and items with equal heads by `tie`, which must distinguish all items.
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
            // A share of complete buckets.
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

/// Distributes items into buckets; returns the buckets' ends.
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

/// Sorts each bucket of `items`, which begins at `first` of all.
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
