//! A store of Mace.

use std::ops::Bound;
use std::path::Path;

use mace::{Bucket, BucketOptions, Mace, OpCode, Options, TxnKV};
use types::Direction;
use workload::{Scan, Target, TargetError, Write};

use crate::entry_limits::EntryLimits;
use crate::options::{Codec, EngineOptions, Log};
use crate::stats::EngineStats;
use crate::store::Store;

/// The name of the only bucket.
const DATA: &str = "data";

/// The smallest cache and the smallest pool of changed pages, in bytes. Mace uses 1 GiB instead of 0.
const LEAST_BYTES: u64 = 1 << 20;

/// The number of times that a write runs again after a conflict with another write.
const MOST_CONFLICTS: usize = 1_000_000;

/// The remedy for an entry beyond the limits of Mace.
const REMEDY: &str = "use another engine for such entries";

/// A store of Mace, all in one bucket.
pub(super) struct MaceStore {
    database: Mace,
    bucket: Bucket,
    limits: EntryLimits,
}

impl MaceStore {
    pub(super) fn open(
        directory: &Path,
        (settings, limits): (&EngineOptions, EntryLimits),
    ) -> Result<Self, TargetError> {
        let cache_bytes = settings.cache_bytes.max(LEAST_BYTES) as usize;
        let mut options = Options::new(directory);
        options.sync_on_write = settings.log == Log::Sync;
        options.lru_capacity = cache_bytes;
        let database = Mace::new(options.validate()?)?;
        let bucket = if database.active_buckets().iter().any(|name| name == DATA) {
            database.open_bucket(DATA)?
        } else {
            let mut bucket = BucketOptions::new();
            bucket.cache_capacity = cache_bytes;
            bucket.checkpoint_size = settings.memtable_bytes.max(LEAST_BYTES) as usize;
            bucket.pool_capacity = settings.all_memtable_bytes().max(LEAST_BYTES) as usize;
            bucket.enable_compression = matches!(settings.codec, Codec::Zstd { .. });
            database.new_bucket(DATA, bucket.validate())?
        };
        Ok(Self { database, bucket, limits })
    }

    /// Runs a write transaction, and runs it again after each conflict with another transaction.
    fn commit<T>(&self, work: impl Fn(&TxnKV<'_>) -> Result<T, OpCode>) -> Result<T, TargetError> {
        for _ in 0..MOST_CONFLICTS {
            let transaction = self.bucket.begin()?;
            let done = work(&transaction).and_then(|result| transaction.commit().map(|()| result));
            match done {
                Err(OpCode::AbortTx | OpCode::Again | OpCode::Exist) => std::thread::yield_now(),
                done => return Ok(done?),
            }
        }
        Err("a write of Mace conflicts with other writes without end".into())
    }

    fn check(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.limits.check((key, value), "Mace", REMEDY)
    }
}

/// Deletes a key, which may be absent.
fn delete(transaction: &TxnKV<'_>, key: &[u8]) -> Result<(), OpCode> {
    match transaction.del(key) {
        Err(OpCode::NotFound) => Ok(()),
        deleted => deleted,
    }
}

impl Target for MaceStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.check(key, value)?;
        self.commit(|transaction| transaction.upsert(key, value))
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        match self.bucket.view()?.get(key) {
            Ok(found) => {
                value.extend_from_slice(found.slice());
                Ok(true)
            }
            Err(OpCode::NotFound) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.limits.check_key(key, "Mace", REMEDY)?;
        self.commit(|transaction| delete(transaction, key))
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        let put = || {
            self.check(key, value)?;
            self.commit(|transaction| match transaction.get(key) {
                Ok(_) => Ok(false),
                Err(OpCode::NotFound) => transaction.upsert(key, value).map(|()| true),
                Err(error) => Err(error),
            })
        };
        Some(put())
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        if scan.high.is_some_and(|high| high <= scan.low) {
            return Ok(0);
        }
        let view = self.bucket.view()?;
        // The empty key is not a key of Mace.
        let low = if scan.low.is_empty() { Bound::Unbounded } else { Bound::Included(scan.low) };
        let mut entries = view.range::<&[u8], _>((low, scan.high.map_or(Bound::Unbounded, Bound::Excluded)));
        let mut visited = 0;
        while visited < scan.limit {
            let entry = match scan.direction {
                Direction::Forward => entries.try_next()?,
                Direction::Backward => entries.try_next_back()?,
            };
            let Some(entry) = entry else { break };
            visit(entry.key(), entry.val());
            visited += 1;
        }
        Ok(visited)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        for write in writes {
            match *write {
                Write::Put { key, value } => self.check(key, value)?,
                Write::Delete { key } => self.limits.check_key(key, "Mace", REMEDY)?,
            }
        }
        self.commit(|transaction| {
            writes.iter().try_for_each(|write| match *write {
                Write::Put { key, value } => transaction.upsert(key, value),
                Write::Delete { key } => delete(transaction, key),
            })
        })
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let view = self.bucket.view()?;
        for (place, key) in keys.iter().enumerate() {
            match view.get(key) {
                Ok(found) => visit(place, Some(found.slice())),
                Err(OpCode::NotFound) => visit(place, None),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        self.database.sync()?;
        self.bucket.checkpoint_and_wait();
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        self.flush()
    }
}

impl Store for MaceStore {
    fn version(&self) -> Option<String> {
        Some(env!("PEERS_MACE").to_owned())
    }

    fn checkpoint(&self, directory: &Path) -> Option<Result<(), TargetError>> {
        Some(self.database.create_checkpoint(directory).map(drop).map_err(Into::into))
    }

    fn stats(&self) -> EngineStats {
        EngineStats::default()
    }
}
