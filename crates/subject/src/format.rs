//! The block format under test. The test measures the time to find a present key and an absent key in a block, the
//! bytes per entry, and the times to encode and to check blocks.
//!
//! The blocks are in memory and uncompressed, and are read in random order. Each lookup already knows the block of its
//! key, as in a tree after the search in the fence pointers. An absent key sorts between two keys of its block. The
//! hashes of keys are computed before the timing starts.

use std::hint::black_box;
use std::ops::Range;

use catalog::{Build, ByteSize, Count, Time, Variant};
use results::{Measurements, Metric, RunMode, columns as c};
use serde::{Deserialize, Serialize};
use tree::block::{BlockBuilder, Found, TRAILER_BYTES, checksum, find, find_noting};
use tree::{BlockOptions, Checksum, Design};
use types::{Entry, HashedKey, KeyHash};
use workload::Random;

use crate::bench::{Answers, Bench, TIME, Timing};
use crate::choices::{Chosen, Formats};
use crate::fault::Fault;
use crate::keys::{SortedKeys, Spread};
use crate::seam::{Cost, Subject, check_count};

pub(crate) const VARIANT: Variant<dyn Subject> = Variant::new::<Lookups>(
    "format",
    "construction, search and check of blocks in one format",
    r#"# Number of entries in all blocks together. A small number of entries fits in the CPU caches; a
# large number is read from memory.
entries    = 2_000
# Format of the keys, as for the keys of a workload.
keys       = "u64"
# Length of each value.
value      = "100B"
# Number of lookups per phase, and number of checks per phase.
operations = 2_000_000
# Time limit of each timed phase.
limit      = "5s"
"#,
);

/// The number of lookups in a timed slice. Before each slice, [`WARM_UP`] lookups run untimed.
const SLICE: usize = 2048;
const WARM_UP: usize = 256;

/// Maximum total size of all encoded blocks in bytes.
const MOST_BYTES: u64 = 16 << 30;

struct Lookups(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    entries: Count,
    keys: Chosen<Formats>,
    value: ByteSize,
    operations: Count,
    limit: Time,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            entries: Count(2_000),
            keys: Chosen::default(),
            value: ByteSize(100),
            operations: Count(2_000_000),
            limit: Time(5_000_000_000),
        }
    }
}

impl Build<dyn Subject> for Lookups {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Subject>, String> {
        check_count("entries", params.entries.0, 1 << 30)?;
        check_count("value", params.value.0, 64 << 10)?;
        check_count("operations", params.operations.0, 1 << 40)?;
        let format = params.keys.open()?;
        if params.entries.0 * (params.value.0 + format.max_bytes() as u64) > MOST_BYTES {
            return Err(
                "entries: the total length of all entries must not exceed 16 GiB; lower entries".to_owned()
            );
        }
        Ok(Box::new(Self(params)))
    }
}

/// The encoded blocks of a trial in one buffer, and the entries of each block.
#[derive(Default)]
struct Blocks {
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
    entries: Vec<Range<usize>>,
}

/// The keys from which blocks are built, and their hashes. Only the keys at even positions are stored in blocks, so the
/// keys at odd positions are absent.
struct Source {
    keys: SortedKeys,
    hashes: Vec<KeyHash>,
    value_bytes: usize,
}

impl Source {
    fn stored(&self) -> usize {
        self.keys.len() / 2
    }

    fn key(&self, at: usize) -> HashedKey<'_> {
        HashedKey { bytes: self.keys.get(at), hash: self.hashes[at] }
    }

    /// Writes the value of an entry, which consists of the repeated number of the entry.
    fn value(&self, entry: usize, value: &mut Vec<u8>) {
        value.clear();
        let number = (entry as u64).to_le_bytes();
        value.extend(number.iter().cycle().take(self.value_bytes));
    }
}

/// Counts how many lookups the hash indexes of blocks answer.
#[derive(Default)]
struct Indexed {
    /// The number of lookups in blocks that have a hash index.
    asked: u64,
    /// The number of lookups that the hash index of a block answered.
    answered: u64,
}

impl Indexed {
    /// Repeats a lookup in a block, and counts whether the hash index of the block answers it.
    fn note(&mut self, block: &[u8], key: HashedKey<'_>) {
        black_box(find_noting(block, key, |is_answered| {
            self.asked += 1;
            self.answered += u64::from(is_answered);
        }));
    }

    fn write(&self, cells: &mut Measurements) {
        if self.asked > 0 {
            cells.set(&c::BLOCK_INDEX_ANSWERS, self.answered);
            cells.set(&c::BLOCK_INDEX_HIT_RATE, self.answered as f64 / self.asked as f64);
        }
    }
}

/// A lookup in a block: the index of the block, and the position of the key among all keys.
struct Probe {
    block: usize,
    key: usize,
}

impl Subject for Lookups {
    fn axis(&self) -> &'static str {
        "format"
    }

    fn phases(&self) -> &'static [&'static str] {
        &["build", "hit", "miss", "check"]
    }

    fn modes(&self) -> &'static [RunMode] {
        &[RunMode::Timed]
    }

    fn reads(&self) -> &'static [&'static str] {
        &["block", "hash"]
    }

    fn verdict(&self) -> (&'static str, &'static Metric) {
        ("hit", TIME)
    }

    fn price(&self) -> &'static Metric {
        &c::BYTES_PER_ENTRY
    }

    fn cost(&self) -> Cost {
        let (entries, operations) = (self.0.entries.0 as f64, self.0.operations.0 as f64);
        let bytes = entries * (self.0.value.0 as f64 + 64.0);
        let lookups = operations * 150e-9;
        let phase_seconds = vec![0.1 + bytes * 1e-9, lookups, lookups, lookups];
        Cost { memory_bytes: 2.0 * bytes, phase_seconds, ..Cost::default() }
    }

    fn refusal(&self, design: &Design) -> Option<String> {
        let aligned = design.options.block.align;
        aligned.then(|| {
            "the tested blocks are in memory, so block.align has no effect; remove block.align".to_owned()
        })
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault> {
        let mut random = Random::new(bench.seed);
        let source = self.source(bench.design, &mut random)?;
        let blocks = self.build_blocks(bench, &source)?;
        for (name, absent) in [("hit", false), ("miss", true)] {
            let mut phase = bench.begin(name);
            let of = (&source, &blocks, absent);
            let (timing, indexed) = self.look_up(bench, of, &mut random, &mut phase.answers)?;
            timing.write(&mut phase.cells);
            indexed.write(&mut phase.cells);
            bench.end(phase);
        }
        let mut phase = bench.begin("check");
        let timing = self.check(bench, &blocks, &mut random, &mut phase.answers)?;
        timing.write(&mut phase.cells);
        timing.write_speed(blocks.bytes.len() as f64 / blocks.places.len() as f64, &mut phase.cells);
        bench.end(phase);
        Ok(())
    }
}

impl Lookups {
    fn source(&self, design: &Design, random: &mut Random) -> Result<Source, Fault> {
        let format = self.0.keys.open()?;
        let keys = SortedKeys::new(&*format, 2 * self.0.entries.0 as usize, Spread::Random, random)?;
        let function = tree::hash::CATALOG.build(design.choice("hash"))?;
        let hashes = keys.iter().map(|key| function.hash(key)).collect();
        Ok(Source { keys, hashes, value_bytes: self.0.value.0 as usize })
    }

    fn build_blocks(&self, bench: &mut Bench<'_>, source: &Source) -> Result<Blocks, Fault> {
        let mut phase = bench.begin("build");
        let format = tree::block::CATALOG.build(bench.design.choice("format"))?;
        let options = bench.design.options.block;
        let mut values: Vec<Vec<u8>> = vec![Vec::new(); source.stored()];
        values.iter_mut().enumerate().for_each(|(entry, value)| source.value(entry, value));
        let mut blocks = Blocks::default();
        let ((), timing) = bench.build(self.0.entries.0, || {
            blocks.bytes.clear();
            blocks.places.clear();
            blocks.entries.clear();
            lay_out(&mut BlockBuilder::new(&*format, &options), &options, source, &values, &mut blocks);
            Ok(())
        })?;
        timing.write(&mut phase.cells);
        let entries = self.0.entries.0 as f64;
        let about = bench.about();
        about.set_some(&c::BUILD_NS_PER_ENTRY, timing.typical_ns());
        about.set(&c::BYTES_PER_ENTRY, blocks.bytes.len() as f64 / entries);
        about.set(&c::TABLE_BYTES, blocks.bytes.len() as u64);
        bench.end(phase);
        Ok(blocks)
    }

    /// Looks up keys that are present in blocks, or absent keys between present keys.
    fn look_up(
        &self,
        bench: &Bench<'_>,
        (source, blocks, absent): (&Source, &Blocks, bool),
        random: &mut Random,
        answers: &mut Answers,
    ) -> Result<(Timing, Indexed), Fault> {
        let mut given: Vec<Option<Found>> = vec![None; SLICE];
        let (mut value, mut indexed) = (Vec::new(), Indexed::default());
        let timing =
            bench.slices((self.0.operations.0, SLICE, self.0.limit.0), answers, |count, slice| {
                let probes: Vec<Probe> = (0..WARM_UP + count).map(|_| blocks.draw(absent, random)).collect();
                // The keys are copied before the timing starts, because the caller of a get also has the key in memory.
                let spelt: Vec<Vec<u8>> =
                    probes.iter().map(|probe| source.keys.get(probe.key).to_vec()).collect();
                let hashed: Vec<HashedKey<'_>> = probes
                    .iter()
                    .zip(&spelt)
                    .map(|(probe, bytes)| HashedKey { bytes, hash: source.key(probe.key).hash })
                    .collect();
                let blocks_of = probes.iter().map(|probe| &blocks.bytes[blocks.places[probe.block].clone()]);
                let asked: Vec<(&[u8], HashedKey<'_>)> = blocks_of.zip(hashed).collect();
                let (warm, timed) = asked.split_at(WARM_UP);
                for (block, key) in warm {
                    black_box(find(block, *key));
                }
                slice.time(|| {
                    for ((block, key), given) in timed.iter().zip(&mut given) {
                        *given = find(black_box(*block), *key);
                    }
                });
                slice.idle(|| {
                    for asked in timed {
                        black_box(*asked);
                    }
                });
                timed.iter().for_each(|(block, key)| indexed.note(block, *key));
                for ((probe, (block, key)), given) in probes[WARM_UP..].iter().zip(timed).zip(&given) {
                    source.value(probe.key / 2, &mut value);
                    let is_right = match given {
                        Some(Found::Absent) => absent,
                        Some(Found::Value(place)) => !absent && block[place.clone()] == value[..],
                        Some(Found::Tombstone) | None => false,
                    };
                    slice.answers.expect(is_right, || {
                        let kind = if absent { "absent" } else { "present" };
                        let answer = given
                            .as_ref()
                            .map_or_else(|| "corruption".to_owned(), |found| format!("{found:?}"));
                        format!("a lookup of the {kind} key {:x?} in a block returned {answer}", key.bytes)
                    });
                }
                Ok(())
            })?;
        Ok((timing, indexed))
    }

    /// Checks blocks in the same way as a tree that has read them from storage.
    fn check(
        &self,
        bench: &Bench<'_>,
        blocks: &Blocks,
        random: &mut Random,
        answers: &mut Answers,
    ) -> Result<Timing, Fault> {
        let kind = bench.design.options.block.checksum;
        let sum = |block: usize, bytes: &[u8]| checksum(kind, 1, block as u64, bytes);
        let block = |at: usize| &blocks.bytes[blocks.places[at].clone()];
        let mut sums = vec![0; SLICE];
        bench.slices((self.0.operations.0, SLICE, self.0.limit.0), answers, |count, slice| {
            let drawn: Vec<usize> =
                (0..count).map(|_| random.below(blocks.places.len() as u64) as usize).collect();
            slice.time(|| {
                for (at, given) in drawn.iter().zip(&mut sums) {
                    *given = sum(*at, black_box(block(*at)));
                }
            });
            slice.idle(|| {
                for at in &drawn {
                    black_box(block(*at));
                }
            });
            for (at, given) in drawn.iter().zip(&sums).step_by(64) {
                let mut damaged = block(*at).to_vec();
                let middle = damaged.len() / 2;
                damaged[middle] ^= 1;
                let tells = kind == Checksum::None || sum(*at, &damaged) != *given;
                slice.answers.expect(tells && sum(*at, block(*at)) == *given, || {
                    format!(
                        "two computations of the checksum of block {at} differ, or the checksum does not \
                         detect a flipped bit"
                    )
                });
            }
            Ok(())
        })
    }
}

/// Encodes all entries into blocks, in the same way as an SSTable.
fn lay_out(
    builder: &mut BlockBuilder,
    options: &BlockOptions,
    source: &Source,
    values: &[Vec<u8>],
    blocks: &mut Blocks,
) {
    let limit = options.size.0 as usize - TRAILER_BYTES;
    let mut first = 0;
    for (number, value) in values.iter().enumerate() {
        let key = source.key(2 * number);
        let entry = Entry { key: key.bytes, value: Some(value) };
        if number > first && builder.would_exceed(&entry, limit) {
            builder.finish(|block| blocks.push(block, first..number));
            first = number;
        }
        builder.add(entry, key.hash);
    }
    builder.finish(|block| blocks.push(block, first..values.len()));
}

impl Blocks {
    fn push(&mut self, block: &[u8], entries: Range<usize>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(block);
        self.places.push(start..self.bytes.len());
        self.entries.push(entries);
    }

    /// Draws a random block and a key for a lookup in this block. If `absent` is set, the key is not in the block, but
    /// sorts after one of its entries.
    fn draw(&self, absent: bool, random: &mut Random) -> Probe {
        let block = random.below(self.places.len() as u64) as usize;
        let entries = &self.entries[block];
        let choices = (entries.len() - usize::from(absent)).max(1);
        let entry = entries.start + random.below(choices as u64) as usize;
        Probe { block, key: 2 * entry + usize::from(absent) }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn lookups() -> Lookups {
        Lookups(Params { entries: Count(500), operations: Count(3_000), ..Params::default() })
    }

    /// Rule: if a block has the bytes of another block, lookups find none of its keys, or wrong values.
    #[test]
    fn blocks_that_answer_wrongly_are_caught() {
        let (design, here) = (Design::default(), Path::new("."));
        let mut bench = Bench::new(&design, (1, RunMode::Timed), (here, here), &|_| {});
        let (subject, mut random) = (lookups(), Random::new(1));
        let source = subject.source(&design, &mut random).unwrap();
        let mut blocks = subject.build_blocks(&mut bench, &source).unwrap();
        let judge = |blocks: &Blocks, absent| {
            let mut answers = Answers::default();
            subject.look_up(&bench, (&source, blocks, absent), &mut Random::new(2), &mut answers).unwrap();
            assert_eq!(answers.checked, 3_000);
            answers.wrong
        };
        assert_eq!((judge(&blocks, false), judge(&blocks, true)), (0, 0));
        let last = blocks.places.len() - 1;
        blocks.places.swap(0, last);
        assert!(judge(&blocks, false) > 100);
        assert_eq!(judge(&blocks, true), 0, "absent keys are absent from every block");
        blocks.places.swap(0, last);
        // Replaces a value with another one.
        let end = blocks.places[0].start + 200;
        blocks.bytes[blocks.places[0].start + 100..end].fill(0xee);
        assert!(judge(&blocks, false) > 0);
    }

    #[test]
    fn every_checksum_tells_damage() {
        for kind in ["none", "crc32c", "crc32", "xxh3"] {
            let toml = format!("block = {{ checksum = \"{kind}\" }}").parse().unwrap();
            let (design, here) = (Design::default().with(&toml).unwrap(), Path::new("."));
            let mut bench = Bench::new(&design, (1, RunMode::Timed), (here, here), &|_| {});
            lookups().run(&mut bench).unwrap();
            for phase in bench.into_phases().iter().filter(|phase| phase.name != "build") {
                assert!(phase.answers.checked > 40 && phase.answers.wrong == 0, "{kind}: {phase:?}");
            }
        }
    }
}
