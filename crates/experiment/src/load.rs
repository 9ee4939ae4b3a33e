//! Reads an experiment file, and all files to which it refers, into an [`Experiment`].

mod idle;
mod task;
mod unread;
mod zip;

use std::collections::HashSet;
use std::path::Path;

use catalog::{Choice, ChoiceError};
use plot::{FigureStyle, PlotError};
use results::{ConfigPath, RunMode, Schema, columns as c};
use serde::de::DeserializeOwned;
use subject::{COMPONENT, Task};
use toml::{Table, Value};
use tree::{AXES, Design};
use types::{Outcome, Problem};
use verdict::{GateRule, judged_phase};
use workload::{Phase, PlanError, TraceError, Workload, WorkloadPlan};

use super::cell::{Cell, is_read};
use super::deprecations::{deprecations, new_name};
use super::design_file::{design_problem, extended_file, read_design, read_extended, referred};
use super::engine::{ENGINE, default_engine, read_engine, with_engine};
use super::expand::Base;
use super::families::Families;
use super::file::SourceFile;
use super::overrides::{Overrides, SetBy, Sets};
use super::presentation::read_charts;
use super::reference::{FILE, names};
use super::resolved::Experiment;
use super::sweep::{Factor, Sweep, SweepError, read_factor};
use super::trials::{MOST_TRIALS, Trials};
use super::tune_spec::TuneSpec;
use super::verdict_spec::VerdictSpec;
use super::{
    answers, equal_memory, fixture, instructions, measurable, paths, reading, side_by_side, wording,
};

/// The largest number of trials of each configuration in a run with `--quick`.
const QUICK_TRIALS: u64 = 2;

impl Experiment {
    /// Reads an experiment and checks everything that can be checked before it runs.
    ///
    /// # Errors
    /// Returns the first error in the experiment file, in another file that the experiment uses, or in an override. An
    /// error about a file contains the file, the line and the key.
    pub fn load(path: &Path, overrides: &Overrides) -> Outcome<Self> {
        Loader::new(path, overrides)?.load()
    }
}

/// The experiment file, the other files that it uses, and the overrides, while an experiment is read.
struct Loader<'a> {
    file: SourceFile,
    overrides: &'a Overrides,
    /// The file that contains the workload. `None` if the experiment file contains the workload.
    workload_file: Option<SourceFile>,
    sets: Sets,
}

impl<'a> Loader<'a> {
    fn new(path: &Path, overrides: &'a Overrides) -> Outcome<Self> {
        let file = SourceFile::read(path)?;
        let keys = names(&FILE);
        if let Some(key) = file.table.keys().find(|key| !keys.contains(&key.as_str())) {
            return Err(file.problem(&[key], wording::unknown("key of an experiment", key, keys)));
        }
        if answers::is_computed(&file) {
            let message =
                "this file has only claims and no workload; use `lsmbench report`, which computes the claims";
            return Err(file.problem(&[], message));
        }
        let sets = Sets::collect(&file, overrides)?;
        let workload_file = match file.table.get("workload") {
            None => None,
            Some(Value::String(name)) => Some(referred(&file, "workload", name)?),
            Some(_) => {
                let message = "expected the name of a file, such as workload = \"workloads/ycsb-a.toml\"";
                return Err(file.problem(&["workload"], message));
            }
        };
        Ok(Self { file, overrides, workload_file, sets })
    }

    pub(super) fn load(self) -> Outcome<Experiment> {
        let question = self.question()?;
        let task = self.task()?;
        let (design, mut factors) = self.design(&task)?;
        let engine = self.engine(&task)?;
        factors.extend(self.engine_factor()?);
        let trials = self.trials(&task)?;
        self.check_mode(&task, &trials)?;
        let sweep = self.sweep(factors)?;
        let name = self.name(&task);
        let base = Base {
            name: &name,
            engine: &engine,
            design: &design,
            task: &task,
            mode: trials.mode,
            goes_as_far: !answers::read_sheet(&self.file)?.is_empty(),
        };
        let (cells, left_out) = sweep.expand(&base).map_err(|error| self.sweep_problem(&error))?;
        if cells.is_empty() {
            let mut reasons: Vec<&str> = left_out.iter().map(|left| left.reason.as_str()).collect();
            reasons.dedup();
            let message = format!("no configuration can run: {reasons}", reasons = reasons.join("; "));
            return Err(self.file.problem(&["sweep"], message));
        }
        let mut labels = HashSet::new();
        if let Some(twice) = cells.iter().find(|cell| !labels.insert(&cell.label)) {
            let message = format!(
                "two configurations have the label \"{}\"; set another label for one of them",
                twice.label
            );
            return Err(self.file.problem(&["sweep"], message));
        }
        self.check_fixture(&trials, &task, &cells)?;
        side_by_side::check(&trials, &task, cells.len())
            .map_err(|message| self.table_problem("trials", "plan", message))?;
        self.check_memory(&sweep, &cells)?;
        let mut warnings = deprecations(&self.file, self.overrides.design.as_deref(), &self.sets)?;
        warnings.extend(self.unread(&sweep, &trials, &cells)?);
        // Keeps a setting that at least one configuration of the sweep uses, even if the mix before the sweep does not
        // use it.
        let task = task.without_unread(|phase, key| is_read(&cells, phase, key));
        let base = self.workload_file.as_ref().unwrap_or(&self.file).folder().to_owned();
        let mut experiment = Experiment {
            name,
            file: self.file.path.clone(),
            question,
            base,
            engine,
            design,
            task,
            sweep,
            cells,
            left_out,
            warnings,
            assumptions: Vec::new(),
            trials,
            verdict: VerdictSpec::default(),
            gate: self.gate()?,
            tune: self
                .file
                .table
                .contains_key("tune")
                .then(|| self.table("tune", &TuneSpec::KEYS))
                .transpose()?,
            charts: Vec::new(),
            style: FigureStyle::default(),
            quick: self.quick(),
            sheet: answers::read_sheet(&self.file)?,
        };
        self.present(&mut experiment)?;
        self.check_instructions(&mut experiment)?;
        experiment.assumptions = self.check_plans(&experiment)?;
        self.check_files(&experiment)?;
        Ok(experiment)
    }

    /// Returns the table `[quick]` for the resolved experiment, without the values that the command line sets. Returns
    /// `None` if this run already applies the table, or if no value is left.
    fn quick(&self) -> Option<Table> {
        let mut table = self.file.table.get("quick")?.as_table()?.clone();
        let is_set = |path: &str| self.sets.setter(path).is_some_and(|set| set.by == SetBy::CommandLine);
        table.retain(|path, _| !is_set(path));
        (!self.overrides.quick && !table.is_empty()).then_some(table)
    }

    /// Returns the name of the experiment, which is the name of its file without the extension. The name of a component
    /// experiment begins with `component-`, so it cannot equal the name of a tree experiment.
    fn name(&self, task: &Task) -> String {
        let stem = self.file.path.file_stem().unwrap_or_default().to_string_lossy();
        match task {
            Task::Workload(_) => stem.into_owned(),
            Task::Component(_) => format!("{COMPONENT}-{stem}"),
        }
    }

    fn question(&self) -> Outcome<String> {
        match self.file.table.get("question") {
            Some(Value::String(question)) if !question.trim().is_empty() => Ok(question.clone()),
            _ => {
                let message =
                    "the question of the experiment is missing; add it, such as question = \"Which …?\"";
                Err(self.file.problem(&["question"], message))
            }
        }
    }

    /// Returns the design before the sweep changes it, and the axes that the `[design]` table sweeps. A swept axis has
    /// a list or `"all"` as its value.
    fn design(&self, task: &Task) -> Outcome<(Design, Vec<Factor>)> {
        let mut design = match (&self.overrides.design, self.file.table.get("extends")) {
            (Some(path), _) => read_design(path)?,
            (None, Some(name)) => read_extended(&extended_file(&self.file, name)?, &[])?,
            (None, None) => Design::default(),
        };
        let mut factors = Vec::new();
        match self.file.table.get("design") {
            None => {}
            Some(Value::Table(table)) => {
                let own;
                self.check_read(task, table)?;
                (own, factors) = self.split_swept(table)?;
                design = design.with(&own).map_err(|error| design_problem(&self.file, &error))?;
            }
            Some(_) => return Err(self.file.problem(&["design"], "expected a table: [design]")),
        }
        for (path, set) in self.sets.under("design") {
            if let Some(reason) = task.unread(&path) {
                return Err(set.problem(&self.file, reason));
            }
        }
        Ok((self.set_design(&design)?, factors))
    }

    /// Applies the overrides of the experiment to a design. The function checks the combination of all values after the
    /// last override, so the order of the overrides has no effect.
    fn set_design(&self, design: &Design) -> Outcome<Design> {
        let (mut tables, mut sets) = (Vec::new(), Vec::new());
        for by in [SetBy::File, SetBy::Quick, SetBy::CommandLine] {
            let of_place = self.sets.under("design").filter(|(_, set)| set.by == by);
            tables.extend(paths::by_length(of_place.clone().map(|(path, set)| (path, set.value.clone()))));
            sets.extend(of_place);
        }
        let of_sets = sets.iter().map(|(path, set)| (&**path, &set.value));
        let families = Families::of(design.families(), of_sets);
        for (path, set) in &sets {
            families.check(path, &set.value).map_err(|message| set.problem(&self.file, message))?;
        }
        design.with_all(&tables).map_err(|error| {
            let path = format!("design.{}", error.path.join("."));
            match self.sets.setter(&path).or_else(|| sets.last().map(|(_, set)| *set)) {
                Some(set) => set.problem(&self.file, error.message),
                None => design_problem(&self.file, &error),
            }
        })
    }

    /// Returns the engine of all configurations for which the sweep sets no engine.
    fn engine(&self, task: &Task) -> Outcome<Choice> {
        let mut engine = default_engine();
        if let Some(value) = self.file.table.get(ENGINE).filter(|value| !is_swept(value)) {
            engine = read_engine(value).map_err(|error| {
                let inner = error.key.unwrap_or_default();
                self.file.problem(&[ENGINE, &inner], error.message)
            })?;
        }
        let mut sets = self.sets.under(ENGINE).peekable();
        if task.component().is_some() && (self.file.table.contains_key(ENGINE) || sets.peek().is_some()) {
            let message = "a component experiment runs no engine; remove the key `engine`";
            return Err(self.file.problem(&[ENGINE], message));
        }
        for (path, set) in sets {
            let changed = with_engine(&engine, &path, set.value.clone());
            engine = changed.map_err(|error| set.problem(&self.file, error.message))?;
        }
        Ok(engine)
    }

    /// Returns the engines that the experiment sweeps, if its key `engine` is a list or `"all"`. Returns `None` if the
    /// key names one engine.
    fn engine_factor(&self) -> Outcome<Option<Factor>> {
        let Some(value) = self.file.table.get(ENGINE).filter(|value| is_swept(value)) else {
            return Ok(None);
        };
        read_factor(ENGINE, value).map(Some).map_err(|error| self.file.problem(&[ENGINE], error.message))
    }

    /// Reads the table `[gate]` and its overrides. Returns `None` if the experiment has no gate.
    fn gate(&self) -> Outcome<Option<GateRule>> {
        let is_given = self.file.table.contains_key("gate") || self.sets.under("gate").next().is_some();
        is_given.then(|| self.table("gate", &GateRule::KEYS)).transpose()
    }

    /// Checks that the experiment uses all keys of a `[design]` table. A component experiment, for example, uses only
    /// the axis that it measures.
    fn check_read(&self, task: &Task, table: &Table) -> Outcome<()> {
        let inner = |key: &str| table[key].as_table().into_iter().flat_map(Table::keys);
        let paths = table.keys().flat_map(|key| {
            std::iter::once(vec![key.as_str()]).chain(inner(key).map(move |inner| vec![key.as_str(), inner]))
        });
        for path in paths {
            if let Some(reason) = task.unread(&path) {
                let key = ["design"].into_iter().chain(path).collect::<Vec<_>>();
                return Err(self.file.problem(&key, reason));
            }
        }
        Ok(())
    }

    /// Splits the `[design]` table into two parts: the keys with a single value, and the swept axes, whose value is a
    /// list or `"all"`.
    fn split_swept(&self, table: &Table) -> Outcome<(Table, Vec<Factor>)> {
        let (mut own, mut factors) = (Table::new(), Vec::new());
        for (key, value) in table {
            let is_axis = AXES.iter().any(|axis| axis.name() == key);
            if is_axis && is_swept(value) {
                let factor = read_factor(&ConfigPath::of_axis(key), value);
                factors.push(factor.map_err(|error| self.file.problem(&["design", key], error.message))?);
            } else {
                own.insert(key.clone(), value.clone());
            }
        }
        Ok((own, factors))
    }

    /// Checks that the selected mode can measure the component in a component experiment.
    fn check_mode(&self, task: &Task, trials: &Trials) -> Outcome<()> {
        let Some(component) = task.component() else { return Ok(()) };
        let modes = component.subject().modes();
        if modes.contains(&trials.mode) {
            return Ok(());
        }
        let only = if trials.mode == RunMode::Counted { "times" } else { "counters" };
        let message = format!(
            "subject \"{subject}\" measures only {only}, but mode \"{mode}\" does not measure {only}; use \
             trials.mode = \"{other}\"",
            subject = component.kind(),
            mode = trials.mode.name(),
            other = modes[0].name()
        );
        Err(self.table_problem("trials", "mode", message))
    }

    /// Adds the place of the invalid setting to an error in the workload or the component: the override that sets the
    /// value, or otherwise the line in the file `source`.
    fn choice_problem(&self, source: &SourceFile, error: ChoiceError) -> Problem {
        let key = error.key.unwrap_or_default();
        match self.sets.setter(&key) {
            Some(set) => set.problem(&self.file, error.message),
            None => source.problem(&paths::split(&key), error.message),
        }
    }

    fn trials(&self, task: &Task) -> Outcome<Trials> {
        let mut trials: Trials = self.table("trials", &Trials::KEYS)?;
        let in_file = self.file.table.get("trials").is_some_and(|table| table.get("mode").is_some());
        let modes = task.component().map(|component| component.subject().modes());
        if let (Some([only]), false) = (modes, in_file || self.sets.setter("trials.mode").is_some()) {
            trials.mode = *only;
        }
        let table = self.file.table.get("trials");
        let is_counted = table.is_some_and(|table| table.get("count").is_some());
        if trials.budget.is_some() && !is_counted && self.sets.setter("trials.count").is_none() {
            trials.count = MOST_TRIALS;
        }
        if self.overrides.quick && self.sets.setter("trials.count").is_none() {
            trials.count = trials.count.min(QUICK_TRIALS);
        }
        // Without `--quick`, there is at least one trial per seed. A count of 0 does not change, so that the check
        // rejects it.
        if !self.overrides.quick && trials.count > 0 {
            trials.count = trials.count.max(trials.seeds);
        }
        trials.count = self.overrides.trials.unwrap_or(trials.count);
        trials.seed = self.overrides.seed.unwrap_or(trials.seed);
        trials.check().map_err(|(key, message)| match key {
            "count" if self.overrides.trials.is_some() => Problem::new(format!("--trials: {message}")),
            "seed" if self.overrides.seed.is_some() => Problem::new(format!("--seed: {message}")),
            _ => self.table_problem("trials", key, format!("trials.{key}: {message}")),
        })?;
        Ok(trials)
    }

    /// Reads the table `name` of the experiment with the valid keys `keys`, and applies its overrides.
    fn table<T: DeserializeOwned>(&self, name: &str, keys: &[&str]) -> Outcome<T> {
        let mut table = match self.file.table.get(name) {
            None => Table::new(),
            Some(Value::Table(table)) => table.clone(),
            Some(_) => return Err(self.file.problem(&[name], format!("expected a table: [{name}]"))),
        };
        for (path, set) in self.sets.under(name) {
            table.insert(path.join("."), set.value.clone());
        }
        reading::read(name, &table, keys, &[])
            .map_err(|error| self.table_problem(name, &error.key.unwrap_or_default(), error.message))
    }

    /// Creates an error about a key of the table `name`. The error names the file or the override that set the value.
    fn table_problem(&self, name: &str, key: &str, message: impl Into<String>) -> Problem {
        match self.sets.setter(&format!("{name}.{key}")) {
            Some(set) => set.problem(&self.file, message),
            None => self.file.problem(&[name, key], message),
        }
    }

    /// Reads the sweep: the swept axes of `[design]`, then the `[sweep]` table, and then the overrides of the sweep.
    fn sweep(&self, in_design: Vec<Factor>) -> Outcome<Sweep> {
        let mut table = match self.file.table.get("sweep") {
            None => Table::new(),
            Some(Value::Table(table)) => table.clone(),
            Some(_) => return Err(self.file.problem(&["sweep"], "expected a table: [sweep]")),
        };
        for (path, set) in self.sets.under("sweep") {
            table.insert(path.join("."), set.value.clone());
        }
        let is_set = |factor: &Factor| self.sets.setter(&format!("sweep.{}", factor.path)).is_some();
        let mut sweep = Sweep::read(&table).map_err(|error| self.sweep_problem(&error))?;
        sweep.factors.splice(..0, in_design.into_iter().filter(|factor| !is_set(factor)));
        if sweep.factors.is_empty() && self.file.table.contains_key("sweep") {
            let message = "the sweep is empty; add a path with its values, such as \"design.bloom\" = \
            [\"none\", \"standard\"]";
            return Err(self.file.problem(&["sweep"], message));
        }
        if let Some(problem) = self.shortened_zip(&sweep) {
            return Err(problem);
        }
        sweep.check().map_err(|error| self.sweep_problem(&error))?;
        for factor in &sweep.factors {
            if let Some(set) = self.sets.exactly(&factor.path) {
                let message = format!(
                    "the sweep already contains values for this path, so a single value has no effect; to \
                     change the swept values, set \"sweep.{path}\" = [ … ]",
                    path = factor.path
                );
                return Err(set.problem(&self.file, message));
            }
        }
        Ok(sweep)
    }

    fn sweep_problem(&self, error: &SweepError) -> Problem {
        let in_design = || {
            let key = ConfigPath::new(&error.key).axis()?;
            let value = self.file.table.get("design")?.get(key)?;
            (!value.is_table()).then_some(["design", key])
        };
        let swept = self.file.table.get("sweep").is_some_and(|sweep| sweep.get(&error.key).is_some());
        let setter = self.sets.setter(&format!("sweep.{}", error.key));
        if error.key == ENGINE && !swept && setter.is_none() {
            return match self.sets.setter(ENGINE) {
                Some(set) => set.problem(&self.file, error.message.clone()),
                None => self.file.problem(&[ENGINE], error.message.clone()),
            };
        }
        match (setter, in_design().filter(|_| !swept)) {
            (Some(set), _) => set.problem(&self.file, error.message.clone()),
            (None, Some(key)) => self.file.problem(&key, error.message.clone()),
            (None, None) => self.file.problem(&["sweep", &error.key], error.message.clone()),
        }
    }

    /// Checks that the memory budget of each configuration is possible.
    fn check_memory(&self, sweep: &Sweep, cells: &[Cell]) -> Outcome<()> {
        if sweep.equal_memory {
            equal_memory::check(cells).map_err(|message| {
                self.sweep_problem(&SweepError::new("memory", format!("memory = \"equal\": {message}")))
            })?;
        }
        let in_file = self.file.table.get("design").and_then(Value::as_table).into_iter().flatten();
        let in_file = in_file.map(|(key, value)| (vec![key.as_str()], value));
        let set = self.sets.under("design").map(|(path, set)| (path, &set.value));
        let swept = sweep.factors.iter().flat_map(|factor| {
            let path = ConfigPath::new(&factor.path).below().to_vec();
            factor.values.iter().map(move |value| (path.clone(), value))
        });
        equal_memory::check_capacity(in_file.chain(set).chain(swept), cells)
            .map_err(|message| self.file.problem(&["design", "cache", "capacity"], message))
    }

    /// Checks that every trial can start from a copy of the store after the phase that `trials.fixture` names.
    fn check_fixture(&self, trials: &Trials, task: &Task, cells: &[Cell]) -> Outcome<()> {
        let Some(last) = &trials.fixture else { return Ok(()) };
        fixture::check(last, task, cells)
            .map_err(|message| self.table_problem("trials", "fixture", format!("trials.fixture: {message}")))
    }

    /// Reads the tables `[verdict]` and `[[chart]]`, and checks the columns and names in them.
    fn present(&self, experiment: &mut Experiment) -> Outcome<()> {
        let schema = Schema::runs(&experiment.swept())
            .map_err(|error| self.file.problem(&["sweep"], error.to_string()))?;
        experiment.verdict = self.table("verdict", &VerdictSpec::KEYS)?;
        for path in experiment.verdict.within.iter_mut().flatten() {
            *path = new_name(path).into_owned();
        }
        let (verdict, fixture) = (&experiment.verdict, experiment.trials.fixture.as_deref());
        let problem =
            |(key, message)| self.table_problem("verdict", key, format!("verdict.{key}: {message}"));
        verdict.check(&schema, experiment).map_err(problem)?;
        if let Some(phase) = &verdict.phase {
            fixture::check_measured(phase, fixture, &experiment.task)
                .map_err(|message| problem(("phase", message)))?;
        }
        experiment.charts = read_charts(&self.file, &schema, &experiment.task, fixture)?;
        self.check_metrics(experiment)?;
        experiment.style = self.table("style", &FigureStyle::KEYS)?;
        let problem = |error: PlotError| self.table_problem("style", "font", error.to_string());
        experiment.style.check().map_err(problem)
    }

    /// Checks that each metric of the verdict can have a value in the phase of the verdict, in every configuration. If
    /// the command line selects counted mode, the function removes the metrics that need time instead, and adds a
    /// warning.
    fn check_metrics(&self, experiment: &mut Experiment) -> Outcome<()> {
        let (phase, mode) = (judged_phase(&experiment.facts()), experiment.trials.mode);
        let of_verdict = experiment.verdict.metric.iter().map(|name| ("metric", name));
        let also = experiment.verdict.also.iter().map(|name| ("also", name));
        let mut left_out = Vec::new();
        for (key, name) in of_verdict.chain(also) {
            let Some(metric) = results::reference::metric(name) else { continue };
            let reason = |cell| measurable::hindrance(metric, cell, &phase, &experiment.trials);
            let reasons = experiment.cells.iter().map(reason).collect::<Option<Vec<String>>>();
            let Some(reason) = reasons.and_then(|reasons| reasons.into_iter().next()) else { continue };
            let is_overridden = self.sets.setter("trials.mode").is_some()
                && self.sets.setter(&format!("verdict.{key}")).is_none();
            if mode == RunMode::Counted && measurable::takes_time(metric) && is_overridden {
                left_out.push(name.clone());
                continue;
            }
            return Err(self.table_problem("verdict", key, format!("verdict.{key}: {name}: {reason}")));
        }
        let verdict = &mut experiment.verdict;
        verdict.metric.take_if(|name| left_out.contains(name));
        verdict.also.retain(|name| !left_out.contains(name));
        if !left_out.is_empty() {
            let names = left_out.join(", ");
            experiment
                .warnings
                .push(format!("counted mode measures no time, so the verdict ignores {names}"));
        }
        Ok(())
    }

    /// Adds the number of instructions to the metrics of the verdict, if the experiment counts instructions. Returns an
    /// error if the instructions of a configuration cannot be counted.
    fn check_instructions(&self, experiment: &mut Experiment) -> Outcome<()> {
        if experiment.trials.instructions.is_none() {
            return Ok(());
        }
        instructions::check(&experiment.cells).map_err(|message| {
            self.table_problem("trials", "instructions", format!("trials.instructions: {message}"))
        })?;
        let (verdict, name) = (&mut experiment.verdict, c::USER_INSTRUCTIONS_PER_OP.name.to_owned());
        if verdict.metric.as_ref() != Some(&name) && !verdict.also.contains(&name) {
            verdict.also.push(name);
        }
        Ok(())
    }

    /// Plans the workload of every configuration, to find missing traces and impossible phases before the run. Returns
    /// one sentence for each assumption about a replayed trace.
    fn check_plans(&self, experiment: &Experiment) -> Outcome<Vec<String>> {
        let mut checked = HashSet::new();
        let mut assumptions = Vec::new();
        for workload in experiment.cells.iter().filter_map(|cell| cell.task.workload()) {
            if checked.insert(workload.to_toml().to_string()) {
                let plan = WorkloadPlan::new(workload, experiment.trials.seed, &experiment.base)
                    .map_err(|error| self.plan_problem(&error, workload))?;
                for (phase, replay) in plan.phases().iter().filter_map(|phase| Some((phase, phase.replay()?)))
                {
                    let of_phase = |assumed| format!("phase {}: {assumed}", phase.phase().name);
                    let new: Vec<String> = replay.check()?.into_iter().map(of_phase).collect();
                    assumptions
                        .extend(new.into_iter().filter(|one| !assumptions.contains(one)).collect::<Vec<_>>());
                }
            }
        }
        Ok(assumptions)
    }

    /// Checks the files that the parameters of components name, such as recorded requests.
    fn check_files(&self, experiment: &Experiment) -> Outcome<()> {
        let mut checked = HashSet::new();
        for component in experiment.cells.iter().filter_map(|cell| cell.task.component()) {
            if checked.insert(component.to_toml().to_string()) {
                let files = component.subject().check_files(&experiment.base);
                files.map_err(|error| {
                    let key = error.key.map(|key| format!("{COMPONENT}.{key}"));
                    self.choice_problem(&self.file, ChoiceError { key, ..error })
                })?;
            }
        }
        Ok(())
    }

    /// Creates the error for a workload that is valid TOML but cannot run, with the place of the setting that causes
    /// it.
    fn plan_problem(&self, error: &PlanError, workload: &Workload) -> Problem {
        let source = self.workload_file.as_ref().unwrap_or(&self.file);
        match error {
            PlanError::Choice(choice) => self.choice_problem(source, choice.clone()),
            PlanError::Trace(trace) => {
                let phase = workload.phases.iter().find(|phase| replays(phase, trace));
                let key = ["phase", phase.map_or("", |phase| &phase.name), "replay"];
                source.problem(&key, trace.to_string())
            }
        }
    }
}

/// Returns whether the value of an axis is a list of variants or `"all"`, so that the axis is swept.
fn is_swept(value: &Value) -> bool {
    value.is_array() || value.as_str() == Some("all")
}

/// Returns whether the trace of this phase has caused the error `error`.
fn replays(phase: &Phase, error: &TraceError) -> bool {
    let file = phase.trace().map(|trace| &trace.file);
    error.path().zip(file).is_some_and(|(path, file)| path.ends_with(file))
}
