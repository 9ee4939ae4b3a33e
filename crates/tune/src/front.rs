//! Draws the chart of the Pareto set: the measured designs with the interval of their trials, and the predictions of
//! the earlier layers.

use std::path::Path;

use plot::{ChartSpec, Context, Form, LabelOrder};
use results::{Unit, columns as c};
use types::Outcome;

use crate::candidate::{DesignScore, Layer, pareto, ranked};
use crate::goal::GoalMetric;
use crate::space::{ChartRows, Space, is_wide, set};

/// The name of the column that contains the labels of the designs in the chart.
const DESIGN: &str = "design";

/// A point of the chart, which shows one design.
struct Point<'a> {
    series: String,
    /// The label next to the point. Empty for designs outside of the Pareto set.
    tag: &'a str,
    score: &'a DesignScore,
    /// Whether the search maximizes the objective, so that the score contains its negative value.
    is_maximised: bool,
}

impl Space<'_> {
    /// Draws the chart of the Pareto set: the designs of the last layer, and the predictions of the earlier layers for
    /// them. Draws nothing if both axes would show the same metric, or if no design has both metrics.
    ///
    /// # Errors
    /// The chart cannot be written.
    pub(crate) fn draw_front(&self, confirmed: &[(String, DesignScore)], folder: &Path) -> Outcome<()> {
        let (objectives, also) = (self.objectives.of(self.layer), self.objectives.also.metric);
        let goal = objectives.goal.metric;
        if goal == also {
            return Ok(());
        }
        let mut points = self.points(goal);
        // A confirmation run measures the objective itself, so its points fit only on an axis that shows the objective.
        if goal == self.objectives.goal.metric {
            points.extend(confirmed.iter().map(|(label, score)| Point {
                series: format!("confirmed: {label}"),
                tag: "",
                score,
                is_maximised: objectives.is_maximised,
            }));
        }
        points.retain(|point| point.score.also.is_some());
        // The chart joins the points of the Pareto set in the order of their numbers, so the points are sorted by the
        // second metric.
        points
            .sort_by(|one, other| one.score.also.unwrap_or(0.0).total_cmp(&other.score.also.unwrap_or(0.0)));
        let mut rows = ChartRows::new(&[DESIGN], &[goal, also])?;
        for (cell, point) in points.iter().enumerate() {
            let single = [(point.score.objective, point.score.also)];
            let trials = if point.score.trials.is_empty() { &single[..] } else { &point.score.trials };
            for (trial, (objective, second)) in trials.iter().enumerate() {
                let Some(second) = second else { continue };
                let value = if point.is_maximised { -objective } else { *objective };
                let row = rows.add(cell as u64, trial as u64, &point.series, &objectives.goal.phase);
                row.set_swept(DESIGN, point.tag)?;
                set(row, goal, value)?;
                set(row, also, *second)?;
            }
        }
        let spec = ChartSpec {
            x: Some(also.name().to_owned()),
            y: Some(goal.name().to_owned()),
            series: Some(c::LABEL.name.to_owned()),
            title: Some(format!("Pareto set of {}, {} layer", self.experiment, self.layer.name())),
            log_y: Some(is_wide(points.iter().map(|point| point.score.objective))),
            ..ChartSpec::new(Form::Scatter)
        };
        let has_trials = points.iter().any(|point| point.score.trials.len() > 1);
        let mut series: Vec<String> = Layer::ALL
            .into_iter()
            .filter(|layer| *layer <= self.layer)
            .map(|layer| self.name_of(layer, goal))
            .collect();
        series.push(dominated(self.layer));
        let context = Context {
            experiment: self.experiment.to_owned(),
            points: (!has_trials).then(|| "each point is a design".to_owned()),
            order: LabelOrder::default().with_cells(c::LABEL.name, series),
            ..Context::default()
        };
        match rows.chart(&spec, &context) {
            Some(chart) => chart.write(folder, "pareto-front").map(drop).map_err(Into::into),
            // The rows have too few values for a chart, for example if the Pareto set has only one design.
            None => Ok(()),
        }
    }

    /// Returns the points of the chart: all designs of the last layer, and the predictions of the earlier layers for
    /// these designs. Each earlier layer also adds the designs of its own Pareto set.
    fn points(&self, goal: GoalMetric) -> Vec<Point<'_>> {
        let mut points = Vec::new();
        for layer in Layer::ALL.into_iter().filter(|layer| *layer <= self.layer) {
            let objectives = self.objectives.of(layer);
            if !share_an_axis(objectives.goal.metric, goal) {
                continue;
            }
            let front = pareto(self.candidates, layer);
            for at in ranked(self.candidates, layer) {
                let candidate = &self.candidates[at];
                let is_best = front.contains(&at);
                let (series, tag) = match (layer == self.layer, is_best) {
                    (false, false) if candidate.score(self.layer).is_none() => continue,
                    (false, _) => (self.name_of(layer, goal), ""),
                    (true, true) => (self.name_of(layer, goal), &*candidate.label),
                    (true, false) => (dominated(layer), ""),
                };
                let Some(score) = candidate.score(layer) else { continue };
                points.push(Point { series, tag, score, is_maximised: objectives.is_maximised });
            }
        }
        points
    }

    /// Returns the name of the chart series for a layer. The name contains the metric of the layer if the vertical axis
    /// shows another metric.
    fn name_of(&self, layer: Layer, goal: GoalMetric) -> String {
        let metric = self.objectives.of(layer).goal.metric;
        match metric == goal {
            true => layer.name().to_owned(),
            false => format!("{}: {}", layer.name(), metric.name()),
        }
    }
}

/// Returns whether two metrics can share an axis, because they are equal or both are times.
fn share_an_axis(one: GoalMetric, other: GoalMetric) -> bool {
    one == other || [one, other].iter().all(|metric| metric.unit() == Unit::Nanoseconds)
}

/// Returns the name of the chart series with the designs of a layer that are outside of the Pareto set.
fn dominated(layer: Layer) -> String {
    format!("{}, not Pareto-optimal", layer.name())
}
