//! The work of a lookup that follows from the shape of a tree, of a B-tree or of a block.

use super::Arguments;

/// The number of runs of a full tree, and its memtable if `memtable` is set: the places that a lookup without filters
/// searches.
///
/// `leveled` has a run per level; `tiered` T runs in each; `l0-tiered` T in level 0 and one in each other;
/// `lazy-leveled` T in each but the last, which has one (Dayan and Idreos, *Dostoevsky*, 2018).
pub(super) fn read_locations(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(runs(with)? + if with.flag("memtable") { 1.0 } else { 0.0 })
}

/// The number of runs that a lookup of an existing key searches with filters: the one with the key, and the others with
/// false positives, 1 + p (runs - 1).
pub(super) fn read_locations_present(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(1.0 + with.number("fpr")? * (runs(with)? - 1.0))
}

fn runs(with: &Arguments<'_>) -> Result<f64, String> {
    let (ratio, levels) = (with.number("size_ratio")?, with.number("levels")?);
    match with.word("policy")? {
        "leveled" => Ok(levels),
        "tiered" => Ok(ratio * levels),
        "l0-tiered" => Ok(ratio + levels - 1.0),
        "lazy-leveled" => Ok(ratio * (levels - 1.0) + 1.0),
        other => Err(format!("policy is leveled, tiered, l0-tiered or lazy-leveled, and not {other}")),
    }
}

/// The number of pages from the root of a B-tree to a leaf, both included.
///
/// bytes / entry entries are stored in leaves of ⌊page / entry⌋. A page above has ⌊page / separator⌋ children, so that
/// the number of levels is the logarithm of the number of leaves to that base.
pub(super) fn btree_height(with: &Arguments<'_>) -> Result<f64, String> {
    let (entry, page) = (with.number("entry")?, with.number("page")?);
    let fanout = (page / with.number("separator")?).floor();
    let mut pages = (with.number("bytes")? / entry / (page / entry).floor()).ceil();
    if !(pages.is_finite() && fanout >= 2.0) {
        return Err("a page holds one entry and two separators at least".to_owned());
    }
    let mut height = 1.0;
    while pages > 1.0 {
        pages = (pages / fanout).ceil();
        height += 1.0;
    }
    Ok(height)
}

/// The comparisons that two binary searches among n segments save against a scan of all: n - 2 log2 n.
pub(super) fn culling_comparisons_saved(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("segments").map(|segments| segments - 2.0 * segments.log2())
}

/// The number of levels below level 0: one fewer than all.
pub(super) fn levels_below_0(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("levels").map(|levels| levels - 1.0)
}

/// The mean number of keys that a search decodes from a restart point to one of its R keys: 0 to R - 1, and so (R - 1)
/// / 2.
pub(super) fn restart_mean(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("restart_interval").map(|interval| (interval - 1.0) / 2.0)
}

/// The bytes that delta coding saves per key, where the next byte is shared with probability p and one key in R is
/// stored in full: (1 - 1/R) p / (1 - p).
pub(super) fn prefix_saved_bytes(with: &Arguments<'_>) -> Result<f64, String> {
    let shared = with.number("p")?;
    Ok((1.0 - 1.0 / with.number("restart_interval")?) * shared / (1.0 - shared))
}
