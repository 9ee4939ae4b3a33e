//! The drawn values of a chart, from which the CSV file and the exports are written.

use results::Unit;

use crate::Form;
use crate::data::{Across, Data, Point};
use crate::palette::Color;

/// The values that a chart draws, as exports write them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figure {
    pub title: String,
    pub x: Dimension,
    pub y: Dimension,
    /// The names of the categories on the horizontal axis, in order. Empty for an axis with numbers.
    pub names: Vec<String>,
    pub drawing: Drawing,
    /// The interval that the vertical whiskers show, such as `95 % CI of the median`.
    pub interval: String,
    pub tracks: Vec<Track>,
}

/// How an exported chart draws its values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Drawing {
    #[default]
    Lines,
    /// Steps without marks at the points, for a cumulative distribution.
    Steps,
    Points,
    Bars,
    /// Colored fields of a heat map, whose colors show values.
    Fields,
}

/// An axis of a figure: its column, its title, and whether it is logarithmic.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dimension {
    /// The name of the column in the results.
    pub column: String,
    /// The title of the axis with the unit.
    pub title: String,
    pub is_log: bool,
}

impl Dimension {
    pub(crate) fn new(column: &str, title: &str, unit: Unit, is_log: bool) -> Self {
        let unit = match unit {
            Unit::Plain | Unit::Count | Unit::Ratio | Unit::Share => String::new(),
            unit => format!(" ({})", unit.symbol()),
        };
        Self { column: column.to_owned(), title: format!("{title}{unit}"), is_log }
    }
}

/// One series: its label and its drawn points.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    pub label: String,
    pub color: Color,
    pub spots: Vec<Spot>,
}

/// One drawn point of a series, with its whiskers and theoretical values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// The number on the horizontal axis. If the axis shows names, this is the index of the name.
    pub x: f64,
    pub y: f64,
    /// The ends of the vertical whisker; `None` without a whisker.
    pub interval: Option<(f64, f64)>,
    /// The ends of the horizontal whisker; `None` without a whisker.
    pub across: Option<(f64, f64)>,
    pub trials: Option<usize>,
    pub theory: Option<f64>,
    pub bound: Option<f64>,
}

impl Spot {
    /// Creates a point without whiskers.
    pub(crate) fn at(x: f64, y: f64) -> Self {
        Self { x, y, interval: None, across: None, trials: None, theory: None, bound: None }
    }
}

impl Figure {
    /// Collects the values that a chart of points, lines, bars or fields draws. `interval` names the interval that the
    /// whiskers show.
    pub(crate) fn of(data: &Data, form: Form, [log_x, log_y]: [bool; 2], interval: String) -> Self {
        let (names, unit) = match &data.across {
            Across::Names(names) => (names.iter().map(|(name, _)| name.clone()).collect(), Unit::Plain),
            Across::Numbers(unit) => (Vec::new(), *unit),
        };
        let spot = |point: &Point| Spot {
            interval: (form != Form::Heatmap).then_some((point.y.low, point.y.high)),
            across: (form == Form::Scatter).then_some((point.x.low, point.x.high)),
            trials: Some(point.y.trials),
            theory: point.theory,
            bound: point.bound,
            ..Spot::at(point.x.median, point.y.median)
        };
        let tracks = data.series.iter().map(|series| Track {
            label: series.label.clone(),
            color: series.style.color,
            spots: series.points.iter().map(spot).collect(),
        });
        Self {
            title: String::new(),
            x: Dimension::new(data.x.name(), &data.x_title, unit, log_x && names.is_empty()),
            y: Dimension::new(data.y.name(), &data.y_title, data.y.unit(), log_y),
            names,
            drawing: match form {
                Form::Bar | Form::GroupedBar if log_y => Drawing::Points,
                Form::Bar | Form::GroupedBar => Drawing::Bars,
                Form::Scatter | Form::Ratio => Drawing::Points,
                Form::Heatmap => Drawing::Fields,
                Form::Line | Form::Timeline | Form::Cdf => Drawing::Lines,
            },
            interval,
            tracks: tracks.collect(),
        }
    }

    /// Formats the horizontal value of a point: the name of its category, or its number.
    pub(crate) fn across(&self, spot: &Spot) -> String {
        match self.names.get(spot.x as usize) {
            Some(name) => name.replace(crate::format::SPACE, " "),
            None => number(spot.x),
        }
    }
}

/// Formats a number for an export, without rounding.
pub(crate) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:?}") }
}
