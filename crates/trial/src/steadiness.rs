//! Checks whether a store is steady. The check divides the operations into rounds, and compares them according to
//! [`SteadyRule`].

use engines::EngineStats;
use measure::SteadyRule;
use results::{columns as c, formulas};

use super::timeline::{Interval, Sample};

/// The number of rounds into which a measured phase is divided, to check whether the store is steady.
const ROUNDS: u64 = 5;

/// The largest change in the number of sorted runs of a level, between two rounds of a steady store.
const RUN: f64 = 1.0;

/// The work and the state of a store in one round, which is a part of a phase or of a warm-up. `runs` is empty for an
/// engine that does not report levels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Round {
    operations: f64,
    /// The write amplification in the round. `None` if the user wrote no bytes.
    write_amp: Option<f64>,
    /// The mean number of sorted runs in each level during the round.
    runs: Vec<f64>,
}

impl Round {
    /// Creates a round of `operations` operations from the statistics of the store at its start and at its end. The
    /// numbers of sorted runs are averages over the statistics `between`.
    pub(super) fn of(operations: f64, [start, end]: [&EngineStats; 2], between: &[&EngineStats]) -> Self {
        let mut done = end.since(start);
        formulas::derive(&mut done);
        let (mut runs, number) = (Vec::new(), between.len() as f64);
        for stats in between {
            runs.resize(stats.levels.len().max(runs.len()), 0.0);
            let of_level = stats.levels.iter().map(|level| level.number(&c::RUNS).unwrap_or(0.0));
            runs.iter_mut().zip(of_level).for_each(|(sum, runs)| *sum += runs / number);
        }
        Self { operations, write_amp: done.number(&c::WRITE_AMP), runs }
    }
}

/// Checks whether the store was steady in the last `window` rounds. Returns the names of the values that changed too
/// much: throughput, write amplification, or the sorted runs of a level. The result is empty if the store was steady,
/// and `None` for fewer than `window` rounds.
///
/// Write amplification is compared only if all of these rounds had writes.
pub(super) fn unsteady(rounds: &[Round], window: usize) -> Option<Vec<String>> {
    let last = &rounds[rounds.len().checked_sub(window)?..];
    let rule = SteadyRule { rounds: window, ..SteadyRule::default() };
    let runs_of = |level: usize| -> Vec<f64> {
        last.iter().map(|round| round.runs.get(level).copied().unwrap_or(0.0)).collect()
    };
    let throughput: Vec<f64> = last.iter().map(|round| round.operations).collect();
    let mut found = Vec::new();
    if !rule.holds(&throughput)? {
        found.push("throughput".to_owned());
    }
    let write_amp: Option<Vec<f64>> = last.iter().map(|round| round.write_amp).collect();
    if write_amp.is_some_and(|write_amp| rule.holds(&write_amp) == Some(false)) {
        found.push("write amplification".to_owned());
    }
    let of_runs = SteadyRule { grain: RUN, ..rule };
    let levels = last.iter().map(|round| round.runs.len()).max().unwrap_or(0);
    let swinging = (0..levels).filter(|level| of_runs.holds(&runs_of(*level)) == Some(false));
    found.extend(swinging.map(|level| format!("runs of level {level}")));
    Some(found)
}

/// Checks whether the store was steady in a measured phase, and returns the names of the values that changed too much.
/// The function divides the phase into five equal rounds of whole seconds. Returns `None` if the phase is shorter than
/// five seconds.
pub(super) fn of_phase(
    intervals: &[Interval],
    samples: &[Sample],
    elapsed_ns: u64,
    ns_since_start: impl Fn(&Sample) -> u64,
) -> Option<Vec<String>> {
    let each = elapsed_ns / 1_000_000_000 / ROUNDS;
    if each == 0 {
        return None;
    }
    let nearest = |second: u64| {
        let distance = |at: &usize| ns_since_start(&samples[*at]).abs_diff(second * 1_000_000_000);
        (0..samples.len()).min_by_key(distance)
    };
    let rounds: Option<Vec<Round>> = (0..ROUNDS)
        .map(|round| {
            let range = round * each..(round + 1) * each;
            let operations: u64 = intervals
                .iter()
                .filter(|interval| range.contains(&(interval.start_ns / 1_000_000_000)))
                .map(|interval| interval.operations)
                .sum();
            let (start, end) = (nearest(range.start)?, nearest(range.end)?);
            // On a busy machine, a sample can be late or missing. Then the round has the sample nearest to its end.
            let between: Vec<_> =
                samples[end.min(start + 1)..=end].iter().map(|sample| &sample.stats).collect();
            let [start, end] = [start, end].map(|at| &samples[at].stats);
            Some(Round::of(operations as f64, [start, end], &between))
        })
        .collect();
    unsteady(&rounds?, ROUNDS as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(operations: f64, write_amp: Option<f64>, runs: &[f64]) -> Round {
        Round { operations, write_amp, runs: runs.to_vec() }
    }

    #[test]
    fn everything_that_swings_is_named() {
        let flat = || round(100.0, Some(4.0), &[1.0, 1.0]);
        assert_eq!(unsteady(&vec![flat(); 4], 5), None);
        assert_eq!(unsteady(&vec![flat(); 5], 5), Some(Vec::new()));
        let mut rounds = vec![flat(); 6];
        rounds[3] = round(150.0, Some(8.0), &[4.0, 1.0, 5.0]);
        let found = unsteady(&rounds, 5).unwrap();
        assert_eq!(found, ["throughput", "write amplification", "runs of level 0", "runs of level 2"]);
        // A round without writes has no write amplification; earlier rounds do not count.
        rounds[3] = round(101.0, None, &[2.0]);
        assert_eq!(unsteady(&rounds, 5), Some(Vec::new()));
        rounds[3] = round(101.0, Some(5.0), &[2.0]);
        assert_eq!(unsteady(&rounds, 2), Some(Vec::new()));
        assert_eq!(unsteady(&rounds, 5), Some(vec!["write amplification".to_owned()]));
    }

    #[test]
    fn late_samples_change_no_runs() {
        let clock = measure::Clock::new();
        let start = clock.now();
        let mut level = engines::Readings::default();
        level.gauge(&c::RUNS, 9.0);
        // The sample of second 2 is late, so there is no sample between the seconds 1 and 2.
        let samples = [0.0, 1.0, 2.6, 3.2, 4.0, 5.0].map(|second: f64| Sample {
            at: clock.after(start, (second * 1e9) as u64),
            stats: EngineStats { levels: vec![level.clone()], ..EngineStats::default() },
            rss_peak_bytes: None,
            disk_bytes: None,
        });
        let ns_since_start = |sample: &Sample| clock.ns_between(start, sample.at);
        assert_eq!(of_phase(&[], &samples, 5_000_000_000, ns_since_start), Some(Vec::new()));
    }
}
