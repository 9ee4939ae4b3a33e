//! Checks policies with small parameters against the invariants of the axis and against published bounds of each
//! policy. Also checks that each invariant detects a policy that breaks it.

mod canary;
mod promise;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicU64;

use canary::{Canary, Fault, PROMISE};
use catalog::laws::{check_all, ensure};
use promise::Promise;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert_eq, proptest};
use proptest::test_runner::RngSeed;
use toml::Value;
use types::SplitMix64;

use super::invariants::{History, INVARIANTS, Subject};
use super::store::KEYS;
use crate::{CATALOG, CompactionPolicy, SimulatedLoad, simulate};

/// A policy under test, and its published bounds for a tree without due compactions.
struct Case {
    subject: Subject,
    promise: Promise,
}

impl Case {
    /// Returns all violations in a history, each with the name of its invariant.
    fn broken(&self, history: &History) -> Vec<(&'static str, String)> {
        let promise = self.promise.check(&self.subject, history).err().map(|broken| (PROMISE, broken));
        let checks =
            INVARIANTS.iter().filter_map(|(name, check)| Some((*name, check(&self.subject, history).err()?)));
        checks.chain(promise).collect()
    }
}

/// Policies with small parameters, so that small trees have several levels.
const FORMS: [&str; 50] = [
    "leveled(size_ratio=2)",
    "leveled(size_ratio=1.5, level0_runs=3)",
    "leveled-partial(size_ratio=2, level0_runs=1, picker=round-robin)",
    "leveled-partial(size_ratio=2, level0_runs=2, picker=least-overlap)",
    "leveled-partial(size_ratio=2, level0_runs=1, picker=least-overlap-grandparent)",
    "leveled-partial(size_ratio=1.5, level0_runs=2, picker=oldest)",
    "leveled-partial(size_ratio=2, level0_runs=1, picker=coldest)",
    "leveled-partial(size_ratio=2, level0_runs=2, picker=largest)",
    "leveled-partial(size_ratio=2, level0_runs=3, picker=most-tombstones, tombstone_share=0.3)",
    "leveled-partial(size_ratio=3, level0_runs=4, picker=tombstone-ttl, tombstone_ttl=0)",
    "leveled-partial(size_ratio=2, level0_runs=2, picker=tombstone-ttl, tombstone_ttl=20)",
    "spooky(size_ratio=2)",
    "spooky(size_ratio=1.5, level0_runs=3)",
    "multi-level(size_ratio=2)",
    "multi-level(size_ratio=1.5, level0_runs=3)",
    "tiered(size_ratio=2)",
    "guards(size_ratio=2)",
    "guards(size_ratio=3)",
    "partitioned(partition_runs=2, level0_runs=1)",
    "partitioned(partition_runs=3, level0_runs=2)",
    "partitioned(partition_runs=4, level0_runs=3)",
    "lazy-leveled(size_ratio=2)",
    "fluid(size_ratio=2, upper_runs=3, largest_runs=1)",
    "fluid(size_ratio=4, upper_runs=2, largest_runs=3)",
    "moose(flushes=36, last_ratio=6)",
    "unified(scaling_parameters=\"L3\")",
    "unified(scaling_parameters=\"T3, N\")",
    "adaptive(largest_ratio=2)",
    "adaptive(largest_ratio=4, window=1)",
    "l0-tiered(size_ratio=2, level0_runs=2)",
    "l0-tiered(size_ratio=2, level0_runs=2, level1_memtables=5)",
    "l0-tiered(trivial_moves=true)",
    "l0-tiered(size_ratio=2, level0_runs=2, trivial_moves=true)",
    "l0-tiered(size_ratio=1.5, level0_runs=3, level1_memtables=2, trivial_moves=true)",
    "l0-tiered(size_ratio=2, level0_runs=2, max_compaction=1B)",
    "l0-tiered(size_ratio=2, level0_runs=1, trivial_moves=true, max_compaction=150B)",
    "l0-tiered(size_ratio=1.5, level0_runs=3, trivial_moves=true, max_compaction=500B)",
    "one-leveling(size_ratio=2)",
    "universal(num_runs=2, size_ratio_percent=50, max_size_amplification_percent=50)",
    "horizontal(runs=1)",
    "horizontal(runs=3, flushes=20)",
    "horizontal(runs=2, flushes=40)",
    "partial(run_threshold=3, max_runs=2, selection=smallest)",
    "partial(run_threshold=2, max_runs=3)",
    "partial(run_threshold=4, max_runs=2, selection=most-overlap)",
    "time-window(window=5, min_runs=2)",
    "fifo(capacity=400B)",
    "fifo(capacity=1B)",
    "external(identity=\"tiered(size_ratio=2)\")",
    "external(identity=\"leveled-partial(size_ratio=2, level0_runs=2, picker=least-overlap)\")",
];

/// Returns the labels of all policies under test: every policy of the catalog with its default parameters, and then
/// [`FORMS`].
fn labels() -> impl Iterator<Item = &'static str> {
    CATALOG.kinds().chain(FORMS)
}

#[test]
fn impossible_parameters_are_refused_with_a_sentence() {
    let labels = [
        "leveled(size_ratio=1)",
        "leveled(size_ratio=-2)",
        "leveled(size_ratio=nan)",
        "leveled(level0_runs=0)",
        "spooky(size_ratio=1)",
        "spooky(level0_runs=0)",
        "multi-level(size_ratio=1)",
        "multi-level(level0_runs=0)",
        "tiered(size_ratio=1)",
        "tiered(size_ratio=0)",
        "guards(size_ratio=1)",
        "partitioned(partition_runs=1)",
        "partitioned(level0_runs=0)",
        "lazy-leveled(size_ratio=1)",
        "l0-tiered(size_ratio=1.0)",
        "l0-tiered(level0_runs=0)",
        "leveled-partial(size_ratio=1)",
        "leveled-partial(level0_runs=0)",
        "leveled-partial(tombstone_share=0)",
        "leveled-partial(tombstone_share=1.5)",
        "leveled-partial(tombstone_share=nan)",
        "one-leveling(size_ratio=1)",
        "golden(growth=1.0)",
        "golden(tables_per_job=0)",
        "adaptive(window=0)",
        "adaptive(window=1001)",
        "adaptive(horizon=0)",
        "adaptive(largest_ratio=1)",
        "adaptive(fpr=1.5)",
        "external(observed_flushes=1001)",
        "fluid(size_ratio=1)",
        "fluid(upper_runs=0)",
        "fluid(largest_runs=0)",
        "horizontal(runs=0)",
        "horizontal(runs=65)",
        "horizontal(flushes=1000001)",
        "universal(num_runs=1)",
        "universal(min_merge_width=1)",
        "universal(max_size_amplification_percent=0)",
        "merge-all(runs=1)",
        "partial(run_threshold=1)",
        "partial(max_runs=1)",
        "time-window(window=0)",
        "time-window(min_runs=1)",
        "fifo(capacity=0)",
    ];
    for label in labels {
        let error = CATALOG.choose(&Value::String(label.to_owned())).unwrap_err().to_string();
        assert!(error.contains("must be "), "{label}: {error}");
    }
}

#[test]
fn every_canary_is_caught_by_its_invariant() {
    let mut random = SplitMix64::new(1);
    let histories: Vec<History> = (0..50).map(|_| History::random(&mut random)).collect();
    for (fault, name) in Fault::ALL {
        let policy = Box::new(Canary { fault, sound: policy(fault.host()), calls: AtomicU64::new(0) });
        let host = case(fault.host());
        let canary = Case { subject: Subject { policy, ..host.subject }, ..host };
        let sees = |history| canary.broken(history).iter().any(|(broken, _)| *broken == name);
        assert!(histories.iter().any(sees), "{fault:?}: \"{name}\" did not see it");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        rng_seed: RngSeed::Fixed(42),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_policy_keeps_every_invariant(history in histories()) {
        let check = |label: &&str| {
            let broken = case(label).broken(&history);
            ensure(broken.is_empty(), || format!("{label}: {broken:?}"))
        };
        prop_assert_eq!(check_all(&labels().collect::<Vec<_>>(), check), Ok(()));
    }
}

/// Returns the label of the policy of `examples/policy-python`, which merges three runs. Returns `None` if Python is
/// not installed.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn policy_in_python() -> Option<String> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: python3 is not installed, so the policy in Python was not tested");
        return None;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policy-python/policy.py");
    Some(format!("external(command=[\"python3\", {:?}, \"3\"])", path.to_str()?))
}

#[test]
fn the_policy_in_python_keeps_every_invariant() {
    let Some(label) = policy_in_python() else { return };
    let subject = Subject { policy: policy(&label), ..case("external").subject };
    let case = Case { subject, promise: Promise::Tiered { size_ratio: 3 } };
    let mut random = SplitMix64::new(7);
    for _ in 0..10 {
        assert_eq!(case.broken(&History::random(&mut random)), [], "{label}");
    }
    assert_eq!(case.subject.policy.failure(), None);
}

/// Tests that the simulator reports equal numbers for the Python policy and for the equivalent built-in policy.
#[test]
fn the_policy_in_python_is_tiered_to_the_simulator() {
    let Some(label) = policy_in_python() else { return };
    let load = SimulatedLoad {
        writes_per_flush: 1000,
        entry_bytes: 100,
        entries_per_table: 700,
        distinct_keys: Some(5000),
    };
    let simulated = |label: &str| simulate(&*policy(label), load, 150).unwrap();
    assert_eq!(simulated(&label), simulated("tiered(size_ratio=3)"));
}

#[test]
fn the_simulator_stops_with_the_failure_of_a_policy() {
    let ends = r#"external(command=["sh", "-c", "exit 7"])"#;
    let load = SimulatedLoad {
        writes_per_flush: 1000,
        entry_bytes: 100,
        entries_per_table: u64::MAX,
        distinct_keys: None,
    };
    let error = simulate(&*policy(ends), load, 1).unwrap_err().to_string();
    assert!(
        error.starts_with("the compaction policy failed: the policy process [\"sh\", \"-c\", \"exit 7\"]"),
        "{error}"
    );
}

/// Generates random histories: stores of up to three levels with up to eleven runs each, and up to 39 flushes.
fn histories() -> impl Strategy<Value = History> {
    let run = || proptest::collection::btree_map(0..KEYS, any::<bool>(), 1..14);
    let level = proptest::collection::vec(run(), 0..12);
    let levels = proptest::collection::vec(level, 0..4);
    (levels, proptest::collection::vec(run(), 0..40))
        .prop_map(|(levels, flushes)| History { levels, flushes })
}

fn chosen(label: &str) -> catalog::Choice {
    CATALOG.choose(&Value::String(label.to_owned())).unwrap()
}

fn policy(label: &str) -> Box<dyn CompactionPolicy> {
    CATALOG.build(&chosen(label)).unwrap()
}

fn case(label: &str) -> Case {
    let limits = CATALOG.variant(chosen(label).kind()).unwrap().limits;
    Case { subject: Subject { policy: policy(label), limits }, promise: promise(label) }
}

/// Returns the published bounds of a policy for a tree without due compactions. The bounds depend on the parameters
/// of the policy.
fn promise(label: &str) -> Promise {
    let choice = chosen(label);
    if choice.kind() == "external" {
        return promise(choice.params()["identity"].as_str().unwrap());
    }
    let whole = |name: &str| choice.params()[name].as_integer().unwrap() as usize;
    let factor = |name: &str| choice.params()[name].as_float().unwrap();
    match choice.kind() {
        "leveled" | "leveled-partial" | "spooky" | "multi-level" => {
            Promise::leveled(factor("size_ratio"), whole("level0_runs"), factor("size_ratio"))
        }
        "l0-tiered" => {
            let level1 = Some(whole("level1_memtables") as f64).filter(|memtables| *memtables > 0.0);
            let ratio = factor("size_ratio");
            Promise::leveled(ratio, whole("level0_runs"), level1.unwrap_or(ratio))
        }
        "golden" => Promise::leveled(factor("growth"), 2, factor("growth")),
        "one-leveling" => {
            let ratio = whole("size_ratio");
            Promise::leveled(ratio as f64, ratio, (ratio * ratio) as f64)
        }
        "tiered" => Promise::Tiered { size_ratio: whole("size_ratio") },
        "guards" => Promise::Fragments { size_ratio: whole("size_ratio") },
        "partitioned" => {
            Promise::Partitions { partition_runs: whole("partition_runs"), level0_runs: whole("level0_runs") }
        }
        "binary-counter" => Promise::Tiered { size_ratio: 2 },
        "partial" => Promise::Tiered { size_ratio: whole("run_threshold") },
        "lazy-leveled" => Promise::LazyLeveled { size_ratio: whole("size_ratio") },
        "fluid" => Promise::Fluid {
            size_ratio: whole("size_ratio"),
            upper_runs: whole("upper_runs"),
            largest_runs: whole("largest_runs"),
        },
        // The policy observes no operations in these histories.
        "adaptive" => {
            let (size_ratio, runs) = (whole("largest_ratio"), whole("largest_ratio") - 1);
            Promise::Fluid { size_ratio, upper_runs: runs, largest_runs: runs }
        }
        // This structure has two levels with a ratio of 6 and two runs each. In other structures, the ratios differ
        // by level.
        "moose" if whole("flushes") == 36 => Promise::Fluid { size_ratio: 6, upper_runs: 2, largest_runs: 2 },
        "unified" => match choice.params()["scaling_parameters"].as_str().unwrap() {
            "T4" => Promise::Tiered { size_ratio: 4 },
            "L3" => Promise::Tiered { size_ratio: 2 },
            "T3, N" => Promise::Tiered { size_ratio: 3 },
            scaling => panic!("say what {scaling} promises of a tree at rest"),
        },
        "horizontal" => Promise::Runs { most: whole("runs") },
        "universal" => Promise::Runs { most: whole("num_runs") },
        "merge-all" => Promise::Runs { most: whole("runs") - 1 },
        "time-window" => Promise::Window { buffers: whole("window") },
        "fifo" => {
            let capacity: catalog::ByteSize = choice.params()["capacity"].clone().try_into().unwrap();
            Promise::Capacity { bytes: capacity.0 }
        }
        "none" | "moose" => Promise::Nothing,
        kind => panic!("say what {kind} promises of a tree at rest"),
    }
}
