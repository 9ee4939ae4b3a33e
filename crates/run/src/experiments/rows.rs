//! Opens the output files of a run, and writes the rows of each trial to them.

use std::collections::BTreeSet;
use std::path::Path;

use experiment::{Cell, engine, row_text};
use results::targets::create_folder;
use results::{
    CellInfo, Expectation, Group, Interleaving, Manifest, Measurements, Row, RowWriter, RunMode, Schema,
    columns as c,
};
use trial::{Limits, StoredValues, TrialReport, mark};
use types::Outcome;
use verdict::noisy_baselines;
use workload::Work;

use super::books::Books;
use super::{PlannedTrial, Run};
use crate::fixture::Fixtures;

impl Run<'_> {
    /// Opens the CSV files of a run. A resumed run keeps the rows of finished trials.
    pub(super) fn open_books(&self, manifest: Manifest) -> Outcome<Books> {
        let folder = self.home.folder();
        let instructions = self.kept_instructions()?;
        let mut finished = self.finished(&folder.runs())?;
        let mut finished_noise = self.finished(&folder.noise())?;
        if self.experiment.trials.interleaving() != Interleaving::Rounds {
            let twice = noisy_baselines(&self.facts).len();
            self.keep_whole_rounds(&mut finished, &mut finished_noise, twice);
        }
        self.leave_begun_round(&manifest, [&mut finished, &mut finished_noise]);
        let open = |path: &Path, schema: &Schema, finished: &BTreeSet<Group>| -> Outcome<RowWriter> {
            match self.options.resume {
                true => Ok(RowWriter::resume(path, schema, finished)?.0),
                false => Ok(RowWriter::create(path, schema)?),
            }
        };
        let runs = open(&folder.runs(), &self.schema, &finished)?;
        let timeline = open(&folder.timeline(), &self.timeline_schema, &finished)?;
        let levels = open(&folder.levels(), &self.levels_schema, &finished)?;
        let noise = open(&folder.noise(), &self.schema, &finished_noise)?;
        let is_side_by_side = self.experiment.trials.interleaving() != Interleaving::Rounds;
        let slices =
            is_side_by_side.then(|| open(&folder.slices(), &self.slices_schema, &finished)).transpose()?;
        create_folder(&folder.histograms())?;
        let fixtures = Fixtures::new(&self.options.fixture_home(), self.options.console.line);
        Ok(Books {
            manifest,
            runs,
            timeline,
            levels,
            slices,
            noise,
            fixtures,
            instructions,
            finished,
            finished_noise,
        })
    }

    /// Writes the rows of a trial to the output files. Returns a message for each phase with implausible values, unless
    /// an earlier trial of the configuration already had implausible values in this phase.
    pub(super) fn store(
        &self,
        cell: &Cell,
        turn: &PlannedTrial,
        report: TrialReport,
        books: &mut Books,
    ) -> Outcome<Vec<String>> {
        let rows = |schema: &Schema, rows: &[Measurements]| -> Outcome<Vec<Row>> {
            rows.iter().map(|row| self.row(schema, cell, turn.group.trial, row)).collect()
        };
        if let Some(part) = &mut books.manifest.part {
            part.record(turn.group.trial);
        }
        let mut runs = rows(&self.schema, &report.rows)?;
        self.add_instructions(cell, &mut runs, books);
        runs.iter_mut().for_each(Expectation::complete);
        let limits = self.limits();
        let marked = mark(&cell.design, stored_values(cell), &mut runs, &report.streams, limits);
        let marks = books.note(&cell.label, marked);
        if turn.again {
            books.noise.append(&runs)?;
            books.seal(&self.home.folder().manifest())?;
            return Ok(marks);
        }
        let mut cells = books.manifest.cells.iter_mut();
        let is_new = |info: &CellInfo| info.cell == cell.number && info.streams.is_empty();
        if let Some(info) = cells.find(|info| is_new(info)).filter(|_| !report.streams.is_empty()) {
            info.streams = report.streams;
            if let (Some(engine), Some(version)) = (&mut info.engine, report.engine_version) {
                engine.version = Some(version);
            }
            books.manifest.write(&self.home.folder().manifest())?;
        }
        // The rows that mark the trial as finished are written last.
        books.timeline.append(&rows(&self.timeline_schema, &report.timeline)?)?;
        books.levels.append(&rows(&self.levels_schema, &report.levels)?)?;
        books.runs.append(&runs)?;
        books.seal(&self.home.folder().manifest())?;
        Ok(marks)
    }

    /// Returns the limits of this machine, such as CPU cycles per second. Values beyond these limits are implausible.
    fn limits(&self) -> Limits {
        match self.experiment.trials.mode {
            RunMode::Timed => Limits::of_this_machine(),
            RunMode::Counted => Limits::OF_ANY,
        }
    }

    pub(super) fn row(
        &self,
        schema: &Schema,
        cell: &Cell,
        trial: u64,
        measured: &Measurements,
    ) -> Outcome<Row> {
        let mut row = Row::new(schema);
        row.set(&c::EXPERIMENT, self.experiment.name.as_str())
            .set(&c::CELL, cell.number)
            .set(&c::LABEL, cell.label.as_str());
        row.set(&c::TRIAL, trial)
            .set(&c::MODE, self.experiment.trials.mode.name())
            .set(&c::SEED, self.experiment.trials.seed_of(trial));
        for (path, value) in schema.swept().zip(&cell.swept) {
            row.set_swept(path, &row_text(path, value))?;
        }
        row.fill(measured);
        Ok(row)
    }
}

/// Describes the values that a configuration stores: whether and how far they can be compressed. The limits of
/// plausible results depend on it.
fn stored_values(cell: &Cell) -> StoredValues {
    let phases = cell.task.workload().map_or(&[][..], |workload| &workload.phases);
    let compressible = phases.iter().map(|phase| match &phase.work {
        Work::Replay(_) => 1.0,
        _ => phase.value.compressible,
    });
    StoredValues {
        follow_design: engine(&cell.engine).reads_whole_design(),
        compressible: compressible.fold(0.0, f64::max),
    }
}
