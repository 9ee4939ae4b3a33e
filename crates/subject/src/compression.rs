//! The codec under test. The test measures the compressed size, and the speed of compression and decompression. All
//! blocks belong to one SSTable. A codec with a dictionary trains its dictionary on the first blocks, and the
//! dictionary counts as stored bytes.

use std::path::Path;
use std::sync::Arc;

use catalog::{Build, ByteSize, ChoiceError, Count, Time, Variant};
use compression::{Compression, Decompressor, Dictionaries};
use measure::allocation;
use results::{Metric, RunMode, columns as c};
use serde::{Deserialize, Serialize};

use crate::bench::Bench;
use crate::contents::ContentChoice;
use crate::fault::Fault;
use crate::seam::{Cost, Subject, check_count};

pub(crate) const VARIANT: Variant<dyn Subject> = Variant::new::<Blocks>(
    "compression",
    "compression and decompression of blocks with a given content",
    r#"# Content of the blocks. Valid values: "entries", "keys", "integers", "noise", "file".
content = "entries"
# Length of each block.
block   = "4KiB"
# Number of blocks per phase.
blocks  = 4_000
# Level of the tree to which the blocks belong. Some codecs, such as "by-level", depend on the level.
level   = 2
# Time limit of each timed phase.
limit   = "5s"
"#,
);

/// The number of blocks per slice. A slice is a number of operations that are timed together.
const SLICE: usize = 16;

struct Blocks(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    content: ContentChoice,
    block: ByteSize,
    blocks: Count,
    level: u32,
    limit: Time,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            content: ContentChoice::default(),
            block: ByteSize(4096),
            blocks: Count(4_000),
            level: 2,
            limit: Time(5_000_000_000),
        }
    }
}

impl Build<dyn Subject> for Blocks {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Subject>, String> {
        check_count("block", params.block.0, 64 << 20)?;
        check_count("blocks", params.blocks.0, 1 << 32)?;
        if params.block.0 * params.blocks.0 > 64 << 30 {
            return Err("blocks: the total length of all blocks (blocks × block) must not exceed 64 GiB; \
                        lower `blocks` or `block`"
                .to_owned());
        }
        Ok(Box::new(Self(params)))
    }
}

/// A codec that was trained for the blocks of one SSTable, with its decompressor.
struct Codec {
    compression: Arc<dyn Compression>,
    decompressor: Decompressor,
    /// The size of the trained dictionary in bytes.
    learnt_bytes: usize,
}

impl Codec {
    /// Trains `codec` for an SSTable with the given blocks. The training samples are the first blocks with a total of
    /// at least [`Compression::sample_bytes`] bytes.
    fn of_table(codec: Box<dyn Compression>, level: usize, blocks: &[&[u8]]) -> Result<Self, Fault> {
        let wanted = codec.sample_bytes(level);
        let mut taken = 0;
        let is_sample = |block: &&&[u8]| {
            let is_wanted = taken < wanted;
            taken += block.len();
            is_wanted
        };
        let samples: Vec<&[u8]> = blocks.iter().take_while(is_sample).copied().collect();
        let mut dictionaries = Dictionaries::default();
        let learnt = match samples.is_empty() {
            true => None,
            false => codec.learn(level, &samples, &mut dictionaries),
        };
        let stored = dictionaries.encode();
        let decompressor = Decompressor::open(&stored)?;
        let compression = learnt.unwrap_or_else(|| Arc::from(codec));
        Ok(Self { compression, decompressor, learnt_bytes: stored.len() })
    }

    fn is_intact(&self, block: &[u8], stored: &Stored) -> bool {
        let mut out = vec![0xa5; block.len()];
        self.decompressor.decompress(stored.tag, &stored.bytes, &mut out).is_ok() && out == block
    }
}

/// A compressed block, together with the tag of its codec.
struct Stored {
    tag: u8,
    bytes: Vec<u8>,
}

impl Stored {
    /// Creates an empty buffer for a compressed block, with enough reserved memory for the output of any codec.
    fn room_for(block: &[u8]) -> Self {
        Self { tag: 0, bytes: Vec::with_capacity(2 * block.len() + 1024) }
    }
}

impl Subject for Blocks {
    fn axis(&self) -> &'static str {
        "compression"
    }

    fn phases(&self) -> &'static [&'static str] {
        &["compress", "decompress"]
    }

    fn modes(&self) -> &'static [RunMode] {
        &[RunMode::Timed, RunMode::Counted]
    }

    fn verdict(&self) -> (&'static str, &'static Metric) {
        ("decompress", &c::MEGABYTES_PER_SECOND)
    }

    fn price(&self) -> &'static Metric {
        &c::RATIO
    }

    fn check_files(&self, base: &Path) -> Result<(), ChoiceError> {
        let read = self.0.content.build().bytes(1, 0, base);
        read.map(|_| ()).map_err(|error| ChoiceError::at("content", error))
    }

    fn cost(&self) -> Cost {
        let bytes = (self.0.block.0 * self.0.blocks.0) as f64;
        let limit = self.0.limit.0 as f64 / 1e9;
        let phase_seconds = vec![(bytes / 100e6).min(limit), (bytes / 500e6).min(limit)];
        Cost { memory_bytes: 3.0 * bytes, phase_seconds, ..Cost::default() }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault> {
        let length = self.0.block.0 as usize;
        let wanted = length * self.0.blocks.0 as usize;
        let bytes = self.0.content.build().bytes(wanted, bench.seed, bench.base)?;
        let blocks: Vec<&[u8]> = bytes.chunks(length).collect();
        let codec = compression::CATALOG.build(bench.design.choice("compression"))?;
        let codec = Codec::of_table(codec, self.0.level as usize, &blocks)?;
        let stored = self.compress(bench, &codec, &blocks)?;
        self.decompress(bench, &codec, &blocks, &stored)
    }
}

impl Blocks {
    /// Returns the memory that a codec needs to compress blocks, in bytes, without the memory of the blocks and of the
    /// output. Returns `None` if allocations are not counted.
    fn working_bytes(&self, codec: &Codec, blocks: &[&[u8]]) -> Option<u64> {
        let blocks = &blocks[..blocks.len().min(SLICE)];
        let mut out = Stored::room_for(blocks.first()?);
        compression::make_room(blocks.iter().map(|block| block.len()).max()?);
        let level = self.0.level as usize;
        let own = allocation::most_held(|| {
            for block in blocks {
                out.bytes.clear();
                codec.compression.compress(level, block, &mut out.bytes);
            }
        });
        allocation::are_counted().then(|| (own + codec.compression.foreign_bytes(level)) as u64)
    }

    fn compress(&self, bench: &mut Bench<'_>, codec: &Codec, blocks: &[&[u8]]) -> Result<Vec<Stored>, Fault> {
        let mut phase = bench.begin("compress");
        phase.cells.set_some(&c::WORKING_BYTES, self.working_bytes(codec, blocks));
        let mut stored: Vec<Stored> = Vec::new();
        let plan = (blocks.len() as u64, SLICE, self.0.limit.0);
        let timing = bench.slices(plan, &mut phase.answers, |count, slice| {
            let blocks = &blocks[stored.len()..][..count];
            // Memory is allocated before the clock runs, because a tree reuses one buffer.
            let mut made: Vec<Stored> = blocks.iter().map(|block| Stored::room_for(block)).collect();
            slice.time(|| {
                for (block, made) in blocks.iter().zip(&mut made) {
                    made.tag = codec.compression.compress(self.0.level as usize, block, &mut made.bytes);
                }
            });
            for (block, made) in blocks.iter().zip(&made) {
                let is_intact = codec.is_intact(block, made);
                slice
                    .answers
                    .expect(is_intact, || "decompression did not restore the original block".to_owned());
            }
            made.iter_mut().for_each(|made| made.bytes.shrink_to_fit());
            stored.append(&mut made);
            Ok(())
        })?;
        timing.write(&mut phase.cells);
        timing.write_speed(mean_length(&blocks[..stored.len()]), &mut phase.cells);
        let original: usize = blocks[..stored.len()].iter().map(|block| block.len()).sum();
        let kept = codec.learnt_bytes + stored.iter().map(|stored| stored.bytes.len()).sum::<usize>();
        bench.about().set(&c::RATIO, original as f64 / kept.max(1) as f64);
        bench.about().set(&c::TABLE_BYTES, kept as u64);
        bench.end(phase);
        Ok(stored)
    }

    fn decompress(
        &self,
        bench: &mut Bench<'_>,
        codec: &Codec,
        blocks: &[&[u8]],
        stored: &[Stored],
    ) -> Result<(), Fault> {
        let mut phase = bench.begin("decompress");
        let mut done = 0;
        let mut outs: Vec<Vec<u8>> = Vec::new();
        let plan = (stored.len() as u64, SLICE, self.0.limit.0);
        let timing = bench.slices(plan, &mut phase.answers, |count, slice| {
            let (blocks, stored) = (&blocks[done..][..count], &stored[done..][..count]);
            outs.clear();
            outs.extend(blocks.iter().map(|block| vec![0xa5; block.len()]));
            let mut failed = None;
            slice.time(|| {
                for (stored, out) in stored.iter().zip(&mut outs) {
                    failed =
                        failed.take().or(codec.decompressor.decompress(stored.tag, &stored.bytes, out).err());
                }
            });
            if let Some(error) = failed {
                return Err(error.into());
            }
            for (block, out) in blocks.iter().zip(&outs) {
                slice
                    .answers
                    .expect(block == out, || "decompression did not restore the original block".to_owned());
            }
            done += count;
            Ok(())
        })?;
        timing.write(&mut phase.cells);
        timing.write_speed(mean_length(blocks), &mut phase.cells);
        bench.end(phase);
        Ok(())
    }
}

fn mean_length(blocks: &[&[u8]]) -> f64 {
    blocks.iter().map(|block| block.len()).sum::<usize>() as f64 / blocks.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use compression::{CorruptBlock, RAW};
    use tree::Design;

    use super::*;

    /// Fault: the codec loses the last byte of a block.
    struct Lossy;

    impl Compression for Lossy {
        fn tag(&self) -> Option<u8> {
            Some(RAW)
        }

        fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
            out.extend_from_slice(&block[..block.len() - 1]);
            out.push(!block[block.len() - 1]);
            RAW
        }

        fn decompress(&self, _: &[u8], _: &mut [u8]) -> Result<(), CorruptBlock> {
            Ok(())
        }
    }

    #[test]
    fn a_codec_that_loses_bytes_is_caught() {
        let (design, here) = (Design::default(), Path::new("."));
        let subject = Blocks(Params::default());
        let bytes: Vec<u8> = (0..100_000u32).map(|number| number as u8).collect();
        let blocks: Vec<&[u8]> = bytes.chunks(4096).collect();
        let mut bench = Bench::new(&design, (1, RunMode::Counted), (here, here), &|_| {});
        let codec = Codec::of_table(Box::new(Lossy), 0, &blocks).unwrap();
        subject.compress(&mut bench, &codec, &blocks).unwrap();
        let phase = bench.into_phases().pop().unwrap();
        assert_eq!((phase.answers.wrong, phase.answers.checked), (25, 25));
    }

    /// Rule: the working memory of a codec is the state that it keeps between blocks, plus its temporary allocations.
    #[test]
    fn the_memory_of_a_codec_is_what_it_takes_besides_its_output() {
        let subject = Blocks(Params { block: ByteSize(65_536), level: 0, ..Params::default() });
        let bytes: Vec<u8> =
            (0..500_000u32).flat_map(|number| number.wrapping_mul(number).to_le_bytes()).collect();
        let blocks: Vec<&[u8]> = bytes.chunks(65_536).collect();
        let working = |label: &str| {
            let choice = compression::CATALOG.choose(&label.into()).unwrap();
            let codec = compression::CATALOG.build(&choice).unwrap();
            let codec = Codec::of_table(codec, 0, &blocks).unwrap();
            subject.working_bytes(&codec, &blocks).unwrap()
        };
        assert_eq!(working("none"), 0);
        // Hash tables of 4,096 slots of two bytes and then of four, and one of 16,384 slots of two.
        for (label, least, most) in [
            ("lz4", 16 << 10, 26 << 10),
            ("snappy", 32 << 10, 36 << 10),
            ("lz4-hc", 256 << 10, 260 << 10),
            ("zstd(level=1)", 64 << 10, 1 << 20),
            ("lzma(level=1)", 128 << 10, 16 << 20),
        ] {
            let bytes = working(label);
            assert!((least..=most).contains(&bytes), "{label}: {bytes}");
        }
        assert!(working("zstd(level=19)") > 2 * working("zstd(level=1)"));
        // Blocks of level 0, whichever codec deeper levels use.
        assert_eq!(working(r#"by-level(levels=["none", "lz4-hc"])"#), 0);
        assert_eq!(working(r#"by-level(levels=["lz4-hc", "none"])"#), working("lz4-hc"));
    }
}
