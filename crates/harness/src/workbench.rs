//! The program `lsmbench` with components of other crates. The program registers these components before it executes
//! its command.

use std::process::ExitCode;

use catalog::{AdditionError, Axis, Catalog, Variant};

use crate::output;

/// The program `lsmbench`, extended with components of other crates.
///
/// A crate with a component depends on `lsmbench`. Its `main` function calls a function such as this one:
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use lsmbench::bloom::FilterPolicy;
/// use lsmbench::catalog::Variant;
///
/// fn run(my_filter: &'static Variant<dyn FilterPolicy>) -> ExitCode {
///     lsmbench::Workbench::new().bloom(my_filter).main()
/// }
/// ```
///
/// You can use an added variant like a built-in variant: in experiments and sweeps, in `list` and `describe`, in
/// suggestions of error messages, and in charts. Manifests contain the crate and the version of each component of a
/// design. Trials run in processes of the same program, so the variant is also available there.
#[derive(Debug, Default)]
#[must_use = "a `Workbench` executes the command line only if its method `main` is called"]
pub struct Workbench {
    /// The reasons why variants of other crates could not be added to their catalogs.
    rejected: Vec<AdditionError>,
}

/// Declares the list of axes, and for each axis a method that adds a variant to the catalog of the axis.
macro_rules! axes {
    ($($(#[$doc:meta])+ $name:ident: $component:ty => $catalog:path;)+) => {
        /// The axes to which other crates can add variants, each as its name and its catalog. The name is also the
        /// method of [`Workbench`] that adds a variant.
        pub(crate) static AXES: &[(&str, &dyn Axis)] = &[$((stringify!($name), &$catalog)),+];

        impl Workbench {
            $($(#[$doc])+
            pub fn $name(self, variant: &'static Variant<$component>) -> Self {
                self.with(&$catalog, variant)
            })+
        }
    };
}

axes! {
    /// Adds a memtable.
    memtable: dyn memtable::MemtablePolicy => memtable::CATALOG;
    /// Adds a filter.
    bloom: dyn bloom::FilterPolicy => bloom::CATALOG;
    /// Adds a rule that divides the memory of filters between levels.
    allocation: dyn bloom::Allocation => bloom::ALLOCATIONS;
    /// Adds a variant of fence pointers, which map a key to the block of the key.
    fence: dyn fence::FencePolicy => fence::CATALOG;
    /// Adds a culling method, which finds the SSTables of a sorted run that can contain a key.
    culling: dyn fence::culling::Culling => fence::culling::CATALOG;
    /// Adds a compaction policy.
    compaction: dyn compaction::CompactionPolicy => compaction::CATALOG;
    /// Adds a block cache.
    cache: dyn cache::Cache => cache::CATALOG;
    /// Adds a codec.
    compression: dyn compression::Compression => compression::CATALOG;
    /// Adds a block format.
    format: dyn tree::block::BlockFormat => tree::block::CATALOG;
    /// Adds a storage back end.
    storage: dyn storage::Storage => storage::CATALOG;
    /// Adds a mode of the write-ahead log.
    wal: dyn tree::wal::WalPolicy => tree::wal::CATALOG;
    /// Adds a hash function for keys.
    hash: dyn tree::hash::KeyHasher => tree::hash::CATALOG;
    /// Adds a value policy, which decides which values live in blob files.
    values: dyn tree::values::ValuePolicy => tree::values::CATALOG;
    /// Adds a memory arbiter, which splits the memory between memtables, filters and cache.
    arbiter: dyn tree::arbiter::MemoryArbiter => tree::arbiter::CATALOG;
    /// Adds a sorted view, which scans follow instead of merging the sorted runs.
    sorted_view: dyn tree::sorted_view::SortedViewPolicy => tree::sorted_view::CATALOG;
    /// Adds a distribution of keys.
    keys: dyn workload::KeyDistribution => workload::KEYS;
    /// Adds a distribution of value sizes.
    value: dyn workload::LengthDistribution => workload::SIZES;
    /// Adds a distribution of scan lengths.
    range: dyn workload::LengthDistribution => workload::LENGTHS;
    /// Adds a key format.
    key: dyn workload::KeyFormatPolicy => workload::FORMATS;
    /// Adds a trace format.
    trace: dyn workload::TraceReader => workload::TRACES;
    /// Adds an engine.
    engine: dyn engines::Engine => engines::CATALOG;
    /// Adds a subject of component experiments, which measures one kind of component.
    subject: dyn subject::Subject => subject::SUBJECTS;
    /// Adds a kind of chart.
    chart: dyn plot::ChartKind => plot::KINDS;
}

impl Workbench {
    /// Creates the program with only its built-in components.
    pub fn new() -> Self {
        Self::default()
    }

    fn with<T: ?Sized>(mut self, catalog: &Catalog<T>, variant: &'static Variant<T>) -> Self {
        self.rejected.extend(catalog.add(variant).err());
        self
    }

    /// Executes the command line, and returns the exit code. If a variant could not be added, prints the reasons,
    /// executes nothing, and returns the exit code 2.
    pub fn main(mut self) -> ExitCode {
        if self.rejected.is_empty() {
            self.rejected.extend(compression::CATALOG.check_codes(compression::Compression::tag).err());
            self.rejected.extend(tree::block::CATALOG.check_codes(|format| Some(format.code())).err());
        }
        for rejected in &self.rejected {
            output::line(&format!("error: {rejected}"));
        }
        if self.rejected.is_empty() { crate::obey_command_line() } else { ExitCode::from(crate::BAD_REQUEST) }
    }
}
