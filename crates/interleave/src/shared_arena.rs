//! The arena of the memtables with every version and node in a place of its own, which loom watches. What the
//! real one does with bytes and blocks is left out: it has tests of its own.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32 as StdAtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use types::{Entry, SequenceNumber};

use crate::cell::Watched;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// The tallest tower.
pub(crate) const MAX_HEIGHT: usize = 32;

/// The bytes of a version besides key and value, where they have any.
pub(crate) const HEADER_BYTES: usize = 0;

/// The versions and nodes of an arena.
const PLACES: usize = 32;

/// Names a `T` in its arena.
pub(crate) struct Ref<T>(NonZeroU32, PhantomData<fn() -> T>);

impl<T> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ref").field(&self.0).finish()
    }
}

impl<T> Clone for Ref<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ref<T> {}

impl<T> PartialEq for Ref<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// A place for a reference that threads hand to each other.
pub(crate) struct AtomicRef<T>(AtomicU32, PhantomData<fn() -> T>);

impl<T> Default for AtomicRef<T> {
    fn default() -> Self {
        Self(AtomicU32::new(0), PhantomData)
    }
}

impl<T> AtomicRef<T> {
    pub(crate) fn load(&self) -> Option<Ref<T>> {
        NonZeroU32::new(self.0.load(Ordering::Acquire)).map(|unit| Ref(unit, PhantomData))
    }

    pub(crate) fn store(&self, to: Option<Ref<T>>) {
        self.0.store(to.map_or(0, |to| to.0.get()), Ordering::Release);
    }
}

/// A version of a key.
pub(crate) enum Version {}

/// A link of a tower.
pub(crate) struct Link(AtomicU64);

/// The value of a [`Link`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkWord(u64);

impl LinkWord {
    pub(crate) const END: Self = Self(0);

    pub(crate) fn new(version: Ref<Version>, hint: u32) -> Self {
        Self(u64::from(hint) << 32 | u64::from(version.0.get()))
    }

    pub(crate) fn target(self) -> Option<Ref<Version>> {
        NonZeroU32::new(self.0 as u32).map(|unit| Ref(unit, PhantomData))
    }

    pub(crate) fn hint(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl Link {
    pub(crate) fn load(&self) -> LinkWord {
        LinkWord(self.0.load(Ordering::Acquire))
    }

    pub(crate) fn store(&self, to: LinkWord) {
        self.0.store(to.0, Ordering::Release);
    }

    pub(crate) fn swing(&self, from: LinkWord, to: LinkWord) -> bool {
        self.0.compare_exchange(from.0, to.0, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

/// A version, read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) version: Ref<Version>,
    pub(crate) key: &'a [u8],
    pub(crate) sequence: SequenceNumber,
    pub(crate) value: Option<&'a [u8]>,
}

impl<'a> Record<'a> {
    pub(crate) fn entry(&self) -> Entry<'a> {
        Entry { key: self.key, value: self.value }
    }
}

/// There is no memory to hand on.
#[derive(Debug, Default)]
pub(crate) struct MapPool {}

/// What is written of a version: key, sequence number, value.
type Written = (Vec<u8>, SequenceNumber, Option<Vec<u8>>);

/// What is in a place.
enum Place {
    Version(Watched<Option<Written>>, Vec<Link>),
    /// The node, and what is written when it is placed.
    Node(Box<dyn Any + Send + Sync>, Watched<bool>),
}

/// The arena.
pub(crate) struct SharedArena {
    // Of the standard library: handing out places must not order the threads of a model.
    places: [OnceLock<Place>; PLACES],
    next: StdAtomicU32,
}

impl SharedArena {
    pub(crate) fn new(_: usize, _: &Arc<MapPool>) -> Self {
        Self { places: [const { OnceLock::new() }; PLACES], next: StdAtomicU32::new(1) }
    }

    fn put<T>(&self, place: Place) -> Ref<T> {
        let at = self.next.fetch_add(1, Relaxed);
        assert!(self.places[at as usize].set(place).is_ok(), "a place is given once");
        Ref(NonZeroU32::new(at).expect("places count from 1"), PhantomData)
    }

    fn at<T>(&self, at: Ref<T>) -> &Place {
        self.places[at.0.get() as usize].get().expect("a reference names a place")
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
        self.put(Place::Version(written, (0..height).map(|_| Link(AtomicU64::new(0))).collect()))
    }

    pub(crate) fn appender(&self) -> Appender<'_> {
        Appender(self)
    }

    pub(crate) fn record(&self, version: Ref<Version>) -> Record<'_> {
        let Place::Version(written, _) = self.at(version) else { panic!("a node is no version") };
        let (key, sequence, value) = written.get().as_ref().expect("it was written when it was appended");
        Record { version, key, sequence: *sequence, value: value.as_deref() }
    }

    pub(crate) fn link(&self, version: Ref<Version>, level: usize) -> &Link {
        let Place::Version(_, links) = self.at(version) else { panic!("a node has no tower") };
        &links[level]
    }

    pub(crate) fn place<T: Send + Sync + 'static>(&self, node: T) -> Ref<T> {
        let is_placed = Watched::new(false);
        is_placed.set(true);
        self.put(Place::Node(Box::new(node), is_placed))
    }

    pub(crate) fn node<T: Send + Sync + 'static>(&self, at: Ref<T>) -> &T {
        let Place::Node(node, is_placed) = self.at(at) else { panic!("a version is no node") };
        assert!(*is_placed.get());
        node.downcast_ref().expect("a reference knows the type")
    }

    #[expect(clippy::unused_self, reason = "the real arena looks where the reference leads")]
    pub(crate) fn prefetch<T>(&self, _: Ref<T>, _: usize) {}

    pub(crate) fn versions(&self) -> usize {
        let places = self.places.iter().filter_map(OnceLock::get);
        places.filter(|place| matches!(place, Place::Version(..))).count()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(self)
    }
}

/// Appends versions one after the other.
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

    #[expect(clippy::unused_self, reason = "the real one took places in advance")]
    pub(crate) fn give_back(&mut self) {}
}
