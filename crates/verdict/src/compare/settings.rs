//! The settings in which the experiments of the base results and of the new results differ. Different settings of the
//! workload or the conditions change the question of the experiment. Different settings of the design or the engine do
//! not, because the comparison measures their effect.

use std::path::Path;

use results::{Manifest, RunMode};
use toml::{Table, Value};

/// The keys of `[trials]` that affect measured values.
const OF_TRIALS: [&str; 5] =
    ["trials.seed", "trials.sampling", "trials.fixture", "trials.memory_limit", "trials.warm_memory"];

/// The top-level tables of an experiment that define the work of a store or a component.
const OF_TASK: [&str; 4] = ["key", "phase", "subject", "component"];

/// The top-level tables of an experiment whose settings may differ between the compared results.
const COMPARED: [&str; 3] = ["design", "engine", "sweep"];

/// A setting that differs between the base results and the new results, with its path and both values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DifferentSetting {
    pub(super) path: String,
    values: [String; 2],
}

/// The settings that differ between the experiments of the base results and of the new results.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DifferentSettings {
    /// Different settings of the workload, the component, and the conditions of a trial. These settings change the
    /// question that the experiment answers.
    pub(super) of_question: Vec<DifferentSetting>,
    /// Different settings of the design, the engine and the sweep.
    pub(super) of_design: Vec<DifferentSetting>,
}

impl DifferentSettings {
    /// Returns the settings in which two runs of one experiment differ.
    ///
    /// * A key that only one version of lsmbench knows is not a difference, if the runs come from different versions.
    /// * The seed of a timed run is not a difference.
    /// * Golden files contain no settings, so the result is empty for them.
    pub(super) fn between(base: &Manifest, new: &Manifest) -> Self {
        let parsed = [base, new].map(|side| side.resolved.parse::<Table>());
        let [Ok(one), Ok(other)] = parsed else { return Self::default() };
        if one.is_empty() || other.is_empty() {
            return Self::default();
        }
        let mut all = Vec::new();
        collect("", Some(&Value::Table(one)), Some(&Value::Table(other)), &mut all);
        let is_one_version =
            base.build.version == new.build.version && base.build.git_commit == new.build.git_commit;
        let is_counted = new.mode == RunMode::Counted.name();
        all.retain(|setting| {
            let is_in_both = setting.values.iter().all(|value| value != ABSENT);
            (is_one_version || is_in_both) && (is_counted || setting.path != "trials.seed")
        });
        let is_under = |setting: &DifferentSetting, roots: &[&str]| {
            let below = |root: &&str| {
                setting.path.strip_prefix(*root).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            roots.iter().any(below)
        };
        let of = |roots: &[&str]| {
            all.iter().filter(|setting| is_under(setting, roots)).cloned().collect::<Vec<_>>()
        };
        Self { of_question: of(&[&OF_TASK[..], &OF_TRIALS].concat()), of_design: of(&COMPARED) }
    }
}

impl DifferentSetting {
    /// Formats the setting with both values: `phase.load.insert (3000, 6000)`.
    pub(super) fn shown(&self) -> String {
        format!("{} ({}, {})", self.path, self.values[0], self.values[1])
    }
}

/// The text for the value of a key that one of the two experiments does not have.
const ABSENT: &str = "not set";

/// Collects the paths below `path` at which two TOML values differ. The path of a table in a list contains the name of
/// the table, such as `phase.load`.
fn collect(path: &str, a: Option<&Value>, b: Option<&Value>, found: &mut Vec<DifferentSetting>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Some(Value::Table(a)), Some(Value::Table(b))) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                collect(&below(key), a.get(key), b.get(key), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b)))
            if a.len() == b.len() && a.iter().all(Value::is_table) =>
        {
            for (number, (a, b)) in a.iter().zip(b).enumerate() {
                let name = a.get("name").and_then(Value::as_str);
                collect(
                    &below(&name.map_or_else(|| number.to_string(), str::to_owned)),
                    Some(a),
                    Some(b),
                    found,
                );
            }
        }
        _ if is_same(a, b) => {}
        _ => {
            let shown = |value: Option<&Value>| value.map_or_else(|| ABSENT.to_owned(), ToString::to_string);
            found.push(DifferentSetting { path: path.to_owned(), values: [shown(a), shown(b)] });
        }
    }
}

/// Returns whether two TOML values are equal. Two paths of files are equal if their file names are equal.
fn is_same(a: Option<&Value>, b: Option<&Value>) -> bool {
    let file = |value: Option<&Value>| {
        let path = Path::new(value?.as_str()?);
        path.is_absolute().then(|| path.file_name().map(ToOwned::to_owned))?
    };
    a == b || file(a).zip(file(b)).is_some_and(|(one, other)| one == other)
}

#[cfg(test)]
mod tests {
    use results::BuildInfo;

    use super::*;

    fn manifest(resolved: &str, mode: &str, version: &str) -> Manifest {
        Manifest {
            resolved: resolved.to_owned(),
            mode: mode.to_owned(),
            build: BuildInfo { version: version.to_owned(), ..BuildInfo::default() },
            ..Manifest::default()
        }
    }

    const BASE: &str = "question = \"?\"\n[design]\nbloom = \"none\"\n[[phase]]\nname = \"load\"\ninsert = 10\n\
                        replay = { file = \"/a/trace.csv\" }\n[trials]\nseed = 1\ncount = 3\n";

    #[test]
    fn other_sizes_are_another_question_and_other_designs_are_not() {
        let between = |changes: &[(&str, &str)], mode: &str, version: &str| {
            let new = changes.iter().fold(BASE.to_owned(), |text, (from, to)| text.replace(from, to));
            let found =
                DifferentSettings::between(&manifest(BASE, mode, "1"), &manifest(&new, mode, version));
            let shown = |of: &[DifferentSetting]| of.iter().map(DifferentSetting::shown).collect::<Vec<_>>();
            (shown(&found.of_question), shown(&found.of_design))
        };
        let none: Vec<String> = Vec::new();
        assert_eq!(
            between(&[("count = 3", "count = 9"), ("\"?\"", "\"!\"")], "timed", "1"),
            (none.clone(), none.clone())
        );
        assert_eq!(
            between(&[("insert = 10", "insert = 20")], "timed", "1").0,
            ["phase.load.insert (10, 20)"]
        );
        assert_eq!(
            between(&[("\"none\"", "\"standard\"")], "timed", "1").1,
            ["design.bloom (\"none\", \"standard\")"]
        );
        assert_eq!(between(&[("/a/", "/b/")], "timed", "1").0, none);
        assert_eq!(between(&[("/a/trace", "/b/other")], "timed", "1").0.len(), 1);
        // Another seed is another stream of operations: chance to times, and all to counters.
        assert_eq!(between(&[("seed = 1", "seed = 2")], "timed", "1").0, none);
        assert_eq!(between(&[("seed = 1", "seed = 2")], "counted", "1").0, ["trials.seed (1, 2)"]);
        // A later version may write down a default that an earlier one did not have.
        let newer = [("insert = 10", "insert = 10\nthreads = 1")];
        assert_eq!(between(&newer, "timed", "2").0, none);
        assert_eq!(between(&newer, "timed", "1").0, ["phase.load.threads (not set, 1)"]);
        let golden = manifest("", "counted", "");
        assert_eq!(
            DifferentSettings::between(&golden, &manifest(BASE, "counted", "1")),
            DifferentSettings::default()
        );
    }
}
