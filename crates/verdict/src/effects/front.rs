//! The chart of the Pareto front. Each configuration is a point whose axes are the first two metrics.

use std::path::{Path, PathBuf};

use plot::{Chart, ChartSpec, Context, Form};
use results::{Folder, Row, Schema, Table, ValueType, columns as c};
use types::Outcome;

use super::measured::Effects;

impl Effects {
    /// Draws the configurations by the first two metrics, and returns the paths of the chart files. If another
    /// configuration dominates a configuration, the label of its point ends with `(dominated)`. With fewer than two
    /// metrics, draws no chart.
    ///
    /// # Errors
    /// A folder that cannot be written to.
    pub fn draw(&self, folder: &Path) -> Outcome<Vec<PathBuf>> {
        let [across, up, ..] = &self.metrics[..] else { return Ok(Vec::new()) };
        let schema = Schema::runs::<&str>(&[])?;
        let mut rows = Vec::new();
        for (at, label) in self.labels.iter().enumerate() {
            let note = if self.dominated[at].is_some() { " (dominated)" } else { "" };
            let mut row = Row::new(&schema);
            row.set(&c::LABEL, format!("{label}{note}")).set(&c::CELL, at as u64).set(&c::TRIAL, 0_u64);
            row.set(&c::PHASE, self.phase.as_str()).set(&c::OPERATION, c::ALL);
            for of in [across, up] {
                let Some(median) = of.samples[at].median() else { continue };
                match of.metric.kind {
                    ValueType::Integer => row.set(of.metric, median.round() as u64),
                    ValueType::Number | ValueType::Text => row.set(of.metric, median),
                };
            }
            rows.push(row);
        }
        let spec = ChartSpec {
            x: Some(across.metric.name.to_owned()),
            y: Some(up.metric.name.to_owned()),
            series: Some(c::LABEL.name.to_owned()),
            title: Some(format!("Pareto front of {}", self.experiment)),
            ..ChartSpec::new(Form::Scatter)
        };
        let points = Some("each point is the median of the trials of a configuration".to_owned());
        let context = Context { experiment: self.experiment.clone(), points, ..Context::default() };
        let chart = Chart::of_table(&Table::new(schema, rows), &Folder::new(""), &spec, &context)?;
        Ok(chart.write(folder, "pareto")?)
    }
}
