//! The entries of the reference for keys of experiment and design files, and the schemas of the tables that serde reads.

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
        "Question that the experiment answers. Reports and captions of charts print it.",
    ),
    KeyEntry::new(
        "extends",
        "path of a design file, relative to this file or to `configs/`",
        "Design file with the base design. Without it, the base is the default design.",
    ),
    KeyEntry::new(
        ENGINE,
        "name of an engine, a table with `kind` and its parameters, or a list of these",
        "Storage engine that runs the workload. A list is swept: its first engine is the baseline.",
    )
    .or("\"lsmbench\""),
    KeyEntry::new(
        "workload",
        "path of a workload file, relative to this file or to `configs/`",
        "File with `key` and `[[phase]]`, instead of those in this file.",
    ),
    KeyEntry::new("key", "see the workload", "Format of the keys.").or("\"u64\""),
    KeyEntry::new("design", "table", "Design options that differ from the base design."),
    KeyEntry::new(
        "phase",
        "list of tables `[[phase]]`",
        "Phases of the workload, in the order in which they run.",
    ),
    KeyEntry::new(
        "subject",
        "name of a subject",
        "Makes it a component experiment: this axis is measured alone, without a tree and without a workload.",
    ),
    KeyEntry::new("component", "table", "Parameters of the subject."),
    KeyEntry::new(
        "set",
        "table of values by path",
        "Values that replace those of the design, the workload and the other tables: `\"phase.load.insert\" = 1000`.",
    ),
    KeyEntry::new(
        "quick",
        "table of values by path",
        "Values as in `set` that apply with `--quick`. Without the table, `--quick` divides counts and times by ten.",
    ),
    KeyEntry::new("sweep", "table of lists by path", "Values that configurations differ in."),
    KeyEntry::new("trials", "table", "Number of trials, their seed and their mode."),
    KeyEntry::new("verdict", "table", "Metric that decides, and the baseline."),
    KeyEntry::new(
        "gate",
        "table",
        "Makes `lsmbench run` exit with 1 if a configuration is worse than the baseline.",
    ),
    KeyEntry::new(
        "tune",
        "table",
        "Objective and limits of `lsmbench tune`, which searches the designs of the sweep. Other commands ignore it.",
    ),
    KeyEntry::new("chart", "list of tables `[[chart]]`", "Charts that are drawn from the results."),
    KeyEntry::new("style", "table", "The look of the charts: file formats, width, font, caption."),
    KeyEntry::new(
        "source",
        "table or list of tables",
        "Figure of a published document that the experiment reproduces. Only `lsmbench report` reads it.",
    ),
    KeyEntry::new(
        "claim",
        "list of tables `[[claim]]`",
        "Rules that compare published numbers with the results. Only `lsmbench report` reads them.",
    ),
];

/// The keys of a design file.
pub(super) const DESIGN_FILE: [KeyEntry; 3] = [
    KeyEntry::new("about", "text", "Description of the design. Only readers of the file use it."),
    KeyEntry::new(
        "extends",
        "path of a design file, relative to this file or to `configs/`",
        "Design file with the base design. Without it, the base is the default design.",
    ),
    KeyEntry::new("design", "table", "Design options that differ from the base design."),
];

/// The keys of the table `[sweep]`.
const SWEEP: [KeyEntry; 3] = [
    KeyEntry::new(
        "combine",
        "`\"cartesian\"`, `\"zip\"`, `\"ablate\"`",
        "How values of several paths combine: each with each, the first of all lists together and so on, or the base and \
         every single change of it.",
    )
    .or("\"cartesian\""),
    KeyEntry::new(
        "memory",
        "`\"equal\"`",
        "Gives all configurations one memory budget, which `design.memory` sets. The block cache gets what the memtables, filters and fences leave.",
    ),
    KeyEntry::new(
        "PATH",
        "list of values; `\"all\"` for an axis",
        "Values of a path such as `\"design.bloom.bits_per_key\"`. `\"all\"` stands for every variant of an axis.",
    ),
];

/// The tables of experiment and design files with keys that are read by hand.
pub static TABLES: &[KeyTable] = &[
    KeyTable { name: "", about: "An experiment file.", keys: &FILE },
    KeyTable { name: "sweep", about: "The values that configurations differ in.", keys: &SWEEP },
    KeyTable { name: "design file", about: "A design file, in `configs/designs/`.", keys: &DESIGN_FILE },
];

/// The schema of the table `[trials]`.
pub fn trials() -> Schema {
    schema::<Trials>()
}

/// The schema of the table `[verdict]`.
pub fn verdict() -> Schema {
    schema::<VerdictSpec>()
}

/// The schema of the table `[gate]`.
pub fn gate() -> Schema {
    schema::<GateRule>()
}

/// The schema of the table `[tune]`.
pub fn tune() -> Schema {
    schema::<TuneSpec>()
}

/// The schema of the table `[style]`.
pub fn style() -> Schema {
    schema::<FigureStyle>()
}

fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>()
}

/// The names of keys, for error texts.
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
