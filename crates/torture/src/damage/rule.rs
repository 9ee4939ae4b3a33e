//! Decides which corruption `verify` may leave unreported, and which data may then be missing. The decision depends
//! only on the position of the corruption in a file.

use tree::wal::WalMode;

use super::corruption::{Corruption, FileChange};
use super::layout::{FileKind, LOG_HEADER_BYTES, MANIFEST_MAGIC_BYTES, last_manifest_record};
use super::store_image::{Ending, StoreImage};

/// The reason why `verify` may leave a corruption unreported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The corrupted file contains no user data.
    Unneeded,
    /// The changed bytes are older manifest records. A later record replaces all data of an older record.
    Superseded,
    /// A crash could leave the same bytes. The corruption is at the end of a WAL or manifest, in bytes that are not
    /// known to be durable, or it appends zeros to a WAL.
    AsACrash,
}

impl Class {
    /// All classes of corruption that `verify` may leave unreported, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Unneeded, Self::Superseded, Self::AsACrash];
}

/// The allowed consequences of a corruption, which depend on its position in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// The reason why the corruption may stay unreported. `None` if `verify` must report the corruption.
    pub(crate) passes: Option<Class>,
    /// The smallest number of commits that the store must still contain.
    pub(crate) least: usize,
}

impl Rule {
    /// Returns the allowed consequences for a store image with all of these corruptions.
    pub(crate) fn of(store_image: &StoreImage, corruptions: &[&Corruption], wal: WalMode) -> Self {
        let rules = corruptions.iter().map(|corruption| Self::of_one(store_image, corruption, wal));
        let both = |first: Self, second: Self| Self {
            passes: first.passes.and_then(|class| second.passes.map(|other| class.max(other))),
            least: first.least.min(second.least),
        };
        rules.reduce(both).unwrap_or_else(|| Self::passes(store_image, Class::Unneeded))
    }

    fn of_one(store_image: &StoreImage, corruption: &Corruption, wal: WalMode) -> Self {
        match store_image.files[corruption.file].kind {
            FileKind::Other => Self::passes(store_image, Class::Unneeded),
            FileKind::Table | FileKind::Filter | FileKind::Blob => Self::reported(store_image),
            FileKind::Manifest => Self::of_manifest(store_image, corruption, wal),
            FileKind::Log => Self::of_log(store_image, corruption, wal),
        }
    }

    fn reported(store_image: &StoreImage) -> Self {
        Self { passes: None, least: store_image.history.len() - 1 }
    }

    fn passes(store_image: &StoreImage, class: Class) -> Self {
        Self { passes: Some(class), ..Self::reported(store_image) }
    }

    /// Returns the allowed consequences of a corruption of a manifest. Recovery uses the last intact record of a
    /// manifest. Without a WAL, a truncated or older manifest therefore describes a store without its last flushes.
    fn of_manifest(store_image: &StoreImage, corruption: &Corruption, wal: WalMode) -> Self {
        let last = last_manifest_record(&store_image.files[corruption.file].bytes);
        let extent = corruption.extent(store_image);
        let is_foreign = matches!(corruption.change, FileChange::Missing | FileChange::Foreign { .. });
        if is_foreign || extent.start < MANIFEST_MAGIC_BYTES {
            return Self::reported(store_image);
        }
        if extent.end <= last {
            return Self::passes(store_image, Class::Superseded);
        }
        let is_behind = extent.start >= store_image.files[corruption.file].bytes.len();
        match !wal.has_log && !is_behind {
            true => Self { passes: Some(Class::AsACrash), least: 0 },
            false => Self::passes(store_image, Class::AsACrash),
        }
    }

    /// Returns the allowed consequences of a corruption of a WAL:
    ///
    /// - Zeros that are appended to a WAL look like preallocated space, so they may stay unreported.
    /// - A completely written WAL must be intact, because the manifest contains its length.
    /// - The WAL that was active when the process died may end early. However, it must exist, and it must contain all
    ///   bytes that a later record marks as durable.
    fn of_log(store_image: &StoreImage, corruption: &Corruption, wal: WalMode) -> Self {
        if corruption.appends_zeros(store_image) {
            return Self::passes(store_image, Class::AsACrash);
        }
        let is_written = store_image.ending != Ending::Stopped || !store_image.is_last_log(corruption.file);
        if is_written || corruption.change == FileChange::Missing {
            return Self::reported(store_image);
        }
        let extent = corruption.extent(store_image);
        let has_synced_header = wal.syncs_at_rotation;
        let behind = store_image.records.iter().filter(|record| record.start >= extent.end);
        let is_told = behind.clone().any(|record| record.synced > extent.start);
        if is_told || (has_synced_header && extent.start < LOG_HEADER_BYTES) {
            return Self::reported(store_image);
        }
        let first = store_image.records.iter().find(|record| record.end > extent.start);
        let least = match (extent.start < LOG_HEADER_BYTES, first) {
            (true, _) => store_image.records.first(),
            (false, first) => first,
        };
        let least = least.map_or(store_image.history.len() - 1, |record| record.commit);
        Self { passes: Some(Class::AsACrash), least }
    }
}
