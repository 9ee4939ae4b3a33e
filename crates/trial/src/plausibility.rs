//! Finds implausible values in rows. This module has one rule for each theoretical or physical limit. If a row exceeds
//! a bound, the row gets a message, and verdicts ignore the row.
//!
//! The bounds include a tolerance, so that correct values stay within them. If a value exceeds a bound, either the
//! value or the formula of the bound is wrong. A bound on a measured fraction also includes a tolerance for chance.

use results::{Metric, Row, StreamRecord, Unit, Value, columns as c};
use tree::{Design, axis};

use super::limits::Limits;

/// The number of standard deviations by which chance may move a measured fraction beyond a bound.
const SIGMAS: f64 = 5.0;

/// The tolerance of the bound on the hit rate of a cache, as a fraction of requests. The bound assumes that all blocks
/// have the same number of keys, which is not exact.
const STATIC_SET_ALLOWANCE: f64 = 0.02;

/// The allowed relative deviation of a value from an exact limit. Rounding, block trailers, and histograms with three
/// digits cause deviations.
const SLACK: f64 = 0.02;

/// The facts about a configuration and its earlier phases that rules need to check a row of results.
#[derive(Clone, Debug)]
struct Facts {
    /// The limits of this machine: bytes per second, cycles per second, and the time of a clock reading.
    limits: Limits,
    /// Whether the files of the store contain all bytes of the entries. True if blocks are not compressed, values are
    /// stored next to their keys, and no data expires.
    keeps_bytes: bool,
    /// The smallest size of values after compression, as a fraction of their original size.
    least_kept: f64,
    /// Whether a component of the design is an ideal variant, to which limits of real components do not apply.
    is_oracle: bool,
    filters: FilterFacts,
    /// The smallest fraction of values in the bytes of keys and values, over all phases so far. `None` if it is
    /// unknown. The bounds on sizes count only values, because keys may need nearly no bytes on storage.
    value_share: Option<f64>,
    /// The bytes that the user has written in all rows so far. The next field contains the bytes that the flushes of
    /// these rows have written.
    entered: f64,
    flushed: f64,
    /// The fraction of the accesses that go to the most popular key, according to the key distribution of the phase.
    hottest: Option<f64>,
}

/// The properties of the filters of a design that rules need to check false-positive rates.
#[derive(Clone, Copy, Debug, Default)]
struct FilterFacts {
    /// Whether all filters of the design have the same number of bits per key, because memory is not divided unevenly
    /// between levels.
    are_even: bool,
    /// Whether the measured false-positive rate may be far below the expected rate.
    /// * In filters that store keys instead of hashes, an absent key far from all other keys is never a false positive.
    /// * In adaptive filters, repeated lookups have a lower false-positive rate.
    may_have_lower_rate: bool,
    /// Whether the expected false-positive rate applies only to absent keys that are distributed like the keys in the
    /// filter. For other absent keys, the rate may be higher.
    assume_similar_keys: bool,
}

/// A rule for plausible values, with its name. The function `check` returns a message if a row of results breaks the
/// rule.
struct Rule {
    name: &'static str,
    check: fn(&Row, &Facts) -> Option<String>,
}

static RULES: [Rule; 16] = [
    Rule { name: "share", check: share },
    Rule { name: "sign", check: sign },
    Rule { name: "order of percentiles", check: percentiles },
    Rule { name: "clock", check: clock },
    Rule { name: "cycles", check: cycles },
    Rule { name: "bandwidth", check: bandwidth },
    Rule { name: "time of threads", check: busy },
    Rule { name: "target rate", check: target_rate },
    Rule { name: "best possible hit rate", check: best_hit_rate },
    Rule { name: "best static set", check: best_static_set },
    Rule { name: "expected false positives", check: expected_fpr },
    Rule { name: "bits of a filter", check: filter_bits },
    Rule { name: "filter counters", check: filter_books },
    Rule { name: "bytes of flushes", check: write_amp },
    Rule { name: "bytes of compactions", check: merges },
    Rule { name: "bytes of tables", check: space_amp },
];

impl Default for Facts {
    fn default() -> Self {
        Self {
            limits: Limits::OF_ANY,
            keeps_bytes: false,
            least_kept: 0.0,
            is_oracle: false,
            filters: FilterFacts::default(),
            value_share: None,
            entered: 0.0,
            flushed: 0.0,
            hottest: None,
        }
    }
}

/// Properties of the stored values that follow from the engine and the workload, and not from the design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredValues {
    /// Whether the engine stores values as the design describes. Other engines may compress values although the design
    /// has no compression.
    pub follow_design: bool,
    /// The largest fraction of the bytes of a value that compression may save. The fraction is 1 for values of unknown
    /// content.
    pub compressible: f64,
}

impl StoredValues {
    /// Returns the smallest plausible size of values in the files of a design, as a fraction of their original size.
    ///
    /// For compressed files, this is half of the bytes that do not compress, because blocks may compress better than
    /// single values.
    fn least_kept(self, design: &Design) -> f64 {
        match (keeps_all(design), self.follow_design && keeps_bytes(design)) {
            (false, _) => 0.0,
            (true, true) => 1.0,
            (true, false) => (1.0 - self.compressible).clamp(0.0, 1.0) / 2.0,
        }
    }
}

/// Returns the designs of all trees of a store: one per column family, or the design itself without families.
fn trees(design: &Design) -> Vec<Design> {
    let families = design.families().filter(|_| design.has_family_trees());
    let trees: Vec<Design> = families.filter_map(|name| design.family(name).ok()).collect();
    if trees.is_empty() { vec![design.clone()] } else { trees }
}

/// Returns whether a design uses the first variant of the axis `name`, which is the baseline of the axis.
fn is_first(design: &Design, name: &str) -> bool {
    let variants = axis(name).map(catalog::Axis::variants).unwrap_or_default();
    variants.first().is_some_and(|first| first.kind == design.choice(name).kind())
}

/// Returns whether the SSTables of a design contain all values: no values are in blob files, and the store drops no
/// data.
fn keeps_all(design: &Design) -> bool {
    let drops = |tree: &Design| tree.limits().iter().any(|(_, _, limit)| *limit == catalog::Limit::DropsData);
    trees(design).iter().all(|tree| is_first(tree, "values") && !drops(tree))
}

/// Returns whether the SSTables of a design contain all values without compression, and the store drops no data.
fn keeps_bytes(design: &Design) -> bool {
    keeps_all(design) && trees(design).iter().all(|tree| is_first(tree, "compression"))
}

impl Facts {
    /// Collects the properties of a configuration that the plausibility rules need.
    fn of(design: &Design, values: StoredValues, limits: Limits) -> Self {
        let is_oracle = design.choices().any(|(name, choice)| {
            let variants = axis(name).map(catalog::Axis::variants).unwrap_or_default();
            variants.iter().any(|variant| variant.oracle && variant.kind == choice.kind())
        });
        let policy = bloom::CATALOG.build(design.choice("bloom"));
        let filters = FilterFacts {
            are_even: is_first(design, "allocation"),
            may_have_lower_rate: policy.as_ref().is_ok_and(|policy| policy.needs_keys() || policy.adapts()),
            assume_similar_keys: policy.is_ok_and(|policy| policy.assumes_similar_keys()),
        };
        Self {
            limits,
            keeps_bytes: values.follow_design && keeps_bytes(design),
            least_kept: values.least_kept(design),
            is_oracle,
            filters,
            ..Self::default()
        }
    }

    /// Adds a row of results, because the rules for later rows depend on all earlier writes. `hottest` is the fraction
    /// of accesses to the most popular key. Call this function for the rows in order.
    fn advance(&mut self, row: &Row, hottest: Option<f64>) {
        let number = |metric| row.get(metric).number();
        if let Some((key, value)) = number(&c::REALISED_KEY_BYTES).zip(number(&c::REALISED_VALUE_BYTES)) {
            let share = value / (key + value).max(1.0);
            self.value_share = Some(self.value_share.map_or(share, |least| least.min(share)));
        }
        self.entered += number(&c::USER_BYTES_WRITTEN).unwrap_or(0.0);
        self.flushed += number(&c::FLUSH_BYTES).unwrap_or(0.0);
        self.hottest = hottest;
    }

    /// Estimates how much larger SSTables are than their entries, as a factor of at least 1. In a small SSTable,
    /// filters, index pages and footers may be half of the file.
    fn beside_entries(&self) -> f64 {
        if self.entered > 0.0 { (self.flushed / self.entered).max(1.0) } else { 1.0 }
    }
}

/// The smallest number of expected false positives for which the measured false-positive rate is meaningful. With 100
/// expected false positives, the standard deviation of the measured number is 10.
const FEWEST_EXPECTED: f64 = 100.0;

/// Returns whether the gets of a row probed the filters for enough different absent keys. With fewer keys, the measured
/// false-positive rate is mostly chance.
fn tells_false_positives(row: &Row, facts: &Facts) -> bool {
    let expected = row.get(&c::EXPECTED_FPR).number().unwrap_or(0.0);
    expected * independent_probes(row, facts) >= FEWEST_EXPECTED
}

/// Marks the rows of a trial that break a rule: writes the messages of these rules into their column `implausible`. In
/// rows with too few expected false positives, also clears the residual of the false-positive rate. Returns the phase
/// and the message of each marked row.
pub fn mark(
    design: &Design,
    values: StoredValues,
    rows: &mut [Row],
    streams: &[StreamRecord],
    limits: Limits,
) -> Vec<(String, String)> {
    let mut facts = Facts::of(design, values, limits);
    let mut marked = Vec::new();
    for row in rows {
        let phase = row.get(&c::PHASE).to_string();
        let stream = streams.iter().find(|stream| stream.phase == phase);
        facts.advance(row, stream.and_then(|stream| stream.intended.hottest_key));
        if !tells_false_positives(row, &facts) {
            row.set(&c::FPR_RESIDUAL, Value::Empty);
        }
        if let Some(words) = implausible(row, &facts) {
            row.set(&c::IMPLAUSIBLE, words.as_str());
            marked.push((phase, words));
        }
    }
    marked
}

/// Returns the messages of all rules that a row breaks. Returns `None` if the row follows all rules.
fn implausible(row: &Row, facts: &Facts) -> Option<String> {
    let found = RULES.iter().filter_map(|rule| {
        let words = (rule.check)(row, facts)?;
        Some(format!("{}: {words}", rule.name))
    });
    let found: Vec<String> = found.collect();
    (!found.is_empty()).then(|| found.join("; "))
}

/// Rule: a value whose unit is a fraction is between 0 and 1.
fn share(row: &Row, _: &Facts) -> Option<String> {
    let outside = |metric: &&Metric| {
        let value = row.get(metric).number();
        metric.unit == Unit::Share && value.is_some_and(|value| !(-1e-9..=1.0 + 1e-9).contains(&value))
    };
    let metric = c::METRICS.iter().find(outside)?;
    Some(format!("{} is {}, but a fraction must be between 0 and 1", metric.name, shown(row, metric)?))
}

/// Rule: no value is infinite, and only residuals may be negative.
fn sign(row: &Row, _: &Facts) -> Option<String> {
    let wrong = |metric: &&Metric| {
        let value = row.get(metric).number();
        let is_residual = metric.name.ends_with("_residual");
        value.is_some_and(|value| !value.is_finite() || (value < 0.0 && !is_residual))
    };
    let metric = c::METRICS.iter().filter(|metric| metric.unit != Unit::Share).find(wrong)?;
    Some(format!("{} is {}, but it must be finite and at least 0", metric.name, shown(row, metric)?))
}

/// Rule: a higher percentile is not smaller than a lower percentile, and a response time is not shorter than its
/// service time. The two times are compared only in open loops, because some operations of a replay have no response
/// time.
fn percentiles(row: &Row, _: &Facts) -> Option<String> {
    let mut orders: Vec<&[&Metric]> = vec![
        &[&c::P50_NS, &c::P90_NS, &c::P99_NS, &c::P999_NS, &c::P9999_NS, &c::MAX_NS],
        &[&c::MEAN_NS, &c::MAX_NS],
        &[&c::RESPONSE_P50_NS, &c::RESPONSE_P99_NS, &c::RESPONSE_P999_NS],
        &[&c::RESPONSE_P999_NS, &c::RESPONSE_P9999_NS, &c::RESPONSE_MAX_NS],
    ];
    if row.get(&c::LOOP).text() == Some("open") {
        orders.push(&[&c::P50_NS, &c::RESPONSE_P50_NS]);
        orders.push(&[&c::MAX_NS, &c::RESPONSE_MAX_NS]);
    }
    let exceeds = |pair: &&[&Metric]| {
        let both = row.get(pair[0]).number().zip(row.get(pair[1]).number());
        both.is_some_and(|(less, more)| less > more * (1.0 + SLACK))
    };
    // Rows of component experiments have no maximum, and their mean is the mean over slices.
    let pair = orders.iter().flat_map(|order| order.windows(2)).find(exceeds)?;
    Some(format!("{} exceeds {}", stated(row, pair[0])?, stated(row, pair[1])?))
}

/// Rule: no operation is shorter than the resolution of the clock.
fn clock(row: &Row, facts: &Facts) -> Option<String> {
    let Limits { clock_ns, derived, .. } = facts.limits;
    let shortest = row.get(&c::P50_NS).number().filter(|ns| *ns < clock_ns)?;
    Some(format!("p50_ns is {shortest}, but a time must be at least {clock_ns:.1} ns: {}", derived.clock))
}

/// Rule: an operation that is called individually takes at least one CPU cycle. The rule does not apply to a call
/// that makes a memtable immutable or builds an SSTable, because such a call processes many entries.
fn cycles(row: &Row, facts: &Facts) -> Option<String> {
    if row.get(&c::P50_NS).is_empty() && row.get(&c::LOOP_NS).is_empty() {
        return None;
    }
    let threads = row.get(&c::THREADS).number().unwrap_or(1.0).max(1.0);
    let rate = row.get(&c::OPS_PER_SECOND).number()?;
    let Limits { cycles_per_second, derived, .. } = facts.limits;
    let most = cycles_per_second * threads;
    (rate > most).then(|| {
        format!(
            "ops_per_second {rate:.3e} exceeds the limit {most:.1e} of {threads} threads: {}",
            derived.cycles
        )
    })
}

/// Rule: a store cannot move more bytes per second than memory and the first-level caches of this machine transfer. A
/// component that returns bytes without a copy may reach the limit of any current machine.
fn bandwidth(row: &Row, facts: &Facts) -> Option<String> {
    let said = row.get(&c::MEGABYTES_PER_SECOND).number().map(|rate| ("megabytes_per_second", rate * 1e6));
    let written = [
        &c::USER_BYTES_WRITTEN,
        &c::WAL_BYTES,
        &c::FLUSH_BYTES,
        &c::COMPACTION_BYTES_READ,
        &c::COMPACTION_BYTES_WRITTEN,
    ];
    let seconds = row.get(&c::SECONDS).number().filter(|seconds| *seconds > 0.0);
    let bytes: f64 = written.into_iter().filter_map(|metric| row.get(metric).number()).sum();
    let moved = seconds.map(|seconds| ("bytes written and compacted per second", bytes / seconds));
    let held = [(said, Limits::OF_ANY), (moved, facts.limits)].into_iter();
    let mut exceeding = held.filter_map(|(rate, limits)| Some((rate?, limits)));
    let ((name, rate), Limits { bytes_per_second: most, derived, .. }) =
        exceeding.find(|((_, rate), limits)| *rate > limits.bytes_per_second)?;
    Some(format!("{name} {rate:.3e} B/s exceeds the possible {most:.1e} B/s: {}", derived.bytes))
}

/// Rule: in a closed loop, a thread executes one operation after the other, so the sum of all operation times is not
/// longer than the phase.
fn busy(row: &Row, _: &Facts) -> Option<String> {
    // The mean of a short phase may be wrong by a factor of two, because some of its few stalls may be sampled.
    const MOST: f64 = 2.0;
    const LEAST_OPS: f64 = 1000.0;
    if row.get(&c::TARGET_OPS_PER_SECOND).number().is_some() || row.get(&c::LOOP).to_string() != "closed" {
        return None;
    }
    let number = |metric| row.get(metric).number();
    let (ops, mean) = (number(&c::OPS)?, number(&c::MEAN_NS)?);
    // Rows of single kinds do not have the number of threads.
    let (seconds, threads) = (number(&c::SECONDS)?, number(&c::THREADS)?);
    let busy = ops * mean / 1e9;
    (ops >= LEAST_OPS && busy > MOST * seconds * threads).then(|| {
        format!(
            "{ops} operations with a mean of {mean:.0} ns need {busy:.3} s, more than twice the time of \
             {threads} threads in {seconds:.3} s"
        )
    })
}

/// Rule: the measured rate exceeds the requested rate by at most 2 %.
fn target_rate(row: &Row, _: &Facts) -> Option<String> {
    const LEAST_OPS: f64 = 1000.0;
    let number = |metric| row.get(metric).number();
    let (rate, target) = (number(&c::OPS_PER_SECOND)?, number(&c::TARGET_OPS_PER_SECOND)?);
    (number(&c::OPS)? >= LEAST_OPS && rate > target * (1.0 + SLACK))
        .then(|| format!("ops_per_second {rate:.0} exceeds target_ops_per_second {target:.0}"))
}

/// Rule: no cache exceeds the hit rate of Belady's algorithm, which knows the future requests.
fn best_hit_rate(row: &Row, _: &Facts) -> Option<String> {
    // With several threads, the order of requests differs from the order that Belady's algorithm uses.
    let threads = row.get(&c::THREADS).number().unwrap_or(1.0);
    let allowance = if threads > 1.0 { SLACK } else { 1e-9 };
    let (rate, best) = (row.get(&c::CACHE_HIT_RATE).number()?, row.get(&c::BEST_HIT_RATE).number()?);
    (rate > best + allowance)
        .then(|| format!("cache_hit_rate {rate:.4} exceeds {best:.4}, the hit rate of Belady's algorithm"))
}

/// Rule: for independent requests, no cache has a higher hit rate than a cache that keeps the most popular blocks.
fn best_static_set(row: &Row, _: &Facts) -> Option<String> {
    let number = |metric| row.get(metric).number();
    let (rate, best) = (number(&c::CACHE_HIT_RATE)?, number(&c::BEST_STATIC_HIT_RATE)?);
    let requests = number(&c::BLOCKS_READ).unwrap_or(0.0) + number(&c::BLOCKS_FROM_CACHE).unwrap_or(0.0);
    let chance = SIGMAS * (best * (1.0 - best) / requests.max(1.0)).max(0.0).sqrt();
    (rate > best + STATIC_SET_ALLOWANCE + chance).then(|| {
        format!("cache_hit_rate {rate:.4} exceeds {best:.4}, the hit rate of the most popular blocks")
    })
}

/// Rule: the measured false-positive rate of a filter is between a tenth and three times the expected rate, with a
/// tolerance for chance.
fn expected_fpr(row: &Row, facts: &Facts) -> Option<String> {
    const MOST: f64 = 3.0;
    const LEAST: f64 = 0.1;
    let number = |metric| row.get(metric).number();
    let (fpr, expected) = (number(&c::FPR)?, number(&c::EXPECTED_FPR)?);
    let chance = SIGMAS * (expected / independent_probes(row, facts)).sqrt();
    if !facts.filters.assume_similar_keys && fpr > MOST * expected + chance {
        return Some(format!("fpr {fpr:.3e} exceeds {MOST} × expected_fpr {expected:.3e}"));
    }
    // If large runs have fewer bits per key than small runs, the mean over runs differs from the mean over probes.
    (facts.filters.are_even && !facts.filters.may_have_lower_rate && fpr + chance < LEAST * expected)
        .then(|| format!("fpr {fpr:.3e} is below {LEAST} × expected_fpr {expected:.3e}"))
}

/// Returns the number of filter probes for absent keys whose results are independent. Repeated probes for one key have
/// the same result, so they count once.
fn independent_probes(row: &Row, facts: &Facts) -> f64 {
    let number = |metric| row.get(metric).number().unwrap_or(0.0);
    let answered = number(&c::FILTER_NEGATIVES) + number(&c::FILTER_FALSE_POSITIVES);
    let probes = if answered > 0.0 { answered } else { number(&c::OPS) };
    let different = facts.hottest.map_or(f64::INFINITY, |hottest| 1.0 / hottest.max(1e-12));
    probes.min(different * number(&c::RUNS).max(1.0)).max(1.0)
}

/// Rule: a filter with the false-positive rate 2^−b needs at least b bits per key (Carter et al., "Exact and
/// approximate membership testers", STOC 1978).
fn filter_bits(row: &Row, facts: &Facts) -> Option<String> {
    let (fpr, bits) = (row.get(&c::FPR).number()?, row.get(&c::BITS_PER_KEY).number()?);
    let least = (-bits).exp2();
    let chance = SIGMAS * (least / independent_probes(row, facts)).sqrt();
    (!facts.is_oracle && !facts.filters.may_have_lower_rate && fpr + chance < least * (1.0 - SLACK)).then(
        || format!("fpr {fpr:.3e} is below {least:.3e}, the theoretical minimum for {bits:.1} bits per key"),
    )
}

/// Rule: every filter probe has exactly one result, so there are at most as many results as probes.
fn filter_books(row: &Row, _: &Facts) -> Option<String> {
    let number = |metric| row.get(metric).number();
    let probes = number(&c::FILTER_PROBES)?;
    let answers = number(&c::FILTER_NEGATIVES)? + number(&c::FILTER_FALSE_POSITIVES)?;
    (answers > probes).then(|| {
        format!("filter_negatives + filter_false_positives = {answers} exceeds filter_probes {probes}")
    })
}

/// Rule: in a phase that only adds keys to an empty tree, all data outside of memtables was flushed, so write
/// amplification has a minimum.
fn write_amp(row: &Row, facts: &Facts) -> Option<String> {
    let number = |metric| row.get(metric).number();
    // A row has an expected write amplification only if the phase only added keys.
    let (amp, _) = (number(&c::WRITE_AMP)?, number(&c::EXPECTED_WRITE_AMP)?);
    let (user, waiting) = (number(&c::USER_BYTES_WRITTEN)?, number(&c::MEMTABLE_BYTES).unwrap_or(0.0));
    let kept = facts.value_share.unwrap_or(0.0) * facts.least_kept;
    let flushed = (1.0 - waiting / user).max(0.0) * kept;
    let is_bound = number(&c::FLUSHES)? > 0.0;
    (is_bound && amp < flushed * (1.0 - SLACK)).then(|| {
        format!(
            "write_amp {amp:.3} is below {flushed:.3}, the minimum if all user bytes outside of memtables were \
             flushed"
        )
    })
}

/// Rule: a compaction writes at most the entries that it has read, plus filters, index pages and footers.
fn merges(row: &Row, facts: &Facts) -> Option<String> {
    // The output may take more bytes than the inputs, because its blocks and filters may be less full.
    const MOST: f64 = 1.25;
    let number = |metric| row.get(metric).number();
    let (read, written) = (number(&c::COMPACTION_BYTES_READ)?, number(&c::COMPACTION_BYTES_WRITTEN)?);
    let most = MOST * facts.beside_entries();
    (facts.keeps_bytes && written > most * read).then(|| {
        format!(
            "compaction_bytes_written {written} exceeds {most:.2} × compaction_bytes_read {read}, although \
             compactions add no entries"
        )
    })
}

/// Rule: all live data is in SSTables or in memtables, so these have a minimum size.
fn space_amp(row: &Row, facts: &Facts) -> Option<String> {
    let number = |metric| row.get(metric).number();
    let (live, tables) = (number(&c::LIVE_BYTES)?, number(&c::TABLE_BYTES)?);
    let stored = tables + number(&c::MEMTABLE_BYTES).unwrap_or(0.0);
    let least = live * facts.value_share? * facts.least_kept;
    (stored < least * (1.0 - SLACK)).then(|| {
        format!(
            "space_amp {:.3}: SSTables and memtables have {stored} bytes, but {live} live bytes need at \
             least {least:.0}",
            tables / live
        )
    })
}

/// Returns the value of a metric as the row contains it. Returns `None` if the row has no value.
fn shown(row: &Row, metric: &Metric) -> Option<String> {
    let value = row.get(metric);
    (!value.is_empty()).then(|| value.to_string())
}

/// Returns the name and the value of a metric, such as `p50_ns 300`, for a message.
fn stated(row: &Row, metric: &Metric) -> Option<String> {
    Some(format!("{} {}", metric.name, shown(row, metric)?))
}

#[cfg(test)]
mod honest;

#[cfg(test)]
mod tests {
    use results::{Schema, Value};

    use super::*;
    use crate::limits::Derived;

    /// A row that exceeds no bound.
    const POSSIBLE: &str = "loop=closed ops=10000 seconds=0.1 ops_per_second=100000 mean_ns=9000 p50_ns=8000 \
        p90_ns=9000 p99_ns=20000 p999_ns=90000 max_ns=100000 threads=1 user_bytes_written=1000000 wal_bytes=1100000 \
        flush_bytes=900000 compaction_bytes_read=2000000 compaction_bytes_written=1900000 write_amp=2.8 \
        expected_write_amp=2.9 write_amp_residual=-0.03 flushes=9 memtable_bytes=120000 blocks_read=4000 \
        blocks_from_cache=6000 cache_hit_rate=0.6 best_hit_rate=0.7 best_static_hit_rate=0.65 filter_probes=100000 \
        filter_negatives=98000 filter_false_positives=1000 fpr=0.01 expected_fpr=0.009 bits_per_key=10 runs=3 \
        table_bytes=1000000 live_bytes=900000 space_amp=1.11 realised_key_bytes=16 realised_value_bytes=84";

    /// The facts of filters that have the same number of bits for each key.
    const EVEN: FilterFacts =
        FilterFacts { are_even: true, may_have_lower_rate: false, assume_similar_keys: false };

    fn row(numbers: &str) -> Row {
        let mut row = Row::new(&Schema::runs::<&str>(&[]).unwrap());
        for (name, value) in
            format!("{POSSIBLE} {numbers}").split_whitespace().map(|n| n.split_once('=').unwrap())
        {
            let column = c::IDENTITY
                .iter()
                .find(|metric| metric.name == name)
                .or_else(|| results::reference::metric(name));
            row.set(column.unwrap(), Value::infer(value));
        }
        row
    }

    fn facts() -> Facts {
        Facts {
            keeps_bytes: true,
            least_kept: 1.0,
            filters: EVEN,
            value_share: Some(0.84),
            ..Facts::default()
        }
    }

    /// The values of the tree of lsmbench, which follow the design.
    const OWN: StoredValues = StoredValues { follow_design: true, compressible: 0.5 };

    /// Returns the names of the rules that a row with these values violates.
    fn broken(numbers: &str, facts: &Facts) -> Vec<&'static str> {
        let row = row(numbers);
        RULES.iter().filter(|rule| (rule.check)(&row, facts).is_some()).map(|rule| rule.name).collect()
    }

    #[test]
    fn what_is_possible_is_not_marked() {
        assert_eq!(broken("", &facts()), [""; 0]);
        assert_eq!(implausible(&row(""), &facts()), None);
        // Empty cells were not measured, so no rule applies to them.
        assert_eq!(implausible(&Row::new(&Schema::runs::<&str>(&[]).unwrap()), &facts()), None);
    }

    /// Tests that values beyond the limits of any machine are always detected. Values beyond the limits of this
    /// machine must be detected on this machine, and the message must name the limit.
    #[test]
    fn measured_limits_are_tighter_and_named() {
        let derived = Derived { bytes: "this one", cycles: "this one", clock: "this one" };
        let limits = Limits { bytes_per_second: 1e9, cycles_per_second: 1e7, clock_ns: 20.0, derived };
        let measured = Facts { limits, ..facts() };
        for (rule, numbers) in [
            ("clock", "p50_ns=10 p90_ns=9000"),
            ("cycles", "ops_per_second=20000000"),
            ("bandwidth", "wal_bytes=200000000"),
        ] {
            assert_eq!(broken(numbers, &facts()), [""; 0], "{numbers}");
            assert_eq!(broken(numbers, &measured), [rule], "{numbers}");
            let words = implausible(&row(numbers), &measured).unwrap();
            assert!(words.contains("this one"), "{words}");
        }
    }

    #[test]
    fn every_rule_catches_its_canary() {
        let canaries = [
            ("share", "realised_absent=1.2"),
            ("sign", "stall_seconds=-0.1"),
            ("order of percentiles", "p50_ns=9500"),
            ("order of percentiles", "mean_ns=9000 max_ns=8000 p50_ns=1 p90_ns=1 p99_ns=1 p999_ns=1"),
            ("order of percentiles", "loop=open response_p50_ns=700"),
            ("order of percentiles", "response_p9999_ns=300000 response_max_ns=200000"),
            ("order of percentiles", "loop=open response_max_ns=90000"),
            ("clock", "p50_ns=0"),
            ("cycles", "ops_per_second=20000000000"),
            ("bandwidth", "megabytes_per_second=2000000"),
            ("bandwidth", "wal_bytes=200000000000"),
            ("time of threads", "seconds=0.01"),
            ("target rate", "target_ops_per_second=50000"),
            ("best possible hit rate", "cache_hit_rate=0.71 best_static_hit_rate=0.9"),
            ("best static set", "cache_hit_rate=0.71 best_hit_rate=0.9"),
            ("expected false positives", "fpr=0.04"),
            ("expected false positives", "fpr=0.02 expected_fpr=0.5"),
            ("bits of a filter", "fpr=0.0005 expected_fpr=0.0004 bits_per_key=8"),
            ("filter counters", "filter_probes=98500"),
            ("bytes of flushes", "write_amp=0.6"),
            ("bytes of compactions", "compaction_bytes_written=3000000"),
            ("bytes of tables", "table_bytes=500000"),
        ];
        for (rule, numbers) in canaries {
            assert_eq!(broken(numbers, &facts()), [rule], "{numbers}");
            let words = implausible(&row(numbers), &facts()).unwrap();
            assert!(words.starts_with(rule) && words.chars().any(|c| c.is_ascii_digit()), "{words}");
        }
        let caught: Vec<&str> = canaries.iter().map(|(rule, _)| *rule).collect();
        assert!(RULES.iter().all(|rule| caught.contains(&rule.name)), "a rule without a canary");
    }

    /// Tests rows to which a rule does not apply, because a condition of the rule is false.
    #[test]
    fn rules_know_what_they_do_not_bind() {
        let free = [
            ("write_amp=0.6", Facts { least_kept: 0.5, ..facts() }),
            ("write_amp=0.6 flushes=0", facts()),
            ("write_amp=0.4 memtable_bytes=700000", facts()),
            ("table_bytes=500000", Facts { value_share: None, ..facts() }),
            ("table_bytes=500000", Facts { least_kept: 0.25, ..facts() }),
            ("compaction_bytes_written=3000000", Facts { keeps_bytes: false, ..facts() }),
            // SSTables of two blocks each, such as those of 8 KiB. Flushes wrote as many bytes of other parts as of
            // entries.
            ("compaction_bytes_written=3000000", Facts { entered: 1e6, flushed: 1.4e6, ..facts() }),
            ("fpr=0.0005 expected_fpr=0.0004 bits_per_key=0", Facts { is_oracle: true, ..facts() }),
            ("fpr=0.0005 expected_fpr=0.02", Facts { filters: FilterFacts::default(), ..facts() }),
            (
                "fpr=0 expected_fpr=0.0327 bits_per_key=6",
                Facts { filters: FilterFacts { may_have_lower_rate: true, ..EVEN }, ..facts() },
            ),
            // Half of the probes are for one key, for which a filter is always right or always wrong.
            ("fpr=0.15", Facts { hottest: Some(0.5), ..facts() }),
            ("loop=open seconds=0.01", facts()),
            ("response_p50_ns=700 response_max_ns=90000", facts()),
            ("cache_hit_rate=0.71 best_hit_rate=0.705 best_static_hit_rate=0.9 threads=4", facts()),
            // Chance: 100 requests cannot separate 0.65 from 0.8.
            ("cache_hit_rate=0.8 best_hit_rate=0.9 blocks_read=20 blocks_from_cache=80", facts()),
        ];
        for (numbers, facts) in free {
            assert_eq!(broken(numbers, &facts), [""; 0], "{numbers}");
        }
    }

    /// Tests a call that makes a memtable of a million entries immutable. The time per entry is nearly 0, and the
    /// rules must accept this time.
    #[test]
    fn many_entries_of_one_call_are_no_operations() {
        let mut row = Row::new(&Schema::runs::<&str>(&[]).unwrap());
        row.set(&c::OPS_PER_SECOND, 2e11).set(&c::THREADS, 1_u64);
        assert_eq!(implausible(&row, &facts()), None);
        row.set(&c::LOOP_NS, 0.4);
        assert!(implausible(&row, &facts()).unwrap().starts_with("cycles: "));
    }

    #[test]
    fn a_trial_s_rows_are_marked_by_phase_and_earlier_writes_count() {
        let mut rows = [row("phase=load"), row("phase=look realised_value_bytes=1000 table_bytes=300000")];
        let marked = mark(&Design::default(), OWN, &mut rows, &[], Limits::OF_ANY);
        assert_eq!(marked.len(), 1, "{marked:?}");
        assert!(
            marked[0].0 == "look" && marked[0].1.starts_with("bytes of tables: space_amp "),
            "{marked:?}"
        );
        assert!(rows[0].get(&c::IMPLAUSIBLE).is_empty());
        assert_eq!(rows[1].get(&c::IMPLAUSIBLE).to_string(), marked[0].1);
        // The ratio of flushes in earlier phases counts as well, because this phase only compacts.
        let merged = "compaction_bytes_written=3100000 user_bytes_written=0 flush_bytes=0 flushes=0";
        let mut rows =
            [row("phase=load flush_bytes=1400000 write_amp=3.3"), row(&format!("phase=wait {merged}"))];
        assert_eq!(mark(&Design::default(), OWN, &mut rows, &[], Limits::OF_ANY), []);
        // The design names an ideal bound.
        let oracle = Design::default().with(&"bloom = \"perfect\"".parse().unwrap()).unwrap();
        assert!(
            Facts::of(&oracle, OWN, Limits::OF_ANY).is_oracle
                && !Facts::of(&Design::default(), OWN, Limits::OF_ANY).is_oracle
        );
        assert!(Facts::of(&Design::default(), OWN, Limits::OF_ANY).keeps_bytes);
    }

    /// Tests the bound on the bytes of files if an engine or a column family may compress the values.
    #[test]
    fn values_that_may_be_compressed_bind_by_what_does_not_compress() {
        let design = |text: &str| Design::default().with(&text.parse().unwrap()).unwrap();
        let other = StoredValues { follow_design: false, ..OWN };
        for (text, values, kept, keeps_bytes) in [
            ("", OWN, 1.0, true),
            ("", other, 0.25, false),
            ("", StoredValues { compressible: 1.0, ..other }, 0.0, false),
            ("compression = \"lz4\"", OWN, 0.25, false),
            ("families = { a = {}, b = { compression = \"zstd\" } }", OWN, 0.25, false),
            ("families = { a = {}, b = {} }", OWN, 1.0, true),
            ("families = { layout = \"prefixed\", a = {}, b = { compression = \"zstd\" } }", OWN, 1.0, true),
            ("families = { a = { compaction = \"fifo\" } }", OWN, 0.0, false),
        ] {
            let facts = Facts::of(&design(text), values, Limits::OF_ANY);
            assert_eq!(facts.keeps_bytes, keeps_bytes, "{text}");
            assert!((facts.least_kept - kept).abs() < 1e-12, "{text}: {}", facts.least_kept);
        }
    }
}
