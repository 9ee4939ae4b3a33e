//! The range filter under test. The test measures the rate of false positives for empty ranges. This rate depends on
//! the length and the position of the ranges, and on the kind of keys.
//!
//! The keys are random numbers below 2^62, written as integers or as strings. Each range is empty: the filter contains
//! no key in the range. Ranges begin at a random position, or directly after a key ("correlated"). Filters that depend
//! on the positions of keys have the most false positives for such correlated ranges. A workload on a tree has no
//! correlated ranges.

use std::hint::black_box;
use std::ops::Bound;

use bloom::{Filter, FilterInput, FilterPolicy};
use catalog::{Build, Count, Time, Variant};
use results::{Metric, RunMode, columns as c};
use serde::{Deserialize, Serialize};
use tree::Design;
use types::{Bytes, KeyHash, KeyList};
use workload::Random;
use xxhash_rust::xxh3::xxh3_64;

use crate::bench::{Answers, Bench, Timing};
use crate::fault::Fault;
use crate::seam::{Cost, Subject, check_count};

pub(crate) const VARIANT: Variant<dyn Subject> = Variant::new::<EmptyRanges>(
    "ranges",
    "lookups of empty ranges in one range filter, anywhere and right after keys",
    r#"# Number of keys in the filter.
entries    = 1_000_000
# Kind of keys. "integer" is eight bytes in big-endian order. "decimal" is 20 decimal digits between
# "customer/" and "/order". "path" has 3 to 12 letters between two slashes, and then 16 hexadecimal
# digits, so that keys differ in length.
keys       = "integer"
# Length of each range, as a number of consecutive keys of this kind.
length     = 32
# Number of ranges per phase.
operations = 1_000_000
# Time limit of each timed phase.
limit      = "5s"
"#,
);

/// The number of ranges per slice. A slice is a number of operations that are timed together.
const SLICE: usize = 4096;

/// The number of bits of the numbers from which keys are made. Below 2^62, the end of a range never overflows.
const NUMBER_BITS: u32 = 62;

/// The largest valid product of the number of keys and the length of a range. Up to this product, at least about half
/// of all ranges contain no key.
const MOST_COVERED: u64 = 1 << (NUMBER_BITS - 1);

struct EmptyRanges(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    entries: Count,
    keys: Spelling,
    length: Count,
    operations: Count,
    limit: Time,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            entries: Count(1_000_000),
            keys: Spelling::Integer,
            length: Count(32),
            operations: Count(1_000_000),
            limit: Time(5_000_000_000),
        }
    }
}

/// How a number is converted to a key. The keys have the same order as their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Spelling {
    Integer,
    Decimal,
    Path,
}

impl Spelling {
    fn spell(self, number: u64) -> Vec<u8> {
        match self {
            Self::Integer => number.to_be_bytes().to_vec(),
            Self::Decimal => format!("customer/{number:020}/order").into_bytes(),
            // The first 12 bits of a number choose the word, in the order of words.
            Self::Path => format!("/{}/{number:016x}", word(number >> (NUMBER_BITS - 12))).into_bytes(),
        }
    }
}

/// Returns the word of 3 to 12 letters for an index below 4,096. The first three letters differ between indexes, so
/// words sort like their indexes.
fn word(index: u64) -> String {
    let letter = |digit: u64, first: u8| char::from(first + (digit % 16) as u8);
    let length = xxh3_64(&index.to_le_bytes()) % 10;
    let head = [index >> 8, index >> 4, index].map(|digit| letter(digit, b'a'));
    head.into_iter().chain((0..length).map(|at| letter(index >> (at % 3), b'a'))).collect()
}

impl Build<dyn Subject> for EmptyRanges {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Subject>, String> {
        check_count("entries", params.entries.0, 1 << 30)?;
        check_count("length", params.length.0, MOST_COVERED / params.entries.0)?;
        check_count("operations", params.operations.0, 1 << 40)?;
        Ok(Box::new(Self(params)))
    }
}

impl Subject for EmptyRanges {
    fn axis(&self) -> &'static str {
        "bloom"
    }

    fn phases(&self) -> &'static [&'static str] {
        &["build", "anywhere", "after-keys"]
    }

    fn modes(&self) -> &'static [RunMode] {
        &[RunMode::Timed, RunMode::Counted]
    }

    fn verdict(&self) -> (&'static str, &'static Metric) {
        ("anywhere", &c::RANGE_FPR)
    }

    fn price(&self) -> &'static Metric {
        &c::BITS_PER_KEY
    }

    fn cost(&self) -> Cost {
        let (entries, operations) = (self.0.entries.0 as f64, self.0.operations.0 as f64);
        let seconds = operations * 2e-6;
        let memory_bytes = entries * 120.0;
        Cost { memory_bytes, phase_seconds: vec![entries * 2e-6, seconds, seconds], ..Cost::default() }
    }

    fn refusal(&self, design: &Design) -> Option<String> {
        let choice = design.choice("bloom");
        let policy = bloom::CATALOG.build(choice).ok()?;
        let keys: KeyList = [b"a", b"b"].iter().collect();
        let hashes = [KeyHash(1), KeyHash(2)];
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(&keys) });
        let answers = policy.open(Bytes::copy_from(&stored)).is_ok_and(|filter| filter.answers_ranges());
        let label = choice.label();
        (!answers).then(|| {
            format!("bloom = {label} does not answer ranges; use a range filter, such as \"grafite\"")
        })
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault> {
        let mut random = Random::new(bench.seed);
        let numbers = self.numbers(&mut random);
        let filter = self.build_filter(bench, &numbers)?;
        for (name, after_keys) in [("anywhere", false), ("after-keys", true)] {
            let mut phase = bench.begin(name);
            let ranges = Ranges { numbers: &numbers, length: self.0.length.0, after_keys };
            let (timing, positives) = self.ask(bench, &*filter, &ranges, &mut random, &mut phase.answers)?;
            timing.write(&mut phase.cells);
            let asked = timing.operations;
            phase
                .cells
                .set(&c::RANGE_FILTER_PROBES, asked)
                .set(&c::RANGE_FILTER_NEGATIVES, asked - positives);
            phase.cells.set(&c::RANGE_FPR, positives as f64 / asked.max(1) as f64);
            bench.end(phase);
        }
        Ok(())
    }
}

/// The empty ranges of a phase: where they begin, and how long they are.
struct Ranges<'a> {
    /// The numbers of the keys in the filter, in ascending order.
    numbers: &'a [u64],
    length: u64,
    after_keys: bool,
}

impl Ranges<'_> {
    /// Draws the first number of an empty range, which contains no key.
    fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let start = match self.after_keys {
                true => self.numbers[random.below(self.numbers.len() as u64) as usize] + 1,
                false => random.below(1 << NUMBER_BITS),
            };
            let next = self.numbers.partition_point(|number| *number < start);
            if self.numbers.get(next).is_none_or(|number| *number >= start + self.length) {
                return start;
            }
        }
    }
}

impl EmptyRanges {
    /// Draws distinct numbers for all keys, in ascending order.
    fn numbers(&self, random: &mut Random) -> Vec<u64> {
        let mut numbers = Vec::new();
        while numbers.len() < self.0.entries.0 as usize {
            let missing = self.0.entries.0 as usize - numbers.len();
            numbers.extend((0..missing).map(|_| random.below(1 << NUMBER_BITS)));
            numbers.sort_unstable();
            numbers.dedup();
        }
        numbers
    }

    fn build_filter(&self, bench: &mut Bench<'_>, numbers: &[u64]) -> Result<Box<dyn Filter>, Fault> {
        let mut phase = bench.begin("build");
        let policy: Box<dyn FilterPolicy> = bloom::CATALOG.build(bench.design.choice("bloom"))?;
        let keys: KeyList = numbers.iter().map(|number| self.0.keys.spell(*number)).collect();
        let hashes: Vec<KeyHash> = keys.iter().map(|key| KeyHash(xxh3_64(key))).collect();
        let input = FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(&keys) };
        let whole = || Ok(policy.open(Bytes::copy_from(&policy.build(&input)))?);
        let (filter, timing) = bench.build(self.0.entries.0, whole)?;
        timing.write(&mut phase.cells);
        let (bytes, entries) = (filter.memory_bytes() as u64, self.0.entries.0 as f64);
        let about = bench.about();
        about.set_some(&c::BUILD_NS_PER_ENTRY, timing.typical_ns());
        about.set(&c::FILTER_BYTES, bytes).set(&c::BYTES_PER_ENTRY, bytes as f64 / entries);
        about.set(&c::BITS_PER_KEY, bytes as f64 * 8.0 / entries);
        bench.end(phase);
        Ok(filter)
    }

    /// Queries the filter for empty ranges. Returns the times and the number of false positives, which are ranges that
    /// the filter did not report as empty.
    fn ask(
        &self,
        bench: &Bench<'_>,
        filter: &dyn Filter,
        ranges: &Ranges<'_>,
        random: &mut Random,
        answers: &mut Answers,
    ) -> Result<(Timing, u64), Fault> {
        let spell = |number: u64| self.0.keys.spell(number);
        let asks =
            |low: &[u8], high: &[u8]| filter.may_contain_range(Bound::Included(low), Bound::Excluded(high));
        let mut positives = 0;
        let plan = (self.0.operations.0, SLICE, self.0.limit.0);
        let timing = bench.slices(plan, answers, |count, slice| {
            let starts: Vec<u64> = (0..count).map(|_| ranges.draw(random)).collect();
            let bounds: Vec<(Vec<u8>, Vec<u8>)> =
                starts.iter().map(|start| (spell(*start), spell(start + ranges.length))).collect();
            let mut given = vec![false; count];
            slice.time(|| {
                for ((low, high), given) in bounds.iter().zip(&mut given) {
                    *given = asks(low, high);
                }
            });
            slice.idle(|| {
                for bounds in &bounds {
                    black_box(bounds);
                }
            });
            positives += given.iter().filter(|given| **given).count() as u64;
            // The filter must not report a range as empty if the range contains a key.
            for start in starts.iter().step_by(16) {
                let next = ranges.numbers.partition_point(|number| number < start);
                let key = ranges.numbers[next.min(ranges.numbers.len() - 1)];
                let low = key - ranges.length.min(key) / 2;
                slice.answers.expect(asks(&spell(low), &spell(key + 1)), || {
                    format!(
                        "the range from {low} to {key} contains a key, but the filter reports it as empty"
                    )
                });
            }
            Ok(())
        })?;
        Ok((timing, positives))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn subject(keys: Spelling, entries: u64) -> EmptyRanges {
        EmptyRanges(Params { entries: Count(entries), keys, operations: Count(8000), ..Params::default() })
    }

    #[test]
    fn keys_sort_like_their_numbers() {
        for spelling in [Spelling::Integer, Spelling::Decimal, Spelling::Path] {
            let numbers = subject(spelling, 20_000).numbers(&mut Random::new(1));
            let keys: Vec<Vec<u8>> = numbers.iter().map(|number| spelling.spell(*number)).collect();
            assert!(keys.is_sorted_by(|one, other| one < other), "{spelling:?}");
        }
        let lengths = (0..1 << 12).map(|index| word(index).len());
        assert_eq!((lengths.clone().min(), lengths.max()), (Some(3), Some(12)));
    }

    /// Fault: the filter forgets the keys in ranges that end with an odd byte, and reports every fourth other range as
    /// not empty.
    struct Forgetful;

    impl Filter for Forgetful {
        fn may_contain(&self, _: KeyHash) -> bool {
            true
        }

        fn may_contain_range(&self, _: Bound<&[u8]>, high: Bound<&[u8]>) -> bool {
            matches!(high, Bound::Excluded([.., last]) if last % 4 == 0)
        }

        fn expected_fpr(&self) -> f64 {
            1.0
        }

        fn memory_bytes(&self) -> usize {
            0
        }
    }

    #[test]
    fn a_filter_that_forgets_is_caught() {
        let (design, here) = (Design::default(), Path::new("."));
        let bench = Bench::new(&design, (1, RunMode::Counted), (here, here), &|_| {});
        let subject = subject(Spelling::Integer, 1000);
        let mut random = Random::new(1);
        let numbers = subject.numbers(&mut random);
        for after_keys in [false, true] {
            let ranges = Ranges { numbers: &numbers, length: 32, after_keys };
            let mut answers = Answers::default();
            let (timing, positives) =
                subject.ask(&bench, &Forgetful, &ranges, &mut random, &mut answers).unwrap();
            assert_eq!((timing.operations, answers.checked), (8000, 500));
            assert!(
                positives.abs_diff(2000) < 300 && answers.wrong.abs_diff(375) < 60,
                "{positives} {answers:?}"
            );
        }
    }
}
