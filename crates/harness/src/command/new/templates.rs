//! The files of a new crate, for every axis. They lie in `templates/` with gaps as `{{name}}`.

/// Names that a crate cannot have: words of Rust, the crates it comes with, and folders and crates that this one would
/// collide with. Blanks separate them.
pub(super) const RESERVED: &str = "abstract alloc as async await become box break build const continue core crate deps do dyn else \
    enum examples extern false final fn for gen if impl in incremental let loop lsmbench macro match \
    mod move mut override priv pub ref return self static std struct super test trait true try type \
    typeof unsafe unsized use virtual where while yield";

/// What differs from axis to axis.
pub(super) struct Template {
    /// The axis: the method of `Workbench`.
    pub(super) axis: &'static str,
    /// `src/lib.rs`.
    library: &'static str,
    /// `tests/conformance.rs`.
    test: &'static str,
    /// The path of the catalog in the crate `lsmbench`.
    catalog: &'static str,
    /// `experiment.toml`.
    experiment: Experiment,
    /// Further files, each with its path inside of the folder.
    data: &'static [(&'static str, &'static str)],
}

/// The experiment of a new crate.
enum Experiment {
    /// One that sweeps the axis.
    Swept {
        /// The path that it sweeps.
        sweep: &'static str,
        /// Built-in variants next to the new one.
        beside: &'static [&'static str],
        /// The column of the chart.
        metric: &'static str,
        /// `timed`, or `counted` where the column is of counters, which do not vary.
        mode: &'static str,
    },
    /// One of its own.
    Own(&'static str),
}

/// The experiment that sweeps an axis.
const SWEPT: &str = include_str!("../../../templates/experiment.toml.in");

/// The test of a component that is no part of a tree.
const BY_ITSELF: &str = include_str!("../../../templates/conformance.rs.in");

/// The test of a component that is part of a tree.
const IN_A_TREE: &str = include_str!("../../../templates/conformance_in_a_tree.rs.in");

/// A template whose library is in the folder of its axis.
macro_rules! template {
    ($axis:literal, $catalog:literal, $test:expr, $sweep:literal, $beside:expr, $metric:literal, $mode:literal) => {
        template!(
            $axis,
            $catalog,
            $test,
            Experiment::Swept { sweep: $sweep, beside: &$beside, metric: $metric, mode: $mode },
            &[]
        )
    };
    ($axis:literal, $catalog:literal) => {
        template!($axis, $catalog, &[])
    };
    ($axis:literal, $catalog:literal, $data:expr) => {
        template!(
            $axis,
            $catalog,
            BY_ITSELF,
            Experiment::Own(include_str!(concat!("../../../templates/", $axis, "/experiment.toml.in"))),
            $data
        )
    };
    ($axis:literal, $catalog:literal, $test:expr, $experiment:expr, $data:expr) => {
        Template {
            axis: $axis,
            library: include_str!(concat!("../../../templates/", $axis, "/lib.rs.in")),
            test: $test,
            catalog: $catalog,
            experiment: $experiment,
            data: $data,
        }
    };
}

/// The file that the experiment of a reader of traces replays.
const ACCESSES: &[(&str, &str)] = &[("accesses.csv", include_str!("../../../templates/trace/accesses.csv"))];

/// A template for every axis, in the order of the methods of `Workbench`.
#[rustfmt::skip]
pub(super) static TEMPLATES: &[Template] = &[
    template!("memtable", "memtable::CATALOG", IN_A_TREE, "design.memtable", ["vector", "skiplist"], "ops_per_second", "timed"),
    template!("bloom", "bloom::CATALOG", IN_A_TREE, "design.bloom", ["standard", "blocked"], "fpr", "counted"),
    template!("allocation", "bloom::ALLOCATIONS", IN_A_TREE, "design.allocation", ["uniform", "monkey"], "fpr", "counted"),
    template!("fence", "fence::CATALOG", IN_A_TREE, "design.fence", ["binary", "eytzinger"], "fence_bytes", "counted"),
    template!("culling", "fence::culling::CATALOG", IN_A_TREE, "design.culling", ["linear", "binary"], "ops_per_second", "timed"),
    template!("compaction", "compaction::CATALOG", IN_A_TREE, "design.compaction", ["leveled", "tiered"], "write_amp", "counted"),
    template!("cache", "cache::CATALOG", IN_A_TREE, "design.cache", ["lru", "clock"], "cache_hit_rate", "counted"),
    template!("compression", "compression::CATALOG", IN_A_TREE, "design.compression", ["none", "lz4"], "space_amp", "counted"),
    template!("format", "tree::block::CATALOG", IN_A_TREE, "design.format", ["delta", "plain"], "space_amp", "counted"),
    template!("storage", "storage::CATALOG", BY_ITSELF, "design.storage", ["pread", "mmap"], "ops_per_second", "timed"),
    template!("wal", "tree::wal::CATALOG", IN_A_TREE, "design.wal", ["buffered", "group"], "ops_per_second", "timed"),
    template!("hash", "tree::hash::CATALOG", IN_A_TREE, "design.hash", ["xxh3", "wyhash"], "fpr", "counted"),
    template!("keys", "workload::KEYS", BY_ITSELF, "phase.mixed.keys", ["uniform", "zipfian"], "cache_hit_rate", "counted"),
    template!("value", "workload::SIZES", BY_ITSELF, "phase.load.value", ["fixed", "uniform"], "write_amp", "counted"),
    template!("range", "workload::LENGTHS", BY_ITSELF, "phase.mixed.range", ["fixed", "uniform"], "cache_hit_rate", "counted"),
    template!("key", "workload::FORMATS"),
    template!("trace", "workload::TRACES", ACCESSES),
    template!("engine", "engines::CATALOG", BY_ITSELF, "engine", ["lsmbench"], "ops_per_second", "timed"),
    template!("subject", "subject::SUBJECTS"),
    template!("chart", "plot::KINDS"),
];

impl Template {
    /// The files of the crate `name`, each with its path inside of the folder. `dependency` is what `Cargo.toml` says of
    /// lsmbench.
    pub(super) fn files(&self, name: &str, dependency: &str) -> Vec<(&'static str, String)> {
        let (krate, catalog) = (name.replace('-', "_"), format!("lsmbench::{}", self.catalog));
        let mut gaps = vec![
            ("name", name.to_owned()),
            ("crate", krate),
            ("axis", self.axis.to_owned()),
            ("dependency", dependency.to_owned()),
            ("catalog", catalog),
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
