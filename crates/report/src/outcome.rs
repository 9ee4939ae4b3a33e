//! Summarizes the verdicts of a run in a sentence for the report.

use std::fmt::Write as _;

use results::{Metric, Row, verdicts as v};

use crate::text::number;

/// Maximum number of comparisons that the summary of a run lists one by one.
const MOST_LISTED: usize = 3;

/// Summarizes the comparisons of a run in a sentence. Only uses the metric of the first comparison. Returns `None` for
/// a run without comparisons.
pub fn outcome(verdicts: &[Row]) -> Option<String> {
    let metric = text(verdicts.first()?, &v::METRIC);
    let all: Vec<&Row> = verdicts.iter().filter(|row| text(row, &v::METRIC) == metric).collect();
    let comparisons = match all.len() <= MOST_LISTED {
        true => all.iter().map(|row| compared(row)).collect::<Vec<String>>().join("; "),
        false => summed_up(&all),
    };
    Some(format!("Measured by {}: {comparisons}.", metric.replace('_', " ")))
}

/// Formats one comparison of two variants, such as `binary is 0.9923 × linear (0.9864 to 1.004), equivalent`.
fn compared(row: &Row) -> String {
    let mut outcome = format!("{} is ", text(row, &v::CANDIDATE));
    match row.get(&v::RATIO).number() {
        Some(ratio) => {
            let _ = write!(outcome, "{} × {}", number(ratio), text(row, &v::BASELINE));
        }
        None => {
            let _ = write!(outcome, "compared with {}", text(row, &v::BASELINE));
        }
    }
    let ends = row.get(&v::RATIO_LOW).number().zip(row.get(&v::RATIO_HIGH).number());
    if let Some((low, high)) = ends.filter(|(low, high)| low < high) {
        let _ = write!(outcome, " ({} to {})", number(low), number(high));
    }
    let within = text(row, &v::WITHIN);
    if !within.is_empty() {
        let _ = write!(outcome, " at {within}");
    }
    outcome + ", " + &text(row, &v::VERDICT)
}

/// Summarizes many comparisons: how many have each verdict, and the largest differences.
fn summed_up(all: &[&Row]) -> String {
    let count = |verdict: &str| {
        let count = all.iter().filter(|row| text(row, &v::VERDICT) == verdict).count();
        (count > 0).then(|| format!("{count} {verdict}"))
    };
    let counts: Vec<String> =
        ["improved", "equivalent", "inconclusive", "regressed"].into_iter().filter_map(count).collect();
    let apart =
        |row: &Row| row.get(&v::RATIO).number().filter(|ratio| *ratio > 0.0).map(|ratio| ratio.ln().abs());
    let farthest = all.iter().filter_map(|row| Some((apart(row)?, *row)));
    let farthest = farthest.max_by(|(one, _), (other, _)| one.total_cmp(other));
    let farthest =
        farthest.map_or_else(String::new, |(_, row)| format!(". Largest difference: {}", compared(row)));
    format!("{} of {} comparisons{farthest}", counts.join(", "), all.len())
}

fn text(row: &Row, metric: &Metric) -> String {
    row.get(metric).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(candidate: &str, ratio: f64, verdict: &str) -> Row {
        let mut row = v::row();
        row.set(&v::METRIC, "p50_ns").set(&v::BASELINE, "linear").set(&v::CANDIDATE, candidate);
        row.set(&v::RATIO, ratio).set(&v::VERDICT, verdict);
        row
    }

    #[test]
    fn a_run_says_what_it_measured() {
        assert_eq!(outcome(&[]), None);
        let mut one = row("binary", 0.9923, "equivalent");
        one.set(&v::RATIO_LOW, 0.9864).set(&v::RATIO_HIGH, 1.0038);
        assert_eq!(
            outcome(&[one]).unwrap(),
            "Measured by p50 ns: binary is 0.9923 × linear (0.9864 to 1.004), equivalent."
        );
        let mut far = row("d", 0.2, "improved");
        far.set(&v::WITHIN, "entries = 1000");
        let many = [row("a", 1.5, "regressed"), row("b", 1.0, "equivalent"), row("c", 4.0, "regressed"), far];
        assert_eq!(
            outcome(&many).unwrap(),
            "Measured by p50 ns: 1 improved, 1 equivalent, 2 regressed of 4 comparisons. Largest difference: d is \
             0.2 × linear at entries = 1000, improved."
        );
    }
}
