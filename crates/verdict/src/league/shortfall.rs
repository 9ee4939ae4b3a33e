//! Where our own tree falls short of what it is to reach beside other engines: no reader has to look for it.

use super::{League, Line, heading::Heading, ratio};
use crate::markdown::plain;

/// Engines that are B-trees, by their names; with `type = "lsm"` WiredTiger is none.
const BTREES: [&str; 5] = ["lmdb", "redb", "canopydb", "sled", "wiredtiger"];

/// How many times as fast as others our own tree is to be.
#[derive(Clone, Copy, Debug)]
pub struct Targets {
    /// As LSM-trees in columns that only write.
    pub writes: f64,
    /// As LSM-trees in columns that read, too.
    pub reads: f64,
    /// As B-trees in any column.
    pub btrees: f64,
}

impl Targets {
    /// What is to be reached against an engine in a column.
    fn against(&self, line: &Line, heading: &Heading) -> f64 {
        match (is_btree(&line.label), heading.only_writes()) {
            (true, _) => self.btrees,
            (false, true) => self.writes,
            (false, false) => self.reads,
        }
    }
}

impl League {
    /// The columns in which some other engine is nearer than the targets say, each with those engines; nothing where
    /// nothing is compared.
    pub(super) fn shortfalls(&self, targets: &Targets) -> Option<String> {
        let others = || self.lines.iter().filter(|line| line.engine.is_some() && line.label != self.baseline);
        let is_compared = |line: &Line| {
            self.columns
                .iter()
                .any(|heading| self.lead(line, heading).is_some_and(|lead| lead.ratio.is_some()))
        };
        others().find(|line| is_compared(line))?;
        let mut columns = Vec::new();
        for heading in &self.columns {
            let mut near: Vec<(f64, String)> = others()
                .filter_map(|line| {
                    let comparison = self.lead(line, heading)?;
                    let lead = comparison.ratio.filter(|lead| *lead < targets.against(line, heading))?;
                    Some((lead, format!("{} {}", ratio(&comparison)?, plain(&line.label))))
                })
                .collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0));
            if !near.is_empty() {
                let near: Vec<String> = near.into_iter().map(|(_, words)| words).collect();
                columns.push(format!("**{}** {}", plain(&heading.full_title()), near.join(", ")));
            }
        }
        let Targets { writes, reads, btrees } = targets;
        let aim = format!(
            "{writes} times LSM-trees in writes, {reads} times in reads and mixes, {btrees} times B-trees"
        );
        Some(match columns.is_empty() {
            true => format!("No column falls short of {aim}.\n\n"),
            false => format!("Short of {aim}: {}.\n\n", columns.join("; ")),
        })
    }
}

/// Whether an engine is a B-tree, by its label.
fn is_btree(label: &str) -> bool {
    let name = label.split(['(', ' ']).next().unwrap_or(label);
    BTREES.contains(&name) && !label.contains("lsm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_b_tree_is_known_by_its_name() {
        assert!(is_btree("lmdb") && is_btree("wiredtiger") && is_btree("sled(x=1)"));
        assert!(!is_btree("wiredtiger(type=lsm)") && !is_btree("rocksdb") && !is_btree("my-lmdb"));
    }
}
