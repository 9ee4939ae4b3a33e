//! Every claim with what it came to, one a row.

use crate::text::{about, stated};
use crate::{Figure, Judged, System};

/// The columns.
const HEADER: [&str; 11] = [
    "id",
    "document",
    "figure",
    "claim",
    "claimed",
    "measured",
    "interval_low",
    "interval_high",
    "theory",
    "verdict",
    "reason",
];

/// All claims of some systems, in the order of their names.
pub(super) fn claims(systems: &[System]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail, and cells are UTF-8.
    let _ = writer.write_record(HEADER);
    for system in systems {
        for (figure, judged) in system.judged() {
            let _ = writer.write_record(cells(system, figure, judged));
        }
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn cells(system: &System, figure: &Figure, judged: &Judged) -> [String; 11] {
    let (claim, judgement) = (&judged.claim, &judged.judgement);
    let optional = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    [
        claim.id.clone(),
        system.document.clone(),
        figure.name.clone(),
        format!("{} ({}): {}", claim.metric, about(claim), stated(claim)),
        judgement.claimed.to_string(),
        optional(judgement.measured),
        optional(judgement.interval.map(|interval| interval.low)),
        optional(judgement.interval.map(|interval| interval.high)),
        optional(judgement.theory),
        judgement.finding.name().to_owned(),
        judgement.reason.clone(),
    ]
}
