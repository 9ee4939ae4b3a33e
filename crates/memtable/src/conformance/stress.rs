//! Checks the invariants with concurrent threads. Writers, readers and scanners run at the same time, and the test
//! checks every result.
//!
//! The content of write number `n` is a function of `n`, so a reader at snapshot `s` knows the expected result. The
//! write numbers are divided into groups of consecutive numbers. Each of the k writers writes every k-th group, and
//! counts its completed groups. A write counts as published if all writers have completed all their groups up to the
//! number of this write.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use types::{Direction, SequenceNumber};

use super::model::{Known, OwnedEntry, Scan, Write, drain, get, insert, insert_all, pages, scans};
use crate::{Memtable, MemtablePolicy};

const WRITERS: u64 = 3;
const WRITES: u64 = 6_000;
/// The number of writes that a writer of the stress test makes in one group. The sequence numbers of a group are
/// consecutive.
const CALL: u64 = 4;
const BATCH: u64 = 75;
const KEYS: u64 = 300;

/// Inserts writes with consecutive sequence numbers into a memtable, by one call of `insert_all` if `turn` is even, and
/// by one call of `insert` per write if `turn` is odd.
fn insert_either_way(table: &dyn Memtable, turn: u64, writes: &[Write]) {
    match turn.is_multiple_of(2) {
        true => insert_all(table, writes),
        false => writes.iter().for_each(|write| insert(table, write)),
    }
}

/// Returns the write that the stress test makes with the sequence number `sequence`.
fn write(sequence: SequenceNumber) -> Write {
    let mixed = sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let value = (!mixed.is_multiple_of(7)).then(|| sequence.to_le_bytes().repeat(1 + mixed as usize % 9));
    Write { key: key(mixed % KEYS), sequence, value }
}

/// Returns the key that the stress test uses for a number. The key has 8 or 40 bytes.
fn key(number: u64) -> Vec<u8> {
    format!("{:0width$}", number, width = if number.is_multiple_of(3) { 40 } else { 8 }).into_bytes()
}

/// A stress test: the sequence numbers of each key, and the progress of the writers.
struct Run<'a> {
    table: &'a dyn Memtable,
    versions: Vec<(Vec<u8>, Vec<SequenceNumber>)>,
    finished: [AtomicU64; WRITERS as usize],
    is_over: AtomicBool,
}

/// Runs writers, readers and scanners at the same time. When the writers have finished, makes the memtable immutable
/// while the readers still run. Returns the first wrong result as an error.
pub(crate) fn check(policy: &dyn MemtablePolicy) -> Result<(), String> {
    let table = policy.create(1 << 16);
    let run = Run {
        table: &*table,
        versions: versions(),
        finished: [const { AtomicU64::new(0) }; WRITERS as usize],
        is_over: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn({
                    let run = &run;
                    move || run.write_all(writer)
                })
            })
            .collect();
        let readers = [
            scope.spawn(|| run.read()),
            scope.spawn(|| run.scan(Direction::Forward)),
            scope.spawn(|| run.scan(Direction::Backward)),
        ];
        for writer in writers {
            writer.join().expect("a thread that writes to the memtable must not panic");
        }
        run.table.freeze();
        run.is_over.store(true, Ordering::Release);
        readers
            .into_iter()
            .try_for_each(|reader| reader.join().expect("a thread that reads the memtable must not panic"))
    })
}

/// Inserts different keys from several threads. Returns an error if `len` is too low during the inserts or wrong
/// afterwards, or if `drain` does not return all entries.
pub(crate) fn check_count(policy: &dyn MemtablePolicy) -> Result<(), String> {
    let table = policy.create(1 << 20);
    let finished = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let batch = |turn: u64, writer: u64| -> Vec<Write> {
        let from = (turn * WRITERS + writer) * BATCH;
        let write = |number: u64| Write {
            key: number.to_be_bytes().to_vec(),
            sequence: number + 1,
            value: Some(number.to_le_bytes().repeat(number as usize % 40)),
        };
        (from..from + BATCH).map(write).collect()
    };
    let write_all = |writer: u64| {
        for turn in 0..WRITES / BATCH {
            insert_either_way(&*table, turn, &batch(turn, writer));
            finished.fetch_add(BATCH, Ordering::Release);
        }
    };
    let write_all = &write_all;
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write_all(writer))).collect();
        let reader = scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                let least = finished.load(Ordering::Acquire);
                let count = table.len() as u64;
                if count < least {
                    return Err(format!(
                        "invariant 2: len() returns {count}, but at least {least} inserts have returned"
                    ));
                }
            }
            Ok(())
        });
        writers
            .into_iter()
            .for_each(|writer| writer.join().expect("a thread that writes to the memtable must not panic"));
        is_over.store(true, Ordering::Release);
        reader.join().expect("a thread that reads the memtable must not panic")
    })?;
    let all: Vec<OwnedEntry> = (0..WRITES / BATCH)
        .flat_map(|turn| (0..WRITERS).flat_map(move |writer| batch(turn, writer)))
        .map(|write| (write.key, write.value))
        .collect();
    if table.len() != all.len() {
        return Err(format!(
            "invariant 2: len() returns {} after {} inserts have returned",
            table.len(),
            all.len()
        ));
    }
    table.freeze();
    if drain(&*table) == all {
        Ok(())
    } else {
        Err("invariant 5: drain() does not return exactly the inserted entries".to_owned())
    }
}

fn versions() -> Vec<(Vec<u8>, Vec<SequenceNumber>)> {
    let mut versions: Vec<_> = (0..KEYS).map(|number| (key(number), Vec::new())).collect();
    versions.sort();
    for sequence in 1..=WRITES {
        let written = write(sequence).key;
        let at = versions
            .binary_search_by(|(key, _)| key.cmp(&written))
            .expect("each write of the stress test must have one of its keys");
        versions[at].1.push(sequence);
    }
    versions
}

impl Run<'_> {
    fn write_all(&self, writer: u64) {
        for turn in 0..WRITES / WRITERS / CALL {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let first = (turn * WRITERS + writer) * CALL + 1;
            let own: Vec<Write> = (first..first + CALL).map(write).collect();
            insert_either_way(self.table, turn, &own);
            self.finished[writer as usize].store(turn + 1, Ordering::Release);
        }
    }

    /// Returns a sequence number up to which all inserts of all writers have returned. A few later inserts may also
    /// have returned.
    fn published(&self) -> SequenceNumber {
        let turns = self.finished.iter().map(|finished| finished.load(Ordering::Acquire)).min();
        turns.expect("the stress test must have at least one writer") * WRITERS * CALL
    }

    /// Calls `round`, which checks some reads, until the writers have finished, and once more after the memtable has
    /// become immutable. After a wrong result, all threads stop.
    fn until_over(&self, mut round: impl FnMut(u64) -> Result<(), String>) -> Result<(), String> {
        for number in 0.. {
            let is_last = self.is_over.load(Ordering::Acquire);
            round(number).inspect_err(|_| self.is_over.store(true, Ordering::Release))?;
            if is_last {
                break;
            }
        }
        Ok(())
    }

    /// Returns the write that a reader at `snapshot` must see. `versions` contains the sequence numbers of the writes
    /// of one key in ascending order.
    fn expected(versions: &[SequenceNumber], snapshot: SequenceNumber) -> Option<Write> {
        let visible = versions.partition_point(|sequence| *sequence <= snapshot);
        visible.checked_sub(1).map(|newest| write(versions[newest]))
    }

    fn read(&self) -> Result<(), String> {
        self.until_over(|round| {
            for step in 0..50 {
                let (key, versions) = &self.versions[((round * 50 + step) * 7 % KEYS) as usize];
                let published = self.published();
                if (self.table.len() as u64) < published {
                    return Err(format!(
                        "invariant 2: len() is below {published}, the number of inserts that have returned"
                    ));
                }
                let snapshot = if step % 2 == 0 { published } else { published / 2 };
                let seen = get(self.table, key, snapshot);
                let expected = known(Self::expected(versions, snapshot));
                if seen != expected {
                    return Err(format!(
                        "invariant 2: get() at snapshot {snapshot} returned {seen:?}, expected {expected:?}"
                    ));
                }
                self.check_newest(key, versions, published)?;
            }
            Ok(())
        })
    }

    /// Checks a lookup of the newest version of a key. The result must be a complete version that is not older than the
    /// newest version among the first `published` writes.
    fn check_newest(
        &self,
        key: &[u8],
        versions: &[SequenceNumber],
        published: SequenceNumber,
    ) -> Result<(), String> {
        let seen = get(self.table, key, SequenceNumber::MAX);
        let visible = versions.partition_point(|sequence| *sequence <= published);
        let mut possible =
            versions[visible.saturating_sub(1)..].iter().map(|sequence| known(Some(write(*sequence))));
        if possible.any(|possible| possible == seen) || visible == 0 && seen == Known::Nothing {
            Ok(())
        } else {
            Err(format!(
                "invariant 2: all inserts up to sequence number {published} had returned, but get() of the \
                 newest version returned {seen:?}. This version was never written, or is older than the \
                 newest returned insert of the key"
            ))
        }
    }

    fn scan(&self, direction: Direction) -> Result<(), String> {
        self.until_over(|round| {
            let snapshot = self.published();
            let limit = [1000, 64, 7][round as usize % 3];
            let asked = Scan { from: Bound::Unbounded, direction, snapshot, limit };
            let seen = if round.is_multiple_of(2) {
                pages(self.table, asked, KEYS as usize)
            } else {
                scans(self.table, asked, KEYS as usize)
            };
            let mut expected: Vec<OwnedEntry> = self
                .versions
                .iter()
                .filter_map(|(_, versions)| Self::expected(versions, snapshot))
                .map(|write| (write.key, write.value))
                .collect();
            if direction == Direction::Backward {
                expected.reverse();
            }
            if seen == expected {
                Ok(())
            } else {
                Err(format!(
                    "invariant 3: a {direction:?} scan at snapshot {snapshot} returned wrong entries"
                ))
            }
        })
    }
}

fn known(write: Option<Write>) -> Known {
    write.map_or(Known::Nothing, |write| write.value.map_or(Known::Tombstone, Known::Value))
}
