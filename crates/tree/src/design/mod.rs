//! A design: one variant with its parameters for each axis, and the options that belong to no axis.

mod assembly;
mod axes;
mod deprecated;
mod error;
mod families;
mod family_changes;
mod options;
mod overlay;
mod own_keys;
mod without_manifest;

pub use assembly::Design;
pub use axes::{AXES, axis};
pub use deprecated::{DEPRECATIONS, Deprecation, deprecations};
pub use error::DesignError;
pub use families::FamilyLayout;
pub use family_changes::{family_entries, family_of_path};
pub(crate) use options::MAX_TABLE_BYTES;
pub use options::{
    BackgroundThreads, BlockIndex, BlockOptions, FilterPlace, InlineWork, LastKey, ManifestPlace, Mapped,
    MergeKernel, MergeOptions, Options, Pacing, RangeOptions, Schedule, StallOptions, TableLayout,
    TableNames, TableOptions, TableReaders, TableReferences, TableRelease, ThreadOptions, Verify,
};
pub use overlay::SECOND_NAMES;
pub use own_keys::{own_key_entries, own_keys};
