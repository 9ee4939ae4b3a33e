//! Records the operations of a phase as a trace. A recorder is a store that writes each operation to the trace and
//! passes the operation to another store.

use std::fs::File;

use measure::{Clock, Stamp};
use parking_lot::Mutex;
use trace::TraceWriter;
use types::Direction;
use workload::{Scan, Target, TargetError, TraceOperation, TraceRecord, Write};

use super::failure::TrialResult;
use super::message::{Recorded, RecordingSpec};
use super::turn;

/// A note about lost operations: the trace cannot contain backward scans that begin at the largest key of the store.
const UNBOUNDED: &str = "backward scans that begin at the largest key of the store are missing, because a \
                         trace record needs the key at which a scan begins";

/// A store that records its operations as a trace, and passes them to another store.
pub(super) struct TraceRecorder<'a> {
    target: &'a dyn Target,
    clock: &'a Clock,
    start: Stamp,
    trace: Mutex<Trace>,
}

/// The open trace file, and the writer that encodes its records.
struct Trace {
    writer: Box<dyn TraceWriter + Send>,
    records: u64,
    unbounded: u64,
}

impl<'a> TraceRecorder<'a> {
    /// Creates the trace file, and a recorder that passes all operations to `target`. Times in the trace count from
    /// this call.
    ///
    /// # Errors
    /// The file exists or cannot be created.
    pub(super) fn create(
        spec: &RecordingSpec,
        target: &'a dyn Target,
        clock: &'a Clock,
    ) -> TrialResult<Self> {
        let failed = |error| format!("cannot create the trace {}: {error}", spec.file.display());
        let file = File::options().read(true).write(true).create_new(true).open(&spec.file);
        let writer = file.and_then(|file| spec.format.writer(file)).map_err(failed)?;
        let trace = Mutex::new(Trace { writer, records: 0, unbounded: 0 });
        Ok(Self { target, clock, start: turn::now(clock), trace })
    }

    /// Completes the trace file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(super) fn finish(self) -> TrialResult<Recorded> {
        let Trace { mut writer, records, unbounded } = self.trace.into_inner();
        writer.finish()?;
        let mut losses = writer.losses();
        losses.extend((unbounded > 0).then(|| format!("{unbounded} {UNBOUNDED}")));
        Ok(Recorded { records, losses })
    }

    fn now_ns(&self) -> u64 {
        self.clock.ns_between(self.start, turn::now(self.clock))
    }

    /// Writes an operation on one key to the trace. The current time becomes the start of the operation.
    fn record(&self, operation: TraceOperation, key: &[u8], value: Option<&[u8]>) -> Result<(), TargetError> {
        let record = TraceRecord::new(operation, key);
        self.add(match value {
            Some(value) => record.with_value(value.to_vec()),
            None => record,
        })
    }

    /// Writes a record with the current time to the trace. The time is read under the lock, so the times of records
    /// never decrease.
    fn add(&self, record: TraceRecord) -> Result<(), TargetError> {
        let mut trace = self.trace.lock();
        let record = record.at(self.now_ns());
        trace.records += 1;
        Ok(trace.writer.write(&record)?)
    }
}

/// Returns the trace record of a scan. Returns `None` for a backward scan that begins at the largest key of the store,
/// because its key is unknown.
fn scan_record(scan: &Scan<'_>) -> Option<TraceRecord> {
    let (key, end) = match scan.direction {
        Direction::Forward => (scan.low, scan.high),
        // A backward scan begins at the largest key below `high`, which is exclusive. In the trace, the first key is
        // inclusive. If `high` is a key with an additional zero byte, this key is the first key.
        Direction::Backward => {
            let high = scan.high?;
            (high.strip_suffix(&[0]).unwrap_or(high), Some(scan.low).filter(|low| !low.is_empty()))
        }
    };
    Some(TraceRecord {
        end: end.map(<[u8]>::to_vec),
        count: u32::try_from(scan.limit).ok(),
        backward: scan.direction == Direction::Backward,
        ..TraceRecord::new(TraceOperation::Scan, key)
    })
}

impl Target for TraceRecorder<'_> {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.record(TraceOperation::Put, key, Some(value))?;
        self.target.put(key, value)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        self.record(TraceOperation::Get, key, None)?;
        self.target.get(key, value)
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.record(TraceOperation::Delete, key, None)?;
        self.target.delete(key)
    }

    fn merge(&self, key: &[u8], operand: &[u8]) -> Option<Result<(), TargetError>> {
        let merged = self.target.merge(key, operand)?;
        Some(merged.and_then(|()| self.record(TraceOperation::Merge, key, Some(operand))))
    }

    /// Records a conditional put as a put if its value was set, and as a get if the key existed.
    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        let outcome = self.target.put_if_absent(key, value)?;
        Some(outcome.and_then(|is_set| {
            match is_set {
                true => self.record(TraceOperation::Put, key, Some(value))?,
                false => self.record(TraceOperation::Get, key, None)?,
            }
            Ok(is_set)
        }))
    }

    fn single_delete(&self, key: &[u8]) -> Option<Result<(), TargetError>> {
        let deleted = self.target.single_delete(key)?;
        Some(deleted.and_then(|()| self.record(TraceOperation::SingleDelete, key, None)))
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        let deleted = self.target.delete_range(low, high)?;
        let record = || self.add(TraceRecord::new(TraceOperation::DeleteRange, low).until(high));
        Some(deleted.and_then(|()| record()))
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        match scan_record(scan) {
            Some(record) => self.add(record)?,
            None => self.trace.lock().unbounded += 1,
        }
        self.target.range(scan, visit)
    }

    /// Records each write of a write batch as a separate operation.
    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        for write in writes {
            match write {
                Write::Put { key, value } => self.record(TraceOperation::Put, key, Some(value))?,
                Write::Delete { key } => self.record(TraceOperation::Delete, key, None)?,
                Write::SingleDelete { key } => self.record(TraceOperation::SingleDelete, key, None)?,
                Write::Merge { key, operand } => self.record(TraceOperation::Merge, key, Some(operand))?,
                Write::DeleteRange { low, high } => {
                    self.add(TraceRecord::new(TraceOperation::DeleteRange, *low).until(*high))?;
                }
            }
        }
        self.target.write(writes)
    }

    /// Records each key of a multi-get as a separate get.
    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        keys.iter().try_for_each(|key| self.record(TraceOperation::Get, key, None))?;
        self.target.multi_get(keys, visit)
    }

    fn flush(&self) -> Result<(), TargetError> {
        self.target.flush()
    }

    fn settle(&self) -> Result<(), TargetError> {
        self.target.settle()
    }

    fn close(&self) -> Result<(), TargetError> {
        self.target.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backward_scan_has_its_first_key() {
        let scan = |high, limit| Scan { low: b"", high, direction: Direction::Backward, limit };
        let record = scan_record(&scan(Some(b"k\0"), 3)).unwrap();
        assert_eq!(
            (&*record.key, record.end, record.count, record.backward),
            (&b"k"[..], None, Some(3), true)
        );
        assert_eq!(scan_record(&scan(None, 1)), None);
        let forward = Scan { direction: Direction::Forward, ..scan(None, usize::MAX) };
        let record = scan_record(&forward).unwrap();
        assert_eq!((record.end, record.count, record.backward), (None, None, false));
    }
}
