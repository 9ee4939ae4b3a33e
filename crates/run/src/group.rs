//! Runs the trials of one round side by side. All trial processes of the round exist at the same time.
//!
//! With `trials.plan = "slices"`, the processes take turns. In one turn, a process executes one slice: some operations
//! of a phase, or 20 ms of a call such as a flush. With `trials.plan = "duet"`, all processes execute each slice at the
//! same time. In this module, a "side" is the trial process of one configuration.

use std::collections::BTreeMap;
use std::time::Duration;

use results::Interleaving;
use trial::{Slice, Step, TrialReport, TrialSpec};
use types::Outcome;

use super::side::{Side, State};

/// The desired duration of a slice, after which the next trial process has its turn. It is long compared with the time
/// to switch processes, and short compared with the time in which the speed of the machine changes.
const SLICE: Duration = Duration::from_millis(20);

/// The number of operations in the first slices of a phase. Later slices depend on the measured duration of these
/// slices.
const FIRST_OPERATIONS: u64 = 64;

/// The largest factor by which the number of operations per slice grows from one slice to the next.
const MOST_GROWTH: u64 = 8;

/// The smallest number of slices into which a phase is divided, so that the turns of each process are spread over the
/// phase.
const FEWEST_SLICES: u64 = 16;

/// The number of operations per slice in each phase, by the name of the phase. A slice is the operations that a trial
/// process executes in one turn. The first round determines these numbers, and later rounds use them again.
#[derive(Default)]
pub(super) struct SliceLengths {
    found: BTreeMap<String, u64>,
}

/// The progress of the trial processes through the slices of their current phase.
struct Pace {
    phase: String,
    /// The number of the next slice of the current phase.
    number: u64,
    /// The number of operations in the next slice of the current phase.
    operations: u64,
    /// The maximum number of operations in a slice of the current phase.
    most: u64,
    is_found: bool,
}

/// A slice (the operations of one turn) that one trial process has executed.
pub(super) struct SliceOf {
    /// The index of the trial process among the processes of the round.
    pub(super) side: usize,
    pub(super) phase: String,
    pub(super) number: u64,
    /// The position of this process in the order in which the trial processes executed the slice, from 0.
    pub(super) position: usize,
    pub(super) slice: Slice,
}

/// The results of a round of trials that ran side by side: the reports of the trials, and the measurements of their
/// slices.
pub(super) struct GroupReport {
    /// The report or the error of each trial in the round, in the order of the trials.
    pub(super) reports: Vec<Outcome<TrialReport>>,
    pub(super) slices: Vec<SliceOf>,
}

/// Runs trials side by side. Returns `None` if the user interrupted the run. `line` prints the output of libraries, and
/// `progress` receives the progress of the first trial.
pub(super) fn run_group(
    specs: &[TrialSpec],
    interleaving: Interleaving,
    lengths: &mut SliceLengths,
    line: fn(&str),
    mut progress: impl FnMut(Step),
) -> Outcome<Option<GroupReport>> {
    let mut group = Group { sides: Vec::new(), slices: Vec::new(), pace: None, is_reversed: false };
    for spec in specs {
        group.sides.push(Side::start(spec, line)?);
        // All other processes are paused while this process opens its store.
        let number = group.sides.len() - 1;
        if !group.sides[number].take_turn(0, SLICE, &mut progress_of(number, &mut progress))? {
            return Ok(None);
        }
    }
    while let Some(movers) = group.movers() {
        let operations = group.operations(&movers, lengths);
        let goes_on = match interleaving {
            Interleaving::Duet => group.at_once(&movers, operations, &mut progress)?,
            Interleaving::Rounds | Interleaving::Slices => {
                group.in_turn(&movers, operations, &mut progress)?
            }
        };
        if !goes_on {
            return Ok(None);
        }
        group.note(&movers, lengths);
    }
    let Group { sides, slices, .. } = group;
    Ok(Some(GroupReport { reports: sides.into_iter().map(Side::into_outcome).collect(), slices }))
}

/// Returns a function that passes on the progress of trial process `number` if it is the first process. The progress of
/// all other processes is not shown.
fn progress_of(number: usize, progress: &mut impl FnMut(Step)) -> impl FnMut(Step) {
    move |step| {
        if number == 0 {
            progress(step);
        }
    }
}

struct Group {
    sides: Vec<Side>,
    slices: Vec<SliceOf>,
    /// The progress of the trial processes through the slices of the current phase. `None` before the first phase.
    pace: Option<Pace>,
    /// Whether the processes have their next turns in reversed order. The order is reversed each time (ABBA), so that
    /// changes in the speed of the machine affect all configurations equally.
    is_reversed: bool,
}

impl Group {
    /// Returns the indexes of the trial processes that have the next turn. Processes that have finished a phase wait
    /// for the others. Returns `None` if all processes have ended.
    fn movers(&self) -> Option<Vec<usize>> {
        let is_ready = |side: &Side| matches!(side.state, State::Ready { .. });
        let open = || (0..self.sides.len()).filter(|at| self.sides[*at].state != State::Over);
        let before: Vec<usize> = open().filter(|at| !is_ready(&self.sides[*at])).collect();
        let movers = if before.is_empty() { open().collect() } else { before };
        (!movers.is_empty()).then_some(movers)
    }

    /// Returns the number of operations in the next slice. If the processes start a phase, resets the progress first.
    fn operations(&mut self, movers: &[usize], lengths: &SliceLengths) -> u64 {
        if let State::Ready { phase, operations } = &self.sides[movers[0]].state {
            self.pace = Some(lengths.begin(phase, *operations));
        }
        self.pace.as_ref().map_or(0, |pace| pace.operations)
    }

    /// Gives each trial process in `movers` one turn, one after the other. Returns `false` if the user interrupted the
    /// run.
    fn in_turn(
        &mut self,
        movers: &[usize],
        operations: u64,
        progress: &mut impl FnMut(Step),
    ) -> Outcome<bool> {
        let count = movers.len();
        for position in 0..count {
            let at = movers[if self.is_reversed { count - 1 - position } else { position }];
            if !self.sides[at].take_turn(operations, SLICE, &mut progress_of(at, progress))? {
                return Ok(false);
            }
            self.keep(at, position);
        }
        self.is_reversed = !self.is_reversed;
        Ok(true)
    }

    /// Gives each trial process in `movers` one turn, all at the same time. Returns `false` if the user interrupted the
    /// run.
    fn at_once(
        &mut self,
        movers: &[usize],
        operations: u64,
        progress: &mut impl FnMut(Step),
    ) -> Outcome<bool> {
        movers.iter().try_for_each(|at| self.sides[*at].begin_turn(operations))?;
        for (position, at) in movers.iter().enumerate() {
            if !self.sides[*at].end_turn(None, &mut progress_of(*at, progress))? {
                return Ok(false);
            }
            self.keep(*at, position);
        }
        Ok(true)
    }

    /// Keeps the measurements of the slice that a trial process has executed in its last turn, if any.
    fn keep(&mut self, side: usize, position: usize) {
        if let (State::Ran(slice), Some(pace)) = (&self.sides[side].state, &self.pace) {
            let (phase, number, slice) = (pace.phase.clone(), pace.number, *slice);
            self.slices.push(SliceOf { side, phase, number, position, slice });
        }
    }

    /// Ends the slice that the trial processes in `movers` have executed, and chooses the number of operations in the
    /// next slice.
    fn note(&mut self, movers: &[usize], lengths: &mut SliceLengths) {
        let ran = movers.iter().filter_map(|at| match &self.sides[*at].state {
            State::Ran(slice) => Some(slice.ns as f64 / slice.operations.max(1) as f64),
            _ => None,
        });
        let ns: Vec<f64> = ran.collect();
        if let Some(pace) = self.pace.as_mut().filter(|_| !ns.is_empty()) {
            pace.number += 1;
            pace.learn(ns.iter().sum::<f64>() / ns.len() as f64);
            lengths.found.insert(pace.phase.clone(), pace.operations);
        }
    }
}

impl SliceLengths {
    /// Returns the progress of the trial processes at the start of a phase. `operations` is the number of operations of
    /// the phase, if known.
    fn begin(&self, phase: &str, operations: Option<u64>) -> Pace {
        let most = operations.map_or(u64::MAX, |operations| (operations / FEWEST_SLICES).max(1));
        let found = self.found.get(phase).copied();
        let operations = found.unwrap_or(FIRST_OPERATIONS).min(most);
        Pace { phase: phase.to_owned(), number: 0, operations, most, is_found: found.is_some() }
    }
}

impl Pace {
    /// Adapts the number of operations per slice, so that a slice takes about 20 ms. `operation_ns` is the mean time of
    /// an operation in the last slice.
    fn learn(&mut self, operation_ns: f64) {
        if self.is_found || operation_ns <= 0.0 {
            return;
        }
        let wanted = (SLICE.as_nanos() as f64 / operation_ns) as u64;
        let next = wanted.clamp(1, self.operations.saturating_mul(MOST_GROWTH)).min(self.most);
        self.is_found = next == wanted || next == self.most;
        self.operations = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_slice_is_found_once() {
        let mut lengths = SliceLengths::default();
        let mut pace = lengths.begin("get", Some(1_000_000));
        assert_eq!((pace.operations, pace.is_found), (64, false));
        // 2 µs an operation: 10,000 of them take 20 ms.
        let mut seen = Vec::new();
        for _ in 0..5 {
            pace.learn(2000.0);
            seen.push(pace.operations);
        }
        assert_eq!(seen, [512, 4096, 10_000, 10_000, 10_000]);
        pace.learn(4000.0);
        assert_eq!(pace.operations, 10_000, "a length that was found stays");
        lengths.found.insert("get".to_owned(), pace.operations);
        assert!(lengths.begin("get", Some(1_000_000)).is_found);
        assert_eq!(lengths.begin("get", Some(1_000_000)).operations, 10_000);
        // A short phase has several slices, too.
        assert_eq!(lengths.begin("get", Some(16_000)).operations, 1000);
        assert_eq!(lengths.begin("put", Some(8)).operations, 1);
    }
}
