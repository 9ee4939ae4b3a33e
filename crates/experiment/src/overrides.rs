//! The overrides of an experiment. Overrides come from the command line, and from the tables `[set]` and `[quick]`.

use std::path::PathBuf;

use catalog::suggestion;
use toml::{Table, Value};
use tree::Design;
use types::{Outcome, Problem};

use super::engine::ENGINE;
use super::file::SourceFile;
use super::paths;
use super::trials::Trials;
use super::verdict_spec::VerdictSpec;
use super::wording;

/// The valid first parts of the path of an override, such as `design` or `phase`.
const ROOTS: [&str; 9] =
    [ENGINE, "design", "key", "phase", "component", "trials", "sweep", "verdict", "gate"];

/// The changes to an experiment file that the command line requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The values of all options `--set`, such as `design.bloom.bits_per_key=12`.
    pub set: Vec<String>,
    /// The number of trials (`--trials`), which replaces the number in the file; `None` without the option.
    pub trials: Option<u64>,
    /// The seed (`--seed`), which replaces the seed in the file; `None` without the option.
    pub seed: Option<u64>,
    /// Whether the run uses reduced sizes (`--quick`). The `[quick]` table of the experiment sets these sizes. Without
    /// this table, counts and times are divided by ten.
    pub quick: bool,
    /// A design file that replaces the design file of the experiment; `None` without such a file.
    pub design: Option<PathBuf>,
}

/// An override: a path in an experiment file, and the value that replaces the value at this path.
#[derive(Clone, Debug)]
pub(super) struct Set {
    /// The path of the replaced value, as the user wrote it.
    pub(super) path: String,
    /// The value that replaces the value in the file.
    pub(super) value: Value,
    /// The place that sets the value: a table of the file, or the command line.
    pub(super) by: SetBy,
}

/// The place that sets an override. lsmbench applies overrides in the order of these variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetBy {
    /// The table `[set]` of the experiment file.
    File,
    /// The table `[quick]` of the experiment file.
    Quick,
    /// The option `--set` on the command line.
    CommandLine,
}

/// All overrides of an experiment file, in order. A later override replaces an earlier override of the same value.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets(Vec<Set>);

impl Sets {
    /// Collects the overrides from the tables `[set]` and `[quick]` of the file, and from the command line.
    pub(super) fn collect(file: &SourceFile, overrides: &Overrides) -> Outcome<Self> {
        let mut sets = Self::default();
        sets.add_table(file, "set", SetBy::File)?;
        if overrides.quick {
            sets.add_table(file, "quick", SetBy::Quick)?;
        }
        for text in &overrides.set {
            let (path, value) = split_set(text, "trials.count=5")?;
            sets.0.push(Set { path, value, by: SetBy::CommandLine });
        }
        for set in &sets.0 {
            let root = paths::split(&set.path)[0];
            if set.path == root && ROOTS.contains(&root) && root != ENGINE {
                let message = format!(
                    "\"{root}\" is a table; set a value in it, such as {example}; `lsmbench describe` prints all values",
                    example = example(root)
                );
                return Err(set.problem(file, message));
            }
            if !ROOTS.contains(&root) {
                let hint = inner_path(&set.path).unwrap_or_else(|| suggestion(root, ROOTS.into_iter()));
                let message = format!("unknown path \"{}\"; {hint}{}", set.path, wording::valid(ROOTS));
                return Err(set.problem(file, message));
            }
        }
        Ok(sets)
    }

    fn add_table(&mut self, file: &SourceFile, name: &str, by: SetBy) -> Outcome<()> {
        match file.table.get(name) {
            None => Ok(()),
            Some(Value::Table(entries)) => {
                let set =
                    |(path, value): (&String, &Value)| Set { path: path.clone(), value: value.clone(), by };
                self.0.extend(entries.iter().map(set));
                Ok(())
            }
            Some(_) => Err(file.problem(
                &[name],
                "expected a table of paths and values, such as \"phase.load.insert\" = 1000",
            )),
        }
    }

    /// Returns the overrides whose path begins with `root`, in order. Each override comes with the rest of its path,
    /// after `root`.
    pub(super) fn under<'a>(
        &'a self,
        root: &'a str,
    ) -> impl Iterator<Item = (Vec<&'a str>, &'a Set)> + Clone {
        self.0.iter().filter_map(move |set| match paths::split(&set.path).split_first() {
            Some((first, rest)) if *first == root => Some((rest.to_vec(), set)),
            _ => None,
        })
    }

    /// Returns the last override that determines the value at `path`: the override sets this value, or a table that
    /// contains it.
    pub(super) fn setter(&self, path: &str) -> Option<&Set> {
        self.0.iter().rev().find(|set| {
            path.strip_prefix(&set.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// Returns the last override with exactly the path `path`. Overrides of a table that contains this path do not
    /// count.
    pub(super) fn exactly(&self, path: &str) -> Option<&Set> {
        self.0.iter().rev().find(|set| set.path == path)
    }

    /// Changes `table` by the overrides from the place `by`, such as the command line. Only overrides whose paths begin
    /// with one of `roots` apply.
    pub(super) fn apply(
        &self,
        file: &SourceFile,
        table: &mut Table,
        roots: &[&str],
        by: SetBy,
    ) -> Outcome<()> {
        // A variant is set before its parameters, even if the overrides have another order.
        let mut sets: Vec<(Vec<&str>, &Set)> =
            self.0.iter().filter(|set| set.by == by).map(|set| (paths::split(&set.path), set)).collect();
        sets.sort_by_key(|(path, _)| path.len());
        for (path, set) in sets.iter().filter(|(path, _)| roots.contains(&path[0])) {
            paths::set(table, path, set.value.clone()).map_err(|message| set.problem(file, message))?;
        }
        Ok(())
    }
}

impl Set {
    /// Creates an error about the value of this override, with the table or the option that sets it.
    pub(super) fn problem(&self, file: &SourceFile, message: impl Into<String>) -> Problem {
        let table = match self.by {
            SetBy::File => "set",
            SetBy::Quick => "quick",
            SetBy::CommandLine => {
                return Problem::new(format!("--set {}", wording::keyed(&self.path, &message.into())));
            }
        };
        file.problem(&[table, &self.path], message)
    }
}

/// Returns an example of an override whose path begins with `root`, which error messages show.
fn example(root: &str) -> &'static str {
    match root {
        "design" => "design.bloom=blocked",
        "key" => "key.bytes=16",
        "phase" => "phase.load.insert=10k",
        "component" => "component.entries=10k",
        "sweep" => "sweep.design.bloom='[\"none\", \"blocked\"]'",
        "verdict" => "verdict.metric=p99_ns",
        "gate" => "gate.tolerance=5%",
        _ => "trials.count=5",
    }
}

/// Returns a hint for an error message if the user has omitted the first part of a path, such as `did you mean
/// "trials.mode"? ` for `mode`. Returns `None` if no complete path is known.
fn inner_path(path: &str) -> Option<String> {
    let first = paths::split(path)[0];
    let design = Design::default().to_toml();
    let of_design = design.keys().map(String::as_str).chain(["memory", "merge_operator", "families"]);
    let inner = Trials::KEYS.iter().map(|key| ("trials", *key));
    let inner = inner.chain(VerdictSpec::KEYS.iter().map(|key| ("verdict", *key)));
    let (root, _) = inner.chain(of_design.map(|key| ("design", key))).find(|(_, key)| *key == first)?;
    Some(format!("did you mean \"{root}.{path}\"? "))
}

/// Splits a text of the form `path=value`. The parts of the path may be quoted as in TOML. `example` is a valid text,
/// for the error message.
pub(super) fn split_set(text: &str, example: &str) -> Outcome<(String, Value)> {
    match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => {
            let value = paths::read_value(value.trim());
            let value = value.map_err(|message| Problem::new(format!("--set {}: {message}", path.trim())))?;
            Ok((paths::unquoted(path.trim()), value))
        }
        _ => Err(Problem::new(format!("--set {text}: expected path=value, such as --set {example}"))),
    }
}
