//! The invariants of memtables. Each invariant is a function that checks one memtable policy. The checks with one
//! thread compare every result of a memtable with the result of a reference model. The results must be equal, before
//! and after the memtable becomes immutable. The messages name the violated invariant by its number in the
//! documentation of [`Memtable`].

use std::ops::Bound;

use catalog::laws::Invariant;
use types::{Direction, SequenceNumber};

use super::model::{
    Known, Model, Scan, Write, drain, entries, get, hashed, insert, insert_all, owned, pages, scan, scans,
};
use super::stress;
use crate::{Memtable, MemtablePolicy};

/// The memtable policy whose invariants are checked.
pub(crate) struct Subject(pub(crate) Box<dyn MemtablePolicy>);

/// All invariants of memtables, each with its name.
pub(crate) const INVARIANTS: &[Invariant<Subject>] = &[
    ("lookups and scans return the results of the reference model", every_history_is_answered),
    ("a scan returns the entries that existed at its start, even during inserts", |subject| {
        check_going_on(&*subject.0)
    }),
    ("keys and values of the largest sizes are stored completely", |subject| check_sizes(&*subject.0)),
    ("a batch of any size has the effect of single inserts", |subject| check_large_batches(&*subject.0)),
    ("concurrent readers see only complete writes, in order", |subject| stress::check(&*subject.0)),
    ("len() returns the number of inserted versions", |subject| stress::check_count(&*subject.0)),
];

fn every_history_is_answered(subject: &Subject) -> Result<(), String> {
    let mut histories = histories().into_iter();
    histories.try_for_each(|(name, history)| {
        check(&*subject.0, &history).map_err(|broken| format!("{name}: {broken}"))
    })
}

/// Returns short write histories that have exposed bugs of memtables, each with its name. The checks read every key of
/// these histories at every snapshot.
pub(crate) fn histories() -> Vec<(&'static str, Vec<Write>)> {
    let number = |keys: Vec<Vec<u8>>| -> Vec<Write> {
        let write = |(at, key): (usize, Vec<u8>)| {
            let value = (at % 5 != 3).then(|| vec![at as u8; at % 4]);
            Write { key, sequence: at as u64 + 1, value }
        };
        keys.into_iter().enumerate().map(write).collect()
    };
    let prefixes = (0..12).chain(28..34).map(|len| vec![b'a'; len]);
    let zeros = (0..12).chain(28..34).map(|len| [vec![b'a'], vec![0; len]].concat());
    let ends = (0..9).rev().map(|len| [vec![0; len], vec![1; len % 3]].concat());
    let ascending = (0..40u8).map(|at| vec![b'k', at]);
    let hot = (0..60).map(|at| if at % 6 == 0 { vec![b'c', at] } else { b"hot".to_vec() });
    let mut unordered = number(hot.clone().collect());
    unordered.sort_by_key(|write| write.sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let versions = (0..3).flat_map(|_| [b"a".to_vec(), b"b".to_vec(), b"c".to_vec()]);
    vec![
        ("nothing", Vec::new()),
        ("the empty key", number(vec![Vec::new(), Vec::new()])),
        ("keys that are prefixes of each other", number(prefixes.collect())),
        ("keys that differ in trailing zeros", number(zeros.collect())),
        ("keys of zeros with a suffix", number(ends.collect())),
        ("keys in order", number(ascending.clone().collect())),
        ("keys in reverse", number(ascending.rev().collect())),
        ("several writes of every key", number(versions.collect())),
        ("a hot key among other keys", number(hot.collect())),
        ("writes with sequence numbers out of order", unordered),
    ]
}

/// Checks that a batch of inserts has the effect of single inserts.
fn check_batches(policy: &dyn MemtablePolicy, history: &[Write]) -> Result<(), String> {
    for most in [2, usize::MAX] {
        let table = policy.create(1 << 16);
        let table = &*table;
        let mut model = Model::default();
        insert_all(table, &[]);
        for run in history.chunk_by(|write, next| write.sequence + 1 == next.sequence) {
            for batch in run.chunks(most) {
                insert_all(table, batch);
                batch.iter().for_each(|write| model.insert(write));
                for write in batch {
                    let (seen, expected) =
                        (get(table, &write.key, write.sequence), model.get(&write.key, write.sequence));
                    same(
                        || {
                            "invariant 5: result of get() for a key after the insertion of its batch"
                                .to_owned()
                        },
                        &seen,
                        &expected,
                    )?;
                }
                same(
                    || "invariant 5: len() after the insertion of a batch".to_owned(),
                    &table.len(),
                    &model.0.len(),
                )?;
            }
        }
        check_answers(table, &model)
            .map_err(|broken| format!("invariant 5, batches of at most {most} writes: {broken}"))?;
    }
    Ok(())
}

/// Checks inserts in batches that are larger than the internal batches of a memtable. The keys of the batches are in
/// different orders, and some keys occur several times.
pub(crate) fn check_large_batches(policy: &dyn MemtablePolicy) -> Result<(), String> {
    let mixed = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let orders: [&dyn Fn(u64) -> u64; 5] = [&|at| at, &|at| 1000 - at, &mixed, &|at| mixed(at) % 7, &|at| {
        if at.is_multiple_of(9) { 0 } else { at }
    }];
    for (order, number_of) in orders.into_iter().enumerate() {
        let table = policy.create(1 << 16);
        let mut model = Model::default();
        let write = |at: u64| {
            let value = (!at.is_multiple_of(11)).then(|| at.to_le_bytes().repeat(at as usize % 3));
            Write { key: number_of(at).to_be_bytes().to_vec(), sequence: at + 1, value }
        };
        let writes: Vec<Write> = (0..600).map(write).collect();
        for batch in writes.chunks(250) {
            insert_all(&*table, batch);
            batch.iter().for_each(|write| model.insert(write));
        }
        for write in &writes {
            let (seen, expected) =
                (get(&*table, &write.key, write.sequence), model.get(&write.key, write.sequence));
            same(
                || {
                    format!(
                        "invariant 5, key order {order}: result of get() for the key and sequence number of {write:?}"
                    )
                },
                &seen,
                &expected,
            )?;
        }
        table.freeze();
        let asked = Scan {
            from: Bound::Unbounded,
            direction: Direction::Forward,
            snapshot: SequenceNumber::MAX,
            limit: usize::MAX,
        };
        same(
            || format!("invariant 5, key order {order}: entries that drain() returns"),
            &drain(&*table),
            &model.scan(asked),
        )?;
    }
    Ok(())
}

/// Checks all invariants that one thread can check, with one history of writes. Lookups and scans are checked after
/// half of the writes, after all writes, and after the memtable has become immutable. Then the function checks the
/// entries of `drain`, and inserts in batches.
pub(crate) fn check(policy: &dyn MemtablePolicy, history: &[Write]) -> Result<(), String> {
    let table = policy.create(1 << 16);
    let table = &*table;
    let mut model = Model::default();
    for (at, write) in history.iter().enumerate() {
        insert(table, write);
        model.insert(write);
        let (seen, expected) =
            (get(table, &write.key, write.sequence), model.get(&write.key, write.sequence));
        same(|| "invariant 2: result of get() for a key after its insertion".to_owned(), &seen, &expected)?;
        same(|| "len() after an insert".to_owned(), &table.len(), &(at + 1))?;
        if at == history.len() / 2 {
            check_answers(table, &model)?;
        }
    }
    same(|| "emptiness".to_owned(), &table.is_empty(), &history.is_empty())?;
    let shards = table.shard_lens();
    let in_shards = if shards.is_empty() { history.len() } else { shards.iter().sum() };
    same(|| "sum of shard_lens() over all shards".to_owned(), &in_shards, &history.len())?;
    check_answers(table, &model)?;
    table.freeze();
    check_answers(table, &model).map_err(|broken| format!("invariant 4, immutable: {broken}"))?;
    let all = Scan {
        from: Bound::Unbounded,
        direction: Direction::Forward,
        snapshot: SequenceNumber::MAX,
        limit: usize::MAX,
    };
    same(|| "invariant 4: entries that drain() returns".to_owned(), &drain(table), &model.scan(all))?;
    check_batches(policy, history)
}

/// Compares lookups and scans with the reference model. The lookups cover every key and its neighbors at every
/// snapshot. The scans start at each of these keys, at some of the snapshots.
fn check_answers(table: &dyn Memtable, model: &Model) -> Result<(), String> {
    let probes = probes(model);
    let newest = model.0.keys().map(|(_, sequence)| sequence.0).max().unwrap_or(0);
    let snapshots: Vec<SequenceNumber> = (0..=newest + 1).chain([SequenceNumber::MAX]).collect();
    for snapshot in &snapshots {
        for key in &probes {
            let (seen, expected) = (get(table, key, *snapshot), model.get(key, *snapshot));
            same(
                || format!("invariant 1: result of get() for {key:?} at snapshot {snapshot}"),
                &seen,
                &expected,
            )?;
            let (seen, expected) =
                (table.sequence_of(hashed(key), *snapshot), model.sequence_of(key, *snapshot));
            same(
                || format!("invariant 1: result of sequence_of() for {key:?} at snapshot {snapshot}"),
                &seen,
                &expected,
            )?;
        }
    }
    for snapshot in [0, newest / 3, newest / 2, newest, SequenceNumber::MAX] {
        for direction in [Direction::Forward, Direction::Backward] {
            for limit in [0, 1, 3, usize::MAX] {
                let bounds =
                    probes.iter().flat_map(|key| [Bound::Included(&key[..]), Bound::Excluded(&key[..])]);
                for from in bounds.chain([Bound::Unbounded]) {
                    let asked = Scan { from, direction, snapshot, limit };
                    let expected = model.scan(asked);
                    same(|| format!("invariant 3: {asked:?}"), &scan(table, asked), &expected)?;
                    same(
                        || format!("invariant 3: result of entries() for {asked:?}"),
                        &entries(table, asked),
                        &expected,
                    )?;
                }
            }
            check_pages(table, model, direction, snapshot)?;
        }
    }
    Ok(())
}

/// Checks that a scan in pages of a few entries returns the entries of one unlimited scan.
fn check_pages(
    table: &dyn Memtable,
    model: &Model,
    direction: Direction,
    snapshot: SequenceNumber,
) -> Result<(), String> {
    let at_once = model.scan(Scan { from: Bound::Unbounded, direction, snapshot, limit: usize::MAX });
    for limit in [1, 2, 7] {
        let asked = Scan { from: Bound::Unbounded, direction, snapshot, limit };
        let restarted = scans(table, asked, at_once.len());
        same(
            || {
                format!(
                    "invariant 3: entries of a {direction:?} scan at snapshot {snapshot}, restarted after every \
                     {limit} entries"
                )
            },
            &restarted,
            &at_once,
        )?;
        let continued = pages(table, asked, at_once.len());
        same(
            || {
                format!(
                    "invariant 3: entries of a {direction:?} scan at snapshot {snapshot}, continued after every \
                     {limit} entries"
                )
            },
            &continued,
            &at_once,
        )?;
    }
    Ok(())
}

/// Checks that a scan returns the entries that existed at its start. Between two pages, writes are inserted at the
/// position of the scan.
pub(crate) fn check_going_on(policy: &dyn MemtablePolicy) -> Result<(), String> {
    let write =
        |key: u64, sequence| Write { key: key.to_be_bytes().to_vec(), sequence, value: Some(vec![7; 9]) };
    for direction in [Direction::Forward, Direction::Backward] {
        let table = policy.create(1 << 16);
        let mut model = Model::default();
        for key in 0..300 {
            let old = write(key * 3, key + 1);
            insert(&*table, &old);
            model.insert(&old);
        }
        let asked = Scan { from: Bound::Unbounded, direction, snapshot: 300, limit: 5 };
        let mut page = table.entries(asked.from, direction, asked.snapshot, asked.limit);
        let (mut found, mut limit) = (owned(&page), asked.limit);
        for round in 1.. {
            if page.len() < limit {
                break;
            }
            // The inserts are new keys before, at and after the position, and new versions of existing keys. The
            // number of inserts is large enough to split nodes.
            (0..300).for_each(|key| insert(&*table, &write(key * 3 + round % 3, 300 * round + key + 1)));
            limit = 1 + (round as usize * 7) % 40;
            if !page.go_on(limit) {
                let (last, _) = found.last().expect("a full page of a scan must have entries");
                page = table.entries(Bound::Excluded(last), direction, asked.snapshot, limit);
            }
            found.extend(owned(&page));
        }
        let expected = model.scan(Scan { limit: usize::MAX, ..asked });
        same(
            || format!("invariant 3: entries of a {direction:?} scan that continues during inserts"),
            &found,
            &expected,
        )?;
    }
    Ok(())
}

/// Returns the keys that the checks look up: all keys of the model, keys next to each of them, the empty key, and a key
/// above all others. Some of these keys are not in the memtable.
fn probes(model: &Model) -> Vec<Vec<u8>> {
    let mut probes = vec![Vec::new(), vec![0xff; 40]];
    for key in model.keys() {
        let shorter = &key[..key.len().saturating_sub(1)];
        probes.extend([key.to_vec(), [key, &[0]].concat(), shorter.to_vec(), [shorter, &[0xff]].concat()]);
    }
    probes.sort();
    probes.dedup();
    probes
}

/// Checks keys and values with the largest sizes that a tree allows. Also checks that the memtable reports a plausible
/// memory: at least the size of these keys and values, and less than twice this size.
pub(crate) fn check_sizes(policy: &dyn MemtablePolicy) -> Result<(), String> {
    let table = policy.create(1 << 20);
    let table = &*table;
    let mut model = Model::default();
    let key_of = |len: usize, last: u8| [vec![7; len], vec![last]].concat();
    let sizes = [(0, 1 << 20), (65_535, 0), (65_535, 1 << 20), (65_534, 3), (1000, 70_000), (20, 4096)];
    let mut user_bytes = 0;
    for round in 0..3 {
        for (at, (key_len, value_len)) in sizes.into_iter().enumerate() {
            let sequence = (round * sizes.len() + at) as u64 + 1;
            let write = Write {
                key: key_of(key_len, at as u8),
                sequence,
                value: Some(vec![sequence as u8; value_len]),
            };
            insert(table, &write);
            user_bytes += value_len + if round == 0 { key_len + 1 } else { 0 };
            model.insert(&write);
        }
    }
    for is_frozen in [false, true] {
        if is_frozen {
            table.freeze();
        }
        for direction in [Direction::Forward, Direction::Backward] {
            let asked = Scan { from: Bound::Unbounded, direction, snapshot: 11, limit: usize::MAX };
            if scan(table, asked) != model.scan(asked) {
                return Err(format!(
                    "invariant 3: a {direction:?} scan of keys of up to 65536 bytes and values of up to 1 MiB \
                     returns wrong entries"
                ));
            }
        }
        for key in model.keys() {
            if get(table, key, 11) != model.get(key, 11) || get(table, &key[1..], 11) != Known::Nothing {
                return Err(format!(
                    "invariant 1: get() returns a wrong result for a key of {} bytes, or get() finds this \
                     key without its first byte, although the shorter key was not inserted",
                    key.len()
                ));
            }
        }
    }
    let held = table.memory_bytes();
    if !(user_bytes..user_bytes * 2).contains(&held) {
        return Err(format!(
            "the memtable reports {held} bytes of memory for {user_bytes} bytes of keys and values; the reported \
             memory must be at least this size, and less than twice this size"
        ));
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(
    what: impl FnOnce() -> String,
    seen: &T,
    expected: &T,
) -> Result<(), String> {
    if seen == expected { Ok(()) } else { Err(format!("{}: {seen:?}, expected {expected:?}", what())) }
}
