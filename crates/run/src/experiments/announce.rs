//! Prints the first lines of a run: the experiment, the skipped configurations, the engines, and the warnings.

use experiment::Experiment;
use results::{EngineInfo, Manifest};
use verdict::{and_more, counted, wrapped};

use super::Run;
use crate::engine_info;

impl Run<'_> {
    pub(super) fn announce(&self, manifest: &Manifest) {
        let Experiment { name, question, cells, trials, left_out, .. } = self.experiment;
        let line = self.options.console.line;
        line(wrapped(&format!("{name}: "), "  ", question).trim_end());
        let cost = manifest.harness.operations.iter().find(|cost| cost.sampling == trials.sampling);
        line(&format!(
            "  {}, {}, {} mode, {}{}",
            counted(cells.len(), "configuration"),
            counted(trials.count as usize, "round"),
            trials.mode.name(),
            match trials.seeds {
                1 => format!("seed {}", trials.seed),
                seeds => format!("seeds {} to {}", trials.seed, trials.seed_of(seeds - 1)),
            },
            cost.map_or_else(String::new, |cost| format!(
                ", measurement overhead {:.0} ns per operation",
                cost.operation_ns
            ))
        ));
        let mut reasons: Vec<&str> = Vec::new();
        for left in left_out {
            let alike = left_out.iter().filter(|other| other.reason == left.reason).count() - 1;
            if reasons.contains(&left.reason.as_str()) {
                continue;
            }
            reasons.push(&left.reason);
            let others = and_more(alike);
            let skipped = format!("{}{others}: {}", left.label, left.reason);
            line(wrapped("  skipped: ", "    ", &skipped).trim_end());
        }
        let inherited = self.experiment.inherited();
        inherited.iter().for_each(|sentence| line(wrapped("  ", "    ", sentence).trim_end()));
        let mut introduced: Vec<&EngineInfo> = Vec::new();
        for engine in manifest.cells.iter().filter_map(|cell| cell.engine.as_ref()) {
            if !introduced.contains(&engine) {
                introduced.push(engine);
                for text in engine_info::introduction(engine) {
                    let indent = &text[..text.len() - text.trim_start().len()];
                    line(wrapped(&format!("  {indent}"), &format!("    {indent}"), &text).trim_end());
                }
            }
        }
        for warning in &manifest.warnings {
            line(wrapped("  warning: ", "    ", warning).trim_end());
        }
    }
}
