//! Draws line charts, timelines and scatter plots. Line charts and timelines have one line per series, with an interval
//! over the trials around each point.

use results::Unit;
use results::columns::SECOND;

use crate::axes::{Frame, Labels, draw_upwards, fitting_ticks, ticks_width};
use crate::data::{Across, Data, Known, Point, Series};
use crate::describe::{Side, describe};
use crate::font::{Anchor, LABEL};
use crate::format;
use crate::page::{Captions, Legend, Sample, compose, dashes_of, whisker};
use crate::palette::{Color, INK, TEXT};
use crate::scale::Scale;
use crate::scene::{Rect, Scene, Shape, Text};
use crate::{ChartSpec, Form, PlotError};

/// The largest number of points in a series that has whiskers and marks. A longer series has a band instead.
const FEW_POINTS: usize = 16;

/// Returns the word by which the caption names the drawn spread over trials: `whiskers` or `band`.
pub(crate) fn spread_phrase(data: &Data) -> &'static str {
    if is_dense(data) { "band" } else { "whiskers" }
}

fn is_dense(data: &Data) -> bool {
    data.x.name() == SECOND.name || data.series.iter().any(|series| series.points.len() > FEW_POINTS)
}

/// Draws a line chart, a timeline or a scatter plot.
pub(crate) fn draw(data: &Data, spec: &ChartSpec, captions: &mut Captions) -> Result<Scene, PlotError> {
    let scatter = spec.form() == Form::Scatter;
    let x = across(data, spec)?;
    let y = upwards(data, spec)?;
    let (ticks, unit) = y.ticks(6, data.y.unit());
    captions.upwards = describe(&data.y_title, unit, data.y.better(), Side::Upwards);
    let (labels, unit) = labels(data, x, captions.inner() - 52.0);
    captions.across = describe(&data.x_title, unit, data.x.better(), Side::Across);
    captions.legend = legend(data, spec);
    captions.notes.extend(off_axis(data, x, y));
    let mut page = compose(captions, 0.0);
    let (scene, room) = (&mut page.scene, page.room);
    let left = ticks_width(&ticks);
    let (before, after) = labels.overhang(room.width() - left);
    let rect = Rect {
        left: room.left + left.max(before),
        top: room.top + 4.0,
        right: room.right - after.max(6.0),
        bottom: room.bottom - labels.height() - 4.0,
    };
    let frame = Frame { rect, x, y };
    draw_upwards(scene, rect, &ticks);
    labels.draw(scene, rect, true);
    let dense = is_dense(data) && !scatter;
    let shifts = shifts(data, &frame, dense || scatter);
    let frames: Vec<Frame> = shifts.iter().map(|shift| frame.shifted(*shift)).collect();
    let all = || data.series.iter().zip(&frames);
    for (series, frame) in all() {
        spread(scene, frame, series, dense);
    }
    all().for_each(|(series, frame)| line(scene, frame, series, scatter));
    for known in Known::ALL {
        known_of(scene, &frame, data, known);
    }
    all().for_each(|(series, frame)| marks(scene, frame, series, dense));
    tags(scene, &frame, data);
    Ok(page.below(rect))
}

/// Returns how far each series is shifted to the right, in pixels, so that whiskers of different series do not hide
/// each other. If no two series have whiskers at the same position, no series is shifted.
fn shifts(data: &Data, frame: &Frame, is_exact: bool) -> Vec<f64> {
    const STEP: f64 = 7.0;
    /// The largest shift between the first and the last series at one position of the horizontal axis, in pixels. A
    /// larger shift would suggest that the points have different x values.
    const MOST: f64 = 24.0;
    /// The largest shift between the first and the last series, as a fraction of the smallest distance between two
    /// positions of the horizontal axis.
    const SHARE: f64 = 0.6;
    let count = data.series.len();
    let mut places: Vec<f64> = Vec::new();
    let mut wide: Vec<f64> = Vec::new();
    for point in data.series.iter().flat_map(|series| &series.points) {
        places.extend(frame.across(point.x.median));
        wide.extend(frame.across(point.x.median).filter(|_| point.y.is_wide()));
    }
    for sorted in [&mut places, &mut wide] {
        sorted.sort_unstable_by(f64::total_cmp);
    }
    let gaps = |sorted: &[f64]| sorted.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<f64>>();
    let shares_a_place = gaps(&wide).into_iter().any(|gap| gap < 1.0);
    if is_exact || count < 2 || !shares_a_place {
        return vec![0.0; count];
    }
    let least = gaps(&places).into_iter().filter(|gap| *gap >= 1.0).fold(frame.rect.width(), f64::min);
    let step = STEP.min(MOST.min(SHARE * least) / (count - 1) as f64);
    (0..count).map(|at| (at as f64 - (count - 1) as f64 / 2.0) * step).collect()
}

/// Returns the scale of the horizontal axis of a line chart or scatter plot.
pub(crate) fn across(data: &Data, spec: &ChartSpec) -> Result<Scale, PlotError> {
    let numbers = || {
        let points = data.series.iter().flat_map(|series| &series.points);
        points.flat_map(|point| [point.x.median, point.x.low, point.x.high])
    };
    match &data.across {
        Across::Names(names) => Ok(Scale::Slots { count: names.len() }),
        Across::Numbers(_) if spec.log_x => {
            let scale = Scale::log(numbers()).ok_or_else(|| nothing_positive("x", data.x.name(), "log_x"))?;
            Ok(scale.inset(0.03))
        }
        Across::Numbers(_) if spec.form() == Form::Timeline => Ok(Scale::linear(numbers(), true)),
        Across::Numbers(_) if spec.form() == Form::Scatter => {
            Ok(Scale::linear(numbers(), false).padded(6, data.x.unit()))
        }
        Across::Numbers(_) => {
            let (low, high) = crate::scale::span(numbers());
            let scale =
                if high > low { Scale::Linear { low, high } } else { Scale::linear(numbers(), false) };
            Ok(scale.inset(0.03))
        }
    }
}

pub(crate) fn nothing_positive(key: &'static str, column: &str, flag: &str) -> PlotError {
    let message = format!("\"{column}\" has no value above 0, which a logarithmic axis needs; remove {flag}");
    PlotError::spec(key, message)
}

/// Returns the scale of the vertical axis of a line chart or scatter plot.
pub(crate) fn upwards(data: &Data, spec: &ChartSpec) -> Result<Scale, PlotError> {
    let points = || data.series.iter().flat_map(|series| &series.points);
    let numbers = || {
        points().flat_map(|point| {
            let [theory, bound] = Known::ALL.map(|known| known.at(point).unwrap_or(point.y.median));
            [point.y.median, point.y.low, point.y.high, theory, bound]
        })
    };
    if spec.is_log_y() {
        let scale = Scale::log(numbers()).ok_or_else(|| nothing_positive("y", data.y.name(), "log_y"))?;
        return Ok(scale.padded(6, data.y.unit()));
    }
    Ok(Scale::linear(numbers(), false).padded(6, data.y.unit()))
}

/// Returns the labels of the horizontal axis, and the unit for the description of the axis.
fn labels(data: &Data, scale: Scale, width: f64) -> (Labels, &'static str) {
    let unit = match &data.across {
        Across::Names(names) => {
            let names: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
            return (Labels::of_names(&names, width - 60.0), "");
        }
        Across::Numbers(unit) => *unit,
    };
    let mut wanted: Vec<f64> =
        data.series.iter().flat_map(|s| &s.points).map(|point| point.x.median).collect();
    wanted.sort_unstable_by(f64::total_cmp);
    wanted.dedup();
    let measured = matches!(data.x, results::Column::Fixed(_)) && unit != Unit::Plain;
    if measured {
        // Measured numbers are not round, so the axis has its own ticks.
        wanted.clear();
    }
    let name = if measured { scale.ticks(6, unit).1 } else { "" };
    let write = |number| format::chosen(number, unit);
    let round = |count| {
        let (ticks, name) = scale.ticks(count, unit);
        // A swept size has its unit at each tick, as in the experiment file.
        let spelt = !measured && !name.is_empty();
        ticks
            .into_iter()
            .map(|tick| crate::scale::Tick {
                label: if spelt { format!("{}{}{name}", tick.label, format::SPACE) } else { tick.label },
                ..tick
            })
            .collect()
    };
    let ticks = if wanted.is_empty() {
        fitting_ticks(scale, &[f64::NAN], width - 80.0, write, round)
    } else {
        fitting_ticks(scale, &wanted, width - 80.0, write, round)
    };
    (Labels::of_ticks(&ticks), name)
}

/// Returns the legend with the names of the series, of the predictions of theory and of the ideal bounds. Returns
/// `None` if the chart has only one line.
fn legend(data: &Data, spec: &ChartSpec) -> Option<Legend> {
    crate::page::legend_for(data, |style| match spec.form() {
        Form::Scatter => Sample::Mark(style),
        _ => Sample::Line { style, mark: !is_dense(data) },
    })
}

/// Returns a note with the number of points that a logarithmic axis cannot show. Returns `None` without such points.
fn off_axis(data: &Data, x: Scale, y: Scale) -> Option<String> {
    let points = data.series.iter().flat_map(|series| &series.points);
    let off = points.filter(|point| x.at(point.x.median).is_none() || y.at(point.y.median).is_none()).count();
    (off > 0).then(|| format!("{} at 0 not shown: the axis is logarithmic", crate::pick::count(off, "point")))
}

/// Draws the intervals over trials of a series as whiskers, or as a band if `dense` is true. Call this function before
/// you draw the lines, so that the lines are above the band.
fn spread(scene: &mut Scene, frame: &Frame, series: &Series, dense: bool) {
    let floor = |y: f64| frame.upwards(y).unwrap_or(frame.rect.bottom);
    let color = series.style.color;
    if dense {
        let wide = series.points.iter().filter(|point| frame.point(point.x.median, point.y.high).is_some());
        let edge: Vec<(f64, f64, f64)> = wide
            .filter_map(|point| {
                Some((frame.across(point.x.median)?, floor(point.y.low), floor(point.y.high)))
            })
            .collect();
        if edge.iter().any(|(_, low, high)| low > high) {
            let lower = edge.iter().map(|(x, low, _)| (*x, *low));
            let upper = edge.iter().rev().map(|(x, _, high)| (*x, *high));
            scene.shapes.push(Shape::Area { points: lower.chain(upper).collect(), color, alpha: 0.18 });
        }
        return;
    }
    for point in &series.points {
        for [from, to] in whiskers_of(frame, point) {
            whisker(scene, from, to, color.tint(0.75));
        }
    }
}

/// Returns the two ends of each whisker of a point. A point has a vertical whisker if its `y` differs between trials,
/// and a horizontal whisker if its `x` differs.
fn whiskers_of(frame: &Frame, point: &Point) -> Vec<[(f64, f64); 2]> {
    let Some((x, y)) = frame.point(point.x.median, point.y.median) else { return Vec::new() };
    let upwards = |number| frame.upwards(number).unwrap_or(frame.rect.bottom);
    let across = |number| frame.across(number).unwrap_or(frame.rect.left);
    let upright = point.y.is_wide().then(|| [(x, upwards(point.y.low)), (x, upwards(point.y.high))]);
    let level = point.x.is_wide().then(|| [(across(point.x.low), y), (across(point.x.high), y)]);
    upright.into_iter().chain(level).collect()
}

/// Draws the line of a series. In a scatter plot, the line is thin and joins only points with labels.
fn line(scene: &mut Scene, frame: &Frame, series: &Series, scatter: bool) {
    let style = series.style;
    let places: Vec<Option<(f64, f64)>> =
        series.points.iter().map(|point| frame.point(point.x.median, point.y.median)).collect();
    let joined = !scatter || series.points.iter().all(|point| point.tag.is_some());
    let (width, color) = if scatter { (1.0, style.color.tint(0.5)) } else { (2.0, style.color) };
    for stretch in stretches(places.iter().copied().filter(|_| joined)) {
        scene.dashed(stretch, width, color, style.dashes);
    }
}

/// Draws the predictions of theory or the ideal bounds as lines above the measured series. Draws one line if they are
/// equal for all series, else one line per series.
fn known_of(scene: &mut Scene, frame: &Frame, data: &Data, known: Known) {
    let mut draw = |color: Color, points: &mut dyn Iterator<Item = (f64, Option<f64>)>| {
        for stretch in stretches(points.map(|(x, y)| frame.point(x, y?))) {
            scene.dashed(stretch, 1.25, color, dashes_of(known));
        }
    };
    if let Some(common) = data.common(known) {
        return draw(INK, &mut common.into_iter().map(|(x, y)| (x, Some(y))));
    }
    for series in &data.series {
        let mut points = series.points.iter().map(|point| (point.x.median, known.at(point)));
        draw(series.style.color.mix(INK, 0.7), &mut points);
    }
}

/// Draws the marks of a series above all lines. A series with a single point has no line, so it always has a mark.
fn marks(scene: &mut Scene, frame: &Frame, series: &Series, dense: bool) {
    if !dense || series.points.len() == 1 {
        let places = series.points.iter().map(|point| frame.point(point.x.median, point.y.median));
        for (x, y) in places.flatten() {
            scene.mark(x, y, series.style.color, series.style.mark);
        }
    }
}

/// Writes the label of each point of a scatter plot next to the point, if there is enough space.
fn tags(scene: &mut Scene, frame: &Frame, data: &Data) {
    let points = || data.series.iter().flat_map(|series| &series.points);
    let places = points().filter_map(|point| frame.point(point.x.median, point.y.median));
    let around = |(x, y): (f64, f64)| Rect { left: x - 5.0, top: y - 5.0, right: x + 5.0, bottom: y + 5.0 };
    let mut taken: Vec<Rect> = places.map(around).collect();
    taken.extend(points().flat_map(|point| whiskers_of(frame, point)).map(|[from, to]| Rect {
        left: from.0.min(to.0) - 1.0,
        top: from.1.min(to.1) - 1.0,
        right: from.0.max(to.0) + 1.0,
        bottom: from.1.max(to.1) + 1.0,
    }));
    for point in points() {
        let (Some(tag), Some((x, y))) = (&point.tag, frame.point(point.x.median, point.y.median)) else {
            continue;
        };
        let at = |dx, dy, anchor| Text::new(tag, x + dx, y + dy, LABEL, TEXT).anchored(anchor);
        let candidates = [
            at(8.0, -5.0, Anchor::Start),
            at(-8.0, -5.0, Anchor::End),
            at(8.0, 13.0, Anchor::Start),
            at(-8.0, 13.0, Anchor::End),
            at(0.0, -9.0, Anchor::Middle),
            at(0.0, 18.0, Anchor::Middle),
        ];
        let free = candidates.into_iter().find(|text| {
            let bounds = text.bounds();
            frame.rect.holds(&bounds) && !taken.iter().any(|other| other.overlaps(&bounds))
        });
        if let Some(text) = free {
            taken.push(text.bounds());
            scene.text(text);
        }
    }
}

/// Splits a line at the points that an axis cannot show, such as 0 on a logarithmic axis. Returns the parts of the
/// line.
fn stretches(places: impl Iterator<Item = Option<(f64, f64)>>) -> Vec<Vec<(f64, f64)>> {
    let mut stretches = vec![Vec::new()];
    for place in places {
        match (place, stretches.last_mut()) {
            (Some(place), Some(stretch)) => stretch.push(place),
            _ => stretches.push(Vec::new()),
        }
    }
    stretches.retain(|stretch| stretch.len() > 1);
    stretches
}
