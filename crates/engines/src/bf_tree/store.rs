//! Implements a store of bf-tree.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use bf_tree::{BfTree, Config, LeafInsertResult, LeafReadResult, ScanReturnField, StorageBackend};
use parking_lot::Mutex;
use types::Direction;
use workload::{Scan, Target, TargetError, Write};

use super::sizes::Sizes;
use crate::entry_limits::EntryLimits;
use crate::stats::EngineStats;
use crate::store::Store;

/// The name of the file with the last complete snapshot. A store opens from this file.
const SNAPSHOT: &str = "snapshot";

/// The name of the file that bf-tree modifies while the store is open. At opening, it is a copy of the snapshot.
const TREE: &str = "tree";

/// The advice in the error message for a key or a value that is too large for bf-tree.
const REMEDY: &str =
    "set block.size = \"32KiB\" for longer values, or increase engine.longest_key for longer keys";

/// The lower bound of a scan from the first key, because bf-tree accepts no empty key.
const SMALLEST_KEY: &[u8] = &[0];

/// A store of bf-tree.
pub(super) struct BfTreeStore {
    tree: BfTree,
    limits: EntryLimits,
    snapshot: PathBuf,
    /// Serializes snapshots, because bf-tree skips a snapshot that is requested while another snapshot is being
    /// written.
    flushing: Mutex<()>,
}

impl BfTreeStore {
    pub(super) fn open(directory: &Path, sizes: Sizes) -> Result<Self, TargetError> {
        let (file, snapshot) = (directory.join(TREE), directory.join(SNAPSHOT));
        let tree = if snapshot.exists() {
            // bf-tree writes into the file that it opens, so this function passes a copy and keeps the snapshot
            // unchanged.
            fs::copy(&snapshot, &file)?;
            BfTree::new_from_cpr_snapshot(&file, true, None, Some(sizes.cache), None)
        } else {
            // Without a snapshot, the file belongs to a store that was never flushed.
            if file.exists() {
                fs::remove_file(&file)?;
            }
            let mut config = Config::new(&file, sizes.cache);
            config
                .storage_backend(StorageBackend::Std)
                .leaf_page_size(sizes.page)
                .cb_max_key_len(sizes.key)
                .cb_max_record_size(sizes.record)
                .cb_min_record_size(sizes.least_record)
                .use_snapshot(true);
            BfTree::with_config(config, None)
        };
        let tree = tree.map_err(|error| format!("bf-tree cannot open the store: {error:?}"))?;
        Ok(Self { tree, limits: sizes.limits(), snapshot, flushing: Mutex::new(()) })
    }

    /// Passes the entries of a scan to `visit` in ascending order, until `visit` returns `false`.
    fn walk(&self, scan: &Scan<'_>, mut visit: impl FnMut(&[u8], &[u8]) -> bool) -> Result<(), TargetError> {
        let longest = *self.limits.key_bytes.end();
        // No key is longer than `longest`, so a longer bound is cut to this length. The loop below skips a key that
        // equals the cut bound.
        let start = &scan.low[..scan.low.len().min(longest)];
        let start = if start.is_empty() { SMALLEST_KEY } else { start };
        let entries = self.tree.scan_with_count(start, usize::MAX, ScanReturnField::KeyAndValue);
        let mut entries = entries.map_err(|error| format!("bf-tree cannot scan: {error:?}"))?;
        let mut record = vec![0; longest + self.limits.value_bytes.end()];
        while let Some((key_bytes, value_bytes)) = entries.next(&mut record) {
            let (key, rest) = record.split_at(key_bytes);
            if key < scan.low {
                continue;
            }
            if scan.high.is_some_and(|high| key >= high) || !visit(key, &rest[..value_bytes]) {
                break;
            }
        }
        Ok(())
    }
}

impl Target for BfTreeStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.limits.check((key, value), "bf-tree", REMEDY)?;
        match self.tree.insert(key, value) {
            LeafInsertResult::Success => Ok(()),
            LeafInsertResult::InvalidKV(error) => Err(format!("bf-tree: {error}; {REMEDY}").into()),
        }
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let start = value.len();
        value.resize(start + self.limits.value_bytes.end(), 0);
        let found = self.tree.read(key, &mut value[start..]);
        let found_bytes = match found {
            LeafReadResult::Found(bytes) => Some(bytes as usize),
            LeafReadResult::Deleted | LeafReadResult::NotFound | LeafReadResult::InvalidKey => None,
        };
        value.truncate(start + found_bytes.unwrap_or(0));
        Ok(found_bytes.is_some())
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.limits.check_key(key, "bf-tree", REMEDY)?;
        self.tree.delete(key);
        Ok(())
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        if scan.limit == 0 || scan.high.is_some_and(|high| high <= scan.low) {
            return Ok(0);
        }
        let mut visited = 0;
        if scan.direction == Direction::Forward {
            self.walk(scan, |key, value| {
                visit(key, value);
                visited += 1;
                visited < scan.limit
            })?;
            return Ok(visited);
        }
        let mut last = VecDeque::new();
        self.walk(scan, |key, value| {
            if last.len() == scan.limit {
                last.pop_front();
            }
            last.push_back((key.to_vec(), value.to_vec()));
            true
        })?;
        last.iter().rev().for_each(|(key, value)| visit(key, value));
        Ok(last.len())
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        // A batch is not atomic, so all sizes are checked before the first write.
        Write::only_puts_and_deletes(writes)?;
        writes.iter().try_for_each(|write| match *write {
            Write::Put { key, value } => self.put(key, value),
            Write::Delete { key } => self.delete(key),
            ref other => Err(other.unsupported()),
        })
    }

    fn flush(&self) -> Result<(), TargetError> {
        let _flushing = self.flushing.lock();
        self.tree.cpr_snapshot(&self.snapshot);
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        self.flush()
    }
}

impl Store for BfTreeStore {
    fn version(&self) -> Option<String> {
        Some(env!("PEERS_BF_TREE").to_owned())
    }

    fn stats(&self) -> EngineStats {
        EngineStats::default()
    }
}
