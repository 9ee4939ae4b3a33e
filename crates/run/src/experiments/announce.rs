//! Prints the first lines of a run: the experiment, the skipped configurations, the engines, and the warnings.

use experiment::Experiment;
use results::{EngineInfo, Manifest};
use verdict::and_more;

use super::Run;
use crate::engine_info;

impl Run<'_> {
    pub(super) fn announce(&self, manifest: &Manifest) {
        let Experiment { name, question, cells, trials, left_out, .. } = self.experiment;
        let line = self.options.console.line;
        line(&format!("{name}: {question}"));
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
            line(&format!("  skipped: {}{others}: {}", left.label, left.reason));
        }
        self.experiment.inherited().iter().for_each(|sentence| line(&format!("  {sentence}")));
        let mut introduced: Vec<&EngineInfo> = Vec::new();
        for engine in manifest.cells.iter().filter_map(|cell| cell.engine.as_ref()) {
            if !introduced.contains(&engine) {
                introduced.push(engine);
                engine_info::introduction(engine).iter().for_each(|text| line(&format!("  {text}")));
            }
        }
        for warning in &manifest.warnings {
            line(&format!("  warning: {warning}"));
        }
    }
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
