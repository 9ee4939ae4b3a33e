//! Checks whether the recorded operations of a race (its history) are strictly serializable: there is one order of all
//! commits and reads in which each operation takes effect between its call and its return, and every read shows exactly
//! the commits before it.
//!
//! For a single key, strict serializability is the same as linearizability (Herlihy & Wing, TOPLAS 12(3), 1990). The
//! problem is NP-hard for arbitrary histories (Papadimitriou, JACM 26(4), 1979), but not if every value identifies its
//! write. Most keys have only one writer, so the order of their versions is known. A read therefore sees the first
//! commits of each such writer. The number of these commits is the [cut](Cuts) of the read. Keys that all writers share
//! are [registers](super::register). Both checks add edges to one [graph](super::serial). A cycle in the graph proves
//! that no order exists (Adya, "Weak Consistency", 1999; Kingsbury & Alvaro, "Elle", VLDB 2020).
//!
//! A read of an absent key does not identify the delete that it saw. If several deletes are possible, the check allows
//! all of them. It therefore misses some violations, but never reports a false violation.

use super::history::{At, Cell, History, Moment, OperationKind};
use super::keys::{HIDDEN, Key, NOTHING, Version, named, parts};
use super::register::check_register;
use super::renamed::renamed;
use super::serial::Order;
use crate::violation::{Check, Violation};

/// Checks that the recorded operations of a race are strictly serializable.
///
/// # Errors
/// Returns the first violation that the check finds.
pub(crate) fn check(history: &History) -> Result<(), Violation> {
    let cuts = Cuts::new(history);
    let mut order = Order::new(history);
    for read in history.operations().filter(|at| at.operation.kind != OperationKind::Commit) {
        cuts.check_read(read, &mut order).map_err(|violation| renamed(violation, read.operation.kind))?;
    }
    for key in history.keys.of(history.keys.writers) {
        check_register(history, key, &mut order)?;
    }
    order.check()
}

/// The commits of one writer of a race, in the order of their execution.
struct Writer<'a> {
    commits: Vec<At<'a>>,
    called: Vec<Moment>,
    returned: Vec<Moment>,
    /// The versions of each key in order, each with the number of the commit that wrote it. The initial version has the
    /// number 0.
    versions: Vec<Vec<(usize, Version)>>,
}

/// Computes how many commits of each writer a read of a race may have seen. The result is a range, the [`Cut`].
struct Cuts<'a> {
    history: &'a History,
    writers: Vec<Writer<'a>>,
}

/// The smallest and the largest number of commits of one writer that a read may have seen, both inclusive.
type Cut = (usize, usize);

impl<'a> Writer<'a> {
    fn new(history: &'a History, number: usize) -> Self {
        let is_own = |at: &At<'_>| at.thread == number && at.operation.kind == OperationKind::Commit;
        let commits: Vec<At<'_>> = history.operations().filter(is_own).collect();
        let mut versions: Vec<Vec<(usize, Version)>> =
            history.initial.iter().map(|version| vec![(0, *version)]).collect();
        for (commit, at) in (1..).zip(&commits) {
            for Cell { key, version } in at.cells() {
                if version & HIDDEN == 0 && history.keys.owner(*key) == Some(number) {
                    versions[usize::from(*key)].push((commit, *version));
                }
            }
        }
        let called = commits.iter().map(|at| at.operation.called).collect();
        let returned = commits.iter().map(|at| at.operation.returned).collect();
        Self { commits, called, returned, versions }
    }

    /// Returns the number of the last commit of this writer after which a key still has its version `versions[at]`.
    /// `versions` contains all versions of the key.
    fn end_of(&self, versions: &[(usize, Version)], at: usize) -> usize {
        versions.get(at + 1).map_or(self.commits.len(), |(next, _)| next - 1)
    }

    /// Returns the smallest and the largest number of commits of this writer after which a key has the version that
    /// commit `commit` wrote.
    fn span(&self, key: Key, commit: usize) -> Cut {
        let versions = &self.versions[usize::from(key)];
        (commit, self.end_of(versions, versions.partition_point(|(at, _)| *at < commit)))
    }

    /// Returns the smallest and the largest number of commits of this writer, both within `cut`, after which a key is
    /// absent. Returns `None` if the key is never absent within `cut`.
    fn span_of_nothing(&self, key: Key, cut: Cut) -> Option<Cut> {
        let versions = &self.versions[usize::from(key)];
        let first = versions.partition_point(|(commit, _)| *commit <= cut.0) - 1;
        let inside = (first..versions.len()).take_while(|at| versions[*at].0 <= cut.1);
        let empty: Vec<usize> = inside.filter(|at| versions[*at].1 == NOTHING).collect();
        let (first, last) = (*empty.first()?, *empty.last()?);
        Some((versions[first].0.max(cut.0), self.end_of(versions, last).min(cut.1)))
    }

    /// Returns the next version of a key after the first `commits` commits of this writer. Returns [`NOTHING`] if this
    /// writer does not write the key again.
    fn next_version(&self, key: Key, commits: usize) -> Version {
        let versions = &self.versions[usize::from(key)];
        let at = versions.partition_point(|(commit, _)| *commit <= commits);
        versions.get(at).map_or(NOTHING, |(_, version)| *version)
    }

    /// Returns the number of the last commit that wrote a key, among the first `commits` commits of this writer.
    fn last_write(&self, key: Key, commits: usize) -> usize {
        let versions = &self.versions[usize::from(key)];
        versions[versions.partition_point(|(commit, _)| *commit <= commits) - 1].0
    }
}

impl<'a> Cuts<'a> {
    fn new(history: &'a History) -> Self {
        Self {
            history,
            writers: (0..history.keys.writers).map(|number| Writer::new(history, number)).collect(),
        }
    }

    /// Checks a single read, and records in `order` which commits precede and which commits follow the read.
    fn check_read(&self, read: At<'a>, order: &mut Order<'a>) -> Result<(), Violation> {
        self.check_written(read)?;
        for (number, writer) in self.writers.iter().enumerate() {
            let (seen, most) = self.cut(read, number)?;
            // A copy of the disk may contain unacknowledged writes, so it has no order relative to reads.
            if read.operation.kind == OperationKind::Crashed {
                continue;
            }
            if let Some(last_seen) = seen.checked_sub(1) {
                order.add(writer.commits[last_seen], read);
            }
            if let Some(unseen) = writer.commits.get(most) {
                order.add(read, *unseen);
            }
        }
        Ok(())
    }

    /// Checks each version that a read returned: it must have been written, must be the last version of its commit, and
    /// must not differ from another version that the read returned for the same key.
    fn check_written(&self, read: At<'_>) -> Result<(), Violation> {
        let mut seen = vec![None; self.history.keys.len()];
        for Cell { key, version } in read.cells() {
            let before = seen[usize::from(*key)].replace(*version);
            let (round, writer, commit) = parts(*version);
            let check = if before.is_some_and(|before| before != *version) {
                Check::Moments
            } else if *version == NOTHING || *version == self.history.initial[usize::from(*key)] {
                continue;
            } else if version & HIDDEN != 0 {
                Check::Batch
            } else if round < self.history.round {
                Check::Stale
            } else if self.has_written(writer, commit, Cell { key: *key, version: *version }) {
                continue;
            } else {
                Check::Invention
            };
            return Err(violation(check, read, *key, *version, None));
        }
        Ok(())
    }

    fn has_written(&self, writer: usize, commit: usize, cell: Cell) -> bool {
        let commits = self.writers.get(writer).map(|writer| &writer.commits);
        let commit = commits.and_then(|commits| commits.get(commit.wrapping_sub(1)));
        commit.is_some_and(|commit| commit.cells().contains(&cell))
    }

    /// Returns how many commits of writer `number` a read may have seen, as the smallest and the largest number.
    fn cut(&self, read: At<'_>, number: usize) -> Result<Cut, Violation> {
        let writer = &self.writers[number];
        let commit = |number: usize| number.checked_sub(1).and_then(|at| writer.commits.get(at)).copied();
        let window = (
            writer.returned.partition_point(|returned| *returned < read.operation.called),
            writer.called.partition_point(|called| *called < read.operation.returned),
        );
        let own = read.cells().iter().filter(|cell| self.history.keys.owner(cell.key) == Some(number));
        let (absent, present): (Vec<&Cell>, Vec<&Cell>) = own.partition(|cell| cell.version == NOTHING);
        let mut cut = window;
        for Cell { key, version } in present {
            let (round, _, of_round) = parts(*version);
            let span = writer.span(*key, if round == self.history.round { of_round } else { 0 });
            if span.1 < window.0 {
                let is_deleted = writer.next_version(*key, span.1) == NOTHING;
                let check = if is_deleted { Check::Deletion } else { Check::Stale };
                return Err(violation(check, read, *key, *version, commit(span.1 + 1)));
            }
            if span.0 > window.1 {
                return Err(violation(Check::Future, read, *key, *version, commit(span.0)));
            }
            cut = narrowed(cut, span)
                .map_err(|(check, seen)| violation(check, read, *key, *version, commit(seen)))?;
        }
        for Cell { key, .. } in absent {
            let span = writer.span_of_nothing(*key, cut).or_else(|| writer.span_of_nothing(*key, window));
            let Some(span) = span else {
                let last = commit(writer.last_write(*key, window.0));
                return Err(violation(Check::Missing, read, *key, NOTHING, last));
            };
            cut = narrowed(cut, span)
                .map_err(|(check, seen)| violation(check, read, *key, NOTHING, commit(seen)))?;
        }
        Ok(cut)
    }
}

/// Returns the numbers of commits that are in both ranges. `cut` follows from the keys that were checked so far, and
/// `span` from one more key. If the ranges have no common number, the error contains the failed check, and a commit
/// that the read saw only in part.
fn narrowed(cut: Cut, span: Cut) -> Result<Cut, (Check, usize)> {
    let (seen, most) = (cut.0.max(span.0), cut.1.min(span.1));
    if seen <= most {
        return Ok((seen, most));
    }
    Err((if seen == most + 1 { Check::Batch } else { Check::Moments }, seen))
}

fn violation(check: Check, read: At<'_>, key: Key, version: Version, other: Option<At<'_>>) -> Violation {
    let other = other.map_or_else(String::new, |commit| format!("; conflicting commit: {commit}"));
    Violation::new(
        check,
        format!("a read returned the version {} of key {key}: {read}{other}", named(version)),
    )
}
