//! Draws cumulative distributions of latencies. A curve shows, for each latency, the fraction of operations that took
//! at most this long. The values come from the latency histograms of the run.
//!
//! The chart merges the trials of a series into one histogram, because a percentile over several trials must cover all
//! their operations. The curve of each trial is drawn below the merged curve in a lighter shade. The latency axis is
//! logarithmic. On the vertical axis, the steps from 0 to 90 %, from 90 to 99 % and from 99 to 99.9 % have equal
//! heights, so that the tail is visible. With `log_y = false`, the vertical axis is linear.

use std::collections::BTreeMap;

use results::columns::{OPERATION, PHASE};
use results::{Better, Folder, LatencyLog, ResultsError, Row, Table, Unit};

use crate::axes::{Frame, LINE, Labels, draw_upwards, fitting_ticks, ticks_width};
use crate::describe::{Side, describe};
use crate::figure::{Dimension, Drawing, Figure, Spot, Track};
use crate::naming::series_of;
use crate::page::{Captions, Legend, Sample, compose};
use crate::palette::Style;
use crate::pick::{Picked, count, pick};
use crate::scale::{Scale, Tick};
use crate::scene::{Rect, Scene};
use crate::{ChartSpec, LabelOrder, PlotError, format};

type Histogram = hdrhistogram::Histogram<u64>;

/// The latencies of one series: merged over all trials, and per trial.
struct Curve {
    label: String,
    style: Style,
    /// The histogram of all trials together.
    merged: Histogram,
    /// The histogram of each trial. Empty if there is only one trial, whose histogram equals the merged histogram.
    trials: Vec<Histogram>,
}

/// Draws the distribution of latencies. `captions` creates the texts around the chart. Its arguments are the conditions
/// of the measurement, the number of trials, and the default title.
pub(crate) fn draw(
    table: &Table,
    folder: &Folder,
    spec: &ChartSpec,
    order: &LabelOrder,
    captions: impl FnOnce(&[String], usize, String) -> Captions,
) -> Result<(Scene, Captions, Figure), PlotError> {
    let response = match spec.x.as_deref() {
        None | Some("service") => false,
        Some("response") => true,
        Some(other) => {
            let message = format!("unknown latency \"{other}\". Valid: \"service\", \"response\"");
            return Err(PlotError::spec("x", message));
        }
    };
    if let Some(y) = &spec.y {
        return Err(PlotError::spec(
            "y",
            format!("a chart of kind `cdf` shows only latencies; remove y = \"{y}\""),
        ));
    }
    let Picked { table, facts, mut notes } = pick(table, spec)?;
    let (heading, curves) = curves(&table, folder, spec, order, response, &mut notes)?;
    let trials = curves.iter().map(|curve| curve.trials.len()).max().unwrap_or(0);
    let short = if response { "response time" } else { "service time" };
    let by = if curves.len() > 1 && !heading.is_empty() { format!(" by {heading}") } else { String::new() };
    let mut captions = captions(&facts, trials, format!("distribution of {short}{by}"));
    captions.notes.extend(notes);
    let share = spec.y_title.as_deref();
    captions.upwards = share.unwrap_or("share of operations that took at most this time").into();
    let time = if response { "response time, waiting included" } else { "service time" };
    let time = spec.x_title.as_deref().unwrap_or(time);
    captions.across = describe(time, "", Better::Lower, Side::Across);
    captions.legend = (curves.len() > 1).then(|| Legend {
        heading,
        entries: curves
            .iter()
            .map(|curve| (curve.label.clone(), vec![Sample::Line { style: curve.style, mark: false }]))
            .collect(),
    });
    let (scene, tracks) = plot(&curves, spec, &captions)?;
    let column = if response { "response_ns" } else { "service_ns" };
    let figure = Figure {
        x: Dimension::new(column, time, Unit::Nanoseconds, true),
        y: Dimension::new("share", share.unwrap_or("share of operations"), Unit::Share, false),
        drawing: Drawing::Steps,
        tracks,
        ..Figure::default()
    };
    Ok((scene, captions, figure))
}

/// Reads the histograms of each series. Returns the heading of the legend, and one curve per series. Adds a note to
/// `notes` if rows have no usable histogram.
fn curves(
    table: &Table,
    folder: &Folder,
    spec: &ChartSpec,
    order: &LabelOrder,
    response: bool,
    notes: &mut Vec<String>,
) -> Result<(String, Vec<Curve>), PlotError> {
    let named = series_of(table, spec, order)?;
    let mut curves: BTreeMap<usize, Curve> = BTreeMap::new();
    let (mut missing, mut first) = (0, None);
    for (row, at) in table.rows().iter().zip(&named.of_rows) {
        let histogram = match histogram(row, folder, response) {
            Ok(Some(histogram)) => histogram,
            Ok(None) => {
                missing += 1;
                continue;
            }
            Err(error @ ResultsError::Io { .. }) => {
                missing += 1;
                first.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let curve = curves.entry(*at).or_insert_with(|| {
            let (label, style) = named.series[*at].clone();
            Curve { label, style, merged: Histogram::new_from(&histogram), trials: Vec::new() }
        });
        // Adding fails if another version of lsmbench has written this histogram with another range of latencies.
        if curve.merged.add(&histogram).is_ok() {
            curve.trials.push(histogram);
        } else {
            missing += 1;
        }
    }
    if curves.is_empty() {
        let time = if response {
            "response times, because only an open loop has response times"
        } else {
            "latencies"
        };
        return Err(first
            .map_or_else(|| PlotError::Empty(format!("no latency histogram contains {time}")), Into::into));
    }
    if missing > 0 {
        notes.push(format!("{} without a histogram", count(missing, "measurement")));
    }
    Ok((named.heading, curves.into_values().collect()))
}

/// Reads the latency histogram for one row of `runs.csv`. With `response`, this is the histogram of response times,
/// else of service times. Returns `None` if the latency log has no such histogram.
fn histogram(row: &Row, folder: &Folder, response: bool) -> Result<Option<Histogram>, ResultsError> {
    let (Some(group), Some(phase)) = (row.group(), row.get(&PHASE).text()) else { return Ok(None) };
    let operation = row.get(&OPERATION).text().unwrap_or("all");
    let tag = if response { format!("{operation}:response") } else { operation.to_owned() };
    let log = LatencyLog::read(&folder.histogram(group, phase))?;
    Ok(log.get(&tag).filter(|histogram| !histogram.is_empty()).cloned())
}

fn plot(curves: &[Curve], spec: &ChartSpec, captions: &Captions) -> Result<(Scene, Vec<Track>), PlotError> {
    let ends = curves.iter().flat_map(|curve| [curve.merged.min_nz(), curve.merged.max()]);
    let x = Scale::log(ends.map(|ns| ns as f64))
        .ok_or_else(|| PlotError::Empty("all latencies in the histograms are 0".to_owned()))?
        .inset(0.02);
    let most = curves.iter().map(|curve| curve.merged.len()).max().unwrap_or(1) as f64;
    // The axis ends at the highest percentile that the number of operations can show, such as 99.9 % for 1,000
    // operations.
    let y = if spec.is_log_y() {
        Scale::Nines { most: 1.0 - 1.0 / most.max(10.0) }
    } else {
        Scale::Linear { low: 0.0, high: 1.0 }
    };
    let ticks = match y {
        Scale::Nines { .. } => y.ticks(6, Unit::Share).0,
        _ => y.label([0.0, 0.25, 0.5, 0.75, 1.0], |share| format::value(share, Unit::Share)),
    };
    let round = |count: usize| -> Vec<Tick> { x.ticks(count, Unit::Nanoseconds).0 };
    let write = |number| format::value(number, Unit::Nanoseconds);
    let labels = Labels::of_ticks(&fitting_ticks(x, &[f64::NAN], captions.inner() - 92.0, write, round));
    let mut page = compose(captions, 0.0);
    let (scene, room) = (&mut page.scene, page.room);
    let rect = Rect {
        left: room.left + ticks_width(&ticks),
        top: room.top + 4.0,
        right: room.right - 6.0,
        bottom: room.bottom - labels.height() - 4.0,
    };
    let frame = Frame { rect, x, y };
    // If the plot is low, labels near the bottom of the axis would overlap, so some of them are omitted.
    let mut kept: Vec<Tick> = Vec::new();
    for tick in ticks.into_iter().rev() {
        if kept.last().is_none_or(|above| (above.at - tick.at) * rect.height() >= LINE) {
            kept.push(tick);
        }
    }
    draw_upwards(scene, rect, &kept);
    labels.draw(scene, rect, true);
    for curve in curves.iter().filter(|curve| curve.trials.len() > 1) {
        for trial in &curve.trials {
            scene.line(&path(trial, &frame).0, 1.0, curve.style.color.tint(0.4));
        }
    }
    let mut tracks = Vec::new();
    for curve in curves {
        let (path, spots) = path(&curve.merged, &frame);
        scene.dashed(path, 2.0, curve.style.color, curve.style.dashes);
        tracks.push(Track { label: curve.label.clone(), color: curve.style.color, spots });
    }
    Ok((page.below(rect), tracks))
}

/// Returns the curve of a distribution as a path in pixels, and the points at which its steps end.
fn path(histogram: &Histogram, frame: &Frame) -> (Vec<(f64, f64)>, Vec<Spot>) {
    let total = histogram.len() as f64;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut spots = Vec::new();
    let (mut below, mut height) = (0, frame.rect.bottom);
    for step in histogram.iter_recorded() {
        below += step.count_since_last_iteration();
        let ns = (step.value_iterated_to() as f64).max(1.0);
        let share = below as f64 / total;
        let Some((x, y)) = frame.point(ns, share) else { continue };
        let x = x.clamp(frame.rect.left, frame.rect.right);
        // Steps shorter than half a pixel are invisible. Steps of up to 1.5 pixels are drawn without a corner.
        let last = points.last().copied().unwrap_or((f64::NEG_INFINITY, f64::NEG_INFINITY));
        if (x - last.0).abs() + (y - last.1).abs() < 0.5 && below < histogram.len() {
            continue;
        }
        if x - last.0 > 1.5 {
            points.push((x, height));
        }
        points.push((x, y));
        spots.push(Spot::at(ns, share));
        height = y;
    }
    (points, spots)
}
