//! The part of an experiment that a run measured, and the machines of the run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::MachineInfo;

/// A part of an experiment, which runs on one machine. `lsmbench merge` combines the results of all parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartInfo {
    /// Number of the part, from 1.
    pub number: u64,
    /// Number of parts of the experiment.
    pub count: u64,
    /// Identity of the program: a hash of its sources or of its file. All parts must have the same identity.
    pub program: String,
    /// The container image with its digest, from the variable `LSMBENCH_IMAGE`, or the image that Podman names in the
    /// container. `null` outside of a container.
    #[serde(default)]
    pub image: Option<String>,
    /// The machines that ran the part, with the current machine at the end.
    pub nodes: Vec<NodeInfo>,
}

/// A machine with the rounds that it ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeInfo {
    /// Name of the machine. The name is the value of the variable `LSMBENCH_NODE`, or else the host name.
    pub name: String,
    /// Description of the machine at the start of its first round.
    pub machine: MachineInfo,
    /// Numbers of the rounds in which the machine ran trials. The numbers start at 0, as in the column `trial`.
    pub rounds: Vec<u64>,
}

impl PartInfo {
    /// Returns whether `other` is the same part of an experiment, measured with the same program.
    pub fn is_same(&self, other: &Self) -> bool {
        let key = |part: &Self| (part.number, part.count, part.program.clone(), part.image.clone());
        key(self) == key(other)
    }

    /// Makes the machine `name` the current machine of the part, by moving it to the end of the list of machines. If
    /// the machine is not in the list yet, `machine` returns its description.
    pub fn enter(&mut self, name: &str, machine: impl FnOnce() -> MachineInfo) {
        let known = self.nodes.iter().position(|node| node.name == name);
        let node = match known {
            Some(at) => self.nodes.remove(at),
            None => NodeInfo { name: name.to_owned(), machine: machine(), rounds: Vec::new() },
        };
        self.nodes.push(node);
    }

    /// Returns the machines of the parts `parts` of an experiment, sorted by name. A machine that ran several parts
    /// occurs once, with the rounds of all its parts.
    pub fn nodes_of<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Vec<NodeInfo> {
        let mut nodes: BTreeMap<&str, NodeInfo> = BTreeMap::new();
        for node in parts.into_iter().flat_map(|part| &part.nodes) {
            let known =
                nodes.entry(&node.name).or_insert_with(|| NodeInfo { rounds: Vec::new(), ..node.clone() });
            known.rounds.extend(&node.rounds);
        }
        let sorted = nodes.into_values().map(|mut node| {
            node.rounds.sort_unstable();
            node.rounds.dedup();
            node
        });
        sorted.collect()
    }

    /// Returns whether all trials of a round so far ran on the current machine, which is the last machine in the list.
    pub fn is_own(&self, round: u64) -> bool {
        let earlier = self.nodes.split_last().map_or(&[][..], |(_, earlier)| earlier);
        !earlier.iter().any(|node| node.rounds.contains(&round))
    }

    /// Records that the current machine runs a round, and removes the round from all other machines.
    pub fn record(&mut self, round: u64) {
        let Some((current, earlier)) = self.nodes.split_last_mut() else { return };
        earlier.iter_mut().for_each(|node| node.rounds.retain(|other| *other != round));
        if let Err(at) = current.rounds.binary_search(&round) {
            current.rounds.insert(at, round);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_belongs_to_the_machine_that_ran_it_last() {
        let mut part = PartInfo::default();
        let rounds = |part: &PartInfo| -> Vec<(String, Vec<u64>)> {
            part.nodes.iter().map(|node| (node.name.clone(), node.rounds.clone())).collect()
        };
        part.enter("a", MachineInfo::default);
        part.record(1);
        part.record(0);
        part.record(1);
        assert_eq!(rounds(&part), [("a".to_owned(), vec![0, 1])]);
        part.enter("b", MachineInfo::default);
        assert!(!part.is_own(1) && part.is_own(2));
        part.record(1);
        part.enter("a", || unreachable!("the machine is known"));
        assert_eq!(rounds(&part), [("b".to_owned(), vec![1]), ("a".to_owned(), vec![0])]);
        assert!(part.is_own(0) && !part.is_own(1));
        let mut other = PartInfo::default();
        other.enter("a", MachineInfo::default);
        other.record(2);
        let nodes = PartInfo::nodes_of([&other, &part]);
        let nodes: Vec<(&str, &[u64])> = nodes.iter().map(|node| (&*node.name, &*node.rounds)).collect();
        assert_eq!(nodes, [("a", &[0, 2][..]), ("b", &[1])]);
    }
}
