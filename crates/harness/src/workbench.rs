//! The program with components of other crates. The components are added first, and then the command runs.

use std::process::ExitCode;

use catalog::{AdditionError, Axis, Catalog, Variant};

use crate::output;

/// The program `lsmbench`, open to components of other crates.
///
/// A crate that has a component depends on `lsmbench` and has this `main`:
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
/// An added variant has every ability of a built-in variant. Experiments can name and sweep it, `list` and `describe`
/// show it, error texts suggest it, and charts colour it. Manifests name the crate and version of each component of a
/// design. Trials run in processes of the same program, so they know the variant too.
#[derive(Debug, Default)]
#[must_use = "nothing happens until `main` is called"]
pub struct Workbench {
    /// Variants that could not be added.
    rejected: Vec<AdditionError>,
}

/// A method per axis that adds a variant to its catalog, and the list of the axes.
macro_rules! axes {
    ($($(#[$doc:meta])+ $name:ident: $component:ty => $catalog:path;)+) => {
        /// The axes that take variants of other crates. Each has the name of its method of [`Workbench`], and its
        /// catalog.
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
    /// Adds a way to divide the memory of filters among levels.
    allocation: dyn bloom::Allocation => bloom::ALLOCATIONS;
    /// Adds a fence: an index from a key to the block of the key.
    fence: dyn fence::FencePolicy => fence::CATALOG;
    /// Adds a way to pick the files of a run that can hold a key.
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
    /// Adds a distribution of keys.
    keys: dyn workload::KeyDistribution => workload::KEYS;
    /// Adds a distribution of value sizes.
    value: dyn workload::LengthDistribution => workload::SIZES;
    /// Adds a distribution of scan lengths.
    range: dyn workload::LengthDistribution => workload::LENGTHS;
    /// Adds a key format.
    key: dyn workload::KeyFormatPolicy => workload::FORMATS;
    /// Adds a reader of traces.
    trace: dyn workload::TraceReader => workload::TRACES;
    /// Adds an engine.
    engine: dyn engines::Engine => engines::CATALOG;
    /// Adds a subject of component experiments.
    subject: dyn subject::Subject => subject::SUBJECTS;
    /// Adds a kind of chart.
    chart: dyn plot::ChartKind => plot::KINDS;
}

impl Workbench {
    /// The program with its built-in components.
    pub fn new() -> Self {
        Self::default()
    }

    fn with<T: ?Sized>(mut self, catalog: &Catalog<T>, variant: &'static Variant<T>) -> Self {
        self.rejected.extend(catalog.add(variant).err());
        self
    }

    /// Runs the command of the command line and returns the exit code. A variant that could not be added is an error of
    /// the program. The error is printed, and the exit code is 2.
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
