//! What damage may pass in silence, and what may then be missing: by rule, from where the damage lies.

use tree::wal::WalMode;

use super::layout::{Kind, LOG_HEADER_BYTES, MANIFEST_MAGIC_BYTES, last_manifest_record};
use super::remains::{Ending, Remains};
use super::wound::{Change, Wound};

/// Why damage may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The file holds nothing that was written.
    Unneeded,
    /// The bytes are older records of the manifest, each of which the next one replaces whole.
    Superseded,
    /// The bytes are what a crash may leave as well: the end of a log or of a manifest that nothing behind it
    /// says was durable, or zeros behind a log.
    AsACrash,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Unneeded, Self::Superseded, Self::AsACrash];
}

/// What follows from where damage lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Why it may pass; nothing where it must be told.
    pub(crate) passes: Option<Class>,
    /// How many of the store's commits must be there in any case.
    pub(crate) least: usize,
}

impl Rule {
    /// The rule for an image.
    pub(crate) fn of(remains: &Remains, wounds: &[&Wound], wal: WalMode) -> Self {
        let rules = wounds.iter().map(|wound| Self::of_one(remains, wound, wal));
        let both = |first: Self, second: Self| Self {
            passes: first.passes.and_then(|class| second.passes.map(|other| class.max(other))),
            least: first.least.min(second.least),
        };
        rules.reduce(both).unwrap_or_else(|| Self::passes(remains, Class::Unneeded))
    }

    fn of_one(remains: &Remains, wound: &Wound, wal: WalMode) -> Self {
        match remains.files[wound.file].kind {
            Kind::Other => Self::passes(remains, Class::Unneeded),
            Kind::Table => Self::told(remains),
            Kind::Manifest => Self::of_manifest(remains, wound, wal),
            Kind::Log => Self::of_log(remains, wound, wal),
        }
    }

    fn told(remains: &Remains) -> Self {
        Self { passes: None, least: remains.history.len() - 1 }
    }

    fn passes(remains: &Remains, class: Class) -> Self {
        Self { passes: Some(class), ..Self::told(remains) }
    }

    /// The last record that is intact is the truth. Without a log, a manifest that ends early, or is the one
    /// of an earlier moment, is that of a store whose last flushes never were.
    fn of_manifest(remains: &Remains, wound: &Wound, wal: WalMode) -> Self {
        let last = last_manifest_record(&remains.files[wound.file].bytes);
        let extent = wound.extent(remains);
        let is_foreign = matches!(wound.change, Change::Missing | Change::Foreign { .. });
        if is_foreign || extent.start < MANIFEST_MAGIC_BYTES {
            return Self::told(remains);
        }
        if extent.end <= last {
            return Self::passes(remains, Class::Superseded);
        }
        let is_behind = extent.start >= remains.files[wound.file].bytes.len();
        match !wal.has_log && !is_behind {
            true => Self { passes: Some(Class::AsACrash), least: 0 },
            false => Self::passes(remains, Class::AsACrash),
        }
    }

    /// A log of a store that was closed has the length that the manifest says. One that was written to when
    /// the process died may end early, but not before what a record behind it says was durable. Zeros behind any are
    /// space that was reserved.
    fn of_log(remains: &Remains, wound: &Wound, wal: WalMode) -> Self {
        if wound.appends_zeros(remains) {
            return Self::passes(remains, Class::AsACrash);
        }
        if remains.ending != Ending::Stopped || wound.change == Change::Missing {
            return Self::told(remains);
        }
        let extent = wound.extent(remains);
        let has_synced_header = wal.syncs_at_rotation;
        let behind = remains.records.iter().filter(|record| record.start >= extent.end);
        let is_told = behind.clone().any(|record| record.synced > extent.start);
        if is_told || (has_synced_header && extent.start < LOG_HEADER_BYTES) {
            return Self::told(remains);
        }
        let first = remains.records.iter().find(|record| record.end > extent.start);
        let least = match (extent.start < LOG_HEADER_BYTES, first) {
            (true, _) => remains.records.first(),
            (false, first) => first,
        };
        let least = least.map_or(remains.history.len() - 1, |record| record.commit);
        Self { passes: Some(Class::AsACrash), least }
    }
}
