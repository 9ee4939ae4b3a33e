//! Checks whether the operations on one key that all writers share are linearizable.
//!
//! Every value identifies its write, so a write and the reads of its value form a cluster. A cluster precedes another
//! cluster if one of its operations returned before an operation of the other was called. No two clusters may precede
//! each other. Source: Gibbons & Korach, "Testing Shared Memories", SIAM J. Comput. 26(4), 1997, section 4.2.
//!
//! A read of an absent key does not identify the delete that it saw. Consider the deletes that were called before the
//! read returned, and among them the delete that returned last. No put may begin after this delete returned, and return
//! before the read was called.

use std::collections::HashMap;

use super::history::{At, History, Moment, OperationKind};
use super::keys::{HIDDEN, Key, NOTHING, Version, named};
use super::renamed::renamed;
use super::serial::Order;
use crate::violation::{Check, Violation};

/// A cluster: a write of a key, and all reads of its value. The cluster of the initial value has no write.
struct Cluster<'a> {
    version: Version,
    write: Option<At<'a>>,
    reads: Vec<At<'a>>,
    /// The earliest time at which an operation of this cluster (a write and its reads) returned.
    opens: Moment,
    /// The latest time at which an operation of this cluster (a write and its reads) was called.
    closes: Moment,
}

impl<'a> Cluster<'a> {
    fn new(version: Version, write: Option<At<'a>>) -> Self {
        let (opens, closes) = write.map_or((0, 0), |at| (at.operation.returned, at.operation.called));
        Self { version, write, reads: Vec::new(), opens, closes }
    }

    fn add(&mut self, read: At<'a>) {
        self.opens = self.opens.min(read.operation.returned);
        self.closes = self.closes.max(read.operation.called);
        self.reads.push(read);
    }

    fn operations(&self) -> impl Iterator<Item = At<'a>> {
        self.write.into_iter().chain(self.reads.iter().copied())
    }

    fn is_before(&self, other: &Self) -> bool {
        self.opens < other.closes
    }
}

/// Checks the operations on one key that all writers share, and adds their order to `order`.
pub(crate) fn check_register<'a>(
    history: &'a History,
    key: Key,
    order: &mut Order<'a>,
) -> Result<(), Violation> {
    let (clusters, reads_of_nothing) = clusters(history, key);
    check_reads(key, &clusters, order)?;
    check_order(key, &clusters, order)?;
    check_nothing(key, &clusters, &reads_of_nothing)
}

/// Groups the operations on a key into clusters. A cluster is a write with all reads of its value. Also returns the
/// reads that did not find the key.
fn clusters(history: &History, key: Key) -> (Vec<Cluster<'_>>, Vec<At<'_>>) {
    let initial = history.initial[usize::from(key)];
    let mut clusters = vec![Cluster::new(initial, None)];
    let mut by_version = HashMap::from([(initial, 0)]);
    let mut reads = Vec::new();
    for at in history.operations() {
        let of_key = at.cells().iter().filter(|cell| cell.key == key);
        for version in of_key.map(|cell| cell.version) {
            if at.operation.kind != OperationKind::Commit {
                reads.push((at, version));
            } else if version & HIDDEN == 0 {
                by_version.insert(version, clusters.len());
                clusters.push(Cluster::new(version, Some(at)));
            }
        }
    }
    // A copy of the disk may contain unacknowledged writes, so it has no order relative to reads.
    reads.retain(|(at, _)| at.operation.kind != OperationKind::Crashed);
    let mut reads_of_nothing = Vec::new();
    for (at, version) in reads {
        match by_version.get(&version) {
            _ if version == NOTHING => reads_of_nothing.push(at),
            Some(cluster) => clusters[*cluster].add(at),
            // The check of versions already reported this unknown version.
            None => {}
        }
    }
    (clusters, reads_of_nothing)
}

/// Checks that no read returned the value of a write before this write was called.
fn check_reads<'a>(key: Key, clusters: &[Cluster<'a>], order: &mut Order<'a>) -> Result<(), Violation> {
    for Cluster { version, write, reads, .. } in clusters {
        let Some(write) = write else { continue };
        for read in reads {
            if read.operation.returned < write.operation.called {
                let what = format!(
                    "a read returned the version {} of key {key} before this version was written: {read}; conflicting \
                     write: {write}",
                    named(*version)
                );
                return Err(Violation::new(Check::Future, what));
            }
            order.add(*write, *read);
        }
    }
    Ok(())
}

/// Checks that no two clusters precede each other. A cluster is a write with all reads of its value.
fn check_order<'a>(key: Key, clusters: &[Cluster<'a>], order: &mut Order<'a>) -> Result<(), Violation> {
    for (number, a) in clusters.iter().enumerate() {
        for b in &clusters[number + 1..] {
            match (a.is_before(b), b.is_before(a)) {
                (true, true) => return Err(disorder(key, a, b)),
                (true, false) => note(a, b, order),
                (false, true) => note(b, a, order),
                (false, false) => {}
            }
        }
    }
    Ok(())
}

/// Records that all operations of the cluster `before` precede the write of the cluster `behind`. Skips pairs whose
/// order follows from their times.
fn note<'a>(before: &Cluster<'a>, behind: &Cluster<'a>, order: &mut Order<'a>) {
    let Some(write) = behind.write else { return };
    let by_time = |at: &At<'_>| at.operation.returned < write.operation.called;
    before.operations().filter(|at| !by_time(at)).for_each(|at| order.add(at, write));
}

fn disorder(key: Key, a: &Cluster<'_>, b: &Cluster<'_>) -> Violation {
    let shown = |cluster: &Cluster<'_>| {
        let first = cluster.operations().min_by_key(|at| at.operation.returned);
        let last = cluster.operations().max_by_key(|at| at.operation.called);
        let mut ends: Vec<String> = first.into_iter().chain(last).map(|at| at.to_string()).collect();
        ends.dedup();
        format!("{}: {}", named(cluster.version), ends.join(" and "))
    };
    let is_of_delete = a.version == NOTHING || b.version == NOTHING;
    let check = if is_of_delete { Check::Deletion } else { Check::Register };
    Violation::new(
        check,
        format!(
            "reads of key {key} disagree about the order of two of its versions: {}; and {}",
            shown(a),
            shown(b)
        ),
    )
}

fn check_nothing(key: Key, clusters: &[Cluster<'_>], reads: &[At<'_>]) -> Result<(), Violation> {
    let (deletes, puts): (Vec<&Cluster<'_>>, Vec<&Cluster<'_>>) =
        clusters.iter().partition(|cluster| cluster.version == NOTHING);
    let time = |cluster: &Cluster<'_>| {
        cluster.write.map_or((0, 0), |at| (at.operation.called, at.operation.returned))
    };
    for read in reads {
        let before =
            deletes.iter().map(|delete| time(delete)).filter(|(called, _)| *called < read.operation.returned);
        let last = before.map(|(_, returned)| returned).max();
        let hides = |(called, returned): (Moment, Moment)| {
            last.is_none_or(|last| last < called) && returned < read.operation.called
        };
        let hidden = puts.iter().find(|put| hides(time(put)));
        if last.is_none() || hidden.is_some() {
            let write = hidden.and_then(|put| put.write);
            let other = write.map_or_else(String::new, |put| format!("; conflicting write: {put}"));
            let what =
                format!("a read did not find key {key}, but no delete explains its absence: {read}{other}");
            return Err(renamed(Violation::new(Check::Missing, what), read.operation.kind));
        }
    }
    Ok(())
}
