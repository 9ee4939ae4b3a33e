//! Compares the predictions of closed formulas with simulated values.

use plot::format_value;
use results::{Metric, columns as c};
use simulation::PhaseRow;

use crate::output::aligned;

/// The columns that both the formulas and the simulation compute.
const COMPARED: [&Metric; 6] = [
    &c::WRITE_AMP_SETTLED,
    &c::SPACE_AMP_SETTLED,
    &c::RUNS_SETTLED,
    &c::BLOCKS_PER_GET,
    &c::SOURCES_PER_RANGE,
    &c::DEVICE_NS_PER_OP,
];

/// A value that a closed formula predicts, together with the simulated value.
pub(super) struct Residual {
    design: String,
    entries: f64,
    phase: String,
    metric: &'static Metric,
    predicted: f64,
    simulated: f64,
}

/// Compares the predicted and simulated values of all phases of a workload, for a design with `entries` keys.
pub(super) fn compare(
    design: &str,
    entries: f64,
    predicted: &[PhaseRow],
    simulated: &[PhaseRow],
) -> Vec<Residual> {
    let pairs = predicted.iter().zip(simulated);
    let of_pair = |(predicted, simulated): (&PhaseRow, &PhaseRow)| {
        let value = |metric: &&'static Metric| {
            let (predicted, exact) = (predicted.row.number(metric)?, simulated.row.number(metric)?);
            Some(Residual {
                design: design.to_owned(),
                entries,
                phase: simulated.phase.clone(),
                metric,
                predicted,
                simulated: exact,
            })
        };
        COMPARED.iter().filter_map(value).collect::<Vec<_>>()
    };
    pairs.flat_map(of_pair).collect()
}

/// Formats residuals as a table. A residual is the relative error of the value that a formula predicts.
pub(super) fn table(residuals: &[Residual]) -> String {
    let head = ["design", "entries", "phase", "column", "formula", "simulated", "residual"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for residual in residuals {
        let Residual { design, entries, phase, metric, predicted, simulated } = residual;
        let percent = match *simulated > 0.0 {
            true => format!("{:+.1} %", (predicted / simulated - 1.0) * 100.0),
            false => String::new(),
        };
        lines.push(vec![
            design.clone(),
            format!("{entries:.0}"),
            phase.clone(),
            metric.name.to_owned(),
            format_value(*predicted, metric.unit),
            format_value(*simulated, metric.unit),
            percent,
        ]);
    }
    format!("\n{}", aligned(&lines))
}
