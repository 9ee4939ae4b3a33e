//! Computes bits per key as a function of the logarithm of a sorted run's size. Two allocations share this code:
//! `monkey`, and `inverse` of the crate `study`.

use std::f64::consts::LN_2;

use super::policy::LevelLoad;

/// Whether small or large sorted runs get more bits per key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Favour {
    /// Small runs get more bits. The false-positive rate is proportional to the size of a run, which minimizes the sum
    /// of the rates.
    Small,
    /// Large runs get more bits. The false-positive rate is inversely proportional to the size of a run.
    Large,
}

/// Returns the bits per key for the filters of level `level` of a tree. The average over all entries of the tree is
/// `base` bits per key.
///
/// Let n be the number of keys of a sorted run. The false-positive rate of the run, e^(−bits · ln² 2), becomes
/// proportional to n ([`Favour::Small`]) or to 1/n ([`Favour::Large`]). The bits per key are therefore a linear
/// function of ln n. If the linear function is negative for a level, the level gets 0 bits, and the other levels share
/// the whole memory budget.
pub fn bits_per_key(favour: Favour, base: f64, levels: &[LevelLoad], level: usize) -> f64 {
    let sign = if favour == Favour::Small { -1.0 } else { 1.0 };
    let slope = |load: &LevelLoad| sign * load.run_entries().max(1.0).ln() / (LN_2 * LN_2);
    let budget: f64 = base * levels.iter().map(|load| load.entries).sum::<f64>();
    if budget <= 0.0 {
        return base;
    }
    let mut sharing: Vec<&LevelLoad> = levels.iter().filter(|load| load.entries > 0.0).collect();
    loop {
        let entries: f64 = sharing.iter().map(|load| load.entries).sum();
        let mean = sharing.iter().map(|load| load.entries * slope(load)).sum::<f64>() / entries;
        let bits = |load: &LevelLoad| budget / entries + slope(load) - mean;
        // If a level would get a negative number of bits, the level with the fewest bits leaves the list of levels that
        // share the budget. All other levels then get fewer bits.
        let least = (0..sharing.len()).min_by(|a, b| bits(sharing[*a]).total_cmp(&bits(sharing[*b])));
        match least {
            Some(least) if bits(sharing[least]) < 0.0 => drop(sharing.remove(least)),
            _ => return bits(&levels[level]).max(0.0),
        }
    }
}
