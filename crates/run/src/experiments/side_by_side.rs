//! Runs trials side by side: the trial processes of all configurations of a round exist at the same time.

use std::collections::BTreeSet;

use experiment::{Cell, engine};
use results::{Group, Interleaving, Measurements, columns as c, slices as s};
use trial::{TrialReport, TrialSpec, TurnSpec};
use types::{Outcome, Problem};
use verdict::wrapped;

use super::books::Books;
use super::stopping::Stopping;
use super::{Ending, PlannedTrial, Run};
use crate::fixture::Found;
use crate::group::{GroupReport, SliceLengths, SliceOf, run_group};
use crate::home::DataFolder;
use crate::progress::{Extent, Progress};

/// The trials of one round that are ready to run side by side, with their data folders.
struct Round<'r> {
    turns: &'r [PlannedTrial],
    specs: Vec<TrialSpec>,
    /// The folder in which the trials of the round store their data. Dropping this value removes the folder.
    _data: DataFolder,
}

impl Run<'_> {
    /// Runs the remaining rounds of the experiment. The trials of each round run side by side.
    pub(super) fn run_rounds_side_by_side(&self, books: &mut Books) -> Outcome<Ending> {
        let turns = self.remaining(&books.finished, &books.finished_noise);
        let rounds: Vec<&[PlannedTrial]> = turns.chunk_by(|a, b| a.group.trial == b.group.trial).collect();
        let extent = Extent {
            rounds: self.experiment.trials.count,
            trials: rounds.len(),
            seconds: rounds.iter().flat_map(|turns| self.phase_seconds(turns)).sum(),
            budget: self.experiment.trials.budget.map(|budget| budget.0 as f64 / 1e9),
        };
        let mut progress =
            Progress::new(&self.experiment.name, extent, self.options.verbose, self.options.console.line);
        let (mut lengths, mut failed) = (SliceLengths::default(), BTreeSet::new());
        let mut stopping = Stopping::new(&self.experiment.trials);
        for turns in rounds {
            let trial = turns[0].group.trial;
            if self.has_ended(trial, &mut stopping, books, &progress)? {
                break;
            }
            let runs =
                |turn: &PlannedTrial| !failed.contains(&turn.cell) && !stopping.has_stopped(turn.group.cell);
            let turns: Vec<PlannedTrial> = turns.iter().copied().filter(runs).collect();
            let Some(round) = self.prepare_round(&turns, books)? else { return Ok(Ending::Interrupted) };
            let names = self.experiment.task.phases().into_iter();
            let phases = names.zip(self.phase_seconds(&turns)).collect();
            progress.begin(format!("{} trials side by side", turns.len()), trial + 1, phases);
            let plan = self.experiment.trials.interleaving();
            let line = self.options.console.line;
            let report = run_group(&round.specs, plan, &mut lengths, line, |step| progress.update(step))?;
            let Some(report) = report else { return Ok(Ending::Interrupted) };
            self.store_round(&round, report, books, (&mut progress, &mut failed))?;
            progress.end(true);
            if trial + 1 == self.experiment.trials.count {
                self.has_ended(trial + 1, &mut stopping, books, &progress)?;
            }
        }
        Ok(Ending::Done)
    }

    /// Estimates the duration of each phase in seconds, summed over the trials of a round, for the progress bar.
    fn phase_seconds(&self, turns: &[PlannedTrial]) -> Vec<f64> {
        let mut sums: Vec<f64> = Vec::new();
        for turn in turns {
            let seconds = &self.estimates[turn.cell].phase_seconds;
            sums.resize(sums.len().max(seconds.len()), 0.0);
            sums.iter_mut().zip(seconds).for_each(|(sum, seconds)| *sum += seconds);
        }
        sums
    }

    /// Prepares the trials of a round: builds missing prepared stores (fixtures), and creates a data folder for each
    /// trial. Returns `None` if the user interrupted the run.
    fn prepare_round<'r>(&self, turns: &'r [PlannedTrial], books: &mut Books) -> Outcome<Option<Round<'r>>> {
        let is_duet = self.experiment.trials.interleaving() == Interleaving::Duet;
        // Builds all missing fixtures before the trials get their data folders.
        let mut fixtures = Vec::new();
        for turn in turns {
            let cell = &self.experiment.cells[turn.cell];
            fixtures.push(
                match self.fixture(cell, turn, books).map_err(|problem| kept(cell, turn, &problem))? {
                    Found::Interrupted => return Ok(None),
                    Found::None => None,
                    Found::Fixture(fixture) => Some(fixture),
                },
            );
        }
        let data = DataFolder::create(self.home.data())?;
        let mut specs = Vec::new();
        for (side, (turn, fixture)) in turns.iter().zip(fixtures).enumerate() {
            let cell = &self.experiment.cells[turn.cell];
            let mut spec = self.spec(cell, turn, &data.path().join(format!("side-{side}")));
            spec.fixture = fixture
                .map(|fixture| fixture.clone_to(&spec.directory, spec.memory_limit.is_some()))
                .transpose()?;
            // In a duet, the index of a trial in its round is also its core. The order of the trials is reversed from
            // round to round, so the configurations also swap their cores.
            spec.turns = Some(TurnSpec { core: is_duet.then_some(side) });
            specs.push(spec);
        }
        Ok(Some(Round { turns, specs, _data: data }))
    }

    /// Writes the rows of all trials of a round. A configuration whose engine has rejected its options does not run in
    /// later rounds.
    fn store_round(
        &self,
        round: &Round<'_>,
        report: GroupReport,
        books: &mut Books,
        (progress, failed): (&mut Progress, &mut BTreeSet<usize>),
    ) -> Outcome<()> {
        let mut stored = Vec::new();
        for (turn, report) in round.turns.iter().zip(report.reports) {
            let cell = &self.experiment.cells[turn.cell];
            match report {
                Err(problem) if engine(&cell.engine).may_reject_options() => {
                    let warning = format!(
                        "configuration {} stopped in round {}: {problem}",
                        cell.label,
                        turn.group.trial + 1
                    );
                    progress.print(wrapped("  warning: ", "    ", &warning).trim_end());
                    books.manifest.warnings.push(warning);
                    failed.insert(turn.cell);
                }
                report => stored.push((turn, report.map_err(|problem| kept(cell, turn, &problem))?)),
            }
        }
        self.store_slices(round.turns, &report.slices, books)?;
        for (turn, report) in stored {
            self.store_one(turn, report, books, progress)?;
        }
        Ok(())
    }

    fn store_one(
        &self,
        turn: &PlannedTrial,
        report: TrialReport,
        books: &mut Books,
        progress: &Progress,
    ) -> Outcome<()> {
        let cell = &self.experiment.cells[turn.cell];
        for wrong in &report.wrong {
            progress.print(&format!("  WRONG ANSWER by {}: {wrong}", cell.label));
        }
        for mark in self.store(cell, turn, report, books).map_err(|problem| kept(cell, turn, &problem))? {
            progress.print(wrapped("  warning: ", "    ", &mark).trim_end());
        }
        Ok(())
    }

    /// Writes the slices of a round to `slices.csv`. A slice is the operations that a trial process executes before the
    /// next process has its turn.
    fn store_slices(&self, turns: &[PlannedTrial], slices: &[SliceOf], books: &mut Books) -> Outcome<()> {
        let Some(writer) = &mut books.slices else { return Ok(()) };
        let rows = slices.iter().map(|of| {
            let (turn, slice) = (&turns[of.side], &of.slice);
            let mut measured = Measurements::default();
            measured.set(&c::PHASE, of.phase.as_str()).set(&c::OPERATION, c::ALL).set(&c::LOOP, "closed");
            measured.set(&s::SLICE, of.number).set(&s::SLICE_POSITION, of.position as u64);
            measured.set(&s::SLICE_AGAIN, if turn.again { "true" } else { "false" });
            measured.set(&s::SLICE_OPS, slice.operations).set(&s::SLICE_NS, slice.ns);
            measured.set(&s::SLICE_CPU_NS, slice.cpu_ns).set(&s::SLICE_WAITED_NS, slice.waited_ns);
            let cell = &self.experiment.cells[turn.cell];
            self.row(&self.slices_schema, cell, turn.group.trial, &measured)
        });
        let rows = rows.collect::<Outcome<Vec<_>>>()?;
        writer.append(&rows)?;
        Ok(())
    }

    /// Keeps only the rounds in which no trial is missing. The other rounds run again, because trials can be compared
    /// only if they ran side by side.
    pub(super) fn keep_whole_rounds(
        &self,
        finished: &mut BTreeSet<Group>,
        finished_noise: &mut BTreeSet<Group>,
        twice: usize,
    ) {
        let cells = self.experiment.cells.len();
        let count = |groups: &BTreeSet<Group>, trial| groups.iter().filter(|of| of.trial == trial).count();
        let whole: BTreeSet<u64> = finished
            .iter()
            .map(|group| group.trial)
            .filter(|trial| count(finished, *trial) == cells && count(finished_noise, *trial) >= twice)
            .collect();
        finished.retain(|group| whole.contains(&group.trial));
        finished_noise.retain(|group| whole.contains(&group.trial));
    }
}

/// Adds an explanation to the error of a trial: lsmbench keeps the finished trials, and the user can resume the run.
fn kept(cell: &Cell, turn: &PlannedTrial, problem: &Problem) -> Problem {
    let advice = "lsmbench keeps the finished trials; fix the cause and repeat the command with --resume";
    Problem::new(format!("{}, round {}: {problem}; {advice}", cell.label, turn.group.trial + 1))
}
