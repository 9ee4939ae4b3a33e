//! Decides which corruption `verify` may leave unreported, and which data may then be missing. The decision depends
//! only on the position of the corruption.

use tree::wal::WalMode;

use super::corruption::{Corruption, FileChange};
use super::layout::{FileKind, LOG_HEADER_BYTES, MANIFEST_MAGIC_BYTES, last_manifest_record};
use super::store_image::{Ending, StoreImage};

/// The reason why `verify` may leave a corruption of a store unreported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The corrupted file contains no user data, such as the lock file.
    Unneeded,
    /// The changed bytes are records of a manifest that a later record replaces completely.
    Superseded,
    /// A crash could leave the same bytes. They are bytes at the end of a WAL or manifest that are not known to be
    /// durable, or zeros after a WAL.
    AsACrash,
}

impl Class {
    /// All reasons why `verify` may leave a corruption unreported.
    pub const ALL: [Self; 3] = [Self::Unneeded, Self::Superseded, Self::AsACrash];
}

/// The allowed consequences of a corruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// The reason why `verify` may leave the corruption unreported. `None` if `verify` must report it.
    pub(crate) passes: Option<Class>,
    /// The smallest number of commits that the corrupted store must still contain.
    pub(crate) least: usize,
}

impl Rule {
    /// Returns the allowed consequences for a store with all of these corruptions.
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
    /// manifest, so a store without a WAL may lose its last flushes.
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
    /// - Zeros after a WAL look like preallocated space, so they may stay unreported.
    /// - A complete WAL must be intact, because the manifest contains its length.
    /// - The last WAL may end early, but must contain all bytes that a later record marks as durable.
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
