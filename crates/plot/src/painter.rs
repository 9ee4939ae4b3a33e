//! The interface for kinds of chart in other crates: the points, the axes and the canvas.

use results::Unit;

use crate::font::{Anchor, LABEL};
use crate::format::SPACE;
use crate::palette::{Color, FAINT, GRID, TEXT, THEORY};
use crate::scale::Scale;
use crate::scene::{Rect, Scene, Text};

/// Draws points onto a canvas. The caller draws the title, the legend and the notes around the canvas.
pub trait Painter: Send + Sync {
    /// Returns the height of the plot in pixels that these points need. Returns 0 for the default height.
    fn height(&self, _picture: &ChartPoints<'_>) -> f64 {
        0.0
    }

    /// Draws the points of a chart into the plot area `canvas`.
    fn paint(&self, picture: &ChartPoints<'_>, canvas: &mut Canvas<'_>);
}

/// The points of a chart and its axes, as a painter of another crate receives them.
#[derive(Clone, Debug)]
pub struct ChartPoints<'a> {
    /// The names on the horizontal axis, in order. Empty for an axis of numbers.
    pub names: Vec<&'a str>,
    /// The unit of the vertical axis.
    pub unit: Unit,
    /// The horizontal axis if it is an axis of numbers; `None` for an axis of names. The axis is logarithmic if the
    /// chart sets `log_x`.
    pub across: Option<ChartAxis>,
    /// The vertical axis. The axis is logarithmic if the chart sets `log_y`.
    pub upwards: ChartAxis,
    /// The series of the chart. There is at least one series.
    pub series: Vec<Curve<'a>>,
}

/// An axis of a chart, which converts numbers to positions from 0 to 1 and chooses round numbers for ticks.
#[derive(Clone, Copy, Debug)]
pub struct ChartAxis {
    pub(crate) scale: Scale,
    pub(crate) unit: Unit,
}

impl ChartAxis {
    /// Returns the position of a number on the axis, from 0 to 1. Returns `None` if a logarithmic axis cannot show the
    /// number.
    pub fn at(&self, number: f64) -> Option<f64> {
        self.scale.at(number)
    }

    /// Returns whether the axis is logarithmic.
    pub fn is_log(&self) -> bool {
        matches!(self.scale, Scale::Log { .. })
    }

    /// Returns about `count` ticks at round numbers: the position of each tick, and its label with the unit.
    pub fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let (ticks, unit) = self.scale.ticks(count, self.unit);
        let with_unit = |label: String| if unit.is_empty() { label } else { format!("{label}{SPACE}{unit}") };
        ticks.into_iter().map(|tick| (tick.at, with_unit(tick.label))).collect()
    }
}

/// One series: its label and its points.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// The label of the series. Empty if the chart has a single series.
    pub label: &'a str,
    /// The points in order of `x`.
    pub points: Vec<Dot>,
}

/// A point of a chart: the median over trials, and the interval that the whiskers show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// The number on the horizontal axis. If the axis shows names, this is the index of the name.
    pub x: f64,
    /// The median over all trials.
    pub y: f64,
    /// The lower end of the interval that the whiskers show.
    pub low: f64,
    /// The upper end of the interval that the whiskers show.
    pub high: f64,
    /// The value that theory predicts, if the chart sets `theory = true` and the results have a prediction.
    pub theory: Option<f64>,
    /// The ideal bound, if the chart sets `theory = true` and the results have a bound.
    pub bound: Option<f64>,
}

/// The color of a shape or a text on a canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// The color of the series with this index. If the chart has only one series, the index selects a name on the
    /// horizontal axis and the color of this name.
    Series(usize),
    /// The color of text.
    Text,
    /// The color of less important text.
    Faint,
    /// The color of grid lines.
    Grid,
}

/// The part of a text that is at a given position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// The start of the text is at the position.
    Start,
    /// The middle of the text is at the position.
    Middle,
    /// The end of the text is at the position.
    End,
}

/// The plot area of a page, in which a painter draws. Coordinates are pixels from its upper left corner.
pub struct Canvas<'a> {
    pub(crate) scene: &'a mut Scene,
    pub(crate) area: Rect,
    pub(crate) colors: Vec<Color>,
}

impl Canvas<'_> {
    /// Returns the width of the canvas in pixels.
    pub fn width(&self) -> f64 {
        self.area.width()
    }

    /// Returns the height of the canvas in pixels.
    pub fn height(&self) -> f64 {
        self.area.height()
    }

    /// Draws a line through points. `width` is the thickness of the line in pixels.
    pub fn line(&mut self, points: &[(f64, f64)], width: f64, ink: Ink) {
        let moved = self.moved(points);
        self.scene.line(&moved, width, self.color(ink));
    }

    /// Draws a thin dashed line, in the style of theory lines.
    pub fn dashed(&mut self, points: &[(f64, f64)], ink: Ink) {
        let moved = self.moved(points);
        self.scene.dashed(moved, 1.25, self.color(ink), THEORY);
    }

    fn moved(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        points.iter().map(|(x, y)| (self.area.left + x, self.area.top + y)).collect()
    }

    /// Fills a rectangle from its upper left to its lower right corner.
    pub fn rect(&mut self, (left, top): (f64, f64), (right, bottom): (f64, f64), ink: Ink) {
        let Rect { left: x, top: y, .. } = self.area;
        let rect = Rect { left: x + left, top: y + top, right: x + right, bottom: y + bottom };
        self.scene.rect(rect, self.color(ink));
    }

    /// Writes a text with its baseline at `y`.
    pub fn text(&mut self, text: &str, (x, y): (f64, f64), align: Align, ink: Ink) {
        let anchor = match align {
            Align::Start => Anchor::Start,
            Align::Middle => Anchor::Middle,
            Align::End => Anchor::End,
        };
        let text = Text::new(text, self.area.left + x, self.area.top + y, LABEL, self.color(ink));
        self.scene.text(text.anchored(anchor));
    }

    fn color(&self, ink: Ink) -> Color {
        match ink {
            Ink::Series(index) => self.colors.get(index).copied().unwrap_or(TEXT),
            Ink::Text => TEXT,
            Ink::Faint => FAINT,
            Ink::Grid => GRID,
        }
    }
}
