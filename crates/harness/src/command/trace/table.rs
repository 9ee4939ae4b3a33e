//! Formats the statistics of a trace as text.

use std::fmt::Write as _;

use trace::{AccessSkew, Arrivals, Sizes, TraceStatistics};

/// The maximum number of rows in each of two printed tables: the miss-ratio curve, and the windows of the working set.
const ROWS: usize = 10;

/// Formats the statistics of a trace as text.
pub(super) fn of(summary: &TraceStatistics) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<22}{value}");
    };
    row("format", &summary.format);
    row("operations", &summary.operations.to_string());
    for share in &summary.mix {
        row(&format!("  {}", share.operation), &format!("{} ({})", share.count, percent(share.share)));
    }
    row("keys", &summary.keys.to_string());
    row("  first put", &summary.inserted_keys.to_string());
    if summary.sampled < 1.0 {
        row("  sampled", &format!("{share} of the keys, by hash", share = percent(summary.sampled)));
    }
    for (name, sizes, unit) in [
        ("key bytes", &summary.key_sizes, "B"),
        ("value bytes", &summary.value_sizes, "B"),
        ("scan entries", &summary.scan_entries, ""),
    ] {
        row(name, &sizes.as_ref().map_or_else(|| "not recorded".to_owned(), |sizes| of_sizes(sizes, unit)));
    }
    for (name, value) in summary.popularity.iter().flat_map(of_popularity) {
        row(name, &value);
    }
    if let Some(distance) = summary.reuse_distance_p50 {
        row("reuse distance", &format!("median {distance:.0} keys"));
    }
    match &summary.arrivals {
        Some(arrivals) => row("arrivals", &of_arrivals(arrivals)),
        None => row("arrivals", "not recorded"),
    }
    if !summary.lru.is_empty() {
        let _ = writeln!(text, "\nLRU cache of keys       miss ratio");
        for point in spread(&summary.lru) {
            let _ = writeln!(text, "{:>16}{:>18}", point.keys, percent(point.miss_ratio));
        }
    }
    if !summary.working_set.is_empty() {
        let _ = writeln!(text, "\n   from access        keys    new keys     so far");
        for window in spread(&summary.working_set) {
            let _ = writeln!(
                text,
                "{:>14}{:>12}{:>12}{:>11}",
                window.first, window.keys, window.new_keys, window.keys_so_far
            );
        }
    }
    for note in &summary.notes {
        let _ = writeln!(text, "\nnote: {note}");
    }
    text
}

fn of_sizes(sizes: &Sizes, unit: &str) -> String {
    let Sizes { mean_bytes, min_bytes, p50_bytes, p90_bytes, p99_bytes, max_bytes, .. } = sizes;
    format!(
        "mean {mean_bytes:.1}{unit}, min {min_bytes}{unit}, median {p50_bytes}{unit}, p90 {p90_bytes}{unit}, p99 \
         {p99_bytes}{unit}, max {max_bytes}{unit}"
    )
}

fn of_popularity(popularity: &AccessSkew) -> [(&'static str, String); 5] {
    let AccessSkew { hottest_key, hottest_1_percent, hottest_10_percent, once, theta, theta_distance } =
        popularity;
    [
        ("hottest key", format!("{} of accesses", percent(*hottest_key))),
        ("hottest 1 % of keys", format!("{} of accesses", percent(*hottest_1_percent))),
        ("hottest 10 % of keys", format!("{} of accesses", percent(*hottest_10_percent))),
        ("keys accessed once", percent(*once)),
        ("Zipf theta", format!("{theta:.3} (Kolmogorov-Smirnov distance {theta_distance:.3})")),
    ]
}

fn of_arrivals(arrivals: &Arrivals) -> String {
    let Arrivals { seconds, rate_per_s, gap_p50_ns, gap_p99_ns, gap_max_ns, variation, backward } = arrivals;
    let mut text = format!(
        "{seconds:.3} s, {rate_per_s:.1}/s, gaps: median {gap_p50_ns} ns, p99 {gap_p99_ns} ns, max {gap_max_ns} ns, \
         coefficient of variation {variation:.2}"
    );
    if *backward > 0 {
        let _ = write!(text, ", {backward} operations with an earlier time than the previous operation");
    }
    text
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// Returns at most [`ROWS`] of the rows, at even intervals. The last row is included.
fn spread<T>(rows: &[T]) -> impl Iterator<Item = &T> {
    let step = rows.len().div_ceil(ROWS).max(1);
    let last = rows.len().saturating_sub(1);
    rows.iter().enumerate().filter(move |(at, _)| (last - at).is_multiple_of(step)).map(|(_, row)| row)
}
