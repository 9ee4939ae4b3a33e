//! Finds settings that have no effect. Examples are keys of a phase that its mix does not use, a swept cache that all
//! reads bypass, settings of a design that need other settings, and settings about time in counted mode.

use engines::{Codec, EngineOptions, Reads};
use results::{ConfigPath, Root, RunMode};
use toml::{Table, Value};
use tree::Mapped;
use types::Outcome;
use workload::{Phase, Rate};

use super::Loader;
use super::idle::{ConditionalSetting, conditional_settings};
use crate::cell::{Cell, is_read};
use crate::engine::engine;
use crate::overrides::{Set, SetBy};
use crate::sweep::{Sweep, SweepError};
use crate::trials::{TIMED_TRIAL_KEYS, Trials};

/// Keys of a phase that have no effect with some operation mixes, each with the reason.
const OF_MIXES: [(&str, &str); 6] = [
    ("absent", "the mix contains no `get`, no `multi_get` and no `range` with a `span`"),
    ("range", "the mix contains no `range`"),
    (
        "batch",
        "the mix contains no `batch` and no `multi_get`; for writes in batches, set mix = { batch = 1 }",
    ),
    ("batch_mix", "the mix contains no `batch`"),
    ("value", "the mix writes no values"),
    ("keys", "all operations of the mix insert new keys"),
];

/// Keys that files often repeat in every phase. If such a key has no effect in a phase, lsmbench prints a warning
/// instead of an error.
const REPEATED: [&str; 2] = ["value", "keys"];

/// The place that sets a key of a phase: the file, an override or the sweep.
#[derive(Clone, Copy)]
enum Source<'a> {
    File,
    Set(&'a Set),
    Sweep(&'a str),
}

impl Loader<'_> {
    /// Finds settings of the experiment that have no effect. Returns a warning for each of them, or an error if the
    /// setting is probably a mistake.
    pub(super) fn unread(&self, sweep: &Sweep, trials: &Trials, cells: &[Cell]) -> Outcome<Vec<String>> {
        let mut sentences = self.unread_keys(sweep, cells)?;
        sentences.extend(Self::idle_cache(sweep, cells));
        let is_counted = trials.mode == RunMode::Counted && self.sets.setter("trials.mode").is_none();
        sentences.extend(Self::idle_settings(sweep, cells, is_counted));
        if is_counted {
            sentences.extend(self.times_of_counters(cells));
        }
        Ok(sentences)
    }

    /// Returns a warning for each setting of a design that has no effect in any configuration, because it needs other
    /// settings.
    fn idle_settings(sweep: &Sweep, cells: &[Cell], is_counted: bool) -> Vec<String> {
        let is_whole =
            |cell: &&Cell| cell.task.workload().is_some() && engine(&cell.engine).reads_whole_design();
        let mut found: Vec<ConditionalSetting> = Vec::new();
        for cell in cells.iter().filter(is_whole) {
            for setting in conditional_settings(&cell.design, is_counted) {
                match found.iter_mut().find(|known| known.path == setting.path) {
                    Some(known) if setting.idle.is_none() => known.idle = None,
                    Some(_) => {}
                    None => found.push(setting),
                }
            }
        }
        let sentence = |ConditionalSetting { path, idle }: &ConditionalSetting| {
            let path = format!("design.{path}");
            let is_swept = sweep.factors.iter().any(|factor| factor.path == path);
            let sweep = if is_swept { "sweep." } else { "" };
            Some(format!("{sweep}{path}: this setting has no effect: {reason}", reason = idle.as_ref()?))
        };
        found.iter().filter_map(sentence).collect()
    }

    /// Returns a warning for each key of a phase that no configuration uses. If such a key is probably a mistake,
    /// returns an error instead.
    fn unread_keys(&self, sweep: &Sweep, cells: &[Cell]) -> Outcome<Vec<String>> {
        let mut sentences: Vec<String> = Vec::new();
        for (phase, path, source) in self.keys_of_phases(sweep) {
            let key = path.last().copied().unwrap_or_default();
            let Some((_, reason)) = OF_MIXES.iter().find(|(known, _)| *known == key) else { continue };
            let path = path.join(".");
            if is_read(cells, phase, &path) {
                continue;
            }
            let message = format!("{key} has no effect: {reason}");
            // A mix from the command line may replace a mix that uses the key, so the key is not a mistake.
            let is_other_mix = self.sets.setter(&format!("phase.{phase}.mix")).is_some();
            if REPEATED.contains(&key) || is_other_mix {
                let sentence = format!("phase.{phase}.{path}: {message}");
                sentences.extend((!sentences.contains(&sentence)).then_some(sentence));
                continue;
            }
            return Err(match source {
                Source::File => {
                    let file = self.workload_file.as_ref().unwrap_or(&self.file);
                    let keys: Vec<&str> = ["phase", phase].into_iter().chain(path.split('.')).collect();
                    file.problem(&keys, message)
                }
                Source::Set(set) => set.problem(&self.file, message),
                Source::Sweep(path) => self.sweep_problem(&SweepError::new(path, message)),
            });
        }
        Ok(sentences)
    }

    /// Returns the keys that the user set for phases and their roles, except keys with the value 0. Each entry contains
    /// the name of the phase, the path of the key, and the place that sets the key.
    fn keys_of_phases<'a>(&'a self, sweep: &'a Sweep) -> Vec<(&'a str, Vec<&'a str>, Source<'a>)> {
        let file = self.workload_file.as_ref().unwrap_or(&self.file);
        let tables = file.table.get("phase").and_then(Value::as_array).into_iter().flatten();
        let mut given = Vec::new();
        for table in tables.filter_map(Value::as_table) {
            let name = name_of(table);
            given.extend(keys_of(table).map(|key| (name, vec![key], Source::File)));
            let roles = table.get("role").and_then(Value::as_array).into_iter().flatten();
            for role in roles.filter_map(Value::as_table) {
                let path = |key| (name, vec!["role", name_of(role), key], Source::File);
                given.extend(keys_of(role).map(path));
            }
        }
        for (path, set) in self.sets.under("phase") {
            if let Some((name, key)) = key_of_phase(&path) {
                given.push((name, key, Source::Set(set)));
            }
        }
        for factor in &sweep.factors {
            let path = ConfigPath::new(&factor.path);
            if let (Root::Phase, Some((name, key))) = (path.root(), key_of_phase(path.below())) {
                given.push((name, key, Source::Sweep(&factor.path)));
            }
        }
        given
    }

    /// Returns a warning if the sweep varies the cache, but no configuration uses its cache.
    fn idle_cache(sweep: &Sweep, cells: &[Cell]) -> Option<String> {
        let is_of_cache = |path: &str| ConfigPath::new(path).axis() == Some("cache");
        let factor = sweep.factors.iter().find(|factor| is_of_cache(&factor.path))?;
        let goes_past = |cell: &Cell| {
            let options = EngineOptions::of(&cell.design);
            let is_in_place = options.reads == Reads::Mapped
                && options.codec == Codec::None
                && cell.design.options.block.mapped == Mapped::InPlace
                && !cell.design.has_paged_fence();
            is_in_place && cell.task.workload().is_some() && engine(&cell.engine).reads_whole_design()
        };
        cells.iter().all(goes_past).then(|| {
            format!(
                "sweep.{}: the cache has no effect, because all configurations read blocks of memory-mapped \
                 SSTables in place; use storage = \"pread\", or block.mapped = \"cached\"",
                factor.path
            )
        })
    }

    /// Returns warnings about settings that affect only times, if the experiment measures only counters.
    fn times_of_counters(&self, cells: &[Cell]) -> Vec<String> {
        let mut sentences = Vec::new();
        let trials = self.file.table.get("trials").and_then(Value::as_table);
        for key in TIMED_TRIAL_KEYS {
            let in_file = trials.is_some_and(|table| table.contains_key(key));
            if in_file || self.sets.setter(&format!("trials.{key}")).is_some_and(|set| set.by != SetBy::Quick)
            {
                sentences.push(format!(
                    "trials.{key}: this key has no effect in counted mode, which measures no time"
                ));
            }
        }
        let phases =
            cells.iter().filter_map(|cell| cell.task.workload()).flat_map(|workload| &workload.phases);
        for Phase { name, rate, settle, .. } in phases {
            let without_wait = "each operation starts directly after the previous operation";
            let without_threads = "flushes and compactions do not run in the background";
            let keys = [("rate", *rate != Rate::Closed, without_wait), ("settle", !settle, without_threads)];
            for (key, is_set, reason) in keys {
                let sentence =
                    format!("phase.{name}.{key}: this key has no effect in counted mode, because {reason}");
                if is_set && !sentences.contains(&sentence) {
                    sentences.push(sentence);
                }
            }
        }
        sentences
    }
}

fn name_of(table: &Table) -> &str {
    table.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the keys of a table. Keys with the value 0 are omitted, because they request nothing.
fn keys_of(table: &Table) -> impl Iterator<Item = &str> {
    table.keys().filter(|key| !is_zero(table, key)).map(String::as_str)
}

/// Splits a path below `phase` into the name of the phase and the path of the key inside of the phase.
fn key_of_phase<'a>(path: &[&'a str]) -> Option<(&'a str, Vec<&'a str>)> {
    match path {
        [name, "role", role, key, ..] => Some((name, vec!["role", role, key])),
        [name, key, ..] => Some((name, vec![key])),
        _ => None,
    }
}

/// Returns whether the value of a key is 0, such as `absent = 0`, so that the key requests nothing.
fn is_zero(table: &Table, key: &str) -> bool {
    match table.get(key) {
        Some(Value::Integer(number)) => *number == 0,
        Some(Value::Float(number)) => number.abs() <= 0.0,
        _ => false,
    }
}
