//! Running whole experiments: results folders, interleaved trials, resuming, charts, and the verdict.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use measure::{Arrangement, Plan as TrialPlan};
use results::{
    CellInfo, Folder, Group, LeftOut, MANIFEST_VERSION, Manifest, Row, RowWriter, Schema, Stream, Table,
    columns as c,
};
use xxhash_rust::xxh3::xxh3_64;

use super::child::run_trial;
use super::message::{CellValue, Cells, TrialReport, TrialSpec};
use super::progress::{Progress, line};
use super::{environment, harness_cost, verdict};
use crate::charts;
use crate::experiment::{Cell, Estimate, Experiment, Overrides, RunMode};
use crate::problem::{Outcome, Problem};

/// What the command line says of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunOptions {
    /// Where results go: a folder per experiment inside.
    pub(crate) out: PathBuf,
    /// Where charts go: a folder per experiment inside.
    pub(crate) plots: PathBuf,
    /// Finish an interrupted run.
    pub(crate) resume: bool,
    /// Run timed experiments although this is a debug build.
    pub(crate) allow_debug: bool,
    /// What changes the experiments.
    pub(crate) overrides: Overrides,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything was done and every answer was right.
    Done,
    /// Some answer was wrong.
    WrongAnswers,
    /// The user interrupted it.
    Interrupted,
}

/// Runs experiments, one after the other. Everything that can be wrong with any of them is found before the
/// first one starts.
pub(crate) fn run_all(configs: &[PathBuf], options: &RunOptions) -> Outcome<Ending> {
    let experiments: Vec<Experiment> =
        configs.iter().map(|path| Experiment::load(path, &options.overrides)).collect::<Outcome<_>>()?;
    let mut names = BTreeSet::new();
    if let Some(twice) = experiments.iter().find(|experiment| !names.insert(experiment.name.clone())) {
        return Err(Problem::new(format!(
            "two experiments are called \"{}\"; their results would mix",
            twice.name
        )));
    }
    let mut runs = Vec::new();
    for experiment in &experiments {
        runs.push(Run::prepare(experiment, options)?);
    }
    let mut ending = Ending::Done;
    for run in runs {
        match run.run()? {
            Ending::Done => {}
            Ending::WrongAnswers => ending = Ending::WrongAnswers,
            Ending::Interrupted => return Ok(Ending::Interrupted),
        }
    }
    Ok(ending)
}

/// One experiment, ready to run.
struct Run<'a> {
    experiment: &'a Experiment,
    options: &'a RunOptions,
    folder: Folder,
    schema: Schema,
    timeline_schema: Schema,
    config_hash: String,
    /// Operations of one trial, per cell.
    operations: Vec<u64>,
    /// What an earlier run left to be resumed.
    earlier: Option<Manifest>,
}

impl<'a> Run<'a> {
    fn prepare(experiment: &'a Experiment, options: &'a RunOptions) -> Outcome<Self> {
        if cfg!(debug_assertions) && experiment.trials.mode == RunMode::Timed && !options.allow_debug {
            return Err(Problem::new(
                "this is a debug build: its times mean nothing; build with --release, or run with --set trials.mode=counted",
            ));
        }
        let folder = Folder::new(options.out.join(&experiment.name));
        let mut operations = Vec::new();
        for cell in &experiment.cells {
            let plan = experiment.plan(cell)?;
            Estimate::of(cell, &plan).check(cell, &options.out)?;
            operations.push(plan.phases().iter().map(|phase| phase.operations().unwrap_or(0)).sum());
        }
        let resolved = (
            experiment.resolved(),
            &experiment.swept,
            experiment.cells.iter().map(|cell| &cell.swept).collect::<Vec<_>>(),
        );
        let mut run = Self {
            experiment,
            options,
            folder,
            schema: Schema::runs(&experiment.swept)?,
            timeline_schema: Schema::timeline(&experiment.swept)?,
            config_hash: format!("{:016x}", xxh3_64(format!("{resolved:?}").as_bytes())),
            operations,
            earlier: None,
        };
        run.earlier = run.check_folder()?;
        Ok(run)
    }

    /// Looks at what the results folder holds: nothing is overwritten that is not this experiment's, and
    /// resuming needs the same experiment.
    fn check_folder(&self) -> Outcome<Option<Manifest>> {
        let root = self.folder.root();
        let holds_something = root.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        if !holds_something {
            return Ok(None);
        }
        let advice = "give --out another folder";
        if !self.folder.manifest().exists() {
            return Err(Problem::new(format!(
                "{} holds files, but no results of a run; {advice}",
                root.display()
            )));
        }
        let manifest = Manifest::read(&self.folder.manifest())?;
        if manifest.experiment != self.experiment.name {
            return Err(Problem::new(format!(
                "{} holds results of another experiment, {}; {advice}",
                root.display(),
                manifest.experiment
            )));
        }
        if self.options.resume && manifest.config_hash != self.config_hash {
            return Err(Problem::new(format!(
                "{} cannot be resumed: the experiment, its overrides or its seed have changed since; run it without --resume",
                root.display()
            )));
        }
        Ok(Some(manifest))
    }

    fn run(self) -> Outcome<Ending> {
        let root = self.folder.root();
        let resumed = self.earlier.clone().filter(|_| self.options.resume);
        if self.earlier.is_some() && resumed.is_none() {
            self.set_aside()?;
        }
        create_folder(root)?;
        let mut manifest = match resumed {
            Some(manifest) => manifest,
            None => self.new_manifest(),
        };
        manifest.ended = None;
        manifest.write(&self.folder.manifest())?;
        self.announce(&manifest);
        let interrupted = self.run_trials(&mut manifest)?;
        manifest.ended = Some(environment::now());
        manifest.machine.load_average_end = environment::load_average();
        manifest.write(&self.folder.manifest())?;
        if interrupted {
            line(&format!("interrupted; what is done is in {}; go on with --resume", root.display()));
            return Ok(Ending::Interrupted);
        }
        self.conclude(&manifest)
    }

    /// Moves the results of an earlier run out of the way; nothing is thrown away.
    fn set_aside(&self) -> Outcome<()> {
        let started = self.earlier.as_ref().map_or("", |manifest| &manifest.started).replace(':', "");
        let earlier = self.options.out.join("earlier");
        create_folder(&earlier)?;
        let numbered = (0..).map(|number| match number {
            0 => earlier.join(format!("{}-{started}", self.experiment.name)),
            _ => earlier.join(format!("{}-{started}-{number}", self.experiment.name)),
        });
        let target = numbered.into_iter().find(|target| !target.exists()).expect("some number is free");
        std::fs::rename(self.folder.root(), &target)
            .map_err(|error| Problem::doing(format!("move {} aside", self.folder.root().display()), error))?;
        line(&format!("{}: earlier results are now in {}", self.experiment.name, target.display()));
        Ok(())
    }

    fn new_manifest(&self) -> Manifest {
        let experiment = self.experiment;
        let machine = environment::machine_info(&self.options.out);
        let cells = experiment.cells.iter().map(|cell| CellInfo {
            cell: cell.number,
            label: cell.label.clone(),
            swept: cell.swept.clone(),
            design_hash: format!("{:016x}", xxh3_64(cell.design.to_toml().to_string().as_bytes())),
            streams: Vec::new(),
        });
        let started = environment::now();
        Manifest {
            version: MANIFEST_VERSION,
            experiment: experiment.name.clone(),
            question: experiment.question.clone(),
            run_id: format!(
                "{:016x}",
                xxh3_64(format!("{}{started}{}", self.config_hash, std::process::id()).as_bytes())
            ),
            resolved: experiment.resolved(),
            config_hash: self.config_hash.clone(),
            command: std::env::args().collect(),
            seed: experiment.trials.seed,
            trials: experiment.trials.count,
            mode: experiment.trials.mode.name().to_owned(),
            swept: experiment.swept.clone(),
            phases: experiment.workload.phases.iter().map(|phase| phase.name.clone()).collect(),
            cells: cells.collect(),
            left_out: experiment
                .left_out
                .iter()
                .map(|left| LeftOut { label: left.label.clone(), reason: left.reason.clone() })
                .collect(),
            build: environment::build_info(),
            warnings: environment::warnings(&machine),
            machine,
            harness: match experiment.trials.mode {
                RunMode::Timed => harness_cost(experiment.trials.sampling),
                RunMode::Counted => results::HarnessCost::default(),
            },
            started,
            ended: None,
        }
    }

    fn announce(&self, manifest: &Manifest) {
        let Experiment { name, question, cells, trials, left_out, .. } = self.experiment;
        line(&format!("{name}: {question}"));
        line(&format!(
            "  {} cells × {} trials, {} mode, seed {}",
            cells.len(),
            trials.count,
            trials.mode.name(),
            trials.seed
        ));
        for left in left_out {
            line(&format!("  left out: {}: {}", left.label, left.reason));
        }
        for warning in &manifest.warnings {
            line(&format!("  warning: {warning}"));
        }
    }

    /// Runs the trials that are not done yet; whether the user interrupted.
    fn run_trials(&self, manifest: &mut Manifest) -> Outcome<bool> {
        let last_phase = self.experiment.workload.phases.last().map_or("", |phase| &phase.name);
        let finished = match (self.options.resume, self.folder.runs().exists()) {
            (true, true) => Table::read(&self.folder.runs())?.finished(last_phase),
            _ => BTreeSet::new(),
        };
        let mut runs = self.writer(&self.folder.runs(), &self.schema, &finished)?;
        let mut timeline = self.writer(&self.folder.timeline(), &self.timeline_schema, &finished)?;
        create_folder(&self.folder.histograms())?;
        let cells = &self.experiment.cells;
        let trials = self.experiment.trials.count as usize;
        let plan = TrialPlan::new(cells.len(), trials, self.experiment.trials.seed, Arrangement::Mirrored);
        let total = plan.slots.iter().map(|slot| self.operations[slot.cell]).sum();
        let mut progress = Progress::new(&self.experiment.name, total);
        for slot in &plan.slots {
            let (cell, trial) = (&cells[slot.cell], slot.block as u64);
            let what = format!("{} · trial {}", cell.label, trial + 1);
            progress.begin(&what);
            if !finished.contains(&Group { cell: cell.number, trial }) {
                let report =
                    self.run_one(cell, trial, |phase, done, _| progress.update(&what, phase, done))?;
                let Some(report) = report else {
                    progress.finish();
                    return Ok(true);
                };
                self.store(cell, trial, report, manifest, &mut runs, &mut timeline)?;
            }
            progress.end(&what, self.operations[slot.cell]);
        }
        progress.finish();
        Ok(false)
    }

    fn writer(&self, path: &Path, schema: &Schema, finished: &BTreeSet<Group>) -> Outcome<RowWriter> {
        if self.options.resume && path.exists() {
            return Ok(RowWriter::resume(path, schema, finished)?.0);
        }
        Ok(RowWriter::create(path, schema)?)
    }

    fn run_one(
        &self,
        cell: &Cell,
        trial: u64,
        progress: impl FnMut(&str, u64, Option<u64>),
    ) -> Outcome<Option<TrialReport>> {
        let trials = &self.experiment.trials;
        let data = DataFolder::create(&self.folder.root().join(format!("data-{}-{trial}", cell.number)))?;
        let spec = TrialSpec {
            design: cell.design.to_toml().to_string(),
            workload: cell.workload.to_toml().to_string(),
            base: self.experiment.base.clone(),
            seed: trials.seed,
            mode: trials.mode,
            sampling: trials.sampling,
            check: if trials.mode == RunMode::Counted { 1 } else { trials.check },
            directory: data.0.join("tree"),
            results: self.folder.root().to_owned(),
            cell: cell.number,
            trial,
        };
        run_trial(&spec, progress)
    }

    fn store(
        &self,
        cell: &Cell,
        trial: u64,
        report: TrialReport,
        manifest: &mut Manifest,
        runs: &mut RowWriter,
        timeline: &mut RowWriter,
    ) -> Outcome<()> {
        for wrong in &report.wrong {
            line(&format!("  WRONG ANSWER by {}: {wrong}", cell.label));
        }
        let rows = |schema: &Schema, cells: &[Cells]| -> Outcome<Vec<Row>> {
            cells.iter().map(|cells| self.row(schema, cell, trial, cells)).collect()
        };
        // The row that says "this trial is done" is written last.
        timeline.append(&rows(&self.timeline_schema, &report.timeline)?)?;
        runs.append(&rows(&self.schema, &report.rows)?)?;
        if let Some(info) = manifest
            .cells
            .iter_mut()
            .find(|info| info.cell == cell.number)
            .filter(|info| info.streams.is_empty())
        {
            info.streams = report.streams.into_iter().map(|(phase, hash)| Stream { phase, hash }).collect();
        }
        Ok(())
    }

    fn row(&self, schema: &Schema, cell: &Cell, trial: u64, cells: &Cells) -> Outcome<Row> {
        let mut row = Row::new(schema);
        row.set(&c::EXPERIMENT, self.experiment.name.as_str())
            .set(&c::CELL, cell.number)
            .set(&c::LABEL, cell.label.as_str());
        row.set(&c::TRIAL, trial)
            .set(&c::MODE, self.experiment.trials.mode.name())
            .set(&c::SEED, self.experiment.trials.seed);
        for (path, value) in self.experiment.swept.iter().zip(&cell.swept) {
            row.set_swept(path, value)?;
        }
        for (name, value) in &cells.0 {
            let metric = c::IDENTITY.iter().find(|metric| metric.name == *name).or_else(|| c::metric(name));
            let metric =
                metric.ok_or_else(|| Problem::new(format!("a trial reports the unknown column {name}")))?;
            match value {
                CellValue::Integer(number) => row.set(metric, *number),
                CellValue::Number(number) => row.set(metric, *number),
                CellValue::Text(text) => row.set(metric, text.as_str()),
            };
        }
        Ok(row)
    }

    /// Charts, then the verdict.
    fn conclude(&self, manifest: &Manifest) -> Outcome<Ending> {
        let table = Table::read(&self.folder.runs())?;
        let folder = self.options.plots.join(&self.experiment.name);
        let charts = charts::draw_all(&self.folder, &table, &self.experiment.charts, manifest, &folder)?;
        let mut text =
            format!("\n{}\n{}", self.experiment.question, verdict::describe(self.experiment, &table)?);
        let _ = writeln!(text, "  results  {}", self.folder.runs().display());
        for chart in charts {
            let _ = writeln!(text, "  chart    {}", chart.display());
        }
        crate::print(&text);
        Ok(if verdict::has_wrong_answers(&table) { Ending::WrongAnswers } else { Ending::Done })
    }
}

fn create_folder(folder: &Path) -> Outcome<()> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Problem::doing(format!("create {}", folder.display()), error))
}

/// The folder of one trial's data, removed with everything in it when the trial is over.
struct DataFolder(PathBuf);

impl DataFolder {
    fn create(path: &Path) -> Outcome<Self> {
        // What an interrupted run left behind.
        let _ = std::fs::remove_dir_all(path);
        create_folder(path)?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
