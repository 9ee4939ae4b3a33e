//! A resolved experiment: all files to which the experiment refers are read, and all overrides are applied.

use std::path::{Path, PathBuf};

use catalog::Choice;
use plot::{ChartSpec, FigureStyle};
use report::Sheet;
use results::{Interleaving, RunMode};
use serde::Serialize;
use subject::{COMPONENT, SUBJECT, Task};
use toml::{Table, Value};
use tree::Design;
use types::{Outcome, Problem};
use verdict::GateRule;
use workload::WorkloadPlan;
use xxhash_rust::xxh3::xxh3_64;

use super::cell::{Cell, SkippedCell, is_read};
use super::engine::{ENGINE, default_engine};
use super::estimate::Estimate;
use super::outside::files_outside;
use super::sweep::Sweep;
use super::trials::{DEFAULT_INTERVAL_NS, TIMED_TRIAL_KEYS, Trials};
use super::tune_spec::TuneSpec;
use super::verdict_spec::VerdictSpec;

/// An experiment that is ready to run: all files to which it refers are read, and all overrides are applied.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The name of the experiment: the name of its file, with the prefix `component-` for a component experiment.
    pub name: String,
    /// The path of the experiment file.
    pub file: PathBuf,
    /// The question that the experiment answers, as a sentence.
    pub question: String,
    /// The folder to which relative paths in the workload or the component are relative.
    pub base: PathBuf,
    /// The engine of all configurations for which the sweep sets no engine.
    pub(super) engine: Choice,
    /// The design before the sweep changes it.
    pub(super) design: Design,
    /// The task before the sweep changes it: a workload, or the parameters of a component.
    pub task: Task,
    /// The factors of the sweep, and the rule that combines their values.
    pub(super) sweep: Sweep,
    /// The configurations that a run measures.
    pub cells: Vec<Cell>,
    /// The combinations of swept values that do not run, each with the reason.
    pub left_out: Vec<SkippedCell>,
    /// Warnings about the experiment, one sentence each. Examples are a deprecated name in the design, and a metric
    /// that the mode does not measure.
    pub warnings: Vec<String>,
    /// Assumptions about replayed traces, one sentence each. Assumptions are necessary because traces do not record
    /// everything. The manifest lists these assumptions.
    pub assumptions: Vec<String>,
    /// The settings of the trials, such as their number and their seed.
    pub trials: Trials,
    /// The settings of the verdict, such as the metric that decides and the baseline.
    pub(crate) verdict: VerdictSpec,
    /// The table `[gate]`, by which a run fails if a configuration is worse than the baseline. `None` without this
    /// table.
    pub gate: Option<GateRule>,
    /// The objective of `lsmbench tune`. `None` if the file has no table `[tune]`.
    pub tune: Option<TuneSpec>,
    /// The charts that a run draws.
    pub charts: Vec<ChartSpec>,
    /// The style of the charts.
    pub style: FigureStyle,
    /// The table `[quick]`, without the values that the command line sets. `None` if the file has no such table, or if
    /// this run already applies it.
    pub(super) quick: Option<Table>,
    /// The figures of published documents that the experiment reproduces, and the rules that judge the claims of these
    /// documents.
    pub sheet: Sheet,
}

impl Experiment {
    /// Returns the swept paths, in the order of their columns in `runs.csv`.
    pub fn swept(&self) -> Vec<String> {
        self.sweep.factors.iter().map(|factor| factor.path.clone()).collect()
    }

    /// Returns the design before the sweep changes it.
    pub fn base_design(&self) -> &Design {
        &self.design
    }

    /// Plans the workload of a configuration. Returns `None` for a component experiment, which has no workload.
    pub fn plan(&self, cell: &Cell) -> Outcome<Option<WorkloadPlan>> {
        let Some(workload) = cell.task.workload() else { return Ok(None) };
        let plan = WorkloadPlan::new(workload, self.trials.seed, &self.base);
        plan.map(Some).map_err(|error| Problem::new(error.to_string()))
    }

    /// Estimates the time, the storage and the memory of one trial of a configuration.
    pub fn estimate(&self, cell: &Cell) -> Outcome<Estimate> {
        Ok(match (self.plan(cell)?, &cell.task) {
            (Some(plan), _) => {
                let estimate = Estimate::of(cell, &plan, self.trials.mode);
                estimate.without_phases(self.fixture_phases(&cell.task))
            }
            (None, Task::Component(component)) => Estimate::of_component(cell, component.subject().cost()),
            (None, Task::Workload(_)) => Estimate::default(),
        })
    }

    /// Returns the experiment with all its settings as one TOML file. Only replay files and files of components remain
    /// separate files, with absolute paths.
    pub fn resolved(&self) -> String {
        self.resolved_table().to_string()
    }

    /// Returns the experiment as a TOML file that a user can run. The file omits settings that have no effect, because
    /// a run would print a warning for each of them. If this run does not apply the table `[quick]`, the file contains
    /// this table.
    pub fn runnable(&self) -> String {
        let mut table = self.resolved_table();
        let phases = table.get_mut("phase").and_then(Value::as_array_mut).into_iter().flatten();
        for phase in phases.filter_map(Value::as_table_mut) {
            let name = phase.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            phase.retain(|key, _| is_read(&self.cells, &name, key));
            let roles = phase.get_mut("role").and_then(Value::as_array_mut).into_iter().flatten();
            for role in roles.filter_map(Value::as_table_mut) {
                let of = role.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                role.retain(|key, _| is_read(&self.cells, &name, &format!("role.{of}.{key}")));
            }
        }
        if let (RunMode::Counted, Some(Value::Table(trials))) = (self.trials.mode, table.get_mut("trials")) {
            let defaults = plain(&Trials::default());
            let is_default = |key: &str, value: &Value| defaults.get(key) == Some(value);
            trials.retain(|key, value| !TIMED_TRIAL_KEYS.contains(&key) || !is_default(key, value));
        }
        table.extend(self.quick.clone().map(|quick| ("quick".to_owned(), Value::Table(quick))));
        table.to_string()
    }

    fn resolved_table(&self) -> Table {
        let mut table = Table::new();
        table.insert("question".to_owned(), Value::String(self.question.clone()));
        // TOML requires plain values before tables, or they would belong to the last table.
        let mut task = with_absolute_files(self.task.to_toml(), &self.base);
        table.extend(task.remove(SUBJECT).map(|subject| (SUBJECT.to_owned(), subject)));
        if self.engine != default_engine() {
            table.insert(ENGINE.to_owned(), Value::String(self.engine.label()));
        }
        let mut design = self.task.design_toml(&self.design);
        if self.cells.iter().any(|cell| cell.design.has_budget()) {
            design = Design::without_cache_capacity(design);
        }
        table.insert("design".to_owned(), Value::Table(design));
        table.extend(task);
        if !self.sweep.factors.is_empty() {
            table.insert("sweep".to_owned(), Value::Table(self.sweep.to_toml()));
        }
        table.insert("trials".to_owned(), plain(&self.trials));
        table.insert("verdict".to_owned(), plain(&self.verdict));
        table.extend(self.gate.map(|gate| ("gate".to_owned(), plain(&gate))));
        table.extend(self.tune.as_ref().map(|tune| ("tune".to_owned(), plain(tune))));
        if !self.charts.is_empty() {
            table.insert("chart".to_owned(), plain(&self.charts));
        }
        if self.style != FigureStyle::default() {
            table.insert("style".to_owned(), plain(&self.style));
        }
        table
    }

    /// Returns a hash of all settings that affect the measurement. Experiments with equal hashes count as the same
    /// experiment. The hash does not depend on the folder of the experiment.
    pub fn config_hash(&self) -> String {
        let Trials { seed, mode, sampling, .. } = self.trials;
        let mut text = format!("{} {seed} {sampling} {}\n", mode.name(), self.trials.check_stride());
        for cell in &self.cells {
            if cell.engine != default_engine() {
                text.push_str(&cell.engine.to_toml().to_string());
            }
            text.push_str(&without_newer_defaults(cell.task.design_toml(&cell.design)).to_string());
            text.push_str(&files_outside(&cell.design));
            text.push_str(&without_newer_defaults(cell.task.to_toml()).to_string());
            text.push_str(&cell.swept.join("\n"));
        }
        text.extend((self.trials.seeds > 1).then(|| format!("seeds {}\n", self.trials.seeds)));
        text.extend(self.trials.memory_limit.map(|limit| format!("memory {limit}\n")));
        text.extend(self.trials.warm_memory.map(|bytes| format!("warm memory {bytes}\n")));
        text.extend(
            self.trials
                .timeline
                .filter(|interval| interval.0 != DEFAULT_INTERVAL_NS)
                .map(|interval| format!("timeline {interval}\n")),
        );
        let plan = self.trials.interleaving();
        text.extend((plan != Interleaving::Rounds).then(|| format!("plan {}\n", plan.name())));
        text.extend(self.trials.fixture.iter().map(|last| format!("fixture {last}\n")));
        text.extend(self.trials.instructions.map(|most| format!("instructions {most}\n")));
        format!("{:016x}", xxh3_64(text.as_bytes()))
    }
}

/// Removes settings that later versions of lsmbench have added, if they have their default values. The hash of an old
/// experiment therefore stays the same.
fn without_newer_defaults(mut settings: Table) -> Table {
    let is_newer_default = |key: &str, value: &Value| match (key, value) {
        ("pacing", Value::String(pacing)) => pacing == "stop",
        ("compaction_nice", Value::Integer(nice)) => *nice == 0,
        ("max_compaction", Value::String(size)) => size == "0B",
        ("memory_index" | "reserve_wal" | "level_locks", Value::Boolean(is_on)) => !is_on,
        ("single_deletes", Value::Boolean(is_on)) => *is_on,
        ("release", Value::String(release)) => release == "unused",
        ("names", Value::String(names)) => names == "number",
        ("filter", Value::String(place)) => place == "inside",
        ("layout", Value::String(layout)) => layout == "blocks-first",
        ("manifest", Value::String(place)) => place == "file",
        ("separators", Value::String(separators)) => separators == "shortest",
        ("binary_below", Value::Float(share)) => share.to_bits() == 0.85f64.to_bits(),
        ("levels", Value::Array(levels)) => levels.is_empty(),
        ("observed_flushes", Value::Integer(flushes)) => *flushes == 0,
        ("background", Value::String(background)) => background == "apart",
        ("schedule", Value::String(schedule)) => schedule == "in-order",
        ("bandwidth", Value::String(bandwidth)) => bandwidth == "0B",
        ("per_lookup", Value::Integer(threads)) => *threads == 1,
        ("trees", Value::Integer(trees)) => *trees == 1,
        ("shared", Value::Boolean(is_shared)) => *is_shared,
        ("alignment", Value::String(alignment)) => alignment == "128B",
        ("arbiter", Value::Table(choice)) => choice.get("kind").and_then(Value::as_str) == Some("static"),
        ("sorted_view", Value::Table(choice)) => choice.get("kind").and_then(Value::as_str) == Some("none"),
        ("values", Value::Table(choice)) => choice.get("kind").and_then(Value::as_str) == Some("inline"),
        _ => false,
    };
    settings.retain(|key, value| !is_newer_default(key, value));
    for (_, value) in &mut settings {
        if let Value::Table(table) = value {
            *table = without_newer_defaults(std::mem::take(table));
        }
    }
    settings
}

/// Returns the workload or the component with absolute paths for the files that it names.
fn with_absolute_files(mut task: Table, base: &Path) -> Table {
    let mut places: Vec<&mut Value> = Vec::new();
    for (key, value) in &mut task {
        match value {
            Value::Array(phases) if key == "phase" => {
                places.extend(phases.iter_mut().filter_map(|phase| phase.get_mut("replay")));
            }
            Value::Table(params) if key == COMPONENT => {
                let choices = params.iter_mut().map(|(_, value)| value);
                places.extend(choices.filter(|value| value.get("kind").is_some()));
            }
            _ => {}
        }
    }
    for file in places.into_iter().filter_map(|place| place.get_mut("file")) {
        let path = file.as_str().map(|file| std::path::absolute(base.join(file)));
        if let Some(Ok(path)) = path {
            *file = Value::String(path.to_string_lossy().into_owned());
        }
    }
    task
}

/// Converts the settings of an experiment to a TOML value.
fn plain(settings: &impl Serialize) -> Value {
    Value::try_from(settings).expect("TOML must be able to represent all settings of an experiment")
}
