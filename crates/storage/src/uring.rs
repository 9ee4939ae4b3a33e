//! Reads and writes SSTables through `io_uring(7)`. If one call requests several parts of a file, a single system call
//! starts all reads concurrently.
//!
//! If a device takes 50 µs for one block, it takes only slightly longer for sixteen concurrent blocks. Concurrent reads
//! are the only benefit of `io_uring` in lsmbench. A single read takes as long as with pread(2), and a read from the
//! page cache takes longer. Reads of SSTables therefore bypass the page cache, unless the parameter `direct` is false.
//! WALs and the manifest do not use `io_uring`, because a store writes them with small writes, one after another. The
//! parameter `log` selects how WALs are written.
//!
//! Each call takes a ring that no other call uses, or creates a new ring. A store therefore has as many rings as
//! concurrent calls. Each ring has up to 1 MiB of memory for reads and writes. See Axboe, "Efficient IO with
//! `io_uring`" (2019), and Didona et al., "Understanding Modern Storage APIs" (SYSTOR 2022).

#[cfg(not(target_os = "linux"))]
mod no_ring;
#[cfg(target_os = "linux")]
mod ring;
mod rings;
mod step;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use types::Bytes;

#[cfg(not(target_os = "linux"))]
use self::no_ring as ring;
use self::ring::Ring;
use self::rings::Rings;
use self::step::Step;
use crate::aligned::ALIGNMENT;
use crate::appending::{Appending, appending_reference};
use crate::block_writer::{BlockFile, BlockWriter};
use crate::direct::{create_direct, open_direct};
use crate::posix::{Files, Posix, create_new, open_existing};
use crate::pread;
use crate::storage::{Purpose, ReadFile, Storage, StorageError, WriteFile, check_bounds};

pub(crate) const VARIANT: Variant<dyn Storage> = Variant::new::<Uring>(
    "uring",
    "SSTables read by io_uring; the reads of one call, such as a multi-get, run concurrently",
    concat!(
        "# Maximum number of concurrent reads per call, 1 to 4096.\n\
         queue_depth = 64\n\
         # Whether SSTables bypass the page cache. For pages in the page cache, \"pread\" is faster.\n\
         direct = true\n",
        appending_reference!()
    ),
)
.limited(if cfg!(target_os = "linux") { &[] } else { &[Limit::NotOnPlatform] });

/// The valid values of the parameter `queue_depth`.
const DEPTHS: std::ops::RangeInclusive<u32> = 1..=4096;

/// The maximum total size in bytes of reads that run concurrently. A read that is larger than this limit runs alone.
const BATCH_BYTES: usize = 1 << 20;

/// The storage back end `uring`: reads and writes SSTables through `io_uring`, and all other files through the page
/// cache.
struct Uring {
    rings: Arc<Rings>,
    direct: bool,
    log: Appending,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    queue_depth: u32,
    direct: bool,
    log: Appending,
}

impl Default for Params {
    fn default() -> Self {
        Self { queue_depth: 64, direct: true, log: Appending::default() }
    }
}

impl Build<dyn Storage> for Uring {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Storage>, String> {
        if !DEPTHS.contains(&params.queue_depth) {
            return Err(format!("queue_depth is {}; it must be 1 to 4096", params.queue_depth));
        }
        let Params { queue_depth, direct, log } = params;
        Ok(Box::new(Posix(Self { rings: Arc::new(Rings::new(queue_depth)), direct, log })))
    }
}

impl Files for Uring {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        self.rings.check().map_err(|error| StorageError::new("create", path, error))?;
        if purpose != Purpose::Table {
            return self.log.create(path, purpose);
        }
        let file = match self.direct {
            true => create_direct(path)?,
            false => create_new(path, 0).map_err(|error| StorageError::new("create", path, error))?,
        };
        Ok(Box::new(BlockWriter::new(path, RingFile { file, rings: Arc::clone(&self.rings) })))
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        self.rings.check().map_err(|error| StorageError::new("open", path, error))?;
        if purpose != Purpose::Table {
            return pread::open(path);
        }
        let (file, len) = match self.direct {
            true => open_direct(path)?,
            false => open_existing(path, 0).map_err(|error| StorageError::new("open", path, error))?,
        };
        let alignment = if self.direct { ALIGNMENT } else { 1 };
        Ok(Arc::new(RingReader {
            file,
            path: path.to_owned(),
            len,
            alignment,
            rings: Arc::clone(&self.rings),
        }))
    }
}

/// A file that is written through `io_uring`.
struct RingFile {
    file: File,
    rings: Arc<Rings>,
}

impl BlockFile for RingFile {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.rings.lend(|ring| {
            ring.scratch_mut(bytes.len())?.copy_from_slice(bytes);
            let mut written = 0;
            while written < bytes.len() {
                let at = offset + written as u64;
                let step = Step::Write { start: written, len: bytes.len() - written, offset: at };
                // The next write must start at a whole block.
                match only_result(ring.run(&self.file, &[step])?)? {
                    done if written + done == bytes.len() => written = bytes.len(),
                    done if done < ALIGNMENT => return Err(io::ErrorKind::WriteZero.into()),
                    done => written += done - done % ALIGNMENT,
                }
            }
            Ok(())
        })
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.rings.lend(|ring| only_result(ring.run(&self.file, &[Step::Sync])?).map(|_| ()))
    }
}

/// Returns the result of the only step of a call. `results` must have exactly one element.
fn only_result(mut results: Vec<io::Result<usize>>) -> io::Result<usize> {
    results.pop().unwrap_or(Ok(0))
}

/// A file that is read through `io_uring`.
struct RingReader {
    file: File,
    path: PathBuf,
    len: u64,
    /// The required alignment of the offsets, lengths and addresses of reads, in bytes.
    alignment: usize,
    rings: Arc<Rings>,
}

/// A requested part of a file, and how much of it was read.
struct Part {
    /// The index of this part in the list of requested parts.
    place: usize,
    /// The offset in the file at which the read starts, which is a multiple of the alignment.
    offset: u64,
    /// The number of bytes that are read before the requested bytes, because each read starts at an aligned offset.
    before: usize,
    /// The number of bytes to read: the bytes before the requested bytes, and the requested bytes.
    needed: usize,
    /// The position of this part in the buffer of the `io_uring` ring.
    start: usize,
    /// The number of bytes of this part that were read so far.
    filled: usize,
}

impl Part {
    /// Returns the number of bytes that the part takes in the buffer of the `io_uring` ring. The number is a multiple
    /// of the alignment, so the read may extend beyond the end of the file.
    fn room(&self, alignment: usize) -> usize {
        self.needed.next_multiple_of(alignment)
    }

    fn step(&self, alignment: usize) -> Step {
        let len = self.room(alignment) - self.filled;
        Step::Read { start: self.start + self.filled, len, offset: self.offset + self.filled as u64 }
    }

    /// Records the result of one read of this part. Returns whether the part is complete.
    fn advance(&mut self, read: io::Result<usize>, alignment: usize) -> io::Result<bool> {
        let read = read?;
        if self.filled + read >= self.needed {
            return Ok(true);
        }
        if read < alignment {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // The next read must start at a multiple of the alignment.
        self.filled += read - read % alignment;
        Ok(false)
    }
}

type Answer = Result<Bytes, StorageError>;

impl ReadFile for RingReader {
    fn read(&self, offset: u64, len: usize) -> Answer {
        self.read_many(&[(offset, len)])
            .pop()
            .expect("a read of one part through io_uring must have exactly one result")
    }

    fn read_many(&self, parts: &[(u64, usize)]) -> Vec<Answer> {
        let mut answers: Vec<Option<Answer>> = parts.iter().map(|_| None).collect();
        let mut batch = Vec::new();
        let mut end = 0;
        for (place, (offset, len)) in parts.iter().enumerate() {
            if let Err(error) = check_bounds(&self.path, *offset, *len, self.len) {
                answers[place] = Some(Err(error));
                continue;
            }
            let before = (*offset % self.alignment as u64) as usize;
            let mut part = Part {
                place,
                offset: offset - before as u64,
                before,
                needed: before + len,
                start: end,
                filled: 0,
            };
            let room = part.room(self.alignment);
            if batch.len() == self.queue_depth() || (!batch.is_empty() && end + room > BATCH_BYTES) {
                self.read_batch(std::mem::take(&mut batch), end, &mut answers);
                part.start = 0;
            }
            end = part.start + room;
            batch.push(part);
        }
        self.read_batch(batch, end, &mut answers);
        answers
            .into_iter()
            .map(|answer| answer.expect("each part of a read through io_uring must have a result"))
            .collect()
    }

    fn queue_depth(&self) -> usize {
        self.rings.depth() as usize
    }

    fn len(&self) -> u64 {
        self.len
    }
}

impl RingReader {
    fn error(&self, error: io::Error) -> StorageError {
        StorageError::new("read", &self.path, error)
    }

    /// Reads several parts of the file concurrently, and stores their results in `answers`. Together, the parts take
    /// `bytes` bytes in the buffer of the `io_uring` ring.
    fn read_batch(&self, batch: Vec<Part>, bytes: usize, answers: &mut [Option<Answer>]) {
        let places: Vec<usize> = batch.iter().map(|part| part.place).collect();
        if let Err(error) = self.rings.lend(|ring| self.try_batch(ring, batch, bytes, answers)) {
            // If the ring fails, every part that is not complete fails, too.
            let copy =
                || error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
            for place in places {
                answers[place].get_or_insert_with(|| Err(self.error(copy())));
            }
        }
    }

    fn try_batch(
        &self,
        ring: &mut Ring,
        mut open: Vec<Part>,
        bytes: usize,
        answers: &mut [Option<Answer>],
    ) -> io::Result<()> {
        ring.scratch_mut(bytes)?;
        while !open.is_empty() {
            let steps: Vec<Step> = open.iter().map(|part| part.step(self.alignment)).collect();
            let results = ring.run(&self.file, &steps)?;
            let scratch = ring.scratch_mut(bytes)?;
            let mut short = Vec::new();
            for (mut part, result) in open.into_iter().zip(results) {
                match part.advance(result, self.alignment) {
                    Ok(true) => {
                        let read = &scratch[part.start..][part.before..part.needed];
                        answers[part.place] = Some(Ok(Bytes::copy_from(read)));
                    }
                    Ok(false) => short.push(part),
                    Err(error) => answers[part.place] = Some(Err(self.error(error))),
                }
            }
            open = short;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_have_a_depth() {
        let build = |queue_depth| <Uring as Build<_>>::build(Params { queue_depth, ..Params::default() });
        assert_eq!(build(0).err().unwrap(), "queue_depth is 0; it must be 1 to 4096");
        assert!(build(1).is_ok() && build(4096).is_ok() && build(4097).is_err());
    }

    #[test]
    fn short_reads_go_on_at_a_multiple() {
        let part = || Part { place: 0, offset: 8192, before: 100, needed: 9000, start: 4096, filled: 0 };
        let mut short = part();
        assert!(matches!(short.step(4096), Step::Read { start: 4096, len: 12_288, offset: 8192 }));
        assert!(!short.advance(Ok(5000), 4096).unwrap());
        assert!(matches!(short.step(4096), Step::Read { start: 8192, len: 8192, offset: 12_288 }));
        assert!(short.advance(Ok(4904), 4096).unwrap());
        let ends = |read, alignment| part().advance(read, alignment).unwrap_err().kind();
        assert_eq!(ends(Ok(4095), 4096), io::ErrorKind::UnexpectedEof);
        assert_eq!(ends(Ok(0), 1), io::ErrorKind::UnexpectedEof);
        assert_eq!(ends(Err(io::ErrorKind::StorageFull.into()), 1), io::ErrorKind::StorageFull);
    }
}
