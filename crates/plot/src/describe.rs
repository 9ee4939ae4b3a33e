//! The descriptions of the axes of a chart.

use results::{Better, Column};

/// The axis that a description belongs to: horizontal or vertical.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Upwards,
    Across,
}

/// Returns the description of an axis, such as `p99 service time (µs), lower is better ↓`.
pub(crate) fn describe(column: &Column, unit: &str, side: Side) -> String {
    describe_words(column.title(), unit, column.better(), side)
}

pub(crate) fn describe_words(title: &str, unit: &str, better: Better, side: Side) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let arrow = match (side, better) {
        (Side::Upwards, Better::Higher) => "↑",
        (Side::Upwards, _) => "↓",
        (Side::Across, Better::Higher) => "→",
        (Side::Across, _) => "←",
    };
    let better = better.phrase().map_or(String::new(), |phrase| format!(", {phrase} {arrow}"));
    format!("{title}{unit}{better}")
}
