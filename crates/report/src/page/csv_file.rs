//! The CSV files of a report: one row per claim with its judgement, and one row per side of a contradiction.

use crate::text::{about, stated};
use crate::{Bound, Expected, Figure, Judged, Settled, System};

/// The columns of the CSV file of claims.
const HEADER: [&str; 15] = [
    "id",
    "document",
    "figure",
    "claim",
    "claimed",
    "measured",
    "measured_at",
    "interval_low",
    "interval_high",
    "theory",
    "verdict",
    "reason",
    "theory_bound",
    "theory_unit",
    "theory_says",
];

/// Returns the CSV file of all claims and their judgements, sorted by the names of the claims.
pub(super) fn claims(systems: &[System]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail, and all cells are UTF-8.
    let _ = writer.write_record(HEADER);
    for system in systems {
        for (figure, judged) in system.judged() {
            let _ = writer.write_record(cells(system, figure, judged));
        }
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn cells(system: &System, figure: &Figure, judged: &Judged) -> [String; 15] {
    let (claim, judgement) = (&judged.claim, &judged.judgement);
    let expected = |of: fn(&Expected) -> String| judgement.theory.as_ref().map(of).unwrap_or_default();
    [
        claim.id.clone(),
        system.document.clone(),
        figure.name.clone(),
        format!("{} ({}): {}", claim.metric, about(claim), stated(claim)),
        digits(judgement.claimed),
        optional(judgement.measured),
        judgement.measured_at.clone().unwrap_or_default(),
        optional(judgement.interval.map(|interval| interval.low)),
        optional(judgement.interval.map(|interval| interval.high)),
        expected(|theory| optional(theory.value)),
        judgement.finding.name().to_owned(),
        judgement.reason.clone(),
        expected(|theory| bound_name(theory.bound)),
        expected(|theory| theory.unit.clone().unwrap_or_default()),
        expected(|theory| theory.says.clone()),
    ]
}

/// The columns of the CSV file of contradictions.
const SIDES: [&str; 9] =
    ["id", "document", "kind", "ruling", "side", "claimed", "bound", "computed", "holds"];

/// Returns the CSV file of contradictions, with one row per side. A contradiction that no computation decides has one
/// row with empty fields.
pub(super) fn contradictions(settled: &[Settled]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail, and all cells are UTF-8.
    let _ = writer.write_record(SIDES);
    for one in settled {
        let of = &one.contradiction;
        let head = [&of.id, &one.document, of.kind.name(), one.ruling.name()].map(str::to_owned);
        if one.checked.is_empty() {
            let _ = writer
                .write_record(head.iter().cloned().chain(vec![String::new(); SIDES.len() - head.len()]));
        }
        for side in &one.checked {
            let tail = [
                side.side.clone(),
                digits(side.claim.value),
                bound_name(side.bound),
                digits(side.computed),
                side.holds.to_string(),
            ];
            let _ = writer.write_record(head.iter().cloned().chain(tail));
        }
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

/// Formats a number with at most ten significant digits, because further digits of logarithms differ between machines.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let rounded: f64 = format!("{value:.9e}").parse().unwrap_or(value);
    rounded.to_string()
}

fn bound_name(bound: Option<Bound>) -> String {
    bound.map_or("", Bound::name).to_owned()
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_ten_digits() {
        for (value, text) in
            [(0.0, "0"), (1.0, "1"), (0.1 + 0.2, "0.3"), (1e20 / 3.0, "33333333330000000000")]
        {
            assert_eq!(digits(value), text);
        }
        assert_eq!(optional(None), "");
    }
}
