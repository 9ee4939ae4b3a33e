//! An iterator that can move forward and backward. A scan of a tree cannot go back, so the iterator opens a new scan
//! when its direction changes.

use std::ops::Bound;
use std::sync::Arc;

use self_cell::self_cell;
use tree::{Range, Snapshot};
use types::Direction;

use crate::failure::Failure;
use crate::key_order::{KeyOrder, check_order};

/// The maximum number of entries that a cursor reads from its scan at once (a chunk).
const MOST_ENTRIES: usize = 64;

/// The size of a chunk in bytes from which the next chunk has only one entry, so that chunks of large entries stay
/// small.
const MOST_BYTES: usize = 64 << 10;

self_cell! {
    /// An open scan of a tree, and the snapshot that the scan reads.
    struct Scan {
        owner: Snapshot,
        #[covariant]
        dependent: Range,
    }
}

/// A position in the sorted entries of a snapshot, which can move forward and backward.
///
/// The cursor reads entries in chunks. The first chunk after a seek has one entry, and each further chunk has twice as
/// many entries, up to 64. If the direction changes, the cursor opens a new scan.
pub(crate) struct Cursor {
    snapshot: Snapshot,
    /// The comparator of the calling program. Each move checks that it agrees with the order of bytes.
    order: Option<Arc<dyn KeyOrder>>,
    /// The open scan with its direction. `None` before the first seek and after an error.
    scan: Option<(Scan, Direction)>,
    chunk: Chunk,
    /// The index of the current entry in `chunk`. There is no current entry if `chunk` has no entry with this index.
    at: usize,
    /// The first error since the last seek, if any.
    failure: Option<Failure>,
}

/// A chunk: copies of successive entries that a cursor has read from its scan at once.
#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    /// For each entry of the chunk, the end of its key and the end of its value in `bytes`.
    ends: Vec<(usize, usize)>,
}

impl Chunk {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((key_end, self.bytes.len()));
    }

    fn entry(&self, at: usize) -> Option<(&[u8], &[u8])> {
        let (key_end, value_end) = *self.ends.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before].1);
        Some((&self.bytes[start..key_end], &self.bytes[key_end..value_end]))
    }

    /// Returns the maximum number of entries in the next chunk.
    fn next_len(&self) -> usize {
        match self.bytes.len() {
            MOST_BYTES.. => 1,
            _ => (2 * self.ends.len()).clamp(1, MOST_ENTRIES),
        }
    }
}

impl Cursor {
    /// Creates a cursor that has no current entry until its first seek.
    pub(crate) fn new(snapshot: Snapshot, order: Option<Arc<dyn KeyOrder>>) -> Self {
        Self { snapshot, order, scan: None, chunk: Chunk::default(), at: 0, failure: None }
    }

    /// Returns the current entry. Returns `None` if there is no current entry.
    pub(crate) fn entry(&self) -> Option<(&[u8], &[u8])> {
        self.chunk.entry(self.at)
    }

    /// Returns the first error since the last seek of the cursor, if any.
    pub(crate) fn status(&self) -> Result<(), Failure> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Moves the cursor to the first entry.
    pub(crate) fn seek_to_first(&mut self) {
        self.failure = None;
        self.open((Bound::Unbounded, Bound::Unbounded), Direction::Forward);
    }

    /// Moves the cursor to the last entry.
    pub(crate) fn seek_to_last(&mut self) {
        self.failure = None;
        self.open((Bound::Unbounded, Bound::Unbounded), Direction::Backward);
    }

    /// Moves the cursor to the first entry whose key is at least `key`.
    pub(crate) fn seek(&mut self, key: &[u8]) {
        self.failure = None;
        self.open((Bound::Included(key), Bound::Unbounded), Direction::Forward);
        self.check_move(key);
    }

    /// Records an error. The cursor then has no current entry until the next seek.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.scan = None;
        self.chunk.clear();
    }

    /// Moves to the next or the previous entry. Does nothing without a current entry.
    pub(crate) fn step(&mut self, direction: Direction) {
        let Some((key, _)) = self.entry() else { return };
        let is_open = self.scan.as_ref().is_some_and(|(_, open)| *open == direction);
        let is_in_chunk = is_open && self.at + 1 < self.chunk.ends.len();
        let left = (self.order.is_some() || !is_open).then(|| key.to_vec());
        match &left {
            _ if is_in_chunk => self.at += 1,
            Some(key) if !is_open => {
                let bounds = match direction {
                    Direction::Forward => (Bound::Excluded(&**key), Bound::Unbounded),
                    Direction::Backward => (Bound::Unbounded, Bound::Excluded(&**key)),
                };
                self.open(bounds, direction);
            }
            _ => self.read_chunk(),
        }
        if let Some(left) = left {
            self.check_move(&left);
        }
    }

    /// Opens a scan within `bounds`, and reads its first entry.
    fn open(&mut self, bounds: (Bound<&[u8]>, Bound<&[u8]>), direction: Direction) {
        self.chunk.clear();
        self.scan = None;
        match Scan::try_new(self.snapshot.clone(), |snapshot| snapshot.range(bounds)) {
            Ok(scan) => self.scan = Some((scan, direction)),
            Err(error) => self.failure = Some(error.into()),
        }
        self.read_chunk();
    }

    /// Reads the next chunk of entries from the open scan.
    fn read_chunk(&mut self) {
        let Self { scan, chunk, at, failure, .. } = self;
        let most = chunk.next_len();
        chunk.clear();
        *at = 0;
        let Some((scan, direction)) = scan else { return };
        let direction = *direction;
        let read = scan
            .with_dependent_mut(|_, range| range.visit(direction, most, |key, value| chunk.push(key, value)));
        if let Err(error) = read {
            failure.get_or_insert(error.into());
        }
    }

    /// Checks that the comparator of the calling program orders the previous and the current key by their bytes.
    /// Otherwise, records an error.
    fn check_move(&mut self, previous: &[u8]) {
        let (Some(order), Some((key, _))) = (&self.order, self.entry()) else { return };
        if let Err(failure) = check_order(&**order, previous, key) {
            self.fail(failure);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use tree::{Design, OpenOptions};

    use super::*;

    /// A comparator that orders keys by their bytes, except that "c" comes before "b".
    struct Swapped;

    impl KeyOrder for Swapped {
        fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
            match (a, b) {
                (b"b", b"c") | (b"c", b"b") => b.cmp(a),
                _ => a.cmp(b),
            }
        }

        fn name(&self) -> String {
            "swapped".to_owned()
        }
    }

    #[test]
    fn a_move_that_contradicts_the_comparator_is_an_error_until_the_next_seek() {
        let design = Design::default().with(&"storage = \"memory\"".parse().unwrap()).unwrap();
        let tree = OpenOptions::new(design).open("db").unwrap();
        for key in [b"a", b"b", b"c"] {
            tree.put(key, b"value").unwrap();
        }
        let mut cursor = Cursor::new(tree.snapshot(), Some(Arc::new(Swapped)));
        let key = |cursor: &Cursor| cursor.entry().map(|(key, _)| key.to_vec());
        for seek in [Cursor::seek_to_first, Cursor::seek_to_last] {
            seek(&mut cursor);
            assert_eq!(cursor.status(), Ok(()));
            let direction =
                if key(&cursor).as_deref() == Some(b"a") { Direction::Forward } else { Direction::Backward };
            while key(&cursor).is_some() {
                cursor.step(direction);
            }
            let message = cursor.status().unwrap_err().to_string();
            assert!(message.contains("comparator \"swapped\" does not order"), "{message}");
        }
        cursor.seek(b"b");
        assert_eq!((key(&cursor).as_deref(), cursor.status()), (Some(&b"b"[..]), Ok(())));
    }
}
