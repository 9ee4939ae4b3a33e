//! The compaction policy under test. The policy compacts a simulated tree that grows, with the same code as in a real
//! tree. The test counts the written bytes and the sorted runs of the simulated tree. The simulation stores no bytes
//! and measures no time.

use catalog::{Build, ByteSize, Choice, Count, Variant};
use compaction::{CompactionPolicy, SimulatedLoad, Simulator};
use results::{Measurements, Metric, RunMode, columns as c};
use serde::{Deserialize, Serialize};

use crate::bench::{Answers, Bench};
use crate::fault::Fault;
use crate::seam::{Cost, Subject, check_count};

pub(crate) const VARIANT: Variant<dyn Subject> = Variant::new::<Growth>(
    "compaction",
    "repeated flushes into a simulated tree",
    r#"# Number of entries that are written.
entries  = 10_000_000
# Number of entries per flush.
flush    = 10_000
# Size of an entry, which is the sum of its key and value lengths.
entry    = "116B"
# Maximum number of entries per SSTable.
table    = 100_000
# Number of distinct keys, each written equally often. 0 means that no key is written twice.
distinct = 0
"#,
);

/// The largest number of flushes in a trial, because a simulation keeps every SSTable in memory.
const MOST_FLUSHES: u64 = 1 << 20;

struct Growth(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    entries: Count,
    flush: Count,
    entry: ByteSize,
    table: Count,
    distinct: Count,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            entries: Count(10_000_000),
            flush: Count(10_000),
            entry: ByteSize(116),
            table: Count(100_000),
            distinct: Count(0),
        }
    }
}

impl Build<dyn Subject> for Growth {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Subject>, String> {
        check_count("entries", params.entries.0, 1 << 50)?;
        check_count("flush", params.flush.0, params.entries.0)?;
        check_count("entry", params.entry.0, 64 << 20)?;
        check_count("table", params.table.0, u64::MAX)?;
        let flushes = params.entries.0 / params.flush.0;
        if flushes > MOST_FLUSHES {
            return Err(format!(
                "entries: this number needs {flushes} flushes, which exceeds the maximum of {MOST_FLUSHES}; \
                 increase `flush`"
            ));
        }
        Ok(Box::new(Self(params)))
    }
}

impl Subject for Growth {
    fn axis(&self) -> &'static str {
        "compaction"
    }

    fn phases(&self) -> &'static [&'static str] {
        &["grow"]
    }

    fn modes(&self) -> &'static [RunMode] {
        &[RunMode::Counted]
    }

    fn verdict(&self) -> (&'static str, &'static Metric) {
        ("grow", &c::WRITE_AMP)
    }

    fn price(&self) -> &'static Metric {
        &c::RUNS_PER_GET
    }

    fn cost(&self) -> Cost {
        let flushes = self.flushes() as f64;
        Cost { memory_bytes: flushes * 1e4, phase_seconds: vec![flushes * 1e-4], ..Cost::default() }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault> {
        let policy = compaction::CATALOG.build(bench.design.choice("compaction"))?;
        let mut phase = bench.begin("grow");
        self.grow(&*policy, &mut phase.cells, &mut phase.answers)?;
        self.expect(bench.design.choice("compaction"), &mut phase.cells);
        bench.end(phase);
        Ok(())
    }
}

impl Growth {
    fn flushes(&self) -> u64 {
        self.0.entries.0 / self.0.flush.0
    }

    fn load(&self) -> SimulatedLoad {
        SimulatedLoad {
            writes_per_flush: self.0.flush.0,
            entry_bytes: self.0.entry.0,
            entries_per_table: self.0.table.0,
            distinct_keys: (self.0.distinct.0 > 0).then_some(self.0.distinct.0),
        }
    }

    /// Sets the theoretical values of a compaction policy from the formula for its write amplification. Sets nothing if
    /// no formula exists.
    fn expect(&self, policy: &Choice, cells: &mut Measurements) {
        if !theory::has_form(policy, self.load(), self.flushes()) {
            return;
        }
        cells.set_some(&c::EXPECTED_WRITE_AMP, theory::write_amp(policy, self.flushes()));
        if let Some((levels, runs)) = theory::levels_and_runs(policy, self.flushes()) {
            cells.set(&c::EXPECTED_LEVELS, levels).set(&c::EXPECTED_RUNS, runs);
        }
    }

    fn grow(
        &self,
        policy: &dyn CompactionPolicy,
        cells: &mut Measurements,
        answers: &mut Answers,
    ) -> Result<(), Fault> {
        let load = self.load();
        let mut simulator = Simulator::new(policy, load)?;
        let mut runs = 0;
        for _ in 0..self.flushes() {
            simulator.flush()?;
            runs += simulator.shape().levels.runs().count();
        }
        let report = simulator.report();
        cells.set(&c::OPS, self.flushes() * self.0.flush.0).set(&c::FLUSHES, report.flushes);
        cells.set(&c::USER_BYTES_WRITTEN, report.user_bytes_written).set(&c::FLUSH_BYTES, report.flush_bytes);
        cells.set(&c::COMPACTION_BYTES_READ, report.compaction_bytes_read);
        cells.set(&c::COMPACTION_BYTES_WRITTEN, report.compaction_bytes_written);
        cells.set(&c::WRITE_AMP, report.write_amp()).set(&c::COMPACTIONS, report.merges);
        cells.set(&c::RUNS, report.runs() as u64).set(&c::WORST_RUNS, report.worst_runs as u64);
        cells.set(&c::LEVELS, report.levels.iter().filter(|level| level.runs > 0).count() as u64);
        cells.set(&c::RUNS_PER_GET, runs as f64 / report.flushes.max(1) as f64);
        let bytes: u64 = report.levels.iter().map(|level| level.bytes).sum();
        cells.set(&c::TABLE_BYTES, bytes);
        // If no key is overwritten, compactions drop no entries, so the numbers of bytes must be equal.
        let bytes = bytes + report.dropped_bytes;
        let is_right = if load.distinct_keys.is_none() {
            bytes == report.flush_bytes && report.compaction_bytes_read == report.compaction_bytes_written
        } else {
            bytes <= report.flush_bytes && report.compaction_bytes_written <= report.compaction_bytes_read
        };
        answers.expect(is_right, || {
            format!(
                "the bytes of all levels do not match the bytes that flushes and compactions have written: \
                 {report:?}"
            )
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use compaction::{Action, Job, Shape};

    use super::*;

    /// A policy that endlessly compacts a part of a run into the level of the run.
    struct Restless;

    impl CompactionPolicy for Restless {
        fn pick(&self, shape: &Shape) -> Option<Job> {
            let (level, run) = shape.levels.runs().last()?;
            let inputs = run.tables.iter().map(|table| table.id).collect();
            Some(Job { inputs, level, run: None, action: Action::Merge })
        }
    }

    fn growth(entries: u64) -> Growth {
        Growth(Params { entries: Count(entries), ..Params::default() })
    }

    #[test]
    fn a_policy_that_breaks_its_laws_is_no_number_but_an_error() {
        let error = growth(100_000)
            .grow(&Restless, &mut Measurements::default(), &mut Answers::default())
            .unwrap_err();
        assert!(error.to_string().contains("does not stop"), "{error}");
    }

    #[test]
    fn the_books_of_every_policy_balance() {
        for choice in compaction::CATALOG.all() {
            let policy = compaction::CATALOG.build(&choice).unwrap();
            let (mut cells, mut answers) = (Measurements::default(), Answers::default());
            let growth = growth(1_000_000);
            growth.grow(&*policy, &mut cells, &mut answers).unwrap();
            growth.expect(&choice, &mut cells);
            assert_eq!((answers.checked, answers.wrong), (1, 0), "{choice}");
            let value = |metric: &Metric| cells.number(metric);
            if let Some(expected) = value(&c::EXPECTED_WRITE_AMP) {
                assert_eq!(value(&c::WRITE_AMP), Some(expected), "{choice}");
            }
            if let Some(expected) = value(&c::EXPECTED_RUNS) {
                assert_eq!(value(&c::RUNS), Some(expected), "{choice}");
            }
            assert!(value(&c::WRITE_AMP).is_some());
        }
    }
}
