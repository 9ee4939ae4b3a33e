//! Computations about searches in fences, in the leaves of a B-tree, in sorted keys, and in level order (Eytzinger).

use std::f64::consts::LN_2;

use statrs::function::factorial::ln_factorial;

use super::Arguments;

/// The number of simulated searches. The searched keys are spread evenly over all keys.
const SEARCHES: u32 = 512;

/// Size of a cache line of the CPU, in bytes.
const LINE: u64 = 64;

/// Returns the order in which an in-order walk of a binary tree visits its array positions. The tree is in level order
/// (Eytzinger), so the children of position `i` are at `2i + 1` and `2i + 2`.
fn walk(count: usize) -> Vec<usize> {
    let (mut order, mut above, mut at) = (Vec::with_capacity(count), Vec::new(), 0);
    while at < count || !above.is_empty() {
        while at < count {
            above.push(at);
            at = 2 * at + 1;
        }
        if let Some(place) = above.pop() {
            order.push(place);
            at = 2 * place + 2;
        }
    }
    order
}

/// Returns an array with the keys 0 … n - 1 in level order (the Eytzinger layout of a search tree).
fn level_order(count: usize) -> Vec<usize> {
    let mut array = vec![0; count];
    for (key, place) in walk(count).into_iter().enumerate() {
        array[place] = key;
    }
    array
}

/// Returns whether a search finds `key` in `array`, if the array is in level order (Eytzinger).
fn finds(array: &[usize], key: usize) -> bool {
    let mut at = 0;
    while let Some(found) = array.get(at) {
        if *found == key {
            return true;
        }
        at = 2 * at + if key < *found { 1 } else { 2 };
    }
    false
}

/// Counts how many of n keys a search in level order (Eytzinger) finds. The argument `builder` selects how the array is
/// built:
///
/// * `level-order`: the correct way.
/// * `printed`: the way of the code in a published document, which stores array positions instead of keys.
pub(super) fn eytzinger_found(with: &Arguments<'_>) -> Result<f64, String> {
    let keys = with.count("keys")?.min(1 << 20) as usize;
    let array = match with.word("builder")? {
        "level-order" => level_order(keys),
        "printed" => walk(keys),
        other => return Err(format!("`builder` is \"{other}\". Valid: \"level-order\", \"printed\"")),
    };
    Ok((0..keys).filter(|key| finds(&array, *key)).count() as f64)
}

/// Stores the keys 0 to 2^bits - 1 in level order (Eytzinger). Counts the keys whose position in the array has the same
/// bits in reverse order.
pub(super) fn level_order_places(with: &Arguments<'_>) -> Result<f64, String> {
    let bits = with.count("bits")?.clamp(1, 20) as u32;
    let reversed = |place: usize| place.reverse_bits() >> (usize::BITS - bits);
    let array = level_order(1 << bits);
    Ok(array.iter().enumerate().filter(|(place, key)| reversed(*place) == **key).count() as f64)
}

/// Counts the cases in which a documented rule chooses the compressed fence, if memory is short and keys share
/// prefixes. A case is a number of entries and a level, each at most `around` away from its threshold. The rule decides
/// in this order:
///
/// 1. the standard fence, if the number of entries is below its threshold;
/// 2. the Eytzinger fence, if the number of entries is above its threshold, or the level is at or above its threshold;
/// 3. the compressed fence, if memory is short.
pub(super) fn fence_factory_cases(with: &Arguments<'_>) -> Result<f64, String> {
    let around = i64::try_from(with.count("around")?.min(1000)).map_err(|error| error.to_string())?;
    let cases = (-around..=around).flat_map(|size| (-around..=around).map(move |level| (size, level)));
    let is_compressed = |(size, level): &(i64, i64)| *size >= 0 && !(*size > 0 || *level >= 0);
    Ok(cases.filter(is_compressed).count() as f64)
}

/// Computes the time of a binary search in n entries if every comparison causes a cache miss: ⌈log2(n + 1)⌉ times
/// `miss_ns`.
pub(super) fn comparisons_ns(with: &Arguments<'_>) -> Result<f64, String> {
    Ok((with.number("entries")? + 1.0).log2().ceil() * with.number("miss_ns")?)
}

/// Counts the keys from `start` (inclusive) to `end` (exclusive) that a scan of B-tree leaves finds if it begins at the
/// wrong leaf: the first leaf whose largest key is at least `start` and below `end`. Each leaf contains `per_leaf` of
/// the keys 0, 1, 2 ….
pub(super) fn separator_scan(with: &Arguments<'_>) -> Result<f64, String> {
    let (per_leaf, leaves) = (with.count("per_leaf")?.max(1), with.count("leaves")?);
    let (start, end) = (with.count("start")?, with.count("end")?);
    let largest = |leaf: u64| (leaf + 1) * per_leaf - 1;
    let first = (0..leaves).find(|leaf| largest(*leaf) >= start && largest(*leaf) < end);
    let all = leaves * per_leaf;
    Ok(first.map_or(0, |leaf| end.min(all).saturating_sub(start.max(leaf * per_leaf))) as f64)
}

/// Computes the number of inner pages of a B-tree with n pairs. A page contains `per_page` pairs or child pages.
pub(super) fn btree_inner_pages(with: &Arguments<'_>) -> Result<f64, String> {
    layers(with).map(|layers| layers.iter().skip(1).sum())
}

/// Computes how many times faster a scan returns keys than gets do, if only page reads cost time. A get descends the
/// B-tree of one SSTable. A scan descends the B-trees of `tables` SSTables, and then reads further leaves with
/// `per_page` keys each.
pub(super) fn scan_gain(with: &Arguments<'_>) -> Result<f64, String> {
    let height = layers(with)?.len() as f64;
    let keys = with.number("keys")?;
    let further = (keys - 1.0) / with.number("per_page")?;
    Ok(keys * height / (with.number("tables")? * height + further))
}

/// Computes the number of pages in each layer of a B-tree with n pairs, from the leaves up.
fn layers(with: &Arguments<'_>) -> Result<Vec<f64>, String> {
    let per_page = with.number("per_page")?;
    let mut pages = (with.number("pairs")? / per_page).ceil();
    if !(pages.is_finite() && per_page >= 2.0) {
        return Err("a B-tree page must have at least two pairs".to_owned());
    }
    let mut layers = vec![pages];
    while pages > 1.0 {
        pages = (pages / per_page).ceil();
        layers.push(pages);
    }
    Ok(layers)
}

/// Computes the bytes per entry of a fence with skip lanes, which are lists of indexes. Lane 0 has one index per entry,
/// and each further lane has one index per s indexes of the previous lane. An entry therefore has 1 + 1/s + 1/s² … =
/// s/(s - 1) indexes.
pub(super) fn lanes_bytes(with: &Arguments<'_>) -> Result<f64, String> {
    let step = with.number("step")?;
    Ok(with.number("entry")? + with.number("index")? * step / (step - 1.0))
}

/// Counts the blocks of a compressed file that a reader finds if it ignores the compression: it expects block n at n
/// times the original block size. The stored size of each block is 1/`ratio` of its original size.
pub(super) fn fixed_offset_blocks(with: &Arguments<'_>) -> Result<f64, String> {
    let (blocks, bytes) = (with.count("blocks")?, with.count("block_bytes")?);
    let stored = (bytes as f64 / with.number("ratio")?) as u64;
    Ok((0..blocks).filter(|block| block * stored == block * bytes).count() as f64)
}

/// Computes how many times more cache lines a binary search reads in sorted order than in level order (Eytzinger), for
/// n entries of a given size.
///
/// The searches are simulated for evenly spread keys. Each cache line at which a visited entry begins counts once.
pub(super) fn search_lines_ratio(with: &Arguments<'_>) -> Result<f64, String> {
    let (entries, bytes) = (with.count("entries")?, with.count("entry_bytes")?);
    if entries == 0 || bytes == 0 {
        return Err("the searched array must have at least one entry of at least one byte".to_owned());
    }
    // The fractional parts of multiples of the golden ratio are evenly spread for any number of multiples.
    let keys = || (1..=SEARCHES).map(|number| (f64::from(number) * 0.618_033_988_749_895).fract());
    let touched = |places: &dyn Fn(u64, f64) -> Vec<u64>| -> usize {
        let lines = |key: f64| {
            let mut lines: Vec<u64> = places(entries, key).iter().map(|place| place * bytes / LINE).collect();
            lines.sort_unstable();
            lines.dedup();
            lines.len()
        };
        keys().map(lines).sum()
    };
    Ok(touched(&sorted_places) as f64 / touched(&level_places) as f64)
}

/// Computes the percentage of cache lines that a search in level order (Eytzinger) saves, compared with a search in
/// sorted order.
pub(super) fn search_lines_saved_pct(with: &Arguments<'_>) -> Result<f64, String> {
    search_lines_ratio(with).map(|ratio| 100.0 * (1.0 - ratio.recip()))
}

/// Returns the array positions that a binary search reads in a sorted array. `key` is the position of the searched key,
/// from 0 (first) to 1 (last).
fn sorted_places(entries: u64, key: f64) -> Vec<u64> {
    let (mut places, mut from, mut to) = (Vec::new(), 0, entries);
    while from < to {
        let middle = from + (to - from) / 2;
        places.push(middle);
        if (middle as f64) < key * entries as f64 { from = middle + 1 } else { to = middle }
    }
    places
}

/// Returns the array positions that a search in level order (Eytzinger) reads. `key` is the rank of the searched key,
/// from 0 (first) to 1 (last).
fn level_places(entries: u64, key: f64) -> Vec<u64> {
    let levels = std::iter::successors(Some(1_u64), |wide| Some(wide * 2));
    let places = levels.map(|wide| wide - 1 + (key * wide as f64) as u64);
    places.take_while(|place| *place < entries).collect()
}

/// Computes an upper bound for how many times fewer comparisons a sorted structure of n keys can need than a merge
/// sort. The bound is the number of comparisons of a merge sort, n⌈log2 n⌉ - 2^⌈log2 n⌉ + 1, divided by log2 n!, which
/// every comparison sort needs (Knuth, *The Art of Computer Programming*, volume 3, 5.2.4 and 5.3.1).
pub(super) fn sorting_gain(with: &Arguments<'_>) -> Result<f64, String> {
    let entries = with.count("entries")?;
    if entries < 2 {
        return Err("the sorted structure must have at least two entries".to_owned());
    }
    let steps = (entries as f64).log2().ceil();
    let merged = entries as f64 * steps - steps.exp2() + 1.0;
    Ok(merged / (ln_factorial(entries) / LN_2))
}
