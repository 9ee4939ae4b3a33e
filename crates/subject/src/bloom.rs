//! The filter under test. The test measures false positives, bits per key, and the time per probe, for single probes
//! and for batches.
//!
//! Keys are random 64-bit numbers. The hash of a key is the key itself, so the times include no hash function. If a
//! filter is built from keys, each key consists of eight bytes in big-endian order. Every slice draws new probes.

use std::hint::black_box;

use bloom::{Filter, FilterBuilder, FilterInput, FilterPolicy};
use catalog::{Build, Count, Time, Variant};
use results::{Metric, RunMode, columns as c};
use serde::{Deserialize, Serialize};
use tree::Design;
use types::{Bytes, HashedKey, KeyHash};
use workload::Random;

use crate::bench::{Answers, Bench, TIME, Timing};
use crate::fault::Fault;
use crate::seam::{Cost, Subject, check_count};

pub(crate) const VARIANT: Variant<dyn Subject> = Variant::new::<Probes>(
    "bloom",
    "probes of one filter for present and for absent keys",
    r#"# Number of keys in the filter.
entries    = 1_000_000
# Method of insertion. "whole" inserts all keys in one call, "single" one key per call, and "batch"
# several keys per call. For "whole", the measured time extends from the key hashes to the usable
# filter. For the other methods, the measured time includes only the insertions.
insertion  = "whole"
# Number of threads that insert keys into the filter. With insertion = "whole", the only valid
# number is 1.
threads    = 1
# Number of probes per phase.
operations = 4_000_000
# Number of probes per call in the phases "absent-batch" and "present-batch". With insertion =
# "batch", each insertion call has this number of keys.
batch      = 32
# Time limit of each timed phase.
limit      = "5s"
"#,
);

/// The number of probes in a timed slice. Before each slice, [`WARM_UP`] probes run untimed.
const SLICE: usize = 8192;
const WARM_UP: usize = 1024;

/// The largest number of threads with which a phase may insert keys.
const MOST_THREADS: u64 = 1024;

struct Probes(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    entries: Count,
    insertion: Insertion,
    threads: Count,
    operations: Count,
    batch: Count,
    limit: Time,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            entries: Count(1_000_000),
            insertion: Insertion::Whole,
            threads: Count(1),
            operations: Count(4_000_000),
            batch: Count(32),
            limit: Time(5_000_000_000),
        }
    }
}

impl Build<dyn Subject> for Probes {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Subject>, String> {
        check_count("entries", params.entries.0, 1 << 32)?;
        check_count("operations", params.operations.0, 1 << 40)?;
        check_count("batch", params.batch.0, SLICE as u64)?;
        check_count("threads", params.threads.0, MOST_THREADS)?;
        Ok(Box::new(Self(params)))
    }
}

/// How keys are added to a filter: all keys in one call, one key per call, or a batch per call.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Insertion {
    Whole,
    Single,
    Batch,
}

/// The kind of probes in a phase: for present or absent keys, one key at a time or in batches.
#[derive(Clone, Copy)]
struct Way {
    phase: &'static str,
    is_present: bool,
    in_batches: bool,
}

/// The kinds of probes of the phases, in the order of the phases.
const WAYS: [Way; 4] = [
    Way { phase: "absent", is_present: false, in_batches: false },
    Way { phase: "present", is_present: true, in_batches: false },
    Way { phase: "absent-batch", is_present: false, in_batches: true },
    Way { phase: "present-batch", is_present: true, in_batches: true },
];

/// A filter under test, together with the keys that it contains.
struct Tested {
    filter: Box<dyn Filter>,
    /// Whether the filter was built from keys. Such a filter is probed with keys, and any other filter is probed with
    /// hashes.
    by_key: bool,
    keys: Vec<KeyHash>,
}

impl Tested {
    fn may_contain(&self, hash: KeyHash) -> bool {
        if self.by_key {
            return self.filter.may_contain_key(HashedKey { bytes: &hash.0.to_be_bytes(), hash });
        }
        self.filter.may_contain(hash)
    }

    /// Probes the filter with `keys` if it was built from keys, and with `hashes` otherwise. Writes the answers to
    /// `given`. `batch` is the number of keys per call. If `batch` is `None`, each call probes one key.
    #[inline]
    fn answer(&self, hashes: &[KeyHash], keys: &[HashedKey<'_>], batch: Option<usize>, given: &mut [bool]) {
        match (batch, self.by_key) {
            (Some(batch), false) => {
                for (hashes, given) in hashes.chunks(batch).zip(given.chunks_mut(batch)) {
                    self.filter.may_contain_batch(hashes, given);
                }
            }
            (Some(batch), true) => {
                for (keys, given) in keys.chunks(batch).zip(given.chunks_mut(batch)) {
                    self.filter.may_contain_keys(keys, given);
                }
            }
            (None, false) => {
                for (hash, given) in hashes.iter().zip(given) {
                    *given = self.filter.may_contain(*hash);
                }
            }
            (None, true) => {
                for (key, given) in keys.iter().zip(given) {
                    *given = self.filter.may_contain_key(*key);
                }
            }
        }
    }
}

/// The times of the probes of a phase, and the number of positive answers.
struct Probed {
    timing: Timing,
    /// The number of probes that the filter answered with "may contain".
    positives: u64,
}

impl Subject for Probes {
    fn axis(&self) -> &'static str {
        "bloom"
    }

    fn phases(&self) -> &'static [&'static str] {
        &["build", "absent", "present", "absent-batch", "present-batch"]
    }

    fn modes(&self) -> &'static [RunMode] {
        &[RunMode::Timed, RunMode::Counted]
    }

    fn verdict(&self) -> (&'static str, &'static Metric) {
        ("absent", TIME)
    }

    fn price(&self) -> &'static Metric {
        &c::BITS_PER_KEY
    }

    fn quality(&self) -> Option<&'static Metric> {
        Some(&c::FPR)
    }

    fn cost(&self) -> Cost {
        let (entries, operations) = (self.0.entries.0 as f64, self.0.operations.0 as f64);
        let probe = operations * 40e-9;
        Cost {
            memory_bytes: entries * 48.0,
            phase_seconds: vec![entries * 0.5e-6, probe, probe, probe, probe],
            ..Cost::default()
        }
    }

    fn threads(&self) -> u32 {
        self.0.threads.0 as u32
    }

    fn refusal(&self, design: &Design) -> Option<String> {
        let choice = design.choice("bloom");
        let policy = bloom::CATALOG.build(choice).ok()?;
        let grows = policy.grow(&FilterInput { hashes: &[], bits_per_key: None, keys: None }).is_some();
        match (self.0.insertion, self.0.threads.0) {
            (Insertion::Whole, 1) => None,
            (Insertion::Whole, threads) => Some(format!(
                "component.insertion = \"whole\" needs one thread, not {threads}; use component.insertion = \"batch\""
            )),
            _ if grows => None,
            _ => {
                let label = choice.label();
                Some(format!(
                    "bloom = {label} does not support single insertions; use component.insertion = \"whole\""
                ))
            }
        }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault> {
        let mut random = Random::new(bench.seed);
        let keys = (0..self.0.entries.0).map(|_| KeyHash(random.bits())).collect();
        let tested = self.build_filter(bench, keys)?;
        for way in WAYS {
            let mut phase = bench.begin(way.phase);
            let Probed { timing, positives } =
                self.probe(bench, &tested, way, &mut random, &mut phase.answers)?;
            timing.write(&mut phase.cells);
            let probes = timing.operations;
            phase.cells.set(&c::FILTER_PROBES, probes).set(&c::FILTER_NEGATIVES, probes - positives);
            if !way.is_present && probes > 0 {
                phase.cells.set(&c::FILTER_FALSE_POSITIVES, positives);
                phase.cells.set(&c::FPR, positives as f64 / probes as f64);
            }
            bench.end(phase);
        }
        Ok(())
    }
}

impl Probes {
    fn build_filter(&self, bench: &mut Bench<'_>, mut keys: Vec<KeyHash>) -> Result<Tested, Fault> {
        let mut phase = bench.begin("build");
        let policy = bloom::CATALOG.build(bench.design.choice("bloom"))?;
        let by_key = policy.needs_keys();
        if by_key {
            keys.sort_unstable_by_key(|key| key.0);
        }
        let spelt = by_key.then(|| keys.iter().map(|key| key.0.to_be_bytes()).collect());
        let input = FilterInput { hashes: &keys, bits_per_key: None, keys: spelt.as_ref() };
        let (filter, timing) = match self.0.insertion {
            Insertion::Whole => {
                let whole = || Ok(policy.open(Bytes::copy_from(&policy.build(&input)))?);
                bench.build(self.0.entries.0, whole)?
            }
            Insertion::Single | Insertion::Batch => {
                let (grown, timing) = self.insert(bench, &*policy, &input)?;
                let stored = grown.finish();
                phase.answers.expect(stored == policy.build(&input), || {
                    "the filter after single insertions differs from the filter that is built in one call"
                        .to_owned()
                });
                (policy.open(Bytes::copy_from(&stored))?, timing)
            }
        };
        timing.write(&mut phase.cells);
        let (bytes, entries) = (filter.memory_bytes() as u64, self.0.entries.0 as f64);
        let about = bench.about();
        about.set_some(&c::BUILD_NS_PER_ENTRY, timing.typical_ns());
        about.set(&c::FILTER_BYTES, bytes).set(&c::BYTES_PER_ENTRY, bytes as f64 / entries);
        about.set(&c::BITS_PER_KEY, bytes as f64 * 8.0 / entries);
        about.set(&c::EXPECTED_FPR, filter.expected_fpr());
        bench.end(phase);
        Ok(Tested { filter, by_key, keys })
    }

    /// Adds all keys to empty filters with all threads. Each thread adds a part of the keys, in their existing order.
    fn insert(
        &self,
        bench: &Bench<'_>,
        policy: &dyn FilterPolicy,
        input: &FilterInput<'_>,
    ) -> Result<(Box<dyn FilterBuilder>, Timing), Fault> {
        let batch = self.0.batch.0 as usize;
        let begin = || {
            policy
                .grow(input)
                .ok_or_else(|| "the filter of the design does not support single insertions".into())
        };
        bench.build_together(self.threads(), self.0.entries.0, begin, |grown, range| {
            let hashes = &input.hashes[range];
            match self.0.insertion {
                Insertion::Batch => hashes.chunks(batch).for_each(|hashes| grown.insert_batch(hashes)),
                Insertion::Single | Insertion::Whole => hashes.iter().for_each(|hash| grown.insert(*hash)),
            }
        })
    }

    fn probe(
        &self,
        bench: &Bench<'_>,
        tested: &Tested,
        way: Way,
        random: &mut Random,
        answers: &mut Answers,
    ) -> Result<Probed, Fault> {
        let Tested { by_key, keys, .. } = tested;
        let (batch, in_batches) = (self.0.batch.0 as usize, way.in_batches);
        let plan = (self.0.operations.0, SLICE, self.0.limit.0);
        let (mut hashes, mut given) = (Vec::new(), vec![false; WARM_UP + SLICE]);
        let mut positives = 0;
        let timing = bench.slices(plan, answers, |count, slice| {
            hashes.clear();
            hashes.extend((0..WARM_UP + count).map(|_| match way.is_present {
                true => keys[random.below(keys.len() as u64) as usize],
                false => KeyHash(random.bits()),
            }));
            let (warm, timed) = hashes.split_at(WARM_UP);
            let spelt: Vec<[u8; 8]> = match by_key {
                true => timed.iter().map(|hash| hash.0.to_be_bytes()).collect(),
                false => Vec::new(),
            };
            let spelt: Vec<HashedKey<'_>> =
                spelt.iter().zip(timed).map(|(bytes, hash)| HashedKey { bytes, hash: *hash }).collect();
            let given = &mut given[..count];
            black_box(warm.iter().filter(|hash| tested.may_contain(**hash)).count());
            slice.time(|| tested.answer(timed, &spelt, in_batches.then_some(batch), given));
            slice.idle(|| match in_batches {
                true => timed.chunks(batch).for_each(|hashes| {
                    black_box(hashes.as_ptr());
                }),
                false => timed.iter().for_each(|hash| {
                    black_box(*hash);
                }),
            });
            positives += given.iter().filter(|given| **given).count() as u64;
            for (hash, given) in timed.iter().zip(given.iter()) {
                let is_right = match way.is_present {
                    true => *given,
                    // Both answers are valid, because the probe may be a false positive, or its key may be present by
                    // chance. However, a batch must give the same answer as a single probe.
                    false => *given == tested.may_contain(*hash),
                };
                slice.answers.expect(is_right, || {
                    format!("the filter returned {given} instead of {} for hash {:x}", !given, hash.0)
                });
            }
            Ok(())
        })?;
        Ok(Probed { timing, positives })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Fault: the filter forgets all keys except those whose hash ends in fewer than three zeros. A batched probe
    /// forgets only the first key of the batch.
    struct Forgetful;

    impl Filter for Forgetful {
        fn may_contain(&self, hash: KeyHash) -> bool {
            hash.0.trailing_zeros() < 3
        }

        fn may_contain_batch(&self, _: &[KeyHash], answers: &mut [bool]) {
            answers.fill(true);
            answers[0] = false;
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
        let subject = Probes(Params { operations: Count(8000), ..Params::default() });
        let mut random = Random::new(1);
        let keys = (0..1000).map(|_| KeyHash(random.bits())).collect();
        let tested = Tested { filter: Box::new(Forgetful), by_key: false, keys };
        // For absent keys only the agreement of single and batched answers is checked.
        let differing = 31.0 / 32.0 / 8.0 + 7.0 / 8.0 / 32.0;
        for (way, wrong) in WAYS.into_iter().zip([0.0, 1.0 / 8.0, differing, 1.0 / 32.0]) {
            let mut answers = Answers::default();
            let probed = subject.probe(&bench, &tested, way, &mut Random::new(2), &mut answers).unwrap();
            assert_eq!((answers.checked, probed.timing.operations), (8000, 8000));
            let share = answers.wrong as f64 / 8000.0;
            assert!((share - wrong).abs() <= 0.1 * wrong, "{}: {share}", way.phase);
        }
    }
}
