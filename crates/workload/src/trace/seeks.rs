//! Seeks of iterators in RocksDB traces. RocksDB does not record how many entries an iterator reads after a seek.

use serde::{Deserialize, Serialize};

/// The TOML parameters of the readers of RocksDB traces, with their default values.
pub(super) const REFERENCE: &str =
    "# Number of entries that an iterator reads after a seek. Traces do not record the number of entries.
entries = 1
";

/// Parameters of a reader of RocksDB traces.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Params {
    entries: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { entries: 1 }
    }
}

/// The number of seeks of a trace so far, and the number of entries that each replayed seek reads.
pub(super) struct Seeks {
    entries: u32,
    count: u64,
}

impl Seeks {
    /// Creates a counter of the seeks in a trace, which starts at 0.
    pub(super) fn new(params: &Params) -> Self {
        Self { entries: params.entries, count: 0 }
    }

    /// Counts one seek, and returns the number of entries that the replayed scan reads.
    pub(super) fn entries(&mut self) -> u32 {
        self.count += 1;
        self.entries
    }

    /// Returns a note about the assumed number of entries, if the trace has a seek.
    pub(super) fn note(&self) -> Option<String> {
        let Self { entries, count } = self;
        (*count > 0).then(|| {
            format!(
                "each of the {count} seeks is replayed as a scan of entries = {entries} entries, because the \
                 trace does not record how many entries were read"
            )
        })
    }
}
