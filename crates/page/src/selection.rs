//! The initial selection of a page: the phase, the kind of operation and the metric by which the run is judged.

use results::columns::ALL;
use results::{Better, RunMode, columns as c, verdicts as v};
use serde::Serialize;
use verdict::VerdictSettings;

use crate::numbers::AllNumbers;
use crate::opened::Opened;

/// A phase, a kind of operation and a metric, as indexes in the lists of the page data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Selection {
    pub(crate) phase: usize,
    pub(crate) operation: usize,
    pub(crate) metric: usize,
}

/// Returns the metrics with verdicts, starting with the metric that decides the verdict.
pub(crate) fn judged(opened: &Opened) -> Vec<String> {
    let mut metrics: Vec<String> = Vec::new();
    for row in &opened.verdicts {
        let metric = row.get(&v::METRIC).to_string();
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics
}

impl Selection {
    /// Returns the selection that a page shows first. This is the selection of the first verdict, or of the section
    /// `[verdict]` of the experiment. If such a selection has no values, the result is the throughput (in `timed` mode)
    /// or the write amplification of the last phase. If this phase has no such values, the result is any selection with
    /// values.
    pub(crate) fn first(opened: &Opened, numbers: &AllNumbers) -> Self {
        let fallback = match opened.manifest.mode == RunMode::Timed.name() {
            true => c::OPS_PER_SECOND.name,
            false => c::WRITE_AMP.name,
        };
        let of_verdict = opened.verdicts.first().and_then(|row| {
            let [phase, operation, metric] =
                [&v::PHASE, &v::OPERATION, &v::METRIC].map(|of| row.get(of).to_string());
            numbers.selection(&phase, &operation, &metric)
        });
        let settings = VerdictSettings::of(&opened.manifest);
        let last = numbers.phases.last().map_or("", String::as_str);
        let phase = settings.phase.as_deref().unwrap_or(last);
        let operation = settings.operation.as_deref().unwrap_or(ALL);
        let metric = settings.metric.as_deref().unwrap_or(fallback);
        let of_spec = || {
            let named = numbers.selection(phase, operation, metric);
            named.or_else(|| numbers.selection(phase, ALL, fallback))
        };
        let directed = |selection: &Self| numbers.metrics[selection.metric].better != Better::Neither;
        let all = || {
            numbers.matrices.iter().map(|of| Self {
                phase: of.phase,
                operation: of.operation,
                metric: of.metric,
            })
        };
        of_verdict
            .or_else(of_spec)
            .or_else(|| numbers.selection(last, ALL, fallback))
            .or_else(|| all().find(directed))
            .or_else(|| all().next())
            .unwrap_or_default()
    }
}

impl AllNumbers {
    /// Returns the selection with these names. Returns `None` if a name is unknown, or if the selection has no values.
    fn selection(&self, phase: &str, operation: &str, metric: &str) -> Option<Selection> {
        let selection = Selection {
            phase: self.phases.iter().position(|of| of == phase)?,
            operation: self.operations.iter().position(|of| of == operation)?,
            metric: self.metrics.iter().position(|of| of.name == metric)?,
        };
        self.find((selection.phase, selection.operation, selection.metric)).map(|_| selection)
    }
}
