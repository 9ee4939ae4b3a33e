//! Formats verdicts as sentences, using only the rows of `verdicts.csv`. Results of earlier versions of lsmbench need
//! this module, because their manifest contains no sentences.

use measure::{Comparison, Criteria, Interval, Verdict};
use results::columns::ALL;
use results::{Better, Metric, Row, Unit, reference, verdicts as v};

use crate::change::{Change, comparative, direction, is_speed};
use crate::words::{and_more, on_one_line, quoted};

/// The largest number of candidates that a paragraph names.
const MOST_NAMED: usize = 6;

/// Returns a paragraph for each comparison in the rows of `verdicts.csv`. A paragraph compares the candidates with
/// their baseline, best candidate first.
pub fn row_sentences(rows: &[Row]) -> Vec<String> {
    let key =
        |row: &Row| [&v::WITHIN, &v::PHASE, &v::OPERATION, &v::METRIC].map(|of| row.get(of).to_string());
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| key(group[0]) == key(row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.iter().filter_map(|group| paragraph(group)).collect()
}

/// Returns the sentence about the best configuration. `row` compares the best configuration (candidate) with the second
/// best (baseline). Returns `None` if the metric of the row is unknown.
pub fn best_sentence(row: &Row) -> Option<String> {
    let (metric, start) = start(row)?;
    let [best, next] = [&v::CANDIDATE, &v::BASELINE].map(|of| quoted(&row.get(of).to_string()));
    let next = format!("the next, {next}");
    let said = outcome(row, metric, &title(row, metric), &next);
    let is_decided = row.get(&v::VERDICT).to_string() == Verdict::Improved.name();
    let said = match (is_decided, said.strip_prefix(&format!("{best} "))) {
        (true, Some(rest)) => format!("best is {best}, which {rest}"),
        (true, None) => format!("best is {best}"),
        (false, Some(rest)) => format!("no clear best: {best} against {next}, {rest}"),
        (false, None) => format!("no clear best: {said}"),
    };
    Some(on_one_line(&format!("{start}: {said}.")))
}

/// Returns the metric of a row, and the start of the sentence about the row: the shared settings, the title and the
/// phase.
fn start(row: &Row) -> Option<(&'static Metric, String)> {
    let text = |of| row.get(of).to_string();
    let metric = reference::metric(&text(&v::METRIC))?;
    let within = match text(&v::WITHIN) {
        within if within.is_empty() => within,
        within => format!("{within}: "),
    };
    Some((metric, format!("{within}{} in phase {}", title(row, metric), text(&v::PHASE))))
}

/// Returns the title of the metric of a row, with the kind of operation.
fn title(row: &Row, metric: &Metric) -> String {
    match row.get(&v::OPERATION).to_string() {
        operation if operation == ALL => metric.title.to_owned(),
        operation => format!("{} of {operation}", metric.title),
    }
}

/// Returns the paragraph about rows with the same baseline and metric. Returns `None` if the metric is unknown, or if
/// there are no rows.
fn paragraph(rows: &[&Row]) -> Option<String> {
    let first = rows.first()?;
    let (metric, start) = start(first)?;
    let (title, baseline) = (title(first, metric), quoted(&first.get(&v::BASELINE).to_string()));
    let is_comparable = |row: &&&Row| !row.get(&v::DOUBT).to_string().starts_with(v::NO_RIVAL);
    let comparable: Vec<&&Row> = rows.iter().filter(is_comparable).collect();
    let named: Vec<String> =
        comparable.iter().take(MOST_NAMED).map(|row| outcome(row, metric, &title, &baseline)).collect();
    let said = match named.is_empty() {
        true => format!("no other configuration is comparable with {baseline}"),
        false => format!("{}{}", named.join("; "), and_more(comparable.len() - named.len())),
    };
    Some(on_one_line(&format!("{start}: {said}.")))
}

/// Formats the outcome of a row: `tiered is 2.28x faster than leveled (95% CI 2.18x to 2.65x)`.
fn outcome(row: &Row, metric: &Metric, title: &str, baseline: &str) -> String {
    let name = quoted(&row.get(&v::CANDIDATE).to_string());
    let doubt = row.get(&v::DOUBT).to_string();
    let verdict = row.get(&v::VERDICT).to_string();
    let Some(change) = change(row, metric) else {
        return match doubt.is_empty() {
            true => format!("{name} is {verdict}"),
            false => format!("{name} is {verdict} ({doubt})"),
        };
    };
    let interval = change.interval().map_or_else(String::new, |ci| format!(" (95% CI {ci})"));
    let is_up = change.is_up();
    match verdict.as_str() {
        "equivalent" => format!("no difference between {name} and {baseline}{interval}"),
        "inconclusive" => {
            format!("{name} is inconclusive, {change}{interval}: {doubt}", change = change.short())
        }
        _ if change.is_of_zero() => format!("{title} of {name} changes {change}", change = change.short()),
        _ if is_speed(metric.unit) && (change.is_factor() || metric.better == Better::Higher) => {
            let word = direction(metric.title, (metric.unit, metric.better), is_up);
            format!("{name} is {size} {word} than {baseline}{interval}", size = change.size())
        }
        _ => {
            let word = comparative(metric.title, metric.unit, is_up);
            format!("{name} has {size} {word} {title} than {baseline}{interval}", size = change.size())
        }
    }
}

/// Returns the change that a row describes. Returns `None` if the row has no ratio.
fn change(row: &Row, metric: &Metric) -> Option<Change> {
    let number = |of| row.get(of).number();
    let interval =
        number(&v::RATIO_LOW).zip(number(&v::RATIO_HIGH)).map(|(low, high)| Interval { low, high });
    let comparison = Comparison {
        verdict: Verdict::Inconclusive,
        ratio: number(&v::RATIO),
        interval,
        p_value: None,
        effect_size: None,
        blocks: 0,
        delta: number(&v::DELTA).unwrap_or_default(),
        confidence: Criteria::default().confidence,
        doubt: None,
    };
    let is_share = metric.unit == Unit::Share && metric.better == Better::Higher;
    Change::of(&comparison, number(&v::BASELINE_MEDIAN).filter(|_| is_share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(candidate: &str, verdict: &str, ratio: [f64; 3]) -> Row {
        let mut row = v::row();
        row.set(&v::PHASE, "look").set(&v::OPERATION, "get").set(&v::METRIC, "p50_ns");
        row.set(&v::BASELINE, "none").set(&v::CANDIDATE, candidate).set(&v::VERDICT, verdict);
        row.set(&v::RATIO, ratio[0]).set(&v::RATIO_LOW, ratio[1]).set(&v::RATIO_HIGH, ratio[2]);
        row
    }

    #[test]
    fn the_best_is_named_with_the_next() {
        let best = best_sentence(&row("blocked", "improved", [0.25, 0.2, 0.4])).unwrap();
        let expected = "median service time of get in phase look: best is blocked, which is 4.00x faster than the \
                        next, \"none\" (95% CI 2.50x to 5.00x).";
        assert_eq!(best, expected);
        let mut close = row("blocked", "inconclusive", [0.98, 0.9, 1.1]);
        close.set(&v::DOUBT, "too wide");
        let expected = "median service time of get in phase look: no clear best: blocked against the next, \
                        \"none\", is inconclusive, -2.0% (95% CI -10.0% to +10.0%): too wide.";
        assert_eq!(best_sentence(&close).unwrap(), expected);
    }

    #[test]
    fn candidates_of_a_comparison_are_one_paragraph() {
        let mut doubtful = row("xor", "inconclusive", [1.02, 0.9, 1.1]);
        doubtful.set(&v::DOUBT, "too wide");
        let mut other = row("big", "inconclusive", [0.5, 0.4, 0.6]);
        other.set(&v::DOUBT, "no rival; bits_per_key 20 against 10");
        let said = row_sentences(&[row("blocked", "improved", [0.25, 0.2, 0.4]), doubtful, other]);
        let expected = "median service time of get in phase look: blocked is 4.00x faster than \"none\" (95% CI 2.50x \
                        to 5.00x); xor is inconclusive, +2.0% (95% CI -10.0% to +10.0%): too wide.";
        assert_eq!(said, [expected]);
        assert!(row_sentences(&[]).is_empty());
    }
}
