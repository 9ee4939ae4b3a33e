//! Converts the rows of results to the points of a chart. A point is the median over the trials of a configuration,
//! with the spread over these trials.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use results::columns::{CELL, TRIAL};
use results::{Column, EXPECTATIONS, Expectation, Row, Schema, Table, Unit, Value, ValueType};
use types::valid_names;

use crate::describe::axis_title;
use crate::naming::{
    bound_label, compare, looks, own_name, series_label, sort_series, styles_of, tag_of, tell_apart, text_of,
};
use crate::palette::Style;
use crate::pick::{count, pick};
use crate::style::Whiskers;
use crate::verdict::Judged;
use crate::{ChartSpec, Form, LabelOrder, PlotError, SweptTexts, quantity};

/// The spread of one measured value over all trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub median: f64,
    /// The lower end of the interval over all trials, which the whiskers show.
    pub low: f64,
    pub high: f64,
    pub trials: usize,
}

impl Spread {
    /// Computes the median and the interval of one or more measured values.
    pub(crate) fn of(mut values: Vec<f64>, whiskers: Whiskers) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len() - 1;
        let at = |share: f64| {
            let place = share * last as f64;
            let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
            // Equal values need no interpolation, which would turn two infinite values into NaN.
            if below.total_cmp(&above).is_eq() { below } else { below + (above - below) * place.fract() }
        };
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        let (low, high) = match whiskers {
            Whiskers::Iqr => (at(0.25), at(0.75)),
            Whiskers::Ci => {
                let cut = ranks_outside(values.len()).unwrap_or(0);
                (values[cut], values[last - cut])
            }
            Whiskers::Range => (values[0], values[last]),
        };
        Self { median, low, high, trials: values.len() }
    }

    /// Returns whether the two ends of the interval over all trials differ.
    pub(crate) fn is_wide(&self) -> bool {
        self.high > self.low
    }
}

/// The smallest number of trials for which the median has a 95 % confidence interval.
pub(crate) const LEAST_FOR_INTERVAL: usize = 6;

/// Returns how many of `trials` sorted values to remove at each end, so that the remaining values span the 95 %
/// confidence interval of the median. Returns `None` if there are too few values.
///
/// The interval is valid for any distribution: the number of values below the median has a binomial distribution with p
/// = 1/2.
fn ranks_outside(trials: usize) -> Option<usize> {
    let mut share = 0.5_f64.powi(i32::try_from(trials).unwrap_or(i32::MAX));
    let (mut outside, mut cut) = (share, None);
    // Where the probability is too small for an `f64`, the normal distribution is used instead.
    if share <= 0.0 {
        let middle = trials as f64 / 2.0;
        return Some((middle - 1.96 * (trials as f64).sqrt() / 2.0).floor() as usize);
    }
    for rank in 0..trials / 2 {
        if 1.0 - 2.0 * outside < 0.95 {
            break;
        }
        cut = Some(rank);
        share *= (trials - rank) as f64 / (rank + 1) as f64;
        outside += share;
    }
    cut
}

/// One point of a chart, such as the end of a bar.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// The number on the horizontal axis. If the axis shows names, this is the index of the name.
    pub x: Spread,
    pub y: Spread,
    /// The value that theory predicts for `y`; `None` without a prediction.
    pub theory: Option<f64>,
    /// The ideal bound of `y`, which no component can exceed; `None` without a bound.
    pub bound: Option<f64>,
    /// The sign next to the point that shows the verdict on `y`, such as ▲ (improved); `None` without a verdict.
    pub sign: Option<&'static str>,
    /// The text next to the point: the value of a parameter that differs between the points.
    pub tag: Option<String>,
}

/// The points of one series, drawn in one style.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub label: String,
    pub style: Style,
    /// The points in the order of `x`. Points with a `tag` are in the order of their configurations.
    pub points: Vec<Point>,
}

/// The kind of the horizontal axis: numbers or names.
#[derive(Clone, Debug)]
pub(crate) enum Across {
    /// A numeric axis, with the unit of its values.
    Numbers(Unit),
    /// An axis of names. A chart with a single series draws each name in its own style.
    Names(Vec<(String, Style)>),
}

/// The data of a chart of points, lines or bars.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    pub series: Vec<Series>,
    pub across: Across,
    pub x: Column,
    pub y: Column,
    /// The titles of the axes, without units.
    pub x_title: String,
    pub y_title: String,
    /// The heading of the legend, which is the title of the column that names the series; `None` for a single series.
    pub legend: Option<String>,
    /// The column with the theoretical values of `y`; `None` if no row has such a value.
    pub theory: Option<&'static Expectation>,
    /// The column with the ideal bound of `y`, which no component can exceed; `None` if no row has such a bound.
    pub bound: Option<&'static Expectation>,
    /// The conditions of the measurement that the caption lists, such as the phase and the operation.
    pub facts: Vec<String>,
    /// The verdict on the drawn values, as a sentence.
    pub verdict: Option<String>,
    /// The explanation of the verdict signs, such as ▲, at the bars. `None` if the chart shows no signs.
    pub signs: Option<String>,
    /// The notes at the end of the caption, which list the omitted rows and the reasons.
    pub notes: Vec<String>,
}

/// The kind of an additional line in a chart: a prediction of theory, or an ideal bound that no component can exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// The value that theory predicts.
    Theory,
    /// The ideal bound, which no component can exceed.
    Bound,
}

impl Known {
    /// Both kinds of lines, in the order in which a chart draws them.
    pub(crate) const ALL: [Self; 2] = [Self::Theory, Self::Bound];

    /// Returns the prediction of theory or the ideal bound at a point, depending on the kind of the line.
    pub(crate) fn at(self, point: &Point) -> Option<f64> {
        match self {
            Self::Theory => point.theory,
            Self::Bound => point.bound,
        }
    }
}

impl Data {
    /// Returns the line of predictions or ideal bounds that all series share. Returns `None` if the lines of the series
    /// differ, or if fewer than two series have such a line.
    pub(crate) fn common(&self, known: Known) -> Option<Vec<(f64, f64)>> {
        let points = self.series.iter().flat_map(|series| &series.points);
        let mut all: Vec<(f64, f64)> =
            points.filter_map(|point| Some((point.x.median, known.at(point)?))).collect();
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let agree = |pair: &[(f64, f64)]| {
            pair[0].0.total_cmp(&pair[1].0).is_ne() || pair[0].1.total_cmp(&pair[1].1).is_eq()
        };
        // If only one series has predictions or bounds, they belong to this series and are not common.
        let has_some = |series: &&Series| series.points.iter().any(|point| known.at(point).is_some());
        let is_common = self.series.iter().filter(has_some).count() > 1;
        if !is_common || !all.windows(2).all(agree) {
            return None;
        }
        all.dedup();
        Some(all)
    }
}

/// Converts the rows of a table to points, for all charts except latency distributions and ratio charts.
pub(crate) fn prepare(
    table: &Table,
    spec: &ChartSpec,
    (order, texts): (&LabelOrder, &SweptTexts),
    verdicts: &[Row],
    whiskers: Whiskers,
) -> Result<Data, PlotError> {
    let picked = pick(table, spec)?;
    let plan = Plan::new(&picked.table, spec, whiskers)?;
    let judged = Judged::of(verdicts, &picked.table, spec, texts);
    let mut notes = picked.notes;
    if spec.theory && plan.theory.is_none() && plan.bound.is_none() {
        notes.push("no theoretical value exists for the selected rows".to_owned());
    }
    let cells = plan.cells(&picked.table, &judged, &mut notes);
    if cells.is_empty() {
        return Err(PlotError::Empty(format!(
            "no selected row of the results has a value in column \"{}\"",
            plan.y.name()
        )));
    }
    let across = plan.across(&cells, order);
    let mut facts = picked.facts;
    facts.extend(plan.tag_at.map(|at| format!("points marked with {}", plan.schema.columns()[at].title())));
    let series = plan.series(&cells, &across, order)?;
    let legend = (series.len() > 1).then(|| plan.legend());
    let (theory, bound) = (plan.theory.map(|known| known.1), plan.bound.map(|known| known.1));
    let (verdict, signs) = (judged.sentence(), judged.key());
    let x_title = spec.x_title.clone().unwrap_or_else(|| axis_title(&plan.x));
    let y_title = spec.y_title.clone().unwrap_or_else(|| axis_title(&plan.y));
    let (x, y) = (plan.x, plan.y);
    Ok(Data { series, across, x, y, x_title, y_title, legend, theory, bound, facts, verdict, signs, notes })
}

/// The columns of the results that a chart needs, such as the columns of its two axes.
struct Plan {
    form: Form,
    x: Column,
    y: Column,
    x_at: usize,
    y_at: usize,
    /// The index and the definition of the column with the theoretical values of `y`.
    theory: Option<(usize, &'static Expectation)>,
    bound: Option<(usize, &'static Expectation)>,
    /// The indexes of the columns whose values name a series. The first of these columns determines the color.
    series_at: Vec<usize>,
    /// The index of the column whose values label the points of a scatter plot.
    tag_at: Option<usize>,
    schema: Schema,
    whiskers: Whiskers,
}

/// The rows of one point: all trials of one configuration at one horizontal position.
struct Cell {
    x: Value,
    series: Vec<Value>,
    /// The name of the configuration without its settings: the engine, or else the label of the configuration.
    own: String,
    tag: Option<String>,
    /// The number of the configuration in `runs.csv`. Names that are not in a catalog are sorted by this number.
    number: u64,
    xs: Vec<f64>,
    ys: Vec<f64>,
    theory: Vec<f64>,
    bound: Vec<f64>,
    sign: Option<&'static str>,
}

impl Plan {
    fn new(table: &Table, spec: &ChartSpec, whiskers: Whiskers) -> Result<Self, PlotError> {
        let schema = table.schema().clone();
        let timeline = spec.form() == Form::Timeline;
        let x = spec.x.as_deref().or(timeline.then_some("second"));
        let x = x.ok_or_else(|| {
            PlotError::spec("x", "the column of the x axis is missing; write x = \"COLUMN\"")
        })?;
        let y = spec.y.as_deref();
        let y = y.ok_or_else(|| {
            PlotError::spec("y", "the column of the y axis is missing; write y = \"COLUMN\"")
        })?;
        let (x_at, y_at) = (schema.find(x)?, schema.find(y)?);
        let is_text =
            |at: usize| matches!(schema.columns()[at], Column::Fixed(m) if m.kind == ValueType::Text);
        if is_text(y_at) {
            return Err(PlotError::spec(
                "y",
                format!("column \"{y}\" contains names; choose a measured column"),
            ));
        }
        if is_text(x_at) && matches!(spec.form(), Form::Scatter | Form::Timeline) {
            return Err(PlotError::spec(
                "x",
                format!("column \"{x}\" contains names; choose a measured column"),
            ));
        }
        if spec.form() == Form::Heatmap && spec.series.is_none() {
            return Err(PlotError::spec(
                "series",
                "the column for the rows of the heat map is missing; write series = \"COLUMN\"",
            ));
        }
        if spec.theory && Expectation::of(y).next().is_none() {
            let mut known: Vec<&str> = EXPECTATIONS.iter().map(|expectation| expectation.of.name).collect();
            known.dedup();
            let message = format!("no theory exists for y = \"{y}\". {}", valid_names(known));
            return Err(PlotError::spec("theory", message));
        }
        let known = |is_bound: bool| {
            let mut columns = Expectation::of(y).filter(|known| spec.theory && known.is_bound == is_bound);
            columns.find_map(|known| {
                let at = schema.position(known.by.name)?;
                let has_value = table.rows().iter().any(|row| row.cells()[at].number().is_some());
                has_value.then_some((at, known))
            })
        };
        let (theory, bound) = (known(false), known(true));
        let (x, y) = (schema.columns()[x_at].clone(), schema.columns()[y_at].clone());
        let series_at = tell_apart(table, spec, Some(x_at))?;
        let tag_at = tag_of(table, spec, &series_at)?;
        Ok(Self { form: spec.form(), x, y, x_at, y_at, theory, bound, series_at, tag_at, schema, whiskers })
    }

    /// Returns the heading of the legend, which is the title of the column that names the series.
    fn legend(&self) -> String {
        self.series_at.first().map_or(String::new(), |at| axis_title(&self.schema.columns()[*at]))
    }

    /// Groups the rows of the results by the point of the chart to which they belong. Omits rows without a value of
    /// `y`.
    fn cells(&self, table: &Table, judged: &Judged<'_>, notes: &mut Vec<String>) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        let mut places: HashMap<(u64, Vec<String>), usize> = HashMap::new();
        let mut empty = BTreeSet::new();
        for row in table.rows() {
            let value = |at: usize| row.cells()[at].clone();
            let number = row.get(&CELL).integer().unwrap_or(0);
            let Some(y) = value(self.y_at).number() else {
                empty.insert((number, row.get(&TRIAL).integer()));
                continue;
            };
            let series: Vec<Value> = self.series_at.iter().map(|at| value(*at)).collect();
            let x = value(self.x_at);
            let mut key: Vec<String> = series.iter().map(Value::to_string).collect();
            if self.form != Form::Scatter {
                key.push(x.to_string());
            }
            let place = *places.entry((number, key)).or_insert_with(|| {
                let [xs, ys, theory, bound] = [const { Vec::new() }; 4];
                let tag = self.tag_at.map(|at| text_of(&value(at))).filter(|tag| !tag.is_empty());
                let sign = judged.sign(row);
                let own = own_name(row);
                cells.push(Cell { x: x.clone(), series, own, tag, number, xs, ys, theory, bound, sign });
                cells.len() - 1
            });
            let cell = &mut cells[place];
            cell.ys.push(y);
            cell.xs.extend(quantity::of(&x, self.x.unit()).map(|(x, _)| x));
            cell.theory.extend(self.theory.and_then(|(at, _)| value(at).number()));
            cell.bound.extend(self.bound.and_then(|(at, _)| value(at).number()));
        }
        if !empty.is_empty() {
            let cells: BTreeSet<u64> = empty.iter().map(|(cell, _)| *cell).collect();
            notes.push(format!("{} left out: no {} measured", count(cells.len(), "cell"), self.y.name()));
        }
        let needs_x = matches!(self.form, Form::Scatter | Form::Timeline);
        cells.retain(|cell| !needs_x || !cell.xs.is_empty());
        cells.sort_by_key(|cell| cell.number);
        cells
    }

    /// Returns the horizontal axis of a chart with these points. The axis shows numbers if all values are numbers with
    /// the same unit, and otherwise names.
    fn across(&self, cells: &[Cell], order: &LabelOrder) -> Across {
        let units: Option<Vec<Unit>> =
            cells.iter().map(|cell| Some(quantity::of(&cell.x, self.x.unit())?.1)).collect();
        let bars = matches!(self.form, Form::Bar | Form::GroupedBar | Form::Heatmap);
        if let Some(units) = units
            && !bars
            && units.windows(2).all(|pair| pair[0] == pair[1])
        {
            return Across::Numbers(units[0]);
        }
        let mut names: Vec<(&Value, u64)> = Vec::new();
        for cell in cells {
            match names.iter_mut().find(|(name, _)| *name == &cell.x) {
                Some((_, number)) => *number = (*number).min(cell.number),
                None => names.push((&cell.x, cell.number)),
            }
        }
        names.sort_by(|a, b| compare(order, &self.x, *a, *b));
        let looks = looks(order, &self.x, &names);
        Across::Names(names.iter().map(|(name, _)| text_of(name)).zip(looks).collect())
    }

    /// Builds the series of the chart, with their order and styles, from the rows of all points.
    fn series(&self, cells: &[Cell], across: &Across, order: &LabelOrder) -> Result<Vec<Series>, PlotError> {
        let mut groups: Vec<(&Vec<Value>, u64, Vec<Point>, &str)> = Vec::new();
        let names: BTreeMap<&str, usize> = match across {
            Across::Numbers(_) => BTreeMap::new(),
            Across::Names(names) => {
                names.iter().enumerate().map(|(at, (name, _))| (name.as_str(), at)).collect()
            }
        };
        let spread = |values: &[f64]| Spread::of(values.to_vec(), self.whiskers);
        for cell in cells {
            let x = match across {
                Across::Numbers(_) => spread(&cell.xs),
                Across::Names(_) => spread(&[names[text_of(&cell.x).as_str()] as f64]),
            };
            let median = |of: &Vec<f64>| (!of.is_empty()).then(|| spread(of).median);
            let (theory, bound) = (median(&cell.theory), median(&cell.bound));
            let (y, tag, sign) = (spread(&cell.ys), cell.tag.clone(), cell.sign);
            let point = Point { x, y, theory, bound, sign, tag };
            match groups.iter_mut().find(|(key, ..)| *key == &cell.series) {
                Some((_, number, points, _)) => {
                    *number = (*number).min(cell.number);
                    points.push(point);
                }
                None => groups.push((&cell.series, cell.number, vec![point], &cell.own)),
            }
        }
        let columns: Vec<&Column> = self.series_at.iter().map(|at| &self.schema.columns()[*at]).collect();
        sort_series(&mut groups, &columns, order, |(key, number, ..)| (key, *number))?;
        let styles = styles_of(&columns, order, groups.iter().map(|(key, ..)| *key));
        let series = groups.into_iter().zip(styles).map(|((key, _, mut points, own), style)| {
            // Points with a tag are joined in the order of the sweep, which `cells` have.
            if self.tag_at.is_none() {
                points.sort_by(|a, b| a.x.median.total_cmp(&b.x.median));
            }
            Series { label: bound_label(series_label(&columns, key, own), style), style, points }
        });
        Ok(series.collect())
    }
}

/// Counts the trials of each point in these series, and returns the smallest and the largest count.
pub(crate) fn trials(series: &[Series]) -> (usize, usize) {
    let trials = || series.iter().flat_map(|series| &series.points).map(|point| point.y.trials);
    (trials().min().unwrap_or(0), trials().max().unwrap_or(0))
}
