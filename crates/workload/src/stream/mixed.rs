//! The stream of a mixed phase: operations of several kinds, on drawn keys or on the keys of a trace.

use super::owned::OwnedKeys;
use crate::extents::Extent;
use crate::keys::{KeyDistribution, KeySampler, Scope};
use crate::mix::KindSampler;
use crate::operation::{KeyId, Kind, Operation, Span};
use crate::plan::{PhasePlan, PlannedKeys, PlannedMix, part};
use crate::random::{Concern, Random, sub_seed, threshold};
use crate::share::ThreadShare;
use crate::trace::Accesses;
use crate::values::Values;

/// The stream that generates the mixed operations of one thread.
pub(super) struct MixedStream {
    /// Number of operations that the stream has still to generate. `u64::MAX` means no limit.
    left: u64,
    endless: bool,
    kinds: KindSampler,
    kind_random: Random,
    keys: Keys,
    absent: Coin,
    member_absent: Coin,
    length_random: Random,
    backward: Coin,
    growth: Growth,
    queue: Queue,
    version: u32,
    members: u32,
    member_kinds: KindSampler,
    member_kind_random: Random,
    /// Whether write batches contain inserts or single deletes. An insert gets the next new key, and a single delete
    /// gets the oldest key, so the keys of these operations are not drawn.
    members_count: bool,
    scratch: Scratch,
}

/// Source of the keys of mixed operations: a distribution, or a trace.
enum Keys {
    Drawn(Box<DrawnKeys>),
    Recorded { accesses: Accesses, next: usize, step: usize },
}

/// Keys that are drawn from a distribution. The keys of write batches and multi-gets have a separate stream of random
/// numbers.
struct DrawnKeys {
    sampler: Box<dyn KeySampler>,
    random: Random,
    member_sampler: Box<dyn KeySampler>,
    member_random: Random,
    /// Sampler of the keys that only this thread may write. `None` if no other thread of the phase writes.
    owned: Option<OwnedKeys>,
}

/// A random decision that is true with a fixed probability. It needs no random number if the probability is 0 or 1.
struct Coin {
    threshold: u64,
    random: Random,
}

/// An estimate of the number of existing keys. The thread knows how many keys it has added itself, and assumes that
/// every other thread has added equally many keys.
struct Growth {
    existing: u64,
    next: u64,
    step: u64,
    capacity: u64,
}

/// The keys of this thread that single deletes can remove, in the order of their inserts.
struct Queue {
    /// The index of the oldest key that no single delete has removed. In an empty queue, no key has this index.
    head: u64,
    step: u64,
    /// The exclusive end of the indexes in the queue. `None` if the thread adds keys, because the queue then grows.
    end: Option<u64>,
    /// Whether the mix has single deletes, so that the queue is in use.
    is_used: bool,
    /// Single deletes have removed all keys of this thread with an index below this number.
    retired: u64,
}

/// Buffers for the generation of a batch, which every batch reuses.
#[derive(Default)]
struct Scratch {
    kinds: Vec<Kind>,
    keys: Vec<u64>,
    members: Vec<u64>,
    /// The kinds of the members of all write batches, batch after batch.
    member_kinds: Vec<Kind>,
    /// The keys of the inserts and single deletes in write batches, batch after batch. All other members of write
    /// batches have drawn keys.
    member_keys: Vec<u64>,
}

impl MixedStream {
    pub(super) fn new(
        phase: &PhasePlan,
        mixed: &PlannedMix,
        (thread, own): (u32, ThreadShare),
        from: Extent,
    ) -> Self {
        let random = |concern| Random::new(sub_seed(phase.seed, concern, &phase.phase.name, thread));
        let coin = |concern, share: f64| Coin { threshold: threshold(share), random: random(concern) };
        let spec = &mixed.spec;
        let operations = mixed.operations();
        let (rank, writers) = own.owned.map_or((0, 1), |owned| (owned.rank, owned.of));
        Self {
            left: operations.map_or(u64::MAX, |all| part(all, u64::from(own.place), u64::from(own.of))),
            endless: operations.is_none(),
            kinds: KindSampler::new(&spec.mix),
            kind_random: random(Concern::Operation),
            keys: Keys::new(phase, mixed, (thread, own), from),
            absent: coin(Concern::Absent, spec.absent),
            member_absent: coin(Concern::MemberAbsent, spec.absent),
            length_random: random(Concern::RangeLength),
            backward: coin(Concern::RangeDirection, spec.range.backward),
            growth: Growth::new(from.keys.max(written_by(mixed)), rank, writers, phase.format.capacity()),
            queue: Queue::new(mixed, from, rank, writers),
            version: from.versions,
            members: spec.batch,
            member_kinds: KindSampler::new(&spec.batch_mix),
            member_kind_random: random(Concern::MemberKind),
            members_count: spec.batches(Kind::Insert) || spec.batches(Kind::SingleDelete),
            scratch: Scratch::default(),
        }
    }

    /// Removes the limit on the number of operations. The stream never ends after this call.
    pub(super) fn forget_the_end(&mut self) {
        (self.left, self.endless) = (u64::MAX, true);
    }

    pub(super) fn remaining(&self) -> Option<u64> {
        (!self.endless || self.left == 0).then_some(self.left)
    }

    pub(super) fn extent(&self) -> Extent {
        Extent { keys: self.growth.existing, versions: self.version, retired: self.queue.retired }
    }

    pub(super) fn fill(
        &mut self,
        phase: &PhasePlan,
        thread: u32,
        operations: &mut Vec<Operation>,
        limit: usize,
    ) -> usize {
        let (mixed, _) =
            phase.mix_of(thread).expect("the phase of a stream of mixed operations must have a mix");
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut filled = self.left.min(limit as u64) as usize;
        scratch.kinds.resize(filled, Kind::Get);
        self.kinds.fill(&mut self.kind_random, &mut scratch.kinds);
        let batches = scratch.kinds.iter().filter(|kind| **kind == Kind::Batch).count();
        scratch.member_kinds.resize(batches * self.members as usize, Kind::Put);
        self.member_kinds.fill(&mut self.member_kind_random, &mut scratch.member_kinds);
        filled = self.within_bounds(&scratch.kinds, &scratch.member_kinds);
        scratch.keys.resize(filled, 0);
        let mut existing = self.growth.existing;
        self.fill_keys(&mut scratch, filled);
        let mut first_member = 0;
        for (kind, key) in scratch.kinds.iter().zip(&scratch.keys) {
            let absent = self.absent.toss();
            if *kind == Kind::Insert {
                existing = *key + 1;
            }
            match kind {
                Kind::Range => {
                    let entries = mixed.ranges.length(self.length_random.bits());
                    let span = mixed.spec.range.span;
                    let key = KeyId::new(*key, absent && span > 0);
                    operations.push(Operation::range(key, entries, span, self.backward.toss()));
                }
                Kind::MultiGet => {
                    self.push_multi_get(existing, &mut scratch.members, operations);
                }
                Kind::Batch => {
                    let own = first_member..first_member + self.members as usize;
                    first_member = own.end;
                    let kinds = &scratch.member_kinds[own.clone()];
                    let counted = scratch.member_keys.get(own).unwrap_or(&[]);
                    let drawn = &mut scratch.members;
                    let members = (kinds, counted, drawn);
                    existing = self.push_batch(members, existing, mixed, &phase.values, operations);
                }
                Kind::Prefix | Kind::DeleteRange | Kind::First | Kind::Last => {
                    operations.push(self.extended(*kind, *key, existing, mixed, &phase.values));
                }
                _ => operations.push(self.single(*kind, *key, absent, existing, &phase.values)),
            }
        }
        self.left -= filled as u64;
        self.scratch = scratch;
        filled
    }

    /// Sets the keys of the first `filled` operations, and of the inserts and single deletes in write batches.
    fn fill_keys(&mut self, scratch: &mut Scratch, filled: usize) {
        let Scratch { kinds, keys, member_kinds, member_keys, .. } = scratch;
        let kinds = &kinds[..filled];
        member_keys.clear();
        if !self.members_count {
            self.keys.fill(kinds, (&mut self.growth, &mut self.queue), keys);
            return;
        }
        // Inserts and single deletes change the existing keys in the order of the operations. The operations up to a
        // batch therefore get their keys before the members of the batch.
        member_keys.resize(member_kinds.len(), 0);
        let (mut start, mut first_member) = (0, 0);
        for at in (0..filled).filter(|at| kinds[*at] == Kind::Batch) {
            let counts = (&mut self.growth, &mut self.queue);
            self.keys.fill(&kinds[start..=at], counts, &mut keys[start..=at]);
            start = at + 1;
            let own = first_member..first_member + self.members as usize;
            first_member = own.end;
            for (kind, key) in member_kinds[own.clone()].iter().zip(&mut member_keys[own]) {
                match kind {
                    Kind::Insert => *key = self.growth.add(),
                    Kind::SingleDelete => *key = self.queue.take(),
                    _ => {}
                }
            }
        }
        self.keys.fill(&kinds[start..], (&mut self.growth, &mut self.queue), &mut keys[start..]);
    }

    /// Returns how many of the next operations the stream can generate before its keys or version numbers are used up.
    /// `kinds` are the kinds of the operations, and `members` are the kinds of the members of all write batches.
    fn within_bounds(&mut self, kinds: &[Kind], members: &[Kind]) -> usize {
        let writes = kinds.len() as u64 * u64::from(self.members.max(1));
        let counted = if self.members_count { writes } else { kinds.len() as u64 };
        if u64::from(self.version) + writes < u64::from(u32::MAX)
            && self.growth.next + counted * self.growth.step < self.growth.capacity
            && self.queue.has(counted, &self.growth)
        {
            return kinds.len();
        }
        let mut version = u64::from(self.version);
        let mut next = self.growth.next;
        let mut head = self.queue.head;
        let mut is_possible = |kind: &Kind| {
            version += u64::from(kind.writes());
            let key = next;
            next += if *kind == Kind::Insert { self.growth.step } else { 0 };
            let oldest = head;
            head += if *kind == Kind::SingleDelete { self.queue.step } else { 0 };
            u32::try_from(version).is_ok()
                && (*kind != Kind::Insert || key < self.growth.capacity)
                && (*kind != Kind::SingleDelete || oldest < self.queue.end.unwrap_or(key))
        };
        let mut batches = members.chunks(self.members.max(1) as usize);
        let possible = kinds.iter().take_while(|kind| match kind {
            Kind::Batch => batches.next().unwrap_or(&[]).iter().all(&mut is_possible),
            kind => is_possible(kind),
        });
        let possible = possible.count();
        if possible < kinds.len() {
            self.left = possible as u64;
        }
        possible
    }

    fn push_multi_get(&mut self, existing: u64, members: &mut Vec<u64>, operations: &mut Vec<Operation>) {
        let at = operations.len();
        operations.push(Operation::head(Kind::MultiGet, self.members));
        self.keys.fill_members(self.members as usize, existing, members);
        for key in members {
            operations.push(Operation::get(KeyId::new(*key, self.member_absent.toss())));
        }
        operations[at].key = operations[at + 1].key;
    }

    /// Appends a write batch and its members to the operations of the stream. `members` contains the kinds of the
    /// members, the keys of their inserts and single deletes, and a buffer for drawn keys. Returns the number of keys
    /// that exist after the batch.
    fn push_batch(
        &mut self,
        (kinds, counted, drawn): (&[Kind], &[u64], &mut Vec<u64>),
        mut existing: u64,
        mixed: &PlannedMix,
        values: &Values,
        operations: &mut Vec<Operation>,
    ) -> u64 {
        let at = operations.len();
        operations.push(Operation::head(Kind::Batch, self.members));
        self.keys.fill_members(kinds.len(), existing, drawn);
        for (place, kind) in kinds.iter().enumerate() {
            let key = drawn[place];
            operations.push(match kind {
                Kind::DeleteRange => self.extended(*kind, key, existing, mixed, values),
                Kind::Insert => {
                    existing = counted[place] + 1;
                    self.rare(*kind, counted[place], existing, values)
                }
                Kind::SingleDelete => self.rare(*kind, counted[place], existing, values),
                _ => self.rare(*kind, key, existing, values),
            });
        }
        operations[at].key = operations[at + 1].key;
        existing
    }

    /// Returns an operation of a kind that has no single key, such as a range delete, a prefix scan or the read of the
    /// first entry.
    fn extended(
        &mut self,
        kind: Kind,
        key: u64,
        existing: u64,
        mixed: &PlannedMix,
        values: &Values,
    ) -> Operation {
        let (count, span, backward) = match kind {
            Kind::Prefix => (mixed.spec.range.prefix, 0, self.backward.toss()),
            Kind::DeleteRange => {
                let keys = mixed.ranges.length(self.length_random.bits());
                (keys, keys.saturating_mul(2), false)
            }
            _ => (1, 0, kind == Kind::Last),
        };
        Operation { count, span, backward, ..self.rare(kind, key, existing, values) }
    }

    /// Returns an operation on one present key. The compiler inlines [`single`](Self::single) into the timed loop, and
    /// all rare callers share the copy in this function.
    #[inline(never)]
    fn rare(&mut self, kind: Kind, key: u64, existing: u64, values: &Values) -> Operation {
        self.single(kind, key, false, existing, values)
    }

    /// Returns an operation on one key. The code does not branch on the kind, because kinds alternate at random.
    ///
    /// The compiler must inline the function into [`fill`](Self::fill): a call for each operation made the timed loop
    /// 3 to 5 % slower for gets of absent keys.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "measured")]
    fn single(&mut self, kind: Kind, key: u64, absent: bool, existing: u64, values: &Values) -> Operation {
        let writes = kind.writes();
        let index = match &mut self.keys {
            Keys::Drawn(drawn) => {
                let is_drawn = kind != Kind::Insert && kind != Kind::SingleDelete;
                drawn.own(key, writes && is_drawn, existing)
            }
            Keys::Recorded { .. } => key,
        };
        self.version += u32::from(writes);
        let version = self.version * u32::from(writes);
        let deletes = matches!(kind, Kind::Delete | Kind::SingleDelete | Kind::DeleteRange);
        let value = values.locate_if(writes && !deletes, index, version);
        let key = KeyId::new(index, absent && kind == Kind::Get);
        Operation { key, value, version, count: 0, span: 0, kind, backward: false }
    }
}

impl Operation {
    #[inline]
    fn range(key: KeyId, entries: u32, span: u32, backward: bool) -> Self {
        Self { key, value: Span::default(), version: 0, count: entries, span, kind: Kind::Range, backward }
    }
}

impl Keys {
    fn new(phase: &PhasePlan, mixed: &PlannedMix, own: (u32, ThreadShare), from: Extent) -> Self {
        match &mixed.keys {
            PlannedKeys::Recorded(accesses) => Self::Recorded {
                accesses: accesses.clone(),
                next: own.1.place as usize,
                step: own.1.of as usize,
            },
            PlannedKeys::Drawn(distribution) => {
                Self::Drawn(Box::new(DrawnKeys::new(phase, mixed, &**distribution, own, from)))
            }
        }
    }

    /// Sets the key of every operation. An insert gets the next new key, and a single delete gets the oldest key that
    /// no single delete has removed. Any other operation gets a key that exists at the time of its execution.
    ///
    /// One key is drawn for every operation, even for an operation that uses no drawn key. The draws therefore do not
    /// depend on the mix.
    fn fill(&mut self, kinds: &[Kind], (growth, queue): (&mut Growth, &mut Queue), keys: &mut [u64]) {
        match self {
            Self::Recorded { accesses, next, step } => {
                for key in keys {
                    *key = u64::from(accesses[*next]);
                    *next += *step;
                }
            }
            Self::Drawn(drawn) => {
                let mut start = 0;
                for (at, kind) in kinds.iter().enumerate() {
                    if matches!(kind, Kind::Insert | Kind::SingleDelete) {
                        drawn.fill(growth.existing, &mut keys[start..=at]);
                        keys[at] = if *kind == Kind::Insert { growth.add() } else { queue.take() };
                        start = at + 1;
                    }
                }
                drawn.fill(growth.existing, &mut keys[start..]);
            }
        }
    }

    /// Draws `members` keys for the members of a group (a write batch or a multi-get) into `keys`.
    fn fill_members(&mut self, members: usize, existing: u64, keys: &mut Vec<u64>) {
        keys.resize(members, 0);
        match self {
            Self::Drawn(drawn) => {
                drawn.member_sampler.fill(&mut drawn.member_random, existing.max(1), keys);
            }
            Self::Recorded { .. } => {
                unreachable!("a stream that takes its keys from a trace must not have batches or multi-gets")
            }
        }
    }
}

impl DrawnKeys {
    fn new(
        phase: &PhasePlan,
        mixed: &PlannedMix,
        distribution: &dyn KeyDistribution,
        (thread, own): (u32, ThreadShare),
        from: Extent,
    ) -> Self {
        let scope = Scope {
            keys: from.keys,
            planned: planned_keys(mixed, own.of, from.keys),
            inserts: expected_inserts(mixed) as u64,
            popularity: sub_seed(phase.seed, Concern::Popularity, "", 0),
            thread: own.place,
            threads: own.of,
        };
        let random = |concern| Random::new(sub_seed(phase.seed, concern, &phase.phase.name, thread));
        let owned = own.owned.filter(|owned| owned.of > 1).map(|owned| {
            OwnedKeys::new(distribution.sampler(&scope), random(Concern::Redraw), owned.rank, owned.of)
        });
        Self {
            sampler: distribution.sampler(&scope),
            random: random(Concern::Key),
            member_sampler: distribution.sampler(&scope),
            member_random: random(Concern::Member),
            owned,
        }
    }

    /// Returns a key that the thread may access: `key`, or a drawn key of this thread. The key is drawn if `written` is
    /// true and `key` belongs to another thread, because only one thread may write a key.
    #[inline]
    fn own(&mut self, key: u64, written: bool, existing: u64) -> u64 {
        match &mut self.owned {
            Some(owned) if written => owned.own(key, existing),
            _ => key,
        }
    }

    #[inline]
    fn fill(&mut self, existing: u64, keys: &mut [u64]) {
        // A phase that only adds keys may start without existing keys. The drawn keys are then not used.
        self.sampler.fill(&mut self.random, existing.max(1), keys);
    }
}

/// Returns the number of keys that a mix on the keys of a trace may write. The mix may write all keys of the trace,
/// even keys that no load has added.
fn written_by(mixed: &PlannedMix) -> u64 {
    match &mixed.keys {
        PlannedKeys::Recorded(accesses) if mixed.spec.mix.writes() => {
            accesses.iter().max().map_or(0, |last| u64::from(*last) + 1)
        }
        _ => 0,
    }
}

/// Returns the number of keys for which samplers prepare: the expected number at the end of the phase, plus a small
/// margin. Returns `u64::MAX` if the mix inserts keys and its end is unknown.
fn planned_keys(mixed: &PlannedMix, threads: u32, keys: u64) -> u64 {
    match mixed.operations() {
        _ if !mixed.spec.has(Kind::Insert) => keys,
        Some(_) => {
            let expected = expected_inserts(mixed);
            keys + (expected + 6.0 * expected.sqrt()) as u64 + u64::from(threads)
        }
        // If the phase has no known end, more keys can always be added.
        None => u64::MAX,
    }
}

/// Returns the expected number of inserts of the mix. Returns 0 if the end of the mix is unknown.
fn expected_inserts(mixed: &PlannedMix) -> f64 {
    mixed.operations().unwrap_or(0) as f64 * mixed.spec.rate(Kind::Insert)
}

impl Growth {
    fn new(existing: u64, thread: u32, threads: u32, capacity: u64) -> Self {
        let next = first_own(existing, thread, threads);
        Self { existing, next, step: u64::from(threads), capacity }
    }

    /// Adds the next key of this thread, and returns its index.
    #[inline]
    fn add(&mut self) -> u64 {
        let key = self.next;
        self.next += self.step;
        self.existing = key + 1;
        key
    }
}

impl Queue {
    fn new(mixed: &PlannedMix, from: Extent, thread: u32, threads: u32) -> Self {
        Self {
            head: first_own(from.retired, thread, threads),
            step: u64::from(threads),
            end: (!mixed.spec.has(Kind::Insert)).then_some(from.keys),
            is_used: mixed.spec.has(Kind::SingleDelete),
            retired: from.retired,
        }
    }

    /// Returns whether enough keys remain for `count` single deletes, even if no key is added meanwhile.
    fn has(&self, count: u64, growth: &Growth) -> bool {
        !self.is_used || self.head + count * self.step <= self.end.unwrap_or(growth.next)
    }

    /// Removes the oldest key that no single delete has removed, and returns its index.
    #[inline]
    fn take(&mut self) -> u64 {
        let key = self.head;
        self.head += self.step;
        self.retired = self.head;
        key
    }
}

/// Returns the first index from `start` on whose key belongs to the thread with the number `thread`: the index with the
/// remainder `thread` modulo `threads`.
fn first_own(start: u64, thread: u32, threads: u32) -> u64 {
    let (thread, step) = (u64::from(thread), u64::from(threads));
    start + (thread + step - start % step) % step
}

impl Coin {
    #[inline]
    fn toss(&mut self) -> bool {
        self.threshold != 0 && self.random.bits() <= self.threshold
    }
}
