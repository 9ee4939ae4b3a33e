//! Tests of the statistics: intervals contain the true value as often as they should, identical variants get no verdict
//! of a difference, and seeded effects are detected.

use lsmbench_measure as measure;
use measure::{
    Comparison, Criteria, Noise, Sample, Verdict, adjust, compare, compare_sessions, compare_unpaired,
};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use results::Better;

/// Returns the samples of a baseline and a candidate over `blocks` rounds. All values of a round share a deviation of
/// 10 %, which pairing removes. Each run adds noise of `noise`, and the candidate is `ratio` times the baseline.
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

/// Returns the fraction of `simulations` comparisons for which `holds` returns true.
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

/// Returns whether a comparison reports a difference between the two variants.
fn claims(comparison: &Comparison) -> bool {
    matches!(comparison.verdict, Verdict::Improved | Verdict::Regressed)
}

#[test]
fn six_blocks_call_few_identical_variants_different() {
    for noise in [0.005, 0.03, 0.2] {
        let different = share(1000, 6, 1.0, noise, claims);
        assert!(different <= 0.05, "noise {noise}: {different} called different");
    }
}

#[test]
fn a_neighbour_that_takes_the_machine_now_and_then_is_no_difference() {
    // One run in ten takes half as long again, as on shared machines.
    let different = (0..1000_u64).filter(|seed| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(*seed);
        let run = LogNormal::new(0.0, 0.02).unwrap();
        let mut sample = || {
            let values = (0..10).map(|block| {
                let unlucky = if random.random_bool(0.1) { 1.5 } else { 1.0 };
                (block, 1000.0 * unlucky * run.sample(&mut random))
            });
            Sample::new("", values.collect::<Vec<_>>())
        };
        let (baseline, candidate) = (sample(), sample());
        claims(&compare(
            &baseline,
            &candidate,
            Better::Lower,
            &Criteria { resamples: 2000, ..Criteria::default() },
        ))
    });
    let different = different.count();
    assert!(different <= 50, "{different} of 1000 called different");
}

#[test]
fn among_many_identical_variants_hardly_one_is_called_different() {
    // Ten candidates that are all the baseline: without correction four sweeps in ten would name a winner.
    let sweeps = |correct: bool| {
        let alarmed = (0..300_u64).filter(|sweep| {
            let mut comparisons: Vec<Comparison> = (0..10)
                .map(|candidate| {
                    let (baseline, candidate) = arms(sweep * 10 + candidate, 8, 1.0, 0.05);
                    let criteria = Criteria { resamples: 1000, delta: 0.0, ..Criteria::default() };
                    compare(&baseline, &candidate, Better::Lower, &criteria)
                })
                .collect();
            if correct {
                adjust(&mut comparisons);
            }
            comparisons.iter().any(claims)
        });
        alarmed.count()
    };
    let (uncorrected, corrected) = (sweeps(false), sweeps(true));
    assert!(uncorrected > 60, "{uncorrected} of 300 without correction: the test tests nothing");
    assert!(corrected <= 15, "{corrected} of 300 sweeps raised a false alarm");
}

#[test]
fn runs_of_two_sessions_are_not_called_different_and_effects_are_found() {
    let called = |ratio: f64, verdict: fn(&Comparison) -> bool| {
        let hits = (0..500_u64).filter(|seed| {
            let (_, baseline) = arms(2 * seed, 8, 1.0, 0.03);
            let (_, candidate) = arms(2 * seed + 1, 8, ratio, 0.03);
            let criteria = Criteria { resamples: 1000, ..Criteria::default() };
            verdict(&compare_unpaired(&baseline, &candidate, Better::Lower, &criteria))
        });
        hits.count() as f64 / 500.0
    };
    let different = called(1.0, claims);
    assert!(different <= 0.06, "{different} of identical sessions called different");
    let found = called(1.5, |comparison| comparison.verdict == Verdict::Regressed);
    assert!(found >= 0.95, "{found} of 50 % slower sessions found");
}

#[test]
fn the_detectable_difference_is_detected_four_times_in_five_among_others() {
    for (blocks, noise, comparisons) in [(6, 0.02, 1), (10, 0.02, 1), (10, 0.005, 3), (20, 0.05, 5)] {
        let (mut found, mut trials) = (0, 0);
        for seed in 0..300_u64 {
            let criteria = Criteria { resamples: 1000, ..Criteria::default() };
            let (first, again) = arms(seed, blocks, 1.0, noise);
            let Some(told) = Noise::of(&first, &again, &criteria, comparisons) else { continue };
            let criteria = Criteria { delta: criteria.delta.max(told.floor), ..criteria };
            let (baseline, candidate) = arms(1000 + seed, blocks, 1.0 + told.detectable, noise);
            let mut family = vec![compare(&baseline, &candidate, Better::Lower, &criteria)];
            for other in 1..comparisons as u64 {
                let (baseline, candidate) = arms(2000 + 7 * seed + other, blocks, 1.0, noise);
                family.push(compare(&baseline, &candidate, Better::Lower, &criteria));
            }
            adjust(&mut family);
            trials += 1;
            found += usize::from(family[0].verdict == Verdict::Regressed);
        }
        let share = found as f64 / f64::from(trials);
        assert!(
            (0.75..=0.99).contains(&share),
            "{blocks} blocks, noise {noise}, {comparisons} comparisons: {share} found"
        );
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
    // Criterion's resampling and this one differ in the last digits only: 10,000 draws are enough.
    let other = compare(&baseline, &candidate, Better::Lower, &Criteria { seed: 7, ..criteria });
    assert_eq!(first.verdict, other.verdict);
    assert!((first.interval.unwrap().low - other.interval.unwrap().low).abs() < 0.01);
}

/// Returns the medians of `sessions` sessions with eight trials each. Sessions of one build differ by 5 %, and trials
/// of one session by 2 %.
fn sessions(seed: u64, sessions: u64, ratio: f64) -> Vec<Sample> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let [session, trial] = [0.05, 0.02].map(|spread| LogNormal::new(0.0, spread).unwrap());
    let one = |_| {
        let level = 1000.0 * ratio * session.sample(&mut random);
        Sample::new("", (0..8).map(|number| (number, level * trial.sample(&mut random))))
    };
    (0..sessions).map(one).collect()
}

/// Rule: two builds must be compared by sessions. A rank test on trials reports a difference for most pairs of sessions
/// of one build. Intervals over sessions contain the true value.
#[test]
fn sessions_of_one_build_are_compared_by_sessions() {
    let criteria = Criteria { resamples: 200, ..Criteria::default() };
    let by_trials = (0..200_u64).filter(|seed| {
        let (base, new) = (sessions(2 * seed, 1, 1.0), sessions(2 * seed + 1, 1, 1.0));
        claims(&compare_unpaired(&base[0], &new[0], Better::Lower, &criteria))
    });
    let by_trials = by_trials.count();
    assert!(by_trials > 60, "{by_trials} of 200: sessions differ too little for this test");
    for (of_base, of_new, ratio) in [(2, 2, 1.0), (5, 1, 1.0), (4, 4, 1.0), (4, 4, 1.2)] {
        let medians = |seed, count, ratio| -> Vec<f64> {
            sessions(seed, count, ratio).iter().filter_map(Sample::median).collect()
        };
        let (mut covered, mut different) = (0, 0);
        for seed in 0..2000_u64 {
            let (base, new) = (medians(2 * seed, of_base, 1.0), medians(2 * seed + 1, of_new, ratio));
            let found = compare_sessions(&base, &new, Better::Lower, &criteria);
            covered +=
                usize::from(found.interval.is_some_and(|ends| ends.low <= ratio && ratio <= ends.high));
            different += usize::from(claims(&found));
        }
        assert!(
            (1860..=1940).contains(&covered),
            "{of_base} and {of_new} sessions: {covered} of 2000 cover {ratio}"
        );
        assert!(
            ratio > 1.0 || different <= 130,
            "{of_base} and {of_new} sessions: {different} of 2000 are false"
        );
        assert!(ratio <= 1.0 || different >= 1800, "{different} of 2000 are found");
    }
}
