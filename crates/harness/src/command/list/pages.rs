//! Generates the pages of the reference.

use std::fmt::Write as _;

use catalog::KeyTable;
use plot::ChartSpec;
use report::{COMPUTATIONS, Contradiction, FigureSource, Highlight, Rule};
use results::Manifest;
use tree::{DEPRECATIONS, Options, SECOND_NAMES, family_entries, own_key_entries};

use super::catalogs::{Group, Listed, MIX_NAME, catalogs};
use super::command_line;
use super::markdown::{Entry, Section, capitalised, code, table};
use super::schema::{schema, sections};
use crate::{BAD_ANSWER, BAD_REQUEST, INTERRUPTED};

/// Returns all pages of the reference, each as the name of its file and its text.
pub(super) fn all() -> Vec<(&'static str, String)> {
    let catalogs = catalogs();
    let of = |groups: &[Group]| -> Vec<&Listed> {
        catalogs.iter().filter(|listed| groups.contains(&listed.group)).collect()
    };
    vec![
        ("experiment-file.md", experiment_file()),
        ("design-options.md", design_options(&of(&[Group::Design]))),
        ("variants.md", variants(&of(&[Group::Design, Group::Engine, Group::Component]))),
        ("workloads.md", workloads(&of(&[Group::Workload]))),
        ("charts.md", charts(&of(&[Group::Chart]))),
        ("columns.md", results::reference::markdown()),
        ("manifest.md", manifest()),
        ("cli.md", command_line::page()),
        ("exit-codes.md", exit_codes()),
    ]
}

/// Returns the page about the keys of experiment files and design files. The keys of designs, workloads and charts
/// are on other pages.
fn experiment_file() -> String {
    let mut page = head(
        "The experiment file",
        "An experiment is one TOML file. Unknown keys are errors. A size is written `4096` or `\"4MiB\"`, a count \
         `1_000_000` or `\"1M\"`, and a time with its unit: `\"30s\"`, `\"100ms\"`. Four other pages describe \
         [design options](design-options.md), [variants](variants.md), [workloads](workloads.md) and \
         [charts](charts.md).",
    );
    page.push_str(
        "\n```toml\nquestion = \"Which filter has the fewest false positives?\"\n\n[design]\nmemtable = { capacity \
         = \"256KiB\" }\n\n[[phase]]\nname   = \"load\"\ninsert = 100_000\n\n[[phase]]\nname       = \
         \"lookup\"\noperations = 100_000\nmix        = \"get\"\nabsent     = 0.5\n\n[sweep]\n\"design.bloom\" = \
         [\"none\", \"standard\", \"blocked\"]\n\n[trials]\nmode = \"counted\"\n\n[[chart]]\nkind = \"bar\"\nx    = \
         \"design.bloom\"\ny    = \"fpr\"\n```\n",
    );
    by_hand(&mut page, experiment::reference::TABLES, |name| match name {
        "" => "Keys of the file".to_owned(),
        "design file" => "Keys of a design file".to_owned(),
        name => format!("[{name}]"),
    });
    derived(
        &mut page,
        sections("trials", "Number, seed and mode of trials.", &experiment::reference::trials()),
    );
    derived(
        &mut page,
        sections(
            "verdict",
            "The metric that decides the verdict, and the baseline.",
            &experiment::reference::verdict(),
        ),
    );
    let about =
        "The gate of `lsmbench run`. If a comparison with the baseline does not pass, the exit status is 1.";
    derived(&mut page, sections("gate", about, &experiment::reference::gate()));
    let about = "The objective and the limits of `lsmbench tune`, which searches all designs of the sweep.";
    derived(&mut page, sections("tune", about, &experiment::reference::tune()));
    derived(
        &mut page,
        sections("style", "File formats, size and font of the charts.", &experiment::reference::style()),
    );
    let about = "The figure of a published document that the experiment reproduces. Only `lsmbench report` reads this table.";
    derived(&mut page, sections("source", about, &schema::<FigureSource>()));
    let about = "A rule that compares published values with results or with a computation. Only `lsmbench \
                 report` reads this rule.";
    derived(&mut page, sections("claim", about, &schema::<Rule>()));
    page.push_str(
        "\n## Computations\n\nA claim names one of these computations in its key `computed`. The \
                   second column lists the arguments that the key `with` must set.\n\n",
    );
    let rows = COMPUTATIONS.iter().map(|one| {
        let arguments: Vec<String> = one.arguments.iter().map(|name| code(name)).collect();
        vec![code(&format!("\"{}\"", one.name)), arguments.join(", ")]
    });
    table(&mut page, &["Computation", "Arguments"], rows);
    let about = "A contradiction in a published document. The file `contradictions.toml` next to the \
                 experiments has one table per contradiction.";
    derived(&mut page, sections("contradiction", about, &schema::<Contradiction>()));
    let about = "A question that `lsmbench report` answers on its first page. The file \
                 `experiments/highlights.toml` has one table per question.";
    derived(&mut page, sections("highlight", about, &schema::<Highlight>()));
    page
}

/// Returns the page about the keys of `[design]`.
fn design_options(axes: &[&Listed]) -> String {
    let mut page = head(
        "Design options",
        "A design selects a variant on each axis and sets options. The design is the table `[design]` of an experiment \
         or of a design file. [Variants](variants.md) lists the variants of each axis with their parameters.",
    );
    page.push_str(
        "\n```toml\n[design]\nbloom = \"blocked\"\ncache = { kind = \"lru\", capacity = \"8MiB\" }\nblock = { size = \
         \"16KiB\" }\n```\n\nA string changes the variant and keeps the parameters that both variants have. A table with \
         `kind` selects the variant, and missing parameters take their defaults. A table without `kind` changes only \
         parameters of the variant in the base design.\n",
    );
    let defaults = tree::Design::default();
    let entries = axes.iter().map(|axis| Entry {
        key: axis.name.to_owned(),
        values: format!("name of a variant, or a table with `kind` ([list](variants.md#{}))", axis.name),
        default: format!("\"{}\"", defaults.choice(axis.name).kind()),
        about: format!("{}.", capitalised(&axis.summary)),
    });
    let axes = Section {
        name: "design".to_owned(),
        about: "Each axis takes the name of a variant, or a table with `kind` and parameters.".to_owned(),
        entries: entries.collect(),
    };
    axes.write(&mut page, 2, "Axes");
    let memtable = Section {
        name: "design.memtable".to_owned(),
        about: "Keys of the axis itself. These keys keep their values when the variant changes.".to_owned(),
        entries: own_key_entries().map(Entry::from).collect(),
    };
    memtable.write(&mut page, 2, &code("design.memtable"));
    let options = sections("design", "Options that are independent of all axes.", &schema::<Options>());
    for (number, section) in options.iter().enumerate() {
        let title = if number == 0 { "Options".to_owned() } else { code(&section.name) };
        section.write(&mut page, 2, &title);
    }
    let families = Section {
        name: "design.families".to_owned(),
        about: "Column families, which share one WAL, one cache and one memory budget. `memtable.capacity` of the design \
                is the budget of all memtables together. A store without families consists of one tree."
            .to_owned(),
        entries: family_entries().map(Entry::from).collect(),
    };
    families.write(&mut page, 2, &code("design.families"));
    page.push_str("\n## Other names\n\nThese axes and keys have two names, and both names are valid.\n\n");
    let second = SECOND_NAMES.iter().map(|(group, key)| {
        vec![
            code(&format!("design.{group}.{key}")),
            code(&format!("design.{key}")),
            "both are valid".to_owned(),
        ]
    });
    let deprecated = DEPRECATIONS.iter().map(|name| {
        let path = |key| code(&format!("design.{}.{key}", name.table));
        vec![path(name.old), path(name.new), "deprecated".to_owned()]
    });
    table(&mut page, &["Name", "Stands for", "State"], second.chain(deprecated));
    page
}

/// Returns a page with the variants of catalogs and their parameters.
pub(super) fn variants(catalogs: &[&Listed]) -> String {
    let mut page = head(
        "Variants",
        "This page lists the variants of each axis with their parameters. The first variant of an axis is its baseline. \
         `lsmbench list NAME` prints the variants of one axis.",
    );
    page.push_str(
        "\n```toml\n[design]\nbloom = { kind = \"blocked\", bits_per_key = 12 }\n\n[sweep]\n\"design.cache\" = [\"lru\", \
         \"sieve\"]\n```\n",
    );
    catalogs.iter().for_each(|listed| of_catalog(&mut page, listed));
    page
}

/// Writes the section about a catalog: a table of its variants, and a table of the parameters of all variants.
fn of_catalog(page: &mut String, listed: &Listed) {
    let _ = writeln!(page, "\n## {}\n\n{}.\n", listed.name, capitalised(&listed.summary));
    let rows = listed
        .variants
        .iter()
        .map(|variant| vec![code(variant.kind), format!("{}{}", variant.summary, variant.remarks())]);
    table(page, &["Variant", "Summary"], rows);
    let mut rows = Vec::new();
    for variant in &listed.variants {
        for entry in listed.parameters(variant) {
            rows.push([vec![code(variant.kind)], entry.cells()].concat());
        }
    }
    if !rows.is_empty() {
        page.push('\n');
        table(page, &["Variant", "Parameter", "Values", "Default", "Meaning"], rows.into_iter());
    }
}

/// Returns the reference page of workloads: the TOML keys, and the variants that each key accepts.
fn workloads(catalogs: &[&Listed]) -> String {
    let mut page = head(
        "Workloads",
        "A workload is a key format and a list of phases. The workload is a part of an experiment file, or a separate \
         file that the key `workload` names.",
    );
    page.push_str(
        "\n```toml\nkey = { format = \"u64\", bytes = 16 }\n\n[[phase]]\nname   = \"load\"\ninsert = \
         1_000_000\n\n[[phase]]\nname    = \"mixed\"\nseconds = \"30s\"\nmix     = { get = 0.95, put = 0.05 }\nkeys    = { \
         kind = \"zipfian\", theta = 0.99 }\nthreads = 2\nrate    = 50_000\n```\n",
    );
    by_hand(&mut page, workload::reference::TABLES, |name| match name {
        "" => "Keys of a workload".to_owned(),
        name => code(name),
    });
    // The table `phase.mix` above has the kinds of operation.
    for listed in catalogs.iter().filter(|listed| listed.name != MIX_NAME) {
        of_catalog(&mut page, listed);
    }
    page
}

/// Returns the page about the keys and kinds of charts.
fn charts(catalogs: &[&Listed]) -> String {
    let mut page = head(
        "Charts",
        "Each `[[chart]]` of an experiment draws columns of the results. [Columns](columns.md) lists the valid names \
         for `x`, `y`, `series` and `filter`. A swept path such as `design.bloom` is a column too. A chart of a time or a \
         rate has a second chart `<name>-ratio` with the ratios to the baseline, if the run has 6 or more trials.",
    );
    page.push_str(
        "\n```toml\n[[chart]]\nkind   = \"line\"\nx      = \"design.bloom.bits_per_key\"\ny      = \"fpr\"\nseries = \
         \"design.bloom\"\nfilter = { phase = \"lookup\" }\nlog_y  = true\n```\n",
    );
    derived(&mut page, sections("chart", "A chart.", &schema::<ChartSpec>()));
    catalogs.iter().for_each(|listed| of_catalog(&mut page, listed));
    page
}

/// Returns the page about the fields of `manifest.json`.
fn manifest() -> String {
    let mut page = head(
        "The manifest",
        "`manifest.json` in a folder of results describes the run: the resolved experiment, the program and the machine. A \
         value that is unknown is `null`.",
    );
    page.push_str(
        "\n```sh\njq -r .resolved results/quickstart/manifest.json > again.toml   # the experiment with every default\n```\n",
    );
    let mut found = sections("", "The fields of `manifest.json`.", &schema::<Manifest>());
    found[0].entries.push(Entry {
        key: "checksum".to_owned(),
        values: "text".to_owned(),
        default: String::new(),
        about:
            "XXH3-64 of the file up to this field, in hexadecimal. Manifests of earlier versions have no checksum."
                .to_owned(),
    });
    for (number, section) in found.iter().enumerate() {
        let title = if number == 0 { "manifest.json".to_owned() } else { code(&section.name) };
        write_fields(&mut page, section, &title);
    }
    page
}

/// Writes the section of the reference about a file that lsmbench writes, such as the manifest. The keys of such a file
/// have no defaults.
fn write_fields(page: &mut String, section: &Section, title: &str) {
    let _ = writeln!(page, "\n## {title}\n\n{}\n", section.about);
    let cells = |entry: &Entry| vec![code(&entry.key), entry.values.clone(), entry.about.clone()];
    table(page, &["Field", "Values", "Meaning"], section.entries.iter().map(cells));
}

/// Returns the page about the exit codes of all commands.
fn exit_codes() -> String {
    let mut page = head(
        "Exit codes",
        "Every command of `lsmbench` ends with one of four exit codes. Errors go to standard error.",
    );
    page.push_str("\n```sh\nlsmbench compare results/old results/new || echo \"exit code $?\"\n```\n\n");
    let rows = [
        (0, "Success", "The command succeeded, and all checks of the command passed."),
        (
            BAD_ANSWER,
            "Bad answer",
            "`run`: a trial gave wrong answers, or a configuration did not pass `[gate]`. `compare`, `check`: a \
             metric did not pass. `verify`: a file has corruption. \
             `report --check`, `engines --check`: a page differs from the results. `torture`: a design broke an \
             invariant.",
        ),
        (
            BAD_REQUEST,
            "Invalid request",
            "The command line or a file is invalid, or the command failed. The error message names the \
             reason and the next step.",
        ),
        (
            INTERRUPTED,
            "Interrupted",
            "The user pressed Ctrl-C. `run` keeps the trials that ended, and `run --resume` continues from them.",
        ),
    ];
    let rows =
        rows.map(|(exit, name, meaning)| vec![code(&exit.to_string()), name.to_owned(), meaning.to_owned()]);
    table(&mut page, &["Code", "Name", "Meaning"], rows.into_iter());
    page
}

/// Returns the beginning of a page: its title and its first paragraph.
fn head(title: &str, about: &str) -> String {
    format!("# {title}\n\n{about} `just docs` generates this page.\n")
}

/// Writes sections of the reference about TOML tables whose keys are described by hand, because no Rust type describes
/// them.
fn by_hand(page: &mut String, tables: &[KeyTable], title: impl Fn(&str) -> String) {
    for table in tables {
        Section::from(table).write(page, 2, &title(table.name));
    }
}

/// Writes sections of the reference that were generated from a Rust type.
fn derived(page: &mut String, sections: Vec<Section>) {
    for section in sections {
        section.write(page, 2, &code(&section.name));
    }
}
