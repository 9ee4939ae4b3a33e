//! The statistics hold what they promise: intervals cover the truth as often as they say, identical
//! variants are not called different, and effects that were planted are found.

use lsmbench_measure as measure;
use measure::{Criteria, Sample, Verdict, compare};
use rand::SeedableRng;
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use results::Better;

/// Two arms over `blocks` blocks. Blocks differ by 10 % from each other, which pairing takes out; each run
/// adds `noise` of its own, and the candidate is `ratio` times the baseline.
fn arms(seed: u64, blocks: u64, ratio: f64, noise: f64) -> (Sample, Sample) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let block = LogNormal::new(0.0, 0.1).unwrap();
    let run = LogNormal::new(0.0, noise).unwrap();
    let mut baseline = Vec::new();
    let mut candidate = Vec::new();
    for number in 0..blocks {
        let level = 1000.0 * block.sample(&mut random);
        baseline.push((number, level * run.sample(&mut random)));
        candidate.push((number, level * ratio * run.sample(&mut random)));
    }
    (Sample::new("baseline", baseline), Sample::new("candidate", candidate))
}

/// The share of `simulations` comparisons for which `holds`.
fn share(
    simulations: u64,
    blocks: u64,
    ratio: f64,
    noise: f64,
    holds: impl Fn(&measure::Comparison) -> bool,
) -> f64 {
    let criteria = Criteria { resamples: 2000, ..Criteria::default() };
    let hits = (0..simulations).filter(|seed| {
        let (baseline, candidate) = arms(*seed, blocks, ratio, noise);
        let criteria = Criteria { seed: *seed, ..criteria };
        holds(&compare(&baseline, &candidate, Better::Lower, &criteria))
    });
    hits.count() as f64 / simulations as f64
}

#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    for (blocks, ratio) in [(10, 1.0), (10, 1.05), (6, 0.9), (20, 1.3)] {
        let covered = share(500, blocks, ratio, 0.03, |comparison| {
            let interval = comparison.interval.unwrap();
            interval.low <= ratio && ratio <= interval.high
        });
        assert!((0.90..=0.99).contains(&covered), "{blocks} blocks, ratio {ratio}: {covered}");
    }
}

#[test]
fn identical_variants_are_not_called_different() {
    for noise in [0.005, 0.03, 0.2] {
        let different = share(500, 10, 1.0, noise, |comparison| {
            matches!(comparison.verdict, Verdict::Improved | Verdict::Regressed)
        });
        assert!(different <= 0.08, "noise {noise}: {different} called different");
    }
}

#[test]
fn quiet_identical_variants_are_called_equivalent() {
    let equivalent = share(200, 10, 1.0, 0.005, |comparison| comparison.verdict == Verdict::Equivalent);
    assert!(equivalent >= 0.99, "{equivalent}");
}

#[test]
fn planted_effects_are_found_with_their_direction() {
    for (ratio, noise, verdict) in
        [(1.10, 0.03, Verdict::Regressed), (0.90, 0.03, Verdict::Improved), (1.05, 0.01, Verdict::Regressed)]
    {
        let found = share(200, 10, ratio, noise, |comparison| comparison.verdict == verdict);
        assert!(found >= 0.95, "ratio {ratio}, noise {noise}: {found} found");
        let wrong = if verdict == Verdict::Improved { Verdict::Regressed } else { Verdict::Improved };
        assert!(share(200, 10, ratio, noise, |comparison| comparison.verdict == wrong) < f64::EPSILON);
    }
}

#[test]
fn equal_seeds_give_equal_intervals() {
    let (baseline, candidate) = arms(1, 10, 1.1, 0.05);
    let criteria = Criteria::default();
    let first = compare(&baseline, &candidate, Better::Lower, &criteria);
    assert_eq!(first, compare(&baseline, &candidate, Better::Lower, &criteria));
    // Criterion's and this one's resampling differ in the last digits only: 10,000 draws are enough.
    let other = compare(&baseline, &candidate, Better::Lower, &Criteria { seed: 7, ..criteria });
    assert_eq!(first.verdict, other.verdict);
    assert!((first.interval.unwrap().low - other.interval.unwrap().low).abs() < 0.01);
}
