//! Expands a sweep into configurations. Each combination of swept values becomes a configuration with a label, or is
//! skipped because it cannot run.

use std::collections::HashMap;

use catalog::{Choice, Limit, suggestion};
use engines::EngineOptions;
use results::{ConfigPath, IDENTICAL, Root, RunMode};
use subject::Task;
use toml::{Table, Value};
use tree::{Design, axis, own_keys};
use types::PlatformPart;
use workload::{CacheState, Phase, StoreStep, Work};

use super::cell::{Cell, SkippedCell, absences};
use super::engine::{Absence, ENGINE, default_engine, engine_label, read_engine, with_engine};
use super::families::Families;
use super::labels::{Labels, is_own_key, reads_all};
use super::sweep::{Sweep, SweepError};
use super::{fits, paths, wording};

/// The path of the key format, which is the only setting of a workload outside its phases.
const KEY: &str = "key";

/// The settings of an experiment before its sweep changes them: the design, the engine and the workload (or the
/// parameters of a component).
pub(super) struct Base<'a> {
    /// The name of the experiment.
    pub(super) name: &'a str,
    pub(super) engine: &'a Choice,
    pub(super) design: &'a Design,
    pub(super) task: &'a Task,
    pub(super) mode: RunMode,
    /// Whether the sweep skips engines that are not available. If `false`, such an engine is an error, unless the file
    /// has `engine = "all"`. `lsmbench report` sets this flag to check the claims about the other engines.
    pub(super) goes_as_far: bool,
}

impl Sweep {
    /// Expands the sweep. Returns the configurations, and the combinations of values that are skipped, each with the
    /// reason.
    pub(super) fn expand(&self, base: &Base<'_>) -> Result<(Vec<Cell>, Vec<SkippedCell>), SweepError> {
        let (mut cells, mut left_out) = (Vec::<Cell>::new(), Vec::new());
        let labels = Labels::new(self, base.name);
        let mut applied = vec![false; self.factors.len()];
        let may_lack = base.goes_as_far || self.asks_for_all_engines();
        // Maps the text of the design and the task, which identifies a configuration, to the index of the
        // configuration.
        let mut numbers = HashMap::new();
        for (number, combination) in self.combinations().into_iter().enumerate() {
            let mut cell = self.assemble(base, &combination, &labels)?;
            if let Some(given) = &self.labels {
                cell.label.clone_from(&given[number]);
            }
            for (at, value) in combination.iter().enumerate() {
                applied[at] |= value.is_some() && !cell.swept[at].is_empty();
            }
            let text = format!("{}\n{}", cell.subject(), cell.task.to_toml());
            let same = || {
                let Cell { number, label, .. } = &cells[*numbers.get(&text)?];
                Some(format!("{IDENTICAL} {number}, \"{label}\""))
            };
            if let Some(reason) = fits::hindrance(base.mode, &cell).filter(|_| !may_lack) {
                return Err(SweepError::new(ENGINE, reason));
            }
            if let Some(reason) = refusal(base.mode, &cell).or_else(same) {
                let absence = Absence::of(&cell.engine);
                left_out.push(SkippedCell { label: self.describe(&combination), reason, absence });
            } else {
                numbers.insert(text, cells.len());
                cell.number = cells.len() as u64;
                cells.push(cell);
            }
        }
        if !may_lack && cells.iter().all(|cell| cell.engine == default_engine()) {
            check_presence(&left_out)?;
        }
        match applied.iter().position(|applied| !applied) {
            Some(at) => Err(base.applies_nowhere(&self.factors[at].path)),
            None => Ok((cells, left_out)),
        }
    }

    /// Returns whether the sweep contains every engine, because the file has `engine = "all"`. Engines that are not
    /// available are then skipped.
    fn asks_for_all_engines(&self) -> bool {
        self.factors.iter().any(|factor| factor.path == ENGINE && factor.all)
    }

    /// Returns a combination of swept values as text, such as `design.bloom=none, design.bloom.bits_per_key=8`.
    fn describe(&self, combination: &[Option<&Value>]) -> String {
        let parts = self.factors.iter().zip(combination).filter_map(|(factor, value)| {
            value.map(|value| format!("{}={}", factor.path, display(&factor.path, value)))
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    fn assemble(
        &self,
        base: &Base<'_>,
        combination: &[Option<&Value>],
        labels: &Labels<'_>,
    ) -> Result<Cell, SweepError> {
        let mut parts =
            Parts { engine: base.engine.clone(), design: base.design.clone(), task: base.task.to_toml() };
        let mut swept = vec![String::new(); self.factors.len()];
        // Each kind is set before its parameters, even if the file has them in another order.
        let mut order: Vec<usize> = (0..self.factors.len()).collect();
        order.sort_by_key(|at| self.factors[*at].path.matches('.').count());
        for at in order {
            let path = &self.factors[at].path;
            base.check_root(path, combination[at])?;
            if !parts.has(path) {
                continue;
            }
            if let Some(value) = combination[at] {
                swept[at] = display(path, value);
                parts.apply(path, value.clone())?;
            } else {
                swept[at] = base.value(path).map_or_else(String::new, |value| display(path, &value));
            }
        }
        let Parts { engine, design, task } = parts;
        let task = read_task(&task, self.factors.first().map_or("", |factor| &factor.path))?;
        let task = task.without_unread(|_, _| false);
        let label = labels.label(&engine, &design, &swept);
        Ok(Cell { number: 0, label, swept, engine, design, task })
    }
}

impl Base<'_> {
    /// Returns the value at a path in the settings before the sweep. Returns `None` if the path has no value there.
    fn value(&self, path: &str) -> Option<Value> {
        let path = ConfigPath::new(path);
        match (path.root(), path.below()) {
            (Root::Engine, []) => Some(Value::String(self.engine.label())),
            (Root::Engine, [parameter]) => self.engine.params().get(*parameter).cloned(),
            (Root::Design, [name]) if axis(name).is_some() => {
                Some(Value::String(self.design.choice(name).label()))
            }
            (Root::Design, rest) => paths::get(&self.design.to_toml(), rest).cloned(),
            _ => paths::get(&self.task.to_toml(), path.parts()).cloned(),
        }
    }

    /// Checks that the sweep may set `value` at `path`: the experiment uses settings at this path, the path does not
    /// name a whole table, and a column family in the path or the value exists.
    fn check_root(&self, path: &str, value: Option<&Value>) -> Result<(), SweepError> {
        let parsed = ConfigPath::new(path);
        let of_workloads = self.task.workload().map(|_| ENGINE);
        let roots = ["design"].into_iter().chain(of_workloads).chain(self.task.roots().iter().copied());
        let roots: Vec<&str> = roots.collect();
        let first = parsed.parts()[0];
        match (parsed.root(), parsed.below()) {
            (Root::Engine, _) if of_workloads.is_some() => Ok(()),
            (Root::Design, rest @ [_, ..]) => {
                let values = || value.into_iter();
                let families = Families::of(self.design.families(), values().map(|value| (rest, value)));
                let unknown = || values().find_map(|value| families.check(rest, value).err());
                match self.task.unread(rest).or_else(unknown) {
                    Some(reason) => Err(SweepError::new(path, reason)),
                    None => Ok(()),
                }
            }
            (_, [_, ..]) if roots.contains(&first) => Ok(()),
            // The key format is a variant with parameters, and no table of settings.
            (_, []) if first == KEY && roots.contains(&first) => Ok(()),
            (_, []) if roots.contains(&first) => {
                Err(SweepError::new(path, "the path names a whole table; append the name of a key"))
            }
            _ => {
                Err(SweepError::new(path, wording::unknown("start of a path", first, roots.iter().copied())))
            }
        }
    }

    /// Creates the error for a swept path that no configuration has, such as a parameter of another variant.
    fn applies_nowhere(&self, path: &str) -> SweepError {
        let parsed = ConfigPath::new(path);
        let (name, of) = parsed.parts().split_last().expect("a swept path must have at least one part");
        let hint = match (parsed.root(), parsed.below()) {
            (Root::Engine, [name]) => {
                let variants = catalog::Axis::variants(&engines::CATALOG);
                let known = variants.iter().flat_map(|variant| variant.defaults.keys().cloned()).collect();
                parameters(ENGINE, name, known)
            }
            (Root::Design, [axis_name, "kind"]) => {
                format!(
                    "sweep the path \"{}\" instead; its values are the names of variants",
                    ConfigPath::of_axis(axis_name)
                )
            }
            (Root::Design, [axis_name, ..]) => {
                let variants = axis(axis_name).map(catalog::Axis::variants).unwrap_or_default();
                let known = variants.iter().flat_map(|variant| variant.defaults.keys().cloned());
                let own = own_keys(axis_name).map(str::to_owned);
                parameters(axis_name, name, known.chain(own).collect())
            }
            _ => {
                let task = self.task.to_toml();
                let choice = paths::get(&task, of).and_then(Value::as_table);
                let known = choice.into_iter().flat_map(Table::keys).filter(|key| *key != "kind");
                parameters(&of.join("."), name, known.cloned().collect())
            }
        };
        SweepError::new(path, format!("no configuration has the parameter \"{name}\"; {hint}"))
    }
}

/// Returns an error if none of the swept engines is available, so that no configuration can run.
fn check_presence(left_out: &[SkippedCell]) -> Result<(), SweepError> {
    let absent: Vec<String> = absences(left_out).into_iter().map(ToString::to_string).collect();
    if absent.is_empty() {
        return Ok(());
    }
    let all = "use [sweep] \"engine\" = \"all\" to run only the installed engines";
    Err(SweepError::new(ENGINE, format!("{}; {all}", absent.join("; "))))
}

/// Returns the end of the error message about a swept parameter that no configuration has: the valid parameters
/// `known`, or the reason why none is valid. `axis` is the name of the axis, and `name` is the swept parameter.
fn parameters(axis: &str, name: &str, mut known: Vec<String>) -> String {
    known.sort();
    known.dedup();
    let hint = suggestion(name, known.iter().map(String::as_str));
    match known.is_empty() {
        true => format!("{axis} has no parameters"),
        false if known.iter().any(|known| known == name) => {
            format!("only variants of {axis} that this experiment does not run have this parameter")
        }
        false => format!("{hint}{}", wording::valid(known.iter().map(String::as_str))),
    }
}

/// Returns the reason why a configuration cannot run in the mode `mode`, so that the sweep skips it. Returns `None` if
/// the configuration can run.
pub(super) fn refusal(mode: RunMode, cell: &Cell) -> Option<String> {
    let component = cell.task.component();
    if let Some(reason) = component.and_then(|component| component.subject().refusal(&cell.design)) {
        return Some(reason);
    }
    if let Some(reason) = fits::refusal(mode, cell) {
        return Some(reason);
    }
    if let Some(reason) = missing_eviction(cell) {
        return Some(reason);
    }
    if !reads_all(&cell.engine) {
        return None;
    }
    let limits = cell.design.limits();
    if let Some((axis, choice, limit)) = limits.iter().find(|(_, _, limit)| *limit == Limit::NotOnPlatform) {
        return Some(format!("{axis} = {choice} {limit}"));
    }
    let workload = cell.task.workload();
    let lost = limits.iter().find(|(_, _, limit)| *limit == Limit::NotDurable);
    let is_cold = |phase: &&Phase| phase.before.cache == CacheState::Cold;
    let cold = workload.and_then(|workload| workload.phases.iter().find(is_cold));
    if let Some(((axis, choice, limit), phase)) = lost.as_ref().zip(cold) {
        return Some(format!("phase {} starts with cold caches, but {axis} = {choice} {limit}", phase.name));
    }
    let needs_files = |phase: &&Phase| phase.step().is_some_and(StoreStep::needs_files);
    let step = workload.and_then(|workload| workload.phases.iter().find(needs_files));
    if let Some(((axis, choice, limit), phase)) = lost.zip(step) {
        let step = phase.step().map_or("", StoreStep::name);
        return Some(format!("phase {} has step = \"{step}\", but {axis} = {choice} {limit}", phase.name));
    }
    if mode == RunMode::Timed {
        return None;
    }
    let is_read = |axis: &str| cell.task.unread(&[axis]).is_none();
    let changing = limits.iter().find(|(axis, _, limit)| *limit == Limit::NotDeterministic && is_read(axis));
    if let Some((axis, choice, limit)) = changing {
        return Some(format!("counted mode: {axis} = {choice} {limit}"));
    }
    let phases = match &cell.task {
        Task::Workload(workload) => &workload.phases,
        Task::Component(component) => {
            let threads = component.subject().threads();
            let reason = format!("counted mode: component.threads = {threads} exceeds the maximum of 1");
            return (threads > 1).then_some(reason);
        }
    };
    phases.iter().find_map(|phase| {
        let Phase { name, threads, .. } = phase;
        let reason = match &phase.work {
            _ if *threads > 1 => format!("phase {name} has {threads} threads (maximum 1)"),
            Work::Mixed(mixed) if mixed.time_limit_ns.is_some() => format!(
                "phase {name} ends after a time, but counted mode measures no time; set operations instead of \
                 seconds"
            ),
            Work::Roles(_) => format!(
                "phase {name} has roles, which need concurrent threads, but counted mode runs only one thread"
            ),
            Work::Step(StoreStep::Sleep(_)) => {
                format!("phase {name} has step = \"sleep\", which has no effect on counters")
            }
            _ => return None,
        };
        Some(format!("counted mode: {reason}"))
    })
}

/// Returns the reason why this system cannot evict the caches before a phase with cold caches. Returns `None` if it
/// can, or if no phase needs cold caches.
fn missing_eviction(cell: &Cell) -> Option<String> {
    let drops = |phase: &&Phase| {
        phase.before.cache == CacheState::Cold || phase.step() == Some(StoreStep::DropCaches)
    };
    let phase = cell.task.workload()?.phases.iter().find(drops)?;
    let missing = PlatformPart::PageCacheEviction.here().err()?;
    Some(format!("phase {} needs cold caches: {missing}", phase.name))
}

/// A configuration while the sweep sets its values, one after the other.
struct Parts {
    engine: Choice,
    design: Design,
    task: Table,
}

impl Parts {
    /// Returns whether this configuration has a setting at the path `path`. For example, the filter `none` has no
    /// `bits_per_key`, and the distribution `uniform` has no `theta`. An engine other than the tree of lsmbench has
    /// only the options of a design that it uses.
    fn has(&self, path: &str) -> bool {
        let path = ConfigPath::new(path);
        match (path.root(), path.below()) {
            (Root::Engine, [parameter]) => self.engine.params().contains_key(*parameter),
            (Root::Design, rest) if !reads_all(&self.engine) && !EngineOptions::depend_on(rest) => false,
            (Root::Design, [axis, key]) if is_own_key(axis, key) => true,
            (Root::Design, [axis_name, parameter, ..]) if axis(axis_name).is_some() => {
                self.design.choice(axis_name).params().contains_key(*parameter)
            }
            (Root::Phase | Root::Component | Root::Other, [.., parameter]) => {
                let (_, of) = path.parts().split_last().expect("a swept path must have at least one part");
                let choice = paths::get(&self.task, of).and_then(Value::as_table);
                // A choice outside of phases is a key format, whose variant is in the key `format`. For all other
                // choices, the variant is in the key `kind`.
                let kind = if path.root() == Root::Other { "format" } else { "kind" };
                choice.is_none_or(|choice| !choice.contains_key(kind) || choice.contains_key(*parameter))
            }
            _ => true,
        }
    }

    /// Sets the value of a swept setting of this configuration. The caller has checked the first part of the path.
    fn apply(&mut self, path: &str, value: Value) -> Result<(), SweepError> {
        let parsed = ConfigPath::new(path);
        match (parsed.root(), parsed.below()) {
            (Root::Engine, rest) => {
                self.engine = with_engine(&self.engine, rest, value)
                    .map_err(|error| SweepError::new(path, error.message))?;
            }
            (Root::Design, rest) => {
                let changed = self.design.with(&paths::nested(rest, value));
                self.design = changed.map_err(|error| SweepError::new(path, error.message))?;
            }
            _ => {
                let missing = |message: String| SweepError::new(path, message);
                paths::set(&mut self.task, parsed.parts(), value).map_err(missing)?;
                self.task = read_task(&self.task, path)?.to_toml();
            }
        }
        Ok(())
    }
}

fn read_task(table: &Table, path: &str) -> Result<Task, SweepError> {
    Task::from_toml(table).map_err(|error| SweepError::new(path, error.message))
}

/// Returns a swept value as text for results. A variant or a size keeps the text that the user wrote, and a table
/// becomes the label of the variant.
fn display(path: &str, value: &Value) -> String {
    if path == ENGINE {
        return read_engine(value).map_or_else(|_| value.to_string(), |engine| engine_label(&engine));
    }
    let path = ConfigPath::new(path);
    let choice = match (path.root(), path.below()) {
        (Root::Design, [axis_name]) => {
            axis(axis_name).filter(|_| value.is_table()).and_then(|axis| axis.choose(value).ok())
        }
        _ => None,
    };
    match (choice, value) {
        (Some(choice), _) => choice.label(),
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKLOAD: &str = r#"
        [[phase]]
        name = "load"
        insert = 1000
        [[phase]]
        name = "look"
        operations = 1000
        mix = { get = 1 }
        keys = { kind = "zipfian", theta = 0.9 }
    "#;

    fn expand(sweep: &str, mode: RunMode) -> Result<(Vec<Cell>, Vec<SkippedCell>), String> {
        expand_as_far(sweep, mode, false)
    }

    fn expand_as_far(
        sweep: &str,
        mode: RunMode,
        goes_as_far: bool,
    ) -> Result<(Vec<Cell>, Vec<SkippedCell>), String> {
        let task = Task::from_toml(&WORKLOAD.parse().unwrap()).unwrap();
        let design = Design::default();
        let engine = default_engine();
        let base = Base { name: "test", engine: &engine, design: &design, task: &task, mode, goes_as_far };
        let sweep = Sweep::read(&sweep.parse().unwrap()).map_err(|error| error.message)?;
        sweep.expand(&base).map_err(|error| error.message)
    }

    fn labels(sweep: &str) -> Vec<String> {
        let (cells, _) = expand(sweep, RunMode::Timed).unwrap();
        cells.into_iter().map(|cell| cell.label).collect()
    }

    #[test]
    fn labels_tell_cells_apart() {
        assert_eq!(labels(""), ["test"]);
        assert_eq!(
            labels("\"design.bloom.bits_per_key\" = [4, 10]\n\"design.bloom\" = [\"none\", \"standard\"]"),
            ["none", "standard(bits_per_key=4)", "standard(bits_per_key=10)"]
        );
        assert_eq!(
            labels("\"design.block.size\" = [\"4KiB\", \"8KiB\"]"),
            ["block.size=4KiB", "block.size=8KiB"]
        );
        assert_eq!(
            labels("\"design.memtable.capacity\" = [\"1MiB\", \"2MiB\"]"),
            ["memtable.capacity=1MiB", "memtable.capacity=2MiB"]
        );
        assert_eq!(
            labels("\"design.memtable.entries\" = [1_000, 0]"),
            ["memtable.entries=1000", "memtable.entries=0"]
        );
        assert_eq!(labels("\"phase.look.keys.theta\" = [0.5, 0.9]"), ["theta=0.5", "theta=0.9"]);
        assert_eq!(
            labels("\"key\" = [\"user\", \"decimal(bytes=24)\"]"),
            ["key=user", "key=decimal(bytes=24)"]
        );
        assert_eq!(
            labels("combine = \"zip\"\n\"phase.load.threads\" = [1, 2]\n\"phase.look.threads\" = [1, 1]"),
            ["load.threads=1 + look.threads=1", "load.threads=2 + look.threads=1"]
        );
        assert_eq!(
            labels("combine = \"zip\"\nlabels = [\"one\", \"two\"]\n\"phase.load.threads\" = [1, 2]"),
            ["one", "two"]
        );
    }

    /// Tests that a parameter which the sweep sets stays in all labels, even with its default value. All other
    /// parameters with their defaults are not in labels.
    #[test]
    fn swept_parameters_stay_in_labels() {
        let ratios = "\"design.compaction.size_ratio\" = ";
        let sweep = |compaction: &str| format!("\"design.compaction\" = [{compaction}]\n");
        for (sweep, expected) in [
            (
                sweep("\"leveled\", \"universal\"") + ratios + "[4, 10]",
                ["leveled(size_ratio=4)", "leveled(size_ratio=10)", "universal"].as_slice(),
            ),
            (sweep("\"leveled\", \"tiered\"") + ratios + "[10]", &["leveled", "tiered"]),
            (
                sweep("\"leveled(size_ratio=4)\", \"leveled\", \"none\""),
                &["leveled(size_ratio=4)", "leveled(size_ratio=10)", "none"],
            ),
            (
                sweep("{ kind = \"leveled\", size_ratio = 10.0 }, \"tiered\""),
                &["leveled(size_ratio=10)", "tiered(size_ratio=10)"],
            ),
            (sweep("\"leveled(level0_runs=1)\""), &["leveled(level0_runs=1)"]),
            (
                "combine = \"ablate\"\n\"design.bloom.bits_per_key\" = [4]".to_owned(),
                &["blocked(bits_per_key=10)", "blocked(bits_per_key=4)"],
            ),
            (
                "\"design.memtable\" = [\"sharded-btree(weights=[1, 2], shards=2)\", \"sharded-btree\"]"
                    .to_owned(),
                &["sharded-btree(shards=2, weights=[1, 2])", "sharded-btree(shards=16)"],
            ),
        ] {
            assert_eq!(labels(&sweep), expected, "{sweep}");
            let (cells, _) = expand(&sweep, RunMode::Timed).unwrap();
            for cell in cells {
                let axis = ["compaction", "bloom", "memtable"]
                    .into_iter()
                    .find(|axis| sweep.contains(axis))
                    .unwrap();
                let read = tree::axis(axis).unwrap().choose(&Value::from(&*cell.label)).unwrap();
                assert_eq!(&read, cell.design.choice(axis));
            }
        }
    }

    #[test]
    fn parameters_that_a_kind_does_not_have_are_passed_over() {
        let sweep =
            "\"phase.look.keys\" = [\"uniform\", \"zipfian\"]\n\"phase.look.keys.theta\" = [0.5, 0.9]";
        let (cells, left_out) = expand(sweep, RunMode::Timed).unwrap();
        let swept: Vec<_> = cells.iter().map(|cell| cell.swept.join(" ")).collect();
        assert_eq!(swept, ["uniform ", "zipfian 0.5", "zipfian 0.9"]);
        assert_eq!(left_out.len(), 1);
        assert_eq!(left_out[0].reason, "this combination is identical to configuration 0, \"keys=uniform\"");
        for (path, hint) in [
            (
                "design.bloom.bits_per_ky",
                "no configuration has the parameter \"bits_per_ky\"; did you mean \"bits_per_key\"?",
            ),
            (
                "design.bloom.kind",
                "sweep the path \"design.bloom\" instead; its values are the names of variants",
            ),
            ("phase.look.keys.thta", "did you mean \"theta\"? Valid: \"contiguous\", \"theta\""),
            ("design.hash.seed", "no configuration has the parameter \"seed\"; hash has no parameters"),
        ] {
            let error = expand(&format!("\"{path}\" = [1, 2]"), RunMode::Timed).unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
    }

    #[test]
    fn an_ablation_names_the_values_of_its_base() {
        let sweep = "combine = \"ablate\"\n\"design.cache\" = [\"none\"]\n\"phase.look.keys.theta\" = [0.5]";
        let (cells, _) = expand(sweep, RunMode::Timed).unwrap();
        let swept: Vec<_> = cells.iter().map(|cell| cell.swept.join(" ")).collect();
        assert_eq!(swept, ["quick 0.9", "none 0.9", "quick 0.5"]);
    }

    #[test]
    fn counted_mode_leaves_out_what_depends_on_time() {
        let sweep = "\"design.wal\" = [\"buffered\", \"interval\"]\n\"phase.look.threads\" = [1, 2]";
        let (cells, left_out) = expand(sweep, RunMode::Counted).unwrap();
        assert_eq!(cells.len(), 1);
        let reasons: Vec<&str> = left_out.iter().map(|left| left.reason.as_str()).collect();
        assert!(reasons[0].contains("phase look has 2 threads"), "{reasons:?}");
        assert!(reasons[1].contains("wal = interval depends on time"), "{reasons:?}");
        assert_eq!(left_out[0].label, "design.wal=buffered, phase.look.threads=2");
        let (_, left_out) = expand("\"phase.look.seconds\" = [\"1s\"]", RunMode::Counted).unwrap();
        assert!(left_out[0].reason.contains("phase look ends after a time"), "{left_out:?}");
    }

    /// Tests a sweep over options of a design that one of the swept engines does not use. This engine runs only one
    /// configuration.
    #[test]
    fn another_engine_runs_once_for_what_it_does_not_read() {
        let own = std::env::current_exe().unwrap();
        let rocksdb = format!("{{ kind = \"rocksdb\", library = \"{}\", label = \"other\" }}", own.display());
        let sweep =
            format!("\"engine\" = [\"lsmbench\", {rocksdb}]\n\"design.fence\" = [\"binary\", \"eytzinger\"]");
        let named = expand(&sweep, RunMode::Timed).unwrap_err();
        assert!(named.contains("engine \"other\" is not installed"), "no other engine is left: {named}");
        let (cells, left_out) = expand_as_far(&sweep, RunMode::Timed, true).unwrap();
        let labels: Vec<&str> = cells.iter().map(|cell| cell.label.as_str()).collect();
        assert_eq!(labels, ["lsmbench + binary", "lsmbench + eytzinger"]);
        // The test program is not a library of RocksDB, so both combinations report an error in the wording of the
        // sweep.
        assert_eq!(left_out.len(), 2);
        assert_eq!(left_out[0].label, "engine=other, design.fence=binary");
        assert!(left_out[0].reason.contains("does not export the function"));
        let error = expand("\"engine.librari\" = [\"x\"]", RunMode::Timed).unwrap_err();
        assert!(error.contains("did you mean \"library\"?"), "{error}");
        let (_, left_out) = expand("\"engine\" = \"all\"", RunMode::Counted).unwrap();
        assert!(
            left_out[0].reason.starts_with("engine \"rocksdb\" cannot run in counted mode"),
            "{left_out:?}"
        );
    }
}
