//! The bytes of one file, and the number of synced bytes.

use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use rand::{Rng, RngExt};

/// The number of bytes that a device writes atomically (one sector).
pub(super) const SECTOR_BYTES: usize = 512;

/// The content of a file on the simulated disk. Several names may refer to the same content.
#[derive(Default)]
pub(super) struct Inode {
    content: Mutex<Content>,
}

#[derive(Default)]
struct Content {
    bytes: Arc<Vec<u8>>,
    synced: usize,
}

impl Inode {
    /// Creates a file whose bytes are all synced.
    pub(super) fn of(bytes: Arc<Vec<u8>>) -> Self {
        let synced = bytes.len();
        Self { content: Mutex::new(Content { bytes, synced }) }
    }

    /// Appends bytes. Readers that opened the file earlier still read the earlier content.
    pub(super) fn append(&self, bytes: &[u8]) {
        Arc::make_mut(&mut self.content.lock().bytes).extend_from_slice(bytes);
    }

    /// Makes all bytes of the file durable.
    pub(super) fn sync(&self) {
        let mut content = self.content.lock();
        content.synced = content.bytes.len();
    }

    /// Returns the current bytes of the file. Later appends do not change the result.
    pub(super) fn snapshot(&self) -> Arc<Vec<u8>> {
        Arc::clone(&self.content.lock().bytes)
    }

    /// Returns the file after a crash in which all bytes survive.
    pub(super) fn whole(&self) -> Self {
        Self::of(self.snapshot())
    }

    /// Returns the file after a crash in which all unsynced bytes are lost.
    pub(super) fn synced(&self) -> Self {
        self.cut(|unsynced| unsynced.start)
    }

    /// Returns the byte range of the unsynced bytes, which are at the end of the file.
    pub(super) fn unsynced(&self) -> Range<usize> {
        let content = self.content.lock();
        content.synced..content.bytes.len()
    }

    /// Returns the file after a crash that truncates it to `end` bytes. The unsynced bytes before `end` are divided
    /// into pieces at multiples of `unit`. `is_written` receives the index of a piece, and returns whether the piece
    /// survives. All other pieces are replaced by zeros.
    pub(super) fn patched(&self, end: usize, unit: usize, mut is_written: impl FnMut(usize) -> bool) -> Self {
        let content = self.content.lock();
        let mut bytes = content.bytes[..end].to_vec();
        for (index, piece) in pieces(content.synced..end, unit).enumerate() {
            if !is_written(index) {
                bytes[piece].fill(0);
            }
        }
        Self::of(Arc::new(bytes))
    }

    /// Returns the file after a crash in which a random part of its unsynced bytes survives: none, all, or a prefix. In
    /// some prefixes, some sectors are replaced by zeros.
    pub(super) fn torn(&self, random: &mut impl Rng) -> Self {
        match random.random_range(0..4) {
            0 => self.synced(),
            1 => self.whole(),
            2 => self.cut(|unsynced| random.random_range(unsynced.start..=unsynced.end)),
            _ => self.holed(random),
        }
    }

    /// Returns the file after a crash that truncates it. `end` receives the byte range of the unsynced bytes, and
    /// returns the new length of the file.
    pub(super) fn cut(&self, end: impl FnOnce(Range<usize>) -> usize) -> Self {
        let content = self.content.lock();
        let end = end(content.synced..content.bytes.len());
        if end == content.bytes.len() {
            return Self::of(Arc::clone(&content.bytes));
        }
        Self::of(Arc::new(content.bytes[..end].to_vec()))
    }

    fn holed(&self, random: &mut impl Rng) -> Self {
        let unsynced = self.unsynced();
        let end = random.random_range(unsynced.start..=unsynced.end);
        self.patched(end, SECTOR_BYTES, |_| !random.random::<bool>())
    }
}

/// Splits a byte range at the multiples of `unit`, such as the size of a sector.
pub(super) fn pieces(range: Range<usize>, unit: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        let piece = start..(start + 1).next_multiple_of(unit).min(range.end);
        start = piece.end;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn readers_keep_what_they_saw() {
        let inode = Inode::default();
        inode.append(b"ab");
        let seen = inode.snapshot();
        inode.append(b"cd");
        assert_eq!(*seen, b"ab");
        assert_eq!(*inode.snapshot(), b"abcd");
    }

    #[test]
    fn a_torn_file_has_its_synced_bytes_and_every_kind_of_rest() {
        let inode = Inode::default();
        inode.append(&[7; 700]);
        inode.sync();
        inode.append(&[8; 5000]);
        let (mut dropped, mut kept, mut cut, mut holed) = (0, 0, 0, 0);
        for seed in 0..100 {
            let torn = inode.torn(&mut Xoshiro256PlusPlus::seed_from_u64(seed)).snapshot();
            assert_eq!(torn[..700], [7; 700]);
            assert!(torn.len() <= 5700);
            match &torn[700..] {
                [] => dropped += 1,
                rest if *rest == [8; 5000] => kept += 1,
                rest if rest.iter().all(|byte| *byte == 8) => cut += 1,
                rest => {
                    assert!(rest.iter().all(|byte| *byte == 8 || *byte == 0));
                    assert!(torn.chunks(SECTOR_BYTES).skip(2).all(|s| s.iter().all(|byte| *byte == s[0])));
                    holed += 1;
                }
            }
        }
        assert!([dropped, kept, cut, holed].iter().all(|count| *count > 10));
    }
}
