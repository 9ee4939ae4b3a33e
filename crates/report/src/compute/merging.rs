//! Computations of the write and space amplification of compaction, by formulas and by simulated trees.

use theory::{Fluid, textbook_write_amp};

use super::Arguments;

/// Computes the write amplification of a compaction policy after n memtables of distinct keys, including flushes, but
/// not the WAL. [`theory::textbook_write_amp`] has the formulas and their derivation.
pub(super) fn write_amp(with: &Arguments<'_>) -> Result<f64, String> {
    let (ratio, memtables) = (with.count("size_ratio")?, with.count("memtables")?);
    if ratio < 2 || memtables == 0 {
        return Err("the size ratio must be at least 2, and there must be at least one memtable".to_owned());
    }
    let policy = with.word("policy")?;
    textbook_write_amp(policy, ratio, memtables).ok_or_else(|| unknown_policy(policy))
}

fn unknown_policy(policy: &str) -> String {
    format!("`policy` is \"{policy}\". Valid: \"tiered\", \"leveled\", \"l0-tiered\", \"lazy-leveled\"")
}

/// Computes the largest space amplification of a full tree: stored bytes per live byte. [`Fluid::most_space_amp`]
/// derives this number. The result does not include runs in level 0 that wait for compaction.
pub(super) fn full_space_amp(with: &Arguments<'_>) -> Result<f64, String> {
    let ratio = with.number("size_ratio")?;
    let tree = match with.word("policy")? {
        "tiered" => Fluid::tiered(ratio),
        "leveled" | "l0-tiered" => Fluid::leveled(ratio),
        "lazy-leveled" => Fluid::lazy_leveled(ratio),
        other => return Err(unknown_policy(other)),
    };
    Ok(tree.most_space_amp())
}

/// The compactions of a simulated tree. All sizes are in memtables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Merges {
    written: u64,
    /// The size of the largest compaction of the simulated tree, in memtables.
    longest: u64,
}

/// Simulates the compactions of a tree with one run per level. The run of level i moves to the next level when its size
/// reaches `growth`^i memtables.
fn played_out(growth: f64, memtables: u64) -> Result<Merges, String> {
    if growth.is_nan() || growth <= 1.0 || memtables == 0 {
        return Err("the size ratio must be above 1, and there must be at least one memtable".to_owned());
    }
    let (mut levels, mut merges) = (Vec::<u64>::new(), Merges { written: 0, longest: 0 });
    for _ in 0..memtables {
        let (mut arriving, mut capacity, mut level) = (1, growth, 0);
        loop {
            if level == levels.len() {
                levels.push(0);
            }
            let size = levels[level] + arriving;
            if size > arriving {
                merges.written += size;
                merges.longest = merges.longest.max(size);
            }
            if (size as f64) < capacity {
                levels[level] = size;
                break;
            }
            levels[level] = 0;
            (arriving, capacity, level) = (size, capacity * growth, level + 1);
        }
    }
    Ok(merges)
}

/// Computes the write amplification of a simulated tree with one run per level, including flushes.
fn played_out_amp(growth: f64, memtables: u64) -> Result<f64, String> {
    played_out(growth, memtables).map(|merges| 1.0 + merges.written as f64 / memtables as f64)
}

/// Computes how many times more bytes a tree with the growth factor `growth` writes than a tree with the growth factor
/// `other`. Both trees are simulated and have one run per level.
pub(super) fn growth_write_ratio(with: &Arguments<'_>) -> Result<f64, String> {
    let memtables = with.count("memtables")?;
    Ok(played_out_amp(with.number("growth")?, memtables)? / played_out_amp(with.number("other")?, memtables)?)
}

/// Computes the ratio of the largest compactions in two simulated trees with the growth factors `growth` and `other`.
pub(super) fn growth_longest_ratio(with: &Arguments<'_>) -> Result<f64, String> {
    let memtables = with.count("memtables")?;
    let longest = |name: &str| played_out(with.number(name)?, memtables).map(|merges| merges.longest as f64);
    Ok(longest("growth")? / longest("other")?)
}

/// Computes by how many percent the write rate decreases while a simulated tree grows from the first to the last number
/// of memtables. If only compaction takes time, the decrease is 100 (1 - A(first)/A(last)), where A is the write
/// amplification.
pub(super) fn growth_drop_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let growth = with.number("growth")?;
    let amplification = |name: &str| played_out_amp(growth, with.count(name)?);
    Ok(100.0 * (1.0 - amplification("first_memtables")? / amplification("last_memtables")?))
}

/// Computes the write amplification, without the WAL, of a tree that merges two SSTables of equal size as soon as both
/// exist. An entry is written once at its flush and once per doubling of the data: log2(n) + 1 times for n memtables.
pub(super) fn binary_counter_write_amp(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("memtables").map(|memtables| memtables.log2() + 1.0)
}

/// Computes the write amplification after n flushes of a tree that merges all SSTables into one as soon as there are
/// `tables` SSTables.
pub(super) fn merge_all_write_amp(with: &Arguments<'_>) -> Result<f64, String> {
    merge_all(with.count("tables")?, with.count("flushes")?)
}

/// Computes by which factor the write amplification grows between two numbers of flushes. The tree merges all SSTables
/// into one as soon as there are `tables` SSTables.
pub(super) fn merge_all_growth(with: &Arguments<'_>) -> Result<f64, String> {
    let tables = with.count("tables")?;
    Ok(merge_all(tables, with.count("last_flushes")?)? / merge_all(tables, with.count("first_flushes")?)?)
}

fn merge_all(most: u64, flushes: u64) -> Result<f64, String> {
    if most < 2 || flushes == 0 {
        return Err(
            "a compaction must merge at least two SSTables, and there must be at least one flush".to_owned()
        );
    }
    let (mut tables, mut written) = (0, 0);
    for flushed in 1..=flushes {
        tables += 1;
        written += 1;
        if tables == most {
            tables = 1;
            written += flushed;
        }
    }
    Ok(written as f64 / flushes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_of_leveling_is_what_is_played_out() {
        for ratio in [2, 3, 4, 10] {
            for memtables in [1, 2, 9, 10, 64, 95, 240, 1000] {
                let played = played_out_amp(ratio as f64, memtables).ok();
                assert_eq!(textbook_write_amp("leveled", ratio, memtables), played, "{ratio} {memtables}");
            }
        }
        assert!(
            played_out(1.0, 10).is_err() && played_out(f64::NAN, 10).is_err() && played_out(2.0, 0).is_err()
        );
        assert_eq!(textbook_write_amp("leveled", 1, 10), None);
        assert_eq!(textbook_write_amp("leveled", 2, 0), None);
    }

    #[test]
    fn levels_that_two_arrivals_fill_are_those_of_a_ratio_of_two() {
        let (golden, two) = (played_out(1.618, 240).unwrap(), played_out(2.0, 240).unwrap());
        assert_eq!(golden, two);
        let ten = played_out(10.0, 240).unwrap();
        assert!(golden.written < ten.written && golden.longest < ten.longest, "{golden:?} {ten:?}");
    }
}
