//! A value log with garbage collection at its tail.
//!
//! Source: Lu et al., "`WiscKey`: Separating Keys from Values in SSD-conscious Storage" (FAST 2016). The log is a
//! sequence of blob files. New values are written to the head of the log. If the stale share of the log is too large,
//! the policy collects the tail of the log: live values of the oldest files move to the head. The policy collects files
//! strictly in the order of the log, even if a file has few stale values. One collection includes the oldest files
//! until their total size reaches the size of a segment (`file_size`), so small files do not accumulate.
//!
//! This policy differs from the paper in two points. First, flushes write the values to the log, and the WAL makes
//! writes durable before the flush. In the paper, each write appends its value to the log directly, so the log also
//! serves as the WAL. Second, the collection finds live values through the SSTables that refer to the file, so it needs
//! no lookup for each value.

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use super::params::{check_share, file_bytes};
use super::policy::{BlobFileShape, ValuePolicy, Writing};

pub(super) const VARIANT: Variant<dyn ValuePolicy> = Variant::new::<ValueLog>(
    "value-log",
    "all values in one log; garbage collection moves live values from its tail to its head (WiscKey)",
    "# Smallest size of a value that goes to the log. Smaller values stay in SSTables. WiscKey moves all\n\
     # values to the log.\n\
     threshold = \"1B\"\n\
     # Size at which a file of the log is complete. One collection takes at least this many bytes from the\n\
     # tail.\n\
     file_size = \"64MiB\"\n\
     # Share of stale bytes in the whole log, above 0 and at most 1, at which the tail is collected.\n\
     stale_share = 0.3\n",
);

/// The value policy `value-log` with its parameters.
struct ValueLog(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    threshold: ByteSize,
    file_size: ByteSize,
    stale_share: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { threshold: ByteSize(1), file_size: ByteSize(64 << 20), stale_share: 0.3 }
    }
}

impl Build<dyn ValuePolicy> for ValueLog {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn ValuePolicy>, String> {
        file_bytes(params.file_size)?;
        check_share(params.stale_share)?;
        Ok(Box::new(Self(params)))
    }
}

impl ValuePolicy for ValueLog {
    fn separates_from(&self, _: Writing) -> Option<u64> {
        Some(self.0.threshold.0)
    }

    fn file_bytes(&self) -> u64 {
        self.0.file_size.0
    }

    fn relocates(&self, _: &[BlobFileShape]) -> Vec<u64> {
        Vec::new()
    }

    fn collects(&self, files: &[BlobFileShape]) -> Vec<u64> {
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        let stale_bytes: u64 = files.iter().map(BlobFileShape::stale_bytes).sum();
        let is_due = stale_bytes > 0 && stale_bytes as f64 >= self.0.stale_share * bytes as f64;
        if !is_due {
            return Vec::new();
        }
        let mut before = 0;
        let is_of_tail = |file: &&BlobFileShape| {
            let starts_in_segment = before < self.0.file_size.0;
            before += file.bytes;
            starts_in_segment
        };
        files.iter().take_while(is_of_tail).map(|file| file.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_collected_when_enough_of_the_log_is_stale() {
        let log = ValueLog(Params { file_size: ByteSize(150), ..Params::default() });
        let file = |id, live_bytes| BlobFileShape { id, bytes: 100, live_bytes, partition: 0 };
        assert!(log.collects(&[file(1, 100), file(2, 41)]).is_empty());
        assert_eq!(log.collects(&[file(1, 100), file(2, 40)]), [1, 2]);
        assert_eq!(log.collects(&[file(1, 100), file(2, 0), file(3, 100)]), [1, 2]);
        assert!(log.collects(&[]).is_empty());
        assert!(log.relocates(&[file(1, 0)]).is_empty());
    }
}
