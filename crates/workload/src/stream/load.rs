//! The stream of a load. A load adds each of its keys once.

use std::sync::Arc;

use crate::extents::Extent;
use crate::operation::{KeyId, Kind, Operation, Span};
use crate::permutation::Permutation;
use crate::phase::Order;
use crate::plan::{PhasePlan, part};
use crate::random::{Concern, sub_seed};
use crate::values::Values;

/// The part of a load that one thread executes. With T threads, thread t adds the keys at the positions t, t + T, t + 2
/// T … in the order of the load.
pub(super) struct LoadStream {
    order: Placement,
    /// The number of keys that existed before the load.
    base: u64,
    keys: u64,
    next: u64,
    step: u64,
    left: u64,
    batch: Option<u32>,
    version: u32,
    /// The number of keys that single deletes had removed before the load.
    retired: u64,
    /// A buffer for positions in the order of the load, which every batch reuses.
    places: Vec<u64>,
}

/// Mapping from a position in the order of the load to the index of the key that is added at this position.
enum Placement {
    Random(Permutation),
    Sequential,
    Reverse,
}

impl LoadStream {
    pub(super) fn new(
        phase: &PhasePlan,
        keys: u64,
        order: Order,
        batch: Option<u32>,
        thread: u32,
        from: Extent,
    ) -> Self {
        let (thread, step) = (u64::from(thread), u64::from(phase.phase.threads));
        let order = match order {
            Order::Random => {
                let seed = sub_seed(phase.seed, Concern::Order, &phase.phase.name, 0);
                Placement::Random(Permutation::new(keys, seed))
            }
            Order::Sequential => Placement::Sequential,
            Order::Reverse => Placement::Reverse,
        };
        let left = part(keys, thread, step);
        let Extent { keys: base, versions: version, retired } = from;
        Self { order, base, keys, next: thread, step, left, batch, version, retired, places: Vec::new() }
    }

    pub(super) fn remaining(&self) -> u64 {
        self.left.div_ceil(u64::from(self.batch.unwrap_or(1)))
    }

    pub(super) fn extent(&self) -> Extent {
        Extent { keys: self.base + self.keys, versions: self.version, retired: self.retired }
    }

    pub(super) fn fill(
        &mut self,
        values: &Arc<Values>,
        operations: &mut Vec<Operation>,
        limit: usize,
    ) -> usize {
        let heads = (limit as u64).min(self.remaining()) as usize;
        let Some(batch) = self.batch else {
            self.push_inserts(heads as u64, values, operations);
            return heads;
        };
        for _ in 0..heads {
            let members = u64::from(batch).min(self.left);
            let at = operations.len();
            operations.push(Operation::head(Kind::Batch, members as u32));
            self.push_inserts(members, values, operations);
            operations[at].key = operations[at + 1].key;
        }
        heads
    }

    /// Appends the next `inserts` inserts of the load to `operations`.
    fn push_inserts(&mut self, inserts: u64, values: &Values, operations: &mut Vec<Operation>) {
        self.places.clear();
        self.places.extend((0..inserts).map(|ordinal| self.next + ordinal * self.step));
        self.next += inserts * self.step;
        self.left -= inserts;
        match &self.order {
            Placement::Random(permutation) => permutation.apply_all(&mut self.places),
            Placement::Sequential => {}
            Placement::Reverse => self.places.iter_mut().for_each(|place| *place = self.keys - 1 - *place),
        }
        for place in &self.places {
            let index = self.base + place;
            self.version += 1;
            operations.push(Operation {
                key: KeyId::present(index),
                value: values.locate(index, self.version),
                version: self.version,
                count: 0,
                kind: Kind::Insert,
                backward: false,
                span: 0,
            });
        }
    }
}

impl Operation {
    /// Returns the head of a group (a write batch or a multi-get) with `members` members. The caller must set the key
    /// of the head to the key of the first member.
    pub(super) fn head(kind: Kind, members: u32) -> Self {
        Self {
            key: KeyId::present(0),
            value: Span::default(),
            version: 0,
            count: members,
            kind,
            backward: false,
            span: 0,
        }
    }
}
