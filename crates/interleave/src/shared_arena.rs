//! A replacement for the arena of memtables in models. Every version and every node is in a separate cell, and `loom`
//! checks all accesses to the cell.
//!
//! The types of references and links are those of the real arena, from its source file ([`reference`]). A model cannot
//! use the memory of the real arena, which consists of raw bytes of a memory map. First, loom cannot check accesses to
//! such bytes. Second, an atomic of loom does not fit into an 8-byte word. The byte layout and the shards have separate
//! unit tests.

#[path = "../../memtable/src/shared_arena/reference.rs"]
mod reference;

use std::any::Any;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32 as StdAtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use types::SequenceNumber;

pub(crate) use self::reference::{AtomicRef, Link, LinkWord, MAX_HEIGHT, Ref, Version, VersionRecord};
use crate::cell::Watched;
use crate::sync::AtomicU64;

/// The number of bytes that a version of a key takes in an arena in addition to its key and value. The arena of a model
/// has no such bytes.
pub(crate) const HEADER_BYTES: usize = 0;

/// The maximum number of versions and nodes in an arena of a model.
const CELLS: usize = 32;

/// The replacement for the pool of memory maps. It is empty, because the arena of a model uses no memory maps.
#[derive(Debug, Default)]
pub(crate) struct MapPool {}

/// The contents of a version in an arena: key, sequence number and value.
type Written = (Vec<u8>, SequenceNumber, Option<Vec<u8>>);

/// An element of the arena: a version of a key with its links to other versions, or an index node.
enum ArenaCell {
    Version(Watched<Option<Written>>, Vec<Link>),
    /// An index node with a flag, which the writer sets before other threads can reach the node. A thread that reads
    /// the node must see the flag.
    Node(Box<dyn Any + Send + Sync>, Watched<bool>),
}

/// The replacement for the arena that all threads of a memtable share. In a model, each version and each node has its
/// own cell.
pub(crate) struct SharedArena {
    // Cells of the standard library, because handing out cells must not order the threads of a model.
    cells: [OnceLock<ArenaCell>; CELLS],
    next: StdAtomicU32,
}

impl SharedArena {
    pub(crate) fn new(_: usize, _: &Arc<MapPool>) -> Self {
        Self { cells: [const { OnceLock::new() }; CELLS], next: StdAtomicU32::new(1) }
    }

    fn put<T>(&self, cell: ArenaCell) -> Ref<T> {
        let at = self.next.fetch_add(1, Relaxed);
        assert!(self.cells[at as usize].set(cell).is_ok(), "each cell of the arena must be filled only once");
        Ref(NonZeroU32::new(at).expect("the number of a cell in the arena must not be 0"), PhantomData)
    }

    fn at<T>(&self, at: Ref<T>) -> &ArenaCell {
        self.cells[at.0.get() as usize].get().expect("a reference must lead to an existing cell of the arena")
    }

    pub(crate) fn append(
        &self,
        key: &[u8],
        sequence: SequenceNumber,
        value: Option<&[u8]>,
        height: usize,
    ) -> Ref<Version> {
        let written = Watched::new(None);
        written.set(Some((key.to_vec(), sequence, value.map(<[u8]>::to_vec))));
        self.put(ArenaCell::Version(written, (0..height).map(|_| Link(AtomicU64::new(0))).collect()))
    }

    pub(crate) fn appender(&self) -> Appender<'_> {
        Appender(self)
    }

    pub(crate) fn record(&self, version: Ref<Version>) -> VersionRecord<'_> {
        let ArenaCell::Version(written, _) = self.at(version) else {
            panic!("the reference leads to an index node, not to a version")
        };
        let (key, sequence, value) =
            written.get().as_ref().expect("a published version must have its key and value");
        VersionRecord { version, key, sequence: *sequence, value: value.as_deref() }
    }

    pub(crate) fn link(&self, version: Ref<Version>, level: usize) -> &Link {
        let ArenaCell::Version(_, links) = self.at(version) else {
            panic!("the reference leads to an index node, which has no links")
        };
        &links[level]
    }

    pub(crate) fn place<T: Send + Sync + 'static>(&self, node: T) -> Ref<T> {
        let is_placed = Watched::new(false);
        is_placed.set(true);
        self.put(ArenaCell::Node(Box::new(node), is_placed))
    }

    pub(crate) fn node<T: Send + Sync + 'static>(&self, at: Ref<T>) -> &T {
        let ArenaCell::Node(node, is_placed) = self.at(at) else {
            panic!("the reference leads to a version, not to an index node")
        };
        assert!(*is_placed.get());
        node.downcast_ref().expect("a reference must have the type of the node to which it leads")
    }

    #[expect(clippy::unused_self, reason = "only the real arena reads the memory at the reference")]
    pub(crate) fn prefetch<T>(&self, _: Ref<T>, _: usize) {}

    pub(crate) fn versions(&self) -> usize {
        let cells = self.cells.iter().filter_map(OnceLock::get);
        cells.filter(|cell| matches!(cell, ArenaCell::Version(..))).count()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(self)
    }
}

/// The access of one thread to the arena of a model, for appending versions.
pub(crate) struct Appender<'a>(&'a SharedArena);

impl Appender<'_> {
    pub(crate) fn append(
        &mut self,
        key: &[u8],
        sequence: SequenceNumber,
        value: Option<&[u8]>,
    ) -> Ref<Version> {
        self.0.append(key, sequence, value, 0)
    }

    #[expect(
        clippy::unused_self,
        reason = "the real appender reserves memory in advance and returns it here"
    )]
    pub(crate) fn give_back(&mut self) {}
}
