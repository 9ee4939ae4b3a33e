//! One key that all writers share, checked to be linearizable.
//!
//! A value that tells its write makes this easy: a write and the reads of its value are a cluster. Of two
//! clusters one is before the other if an operation of it returned before one of the other was called, and no
//! two may be before each other (Gibbons & Korach, "Testing Shared Memories", SIAM J. Comput. 26(4), 1997,
//! section 4.2, where the time from a cluster's first return to its last call is its zone).
//!
//! Deletes are clusters without reads: what a read of nothing saw, it does not tell. Such a read is held to
//! this: of the deletes that were called before it returned, not even the last to return may be followed by a
//! write that returned before the read was called.

use std::collections::HashMap;

use super::history::{At, History, Moment, OperationKind};
use super::keys::{HIDDEN, Key, NOTHING, Version, named};
use super::renamed::renamed;
use super::serial::Order;
use crate::violation::{Check, Violation};

/// A write, and the reads of its value. Without a write: what was there before.
struct Cluster<'a> {
    version: Version,
    write: Option<At<'a>>,
    reads: Vec<At<'a>>,
    /// The first return.
    opens: Moment,
    /// The last call.
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

/// Checks a key, and notes what is before what.
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

/// The clusters of a key, and the reads that saw nothing.
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
    // A copy of the disk may hold what nobody may see yet: it stands in no order with reads.
    reads.retain(|(at, _)| at.operation.kind != OperationKind::Crashed);
    let mut reads_of_nothing = Vec::new();
    for (at, version) in reads {
        match by_version.get(&version) {
            _ if version == NOTHING => reads_of_nothing.push(at),
            Some(cluster) => clusters[*cluster].add(at),
            // What nobody wrote was found to be so already.
            None => {}
        }
    }
    (clusters, reads_of_nothing)
}

/// Every read comes behind the write of what it saw.
fn check_reads<'a>(key: Key, clusters: &[Cluster<'a>], order: &mut Order<'a>) -> Result<(), Violation> {
    for Cluster { version, write, reads, .. } in clusters {
        let Some(write) = write else { continue };
        for read in reads {
            if read.operation.returned < write.operation.called {
                let what = format!("key {key} is {}: {read}; beside {write}", named(*version));
                return Err(Violation::new(Check::Future, what));
            }
            order.add(*write, *read);
        }
    }
    Ok(())
}

/// No two clusters are before each other.
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

/// Notes that all of a cluster is before the write of another. Time alone says so of most.
fn note<'a>(before: &Cluster<'a>, behind: &Cluster<'a>, order: &mut Order<'a>) {
    let Some(write) = behind.write else { return };
    let by_time = |at: &At<'_>| at.operation.returned < write.operation.called;
    before.operations().filter(|at| !by_time(at)).for_each(|at| order.add(at, write));
}

fn disorder(key: Key, a: &Cluster<'_>, b: &Cluster<'_>) -> Violation {
    let told = |cluster: &Cluster<'_>| {
        let first = cluster.operations().min_by_key(|at| at.operation.returned);
        let last = cluster.operations().max_by_key(|at| at.operation.called);
        let mut ends: Vec<String> = first.into_iter().chain(last).map(|at| at.to_string()).collect();
        ends.dedup();
        format!("{}: {}", named(cluster.version), ends.join(" and "))
    };
    let is_of_delete = a.version == NOTHING || b.version == NOTHING;
    let check = if is_of_delete { Check::Deletion } else { Check::Register };
    Violation::new(check, format!("key {key} is {}; and {}", told(a), told(b)))
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
            let beside =
                hidden.and_then(|put| put.write).map_or_else(String::new, |put| format!("; beside {put}"));
            let what = format!("key {key} is nothing: {read}{beside}");
            return Err(renamed(Violation::new(Check::Missing, what), read.operation.kind));
        }
    }
    Ok(())
}
