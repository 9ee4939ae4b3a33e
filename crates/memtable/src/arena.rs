//! An append-only store of bytes in chunks that never move. A record needs no separate allocation, and the arena copies
//! no bytes when it grows.
//!
//! The next arena of a tree reuses the chunks of a dropped arena. New memory would cause a page fault for every 4 KiB,
//! and a page fault takes longer than all other steps of an append.

use std::sync::Arc;

use parking_lot::Mutex;
use types::PADDING;

/// The smallest and the largest size of a chunk of an arena in bytes. A record that is larger than a chunk gets a
/// larger chunk of its own.
const CHUNK_BYTES: std::ops::RangeInclusive<usize> = 4 << 10..=1 << 20;

/// The size of a chunk is the expected size of the memtable divided by this number, within the limits of
/// [`CHUNK_BYTES`]. Small chunks limit the unused memory at the end of the arena.
const CHUNKS_PER_CAPACITY: usize = 16;

/// The position of a record in an arena: the index of the chunk, and the byte offset in the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordAddress {
    chunk: u32,
    offset: u32,
}

/// A pool of unused memory chunks, which the next arenas of a tree reuse.
#[derive(Debug, Default)]
pub(crate) struct ChunkPool {
    idle: Mutex<Vec<Vec<u8>>>,
}

impl ChunkPool {
    /// Returns an empty chunk with space for a record of `len` bytes. The chunk is an unused chunk from the pool, or a
    /// new chunk.
    fn take(&self, len: usize) -> Vec<u8> {
        let wanted = len + PADDING;
        let idle = self.idle.lock().pop();
        idle.filter(|chunk| chunk.capacity() == wanted).unwrap_or_else(|| Vec::with_capacity(wanted))
    }

    /// Puts chunks into the pool until the pool has `limit_bytes` bytes of chunks. Frees all other chunks.
    fn put(&self, chunks: impl Iterator<Item = Vec<u8>>, limit_bytes: usize) {
        let mut idle = self.idle.lock();
        let mut held: usize = idle.iter().map(Vec::capacity).sum();
        for mut chunk in chunks {
            held += chunk.capacity();
            if held > limit_bytes {
                return;
            }
            chunk.clear();
            idle.push(chunk);
        }
    }
}

/// An append-only store of records in memory chunks that never move. The caller stores the length of a record within
/// the record.
#[derive(Debug)]
pub(crate) struct Arena {
    chunks: Vec<Vec<u8>>,
    /// The index of the chunk to which the next record of normal size is appended.
    current: usize,
    chunk_bytes: usize,
    allocated_bytes: usize,
    capacity_bytes: usize,
    pool: Arc<ChunkPool>,
}

impl Arena {
    /// Creates an empty arena for about `capacity_bytes` bytes. When the arena is dropped, its chunks are put into
    /// `pool` until the pool has `capacity_bytes` bytes.
    pub(crate) fn new(capacity_bytes: usize, pool: &Arc<ChunkPool>) -> Self {
        let chunk_bytes =
            (capacity_bytes / CHUNKS_PER_CAPACITY).clamp(*CHUNK_BYTES.start(), *CHUNK_BYTES.end());
        Self {
            chunks: Vec::new(),
            current: 0,
            chunk_bytes,
            allocated_bytes: 0,
            capacity_bytes,
            pool: Arc::clone(pool),
        }
    }

    /// Appends the bytes of `parts`, one after the other, as one record.
    ///
    /// # Panics
    /// The record is longer than 4 GiB. A record cannot be so long if its key and value are within the limits of the
    /// tree.
    #[inline]
    pub(crate) fn append<const PARTS: usize>(&mut self, parts: [&[u8]; PARTS]) -> RecordAddress {
        let len = parts.iter().map(|part| part.len()).sum();
        let index = match self.chunks.get(self.current) {
            Some(chunk) if chunk.capacity() - chunk.len() >= len + PADDING => self.current,
            _ => self.make_room(len),
        };
        let chunk = &mut self.chunks[index];
        let offset = u32::try_from(chunk.len()).expect("a chunk of an arena must be shorter than 4 GiB");
        for part in parts {
            chunk.extend_from_slice(part);
        }
        RecordAddress { chunk: index as u32, offset }
    }

    /// Returns the bytes of a chunk from the address `place` on. The record with this address is at the start of these
    /// bytes.
    #[inline]
    pub(crate) fn bytes_from(&self, place: RecordAddress) -> &[u8] {
        &self.chunks[place.chunk as usize][place.offset as usize..]
    }

    /// Returns the number of bytes that the arena has allocated, including unused bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.allocated_bytes + self.chunks.capacity() * size_of::<Vec<u8>>()
    }

    /// Makes space for a record of `len` bytes, and returns the index of its chunk. A record that is larger than a
    /// normal chunk gets its own chunk, and later records still use the current chunk.
    #[cold]
    fn make_room(&mut self, len: usize) -> usize {
        let index = self.chunks.len();
        let chunk = if len <= self.chunk_bytes {
            self.current = index;
            self.pool.take(self.chunk_bytes)
        } else {
            Vec::with_capacity(len + PADDING)
        };
        self.allocated_bytes += chunk.capacity();
        self.chunks.push(chunk);
        index
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let ordinary = self.chunk_bytes + PADDING;
        let chunks = self.chunks.drain(..).filter(|chunk| chunk.capacity() == ordinary);
        self.pool.put(chunks, self.capacity_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_all_sizes_stay_where_they_were_put() {
        let pool = Arc::default();
        let lengths = [0, 1, 4096, 5000, 4095, 2, 1 << 20, 100, 0, 4096];
        // The second arena reuses the chunks of the first arena and overwrites their content.
        for fill in [1, 2] {
            let mut arena = Arena::new(1 << 16, &pool);
            let records: Vec<(RecordAddress, Vec<u8>)> = (0..100)
                .map(|i| {
                    let record = vec![i as u8 * fill; lengths[i % lengths.len()]];
                    let (a, b) = record.split_at(record.len() / 3);
                    (arena.append([a, b]), record)
                })
                .collect();
            for (place, record) in &records {
                assert_eq!(&arena.bytes_from(*place)[..record.len()], record);
            }
            assert!(arena.chunks.iter().all(|chunk| chunk.capacity() - chunk.len() >= PADDING));
        }
    }

    #[test]
    fn a_large_record_does_not_close_the_current_chunk() {
        let mut arena = Arena::new(0, &Arc::default());
        arena.append([b"small"]);
        arena.append([&vec![0; 1 << 20]]);
        arena.append([b"small"]);
        assert_eq!(arena.chunks.len(), 2);
        assert!(arena.memory_bytes() >= (1 << 20) + (4 << 10));
    }

    #[test]
    fn the_pool_keeps_ordinary_chunks_up_to_one_capacity() {
        let pool = Arc::<ChunkPool>::default();
        let mut arena = Arena::new(1 << 20, &pool);
        for _ in 0..100 {
            arena.append([&vec![0; 60 << 10]]);
        }
        arena.append([&vec![0; 1 << 20]]);
        drop(arena);
        let held: usize = pool.idle.lock().iter().map(Vec::capacity).sum();
        assert!(((1 << 19)..=1 << 20).contains(&held), "{held}");
        let mut next = Arena::new(1 << 20, &pool);
        next.append([b"one"]);
        assert_eq!(next.chunks[0].len(), 3, "a chunk comes empty");
        drop(next);
        assert_eq!(pool.idle.lock().iter().map(Vec::capacity).sum::<usize>(), held, "lent and given back");
    }
}
