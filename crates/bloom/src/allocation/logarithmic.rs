//! Bits per key as a function of the logarithm of a run's size, shared by Monkey and its inverse.

use std::f64::consts::LN_2;

use super::policy::LevelLoad;

/// The runs that get more bits per key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Favour {
    /// Small runs: the false-positive rate is proportional to the size, which minimises the sum of the rates.
    Small,
    /// Large runs: the false-positive rate is inversely proportional to the size.
    Large,
}

/// The bits per key of `levels[level]`, with `base` on average over all entries.
///
/// The false-positive rate is e^(−bits · ln² 2). If rates are proportional to n or 1/n, bits per key are therefore
/// affine in ln n. Levels for which this gives a negative number get 0 bits, and all other levels share the budget.
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
        // The level with the fewest bits is removed first, because without it the other levels have fewer bits.
        let least = (0..sharing.len()).min_by(|a, b| bits(sharing[*a]).total_cmp(&bits(sharing[*b])));
        match least {
            Some(least) if bits(sharing[least]) < 0.0 => drop(sharing.remove(least)),
            _ => return bits(&levels[level]).max(0.0),
        }
    }
}
