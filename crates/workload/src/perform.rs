//! Executes operations on a store. For each operation, this module makes the corresponding call of the store.

use types::Direction;

use crate::batch::Batch;
use crate::digest::{self, Parts};
use crate::operation::Kind;
use crate::prefix;
use crate::request::Request;
use crate::target::{Scan, Target, TargetError, Write};

/// Executes operations on a store. The buffers for keys, values and answers are reused for all operations.
pub struct Performer<'a> {
    target: &'a dyn Target,
    value: Vec<u8>,
    bound: Vec<u8>,
    digests: Vec<u64>,
    digest: Digest,
}

/// Counts of the keys and entries in the answer to an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerCounts {
    /// The number of requested keys that were found.
    pub found: u32,
    /// The number of requested keys that were not found.
    pub missing: u32,
    /// The number of entries that a scan read.
    pub entries: u32,
}

/// The digest (a 64-bit hash) of the last answer, or the data from which it can be computed.
#[derive(Clone, Copy)]
enum Digest {
    /// The answer of a get is in the buffer for values. Its digest is computed only if a caller requests it.
    Value { found: bool },
    /// The digest of the answer, which was computed while the entries of the answer arrived.
    Made(u64),
}

impl<'a> Performer<'a> {
    /// Creates a performer that calls the store `target`.
    pub fn new(target: &'a dyn Target) -> Self {
        Self { target, value: Vec::new(), bound: Vec::new(), digests: Vec::new(), digest: Digest::Made(0) }
    }

    /// Executes the operation at index `at` of `batch`. If the operation is the head of a write batch or a multi-get,
    /// executes the whole group.
    ///
    /// The answer of a scan or a multi-get has a [`digest`](Self::digest) only if `check` is true. The answer of a get
    /// always has a digest, but the digest is computed only if a caller requests it.
    ///
    /// # Errors
    /// Returns the error of the store.
    #[inline]
    pub fn perform(&mut self, batch: &Batch, at: usize, check: bool) -> Result<AnswerCounts, TargetError> {
        let operation = &batch.operations()[at];
        match operation.kind {
            Kind::Get => self.get(batch.key(at)),
            Kind::Put | Kind::Insert => self.put(batch, at),
            Kind::Delete => {
                self.digest = Digest::Made(0);
                self.target.delete(batch.key(at))?;
                Ok(AnswerCounts::default())
            }
            Kind::ReadModifyWrite => {
                let outcome = self.get(batch.key(at))?;
                self.target.put(batch.key(at), batch.value(at))?;
                Ok(outcome)
            }
            Kind::Range => self.range(batch, at, check),
            Kind::Prefix => self.prefix(batch, at, check),
            Kind::Batch => self.write(batch, at),
            Kind::MultiGet => self.multi_get(batch, at, check),
            Kind::Merge => {
                self.digest = Digest::Made(0);
                let merged = self.target.merge(batch.key(at), batch.value(at));
                merged.ok_or(
                    "the store has no merge operator, so it cannot execute a merge; set \
                     design.merge_operator, or remove `merge` from the mix",
                )??;
                Ok(AnswerCounts::default())
            }
            Kind::PutIfAbsent => {
                let written = self.target.put_if_absent(batch.key(at), batch.value(at));
                let exists = !written
                    .ok_or("the engine has no conditional put; remove `put_if_absent` from the mix")??;
                self.digest = Digest::Made(digest::of_presence(exists));
                let found = u32::from(exists);
                Ok(AnswerCounts { found, missing: 1 - found, entries: 0 })
            }
            Kind::First | Kind::Last => {
                let direction = if operation.backward { Direction::Backward } else { Direction::Forward };
                self.scan(&Scan { low: b"", high: None, direction, limit: 1 }, check)
            }
            Kind::SingleDelete => {
                self.digest = Digest::Made(0);
                self.target
                    .single_delete(batch.key(at))
                    .ok_or("the engine has no single delete; remove `single_delete` from the mix")??;
                Ok(AnswerCounts::default())
            }
            Kind::DeleteRange => {
                self.digest = Digest::Made(0);
                let high = batch.end(at).ok_or("the batch must contain the end key of each range delete")?;
                let deleted = self.target.delete_range(batch.key(at), high);
                deleted.ok_or("the engine has no range delete; remove `delete_range` from the mix")??;
                Ok(AnswerCounts::default())
            }
        }
    }

    /// Executes one request, which is an operation of a replay, on the store. If `check` is true, the function also
    /// computes the digest of a scan.
    ///
    /// # Errors
    /// Returns the error of the store.
    pub fn request(&mut self, request: &Request, check: bool) -> Result<AnswerCounts, TargetError> {
        match request {
            Request::Get { key } => return self.get(key),
            Request::ReadModifyWrite { key, value } => {
                let outcome = self.get(key)?;
                self.target.put(key, value)?;
                return Ok(outcome);
            }
            Request::Scan { low, high, backward, limit } => {
                let direction = if *backward { Direction::Backward } else { Direction::Forward };
                let scan = Scan { low, high: high.as_deref(), direction, limit: *limit };
                return self.scan(&scan, check);
            }
            Request::Put { key, value } => self.target.put(key, value)?,
            Request::Delete { key } => self.target.delete(key)?,
            Request::SingleDelete { key } => {
                self.target.single_delete(key).unwrap_or_else(|| self.target.delete(key))?;
            }
            Request::Merge { key, operand } => self.merge(key, operand)?,
            Request::DeleteRange { low, high } => self.delete_range(low, high)?,
        }
        self.digest = Digest::Made(0);
        Ok(AnswerCounts::default())
    }

    /// Merges an operand into the value of a key, for a replay. If the store does not support merges, the function gets
    /// the key and then puts the operand as the value. The replay then costs about as much, but stores other values.
    fn merge(&mut self, key: &[u8], operand: &[u8]) -> Result<(), TargetError> {
        if let Some(merged) = self.target.merge(key, operand) {
            return merged;
        }
        self.get(key)?;
        self.target.put(key, operand)
    }

    /// Deletes all keys of a range. If the store does not support range deletes, the function deletes one key after
    /// the other. If `high` is not above `low`, deletes nothing.
    fn delete_range(&mut self, low: &[u8], high: &[u8]) -> Result<(), TargetError> {
        if high <= low {
            return Ok(());
        }
        if let Some(deleted) = self.target.delete_range(low, high) {
            return deleted;
        }
        let mut keys = Vec::new();
        let scan = Scan { low, high: Some(high), direction: Direction::Forward, limit: usize::MAX };
        self.target.range(&scan, &mut |key, _| keys.push(key.to_vec()))?;
        keys.iter().try_for_each(|key| self.target.delete(key))
    }

    /// Returns the digest (a 64-bit hash) of the last answer, for the record in
    /// [`AnswerDigests`](crate::AnswerDigests).
    pub fn digest(&self) -> u64 {
        match self.digest {
            Digest::Value { found } => digest::of_value(found.then_some(&*self.value)),
            Digest::Made(digest) => digest,
        }
    }

    /// Returns the value that the last get or read-modify-write found. `None` if the key was absent.
    pub fn value(&self) -> Option<&[u8]> {
        matches!(self.digest, Digest::Value { found: true }).then_some(&*self.value)
    }

    #[inline]
    fn get(&mut self, key: &[u8]) -> Result<AnswerCounts, TargetError> {
        self.value.clear();
        let found = self.target.get(key, &mut self.value)?;
        self.digest = Digest::Value { found };
        Ok(AnswerCounts { found: u32::from(found), missing: u32::from(!found), entries: 0 })
    }

    #[inline]
    fn put(&mut self, batch: &Batch, at: usize) -> Result<AnswerCounts, TargetError> {
        self.digest = Digest::Made(0);
        self.target.put(batch.key(at), batch.value(at))?;
        Ok(AnswerCounts::default())
    }

    fn range(&mut self, batch: &Batch, at: usize, check: bool) -> Result<AnswerCounts, TargetError> {
        let operation = &batch.operations()[at];
        let limit = operation.count as usize;
        if let Some(high) = batch.end(at) {
            let direction = if operation.backward { Direction::Backward } else { Direction::Forward };
            return self.scan(&Scan { low: batch.key(at), high: Some(high), direction, limit }, check);
        }
        if !operation.backward {
            let scan = Scan { low: batch.key(at), high: None, direction: Direction::Forward, limit };
            return self.scan(&scan, check);
        }
        // A backward scan must include its start key, so its exclusive end is the next larger key.
        let mut bound = std::mem::take(&mut self.bound);
        bound.clear();
        bound.extend_from_slice(batch.key(at));
        bound.push(0);
        let scan = Scan { low: b"", high: Some(&bound), direction: Direction::Backward, limit };
        let outcome = self.scan(&scan, check);
        self.bound = bound;
        outcome
    }

    fn prefix(&mut self, batch: &Batch, at: usize, check: bool) -> Result<AnswerCounts, TargetError> {
        let operation = &batch.operations()[at];
        let low = prefix::of(batch.key(at), operation.count);
        let mut bound = std::mem::take(&mut self.bound);
        let high = prefix::end_of(low, &mut bound).then_some(&*bound);
        let direction = if operation.backward { Direction::Backward } else { Direction::Forward };
        let outcome = self.scan(&Scan { low, high, direction, limit: usize::MAX }, check);
        self.bound = bound;
        outcome
    }

    fn scan(&mut self, scan: &Scan<'_>, check: bool) -> Result<AnswerCounts, TargetError> {
        let entries = if check {
            let mut parts = Parts::default();
            let entries = self.target.range(scan, &mut |key, value| parts.entry(key, value))?;
            self.digest = Digest::Made(parts.digest());
            entries
        } else {
            self.digest = Digest::Made(0);
            self.target.range(scan, &mut |key, value| {
                std::hint::black_box((key, value));
            })?
        };
        Ok(AnswerCounts { entries: u32::try_from(entries).unwrap_or(u32::MAX), ..AnswerCounts::default() })
    }

    fn write(&mut self, batch: &Batch, at: usize) -> Result<AnswerCounts, TargetError> {
        let members = at + 1..at + batch.width(at);
        let writes = members.map(|member| {
            let (key, kind) = (batch.key(member), batch.operations()[member].kind);
            Ok(match kind {
                Kind::Delete => Write::Delete { key },
                Kind::SingleDelete => Write::SingleDelete { key },
                Kind::Merge => Write::Merge { key, operand: batch.value(member) },
                Kind::DeleteRange => {
                    let high =
                        batch.end(member).ok_or("the batch must contain the end key of each range delete")?;
                    Write::DeleteRange { low: key, high }
                }
                _ => Write::Put { key, value: batch.value(member) },
            })
        });
        let writes = writes.collect::<Result<Vec<Write<'_>>, TargetError>>()?;
        self.digest = Digest::Made(0);
        self.target.write(&writes)?;
        Ok(AnswerCounts::default())
    }

    fn multi_get(&mut self, batch: &Batch, at: usize, check: bool) -> Result<AnswerCounts, TargetError> {
        let keys: Vec<&[u8]> = (at + 1..at + batch.width(at)).map(|member| batch.key(member)).collect();
        let mut outcome = AnswerCounts::default();
        let digests = &mut self.digests;
        digests.clear();
        digests.resize(keys.len(), 0);
        self.target.multi_get(&keys, &mut |place, value| {
            outcome.found += u32::from(value.is_some());
            outcome.missing += u32::from(value.is_none());
            if check {
                digests[place] = digest::of_value(value);
            }
            std::hint::black_box(value);
        })?;
        let mut parts = Parts::default();
        for digest in digests {
            parts.add(*digest);
        }
        self.digest = Digest::Made(parts.digest());
        Ok(outcome)
    }
}
