//! Fits a workload to a trace. The fitted workload has a load phase, and one phase with the mix of operations, the
//! sizes and the skew of the trace.

use std::fmt::Write as _;

use catalog::Catalog;
use serde::Serialize;
use toml::{Table, Value};
use types::{MAX_KEY_BYTES, Outcome, Problem};
use workload::{LENGTHS, LengthDistribution, SIZES, TraceOperation};

use crate::distance::Distances;
use crate::histogram::Histogram;
use crate::statistics::Statistics;
use crate::twin;

/// The maximum number of operations of a fitted workload.
const MOST_OPERATIONS: u64 = 5_000_000;

/// The smallest Zipf exponent of a fitted key distribution. With a smaller exponent, the fitted distribution is
/// uniform.
const LEAST_THETA: f64 = 0.03;

/// The number of exponents that the search for the best Zipf exponent tries.
const ROUNDS: usize = 4;

/// The number of quantiles at which a fitted distribution of sizes is compared with the distribution in the trace.
const QUANTILES: u64 = 1 << 14;

/// A workload that was fitted to a trace, with its distances to the trace.
#[derive(Clone, Debug, Serialize)]
pub struct Fit {
    /// The fitted workload as TOML.
    pub toml: String,
    /// The distances between the trace and the operations of the fitted workload.
    pub distances: Distances,
    /// The properties of the trace that the workload does not have, one sentence each.
    pub notes: Vec<String>,
}

/// A fitted distribution of sizes: its settings in TOML, and a histogram of the sizes that it gives.
struct Law {
    toml: String,
    histogram: Histogram,
}

/// Fits a workload to the statistics of a trace, and measures the distances between the trace and the workload.
///
/// # Errors
/// Returns an error if the trace has no operations on single keys, or if the fitted workload is not possible, for
/// example because the trace has too many keys.
pub fn fit(trace: &Statistics, name: &str) -> Outcome<Fit> {
    if trace.reuse.distinct() == 0 {
        return Err(Problem::new("the trace has no operation on a single key, so no workload can be fitted"));
    }
    let values = best(&SIZES, &trace.value_sizes, ("bytes", "B")).unwrap_or_else(|| Law {
        toml: "{ kind = \"fixed\", bytes = \"100B\" }".to_owned(),
        histogram: Histogram::default(),
    });
    let scans = best(&LENGTHS, &trace.scan_entries, ("entries", ""));
    let wanted = trace.ranking().theta();
    let empty = Histogram::default();
    let entries = scans.as_ref().map_or(&empty, |law| &law.histogram);
    let try_theta = |theta: f64| {
        let toml = written(trace, theta, &values, scans.as_ref());
        let twin = twin::measure(&toml)?;
        Ok::<_, Problem>((toml, Distances::of(trace, &twin, &values.histogram, entries)))
    };
    let mut theta = wanted;
    let (mut toml, mut distances) = try_theta(theta)?;
    let mut error = distances.twin_theta - wanted;
    // The estimated exponent of a generated workload is above the exponent with which it was generated, because the
    // estimate sorts the keys by their counts. Each attempt therefore corrects the exponent by the last error.
    for _ in 1..ROUNDS {
        if error.abs() < 0.005 {
            break;
        }
        theta = (theta - error).max(0.0);
        let (other_toml, other) = try_theta(theta)?;
        error = other.twin_theta - wanted;
        if other.popularity < distances.popularity {
            (toml, distances) = (other_toml, other);
        }
    }
    let notes = notes(trace);
    let mut head =
        format!("# A synthetic workload fitted to {name}. Distances to the trace, from 0 (equal) to 1:\n");
    for sentence in distances.sentences().iter().chain(&notes) {
        let _ = writeln!(head, "# - {sentence}");
    }
    Ok(Fit { toml: format!("{head}\n{toml}"), distances, notes })
}

/// Returns the properties of the trace that the fitted workload does not have, one sentence each.
fn notes(trace: &Statistics) -> Vec<String> {
    let mut notes = Vec::new();
    let range_deletes = trace.operations_of(TraceOperation::DeleteRange);
    if range_deletes > 0 {
        notes.push(format!("the fitted workload omits the {range_deletes} range deletes of the trace"));
    }
    let single_deletes = trace.operations_of(TraceOperation::SingleDelete);
    if single_deletes > 0 {
        notes.push(format!(
            "the fitted workload has deletes instead of the {single_deletes} single deletes, because deletes \
             do not need keys that are written only once"
        ));
    }
    let merges = trace.operations_of(TraceOperation::Merge);
    if merges > 0 {
        notes.push(format!(
            "the fitted workload has read-modify-writes instead of the {merges} merges, because \
             read-modify-writes need no merge operator"
        ));
    }
    let scans = trace.operations_of(TraceOperation::Scan);
    if scans > trace.scan_entries.total() {
        notes.push(format!(
            "the trace does not record the length of {} scans, so the fitted workload uses the lengths of \
             the other scans, or the default length",
            scans - trace.scan_entries.total()
        ));
    }
    if trace.value_sizes.total() == 0 {
        notes.push("the trace does not record value sizes, so all values have 100 bytes".to_owned());
    }
    if trace.operations() > MOST_OPERATIONS {
        notes.push(format!(
            "the fitted workload has {MOST_OPERATIONS} operations, but the trace has {}",
            trace.operations()
        ));
    }
    notes
}

/// Writes the fitted workload as TOML. `theta` is the exponent of the key distribution, `values` is the distribution of
/// value sizes, and `scans` is the distribution of scan lengths.
fn written(trace: &Statistics, theta: f64, values: &Law, scans: Option<&Law>) -> String {
    let keys = trace.reuse.distinct();
    let inserts = trace.inserted_keys();
    let puts = trace.operations_of(TraceOperation::Put);
    let weights = [
        ("get", trace.operations_of(TraceOperation::Get)),
        ("put", puts.saturating_sub(inserts)),
        ("insert", inserts.min(puts)),
        (
            "delete",
            trace.operations_of(TraceOperation::Delete) + trace.operations_of(TraceOperation::SingleDelete),
        ),
        ("range", trace.operations_of(TraceOperation::Scan)),
        (
            "rmw",
            trace.operations_of(TraceOperation::ReadModifyWrite) + trace.operations_of(TraceOperation::Merge),
        ),
    ];
    let used: Vec<String> = weights
        .iter()
        .filter(|(_, weight)| *weight > 0)
        .map(|(kind, weight)| format!("{kind} = {weight}"))
        .collect();
    let operations: u64 = weights.iter().map(|(_, weight)| weight).sum::<u64>().min(MOST_OPERATIONS);
    let only_inserts = used.len() == 1 && inserts > 0;
    let mut toml = format!("key = {{ format = \"u64\", bytes = \"{}B\" }}\n", key_bytes(trace, keys));
    if !only_inserts {
        let loaded = keys.saturating_sub(inserts).max(1);
        let _ = write!(toml, "\n[[phase]]\nname   = \"load\"\ninsert = {loaded}\nvalue  = {}\n", values.toml);
    }
    let _ = write!(
        toml,
        "\n[[phase]]\nname       = \"run\"\noperations = {operations}\nmix        = {{ {} }}\nvalue      = {}\n",
        used.join(", "),
        values.toml
    );
    match theta {
        theta if theta < LEAST_THETA => toml.push_str("keys       = \"uniform\"\n"),
        theta => {
            let _ = writeln!(toml, "keys       = {{ kind = \"zipfian\", theta = {theta:.4} }}");
        }
    }
    if let Some(scans) = scans {
        let _ = writeln!(toml, "range      = {}", scans.toml);
    }
    toml
}

/// Returns the length of the keys of the fitted workload in bytes: the mean length in the trace. If this length has too
/// few different keys, returns the shortest length with enough keys.
fn key_bytes(trace: &Statistics, keys: u64) -> u64 {
    // One more bit is necessary, because gets of absent keys use as many further keys.
    let bits = u64::BITS - keys.max(1).leading_zeros() + 1;
    (trace.key_sizes.mean().round() as u64).clamp(u64::from(bits.div_ceil(8)), MAX_KEY_BYTES as u64)
}

/// Returns the distribution in `catalog` that fits the sizes in a histogram best. `name` is the parameter for a fixed
/// size, and `unit` is the unit of sizes in TOML. Returns `None` if there are no sizes.
fn best(
    catalog: &Catalog<dyn LengthDistribution>,
    sizes: &Histogram,
    (name, unit): (&str, &str),
) -> Option<Law> {
    if sizes.total() == 0 {
        return None;
    }
    let laws = candidates(sizes, name, unit).into_iter().filter_map(|table| {
        let choice = catalog.choose(&Value::Table(table.clone())).ok()?;
        let law = catalog.build(&choice).ok()?;
        let mut histogram = Histogram::default();
        let step = u64::MAX / QUANTILES;
        (0..QUANTILES).for_each(|at| histogram.add(law.length(at * step + step / 2).into()));
        Some(Law { toml: inline(&table), histogram })
    });
    laws.min_by(|a, b| sizes.distance(&a.histogram).total_cmp(&sizes.distance(&b.histogram)))
}

/// Returns the distributions that may fit the sizes: a fixed size, a uniform distribution, and a generalized Pareto
/// distribution through the quartiles.
fn candidates(sizes: &Histogram, name: &str, unit: &str) -> Vec<Table> {
    let size = |size: u64| match unit {
        "" => Value::Integer(size.max(1).cast_signed()),
        unit => Value::String(format!("{size}{unit}")),
    };
    let table = |kind: &str, parameters: &[(&str, Value)]| {
        let kind = ("kind".to_owned(), Value::String(kind.to_owned()));
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        [kind].into_iter().chain(parameters).collect::<Table>()
    };
    let [low, median, quarter, high] = [0.0, 0.5, 0.75, 1.0].map(|share| sizes.quantile(share));
    let mut candidates = vec![
        table("fixed", &[(name, size(median))]),
        table("fixed", &[(name, size(sizes.mean().round() as u64))]),
        table("uniform", &[("min", size(low)), ("max", size(high))]),
    ];
    // Pickands' estimator of the shape and the scale.
    let (half, upper) = ((median - low) as f64, (quarter - median) as f64);
    if half > 0.0 && upper > 0.0 {
        let shape = (upper / half).log2();
        let k = if shape.abs() < 0.01 { 0.01 } else { shape };
        let sigma = k * half / (k.exp2() - 1.0);
        candidates.push(table(
            "pareto",
            &[
                ("theta", Value::Float(low as f64)),
                ("sigma", Value::Float((sigma * 1e3).round() / 1e3)),
                ("k", Value::Float((k * 1e4).round() / 1e4)),
                ("min", size(low)),
                ("max", size(high.max(low + 1))),
            ],
        ));
    }
    candidates
}

/// Formats a TOML table as an inline table, on one line.
fn inline(table: &Table) -> String {
    let pairs: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", pairs.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the statistics of the operations of a workload, as if they were a trace.
    fn trace(toml: &str) -> Statistics {
        twin::measure(toml).unwrap()
    }

    #[test]
    fn a_workload_is_found_again() {
        let toml = "key = { format = \"u64\", bytes = \"20B\" }\n[[phase]]\nname = \"load\"\ninsert = 5000\n\
                    [[phase]]\nname = \"run\"\noperations = 60000\nmix = { get = 6, put = 2, delete = 1, range = 1 }\n\
                    keys = { kind = \"zipfian\", theta = 0.8 }\nvalue = { kind = \"pareto\", min = \"1B\" }\n\
                    range = { kind = \"uniform\", min = 1, max = 30 }\n";
        let fit = fit(&trace(toml), "t").unwrap();
        let Distances { mix, key_sizes, value_sizes, scan_entries, popularity, lru, theta, twin_theta } =
            fit.distances;
        assert!(mix < 0.01 && key_sizes < 1e-9, "{:?}", fit.distances);
        assert!(value_sizes.unwrap() < 0.1 && scan_entries.unwrap() < 0.06, "{:?}", fit.distances);
        assert!(popularity < 0.02 && lru < 0.02, "{:?}", fit.distances);
        assert!((theta - twin_theta).abs() < 0.02, "{:?}", fit.distances);
        assert!(fit.toml.contains("bytes = \"20B\"") && fit.toml.contains("zipfian"), "{}", fit.toml);
        assert!(fit.toml.starts_with("# A synthetic workload fitted to t."), "{}", fit.toml);
    }

    #[test]
    fn a_load_is_inserts_and_no_keys_are_nothing() {
        let load = "[[phase]]\nname = \"load\"\ninsert = 500\n";
        let fit = fit(&trace(load), "t").unwrap();
        assert!(fit.toml.contains("mix        = { insert = 500 }"), "{}", fit.toml);
        assert!(fit.distances.mix < 1e-9 && fit.distances.popularity < 1e-9, "{:?}", fit.distances);
        let error = super::fit(&Statistics::default(), "t").unwrap_err();
        assert!(error.to_string().contains("no workload can be fitted"), "{error}");
    }
}
