//! An open store: a tree with the options of the calling program.

use std::ops::Bound;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Instant;

use tree::{Design, Error, OpenOptions, Snapshot, Tree, WriteBatch};

use crate::cursor::Cursor;
use crate::design::design_of;
use crate::failure::Failure;
use crate::key_order::{CheckedOrder, check_order};
use crate::properties;
use crate::settings::Settings;

/// An open store, on which the exported functions operate.
pub(crate) struct Store {
    tree: Tree,
    /// The check that the comparator of the calling program orders keys by their bytes. `None` without a comparator.
    order: Option<CheckedOrder>,
    /// Whether the WAL mode of the store syncs each write before it returns, even if the calling program requests no
    /// sync.
    is_always_synced: bool,
}

impl Store {
    /// Opens the store in a directory, with the options of the calling program. Creates a missing store only with the
    /// option `create_if_missing`.
    pub(crate) fn open(settings: &Settings, directory: &Path) -> Result<Self, Failure> {
        let design = design_of(settings)?;
        let is_always_synced = syncs_each_write(&design)?;
        let cache = settings.cache.as_ref().map(|cache| cache.for_design(&design)).transpose()?;
        let mut options = OpenOptions::new(design)
            .clock(nanoseconds)
            .create_if_missing(settings.create_if_missing)
            .error_if_exists(settings.error_if_exists);
        if let Some(cache) = cache {
            options = options.cache(cache);
        }
        let tree = options.open(directory).map_err(|error| match error {
            Error::NotAStore(directory) => Failure::invalid(format!(
                "the directory {} contains no store; set the option create_if_missing to create one",
                directory.display()
            )),
            error => error.into(),
        })?;
        let order = match &settings.comparator {
            None => None,
            Some(order) => {
                let mut all = tree.range(..)?;
                let first = all.next()?.map(|(key, _)| key.to_vec());
                let last = all.next_back()?.map(|(key, _)| key.to_vec());
                if let (Some(first), Some(last)) = (&first, &last) {
                    check_order(&**order, first, last)?;
                }
                Some(CheckedOrder::new(order.clone(), last.or(first)))
            }
        };
        Ok(Self { tree, order, is_always_synced })
    }

    /// Sets the value of a key. If `sync` is true, the write is durable when the call returns.
    pub(crate) fn put(&self, key: &[u8], value: &[u8], sync: bool) -> Result<(), Failure> {
        self.check_written(std::iter::once(key))?;
        self.tree.put(key, value)?;
        self.sync_if(sync)
    }

    /// Deletes a key. If `sync` is true, the write is durable when the call returns.
    pub(crate) fn delete(&self, key: &[u8], sync: bool) -> Result<(), Failure> {
        self.check_written(std::iter::once(key))?;
        self.tree.delete(key)?;
        self.sync_if(sync)
    }

    /// Applies a batch atomically. If `sync` is true, the batch is durable when the call returns.
    pub(crate) fn write(&self, batch: &WriteBatch, sync: bool) -> Result<(), Failure> {
        self.check_written(batch.entries().map(|entry| entry.key))?;
        self.tree.write(batch)?;
        self.sync_if(sync)
    }

    /// Returns the value of a key, in the current state or in a snapshot. Returns `None` if the key is absent.
    pub(crate) fn get(&self, snapshot: Option<&Snapshot>, key: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        if let Some(order) = &self.order {
            order.check_read(key)?;
        }
        let value = match snapshot {
            Some(snapshot) => snapshot.get(key)?,
            None => self.tree.get(key)?,
        };
        Ok(value)
    }

    /// Takes a snapshot of the current state of the store.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.tree.snapshot()
    }

    /// Creates a cursor over the current state of the store, or over a snapshot.
    pub(crate) fn cursor(&self, snapshot: Option<&Snapshot>) -> Cursor {
        let snapshot = snapshot.cloned().unwrap_or_else(|| self.tree.snapshot());
        Cursor::new(snapshot, self.order.as_ref().map(|order| order.order().clone()))
    }

    /// Returns the value of a property as text. Returns `None` if the property does not exist.
    pub(crate) fn property(&self, name: &str) -> Option<String> {
        properties::text(&self.tree, name)
    }

    /// Returns the approximate size of the key range from `low` to `high`, in bytes.
    pub(crate) fn approximate_bytes(&self, low: &[u8], high: &[u8]) -> Result<u64, Failure> {
        Ok(self.tree.approximate_bytes(low, high)?)
    }

    /// Compacts the key range from `low` to `high` (both inclusive). `None` means no bound.
    pub(crate) fn compact_range(&self, low: Option<&[u8]>, high: Option<&[u8]>) -> Result<(), Failure> {
        let bound = |key: Option<_>| key.map_or(Bound::Unbounded, Bound::Included);
        Ok(self.tree.compact_range((bound(low), bound(high)))?)
    }

    /// Waits until no flush and no compaction is due.
    pub(crate) fn settle(&self) -> Result<(), Failure> {
        Ok(self.tree.settle()?)
    }

    /// Closes the store and makes all writes durable.
    pub(crate) fn close(self) -> Result<(), Failure> {
        Ok(self.tree.close()?)
    }

    fn check_written<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Result<(), Failure> {
        self.order.as_ref().map_or(Ok(()), |order| order.check_written(keys))
    }

    /// Makes all writes durable if `sync` is true and the WAL mode has not already synced them.
    fn sync_if(&self, sync: bool) -> Result<(), Failure> {
        match sync && !self.is_always_synced {
            true => Ok(self.tree.sync()?),
            false => Ok(()),
        }
    }
}

/// Returns whether the WAL mode of a design syncs each write before it returns.
fn syncs_each_write(design: &Design) -> Result<bool, Failure> {
    let policy = tree::wal::CATALOG.build(design.choice("wal"));
    Ok(policy.map_err(|error| Failure::invalid(error.message))?.mode().survives_power_loss())
}

/// Returns the time since the first call of this function, in nanoseconds. The tree uses this clock to measure write
/// stalls and compactions.
fn nanoseconds() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}
