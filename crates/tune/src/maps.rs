//! Draws heat maps of the design space. A heat map has two factors as its axes, and each field is a pair of their
//! values. The field shows the best objective among the designs that have both values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use experiment::catalog_order;
use plot::{ChartSpec, Context, Form};
use results::ConfigPath;
use tree::Design;
use types::Outcome;

use crate::candidate::{Candidate, DesignScore, Layer};
use crate::factors::{Factor, factors};
use crate::space::{ChartRows, Space, is_wide, set};

/// The largest number of heat maps that a search draws.
const MOST_MAPS: usize = 6;

/// The largest number of values of a factor on a heat map.
const MOST_VALUES: usize = 24;

impl Space<'_> {
    /// Draws heat maps for pairs of factors of the design space, at most [`MOST_MAPS`]. Each field shows the best
    /// design that has both values and meets the limits. The scores come from the layer that evaluated the most
    /// designs.
    ///
    /// # Errors
    /// A chart cannot be written.
    pub(crate) fn draw_maps(&self, folder: &Path) -> Outcome<()> {
        let designs: Vec<&Design> = self.candidates.iter().map(Candidate::design).collect();
        let factors = factors(&designs);
        let layers = Layer::ALL.into_iter().filter(|layer| *layer <= self.layer);
        let scored = |layer: &Layer| self.candidates.iter().filter(|of| of.score(*layer).is_some()).count();
        let Some(layer) = layers.max_by_key(scored) else { return Ok(()) };
        let pairs = factors
            .iter()
            .enumerate()
            .flat_map(|(at, one)| factors[at + 1..].iter().map(move |other| (one, other)));
        for (rows, columns) in pairs.take(MOST_MAPS) {
            self.draw_map(layer, rows, columns, folder)?;
        }
        Ok(())
    }

    /// Draws the heat map of two factors. Only values count for which a design meets the limits. Draws nothing if a
    /// factor has too many such values, or fewer than two.
    fn draw_map(&self, layer: Layer, down: &Factor, across: &Factor, folder: &Path) -> Outcome<()> {
        let objectives = self.objectives.of(layer);
        let goal = objectives.goal.metric;
        let best = self.best(layer, down, across);
        let rows_with_designs: BTreeSet<&str> = best.keys().map(|(row, _)| *row).collect();
        let columns_with_designs: BTreeSet<&str> = best.keys().map(|(_, column)| *column).collect();
        let fits = |values: &BTreeSet<&str>| (2..=MOST_VALUES).contains(&values.len());
        if !(fits(&rows_with_designs) && fits(&columns_with_designs)) {
            return Ok(());
        }
        let mut rows = ChartRows::new(&[&*down.path, &*across.path], &[goal])?;
        for ((row_value, column_value), (at, score)) in &best {
            let row = rows.add(*at as u64, 0, &self.candidates[*at].label, &objectives.goal.phase);
            row.set_swept(&down.path, row_value)?;
            row.set_swept(&across.path, column_value)?;
            set(row, goal, objectives.sign(score.objective))?;
        }
        let mut points =
            "each field of the map shows the best design that meets the limits of the search".to_owned();
        let left_out =
            without(down, &rows_with_designs).into_iter().chain(without(across, &columns_with_designs));
        let left_out: Vec<&str> = left_out.collect();
        if !left_out.is_empty() {
            let _ =
                write!(points, " · values without a design that meets the limits: {}", left_out.join(", "));
        }
        let [down_name, across_name] = [down, across].map(|factor| ConfigPath::new(&factor.path).short());
        let title = format!("Best {} by {across_name} and {down_name}, {} layer", goal.title(), layer.name());
        let values = best.values().map(|(_, score)| score.objective);
        let spec = ChartSpec {
            x: Some(across.path.clone()),
            y: Some(goal.name().to_owned()),
            series: Some(down.path.clone()),
            title: Some(title),
            log_y: Some(is_wide(values)),
            ..ChartSpec::new(Form::Heatmap)
        };
        let context = Context {
            experiment: self.experiment.to_owned(),
            points: Some(points),
            order: catalog_order(),
            ..Context::default()
        };
        let name = format!("map-{down_name}-by-{across_name}").replace('.', "-");
        match rows.chart(&spec, &context) {
            Some(chart) => chart.write(folder, &name).map(drop).map_err(Into::into),
            None => Ok(()),
        }
    }

    /// Returns the best design for each pair of values of two factors, as the index of the candidate and its score in
    /// `layer`. The best design has both values and meets the limits.
    fn best<'b>(
        &'b self,
        layer: Layer,
        down: &'b Factor,
        across: &'b Factor,
    ) -> BTreeMap<(&'b str, &'b str), (usize, &'b DesignScore)> {
        let mut best: BTreeMap<(&str, &str), (usize, &DesignScore)> = BTreeMap::new();
        for (at, candidate) in self.candidates.iter().enumerate() {
            let Some(score) = candidate.score(layer).filter(|score| score.excess <= 0.0) else { continue };
            let known = best.entry((&down.values[at], &across.values[at])).or_insert((at, score));
            if score.order(known.1).is_lt() {
                *known = (at, score);
            }
        }
        best
    }
}

/// Returns the values of a factor that are not in `values`.
fn without<'a>(factor: &'a Factor, values: &BTreeSet<&str>) -> BTreeSet<&'a str> {
    factor.values.iter().map(String::as_str).filter(|value| !values.contains(value)).collect()
}
