//! The frame of a plot, which consists of its rectangle and its axes with labels. The frame converts values to pixels.

use crate::font;
use crate::font::{Anchor, LABEL, Weight};
use crate::page::tick;
use crate::palette::{AXIS, GRID, TEXT};
use crate::scale::{Scale, Tick};
use crate::scene::{Rect, Scene, Text, cut, wrap};

/// The gap between an axis and the labels of its ticks, in pixels.
const GAP: f64 = 8.0;
/// The smallest horizontal gap between two labels next to each other, in pixels.
const BETWEEN: f64 = 10.0;
/// The height of one line of a label, in pixels.
pub(crate) const LINE: f64 = LABEL * 1.2;
/// The largest length of a vertical label, in pixels. A longer label ends with an ellipsis.
const UPRIGHT: f64 = 170.0;

/// The labels of the horizontal axis.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    /// The position of each label on the axis (from 0 to 1), and the lines of its text.
    labels: Vec<(f64, Vec<String>)>,
    upright: bool,
}

/// The rectangle of a plot, with the scales of its axes.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub rect: Rect,
    pub x: Scale,
    pub y: Scale,
}

impl Frame {
    /// Returns the position of a data point in pixels. Returns `None` if an axis cannot show the value, such as 0 on a
    /// logarithmic axis.
    pub(crate) fn point(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.across(x)?, self.upwards(y)?))
    }

    /// Returns a copy of this frame that is `pixels` further to the right, with the same scales.
    pub(crate) fn shifted(&self, pixels: f64) -> Self {
        let rect = Rect { left: self.rect.left + pixels, right: self.rect.right + pixels, ..self.rect };
        Self { rect, ..self.clone() }
    }

    pub(crate) fn across(&self, x: f64) -> Option<f64> {
        Some(self.rect.left + self.x.at(x)? * self.rect.width())
    }

    pub(crate) fn upwards(&self, y: f64) -> Option<f64> {
        Some(self.rect.bottom - self.y.at(y)? * self.rect.height())
    }
}

pub(crate) fn text_width(text: &str) -> f64 {
    font::width(text, LABEL, Weight::Regular)
}

/// Returns the width in pixels of the labels of a vertical axis, including the gap between labels and axis.
pub(crate) fn ticks_width(ticks: &[Tick]) -> f64 {
    ticks.iter().map(|tick| text_width(&tick.label)).fold(0.0, f64::max) + GAP
}

/// Draws the grid lines and the labels of the vertical axis.
pub(crate) fn draw_upwards(scene: &mut Scene, rect: Rect, ticks: &[Tick]) {
    for tick in ticks {
        let y = rect.bottom - tick.at * rect.height();
        scene.line(&[(rect.left, y), (rect.right, y)], 1.0, GRID);
        let label = Text::new(tick.label.clone(), rect.left - GAP, y + LABEL * 0.36, LABEL, TEXT);
        scene.text(label.anchored(Anchor::End));
    }
}

/// Returns the ticks of a horizontal axis that is `width` pixels wide, so that labels do not overlap. The ticks are at
/// the values in `wanted` if their labels fit, and otherwise at round values.
pub(crate) fn fitting_ticks(
    scale: Scale,
    wanted: &[f64],
    width: f64,
    write: impl Fn(f64) -> String,
    round: impl Fn(usize) -> Vec<Tick>,
) -> Vec<Tick> {
    let at_wanted = scale.label(wanted.iter().copied(), write);
    if wanted.len() <= 12 && at_wanted.len() == wanted.len() && fits(&at_wanted, width) {
        return at_wanted;
    }
    let tries = (2..=8).rev().map(round);
    let mut last = Vec::new();
    for ticks in tries {
        if ticks.len() >= 2 && fits(&ticks, width) {
            return ticks;
        }
        last = ticks;
    }
    thinned(last, width)
}

/// Returns whether the labels of the ticks fit on an axis of this width without overlap.
fn fits(ticks: &[Tick], width: f64) -> bool {
    ticks.windows(2).all(|pair| {
        let room = (pair[1].at - pair[0].at) * width;
        text_width(&pair[0].label) / 2.0 + text_width(&pair[1].label) / 2.0 + BETWEEN <= room
    })
}

/// Removes ticks until the labels of the remaining ticks fit on an axis of this width. The first tick remains.
fn thinned(ticks: Vec<Tick>, width: f64) -> Vec<Tick> {
    let mut kept: Vec<Tick> = Vec::new();
    for tick in ticks {
        let mut pair = kept.last().cloned().into_iter().chain([tick.clone()]).collect::<Vec<_>>();
        pair.dedup_by(|a, b| a.label == b.label);
        if kept.is_empty() || (pair.len() == 2 && fits(&pair, width)) {
            kept.push(tick);
        }
    }
    kept
}

impl Labels {
    /// Converts ticks to axis labels of one line each.
    pub(crate) fn of_ticks(ticks: &[Tick]) -> Self {
        let label = |tick: &Tick| (tick.at, vec![tick.label.clone()]);
        Self { labels: ticks.iter().map(label).collect(), upright: false }
    }

    /// Arranges the names of categories as labels of an axis that is `width` pixels wide. A name is split into several
    /// lines if all names then fit. Otherwise, all names are vertical. If even vertical names overlap, some of them are
    /// omitted.
    pub(crate) fn of_names(names: &[String], width: f64) -> Self {
        let slots = Scale::Slots { count: names.len() };
        let slot = width / names.len() as f64;
        let places = |lines: Vec<Vec<String>>| -> Vec<(f64, Vec<String>)> {
            let at = |i: usize| slots.at(i as f64).unwrap_or(0.5);
            lines.into_iter().enumerate().map(|(i, lines)| (at(i), lines)).collect()
        };
        if let Some(lines) = wrapped(names, slot - BETWEEN) {
            return Self { labels: places(lines), upright: false };
        }
        let one_line = |name: &String| vec![cut(name, UPRIGHT, LABEL, Weight::Regular)];
        let mut labels = places(names.iter().map(one_line).collect());
        let every = ((LINE + 1.0) / slot).ceil().max(1.0) as usize;
        let mut number = 0;
        labels.retain(|_| {
            number += 1;
            (number - 1) % every == 0
        });
        Self { labels, upright: true }
    }

    /// Returns whether the labels are vertical, because horizontal labels do not fit.
    pub(crate) fn is_upright(&self) -> bool {
        self.upright
    }

    /// Returns the height in pixels of the labels below a plot, including the gap to the axis.
    pub(crate) fn height(&self) -> f64 {
        let lines = |lines: &Vec<String>| {
            if self.upright {
                lines.iter().map(|line| text_width(line)).fold(0.0, f64::max)
            } else {
                lines.len() as f64 * LINE
            }
        };
        self.labels.iter().map(|(_, label)| lines(label)).fold(0.0, f64::max) + GAP
    }

    /// Returns how far the outermost labels extend beyond the left end and the right end of an axis of this width, in
    /// pixels.
    pub(crate) fn overhang(&self, width: f64) -> (f64, f64) {
        if self.upright {
            return (0.0, 0.0);
        }
        let half = |lines: &Vec<String>| lines.iter().map(|line| text_width(line)).fold(0.0, f64::max) / 2.0;
        let left = self.labels.first().map_or(0.0, |(at, lines)| half(lines) - at * width);
        let right = self.labels.last().map_or(0.0, |(at, lines)| half(lines) - (1.0 - at) * width);
        (left.max(0.0), right.max(0.0))
    }

    /// Draws the horizontal axis and its labels below the plot. `ticks` is true if the axis has tick marks.
    pub(crate) fn draw(&self, scene: &mut Scene, rect: Rect, ticks: bool) {
        scene.line(&[(rect.left, rect.bottom), (rect.right, rect.bottom)], 1.0, AXIS);
        for (at, lines) in &self.labels {
            let x = rect.left + at * rect.width();
            if ticks {
                tick(scene, x, rect.bottom);
            }
            for (number, line) in lines.iter().enumerate() {
                let y = rect.bottom + GAP;
                let text = if self.upright {
                    Text::new(line, x + LABEL * 0.36, y, LABEL, TEXT).anchored(Anchor::End).rotated()
                } else {
                    let baseline = y + LABEL * 0.8 + number as f64 * LINE;
                    Text::new(line, x, baseline, LABEL, TEXT).anchored(Anchor::Middle)
                };
                scene.text(text);
            }
        }
    }
}

/// Breaks each name into at most three lines of at most `width` pixels. Returns `None` if a name does not fit.
fn wrapped(names: &[String], width: f64) -> Option<Vec<Vec<String>>> {
    let lines = |name: &String| {
        let lines = wrap(name, width, LABEL, Weight::Regular, 3);
        (!lines.iter().any(|line| line.ends_with('…') || line.is_empty() && !name.is_empty()))
            .then_some(lines)
    };
    names.iter().map(lines).collect()
}

/// Draws the names of the rows of a plot to the left of the plot. Each name is in the vertical middle of its row.
pub(crate) fn draw_names_down(scene: &mut Scene, rect: Rect, names: &[Vec<String>]) {
    let slot = rect.height() / names.len() as f64;
    for (number, lines) in names.iter().enumerate() {
        let middle = rect.top + (number as f64 + 0.5) * slot;
        let first = middle - (lines.len() - 1) as f64 * LINE / 2.0 + LABEL * 0.36;
        for (at, line) in lines.iter().enumerate() {
            let y = first + at as f64 * LINE;
            scene.text(Text::new(line, rect.left - GAP, y, LABEL, TEXT).anchored(Anchor::End));
        }
    }
}

/// Breaks the name of each category into at most `lines` lines of at most `most` pixels. Returns the lines of each
/// name, and the width of the widest line.
pub(crate) fn names_down(names: &[String], most: f64, lines: usize) -> (Vec<Vec<String>>, f64) {
    let wrapped: Vec<Vec<String>> =
        names.iter().map(|name| wrap(name, most, LABEL, Weight::Regular, lines)).collect();
    let width = wrapped.iter().flatten().map(|line| text_width(line)).fold(0.0, f64::max);
    (wrapped, width + GAP)
}
