//! Draws ratio charts. A ratio chart has one row per candidate, which shows the ratio to the baseline in each round,
//! and the median ratio with its 95 % confidence interval. The noise floor is a band around 1.

use measure::{Criteria, Noise, Sample, compare, median};
use results::columns::{CELL, LABEL as CELL_LABEL, OPERATION, PHASE, TRIAL};
use results::{Column, Row, Table, Unit, verdicts as v};

use crate::axes::{LINE, draw_names_down, fitting_ticks, names_down};
use crate::describe::{Side, describe};
use crate::figure::{Dimension, Drawing, Figure, Spot, Track};
use crate::font::{Anchor, LABEL};
use crate::page::{Captions, compose, whisker};
use crate::palette::{AXIS, GRID, INK, Mark, Style, TEXT};
use crate::pick::{Picked, pick};
use crate::scale::{Scale, Tick, between_round};
use crate::scene::{Rect, Scene, Shape, Text};
use crate::verdict::{Judged, change, name};
use crate::{ChartSpec, PlotError, SweptTexts, format};

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
/// The largest number of rows of a ratio chart.
const MOST_ROWS: usize = 100;

/// The comparison of one candidate with its baseline, in one phase and for one kind of operation.
struct PairedRatios {
    name: String,
    /// The settings that the candidate shares with its baseline, the phase, and the kind of operation.
    conditions: Vec<String>,
    /// The ratio of the candidate to the baseline in each round, in order.
    rounds: Vec<f64>,
    median: f64,
    /// The ends of the 95 % confidence interval of the median. `None` if there are too few rounds.
    interval: Option<(f64, f64)>,
    noise: Option<f64>,
    /// Whether `verdicts.csv` contains this comparison.
    is_judged: bool,
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

/// The rows of one phase and one kind of operation, from which ratios are computed.
struct Source<'a> {
    place: &'a Place,
    runs: Table,
    /// The second trials of baselines. A baseline runs twice in a round to measure the noise. `None` if it runs once.
    noise: Option<Table>,
    judged: &'a Judged<'a>,
    /// The compared column.
    column: &'a Column,
}

/// A phase and a kind of operation.
type Place = [String; 2];

/// Computes the ratio of each candidate to its baseline in each round. `verdicts.csv` names the pairs and contains
/// confidence intervals. For values without a verdict, the chart computes the intervals with the same method. `noise`
/// contains the second trials of baselines. If no verdicts exist and `is_companion` is false, the first configuration
/// is the baseline of all others. `texts` are the texts of swept values in the chart.
pub(crate) fn prepare(
    table: &Table,
    spec: &ChartSpec,
    (verdicts, noise, texts): (&[Row], Option<&Table>, &SweptTexts),
    is_companion: bool,
) -> Result<Ratios, PlotError> {
    let Picked { table, mut facts, notes } = pick(table, spec)?;
    let y = spec.y.as_deref();
    let y =
        y.ok_or_else(|| PlotError::spec("y", "the column to compare is missing; write y = \"COLUMN\""))?;
    let at = table.schema().find(y)?;
    let column = table.schema().columns()[at].clone();
    let judged = Judged::of(verdicts, &table, spec, texts);
    let first = if verdicts.is_empty() && !is_companion { first_pairs(&table) } else { Vec::new() };
    let pairs = if verdicts.is_empty() { first.iter().collect() } else { judged.pairs(verdicts) };
    let places = places(&table);
    let mut comparisons = Vec::new();
    let mut baselines: Vec<String> = Vec::new();
    for place in &places {
        let of_place = |table: &Table| table.filter(|row| place_of(row) == *place);
        let (runs, noise) = (of_place(&table), noise.map(of_place));
        let source = Source { place, runs, noise, judged: &judged, column: &column };
        for pair in &pairs {
            let Some(comparison) = source.compare(pair, pairs.len()) else { continue };
            let baseline = name(&pair.get(&v::BASELINE).to_string());
            if !baselines.contains(&baseline) {
                baselines.push(baseline);
            }
            comparisons.push(comparison);
        }
    }
    if comparisons.is_empty() {
        return Err(PlotError::Empty(format!(
            "a ratio needs a round in which a configuration and its baseline have a value of \"{y}\" above \
             0, but no round has such values"
        )));
    }
    if comparisons.len() > MOST_ROWS {
        let rows = comparisons.len();
        let message = format!("{rows} ratios in one chart are too many; use `filter` to keep fewer ratios");
        return Err(PlotError::spec("filter", message));
    }
    name_by_differences(&mut comparisons);
    let baseline = if baselines.len() == 1 { baselines.remove(0) } else { "its baseline".to_owned() };
    facts.extend(explanations(&comparisons));
    let x_title = spec.x_title.clone().unwrap_or_else(|| format!("{} / that of {baseline}", column.title()));
    let y_title = spec.y_title.clone().unwrap_or_default();
    let verdict = judged.sentence();
    Ok(Ratios { y: column, x_title, y_title, baseline, comparisons, facts, verdict, notes })
}

/// Returns texts for the caption that explain the points, the diamonds and the bands of a ratio chart.
fn explanations(comparisons: &[PairedRatios]) -> Vec<String> {
    let has_interval = comparisons.iter().any(|comparison| comparison.interval.is_some());
    let diamond = if has_interval { "median ratio with its 95 % CI" } else { "median ratio" };
    let mut texts = vec![format!("points: one round each; diamond: {diamond}")];
    let floors = || comparisons.iter().filter_map(|comparison| comparison.noise);
    let ends = floors().reduce(f64::min).zip(floors().reduce(f64::max));
    if let Some((least, most)) = ends.filter(|(_, most)| *most > 0.0) {
        let [least, most] = [least, most].map(|floor| format::value(floor, Unit::Share));
        let range = if least == most { least } else { format!("{least} to ±{most}") };
        texts.push(format!("grey band: noise floor ±{range}, from the baseline against itself"));
    }
    let judged = comparisons.iter().filter(|comparison| comparison.is_judged).count();
    texts.extend(match judged {
        0 => Some("no verdict uses these ratios".to_owned()),
        judged if judged < comparisons.len() => {
            Some(format!("{judged} of {} ratios have a verdict", comparisons.len()))
        }
        _ => None,
    });
    texts
}

/// Returns the phases and the kinds of operations in a table, in the order of its rows.
fn places(table: &Table) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for place in table.rows().iter().map(place_of) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn place_of(row: &Row) -> Place {
    [&PHASE, &OPERATION].map(|column| row.get(column).to_string())
}

/// Adds the conditions in which the comparisons differ to the names of the candidates, in parentheses: the settings
/// that a candidate shares with its baseline, the phase, and the kind of operation.
fn name_by_differences(comparisons: &mut [PairedRatios]) {
    let all: Vec<Vec<String>> = comparisons.iter().map(|comparison| comparison.conditions.clone()).collect();
    let differs = |condition: &&String| all.iter().any(|other| !other.contains(condition));
    for (comparison, conditions) in comparisons.iter_mut().zip(&all) {
        let own: Vec<&str> = conditions.iter().filter(differs).map(String::as_str).collect();
        if !own.is_empty() {
            comparison.name = format!("{} ({})", comparison.name, own.join(", "));
        }
    }
}

/// Returns one row of `verdicts.csv` for each configuration after the first, with the first configuration as the
/// baseline.
fn first_pairs(table: &Table) -> Vec<Row> {
    let mut cells: Vec<(u64, String)> = Vec::new();
    for row in table.rows() {
        let cell = (row.get(&CELL).integer().unwrap_or(0), row.get(&CELL_LABEL).to_string());
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    cells.sort();
    let Some(((_, first), others)) = cells.split_first() else { return Vec::new() };
    let pair = |(_, label): &(u64, String)| {
        let mut row = v::row();
        row.set(&v::BASELINE, first.as_str()).set(&v::CANDIDATE, label.as_str());
        row
    };
    others.iter().map(pair).collect()
}

impl Source<'_> {
    /// Computes the ratio of a candidate to its baseline in each round. `pair` is a row of `verdicts.csv` that names
    /// both, and `pairs` is the number of such rows. Returns `None` if no round has both values.
    fn compare(&self, pair: &Row, pairs: usize) -> Option<PairedRatios> {
        let [baseline, candidate] = [&v::BASELINE, &v::CANDIDATE].map(|side| pair.get(side).to_string());
        let sample = |table: &Table, called: &str| {
            let is_of = |row: &&Row| self.judged.is_called(row, called, pair);
            let at = table.schema().position(self.column.name());
            let trial = |row: &Row| Some((row.get(&TRIAL).integer()?, row.cells()[at?].number()?));
            Sample::new("", table.rows().iter().filter(is_of).filter_map(trial))
        };
        let (base, own) = (sample(&self.runs, &baseline), sample(&self.runs, &candidate));
        let ratios = base.pairs(&own).map(|(base, own)| own / base);
        let rounds: Vec<f64> = ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect();
        let middle = median(rounds.iter().copied())?;
        let verdict = self.judged.comparisons().find(|verdict| is_same(verdict, pair, self.place));
        let number = |column| verdict?.get(column).number();
        let computed = compare(&base, &own, self.column.better(), &Criteria::default());
        let judged = number(&v::RATIO_LOW).zip(number(&v::RATIO_HIGH));
        let interval = judged.or(computed.interval.map(|interval| (interval.low, interval.high)));
        let again = || {
            let again = sample(self.noise.as_ref()?, &baseline);
            Noise::of(&base, &again, &Criteria::default(), pairs).map(|noise| noise.floor)
        };
        let within = pair.get(&v::WITHIN).to_string();
        let within = within.split(", ").filter(|part| !part.is_empty()).map(str::to_owned);
        Some(PairedRatios {
            name: candidate,
            conditions: within.chain(self.place.iter().cloned()).collect(),
            median: number(&v::RATIO).or(computed.ratio).filter(|ratio| ratio.is_finite()).unwrap_or(middle),
            rounds,
            interval: interval.filter(|(low, high)| *low > 0.0 && high.is_finite()),
            noise: number(&v::NOISE_FLOOR).or_else(again),
            is_judged: verdict.is_some(),
        })
    }
}

/// Returns whether a verdict is about this pair of configurations, in this phase and for this kind of operation.
fn is_same(verdict: &Row, pair: &Row, place: &Place) -> bool {
    let names = [&v::WITHIN, &v::BASELINE, &v::CANDIDATE];
    names.iter().all(|column| verdict.get(column) == pair.get(column))
        && [&v::PHASE, &v::OPERATION].map(|column| verdict.get(column).to_string()) == *place
}

impl Ratios {
    /// Returns the default title of the ratio chart.
    pub(crate) fn title(&self) -> String {
        format!("{} relative to {}", self.y.title(), self.baseline)
    }

    /// Returns the title of a ratio chart that accompanies a chart with the title `title`.
    pub(crate) fn title_after(&self, title: &str) -> String {
        if title.is_empty() { String::new() } else { format!("{title}, relative to {}", self.baseline) }
    }

    /// Returns the values that the chart draws, in two series: the ratios of the rounds, and the medians with their
    /// intervals.
    pub(crate) fn figure(&self) -> Figure {
        let across = |at: usize| at as f64;
        let rounds = self.comparisons.iter().enumerate().flat_map(|(at, comparison)| {
            comparison.rounds.iter().map(move |ratio| Spot::at(across(at), *ratio))
        });
        let medians = self.comparisons.iter().enumerate().map(|(at, comparison)| Spot {
            interval: comparison.interval,
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
        let ends = [comparison.median, 1.0, 1.0 + noise, 1.0 / (1.0 + noise)];
        let interval = comparison.interval.into_iter().flat_map(|(low, high)| [low, high]);
        comparison.rounds.iter().copied().chain(ends).chain(interval)
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
        if let Some((low, high)) = comparison.interval.filter(|(low, high)| high > low) {
            whisker(scene, place(low), place(high), INK);
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
    /// The largest factor between the ends of an axis on which the ticks have equal differences, such as 1, 1.5 and 2.
    const NARROW_RANGE: f64 = 5.0;
    let write = |ratio: f64| format!("{}x", format::value(ratio, Unit::Ratio));
    let round = |count: usize| match scale {
        Scale::Log { low, high } if high / low < NARROW_RANGE => {
            scale.label(between_round(low, high, count), write)
        }
        _ => {
            let ticks = scale.ticks(count, Unit::Ratio).0;
            ticks.into_iter().map(|tick| Tick { label: format!("{}x", tick.label), ..tick }).collect()
        }
    };
    fitting_ticks(scale, &[f64::NAN], width, write, round)
}
