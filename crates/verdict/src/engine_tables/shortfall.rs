//! Finds the missed targets: the phases in which the speedup of lsmbench's own tree over an engine is below the target
//! speedup.

use results::columns as c;

use super::{EngineTables, Line, heading::Heading, ratio};
use crate::markdown::plain;

/// The names of engines that store data in a B-tree. WiredTiger is not a B-tree if its `type` is `"lsm"`.
const BTREES: [&str; 7] = ["lmdb", "redb", "canopydb", "sled", "wiredtiger", "sqlite", "bf-tree"];

/// The target speedups of lsmbench's own tree over other engines.
#[derive(Clone, Copy, Debug)]
pub struct Targets {
    /// The target speedup over LSM-trees in phases with only writes.
    pub writes: f64,
    /// The target speedup over LSM-trees in phases with reads.
    pub reads: f64,
    /// The target speedup over B-trees in any phase.
    pub btrees: f64,
}

impl Default for Targets {
    fn default() -> Self {
        Self { writes: 2.0, reads: 1.5, btrees: 1.0 }
    }
}

impl Targets {
    /// Returns the target speedup of lsmbench's own tree over an engine. The target depends on the engine (`line`) and
    /// on the operations of the phase (`heading`).
    fn against(&self, line: &Line, heading: &Heading) -> f64 {
        match (is_btree(&line.engine_name), heading.only_writes()) {
            (true, _) => self.btrees,
            (false, true) => self.writes,
            (false, false) => self.reads,
        }
    }
}

impl EngineTables {
    /// Returns a sentence that lists the phases with a missed target, each with the engines and the measured speedups.
    /// Without a missed target, the sentence states that all targets are met. Returns `None` if no engine has a
    /// speedup.
    pub(super) fn shortfalls(&self, targets: &Targets) -> Option<String> {
        let others = || self.lines.iter().filter(|line| line.engine.is_some() && line.label != self.baseline);
        let is_compared = |line: &Line| {
            self.columns.iter().any(|heading| {
                self.lead(line, heading, &c::OPS_PER_SECOND).is_some_and(|lead| lead.ratio.is_some())
            })
        };
        others().find(|line| is_compared(line))?;
        let mut columns = Vec::new();
        for heading in &self.columns {
            let mut near: Vec<(f64, String)> = others()
                .filter_map(|line| {
                    let comparison = self.lead(line, heading, &c::OPS_PER_SECOND)?;
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
            "speedups of at least {writes}x over LSM-trees in phases with only writes, {reads}x over LSM-trees in \
             all other phases, and {btrees}x over B-trees"
        );
        Some(match columns.is_empty() {
            true => format!("All targets met: {aim}.\n\n"),
            false => format!("Missed targets ({aim}): {}.\n\n", columns.join("; ")),
        })
    }
}

/// Returns whether an engine is a B-tree, by its name or by a label that begins with its name, such as `LMDB, tuned`.
fn is_btree(engine: &str) -> bool {
    let label = engine.to_lowercase();
    let name = label.split(['(', ' ', ',']).next().unwrap_or(&label);
    BTREES.contains(&name) && !label.contains("lsm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_b_tree_is_known_by_its_name() {
        assert!(is_btree("lmdb") && is_btree("wiredtiger") && is_btree("sled(x=1)"));
        assert!(is_btree("LMDB, tuned") && is_btree("lmdb, synced"));
        assert!(!is_btree("wiredtiger(type=lsm)") && !is_btree("rocksdb") && !is_btree("my-lmdb"));
    }
}
