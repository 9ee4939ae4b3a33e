//! Values inside SSTables, next to their keys. A compaction of a key therefore also rewrites its value.
//!
//! If another design wrote the store, the store can have blob files. Compactions then move the values back into the
//! SSTables.

use catalog::Variant;

use super::policy::{BlobFileShape, ValuePolicy, Writing};

pub(super) const VARIANT: Variant<dyn ValuePolicy> = Variant::plain(
    "inline",
    "values in the SSTables, next to their keys; compactions rewrite them with the keys",
    || Box::new(Inline),
);

/// The value policy `inline`, which has no parameters.
struct Inline;

impl ValuePolicy for Inline {
    fn separates_from(&self, _: Writing) -> Option<u64> {
        None
    }

    fn file_bytes(&self) -> u64 {
        u64::MAX
    }

    fn relocates(&self, files: &[BlobFileShape]) -> Vec<u64> {
        files.iter().map(|file| file.id).collect()
    }
}
