//! Synthetic results, computed from formulas and a seed, in the format of a run. Each chart of the gallery has one
//! folder, with ordinary or hostile values.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use lsmbench_plot::{
    ChartSpec, Context, FigureStyle, Form, LabelOrder, Scalar, SelectedValues, SweptTexts, Width,
};
use results::columns::{
    BLOCKS_PER_GET, CACHE_HIT_RATE, CELL, EXPECTED_FPR, EXPERIMENT, FILTER_BYTES, FPR, LABEL, LOOP, MODE,
    OPERATION, OPS, OPS_PER_SECOND, P99_NS, PHASE, SECOND, SECONDS, SEED, STALL_SECONDS, TRIAL, WRITE_AMP,
};
use results::{Folder, Group, LatencyLog, Metric, Row, RowWriter, Schema, verdicts as v};

/// One chart of the gallery: its results, its description and its context.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) folder: Folder,
    pub(crate) spec: ChartSpec,
    pub(crate) context: Context,
}

/// A pseudo-random generator that returns the same numbers on all machines.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a random factor between 1 - `share` and 1 + `share`.
    fn around(&mut self, share: f64) -> f64 {
        1.0 + (self.next() * 2.0 - 1.0) * share
    }
}

/// The results of an experiment that sweeps the paths `swept`, in their own folder.
struct Results {
    folder: Folder,
    swept: Vec<&'static str>,
    rows: Vec<Row>,
    seconds: Vec<Row>,
}

impl Results {
    fn new(root: &Path, name: &str, swept: &[&'static str]) -> Self {
        let folder = Folder::new(root.join(name));
        std::fs::create_dir_all(folder.root()).unwrap();
        Self { folder, swept: swept.to_vec(), rows: Vec::new(), seconds: Vec::new() }
    }

    fn identity(&self, row: &mut Row, cell: usize, trial: usize, values: &[&str], phase: &str) {
        row.set(&EXPERIMENT, "synthetic").set(&CELL, cell).set(&LABEL, values.join(", ")).set(&TRIAL, trial);
        row.set(&PHASE, phase)
            .set(&OPERATION, "all")
            .set(&MODE, "timed")
            .set(&SEED, 42_u64)
            .set(&LOOP, "closed");
        for (path, value) in self.swept.iter().zip(values) {
            row.set_swept(path, value).unwrap();
        }
    }

    /// Adds the row of a configuration in a trial. Also adds a row of the phase `load`, which no chart should show.
    fn row(&mut self, cell: usize, trial: usize, values: &[&str], numbers: &[(&Metric, f64)]) {
        let schema = Schema::runs(&self.swept).unwrap();
        for phase in ["load", "lookup"] {
            let mut row = Row::new(&schema);
            self.identity(&mut row, cell, trial, values, phase);
            for (metric, number) in numbers {
                let number = if phase == "load" { 7.0 } else { *number };
                match metric.kind {
                    results::ValueType::Integer => row.set(metric, number as u64),
                    _ => row.set(metric, number),
                };
            }
            self.rows.push(row);
        }
    }

    fn second(&mut self, cell: usize, trial: usize, values: &[&str], second: f64, rate: f64, stall: f64) {
        let mut row = Row::new(&Schema::timeline(&self.swept).unwrap());
        self.identity(&mut row, cell, trial, values, "mixed");
        row.set(&SECOND, second).set(&SECONDS, 1.0).set(&OPS, rate as u64);
        row.set(&OPS_PER_SECOND, rate).set(&STALL_SECONDS, stall);
        self.seconds.push(row);
    }

    fn latencies(&self, cell: usize, trial: usize, latencies: impl Iterator<Item = u64>) {
        let mut histogram = hdrhistogram::Histogram::new_with_bounds(1, 1_000_000_000_000, 3).unwrap();
        latencies.for_each(|ns| histogram.record(ns).unwrap());
        let mut log = LatencyLog::default();
        log.push("all", histogram);
        let group = Group { cell: cell as u64, trial: trial as u64 };
        log.write(&self.folder.histogram(group, "lookup"), Duration::from_secs(1)).unwrap();
    }

    /// Writes verdicts on a metric. Each candidate has a verdict, a ratio to the baseline, and the interval of the
    /// ratio.
    fn verdicts(&self, metric: &str, baseline: &str, candidates: &[(&str, &str, [f64; 3])]) {
        let row = |(name, verdict, [low, ratio, high]): &(&str, &str, [f64; 3])| {
            let mut row = v::row();
            row.set(&v::EXPERIMENT, "synthetic").set(&v::PHASE, "lookup").set(&v::OPERATION, "all");
            row.set(&v::METRIC, metric).set(&v::BASELINE, baseline).set(&v::CANDIDATE, *name);
            row.set(&v::VERDICT, *verdict).set(&v::RATIO, *ratio).set(&v::FACTORS, 1_u64);
            row.set(&v::RATIO_LOW, *low).set(&v::RATIO_HIGH, *high).set(&v::NOISE_FLOOR, 0.031);
            row.set(&v::DIFFERS_IN, "bloom");
            row
        };
        let rows: Vec<Row> = candidates.iter().map(row).collect();
        v::write(&self.folder.verdicts(), &rows).unwrap();
    }

    fn write(self) -> Folder {
        let write = |path: &Path, schema: Schema, rows: &[Row]| {
            let _ = std::fs::remove_file(path);
            RowWriter::create(path, &schema).unwrap().append(rows).unwrap();
        };
        write(&self.folder.runs(), Schema::runs(&self.swept).unwrap(), &self.rows);
        write(&self.folder.timeline(), Schema::timeline(&self.swept).unwrap(), &self.seconds);
        self.folder
    }
}

fn context(question: &str) -> Context {
    let bloom = [
        ("none", false),
        ("standard", false),
        ("blocked", false),
        ("fastbloom", false),
        ("ribbon", false),
        ("perfect", true),
    ];
    let compaction = [
        ("none", false),
        ("leveled", false),
        ("tiered", false),
        ("lazy-leveled", false),
        ("l0-tiered", false),
    ];
    let cache = [("none", false), ("lru", false), ("quick", false), ("unbounded", true)];
    let order = LabelOrder::default()
        .with("design.bloom", bloom)
        .with("design.compaction", compaction)
        .with("design.cache", cache);
    Context {
        experiment: "synthetic".to_owned(),
        question: question.to_owned(),
        run_id: "5f1c0a9be27d4433".to_owned(),
        is_quick: false,
        order,
        width: Width::Full,
        points: None,
        brings: Vec::new(),
        swept: SweptTexts::default(),
        style: FigureStyle::default(),
    }
}

fn spec(kind: Form, x: &str, y: &str, series: &str) -> ChartSpec {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ChartSpec { x: some(x), y: some(y), series: some(series), ..ChartSpec::new(kind) }
}

/// Returns all charts of the gallery. Their results are in folders below `root`.
pub(crate) fn gallery(root: &Path) -> Vec<Sample> {
    let mut samples = plain(root);
    samples.extend(hostile(root));
    samples
}

fn plain(root: &Path) -> Vec<Sample> {
    vec![
        fpr(root),
        fpr_bars(root),
        throughput(root),
        ratios(root),
        log_bars(root),
        write_amplification(root),
        trade_off(root),
        cache_sizes(root),
        latencies(root, "cdf", false),
        latencies(root, "cdf-tail", true),
        timeline(root),
        heatmap(root),
        memory(root),
        designs(root),
        series(root, "line-4-series", 4),
        series(root, "line-8-series", 8),
    ]
}

fn fpr(root: &Path) -> Sample {
    let mut results = Results::new(root, "fpr", &["design.bloom", "design.bloom.bits_per_key"]);
    let mut noise = Noise(1);
    for (f, (filter, worse)) in [("blocked", 1.35), ("standard", 1.0), ("ribbon", 0.7)].iter().enumerate() {
        for (b, bits) in ["4", "6", "8", "10", "12", "16"].iter().enumerate() {
            let theory = 0.6185_f64.powf(bits.parse::<f64>().unwrap()) * worse;
            for trial in 0..5 {
                let measured = theory * noise.around(0.03 + 0.03 * b as f64);
                let numbers = [(&FPR, measured), (&EXPECTED_FPR, theory)];
                results.row(f * 6 + b, trial, &[filter, bits], &numbers);
            }
        }
    }
    let mut spec = spec(Form::Line, "design.bloom.bits_per_key", "fpr", "design.bloom");
    (spec.log_y, spec.theory) = (Some(true), true);
    let context = context("Which filter lets the fewest absent keys through at equal memory?");
    Sample { name: "fpr", folder: results.write(), spec, context }
}

/// Returns a bar chart with one series, in which each filter has its own color, and with predictions of theory.
fn fpr_bars(root: &Path) -> Sample {
    let mut results = Results::new(root, "fpr-bars", &["design.bloom"]);
    let mut noise = Noise(13);
    for (cell, (filter, theory)) in
        [("standard", 0.0082), ("blocked", 0.0094), ("ribbon", 0.0078)].iter().enumerate()
    {
        for trial in 0..6 {
            let numbers = [(&FPR, theory * noise.around(0.05)), (&EXPECTED_FPR, *theory)];
            results.row(cell, trial, &[filter], &numbers);
        }
    }
    let mut spec = spec(Form::Bar, "design.bloom", "fpr", "");
    spec.theory = true;
    let context = context("Which filter lets the fewest absent keys through?");
    Sample { name: "fpr-bars", folder: results.write(), spec, context }
}

fn throughput(root: &Path) -> Sample {
    let mut results = Results::new(root, "throughput", &["design.bloom"]);
    let mut noise = Noise(2);
    let filters = [
        ("perfect", 1_420_000.0),
        ("blocked", 1_310_000.0),
        ("standard", 1_120_000.0),
        ("fastbloom", 1_290_000.0),
        ("ribbon", 870_000.0),
        ("none", 212_000.0),
    ];
    for (cell, (filter, rate)) in filters.iter().enumerate() {
        for trial in 0..5 {
            results.row(cell, trial, &[filter], &[(&OPS_PER_SECOND, rate * noise.around(0.05))]);
        }
    }
    results.verdicts(
        "ops_per_second",
        "none",
        &[
            ("perfect", "improved", [6.5, 6.7, 6.9]),
            ("blocked", "improved", [6.0, 6.2, 6.3]),
            ("standard", "equivalent", [0.99, 1.0, 1.01]),
            ("fastbloom", "inconclusive", [0.5, 1.1, 2.0]),
            ("ribbon", "regressed", [0.8, 0.85, 0.9]),
        ],
    );
    let spec = spec(Form::Bar, "design.bloom", "ops_per_second", "");
    let context =
        context("How many lookups per second does each filter allow when half the keys are absent?");
    Sample { name: "throughput", folder: results.write(), spec, context }
}

/// Returns a ratio chart of six policies in eight rounds. All trials of one round share the same noise.
fn ratios(root: &Path) -> Sample {
    let mut results = Results::new(root, "ratios", &["design.compaction"]);
    let mut noise = Noise(11);
    let policies = [("leveled", 1.0), ("tiered", 2.3), ("lazy-leveled", 1.5), ("l0-tiered", 0.96)];
    for trial in 0..8 {
        let round = noise.around(0.3);
        for (cell, (policy, factor)) in policies.iter().enumerate() {
            let rate = 300_000.0 * factor * round * noise.around(0.08);
            results.row(cell, trial, &[policy], &[(&OPS_PER_SECOND, rate)]);
        }
    }
    results.verdicts(
        "ops_per_second",
        "leveled",
        &[
            ("tiered", "improved", [2.21, 2.3, 2.42]),
            ("lazy-leveled", "improved", [1.44, 1.5, 1.55]),
            ("l0-tiered", "inconclusive", [0.92, 0.97, 1.01]),
        ],
    );
    let spec = ChartSpec { y: Some("ops_per_second".to_owned()), ..ChartSpec::new(Form::Ratio) };
    let context = context("Which compaction policy is fastest, and by how much?");
    Sample { name: "ratios", folder: results.write(), spec, context }
}

/// Returns a bar chart with a logarithmic axis, which draws points instead of bars.
fn log_bars(root: &Path) -> Sample {
    let mut results = Results::new(root, "log-bars", &["design.bloom", "design.bloom.bits_per_key"]);
    let mut noise = Noise(12);
    for (f, filter) in ["standard", "blocked", "ribbon"].iter().enumerate() {
        for (b, bits) in ["4", "8", "12"].iter().enumerate() {
            for trial in 0..8 {
                let rate = 0.6185_f64.powf(4.0 * (b as f64 + 1.0)) * [1.0, 1.4, 0.7][f];
                results.row(f * 3 + b, trial, &[filter, bits], &[(&FPR, rate * noise.around(0.1))]);
            }
        }
    }
    let mut spec = spec(Form::GroupedBar, "design.bloom.bits_per_key", "fpr", "design.bloom");
    spec.log_y = Some(true);
    let context = context("How many absent keys does each filter let through?");
    Sample { name: "log-bars", folder: results.write(), spec, context }
}

fn write_amplification(root: &Path) -> Sample {
    let swept = ["design.compaction", "design.compaction.size_ratio"];
    let mut results = Results::new(root, "write-amplification", &swept);
    let mut noise = Noise(3);
    for (c, (policy, per_level)) in
        [("leveled", 0.5), ("tiered", 0.0), ("lazy-leveled", 0.12), ("l0-tiered", 0.4)].iter().enumerate()
    {
        for (r, ratio) in ["2", "4", "6", "10"].iter().enumerate() {
            let t: f64 = ratio.parse().unwrap();
            let amp = (1.0 + t * per_level) * (64.0_f64.ln() / t.ln()).ceil();
            for trial in 0..3 {
                results.row(c * 4 + r, trial, &[policy, ratio], &[(&WRITE_AMP, amp * noise.around(0.02))]);
            }
        }
    }
    // Fourteen candidates: too many to report one by one.
    let labels: Vec<String> = ["leveled", "tiered", "lazy-leveled", "l0-tiered"]
        .iter()
        .flat_map(|policy| ["2", "4", "6", "10"].map(|ratio| format!("{policy}, {ratio}")))
        .collect();
    let candidates: Vec<_> =
        labels[2..].iter().map(|label| (label.as_str(), "improved", [0.4, 0.5, 0.6])).collect();
    results.verdicts("write_amp", "leveled, 4", &candidates);
    let spec = spec(Form::GroupedBar, "design.compaction.size_ratio", "write_amp", "design.compaction");
    let context = context("What does each compaction policy write for every byte of the user?");
    Sample { name: "write-amplification", folder: results.write(), spec, context }
}

fn trade_off(root: &Path) -> Sample {
    let swept = ["design.compaction", "design.compaction.size_ratio"];
    let mut results = Results::new(root, "trade-off", &swept);
    let mut noise = Noise(4);
    for (c, (policy, per_level, runs)) in
        [("leveled", 0.5, 0.2), ("tiered", 0.0, 1.4), ("lazy-leveled", 0.12, 0.5)].iter().enumerate()
    {
        for (r, ratio) in ["2", "3", "4", "6", "8", "10"].iter().enumerate() {
            let t: f64 = ratio.parse().unwrap();
            let levels = (64.0_f64.ln() / t.ln()).ceil();
            for trial in 0..5 {
                let numbers = [
                    (&WRITE_AMP, (1.0 + t * per_level) * levels * noise.around(0.06)),
                    (&BLOCKS_PER_GET, (1.0 + runs * (t - 1.0) * levels * 0.2) * noise.around(0.06)),
                ];
                results.row(c * 6 + r, trial, &[policy, ratio], &numbers);
            }
        }
    }
    let spec = spec(Form::Scatter, "write_amp", "blocks_per_get", "design.compaction");
    let context = context("What does a read cost for what a write saves?");
    Sample { name: "trade-off", folder: results.write(), spec, context }
}

fn cache_sizes(root: &Path) -> Sample {
    let mut results = Results::new(root, "cache-sizes", &["design.cache", "design.cache.capacity"]);
    let mut noise = Noise(5);
    let sizes = ["1MiB", "2MiB", "4MiB", "8MiB", "16MiB", "32MiB", "64MiB", "128MiB"];
    for (c, (cache, lead)) in [("lru", 0.0), ("quick", 0.07), ("unbounded", 0.5)].iter().enumerate() {
        for (s, size) in sizes.iter().enumerate() {
            let rate: f64 = if *lead > 0.4 { 0.981 } else { 0.12 + 0.108 * s as f64 + lead };
            for trial in 0..5 {
                let numbers = [(&CACHE_HIT_RATE, (rate * noise.around(0.02)).min(0.99))];
                results.row(c * 8 + s, trial, &[cache, size], &numbers);
            }
        }
    }
    let mut spec = spec(Form::Line, "design.cache.capacity", "cache_hit_rate", "design.cache");
    spec.log_x = true;
    let context = context("How much memory does each cache need for the same hit rate?");
    Sample { name: "cache-sizes", folder: results.write(), spec, context }
}

fn latencies(root: &Path, name: &'static str, log_y: bool) -> Sample {
    let mut results = Results::new(root, name, &["design.cache"]);
    let mut noise = Noise(6);
    for (cell, (cache, hit)) in
        [("none", 0.0), ("lru", 0.7), ("quick", 0.8), ("unbounded", 0.98)].iter().enumerate()
    {
        for trial in 0..3 {
            results.row(cell, trial, &[cache], &[(&OPS, 20_000.0)]);
            let one = |_| {
                let base = if noise.next() < *hit { 600.0 } else { 9_000.0 };
                let tail = 1.0 / (1.0 - noise.next()).powf(0.35);
                (base * tail * noise.around(0.3)) as u64
            };
            results.latencies(cell, trial, (0..20_000).map(one));
        }
    }
    let spec = ChartSpec {
        series: Some("design.cache".to_owned()),
        log_y: Some(log_y),
        ..ChartSpec::new(Form::Cdf)
    };
    let context = context("How is the latency of a get distributed under each cache?");
    Sample { name, folder: results.write(), spec, context }
}

fn timeline(root: &Path) -> Sample {
    let mut results = Results::new(root, "timeline", &["design.compaction"]);
    let mut noise = Noise(7);
    for (cell, (policy, rate, stall)) in
        [("leveled", 240_000.0, 17), ("tiered", 420_000.0, 41), ("lazy-leveled", 350_000.0, 29)]
            .iter()
            .enumerate()
    {
        for trial in 0..3 {
            for second in 0..90 {
                let stalls = (second + trial * 2) % stall > stall - 4;
                let rate = if stalls { rate * 0.25 } else { *rate } * noise.around(0.06);
                results.second(cell, trial, &[policy], second as f64, rate, f64::from(u8::from(stalls)));
            }
            // The phase ended right after this second had begun.
            results.second(cell, trial, &[policy], 90.0, 2e7, 0.0);
            results.seconds.last_mut().unwrap().set(&SECONDS, 1e-4);
        }
    }
    let spec = spec(Form::Timeline, "", "ops_per_second", "design.compaction");
    let context = context("How steady is the write rate under each compaction policy?");
    Sample { name: "timeline", folder: results.write(), spec, context }
}

fn heatmap(root: &Path) -> Sample {
    let swept = ["design.memtable.capacity", "design.compaction.size_ratio"];
    let mut results = Results::new(root, "heatmap", &swept);
    let mut noise = Noise(8);
    let sizes = ["1MiB", "4MiB", "16MiB", "64MiB", "256MiB"];
    for (s, size) in sizes.iter().enumerate() {
        for (r, ratio) in ["2", "3", "4", "6", "8", "10", "12", "16"].iter().enumerate() {
            let t: f64 = ratio.parse().unwrap();
            for trial in 0..3 {
                let p99 =
                    400.0 * (6.0 - s as f64).powi(2) * (1.0 + (t - 5.0).abs() * 0.3) * noise.around(0.1);
                if (s, r) != (4, 7) {
                    results.row(s * 8 + r, trial, &[size, ratio], &[(&P99_NS, p99)]);
                }
            }
        }
    }
    let mut spec = spec(Form::Heatmap, "design.compaction.size_ratio", "p99_ns", "design.memtable.capacity");
    spec.log_y = Some(true);
    let context = context("Which buffer and size ratio keep the slowest gets fast?");
    Sample { name: "heatmap", folder: results.write(), spec, context }
}

fn memory(root: &Path) -> Sample {
    let mut results = Results::new(root, "memory", &["design.bloom", "design.bloom.bits_per_key"]);
    for (f, filter) in ["standard", "blocked", "ribbon"].iter().enumerate() {
        for (b, bits) in ["4", "8", "12"].iter().enumerate() {
            let bytes = 10_000_000.0 * bits.parse::<f64>().unwrap() / 8.0 * [1.0, 1.04, 0.81][f];
            for trial in 0..3 {
                results.row(f * 3 + b, trial, &[filter, bits], &[(&FILTER_BYTES, bytes)]);
            }
        }
    }
    // Two swept columns and no series: the filters must not be pooled.
    let spec = spec(Form::Bar, "design.bloom.bits_per_key", "filter_bytes", "");
    let context = context("How much memory does each filter really hold?");
    Sample { name: "memory", folder: results.write(), spec, context }
}

fn designs(root: &Path) -> Sample {
    let mut results = Results::new(root, "designs", &["design.bloom"]);
    let mut noise = Noise(9);
    for bits in 2..14 {
        let label = format!("blocked(bits_per_key={bits}, hash=xxh3-128)");
        for trial in 0..5 {
            let p99 = 30_000.0 / f64::from(bits) * noise.around(0.15);
            results.row(bits as usize - 2, trial, &[&label], &[(&P99_NS, p99)]);
        }
    }
    let spec = spec(Form::Bar, "design.bloom", "p99_ns", "");
    let context = context("Do long names of variants stay readable?");
    Sample { name: "designs", folder: results.write(), spec, context }
}

fn series(root: &Path, name: &'static str, count: usize) -> Sample {
    let mut results = Results::new(root, name, &["design.fence", "phase.threads"]);
    let mut noise = Noise(10);
    for s in 0..count {
        for (t, threads) in ["1", "2", "4", "8", "16"].iter().enumerate() {
            let rate = 90_000.0 * (s + 2) as f64 * (t as f64 + 1.0).powf(0.8);
            for trial in 0..5 {
                let label = format!("variant-{s}");
                let numbers = [(&OPS_PER_SECOND, rate * noise.around(0.04))];
                results.row(s * 5 + t, trial, &[&label, threads], &numbers);
            }
        }
    }
    let mut spec = spec(Form::Line, "phase.threads", "ops_per_second", "design.fence");
    spec.log_x = true;
    let context = context("How does each fence scale with threads?");
    Sample { name, folder: results.write(), spec, context }
}

/// Writes results with one swept value per row and one trial. A field is empty if its value is not finite.
fn simple(root: &Path, name: &'static str, kind: Form, metric: &Metric, rows: &[(&str, f64)]) -> Sample {
    let mut results = Results::new(root, name, &["design.fence"]);
    for (cell, (value, number)) in rows.iter().enumerate() {
        results.row(cell, 0, &[value], &[(metric, *number)]);
    }
    let spec = spec(kind, "design.fence", metric.name, "");
    Sample { name, folder: results.write(), spec, context: context("What if the data are strange?") }
}

fn hostile(root: &Path) -> Vec<Sample> {
    let log = |mut sample: Sample| {
        sample.spec.log_y = Some(true);
        sample
    };
    let names: Vec<String> = (0..40).map(|i| format!("variant-number-{i}")).collect();
    let many: Vec<(&str, f64)> =
        (0..).zip(&names).map(|(i, n)| (n.as_str(), 100.0 + f64::from(i * i))).collect();
    let endless = "a-name-that-goes-on-and-on-without-any-place-to-break-it-because-somebody-thought-that-more-is-better";
    let numbers: Vec<(&str, f64)> =
        [("1", 3e-9), ("2", 1e5), ("3", 2e12), ("4", 0.0), ("5", 7.0)].into_iter().collect();
    let mut titled = simple(root, "long-title", Form::Bar, &WRITE_AMP, &[("a", 1.0), ("b", 2.0)]);
    titled.spec.title =
        Some("What does a question look like that its author could not bring himself to end, ".repeat(5));
    let mut crowded = series(root, "line-12-series", 12);
    crowded.spec.title = Some("Twelve series in one chart".to_owned());
    let mut bars = series(root, "bars-16-series", 16);
    bars.spec = ChartSpec {
        log_x: false,
        ..spec(Form::GroupedBar, "phase.threads", "ops_per_second", "design.fence")
    };
    let two = ["1", "16"].map(|threads| Scalar::Text(threads.to_owned())).to_vec();
    bars.spec.filter = BTreeMap::from([("phase.threads".to_owned(), SelectedValues::Any(two))]);
    vec![
        crowded,
        series(root, "line-16-series", 16),
        bars,
        titled,
        simple(root, "one-row", Form::Line, &WRITE_AMP, &[("10", 7.5)]),
        simple(root, "one-bar", Form::Bar, &OPS_PER_SECOND, &[("binary", 123_456.0)]),
        simple(root, "all-equal", Form::Line, &FPR, &[("1", 0.01), ("2", 0.01), ("3", 0.01)]),
        simple(root, "all-zero", Form::Bar, &STALL_SECONDS, &[("a", 0.0), ("b", 0.0)]),
        log(simple(
            root,
            "zeros-on-log",
            Form::Line,
            &FPR,
            &[("1", 0.01), ("2", 0.0), ("3", 0.0001), ("4", 0.001)],
        )),
        log(simple(root, "zeros-on-log-bars", Form::Bar, &FPR, &[("a", 0.01), ("b", 0.0), ("c", 0.0001)])),
        simple(root, "empty-cells", Form::Bar, &FPR, &[("a", 0.01), ("b", f64::NAN), ("c", 0.02)]),
        simple(root, "forty-bars", Form::Bar, &P99_NS, &many),
        simple(root, "forty-names", Form::Line, &P99_NS, &many),
        simple(root, "long-name", Form::Bar, &P99_NS, &[(endless, 5e5), ("short", 2e5), ("<&\"'>", 3e5)]),
        simple(root, "magnitudes", Form::Line, &WRITE_AMP, &numbers),
        log(simple(root, "magnitudes-log", Form::Line, &WRITE_AMP, &numbers)),
        simple(root, "huge", Form::Bar, &WRITE_AMP, &[("a", 1e300), ("b", f64::MAX)]),
        simple(root, "tiny", Form::Bar, &WRITE_AMP, &[("a", 1e-300), ("b", f64::MIN_POSITIVE)]),
    ]
}
