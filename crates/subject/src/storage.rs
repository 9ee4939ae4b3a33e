//! The storage back end under test. The test measures appends to one file, random reads of its blocks, and durable
//! appends to a second file.
//!
//! The files are in the results folder. Because the first file was just written, its content is in the page cache. For
//! a back end that uses the page cache, the measured times are therefore times of the page cache, not of the device.

use std::path::Path;

use catalog::{Build, ByteSize, Count, Time, Variant};
use results::{Metric, RunMode, columns as c};
use serde::{Deserialize, Serialize};
use storage::{Purpose, ReadFile, Storage};
use workload::Random;

use crate::bench::{Bench, TIME};
use crate::fault::Fault;
use crate::seam::{Cost, Subject, check_count};

pub(crate) const VARIANT: Variant<dyn Subject> = Variant::new::<Files>(
    "storage",
    "appends and random reads of one file, and synced appends to another file",
    r#"# Length of the file.
file       = "64MiB"
# Number of bytes per append.
append     = "64KiB"
# Number of appends of one block that each end with a sync.
syncs      = 50
# Length of a block, which is the number of bytes per read. Each read begins at a multiple of this
# length.
block      = "4KiB"
# Number of reads.
operations = 50_000
# Time limit of each timed phase. The file is always written completely.
limit      = "5s"
"#,
);

/// The number of operations per slice. A slice is a number of operations that are timed together.
const SLICE: usize = 32;

struct Files(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    file: ByteSize,
    append: ByteSize,
    syncs: Count,
    block: ByteSize,
    operations: Count,
    limit: Time,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            file: ByteSize(64 << 20),
            append: ByteSize(64 << 10),
            syncs: Count(50),
            block: ByteSize(4096),
            operations: Count(50_000),
            limit: Time(5_000_000_000),
        }
    }
}

impl Build<dyn Subject> for Files {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Subject>, String> {
        check_count("file", params.file.0, 1 << 40)?;
        check_count("append", params.append.0, params.file.0)?;
        check_count("block", params.block.0, params.file.0)?;
        check_count("syncs", params.syncs.0, 1 << 32)?;
        check_count("operations", params.operations.0, 1 << 40)?;
        Ok(Box::new(Self(params)))
    }
}

impl Subject for Files {
    fn axis(&self) -> &'static str {
        "storage"
    }

    fn phases(&self) -> &'static [&'static str] {
        &["append", "sync", "read"]
    }

    fn modes(&self) -> &'static [RunMode] {
        &[RunMode::Timed]
    }

    fn verdict(&self) -> (&'static str, &'static Metric) {
        ("read", TIME)
    }

    fn price(&self) -> &'static Metric {
        &c::MEGABYTES_PER_SECOND
    }

    fn cost(&self) -> Cost {
        let reads = (self.0.operations.0 as f64 * 20e-6).min(self.0.limit.0 as f64 / 1e9);
        let file = self.0.file.0 as f64;
        Cost {
            memory_bytes: (self.0.append.0 + self.0.block.0 * SLICE as u64) as f64,
            storage_bytes: file * 1.1,
            phase_seconds: vec![file / 300e6, self.0.syncs.0 as f64 * 2e-3, reads],
        }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault> {
        let storage = storage::CATALOG.build(bench.design.choice("storage"))?;
        // If the back end models a device, its callers wait as long as this device needs.
        storage.set_waiting(true);
        storage.create_directory(bench.directory)?;
        let content = content(self.0.append.0 as usize, bench.seed);
        let path = bench.directory.join("file");
        self.append(bench, &*storage, &path, &content)?;
        self.sync(bench, &*storage, &bench.directory.join("log"))?;
        let file = storage.open(&path, Purpose::Table)?;
        self.read(bench, &*file, &content)
    }
}

/// Returns the bytes that each append to the first file writes.
fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..length).map(|_| random.bits() as u8).collect()
}

impl Files {
    fn append(
        &self,
        bench: &mut Bench<'_>,
        storage: &dyn Storage,
        path: &Path,
        content: &[u8],
    ) -> Result<(), Fault> {
        let mut phase = bench.begin("append");
        let mut writer = storage.create(path, Purpose::Table)?;
        let plan = (self.0.file.0 / self.0.append.0, SLICE, u64::MAX);
        let timing = bench.slices(plan, &mut phase.answers, |count, slice| {
            let mut done = Ok(());
            slice.time(|| done = (0..count).try_for_each(|_| writer.append(content)));
            Ok(done?)
        })?;
        writer.sync()?;
        let (given, right) = (writer.len(), timing.operations * content.len() as u64);
        phase
            .answers
            .expect(given == right, || format!("the written file has {given} bytes, expected {right} bytes"));
        timing.write(&mut phase.cells);
        timing.write_speed(content.len() as f64, &mut phase.cells);
        bench.end(phase);
        Ok(())
    }

    /// Measures durable appends: each append is followed by a sync, as in a WAL.
    fn sync(&self, bench: &mut Bench<'_>, storage: &dyn Storage, path: &Path) -> Result<(), Fault> {
        let mut phase = bench.begin("sync");
        let block = content(self.0.block.0 as usize, bench.seed);
        let mut writer = storage.create(path, Purpose::Log)?;
        let timing = bench.slices((self.0.syncs.0, 1, self.0.limit.0), &mut phase.answers, |_, slice| {
            let mut done = Ok(());
            slice.time(|| done = writer.append(&block).and_then(|()| writer.sync()));
            Ok(done?)
        })?;
        timing.write(&mut phase.cells);
        timing.write_speed(block.len() as f64, &mut phase.cells);
        drop(writer);
        let file = storage.open(path, Purpose::Log)?;
        let read = file.read(0, file.len() as usize)?;
        let is_right = read.len() as u64 == timing.operations * block.len() as u64
            && read.chunks(block.len()).all(|read| *read == *block);
        phase.answers.expect(is_right, || {
            "the file of synced appends does not contain exactly the appended blocks".to_owned()
        });
        bench.end(phase);
        Ok(())
    }

    fn read(&self, bench: &mut Bench<'_>, file: &dyn ReadFile, content: &[u8]) -> Result<(), Fault> {
        let mut phase = bench.begin("read");
        let (length, mut random) = (self.0.block.0 as usize, Random::new(bench.seed ^ 1));
        let places = (file.len() / self.0.block.0).max(1);
        let plan = (self.0.operations.0, SLICE, self.0.limit.0);
        let timing = bench.slices(plan, &mut phase.answers, |count, slice| {
            let offsets: Vec<u64> = (0..count).map(|_| random.below(places) * length as u64).collect();
            let mut blocks = Vec::with_capacity(count);
            let mut done = Ok(());
            slice.time(|| {
                done = offsets.iter().try_for_each(|offset| {
                    let block = file.read(*offset, length)?;
                    // A mapped file is read only when its bytes are accessed.
                    std::hint::black_box(block.iter().step_by(64).fold(0, |sum, byte| sum ^ byte));
                    blocks.push(block);
                    Ok(())
                });
            });
            done.map_err(|error: storage::StorageError| error)?;
            for (offset, block) in offsets.iter().zip(&blocks) {
                let start = (offset % content.len() as u64) as usize;
                let right = content[start..].iter().chain(content.iter().cycle()).take(length);
                slice.answers.expect(right.eq(block.iter()), || {
                    format!("the block at offset {offset} does not contain the appended bytes")
                });
            }
            Ok(())
        })?;
        timing.write(&mut phase.cells);
        timing.write_speed(length as f64, &mut phase.cells);
        phase.cells.set(&c::BLOCKS_READ, timing.operations);
        bench.end(phase);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use storage::StorageError;
    use tree::Design;
    use types::Bytes;

    use super::*;

    /// Fault: all reads of the file are shifted by one byte.
    struct Shifted(Vec<u8>);

    impl ReadFile for Shifted {
        fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
            Ok(Bytes::copy_from(&self.0[offset as usize + 1..][..len]))
        }

        fn len(&self) -> u64 {
            self.0.len() as u64 - 1
        }
    }

    #[test]
    fn a_block_from_the_wrong_place_is_caught() {
        let (design, here) = (Design::default(), Path::new("."));
        let subject = Files(Params { operations: Count(100), ..Params::default() });
        let content = content(10_000, 1);
        let file = Shifted(content.repeat(10));
        let mut bench = Bench::new(&design, (1, RunMode::Timed), (here, here), &|_| {});
        subject.read(&mut bench, &file, &content).unwrap();
        let phase = bench.into_phases().pop().unwrap();
        assert_eq!((phase.answers.wrong, phase.answers.checked), (100, 100));
    }
}
