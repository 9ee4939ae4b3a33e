//! Tests of looks and restarts. Looks before the end cause no additional false alarms. Intervals over restarts contain
//! the true value, but intervals over slices do not.

#![allow(clippy::print_stdout)] // simulated shares are worth reading in the output of a test

use std::thread;

use lsmbench_measure as measure;
use measure::{Criteria, Sample, Spending, Verdict, compare, is_look};
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;
use results::Better;

/// Returns the logarithms of the ratios of rounds, with a standard deviation of 4 % and occasional disturbances of 30
/// %.
fn rounds(seed: u64, rounds: u64, log_ratio: f64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (noise, burst) = (Normal::new(log_ratio, 0.04).unwrap(), Normal::new(0.0, 0.3).unwrap());
    let is_hit = Normal::new(0.0, 1.0).unwrap();
    (0..rounds)
        .map(|_| {
            let hit = is_hit.sample(&mut random) > 1.65;
            noise.sample(&mut random) + if hit { burst.sample(&mut random) } else { 0.0 }
        })
        .collect()
}

fn judge(logs: &[f64], level: f64) -> Verdict {
    let sample = |values: Vec<f64>| Sample::new("", (0..).zip(values));
    let (base, candidate) =
        (sample(vec![1.0; logs.len()]), sample(logs.iter().map(|log| log.exp()).collect()));
    // δ of 0 leaves all to the tests.
    let criteria = Criteria { delta: 0.0, confidence: 1.0 - level, resamples: 1000, ..Criteria::default() };
    compare(&base, &candidate, Better::Lower, &criteria).verdict
}

/// Returns the fraction of runs that report a difference. A run has up to `most` rounds. If `is_corrected` is set, a
/// run has corrected looks. Otherwise, a run looks at each round without a correction.
fn alarms(simulations: u64, most: u64, log_ratio: f64, is_corrected: bool) -> f64 {
    let found = (0..simulations).filter(|seed| {
        let logs = rounds(*seed, most, log_ratio);
        let mut spending = Spending::new(0.05);
        (6..=logs.len()).any(|count| {
            let is_last = count == logs.len();
            if is_corrected && !is_look(count) && !is_last {
                return false;
            }
            let level = if is_corrected { spending.look(count as f64 / most as f64) } else { 0.05 };
            matches!(judge(&logs[..count], level), Verdict::Improved | Verdict::Regressed)
        })
    });
    found.count() as f64 / simulations as f64
}

#[test]
fn looking_often_costs_no_false_alarms() {
    let (naive, corrected) = (alarms(300, 30, 0.0, false), alarms(600, 30, 0.0, true));
    println!("false alarms of 30 rounds: {naive} by looking at each round, {corrected} with spending");
    assert!(naive > 0.10, "{naive}: the test tests nothing");
    assert!(corrected <= 0.05, "{corrected} of equal pairs called different");
    let found = alarms(200, 30, 0.06, true);
    println!("differences of 6 % found: {found}");
    assert!(found >= 0.6, "{found} of planted differences found");
}

/// Returns the slice times of a pair in one restart. The restart has a random memory layout, and neighboring slices
/// share noise.
fn restart(random: &mut Xoshiro256PlusPlus, ratio: f64) -> Vec<(f64, f64)> {
    let normal: Normal<f64> = Normal::new(0.0, 1.0).unwrap();
    let (layout, mut state) = (0.03 * normal.sample(random), 0.0);
    (0..64)
        .map(|_| {
            state = 0.7 * state + 0.05 * normal.sample(random);
            let drift = 1e7 * (1.0 + 0.2 * normal.sample(random).abs());
            (drift, drift * ratio * (layout + state).exp())
        })
        .collect()
}

/// Simulates a pair whose true ratio is 1.05, with this number of restarts. Returns whether the interval over restarts
/// contains the true ratio, and whether the interval over slices does.
fn coverage(restarts: u64, seed: u64) -> (bool, bool) {
    let ratio = 1.05;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let all: Vec<Vec<(f64, f64)>> = (0..restarts).map(|_| restart(&mut random, ratio)).collect();
    let covers = |pairs: Vec<(f64, f64)>| {
        let sample = |side: fn(&(f64, f64)) -> f64| Sample::new("", (0..).zip(pairs.iter().map(side)));
        let criteria = Criteria { resamples: 1000, seed, ..Criteria::default() };
        let found = compare(&sample(|pair| pair.0), &sample(|pair| pair.1), Better::Lower, &criteria);
        found.interval.is_some_and(|of| of.low <= ratio && ratio <= of.high)
    };
    let sum =
        |pairs: &Vec<(f64, f64)>| pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    (covers(all.iter().map(sum).collect()), covers(all.concat()))
}

#[test]
fn intervals_over_restarts_cover_the_truth_and_those_over_slices_do_not() {
    let (simulations, threads) = (300, thread::available_parallelism().map_or(1, usize::from));
    for restarts in [6_u64, 12, 24] {
        let part = |first: usize| {
            let covered = (0..simulations).skip(first).step_by(threads).map(|seed| coverage(restarts, seed));
            covered.fold((0, 0), |sum, (by_restart, by_slice)| {
                (sum.0 + u32::from(by_restart), sum.1 + u32::from(by_slice))
            })
        };
        let (by_restart, by_slice) = thread::scope(|scope| {
            let parts: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
            let parts = parts.into_iter().map(|part| part.join().expect("a simulation must not panic"));
            parts.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
        });
        let share = |count: u32| f64::from(count) / simulations as f64;
        let (by_restart, by_slice) = (share(by_restart), share(by_slice));
        println!(
            "{restarts} restarts: intervals over restarts cover in {by_restart}, over slices in {by_slice}"
        );
        assert!((0.90..=0.99).contains(&by_restart), "{restarts} restarts: {by_restart}");
        assert!(by_slice < 0.75, "{restarts} restarts: {by_slice}: the test tests nothing");
    }
}
