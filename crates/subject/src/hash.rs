//! The hash function under test. The test measures the time per key, by the length of the keys.

use std::hint::black_box;

use catalog::{Build, ByteSize, Count, Time, Variant};
use results::{Metric, RunMode, columns as c};
use serde::{Deserialize, Serialize};
use tree::hash::KeyHasher;
use types::MAX_KEY_BYTES;
use workload::Random;

use crate::bench::{Answers, Bench, TIME, Timing};
use crate::fault::Fault;
use crate::seam::{Cost, Subject, check_count};

pub(crate) const VARIANT: Variant<dyn Subject> = Variant::new::<Hashes>(
    "hash",
    "hashes of keys of one length",
    r#"# Length of each key.
bytes      = "16B"
# Number of hashes per phase.
operations = 4_000_000
# Time limit of each timed phase.
limit      = "5s"
"#,
);

/// The number of keys that are hashed in one timed slice. The total size of these keys is at most [`SLICE_BYTES`]
/// bytes. With these limits, the keys stay in the CPU caches.
const SLICE: usize = 4096;
const SLICE_BYTES: usize = 128 << 10;

struct Hashes(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bytes: ByteSize,
    operations: Count,
    limit: Time,
}

impl Default for Params {
    fn default() -> Self {
        Self { bytes: ByteSize(16), operations: Count(4_000_000), limit: Time(5_000_000_000) }
    }
}

impl Build<dyn Subject> for Hashes {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Subject>, String> {
        check_count("bytes", params.bytes.0, MAX_KEY_BYTES as u64)?;
        check_count("operations", params.operations.0, 1 << 40)?;
        Ok(Box::new(Self(params)))
    }
}

impl Subject for Hashes {
    fn axis(&self) -> &'static str {
        "hash"
    }

    fn phases(&self) -> &'static [&'static str] {
        &["throughput", "latency"]
    }

    fn modes(&self) -> &'static [RunMode] {
        &[RunMode::Timed]
    }

    fn verdict(&self) -> (&'static str, &'static Metric) {
        ("throughput", TIME)
    }

    fn price(&self) -> &'static Metric {
        &c::MEGABYTES_PER_SECOND
    }

    fn cost(&self) -> Cost {
        let seconds = self.0.operations.0 as f64 * (10e-9 + self.0.bytes.0 as f64 * 0.5e-9);
        Cost { memory_bytes: SLICE_BYTES as f64, phase_seconds: vec![seconds; 2], ..Cost::default() }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault> {
        let hasher = tree::hash::CATALOG.build(bench.design.choice("hash"))?;
        for (name, dependent) in [("throughput", false), ("latency", true)] {
            let mut phase = bench.begin(name);
            let timing = self.hash_all(bench, &*hasher, dependent, &mut phase.answers)?;
            timing.write(&mut phase.cells);
            timing.write_speed(self.0.bytes.0 as f64, &mut phase.cells);
            bench.end(phase);
        }
        Ok(())
    }
}

impl Hashes {
    fn hash_all(
        &self,
        bench: &Bench<'_>,
        hasher: &dyn KeyHasher,
        dependent: bool,
        answers: &mut Answers,
    ) -> Result<Timing, Fault> {
        let length = self.0.bytes.0 as usize;
        let keys = (SLICE_BYTES / length).clamp(1, SLICE);
        let mut random = Random::new(bench.seed);
        // The last key ends one byte before the end of the memory, so that keys lie at every alignment.
        let mut arena: Vec<u8> = (0..=keys * length).map(|_| random.bits() as u8).collect();
        // The compiler cannot know that this value is 0, so it cannot remove the dependence of the next key on the last
        // hash.
        let link = dependent.then(|| black_box(0));
        let mut given = vec![0; SLICE];
        bench.slices((self.0.operations.0, SLICE, self.0.limit.0), answers, |count, slice| {
            arena[0] = arena[0].wrapping_add(1);
            slice.time(|| pass((&arena, length, keys), link, &mut given[..count], |key| hasher.hash(key).0));
            let timed = given.clone();
            slice.idle(|| {
                pass((&arena, length, keys), link, &mut given[..count], |key| black_box(key.len() as u64));
            });
            for (at, timed) in timed[..count].iter().enumerate().step_by(64) {
                let key = arena[(at % keys) * length..][..length].to_vec();
                let other = hasher.hash(&key).0;
                slice.answers.expect(*timed == other, || {
                    format!("one key has two different hashes, {timed:x} and {other:x}")
                });
            }
            Ok(())
        })
    }
}

/// Hashes successive keys, and begins again with the first key after the last key.
///
/// If `link` is `None`, the hashes are independent of each other. If `link` is `Some(0)`, the CPU computes the start of
/// each key from the previous hash, so each hash must wait for the previous hash.
fn pass(
    (arena, length, keys): (&[u8], usize, usize),
    link: Option<u64>,
    hashes: &mut [u64],
    hash: impl Fn(&[u8]) -> u64,
) {
    let (mut last, mut start) = (0, 0);
    let end = length * keys;
    for place in hashes {
        let at = start + link.map_or(0, |link| (last & link) as usize);
        last = hash(&arena[at..at + length]);
        *place = last;
        start = if start + length == end { 0 } else { start + length };
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tree::Design;
    use types::KeyHash;

    use super::*;

    /// Fault: the hash function hashes the address of a key instead of the key.
    struct Address;

    impl KeyHasher for Address {
        fn hash(&self, key: &[u8]) -> KeyHash {
            KeyHash(key.as_ptr() as u64)
        }
    }

    #[test]
    fn a_hash_that_changes_is_wrong() {
        let (design, here) = (Design::default(), Path::new("."));
        let bench = Bench::new(&design, (1, RunMode::Timed), (here, here), &|_| {});
        let subject = Hashes(Params { operations: Count(10_000), ..Params::default() });
        let right = tree::hash::CATALOG.build(design.choice("hash")).unwrap();
        for dependent in [false, true] {
            let mut answers = Answers::default();
            let timing = subject.hash_all(&bench, &*right, dependent, &mut answers).unwrap();
            assert_eq!((timing.operations, answers.wrong), (10_000, 0));
            let mut answers = Answers::default();
            subject.hash_all(&bench, &Address, dependent, &mut answers).unwrap();
            assert!(answers.checked > 100 && answers.wrong == answers.checked, "{answers:?}");
        }
    }
}
