//! What searches find and cost: level order, fences, leaves of a B-tree.

use super::Arguments;

/// Positions of the keys 0 … n - 1 in level order, by the keys' order: a walk through the implicit tree, left child of
/// `i` at `2i + 1`, in order of the keys.
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

/// The array in level order (Eytzinger's): the k-th key at the place that the walk reaches k-th.
fn level_order(count: usize) -> Vec<usize> {
    let mut array = vec![0; count];
    for (key, place) in walk(count).into_iter().enumerate() {
        array[place] = key;
    }
    array
}

/// Whether a search by level order finds a key in an array.
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

/// The keys of n that a search by level order finds in the array that a builder makes. `level-order` stores the next key
/// in order at the place that a walk through the tree has reached; `printed` appends the key at that place, as the
/// builder that a document prints, which is the inverse permutation.
pub(super) fn eytzinger_found(with: &Arguments<'_>) -> Result<f64, String> {
    let keys = with.count("keys")?.min(1 << 20) as usize;
    let array = match with.word("builder")? {
        "level-order" => level_order(keys),
        "printed" => walk(keys),
        other => return Err(format!("builder is level-order or printed, and not {other}")),
    };
    Ok((0..keys).filter(|key| finds(&array, *key)).count() as f64)
}

/// The places of 2^bits at which the reversal of bits and level order have the same key.
pub(super) fn level_order_places(with: &Arguments<'_>) -> Result<f64, String> {
    let bits = with.count("bits")?.clamp(1, 20) as u32;
    let reversed = |place: usize| place.reverse_bits() >> (usize::BITS - bits);
    let array = level_order(1 << bits);
    Ok(array.iter().enumerate().filter(|(place, key)| reversed(*place) == **key).count() as f64)
}

/// The cases in which a factory takes the compressed fence though memory is short and prefixes are shared: each number of
/// entries from `around` below the threshold to `around` above it, with each level so near to the least one. It asks first
/// whether entries are fewer (standard), then whether they are more or the level is the least or deeper (Eytzinger), and
/// then for memory.
pub(super) fn fence_factory_cases(with: &Arguments<'_>) -> Result<f64, String> {
    let around = i64::try_from(with.count("around")?.min(1000)).map_err(|error| error.to_string())?;
    let cases = (-around..=around).flat_map(|size| (-around..=around).map(move |level| (size, level)));
    let is_compressed = |(size, level): &(i64, i64)| *size >= 0 && !(*size > 0 || *level >= 0);
    Ok(cases.filter(is_compressed).count() as f64)
}

/// The time of a binary search in n entries if every comparison misses all caches: ⌈log2(n + 1)⌉ times that of a miss.
pub(super) fn comparisons_ns(with: &Arguments<'_>) -> Result<f64, String> {
    Ok((with.number("entries")? + 1.0).log2().ceil() * with.number("miss_ns")?)
}

/// The keys from `start` to `end` (exclusive) that a scan finds which begins at the first leaf whose largest key is at
/// least `start` and below `end`, among leaves that have `per_leaf` of the keys 0, 1, 2 … each.
pub(super) fn separator_scan(with: &Arguments<'_>) -> Result<f64, String> {
    let (per_leaf, leaves) = (with.count("per_leaf")?.max(1), with.count("leaves")?);
    let (start, end) = (with.count("start")?, with.count("end")?);
    let largest = |leaf: u64| (leaf + 1) * per_leaf - 1;
    let first = (0..leaves).find(|leaf| largest(*leaf) >= start && largest(*leaf) < end);
    let all = leaves * per_leaf;
    Ok(first.map_or(0, |leaf| end.min(all).saturating_sub(start.max(leaf * per_leaf))) as f64)
}

/// The pages above the leaves of a B-tree of so many pairs: a page has `per_page` pairs, or pages below it.
pub(super) fn btree_inner_pages(with: &Arguments<'_>) -> Result<f64, String> {
    let per_page = with.number("per_page")?;
    let mut pages = (with.number("pairs")? / per_page).ceil();
    if !(pages.is_finite() && per_page >= 2.0) {
        return Err("a page has two pairs at least".to_owned());
    }
    let mut inner = 0.0;
    while pages > 1.0 {
        pages = (pages / per_page).ceil();
        inner += pages;
    }
    Ok(inner)
}
