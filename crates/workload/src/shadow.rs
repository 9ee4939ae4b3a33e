//! The expected state of a store: the number of the newest version of every key, from which its value can be computed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::dsl;
use crate::extents::Extent;
use crate::format::KeyFormat;
use crate::operation::{KeyId, Kind, Operation};
use crate::order::KeyOrder;
use crate::plan::PhasePlan;
use crate::target::{Scan, Target, TargetError};
use crate::values::Values;
use types::{Direction, MergeOperator};

/// Version number that marks a key as absent from the store.
const ABSENT: u32 = 0;

/// The expected state of a store after the operations that were applied to it. The expected state contains a version
/// number per key instead of a value, so it needs four bytes of memory per key.
pub struct Shadow {
    format: Arc<dyn KeyFormat>,
    /// The version number of the current value of each key, or [`ABSENT`].
    versions: Vec<u32>,
    /// The current values of keys whose newest write is a merge, by the index of the key. Such a value cannot be
    /// computed from a version number.
    merged: HashMap<u64, Vec<u8>>,
    /// The merge operator of the store. Without an operator, merges change nothing.
    operator: Option<MergeOperator>,
    /// The sources of the written values, in ascending order of their version numbers.
    eras: Vec<Era>,
    live_keys: u64,
    live_bytes: u64,
    order: Option<KeyOrder>,
    key: Vec<u8>,
    /// Whether the design permits the store to drop data, for example old data beyond a size limit.
    may_drop: bool,
}

/// The source of the values that a phase writes. Successive phases with the same source share one era. Their writes
/// have the version numbers from `after` + 1 to the `after` of the next era.
struct Era {
    after: u32,
    values: Arc<Values>,
}

/// Result of a full comparison of a store with its expected state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreVerdict {
    /// The number of entries of the store that were compared.
    pub entries: u64,
    /// The number of wrong entries of the store. An entry is wrong if no such entry is expected, or if it has another
    /// value. An expected entry that is missing also counts, unless the store may drop data.
    pub wrong: u64,
    /// The number of expected entries that are missing from a store that may drop data.
    pub dropped: u64,
    /// Description of the first wrong entry, if an entry was wrong.
    pub first: Option<String>,
}

impl Shadow {
    /// Creates the expected state of an empty store. `format` is the format of the keys that the store will contain.
    pub fn new(format: &Arc<dyn KeyFormat>) -> Self {
        Self {
            format: Arc::clone(format),
            versions: Vec::new(),
            merged: HashMap::new(),
            operator: None,
            eras: Vec::new(),
            live_keys: 0,
            live_bytes: 0,
            order: None,
            key: Vec::new(),
            may_drop: false,
        }
    }

    /// Allows that keys are missing from the store, because the store drops old data. An older value or a deleted value
    /// is still wrong.
    #[must_use]
    pub fn of_a_store_that_drops(self) -> Self {
        Self { may_drop: true, ..self }
    }

    /// Sets the merge operator of the store, which the expected state applies to its values.
    #[must_use]
    pub fn merging_by(self, operator: Option<MergeOperator>) -> Self {
        Self { operator, ..self }
    }

    /// Returns the length of the longest key of the store in bytes.
    pub(crate) fn longest_key(&self) -> usize {
        self.format.max_bytes()
    }

    /// Returns the merge operator of the store.
    pub fn operator(&self) -> Option<MergeOperator> {
        self.operator
    }

    /// Returns whether the design permits the store to drop data.
    pub fn may_drop(&self) -> bool {
        self.may_drop
    }

    /// Registers the source of the values that `phase` writes. Call this function before the writes of the phase are
    /// applied. Each write of the phase has a version above the versions in `from`.
    pub fn begin(&mut self, phase: &PhasePlan, from: Extent) {
        let held = self.eras.last().is_some_and(|era| Arc::ptr_eq(&era.values, phase.values()));
        if !held {
            self.eras.retain(|era| era.after < from.versions);
            self.eras.push(Era { after: from.versions, values: Arc::clone(phase.values()) });
        }
        self.versions.reserve(usize::try_from(from.keys).unwrap_or(0).saturating_sub(self.versions.len()));
    }

    /// Applies one operation to the expected state. Reads do not change the expected state. The head of a group does
    /// not change the state, because its members are applied separately.
    #[inline]
    pub fn apply(&mut self, operation: &Operation) {
        match operation.kind {
            Kind::PutIfAbsent if self.version(operation.key.index()) != ABSENT => {}
            Kind::Put | Kind::PutIfAbsent | Kind::Insert | Kind::ReadModifyWrite => {
                self.set(operation.key.index(), operation.version, operation.value.bytes);
            }
            Kind::Merge => self.merge(operation.key.index(), operation.version),
            Kind::Delete | Kind::SingleDelete => self.set(operation.key.index(), ABSENT, 0),
            Kind::DeleteRange => self.delete_range(operation.key.index(), operation.count),
            Kind::Get
            | Kind::Range
            | Kind::Prefix
            | Kind::Batch
            | Kind::MultiGet
            | Kind::First
            | Kind::Last => {}
        }
    }

    /// Applies a merge to the expected value of the key with the index `index`. The operand of the merge is the value
    /// with the version number `version`.
    fn merge(&mut self, index: u64, version: u32) {
        let Some(operator) = self.operator else { return };
        let older = self.expected(KeyId::present(index));
        let mut value = older.map_or_else(Vec::new, <[u8]>::to_vec);
        operator.combine(&mut value, self.written(index, version));
        self.set(index, version, value.len() as u32);
        self.merged.insert(index, value);
    }

    /// Deletes `count` keys with successive indexes, from the index `first` on. This is the effect of a range delete,
    /// because range deletes are allowed only if keys sort by their indexes.
    fn delete_range(&mut self, first: u64, count: u32) {
        let end = (first + u64::from(count)).min(self.versions.len() as u64);
        for index in first..end {
            if self.version(index) != ABSENT {
                self.set(index, ABSENT, 0);
            }
        }
    }

    /// Returns the version number of the current value of the key with the index `index`. Returns 0 if the key is
    /// absent.
    #[inline]
    pub fn version(&self, index: u64) -> u32 {
        self.versions.get(index as usize).copied().unwrap_or(ABSENT)
    }

    /// Returns the value that a get of `key` must return, or `None` if the key must be absent.
    pub fn expected(&self, key: KeyId) -> Option<&[u8]> {
        let version = if key.is_absent() { ABSENT } else { self.version(key.index()) };
        (version != ABSENT).then(|| self.value(key.index(), version))
    }

    /// Returns the number of live keys.
    pub fn live_keys(&self) -> u64 {
        self.live_keys
    }

    /// Returns the total size of the keys and values of all live entries, in bytes.
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Returns the current value of the key with the index `index`, whose version number is `version`.
    fn value(&self, index: u64, version: u32) -> &[u8] {
        match self.merged.get(&index) {
            Some(value) => value,
            None => self.written(index, version),
        }
    }

    /// Returns the value or the merge operand that belongs to a key and a version number.
    pub(crate) fn written(&self, index: u64, version: u32) -> &[u8] {
        self.values(version).value(index, version)
    }

    /// Calls `visit` with each entry that a scan from the key `start` on must return. Returns false if the order of the
    /// keys is unknown, because the key format scatters them and more than about 3.4 billion keys exist.
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
        let order =
            self.order.as_ref().expect("`sort_keys` must succeed before the order of the keys is used");
        let place = order.place(start);
        let places = if backward { 0..place + 1 } else { place..order.places(keys) };
        self.visit(places, limit, backward, &mut visit);
        true
    }

    /// Calls `visit` with the entry that has the smallest key, or the largest key if `backward` is true. Returns false
    /// if the order of the keys is unknown, because the key format scatters them and more than about 3.4 billion keys
    /// exist.
    pub(crate) fn end(&mut self, backward: bool, mut visit: impl FnMut(&[u8], &[u8])) -> bool {
        let keys = self.versions.len() as u64;
        if !self.sort_keys(keys) {
            return false;
        }
        let places = self
            .order
            .as_ref()
            .expect("`sort_keys` must succeed before the order of the keys is used")
            .places(keys);
        self.visit(0..places, 1, backward, &mut visit);
        true
    }

    /// Calls `visit` with each entry that a scan from `low` (included) to `high` (excluded) must return. With
    /// `backward`, the scan begins at the largest key. Returns false if the order of the keys is unknown, because the
    /// key format scatters them and more than about 3.4 billion keys exist.
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
        let order =
            self.order.as_ref().expect("`sort_keys` must succeed before the order of the keys is used");
        let place = |bound| order.lower_bound(&*self.format, bound, keys);
        let places = place(low)..place(high);
        self.visit(places, limit, backward, &mut visit);
        true
    }

    /// Calls `visit` with at most `limit` live entries whose positions in key order are in `places`. With `backward`,
    /// the last position comes first.
    fn visit(
        &mut self,
        mut places: Range<u64>,
        limit: usize,
        backward: bool,
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) {
        let order =
            self.order.as_ref().expect("`sort_keys` must succeed before the order of the keys is used");
        let mut key = std::mem::take(&mut self.key);
        let mut read = 0;
        while let Some(place) = (read < limit).then(|| next(&mut places, backward)).flatten() {
            let index = order
                .index(place, u64::MAX)
                .expect("the key order must contain a key for each of its positions");
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

    /// Reads all entries of `target`, and compares every entry with the expected entry.
    ///
    /// # Errors
    /// Returns the error of the store. Also returns an error if the key format scatters the keys and more than about
    /// 3.4 billion keys exist.
    pub fn verify(&mut self, target: &dyn Target) -> Result<StoreVerdict, TargetError> {
        let keys = self.versions.len() as u64;
        if !self.sort_keys(keys) {
            return Err(format!("cannot compare the store with its expected state: the key format does not \
                                keep the key order, and lsmbench can sort at most about 3.4 billion keys, but \
                                the store has {keys}").into());
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
                        format!(
                            "key {} has another value than expected; expected the value that the write of \
                             version {version} wrote",
                            dsl::token(key)
                        )
                    });
                }
                pending = expected.next();
            } else {
                verdict
                    .complain(|| format!("the store contains key {}, which must not exist", dsl::token(key)));
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
        let merged = self.merged.remove(&index);
        if old != ABSENT {
            self.live_keys -= 1;
            let value_bytes = merged
                .map_or_else(|| u64::from(self.values(old).bytes(index, old)), |value| value.len() as u64);
            self.live_bytes -= key_bytes + value_bytes;
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
        &era.expect("`begin` must be called before the first write of a phase is applied").values
    }

    /// Determines the key order of the first `keys` keys, if it is not known yet. Returns false if this is not
    /// possible, because the key format scatters the keys and more than about 3.4 billion keys exist.
    fn sort_keys(&mut self, keys: u64) -> bool {
        if !self.order.as_ref().is_some_and(|order| order.covers(keys)) {
            // The order has room for more keys, so that not every added key causes another sort.
            self.order = KeyOrder::new(&*self.format, keys + keys / 4);
        }
        self.order.is_some()
    }
}

/// Removes and returns the next position of `places`. With `backward`, this is the last position, otherwise the first.
fn next(places: &mut Range<u64>, backward: bool) -> Option<u64> {
    if backward { places.next_back() } else { places.next() }
}

/// Iterator over the entries that the store must contain, in key order.
struct Expected<'a> {
    shadow: &'a Shadow,
    place: u64,
    key: Vec<u8>,
}

impl Expected<'_> {
    /// Advances to the next live key in key order, encodes this key, and returns the version number of its value.
    fn next(&mut self) -> Option<u32> {
        let keys = self.shadow.versions.len() as u64;
        let order = self
            .shadow
            .order
            .as_ref()
            .expect("`sort_keys` must succeed before the order of the keys is used");
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

    /// Returns the index of the key that [`next`](Self::next) returned last.
    fn index(&self) -> u64 {
        let order = self
            .shadow
            .order
            .as_ref()
            .expect("`sort_keys` must succeed before the order of the keys is used");
        let keys = self.shadow.versions.len() as u64;
        order.index(self.place - 1, keys).expect("`next` must return a key before its index is requested")
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
