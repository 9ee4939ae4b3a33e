//! Defines the parameters of `RocksDB` and its forks.

use serde::{Deserialize, Serialize};

/// The compaction style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Style {
    #[default]
    Leveled,
    Universal,
}

/// The kind of block cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CacheKind {
    #[default]
    Lru,
    HyperClock,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Params {
    pub(super) library: String,
    pub(super) label: String,
    pub(super) compaction: Style,
    pub(super) cache: CacheKind,
    pub(super) statistics: bool,
    pub(super) verify_checksums: bool,
    pub(super) options: String,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            library: String::new(),
            label: String::new(),
            compaction: Style::default(),
            cache: CacheKind::default(),
            statistics: false,
            verify_checksums: true,
            options: String::new(),
        }
    }
}
