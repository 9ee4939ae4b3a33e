//! Draws ratio charts. A ratio chart has one row per candidate, which shows the ratio to the baseline in each round,
//! and the median ratio with its 95 % confidence interval. The noise floor is a band around 1.

use std::collections::BTreeMap;

use results::columns::{CELL, LABEL as CELL_LABEL, TRIAL};
use results::{Column, Row, Table, Unit, verdicts as v};

use crate::axes::{LINE, draw_names_down, fitting_ticks, names_down};
use crate::data::Spread;
use crate::describe::{Side, describe};
use crate::figure::{Dimension, Drawing, Figure, Spot, Track};
use crate::font::{Anchor, LABEL};
use crate::page::{Captions, compose, whisker};
use crate::palette::{AXIS, GRID, INK, Mark, Style, TEXT};
use crate::pick::{Picked, pick};
use crate::scale::{Scale, Tick};
use crate::scene::{Rect, Scene, Shape, Text};
use crate::style::Whiskers;
use crate::verdict::{Judged, change};
use crate::{ChartSpec, PlotError, format};

/// The smallest height of a row of the chart, in pixels.
const ROW: f64 = 34.0;
/// The height of the strip that shows one point per round, in pixels. Each row of the chart contains one strip.
const ROUNDS: f64 = 16.0;
/// The width in pixels of the text that states the change, at the right end of a row.
const CHANGE: f64 = 116.0;
/// The width in pixels of the text that states the change, on a narrow page.
const NUMBER: f64 = 56.0;
/// The page width in pixels below which a page counts as narrow.
const NARROW: f64 = 500.0;

/// The comparison of one candidate with its baseline.
struct PairedRatios {
    name: String,
    /// The ratio of the candidate to the baseline in each round, in order.
    rounds: Vec<f64>,
    median: f64,
    low: f64,
    high: f64,
    noise: Option<f64>,
}

/// The comparisons of a ratio chart, and its captions.
pub(crate) struct Ratios {
    y: Column,
    /// The titles of the axes. The vertical axis has names, and normally no title.
    x_title: String,
    y_title: String,
    baseline: String,
    comparisons: Vec<PairedRatios>,
    /// The conditions of the measurement, for the caption.
    pub facts: Vec<String>,
    pub verdict: Option<String>,
    pub notes: Vec<String>,
}

/// Computes the ratio of each candidate to its baseline in each round. `verdicts.csv` names the pairs and contains
/// their confidence intervals. Without this file, the first configuration is the baseline of all others.
pub(crate) fn prepare(table: &Table, spec: &ChartSpec, verdicts: &[Row]) -> Result<Ratios, PlotError> {
    let Picked { table, mut facts, mut notes } = pick(table, spec)?;
    let y = spec.y.as_deref();
    let y =
        y.ok_or_else(|| PlotError::spec("y", "the column to compare is missing; write y = \"COLUMN\""))?;
    let at = table.schema().find(y)?;
    let column = table.schema().columns()[at].clone();
    let judged = Judged::of(verdicts, &table, spec);
    let trials = |is_side: &dyn Fn(&Row) -> bool| -> BTreeMap<u64, f64> {
        let rows = table.rows().iter().filter(|row| is_side(row));
        rows.filter_map(|row| Some((row.get(&TRIAL).integer()?, row.cells()[at].number()?))).collect()
    };
    let mut comparisons = Vec::new();
    let mut baselines = Vec::new();
    for verdict in judged.comparisons() {
        let side = |column| verdict.get(column).to_string();
        let [base, own] = [side(&v::BASELINE), side(&v::CANDIDATE)]
            .map(|name| trials(&|row| judged.is_called(row, &name, verdict)));
        let Some(mut comparison) = compare(name_of(verdict), &base, &own) else { continue };
        let number = |column| verdict.get(column).number();
        if let (Some(ratio), Some(low), Some(high)) =
            (number(&v::RATIO), number(&v::RATIO_LOW), number(&v::RATIO_HIGH))
        {
            (comparison.median, comparison.low, comparison.high) = (ratio, low, high);
        }
        comparison.noise = number(&v::NOISE_FLOOR);
        baselines.push(side(&v::BASELINE));
        comparisons.push(comparison);
    }
    if comparisons.is_empty() {
        let of_cell = |cell: u64| trials(&|row| row.get(&CELL).integer() == Some(cell));
        let mut cells: BTreeMap<u64, String> = BTreeMap::new();
        for row in table.rows() {
            cells.insert(row.get(&CELL).integer().unwrap_or(0), row.get(&CELL_LABEL).to_string());
        }
        let mut cells = cells.into_iter();
        let (first, label) = cells.next().unwrap_or_default();
        let base = of_cell(first);
        comparisons.extend(cells.filter_map(|(cell, label)| compare(label, &base, &of_cell(cell))));
        baselines.push(label);
        notes.push("no verdict uses this metric, so the CIs are computed for the chart".to_owned());
    }
    if comparisons.is_empty() {
        return Err(PlotError::Empty(format!(
            "a ratio needs a round in which two configurations have a value of \"{y}\" above 0, but no \
             round has such values"
        )));
    }
    baselines.dedup();
    let baseline = if baselines.len() == 1 { baselines.remove(0) } else { "its baseline".to_owned() };
    facts.push("points: one round each; diamond: median ratio with its 95 % CI".to_owned());
    let noise = comparisons.iter().filter_map(|comparison| comparison.noise).fold(0.0, f64::max);
    if noise > 0.0 {
        facts.push(format!(
            "grey band: noise floor ±{}, from the baseline against itself",
            format::value(noise, Unit::Share)
        ));
    }
    let x_title = spec.x_title.clone().unwrap_or_else(|| format!("{} / that of {baseline}", column.title()));
    let y_title = spec.y_title.clone().unwrap_or_default();
    Ok(Ratios {
        y: column,
        x_title,
        y_title,
        baseline,
        comparisons,
        facts,
        verdict: judged.sentence(),
        notes,
    })
}

/// Returns the name of the candidate in a verdict. If verdicts compare several groups of configurations, the name
/// includes the settings that the candidate shares with its baseline.
fn name_of(verdict: &Row) -> String {
    let (candidate, within) = (verdict.get(&v::CANDIDATE).to_string(), verdict.get(&v::WITHIN).to_string());
    if within.is_empty() { candidate } else { format!("{candidate} ({within})") }
}

/// Computes the ratio of a candidate to its baseline in each round. `base` and `own` contain the values by round.
/// Returns `None` if no round has both values.
fn compare(name: String, base: &BTreeMap<u64, f64>, own: &BTreeMap<u64, f64>) -> Option<PairedRatios> {
    let ratio = |(trial, own): (&u64, &f64)| {
        let ratio = own / base.get(trial)?;
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    };
    let rounds: Vec<f64> = own.iter().filter_map(ratio).collect();
    if rounds.is_empty() {
        return None;
    }
    let Spread { median, low, high, .. } = Spread::of(rounds.clone(), Whiskers::Ci);
    Some(PairedRatios { name, rounds, median, low, high, noise: None })
}

impl Ratios {
    /// Returns the default title of the ratio chart.
    pub(crate) fn title(&self) -> String {
        format!("{} relative to {}", self.y.title(), self.baseline)
    }

    /// Returns the values that the chart draws, in two series: the ratios of the rounds, and the medians with their
    /// intervals.
    pub(crate) fn figure(&self) -> Figure {
        let across = |at: usize| at as f64;
        let rounds = self.comparisons.iter().enumerate().flat_map(|(at, comparison)| {
            comparison.rounds.iter().map(move |ratio| Spot::at(across(at), *ratio))
        });
        let medians = self.comparisons.iter().enumerate().map(|(at, comparison)| Spot {
            interval: Some((comparison.low, comparison.high)),
            trials: Some(comparison.rounds.len()),
            ..Spot::at(across(at), comparison.median)
        });
        let color = |place| Style::new(place, 0).color;
        Figure {
            x: Dimension::new("candidate", "candidate", Unit::Plain, false),
            y: Dimension::new("ratio", &self.x_title, Unit::Ratio, true),
            names: self.comparisons.iter().map(|comparison| comparison.name.clone()).collect(),
            drawing: Drawing::Points,
            interval: "95 % CI of the median ratio".to_owned(),
            tracks: vec![
                Track { label: "median ratio".to_owned(), color: INK, spots: medians.collect() },
                Track { label: "rounds".to_owned(), color: color(0), spots: rounds.collect() },
            ],
            ..Figure::default()
        }
    }
}

/// Draws the ratio chart.
pub(crate) fn draw(ratios: &Ratios, captions: &mut Captions) -> Result<Scene, PlotError> {
    let all = ratios.comparisons.iter().flat_map(|comparison| {
        let noise = comparison.noise.unwrap_or(0.0);
        let ends = [comparison.low, comparison.high, 1.0, 1.0 + noise, 1.0 / (1.0 + noise)];
        comparison.rounds.iter().copied().chain(ends)
    });
    let scale = Scale::log(all)
        .ok_or_else(|| PlotError::Empty("no ratio of a candidate to its baseline is above 0".to_owned()))?
        .inset(0.06);
    captions.upwards.clone_from(&ratios.y_title);
    captions.across = describe(&ratios.x_title, "", ratios.y.better(), Side::Across);
    let names: Vec<String> = ratios.comparisons.iter().map(|comparison| comparison.name.clone()).collect();
    let (names, left) = names_down(&names, (0.3 * captions.inner()).min(240.0), 3);
    let lines = names.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let row = ROW.max(lines * LINE + 10.0);
    let is_narrow = captions.inner() < NARROW;
    let mut page = compose(captions, names.len() as f64 * row + 30.0);
    let (scene, room) = (&mut page.scene, page.room);
    let rect = Rect {
        left: room.left + left,
        top: room.top,
        right: room.right - if is_narrow { NUMBER } else { CHANGE },
        bottom: room.bottom - LABEL * 1.2 - 12.0,
    };
    let across = |ratio: f64| rect.left + scale.at(ratio).unwrap_or(0.0) * rect.width();
    let slot = rect.height() / names.len() as f64;
    bands(scene, rect, ratios, slot, &across);
    for tick in ticks(scale, rect.width()) {
        let x = rect.left + tick.at * rect.width();
        scene.line(&[(x, rect.top), (x, rect.bottom)], 1.0, GRID);
        let label = Text::new(tick.label, x, rect.bottom + 8.0 + LABEL * 0.8, LABEL, TEXT);
        scene.text(label.anchored(Anchor::Middle));
    }
    scene.line(&[(across(1.0), rect.top), (across(1.0), rect.bottom)], 1.5, AXIS);
    draw_names_down(scene, rect, &names);
    let style = Style::new(0, 0);
    for (at, comparison) in ratios.comparisons.iter().enumerate() {
        let middle = rect.top + (at as f64 + 0.5) * slot;
        let count = comparison.rounds.len();
        for (round, ratio) in comparison.rounds.iter().enumerate() {
            let share = if count > 1 { round as f64 / (count - 1) as f64 - 0.5 } else { 0.0 };
            let (x, y) = (across(*ratio), middle + share * ROUNDS);
            scene.shapes.push(Shape::Mark { x, y, radius: 2.25, color: style.color, mark: Mark::Circle });
        }
        let place = |ratio: f64| (across(ratio), middle);
        if comparison.high > comparison.low {
            whisker(scene, place(comparison.low), place(comparison.high), INK);
        }
        let (x, y) = place(comparison.median);
        scene.mark(x, y, INK, Mark::Diamond);
        let text = match is_narrow {
            true => format!("{}x", format::alike(comparison.median, Unit::Ratio)),
            false => change(comparison.median, &ratios.y),
        };
        scene.text(Text::new(text, rect.right + 10.0, middle + LABEL * 0.36, LABEL, TEXT));
    }
    scene.line(&[(rect.left, rect.bottom), (rect.right, rect.bottom)], 1.0, AXIS);
    Ok(page.below(rect))
}

/// Draws the noise floor of each candidate as a band around the ratio 1, in the row of the candidate. A candidate
/// without a noise floor has no band.
fn bands(scene: &mut Scene, rect: Rect, ratios: &Ratios, slot: f64, across: &dyn Fn(f64) -> f64) {
    for (at, comparison) in ratios.comparisons.iter().enumerate() {
        let Some(noise) = comparison.noise.filter(|noise| *noise > 0.0) else { continue };
        let top = rect.top + at as f64 * slot;
        let left = across(1.0 / (1.0 + noise)).max(rect.left);
        let right = across(1.0 + noise).min(rect.right);
        scene.rect(Rect { left, top, right, bottom: top + slot }, GRID);
    }
}

/// Returns the ticks of the ratio axis at round ratios, with labels such as `0.5x`, `1x` and `2x`.
fn ticks(scale: Scale, width: f64) -> Vec<Tick> {
    let write = |ratio: f64| format!("{}x", format::value(ratio, Unit::Ratio));
    let round = |count: usize| {
        let ticks = scale.ticks(count, Unit::Ratio).0;
        ticks.into_iter().map(|tick| Tick { label: format!("{}x", tick.label), ..tick }).collect()
    };
    fitting_ticks(scale, &[f64::NAN], width, write, round)
}
