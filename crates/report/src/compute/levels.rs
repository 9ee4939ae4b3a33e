//! Computations of how many steps a lookup needs in an LSM-tree, a B-tree or a data block.

use super::Arguments;

/// Computes how many sorted runs a lookup without filters searches: all runs of a full tree, plus 1 for the memtable if
/// `memtable` is true.
///
/// * `leveled`: one run per level.
/// * `tiered`: T runs per level.
/// * `l0-tiered`: T runs in level 0, and one run in each other level.
/// * `lazy-leveled`: one run in the last level, and T runs in each other level (Dayan and Idreos, *Dostoevsky*, 2018).
pub(super) fn read_locations(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(runs(with)? + if with.flag("memtable") { 1.0 } else { 0.0 })
}

/// Computes how many sorted runs a lookup of an existing key searches on average, if the runs have filters: 1 + p (runs
/// - 1). One run contains the key. The filter of each other run has a false positive with probability p.
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
        other => Err(format!(
            "`policy` is \"{other}\". Valid: \"leveled\", \"tiered\", \"l0-tiered\", \"lazy-leveled\""
        )),
    }
}

/// Computes the height of a B-tree: the number of pages from the root to a leaf, including both.
///
/// The arguments are the sizes of all entries, of a page, of an entry and of a separator, in bytes.
pub(super) fn btree_height(with: &Arguments<'_>) -> Result<f64, String> {
    let (entry, page) = (with.number("entry")?, with.number("page")?);
    let fanout = (page / with.number("separator")?).floor();
    let mut pages = (with.number("bytes")? / entry / (page / entry).floor()).ceil();
    if !(pages.is_finite() && fanout >= 2.0) {
        return Err("a B-tree page must have room for one entry, and for two separators".to_owned());
    }
    let mut height = 1.0;
    while pages > 1.0 {
        pages = (pages / fanout).ceil();
        height += 1.0;
    }
    Ok(height)
}

/// Computes how many comparisons two binary searches over n segments save, compared with a comparison per segment: n -
/// 2 log2 n.
pub(super) fn culling_comparisons_saved(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("segments").map(|segments| segments - 2.0 * segments.log2())
}

/// Computes the number of levels below level 0: the number of all levels minus one.
pub(super) fn levels_below_0(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("levels").map(|levels| levels - 1.0)
}

/// Computes how many keys a search in a data block decodes after a restart point, on average. With restart interval R,
/// the number is 0 to R - 1, so the mean is (R - 1) / 2.
pub(super) fn restart_mean(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("restart_interval").map(|interval| (interval - 1.0) / 2.0)
}

/// Computes how many bytes per key prefix compression saves: (1 - 1/R) p / (1 - p). Two adjacent keys that share a
/// prefix also share the next byte with probability p. One key in R is stored in full.
pub(super) fn prefix_saved_bytes(with: &Arguments<'_>) -> Result<f64, String> {
    let shared = with.number("p")?;
    Ok((1.0 - 1.0 / with.number("restart_interval")?) * shared / (1.0 - shared))
}
