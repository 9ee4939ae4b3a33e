//! Builds a graph that records which operation of a round precedes which other operation. The operations have an order
//! only if the graph has no cycle.
//!
//! An operation that returned before another operation was called precedes it. To save edges, calls and returns are
//! also nodes of the graph, which form a chain in the order of time. Each call precedes its operation, and each return
//! follows it.

use std::collections::{HashMap, VecDeque};

use super::history::{At, History, OperationKind};
use crate::violation::{Check, Violation};

/// The maximum number of operations of a cycle that an error message lists.
const MOST_SHOWN: usize = 6;
/// The maximum number of nodes of the graph from which the search for a short cycle starts.
const MOST_STARTS: usize = 64;

/// The known order of the operations of a race, as a graph of operations and times.
pub(crate) struct Order<'a> {
    operations: Vec<At<'a>>,
    /// The edges of the graph, as pairs of node numbers. The nodes of operations come before the nodes of timestamps.
    edges: Vec<(u32, u32)>,
    nodes: usize,
}

impl<'a> Order<'a> {
    /// Creates the order that follows from the times of operations: an operation that returned before another one was
    /// called precedes it.
    pub(crate) fn new(history: &'a History) -> Self {
        let operations: Vec<_> = history.operations().collect();
        // A copy of the disk has no order relative to other operations.
        let timed = operations.iter().filter(|at| at.operation.kind != OperationKind::Crashed);
        let mut moments: Vec<(u64, u32, bool)> = timed
            .flat_map(|at| {
                [(at.operation.called, at.number, true), (at.operation.returned, at.number, false)]
            })
            .collect();
        moments.sort_unstable();
        let mut edges = Vec::with_capacity(3 * moments.len());
        let first = operations.len() as u32;
        for (moment, (_, operation, is_call)) in (first..).zip(&moments) {
            edges.push(if *is_call { (moment, *operation) } else { (*operation, moment) });
            if moment > first {
                edges.push((moment - 1, moment));
            }
        }
        let nodes = operations.len() + moments.len();
        Self { operations, edges, nodes }
    }

    /// Records that the operation `before` precedes the operation `behind`.
    pub(crate) fn add(&mut self, before: At<'a>, behind: At<'a>) {
        self.edges.push((before.number, behind.number));
    }

    /// Checks that all operations can be ordered, by topological sorting (Kahn, CACM 5(11), 1962).
    ///
    /// # Errors
    /// The operations of a short cycle in the graph.
    pub(crate) fn check(mut self) -> Result<(), Violation> {
        self.edges.sort_unstable();
        let mut before = vec![0u32; self.nodes];
        self.edges.iter().for_each(|(_, behind)| before[*behind as usize] += 1);
        let starts = self.starts();
        let mut free: Vec<usize> = (0..self.nodes).filter(|node| before[*node] == 0).collect();
        let mut left = self.nodes;
        while let Some(node) = free.pop() {
            left -= 1;
            for (_, behind) in &self.edges[starts[node]..starts[node + 1]] {
                before[*behind as usize] -= 1;
                if before[*behind as usize] == 0 {
                    free.push(*behind as usize);
                }
            }
        }
        if left == 0 { Ok(()) } else { Err(self.cycle(&starts, &before)) }
    }

    /// Returns where the edges of each node start in the sorted list of edges. The last element is the number of all
    /// edges.
    fn starts(&self) -> Vec<usize> {
        let mut starts = vec![0; self.nodes + 1];
        self.edges.iter().for_each(|(before, _)| starts[*before as usize + 1] += 1);
        for node in 0..self.nodes {
            starts[node + 1] += starts[node];
        }
        starts
    }

    /// Describes the violation with the operations of a short cycle in the graph. `before` contains the number of
    /// remaining predecessors of each node. The cycle contains only nodes for which this number is not 0.
    fn cycle(&self, starts: &[usize], before: &[u32]) -> Violation {
        let stuck = (0..self.operations.len()).filter(|node| before[*node] > 0).take(MOST_STARTS);
        let ways = stuck.filter_map(|start| {
            let way = self.way_back(start as u32, starts, before)?;
            let operations = way.into_iter().filter_map(|node| self.operations.get(node as usize));
            Some(operations.collect::<Vec<_>>())
        });
        let shortest = ways.min_by_key(Vec::len).unwrap_or_default();
        let shown: Vec<String> = shortest.iter().take(MOST_SHOWN).map(ToString::to_string).collect();
        Violation::new(Check::Serial, format!("cycle: {}", shown.join("; before ")))
    }

    /// Returns the shortest path in the graph from a node to itself. Returns `None` if there is none.
    fn way_back(&self, start: u32, starts: &[usize], before: &[u32]) -> Option<Vec<u32>> {
        let mut from: HashMap<u32, u32> = HashMap::new();
        let mut waiting = VecDeque::from([start]);
        while let Some(node) = waiting.pop_front() {
            for (_, next) in &self.edges[starts[node as usize]..starts[node as usize + 1]] {
                if *next == start {
                    let mut way: Vec<u32> =
                        std::iter::successors(Some(node), |node| from.get(node).copied()).collect();
                    way.reverse();
                    return Some(way);
                }
                if before[*next as usize] > 0 && !from.contains_key(next) {
                    from.insert(*next, node);
                    waiting.push_back(*next);
                }
            }
        }
        None
    }
}
