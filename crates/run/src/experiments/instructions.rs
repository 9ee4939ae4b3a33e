//! Counts the instructions of each configuration before the trials, in one additional trial under valgrind.

use std::collections::BTreeMap;

use experiment::Cell;
use results::columns::ALL;
use results::{Group, Measurements, Row, RunMode, Table, columns as c};
use trial::{Configuration, ObservedPhase, ObservingTool, TrialReport, TrialSpec};
use types::{Outcome, Problem};
use verdict::judged_phase;

use super::books::Books;
use super::{Ending, PlannedTrial, Run};
use crate::child::run_trial_under;
use crate::fixture::Found;
use crate::home::DataFolder;
use crate::valgrind::Callgrind;

impl Run<'_> {
    /// Reads the instruction counts that an interrupted run has measured. Returns the instructions per operation of
    /// each configuration, by its number.
    pub(super) fn kept_instructions(&self) -> Outcome<BTreeMap<u64, f64>> {
        let path = self.home.folder().runs();
        if self.experiment.trials.instructions.is_none() || !self.options.resume || !path.exists() {
            return Ok(BTreeMap::new());
        }
        let phase = judged_phase(&self.facts);
        let kept = |row: &Row| {
            let count = row.get(&c::USER_INSTRUCTIONS_PER_OP).number()?;
            Some((row.get(&c::CELL).integer()?, count)).filter(|_| describes_whole_phase(row, &phase))
        };
        Ok(Table::read(&path)?.rows().iter().filter_map(kept).collect())
    }

    /// Counts the instructions of all configurations, if `trials.instructions` is set. Skips configurations that an
    /// interrupted run has already counted.
    pub(super) fn count_instructions(&self, books: &mut Books) -> Outcome<Ending> {
        if self.experiment.trials.instructions.is_none() {
            return Ok(Ending::Done);
        }
        let phase = judged_phase(&self.facts);
        for (at, cell) in self.experiment.cells.iter().enumerate() {
            if books.instructions.contains_key(&cell.number) {
                continue;
            }
            (self.options.console.line)(&format!(
                "  counting instructions of {} in phase {phase}",
                cell.label
            ));
            let turn = PlannedTrial { cell: at, group: Group { cell: cell.number, trial: 0 }, again: false };
            let counted = self.instructions_of(cell, &turn, &phase, books);
            match counted.map_err(|problem| Problem::new(format!("{}: {problem}", cell.label)))? {
                Some(count) => _ = books.instructions.insert(cell.number, count),
                None => return Ok(Ending::Interrupted),
            }
        }
        Ok(Ending::Done)
    }

    /// Counts the instructions per operation of a configuration, in one additional trial. Returns `None` if the user
    /// interrupted the run.
    fn instructions_of(
        &self,
        cell: &Cell,
        turn: &PlannedTrial,
        phase: &str,
        books: &mut Books,
    ) -> Outcome<Option<f64>> {
        let fixture = match self.fixture(cell, turn, books)? {
            Found::Fixture(fixture) => Some(fixture),
            Found::None => None,
            Found::Interrupted => return Ok(None),
        };
        let data = DataFolder::create(self.home.data())?;
        let callgrind = Callgrind::new(data.path());
        let spec = self.spec(cell, turn, data.path());
        let task = self.experiment.counted_task(cell, phase);
        let mut spec = TrialSpec {
            configuration: Configuration { task, ..spec.configuration },
            mode: RunMode::Counted,
            // Checks of answers would add instructions. The measured trials check the answers instead.
            check: 0,
            results: None,
            // Valgrind needs memory of its own, and the memory of a trial does not change the count.
            memory_limit: None,
            warm_memory: None,
            observed: Some(ObservedPhase {
                phase: phase.to_owned(),
                tool: ObservingTool::InstructionCounter,
            }),
            ..spec
        };
        spec.fixture = fixture.map(|fixture| fixture.clone_to(&spec.directory, false)).transpose()?;
        let line = self.options.console.line;
        let Some(report) = run_trial_under(&callgrind.launcher(), &spec, line, |_| ())? else {
            return Ok(None);
        };
        let operations = operations(&report, phase)?;
        Ok(Some(callgrind.instructions()? as f64 / operations))
    }

    /// Adds the instructions per operation of a configuration to the rows of a trial. Only changes rows that include
    /// all operations of the measured phase.
    pub(super) fn add_instructions(&self, cell: &Cell, rows: &mut [Row], books: &Books) {
        let Some(count) = books.instructions.get(&cell.number) else { return };
        let phase = judged_phase(&self.facts);
        for row in rows {
            if describes_whole_phase(row, &phase) {
                row.set(&c::USER_INSTRUCTIONS_PER_OP, *count);
            }
        }
    }
}

/// Returns whether a row belongs to the phase `phase` and includes operations of all kinds.
fn describes_whole_phase(row: &Row, phase: &str) -> bool {
    row.get(&c::PHASE).text() == Some(phase)
        && row.get(&c::OPERATION).text() == Some(ALL)
        && !row.get(&c::OPS).is_empty()
}

/// Returns the number of operations of a phase in the report of a trial.
///
/// # Errors
/// Returns an error if the store gave wrong answers, or if the phase executed no operations.
pub(super) fn operations(report: &TrialReport, phase: &str) -> Outcome<f64> {
    if let Some(wrong) = report.wrong.first() {
        return Err(Problem::new(format!("wrong answer: {wrong}")));
    }
    let is_of_phase = |row: &&Measurements| {
        row.get(&c::PHASE).text() == Some(phase) && row.get(&c::OPERATION).text() == Some(ALL)
    };
    let row = report.rows.iter().find(is_of_phase);
    let operations = row.and_then(|row| row.get(&c::OPS).number()).filter(|operations| *operations > 0.0);
    operations.ok_or_else(|| {
        Problem::new(format!(
            "phase {phase} executed no operations, so lsmbench cannot compute the instructions per operation"
        ))
    })
}
