//! Draws bar charts, with one bar or one group of bars per category. The bars are horizontal if the names of the
//! categories do not fit below vertical bars. On a logarithmic axis, the chart shows points instead of bars, because
//! the axis has no 0 at which bars could start.

use crate::axes::{LINE, Labels, draw_names_down, draw_upwards, names_down, text_width, ticks_width};
use crate::data::{Across, Data, Known, Point};
use crate::describe::{Side, describe};
use crate::font::{Anchor, LABEL};
use crate::lines::nothing_positive;
use crate::naming::bound_label;
use crate::page::{Captions, Sample, bar, compose, dashes_of, legend_of_bars, whisker};
use crate::palette::{AXIS, BOUND, GRID, INK, PAPER, Style, TEXT};
use crate::scale::Scale;
use crate::scene::{Rect, Scene, Text};
use crate::{ChartSpec, PlotError, format};

/// The largest number of categories that a bar chart can show.
const MOST_CATEGORIES: usize = 100;
/// The fraction of its space on the axis that a category leaves empty, so that bars of neighboring categories do not
/// touch.
const GAP: f64 = 0.28;
/// The thickness of a horizontal bar, in pixels.
const LYING: f64 = 17.0;
/// The gap between groups of horizontal bars, in pixels.
const LYING_GAP: f64 = 9.0;
/// The width that is reserved for the number at the end of a horizontal bar, in pixels.
const NUMBER: f64 = 62.0;
/// The smallest gap between the numbers of two neighboring bars, in pixels.
const NUMBER_GAP: f64 = 3.0;
/// The smallest font size of the numbers at the ends of bars, as a fraction of the font size of labels.
const SMALLEST_NUMBER: f64 = 0.75;

/// Draws a bar chart.
pub(crate) fn draw(data: &Data, spec: &ChartSpec, captions: &mut Captions) -> Result<Scene, PlotError> {
    let Across::Names(names) = &data.across else {
        return Err(PlotError::spec(
            "x",
            "a bar chart needs names on the x axis, but the x column contains numbers; choose another \
             column or another kind of chart",
        ));
    };
    if names.len() > MOST_CATEGORIES {
        let message =
            format!("{} bars in one group are too many; use `filter` to keep fewer bars", names.len());
        return Err(PlotError::spec("x", message));
    }
    let data = &hatched(data);
    let labels: Vec<String> = names.iter().map(|(name, style)| bound_label(name.clone(), *style)).collect();
    let scale = scale(data, spec)?;
    let unseen = points(data).filter(|point| scale.at(point.y.median).is_none()).count();
    if unseen > 0 {
        let bars = crate::pick::count(unseen, "bar");
        captions.notes.push(format!("{bars} at 0 not shown: the axis is logarithmic"));
    }
    captions.legend = legend_of_bars(data, if spec.is_log_y() { Sample::Mark } else { Sample::Box });
    let (ticks, unit) = scale.ticks(6, data.y.unit());
    let length = captions.inner() - ticks_width(&ticks);
    let standing = Labels::of_names(&labels, length);
    let bars = names.len() * data.series.len();
    let is_lying = standing.is_upright() || bars > 40;
    // Verdict signs such as ▲ always fit at the end of horizontal bars, but not always above vertical bars. The caption
    // explains the signs only if they fit.
    let has_verdict = !captions.verdict.is_empty();
    if is_lying
        || number_size(data, thickness(data, length / names.len() as f64, false), false, true).is_some()
    {
        // A caption without a verdict does not explain the signs.
        captions.verdict.extend(data.signs.iter().filter(|_| has_verdict).map(String::as_str));
    }
    if is_lying {
        let captions = Captions {
            across: describe(&data.y_title, unit, data.y.better(), Side::Across),
            upwards: data.x_title.clone(),
            ..captions.clone()
        };
        return Ok(lying(data, &captions, &labels, scale));
    }
    captions.upwards = describe(&data.y_title, unit, data.y.better(), Side::Upwards);
    captions.across.clone_from(&data.x_title);
    let mut page = compose(captions, 0.0);
    let (scene, room) = (&mut page.scene, page.room);
    let rect = Rect {
        left: room.left + ticks_width(&ticks),
        top: room.top + 14.0,
        right: room.right,
        bottom: room.bottom - standing.height() - 4.0,
    };
    draw_upwards(scene, rect, &ticks);
    bars_of(scene, data, &BarFrame { rect, scale, lying: false });
    standing.draw(scene, rect, false);
    Ok(page.below(rect))
}

/// Draws a chart with horizontal bars, one row per bar. The chart is higher if it has more bars.
fn lying(data: &Data, captions: &Captions, labels: &[String], scale: Scale) -> Scene {
    let (names, left) = names_down(labels, (0.36 * captions.inner()).min(240.0), 3);
    let lines = names.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let group = (data.series.len() as f64 * LYING + LYING_GAP).max(lines * LINE + LYING_GAP);
    let mut page = compose(captions, labels.len() as f64 * group + 30.0);
    let (scene, room) = (&mut page.scene, page.room);
    let rect = Rect {
        left: room.left + left,
        top: room.top,
        right: room.right - NUMBER,
        bottom: room.bottom - LABEL * 1.2 - 12.0,
    };
    let (ticks, _) = scale.ticks((captions.inner() / 100.0).clamp(2.0, 5.0) as usize, data.y.unit());
    for tick in &ticks {
        let x = rect.left + tick.at * rect.width();
        scene.line(&[(x, rect.top), (x, rect.bottom)], 1.0, GRID);
        let label = Text::new(tick.label.clone(), x, rect.bottom + 8.0 + LABEL * 0.8, LABEL, TEXT);
        scene.text(label.anchored(Anchor::Middle));
    }
    draw_names_down(scene, rect, &names);
    bars_of(scene, data, &BarFrame { rect, scale, lying: true });
    scene.line(&[(rect.left, rect.top), (rect.left, rect.bottom)], 1.0, AXIS);
    page.below(rect)
}

fn points(data: &Data) -> impl Iterator<Item = &Point> {
    data.series.iter().flat_map(|series| &series.points)
}

/// Returns the scale of the measured values. A linear scale starts at 0, so that the lengths of bars are comparable. A
/// logarithmic scale covers all values above 0.
fn scale(data: &Data, spec: &ChartSpec) -> Result<Scale, PlotError> {
    let numbers = || {
        points(data).flat_map(|point| {
            let [theory, bound] = Known::ALL.map(|known| known.at(point).unwrap_or(0.0));
            [point.y.median, point.y.low, point.y.high, theory, bound]
        })
    };
    if !spec.is_log_y() {
        return Ok(Scale::linear(numbers(), true).padded(6, data.y.unit()));
    }
    let log = Scale::log(numbers()).ok_or_else(|| nothing_positive("y", data.y.name(), "log_y"))?;
    Ok(log.inset(0.08))
}

/// Returns a copy of the data in which each series has its own hatch (a pattern of lines in its bars).
fn hatched(data: &Data) -> Data {
    let mut data = data.clone();
    if data.series.len() > 1 {
        for (at, series) in data.series.iter_mut().enumerate() {
            series.style = series.style.hatched(at);
        }
    }
    data
}

/// The plot area of a bar chart, with the scale of the measured values. If `lying` is true, the bars are horizontal.
struct BarFrame {
    rect: Rect,
    scale: Scale,
    lying: bool,
}

impl BarFrame {
    /// Converts a position on a bar to pixels. `value` is on the axis of the measured values, and `along` is the
    /// distance in pixels on the axis of the categories. Returns `None` if the scale cannot show the value.
    fn point(&self, along: f64, value: f64) -> Option<(f64, f64)> {
        let at = self.scale.at(value)?;
        Some(if self.lying {
            (self.rect.left + at * self.rect.width(), self.rect.top + along)
        } else {
            (self.rect.left + along, self.rect.bottom - at * self.rect.height())
        })
    }

    /// Returns the value at which bars start: 0, or the lower end of a logarithmic scale.
    fn base(&self) -> f64 {
        match self.scale {
            Scale::Log { low, .. } => low,
            _ => 0.0,
        }
    }
}

fn bars_of(scene: &mut Scene, data: &Data, place: &BarFrame) {
    let Across::Names(names) = &data.across else { return };
    let length = if place.lying { place.rect.height() } else { place.rect.width() };
    let slot = length / names.len() as f64;
    let thick = thickness(data, slot, place.lying);
    let single = data.series.len() == 1;
    bounds_across(scene, data, place, length);
    let signed = number_size(data, thick, place.lying, true);
    let size = signed.or_else(|| number_size(data, thick, place.lying, false));
    for (number, series) in data.series.iter().enumerate() {
        for point in &series.points {
            let category = point.x.median;
            let middle =
                (category + 0.5) * slot + (number as f64 + 0.5 - data.series.len() as f64 / 2.0) * thick;
            let style = if single { names[category as usize].1 } else { series.style };
            one_bar(scene, place, point, middle, thick, style);
            if let Some(size) = size {
                number_of(scene, place, point, middle, size, number_text(data, point, signed.is_some()));
            }
        }
    }
}

/// Returns the thickness of a bar in pixels. `slot` is the length that each category has on its axis, in pixels.
fn thickness(data: &Data, slot: f64, lying: bool) -> f64 {
    // Without this limit, a single bar would be as wide as the page.
    let most = if lying { 1.6 * LYING } else { 90.0 };
    (slot * (1.0 - GAP) / data.series.len() as f64).min(most)
}

/// Draws each ideal bound (a value that no component can exceed) as a line across the whole plot.
fn bounds_across(scene: &mut Scene, data: &Data, place: &BarFrame, length: f64) {
    let (Across::Names(names), [series]) = (&data.across, &data.series[..]) else { return };
    for point in series.points.iter().filter(|point| names[point.x.median as usize].1.color == BOUND) {
        let ends = [0.0, length].map(|along| place.point(along, point.y.median));
        if let [Some(from), Some(to)] = ends {
            scene.dashed(vec![from, to], 1.25, BOUND, dashes_of(Known::Bound));
        }
    }
}

/// Formats the number at the end of a bar. If `signed` is true, a sign such as ▲ (improved) follows the number.
fn number_text(data: &Data, point: &Point, signed: bool) -> String {
    let number = format::alike(point.y.median, data.y.unit());
    match point.sign.filter(|_| signed) {
        Some(sign) => format!("{number} {sign}"),
        None => number,
    }
}

/// Returns the font size of the numbers at the ends of all bars. Returns `None` if the numbers would be too small to
/// read.
fn number_size(data: &Data, thick: f64, lying: bool, signed: bool) -> Option<f64> {
    if lying {
        return (thick >= LYING - 5.0).then_some(LABEL);
    }
    let widths = points(data).map(|point| text_width(&number_text(data, point, signed)));
    let widest = widths.fold(f64::MIN_POSITIVE, f64::max);
    let share = ((thick - NUMBER_GAP) / widest).min(1.0);
    // A sign must have the full size. If there is no space for it, the bars show no signs.
    let least = if signed { 1.0 } else { SMALLEST_NUMBER };
    (share >= least).then_some(share * LABEL)
}

fn one_bar(scene: &mut Scene, place: &BarFrame, point: &Point, middle: f64, thick: f64, style: Style) {
    let half = (thick / 2.0 - if thick > 6.0 { 1.0 } else { 0.25 }).max(0.5);
    let (Some(from), Some(to)) =
        (place.point(middle - half, place.base()), place.point(middle + half, point.y.median))
    else {
        return;
    };
    let rect = Rect {
        left: from.0.min(to.0),
        top: from.1.min(to.1),
        right: from.0.max(to.0),
        bottom: from.1.max(to.1),
    };
    let is_point = matches!(place.scale, Scale::Log { .. });
    if !is_point {
        bar(scene, rect, style);
    }
    let end = |value: f64| place.point(middle, value).or_else(|| place.point(middle, place.base()));
    if let (true, Some(low), Some(high)) = (point.y.is_wide(), end(point.y.low), end(point.y.high)) {
        whisker(scene, low, high, if is_point { style.color.tint(0.75) } else { INK });
    }
    if let Some((x, y)) = place.point(middle, point.y.median).filter(|_| is_point) {
        scene.mark(x, y, style.color, style.mark);
    }
    for known in Known::ALL {
        let at = |along: f64| known.at(point).and_then(|value| place.point(along, value));
        if let (Some(from), Some(to)) = (at(middle - half), at(middle + half)) {
            scene.dashed(vec![from, to], 1.25, TEXT, dashes_of(known));
        }
    }
}

/// Writes the number at the end of a bar.
fn number_of(scene: &mut Scene, place: &BarFrame, point: &Point, middle: f64, size: f64, text: String) {
    let top = Known::ALL.iter().filter_map(|known| known.at(point)).fold(point.y.high, f64::max);
    let Some((x, y)) = place.point(middle, top).or_else(|| place.point(middle, place.base())) else { return };
    let text = if place.lying {
        Text::new(text, x + 6.0, y + size * 0.36, size, TEXT)
    } else {
        Text::new(text, x, y - 5.0, size, TEXT).anchored(Anchor::Middle)
    };
    // Hides the grid lines under the number.
    scene.rect(text.bounds(), PAPER);
    scene.text(text);
}
