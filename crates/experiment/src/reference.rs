//! The reference entries for the keys of experiment files and design files, and the schemas of the tables that serde
//! parses.

use catalog::{KeyEntry, KeyTable};
use plot::FigureStyle;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use verdict::GateRule;

use super::engine::ENGINE;
use super::trials::Trials;
use super::tune_spec::TuneSpec;
use super::verdict_spec::VerdictSpec;

/// The keys of an experiment file.
pub(super) const FILE: [KeyEntry; 20] = [
    KeyEntry::new(
        "question",
        "text",
        "Question that the experiment answers. Reports and captions of charts show the question.",
    ),
    KeyEntry::new(
        "extends",
        "path of a design file, relative to this file or to `configs/`",
        "Design file with the base design. Without `extends`, the base is the default design.",
    ),
    KeyEntry::new(
        ENGINE,
        "name of an engine, a table with `kind` and its parameters, or a list of these",
        "Storage engine that runs the workload. A list sweeps several engines, and its first engine is the \
         baseline.",
    )
    .or("\"lsmbench\""),
    KeyEntry::new(
        "workload",
        "path of a workload file, relative to this file or to `configs/`",
        "File with the keys `key` and `[[phase]]`. The file replaces these keys of the experiment file.",
    ),
    KeyEntry::new("key", "as in a workload file", "Format of the keys.").or("\"u64\""),
    KeyEntry::new("design", "table", "Design options that differ from the base design."),
    KeyEntry::new(
        "phase",
        "list of tables `[[phase]]`",
        "Phases of the workload, in the order in which they run.",
    ),
    KeyEntry::new(
        "subject",
        "name of a subject",
        "Axis that a component experiment measures. A component experiment has no tree and no workload.",
    ),
    KeyEntry::new("component", "table", "Parameters of the subject."),
    KeyEntry::new(
        "set",
        "table of values by path",
        "Values that replace values of the design, the workload and other tables, such as \
         `\"phase.load.insert\" = 1000`.",
    ),
    KeyEntry::new(
        "quick",
        "table of values by path",
        "Values as in `set`, which apply only with `--quick`. Without this table, `--quick` divides counts \
         and times by ten.",
    ),
    KeyEntry::new(
        "sweep",
        "table of lists by path",
        "Settings to vary, each with a list of values. `combine` sets which combinations of values become \
         configurations.",
    ),
    KeyEntry::new("trials", "table", "Number of trials, their seed and their mode."),
    KeyEntry::new("verdict", "table", "Metric that decides the verdict, and the baseline of comparisons."),
    KeyEntry::new(
        "gate",
        "table",
        "Rule for comparisons with the baseline. If a comparison does not pass, `lsmbench run` exits with status 1.",
    ),
    KeyEntry::new(
        "tune",
        "table",
        "Objective and limits of `lsmbench tune`, which searches the designs of the sweep. Other commands ignore it.",
    ),
    KeyEntry::new("chart", "list of tables `[[chart]]`", "Charts that are drawn from the results."),
    KeyEntry::new("style", "table", "File formats, width, font and caption of the charts."),
    KeyEntry::new(
        "source",
        "table or list of tables",
        "Figure of a published document that the experiment reproduces. Only `lsmbench report` reads this \
         table.",
    ),
    KeyEntry::new(
        "claim",
        "list of tables `[[claim]]`",
        "Rules that compare published values with the results. Only `lsmbench report` reads these rules.",
    ),
];

/// The keys of a design file.
pub(super) const DESIGN_FILE: [KeyEntry; 3] = [
    KeyEntry::new(
        "about",
        "text",
        "Description of the design for readers of the file. The program ignores this text.",
    ),
    KeyEntry::new(
        "extends",
        "path of a design file, relative to this file or to `configs/`",
        "Design file with the base design. Without `extends`, the base is the default design.",
    ),
    KeyEntry::new("design", "table", "Design options that differ from the base design."),
];

/// The keys of the table `[sweep]`.
const SWEEP: [KeyEntry; 4] = [
    KeyEntry::new(
        "combine",
        "`\"cartesian\"`, `\"zip\"`, `\"ablate\"`",
        "Rule that combines the values of several paths. `\"cartesian\"` combines each value with each \
         value of the other paths. `\"zip\"` combines the first values of all lists, then the second values, and \
         so on. `\"ablate\"` changes one value of the base design at a time.",
    )
    .or("\"cartesian\""),
    KeyEntry::new(
        "labels",
        "list of texts",
        "Labels of the configurations of a zip, in the order of the values. By default, a label consists of the \
         swept values, such as `leveled(size_ratio=10)`.",
    ),
    KeyEntry::new(
        "memory",
        "`\"equal\"`",
        "Memory budget of the configurations. With `\"equal\"`, all configurations have the budget that \
         `design.memory` sets. The block cache gets the memory that memtables, filters and fence pointers \
         leave.",
    ),
    KeyEntry::new(
        "PATH",
        "list of values; `\"all\"` for an axis",
        "Values of a path such as `\"design.bloom.bits_per_key\"`. `\"all\"` stands for every variant of an axis.",
    ),
];

/// The tables of experiment files and design files that serde does not parse. Each table has one reference entry per
/// key.
pub static TABLES: &[KeyTable] = &[
    KeyTable { name: "", about: "An experiment file.", keys: &FILE },
    KeyTable {
        name: "sweep",
        about: "The settings to vary, each with a list of values. `combine` sets which combinations of \
                values become configurations.",
        keys: &SWEEP,
    },
    KeyTable { name: "design file", about: "A design file, in `configs/designs/`.", keys: &DESIGN_FILE },
];

/// Returns the schema of the table `[trials]`.
pub fn trials() -> Schema {
    schema::<Trials>()
}

/// Returns the schema of the table `[verdict]`.
pub fn verdict() -> Schema {
    schema::<VerdictSpec>()
}

/// Returns the schema of the table `[gate]`.
pub fn gate() -> Schema {
    schema::<GateRule>()
}

/// Returns the schema of the table `[tune]`.
pub fn tune() -> Schema {
    schema::<TuneSpec>()
}

/// Returns the schema of the table `[style]`.
pub fn style() -> Schema {
    schema::<FigureStyle>()
}

fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>()
}

/// Returns the names of the keys in `entries`, for lists of valid keys in error messages.
pub(super) fn names<const N: usize>(entries: &[KeyEntry; N]) -> [&'static str; N] {
    entries.map(|entry| entry.key)
}

#[cfg(test)]
mod tests {
    use super::super::presentation::CHART_KEYS;
    use super::*;

    fn properties(schema: &Schema) -> Vec<&str> {
        let properties = schema.get("properties").and_then(|value| value.as_object());
        properties.unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn the_keys_that_are_accepted_are_those_that_serde_reads() {
        assert_eq!(properties(&trials()), Trials::KEYS);
        assert_eq!(properties(&verdict()), VerdictSpec::KEYS);
        assert_eq!(properties(&gate()), GateRule::KEYS);
        assert_eq!(properties(&tune()), TuneSpec::KEYS);
        assert_eq!(properties(&style()), FigureStyle::KEYS);
        assert_eq!(properties(&schema::<plot::ChartSpec>()), CHART_KEYS);
        assert_eq!(properties(&schema::<report::Rule>()), report::Rule::KEYS);
        assert_eq!(properties(&schema::<report::FigureSource>()), report::FigureSource::KEYS);
    }
}
