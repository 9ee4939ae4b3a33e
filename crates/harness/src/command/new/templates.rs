//! The files that `lsmbench new` writes, for every axis. Their templates are in `templates/`, and contain
//! placeholders such as `{{name}}`.

/// Names that a crate cannot have, separated by spaces: keywords of Rust, standard crates, and names that conflict
/// with other folders or crates.
pub(super) const RESERVED: &str = "abstract alloc as async await become box break build const continue core crate deps do dyn else \
    enum examples extern false final fn for gen if impl in incremental let loop lsmbench macro match \
    mod move mut override priv pub ref return self static std struct super test trait true try type \
    typeof unsafe unsized use virtual where while yield";

/// The templates of the files for a component of one axis.
pub(super) struct Template {
    /// The name of the axis, which is also the name of a method of `Workbench`.
    pub(super) axis: &'static str,
    /// The template of the file `src/lib.rs`.
    library: &'static str,
    /// The template of the file `tests/conformance.rs`.
    test: &'static str,
    /// The function that tests variants of the axis, as a path in the crate `lsmbench`. `None` if the axis has no such
    /// function. Its variants are then tested only with `check_variant`, which all axes share.
    check: Option<&'static str>,
    /// The path of the axis's catalog in the crate `lsmbench`.
    catalog: &'static str,
    /// The template of the file `experiment.toml`.
    experiment: Experiment,
    /// Further files of the crate, each as its path and its text. The path is relative to the folder of the crate.
    data: &'static [(&'static str, &'static str)],
}

/// The experiment file of a crate that `lsmbench new` creates.
enum Experiment {
    /// An experiment that compares built-in variants of the axis with the new variant.
    Swept {
        /// The path that the experiment sweeps, such as `design.bloom`.
        sweep: &'static str,
        /// Built-in variants that the experiment compares with the new variant.
        beside: &'static [&'static str],
        /// The column on the vertical axis of the chart.
        metric: &'static str,
        /// The run mode of the experiment: `timed`, or `counted` if the column contains counters.
        mode: &'static str,
    },
    /// A complete experiment, because the general template does not fit the axis.
    Own(&'static str),
}

/// The template of an experiment that compares the variants of an axis.
const SWEPT: &str = include_str!("../../../templates/experiment.toml.in");

/// The template of the test for a component that is tested only without a complete tree.
const BY_ITSELF: &str = include_str!("../../../templates/conformance.rs.in");

/// The template of the test for a component that is tested without a tree, and then in a complete tree.
const IN_A_TREE: &str = include_str!("../../../templates/conformance_in_a_tree.rs.in");

/// Declares the templates of an axis. The macro reads the template of `src/lib.rs` from the folder of the axis.
macro_rules! template {
    ($axis:literal, $catalog:literal, $test:ident($check:literal), $sweep:literal, $beside:expr, $metric:literal, $mode:literal) => {
        template!(
            $axis,
            $catalog,
            $test,
            Some($check),
            Experiment::Swept { sweep: $sweep, beside: &$beside, metric: $metric, mode: $mode },
            &[]
        )
    };
    ($axis:literal, $catalog:literal, $check:expr, $data:expr) => {
        template!(
            $axis,
            $catalog,
            BY_ITSELF,
            $check,
            Experiment::Own(include_str!(concat!("../../../templates/", $axis, "/experiment.toml.in"))),
            $data
        )
    };
    ($axis:literal, $catalog:literal, $test:ident, $check:expr, $experiment:expr, $data:expr) => {
        Template {
            axis: $axis,
            library: include_str!(concat!("../../../templates/", $axis, "/lib.rs.in")),
            test: $test,
            check: $check,
            catalog: $catalog,
            experiment: $experiment,
            data: $data,
        }
    };
}

/// The trace file for the experiment of a new trace format.
const ACCESSES: &[(&str, &str)] = &[("accesses.csv", include_str!("../../../templates/trace/accesses.csv"))];

/// The templates of all axes, in the order of the methods of `Workbench`.
#[rustfmt::skip]
pub(super) static TEMPLATES: &[Template] = &[
    template!("memtable", "memtable::CATALOG", IN_A_TREE("memtable::conformance::check"), "design.memtable", ["vector", "skiplist"], "ops_per_second", "timed"),
    template!("bloom", "bloom::CATALOG", IN_A_TREE("bloom::conformance::check"), "design.bloom", ["standard", "blocked"], "fpr", "counted"),
    template!("allocation", "bloom::ALLOCATIONS", IN_A_TREE("bloom::conformance::check_allocation"), "design.allocation", ["uniform", "monkey"], "fpr", "counted"),
    template!("fence", "fence::CATALOG", IN_A_TREE("fence::conformance::check"), "design.fence", ["binary", "eytzinger"], "fence_bytes", "counted"),
    template!("culling", "fence::culling::CATALOG", IN_A_TREE("fence::culling::conformance::check"), "design.culling", ["linear", "binary"], "ops_per_second", "timed"),
    template!("compaction", "compaction::CATALOG", IN_A_TREE("compaction::conformance::check"), "design.compaction", ["leveled", "tiered"], "write_amp", "counted"),
    template!("cache", "cache::CATALOG", IN_A_TREE("cache::conformance::check"), "design.cache", ["lru", "clock"], "cache_hit_rate", "counted"),
    template!("compression", "compression::CATALOG", IN_A_TREE("compression::conformance::check"), "design.compression", ["none", "lz4"], "space_amp", "counted"),
    template!("format", "tree::block::CATALOG", BY_ITSELF("tree::block::conformance::check"), "design.format", ["delta", "btree-page"], "space_amp", "counted"),
    template!("storage", "storage::CATALOG", BY_ITSELF("storage::conformance::check"), "design.storage", ["pread", "mmap"], "ops_per_second", "timed"),
    template!("wal", "tree::wal::CATALOG", BY_ITSELF("tree::wal::conformance::check"), "design.wal", ["buffered", "group"], "ops_per_second", "timed"),
    template!("hash", "tree::hash::CATALOG", BY_ITSELF("tree::hash::conformance::check"), "design.hash", ["xxh3", "wyhash"], "fpr", "counted"),
    template!("values", "tree::values::CATALOG", BY_ITSELF("tree::values::conformance::check"), "design.values", ["inline", "blob-files"], "write_amp", "counted"),
    template!("arbiter", "tree::arbiter::CATALOG", BY_ITSELF("tree::arbiter::conformance::check"), "design.arbiter", ["static", "marginal"], "total_io_bytes", "counted"),
    template!("sorted_view", "tree::sorted_view::CATALOG", BY_ITSELF("tree::sorted_view::conformance::check"), "design.sorted_view", ["none", "remix"], "comparisons_per_entry", "counted"),
    template!("keys", "workload::KEYS", BY_ITSELF("workload::conformance::check_keys"), "phase.mixed.keys", ["uniform", "zipfian"], "cache_hit_rate", "counted"),
    template!("value", "workload::SIZES", BY_ITSELF("workload::conformance::check_value_size"), "phase.load.value", ["fixed", "uniform"], "write_amp", "counted"),
    template!("range", "workload::LENGTHS", BY_ITSELF("workload::conformance::check_scan_length"), "phase.mixed.range", ["fixed", "uniform"], "cache_hit_rate", "counted"),
    template!("key", "workload::FORMATS", Some("workload::conformance::check_key_format"), &[]),
    template!("trace", "workload::TRACES", None, ACCESSES),
    template!("engine", "engines::CATALOG", BY_ITSELF("engines::conformance::check"), "engine", ["lsmbench"], "ops_per_second", "timed"),
    template!("subject", "subject::SUBJECTS", None, &[]),
    template!("chart", "plot::KINDS", None, &[]),
];

impl Template {
    /// Returns the files of the crate `name`, each as its path in the folder of the crate and its text. `dependency`
    /// is the line of `Cargo.toml` that declares the dependency on lsmbench.
    pub(super) fn files(&self, name: &str, dependency: &str) -> Vec<(&'static str, String)> {
        let (krate, catalog) = (name.replace('-', "_"), format!("lsmbench::{}", self.catalog));
        let check = match self.check {
            Some(check) => format!("lsmbench::{check}(&VARIANT)"),
            None => format!("lsmbench::catalog::laws::check_variant(\"{}\", &VARIANT)", self.axis),
        };
        let mut gaps = vec![
            ("name", name.to_owned()),
            ("crate", krate),
            ("axis", self.axis.to_owned()),
            ("dependency", dependency.to_owned()),
            ("catalog", catalog),
            ("check", check),
        ];
        let experiment = match self.experiment {
            Experiment::Own(experiment) => experiment,
            Experiment::Swept { sweep, beside, metric, mode } => {
                let beside: Vec<String> = beside.iter().map(|kind| format!("\"{kind}\"")).collect();
                let trials = if mode == "timed" { "6" } else { "1" };
                let own = [("sweep", sweep), ("metric", metric), ("mode", mode), ("trials", trials)];
                gaps.extend(own.map(|(gap, value)| (gap, value.to_owned())));
                gaps.push(("beside", beside.join(", ")));
                SWEPT
            }
        };
        let fill = |text: &str, (gap, value): &(&str, String)| text.replace(&format!("{{{{{gap}}}}}"), value);
        let filled = |text: &str| gaps.iter().fold(text.to_owned(), |text, gap| fill(&text, gap));
        let files = [
            ("Cargo.toml", filled(include_str!("../../../templates/Cargo.toml.in"))),
            ("src/lib.rs", filled(self.library)),
            ("src/main.rs", filled(include_str!("../../../templates/main.rs.in"))),
            ("tests/conformance.rs", filled(self.test)),
            ("experiment.toml", filled(experiment)),
        ];
        let data = self.data.iter().map(|(file, text)| (*file, (*text).to_owned()));
        files.into_iter().chain(data).collect()
    }
}
