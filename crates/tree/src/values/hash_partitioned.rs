//! Values in partitions by the hash of their keys. Garbage collection selects the partition with the most stale bytes.
//!
//! Source: Chan et al., "`HashKV`: Enabling Efficient Updates in KV Storage via Hashing" (USENIX ATC 2018). All
//! versions of a key are in one partition. A collection of a partition therefore frees the space of all stale versions
//! of its keys. Like `HashKV`, this policy selects the partition with the most stale bytes.
//!
//! This policy differs from the paper in two points. First, the collection finds live values through the SSTables that
//! refer to the partition, and not by a scan of the partition. Second, cold values remain in their partition, while
//! `HashKV` separates them from hot values.

use std::collections::BTreeMap;

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use super::params::{check_share, file_bytes};
use super::policy::{BlobFileShape, ValuePolicy, Writing};

/// The maximum number of partitions. A flush has an open blob file for each partition.
const MOST_PARTITIONS: u32 = 256;

pub(super) const VARIANT: Variant<dyn ValuePolicy> = Variant::new::<HashPartitioned>(
    "hash-partitioned",
    "values in partitions by key hash; garbage collection takes the partition with most stale bytes (HashKV)",
    "# Smallest size of a value that goes to a blob file of its partition. Smaller values stay in\n\
     # SSTables.\n\
     threshold = \"192B\"\n\
     # Number of partitions, 1 to 256. With more partitions, a collection moves fewer values, but each flush\n\
     # writes more files.\n\
     partitions = 16\n\
     # Size at which a file of a partition is complete.\n\
     file_size = \"64MiB\"\n\
     # Share of stale bytes in all blob files, above 0 and at most 1, at which a partition is collected.\n\
     stale_share = 0.3\n",
);

/// The value policy `hash-partitioned` with its parameters.
struct HashPartitioned(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    threshold: ByteSize,
    partitions: u32,
    file_size: ByteSize,
    stale_share: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { threshold: ByteSize(192), partitions: 16, file_size: ByteSize(64 << 20), stale_share: 0.3 }
    }
}

impl Build<dyn ValuePolicy> for HashPartitioned {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn ValuePolicy>, String> {
        file_bytes(params.file_size)?;
        check_share(params.stale_share)?;
        match params.partitions {
            1..=MOST_PARTITIONS => Ok(Box::new(Self(params))),
            partitions => Err(format!("partitions is {partitions}; it must be 1 to {MOST_PARTITIONS}")),
        }
    }
}

impl ValuePolicy for HashPartitioned {
    fn separates_from(&self, _: Writing) -> Option<u64> {
        Some(self.0.threshold.0)
    }

    fn file_bytes(&self) -> u64 {
        self.0.file_size.0
    }

    fn partitions(&self) -> u32 {
        self.0.partitions
    }

    fn relocates(&self, _: &[BlobFileShape]) -> Vec<u64> {
        Vec::new()
    }

    fn collects(&self, files: &[BlobFileShape]) -> Vec<u64> {
        let mut stale: BTreeMap<u32, u64> = BTreeMap::new();
        for file in files {
            *stale.entry(file.partition).or_default() += file.stale_bytes();
        }
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        let stale_bytes: u64 = stale.values().sum();
        if stale_bytes == 0 || (stale_bytes as f64) < self.0.stale_share * bytes as f64 {
            return Vec::new();
        }
        let most = stale.into_iter().max_by_key(|(partition, bytes)| (*bytes, *partition));
        let of_most =
            files.iter().filter(|file| most.is_some_and(|(partition, _)| file.partition == partition));
        of_most.map(|file| file.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partition_with_most_stale_bytes_is_collected_whole() {
        let policy = HashPartitioned(Params::default());
        let file = |id, partition, live_bytes| BlobFileShape { id, partition, bytes: 100, live_bytes };
        let files = [file(1, 0, 100), file(2, 7, 40), file(3, 0, 90), file(5, 7, 60), file(6, 3, 45)];
        assert_eq!(policy.collects(&files), [2, 5]);
        assert!(policy.collects(&files[..1]).is_empty());
        assert!(policy.collects(&[file(1, 0, 71), file(2, 1, 70)]).is_empty());
    }
}
