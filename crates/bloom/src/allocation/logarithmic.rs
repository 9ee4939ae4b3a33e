//! Bits per key that change with the logarithm of a run's size: what Monkey and its inverse have in common.

use std::f64::consts::LN_2;

use super::policy::LevelLoad;

/// Which runs have more bits per key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Favour {
    /// The small ones: the rate is in proportion to the size, which minimises the sum of the rates.
    Small,
    /// The large ones: the rate is in inverse proportion to the size.
    Large,
}

/// The bits per key of `levels[level]`, `base` on average over all entries.
///
/// With a rate of e^(−bits · ln² 2), a rate in proportion to n or 1/n makes the bits affine in ln n. Where that
/// gives some levels less than nothing they have nothing, and the others share the budget.
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
        // The level with the fewest bits goes first: without it the others have fewer.
        let least = (0..sharing.len()).min_by(|a, b| bits(sharing[*a]).total_cmp(&bits(sharing[*b])));
        match least {
            Some(least) if bits(sharing[least]) < 0.0 => drop(sharing.remove(least)),
            _ => return bits(&levels[level]).max(0.0),
        }
    }
}
