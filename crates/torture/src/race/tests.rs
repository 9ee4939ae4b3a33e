//! Tests the check of histories with histories that were written by hand, and with random histories. For random
//! histories, the tests try every order of the operations.

use std::collections::HashSet;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::check::check;
use super::history::{At, Cell, History, Log, OperationKind};
use super::keys::{HIDDEN, Key, Keys, NOTHING, Version, version};
use crate::violation::Check;

const KEYS: Keys = Keys { writers: 2 };
const ROUND: u32 = 1;

/// Two keys of writer 0, and two keys of writer 1.
const OWN: [[Key; 2]; 2] = [[0, 3], [1, 4]];
/// Two keys that the writers share.
const SHARED: [Key; 2] = [2, 5];

/// An operation as a tuple: thread, kind, times of the call and the return, and cells.
type Line = (usize, OperationKind, (u64, u64), Vec<(Key, Version)>);

fn history(lines: &[Line]) -> History {
    let mut logs = vec![Log::default(), Log::default(), Log::default()];
    for (thread, kind, moments, cells) in lines {
        let cells: Vec<Cell> =
            cells.iter().map(|(key, version)| Cell { key: *key, version: *version }).collect();
        logs[*thread].add(*kind, *moments, &cells);
    }
    History { round: ROUND, keys: KEYS, initial: vec![NOTHING; KEYS.len()], logs }
}

/// Returns the version that commit number `commit` of a writer writes.
fn by(writer: usize, commit: usize) -> Version {
    version(ROUND, writer, commit)
}

#[track_caller]
fn assert_found(lines: &[Line], wanted: Option<Check>) {
    let found = check(&history(lines)).err();
    assert_eq!(found.as_ref().map(|violation| violation.check), wanted, "{found:?}");
}

#[test]
fn what_threads_may_see_is_no_violation() {
    use OperationKind::{Commit, Cursor, Get};
    assert_found(&[], None);
    // A read that is concurrent with a write may or may not see the write. Two reads of one thread must agree in this
    // order.
    let write = (0, Commit, (10, 20), vec![(0, by(0, 1)), (2, by(0, 1))]);
    for (first, second) in [(NOTHING, NOTHING), (NOTHING, by(0, 1)), (by(0, 1), by(0, 1))] {
        let reads =
            [(1, Get, (11, 12), vec![(0, first)]), (1, Cursor, (13, 14), vec![(0, second), (2, second)])];
        assert_found(&[std::slice::from_ref(&write), &reads[..]].concat(), None);
    }
}

#[test]
fn every_rule_has_a_history_that_breaks_it() {
    use OperationKind::{Checkpoint, Commit, Crashed, Get, MultiGet, Reopened};
    let put = (0, Commit, (10, 20), vec![(0, by(0, 1))]);
    let again = (0, Commit, (30, 40), vec![(0, by(0, 2))]);
    let late = |kind, version| (2, kind, (50, 60), vec![(0, version)]);
    let put_twice = |line: Line| vec![put.clone(), again.clone(), line];
    assert_found(&put_twice(late(Get, by(0, 1))), Some(Check::Stale));
    assert_found(&put_twice(late(Get, NOTHING)), Some(Check::Missing));
    assert_found(&put_twice(late(Checkpoint, by(0, 1))), Some(Check::Checkpoint));
    assert_found(&put_twice(late(Reopened, by(0, 1))), Some(Check::Promise));
    assert_found(&put_twice(late(Crashed, by(0, 1))), Some(Check::Promise));
    assert_found(&put_twice(late(Get, by(0, 3))), Some(Check::Invention));
    assert_found(&put_twice(late(Get, by(0, 2) | HIDDEN)), Some(Check::Batch));
    assert_found(&put_twice(late(Get, version(0, 0, 1))), Some(Check::Stale));
    assert_found(&put_twice((2, Get, (21, 25), vec![(0, by(0, 2))])), Some(Check::Future));
    let delete = (0, Commit, (30, 40), vec![(0, NOTHING)]);
    assert_found(&[put.clone(), delete, late(Get, by(0, 1))], Some(Check::Deletion));
    let batch = (0, Commit, (10, 20), vec![(0, by(0, 1)), (3, by(0, 1))]);
    assert_found(&[batch, (2, MultiGet, (11, 12), vec![(0, by(0, 1)), (3, NOTHING)])], Some(Check::Batch));
    let (a, b) = ((0, Commit, (10, 20), vec![(0, by(0, 1))]), (0, Commit, (21, 30), vec![(3, by(0, 2))]));
    let c = (0, Commit, (31, 40), vec![(0, by(0, 3))]);
    let torn = (2, MultiGet, (11, 39), vec![(3, NOTHING), (0, by(0, 3))]);
    assert_found(&[a, b, c, torn], Some(Check::Moments));
}

#[test]
fn two_readers_must_agree_on_the_order_of_two_writers() {
    use OperationKind::{Commit, MultiGet};
    let writes = |thread, key| (thread, Commit, (10, 50), vec![(key, by(thread, 1))]);
    let read = |moments, a, b| (2, MultiGet, moments, vec![(0, a), (1, b)]);
    let first = read((11, 12), by(0, 1), NOTHING);
    assert_found(&[writes(0, 0), writes(1, 1), first.clone(), read((13, 14), by(0, 1), by(1, 1))], None);
    assert_found(
        &[writes(0, 0), writes(1, 1), first, read((13, 14), NOTHING, by(1, 1))],
        Some(Check::Serial),
    );
}

#[test]
fn a_shared_key_goes_through_its_values_once() {
    use OperationKind::{Commit, Get};
    let put = |writer, moments| (writer, Commit, moments, vec![(2, by(writer, 1))]);
    let (a, b) = (put(0, (10, 50)), put(1, (11, 51)));
    let read = |at: u64, version| (2, Get, (at, at + 1), vec![(2, version)]);
    let (first, second) = (read(12, by(0, 1)), read(14, by(1, 1)));
    assert_found(&[a.clone(), b.clone(), first.clone(), second.clone(), read(52, by(1, 1))], None);
    assert_found(&[a.clone(), b, first.clone(), second, read(16, by(0, 1))], Some(Check::Register));
    let delete = (1, Commit, (60, 61), vec![(2, NOTHING)]);
    assert_found(&[a.clone(), delete.clone(), read(70, by(0, 1))], Some(Check::Deletion));
    assert_found(&[a.clone(), read(70, NOTHING)], Some(Check::Missing));
    assert_found(&[a, delete, read(70, NOTHING)], None);
}

/// Returns whether an order of all operations explains a history. The function tries all possible orders.
fn has_order(history: &History) -> bool {
    let operations: Vec<At<'_>> = history.operations().collect();
    let mut content: Vec<Version> = history.initial.clone();
    let mut seen = HashSet::new();
    tried(&operations, 0, &mut content, &mut seen)
}

fn tried(
    operations: &[At<'_>],
    done: u32,
    content: &mut Vec<Version>,
    seen: &mut HashSet<(u32, Vec<Version>)>,
) -> bool {
    if done.count_ones() as usize == operations.len() {
        return true;
    }
    if !seen.insert((done, content.clone())) {
        return false;
    }
    let is_left = |number: &usize| done & 1 << number == 0;
    let first_return =
        (0..operations.len()).filter(is_left).map(|number| operations[number].operation.returned).min();
    for number in (0..operations.len()).filter(is_left) {
        let at = operations[number];
        if first_return.is_some_and(|first| first < at.operation.called) {
            continue;
        }
        let before = content.clone();
        let fits = at.cells().iter().all(|cell| {
            let held = &mut content[usize::from(cell.key)];
            if at.operation.kind == OperationKind::Commit {
                *held = cell.version;
            }
            *held == cell.version
        });
        if fits && tried(operations, done | 1 << number, content, seen) {
            return true;
        }
        *content = before;
    }
    false
}

/// Returns a random history of three threads, which follows a random order of its operations. Some cells then get a
/// random version, which may be wrong.
fn made_up(random: &mut impl Rng, deletes: f64, keys_of: impl Fn(usize) -> Vec<Key>) -> History {
    let count = random.random_range(3..9);
    let mut free: [u64; 3] = [1, 2, 3];
    let mut lines: Vec<(u64, Line)> = Vec::new();
    for _ in 0..count {
        let thread = random.random_range(0..3);
        let called = free[thread] + 4 * random.random_range(0..3);
        let returned = called + 4 * random.random_range(1..6);
        free[thread] = returned + 4;
        let is_commit = thread < 2 && random.random_bool(0.6);
        let kind = if is_commit { OperationKind::Commit } else { OperationKind::MultiGet };
        lines.push((random.random_range(called..=returned), (thread, kind, (called, returned), Vec::new())));
    }
    for thread in 0..2 {
        let mut commits = 0;
        let own = lines.iter_mut().filter(|(_, line)| line.0 == thread && line.1 == OperationKind::Commit);
        for (_, line) in own {
            commits += 1;
            let of_thread = keys_of(thread);
            let first = random.random_range(0..of_thread.len());
            for key in of_thread.iter().cycle().skip(first).take(random.random_range(1..3)) {
                let version = if random.random_bool(deletes) { NOTHING } else { by(thread, commits) };
                line.3.push((*key, version));
            }
        }
    }
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|line| lines[*line].0);
    let mut content = vec![NOTHING; KEYS.len()];
    let all: Vec<Key> = [keys_of(0), keys_of(1)].concat();
    let mut versions = vec![NOTHING];
    for line in order {
        let (_, (_, kind, _, cells)) = &mut lines[line];
        if *kind == OperationKind::Commit {
            cells.iter().for_each(|(key, version)| content[usize::from(*key)] = *version);
            versions.extend(cells.iter().map(|(_, version)| *version));
            continue;
        }
        for _ in 0..random.random_range(1..4) {
            let key = all[random.random_range(0..all.len())];
            let held = content[usize::from(key)];
            let is_wrong = random.random_bool(0.15);
            cells.push((key, if is_wrong { versions[random.random_range(0..versions.len())] } else { held }));
        }
    }
    history(&lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>())
}

/// Checks random histories. Returns the number of histories that have an order, the number without an order, and the
/// number without an order that the check reports. Panics if the check reports a history that has an order.
fn judged(seed: u64, deletes: f64, keys_of: impl Fn(usize) -> Vec<Key>) -> (u64, u64, u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut right, mut wrong, mut found) = (0, 0, 0);
    for _ in 0..20_000 {
        let history = made_up(&mut random, deletes, &keys_of);
        let (has_order, judged) = (has_order(&history), check(&history));
        assert!(!has_order || judged.is_ok(), "there is an order: {judged:?} {history:?}");
        right += u64::from(has_order);
        wrong += u64::from(!has_order);
        found += u64::from(!has_order && judged.is_err());
    }
    (right, wrong, found)
}

#[test]
fn with_values_of_one_writer_each_exactly_what_no_order_explains_is_found() {
    let (right, wrong, found) = judged(1, 0.0, |writer| OWN[writer].to_vec());
    assert!(right > 5000 && wrong > 2000, "{right} right, {wrong} wrong");
    assert_eq!(found, wrong);
}

#[test]
fn with_deletes_and_shared_keys_nearly_all_is_found_and_nothing_else() {
    for (seed, deletes, least) in [(2, 0.3, 0.95), (3, 0.0, 0.95), (4, 0.3, 0.9)] {
        let (right, wrong, found) = judged(seed, deletes, |writer| match seed {
            2 => OWN[writer].to_vec(),
            _ => [&OWN[writer][..1], &SHARED].concat(),
        });
        let share = found as f64 / wrong as f64;
        assert!(
            right > 3000 && wrong > 2000 && share > least,
            "{seed}: {right} right, {found} of {wrong} found"
        );
    }
}
