//! The shadow of a store: which version of every key is live, and how many bytes that is.

use std::ops::Range;
use std::sync::Arc;

use crate::dsl;
use crate::format::KeyFormat;
use crate::operation::{KeyId, Kind, Operation};
use crate::order::KeyOrder;
use crate::plan::{Extent, PhasePlan};
use crate::target::{Scan, Target, TargetError};
use crate::values::Values;
use types::Direction;

/// No version: the key is not there.
const ABSENT: u32 = 0;

/// The state that a store must be in after the operations that were applied, at four bytes per key.
pub struct Shadow {
    format: Arc<dyn KeyFormat>,
    /// The live version of each key, or [`ABSENT`].
    versions: Vec<u32>,
    /// From which version on which values are written, ascending.
    eras: Vec<Era>,
    live_keys: u64,
    live_bytes: u64,
    order: Option<KeyOrder>,
    key: Vec<u8>,
    /// Whether the store may have dropped any of it.
    may_drop: bool,
}

/// Versions above `after` have these values, up to the next era.
struct Era {
    after: u32,
    values: Arc<Values>,
}

/// What a full comparison of a store with its shadow found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreVerdict {
    /// The entries of the store that were compared.
    pub entries: u64,
    /// The entries that are missing from a store that may not, not expected, or have another value.
    pub wrong: u64,
    /// The entries that are missing from a store that may drop data.
    pub dropped: u64,
    /// The first of those that are wrong, in words.
    pub first: Option<String>,
}

impl Shadow {
    /// The shadow of an empty store whose keys have this format.
    pub fn new(format: &Arc<dyn KeyFormat>) -> Self {
        Self {
            format: Arc::clone(format),
            versions: Vec::new(),
            eras: Vec::new(),
            live_keys: 0,
            live_bytes: 0,
            order: None,
            key: Vec::new(),
            may_drop: false,
        }
    }

    /// The shadow of a store that may drop data by rule: a key that is missing from it is no wrong answer, while an
    /// older value, or one that was deleted, is.
    #[must_use]
    pub fn of_a_store_that_drops(self) -> Self {
        Self { may_drop: true, ..self }
    }

    /// Whether the store may drop data by rule.
    pub fn may_drop(&self) -> bool {
        self.may_drop
    }

    /// Tells that the writes of `phase` follow, with versions above those of `from`.
    pub fn begin(&mut self, phase: &PhasePlan, from: Extent) {
        let held = self.eras.last().is_some_and(|era| Arc::ptr_eq(&era.values, phase.values()));
        if !held {
            self.eras.retain(|era| era.after < from.versions);
            self.eras.push(Era { after: from.versions, values: Arc::clone(phase.values()) });
        }
        self.versions.reserve(usize::try_from(from.keys).unwrap_or(0).saturating_sub(self.versions.len()));
    }

    /// Applies one operation; reads and the heads of groups change nothing.
    #[inline]
    pub fn apply(&mut self, operation: &Operation) {
        match operation.kind {
            Kind::Put | Kind::Insert | Kind::ReadModifyWrite => {
                self.set(operation.key.index(), operation.version, operation.value.bytes);
            }
            Kind::Delete => self.set(operation.key.index(), ABSENT, 0),
            Kind::Get | Kind::Range | Kind::Batch | Kind::MultiGet => {}
        }
    }

    /// The live version of key `index`; 0 where the key is not there.
    #[inline]
    pub fn version(&self, index: u64) -> u32 {
        self.versions.get(index as usize).copied().unwrap_or(ABSENT)
    }

    /// The value that `key` must have, or `None` where it must not be found.
    pub fn expected(&self, key: KeyId) -> Option<&[u8]> {
        let version = if key.is_absent() { ABSENT } else { self.version(key.index()) };
        (version != ABSENT).then(|| self.value(key.index(), version))
    }

    /// The number of keys that are there.
    pub fn live_keys(&self) -> u64 {
        self.live_keys
    }

    /// The key and value bytes of all keys that are there, in their live versions.
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// The value of a version of a key that was written.
    pub(crate) fn value(&self, index: u64, version: u32) -> &[u8] {
        self.values(version).value(index, version)
    }

    /// Hands the entries of a range to `visit`, as the store must: from key `start` on, itself included.
    /// Returns false where the order of so many keys is not known.
    pub(crate) fn range(
        &mut self,
        start: u64,
        limit: usize,
        backward: bool,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> bool {
        let keys = (self.versions.len() as u64).max(start + 1);
        if !self.sort_keys(keys) {
            return false;
        }
        let order = self.order.as_ref().expect("the keys were sorted");
        let place = order.place(start);
        let places = if backward { 0..place + 1 } else { place..order.places(keys) };
        self.visit(places, limit, backward, &mut visit);
        true
    }

    /// Hands the entries of a range to `visit` that lie from `low` to before `high`, from either end. Returns
    /// false where the order of so many keys is not known.
    pub(crate) fn range_between(
        &mut self,
        low: &[u8],
        high: &[u8],
        limit: usize,
        backward: bool,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> bool {
        let keys = self.versions.len() as u64;
        if !self.sort_keys(keys) {
            return false;
        }
        let order = self.order.as_ref().expect("the keys were sorted");
        let place = |bound| order.lower_bound(&*self.format, bound, keys);
        let places = place(low)..place(high);
        self.visit(places, limit, backward, &mut visit);
        true
    }

    /// Hands at most `limit` entries to `visit` that are there among those of the places, from either end.
    fn visit(
        &mut self,
        mut places: Range<u64>,
        limit: usize,
        backward: bool,
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) {
        let order = self.order.as_ref().expect("the keys were sorted");
        let mut key = std::mem::take(&mut self.key);
        let mut read = 0;
        while let Some(place) = (read < limit).then(|| next(&mut places, backward)).flatten() {
            let index = order.index(place, u64::MAX).expect("a place among the keys");
            let version = self.version(index);
            if version != ABSENT {
                key.clear();
                self.format.append(KeyId::present(index), &mut key);
                visit(&key, self.value(index, version));
                read += 1;
            }
        }
        self.key = key;
    }

    /// Reads all of `target` and compares every entry with what must be there.
    ///
    /// # Errors
    /// What the store says, or that there are too many keys of an unordered format to sort.
    pub fn verify(&mut self, target: &dyn Target) -> Result<StoreVerdict, TargetError> {
        let keys = self.versions.len() as u64;
        if !self.sort_keys(keys) {
            return Err(format!("{keys} keys of an unordered format are too many to compare").into());
        }
        let shadow = &*self;
        let mut expected = Expected { shadow, place: 0, key: Vec::new() };
        let mut verdict = StoreVerdict::default();
        let mut pending = expected.next();
        let all = Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX };
        target.range(&all, &mut |key, value| {
            verdict.entries += 1;
            while pending.is_some() && expected.key.as_slice() < key {
                verdict.miss(shadow.may_drop, &expected.key);
                pending = expected.next();
            }
            if let Some(version) = pending.filter(|_| expected.key == key) {
                if shadow.value(expected.index(), version) != value {
                    verdict.complain(|| {
                        format!("key {} does not have the value of version {version}", dsl::token(key))
                    });
                }
                pending = expected.next();
            } else {
                verdict.complain(|| format!("key {} should not be there", dsl::token(key)));
            }
        })?;
        while pending.is_some() {
            verdict.miss(shadow.may_drop, &expected.key);
            pending = expected.next();
        }
        Ok(verdict)
    }

    fn set(&mut self, index: u64, version: u32, value_bytes: u32) {
        let at = index as usize;
        if at >= self.versions.len() {
            self.versions.resize(at + 1, ABSENT);
        }
        let old = std::mem::replace(&mut self.versions[at], version);
        let key_bytes = self.key_bytes(index);
        if old != ABSENT {
            self.live_keys -= 1;
            self.live_bytes -= key_bytes + u64::from(self.values(old).bytes(index, old));
        }
        if version != ABSENT {
            self.live_keys += 1;
            self.live_bytes += key_bytes + u64::from(value_bytes);
        }
    }

    fn key_bytes(&mut self, index: u64) -> u64 {
        self.key.clear();
        self.format.append(KeyId::present(index), &mut self.key);
        self.key.len() as u64
    }

    fn values(&self, version: u32) -> &Values {
        let era = self.eras.iter().rev().find(|era| version > era.after);
        &era.expect("begin was called before the writes of a phase").values
    }

    /// Makes sure that the order of the first `keys` keys is known.
    fn sort_keys(&mut self, keys: u64) -> bool {
        if !self.order.as_ref().is_some_and(|order| order.covers(keys)) {
            // With some to spare, so that keys that join do not have all of them sorted again each time.
            self.order = KeyOrder::new(&*self.format, keys + keys / 4);
        }
        self.order.is_some()
    }
}

/// The next place from either end.
fn next(places: &mut Range<u64>, backward: bool) -> Option<u64> {
    if backward { places.next_back() } else { places.next() }
}

/// Walks through the keys that must be there, in key order.
struct Expected<'a> {
    shadow: &'a Shadow,
    place: u64,
    key: Vec<u8>,
}

impl Expected<'_> {
    /// Goes on to the next key, writes it out, and returns its version.
    fn next(&mut self) -> Option<u32> {
        let keys = self.shadow.versions.len() as u64;
        let order = self.shadow.order.as_ref().expect("the keys were sorted");
        while let Some(index) = order.index(self.place, keys) {
            self.place += 1;
            let version = self.shadow.version(index);
            if version != ABSENT {
                self.key.clear();
                self.shadow.format.append(KeyId::present(index), &mut self.key);
                return Some(version);
            }
        }
        None
    }

    /// The index of the key that was written out.
    fn index(&self) -> u64 {
        let order = self.shadow.order.as_ref().expect("the keys were sorted");
        let keys = self.shadow.versions.len() as u64;
        order.index(self.place - 1, keys).expect("a key was written out")
    }
}

impl StoreVerdict {
    fn miss(&mut self, may_drop: bool, key: &[u8]) {
        match may_drop {
            true => self.dropped += 1,
            false => self.complain(|| format!("key {} is missing", dsl::token(key))),
        }
    }

    fn complain(&mut self, what: impl FnOnce() -> String) {
        self.wrong += 1;
        if self.first.is_none() {
            self.first = Some(what());
        }
    }
}
