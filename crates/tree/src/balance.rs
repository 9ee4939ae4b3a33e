//! The sizes of memtables, filters and cache of an open tree.
//!
//! The decisions of an arbiter depend on counters, and not on the time. The tree checks whether a decision is due only
//! after a flush, after some thousand gets, or after some dozens of scans. A single get therefore only increments a
//! counter. A larger size applies to the next memtable. A smaller size also applies to the active memtable. If the
//! active memtable is already larger than the new size, the next write or the next check after reads makes the memtable
//! immutable.

use std::sync::Arc;

use crate::arbitration::TreeSizes;
use crate::error::Result;
use crate::inner::Inner;

impl Inner {
    /// Returns the size, in bytes, at which a new memtable becomes immutable.
    pub(crate) fn memtable_bytes(&self) -> u64 {
        self.arbitration.as_ref().map_or(self.design.memtable_capacity.0, |it| it.sizes().memtable_bytes)
    }

    /// Returns the bits per key of new filters. Returns `None` if the filter variant has no setting of bits per key.
    pub(crate) fn filter_bits_per_key(&self) -> Option<f64> {
        let of_design = self.context.bloom.component.bits_per_key();
        let decided = self.arbitration.as_ref().and_then(|it| it.sizes().filter_bits_per_key);
        of_design.map(|bits| decided.unwrap_or(bits))
    }

    /// Sets the capacity of the cache to the part of the memory limit that memtables, filters and fences leave. Does
    /// nothing if the tree has neither a memory limit nor an arbiter.
    pub(crate) fn balance_memory(&self) {
        if let Some(share) = self.membership.as_ref().and_then(|membership| membership.memory.as_ref()) {
            let (filters, fences) = self.view.load().version.filter_and_fence_bytes();
            share.balance(self.context.tree, filters + fences);
        }
        let Some(budget) = self.memory_budget() else { return };
        let memtables = match &self.arbitration {
            None => 2 * self.design.memtable_capacity.0,
            Some(arbitration) => self.pending.lock().memtable_bytes + arbitration.sizes().memtable_bytes,
        };
        self.context.cache.set_capacity(budget.saturating_sub(memtables));
    }

    /// Returns the memory limit for two memtables and the cache together, in bytes. Returns `None` if there is no
    /// limit.
    fn memory_budget(&self) -> Option<u64> {
        let beside = || {
            let (filters, fences) = self.view.load().version.filter_and_fence_bytes();
            filters + fences
        };
        match (&self.arbitration, self.design.options.memory) {
            (None, None) => None,
            (None, Some(memory)) => Some(memory.0.saturating_sub(beside())),
            (Some(arbitration), memory) => {
                let beside = memory.map_or(0, |_| beside()) + arbitration.sample_bytes();
                Some(arbitration.limit_bytes().saturating_sub(beside))
            }
        }
    }

    /// Lets the memory arbiter choose new sizes of memtables and filters, if a decision is due. Then gives the
    /// remaining memory to the cache.
    pub(crate) fn arbitrate(&self) {
        if let Some(arbitration) = &self.arbitration
            && arbitration.decide(|| self.counters.sum(), self.design.options.block.size.0, || self.sizes())
        {
            let mut pending = self.pending.lock();
            let most = arbitration.sizes().memtable_bytes.max(pending.charged_bytes);
            pending.memtable_bytes = pending.memtable_bytes.min(most);
        }
        self.balance_memory();
    }

    /// Lets the memory arbiter choose new sizes after some reads, if a decision is due. Also makes the active memtable
    /// immutable if it is larger than the capacity of a new memtable.
    pub(crate) fn arbitrate_after_reads(&self) -> Result<()> {
        self.arbitrate();
        let size = self.memtable_bytes();
        let active = {
            let pending = self.pending.lock();
            (pending.charged_bytes > size).then(|| Arc::clone(&pending.active))
        };
        match active {
            Some(active) if self.begin_memtable_for_reads(&active)? => self.work_inline(),
            _ => Ok(()),
        }
    }

    /// Returns the current sizes of the tree, which the arbiter needs for its decision.
    fn sizes(&self) -> TreeSizes {
        let version = Arc::clone(&self.view.load().version);
        let has_filters =
            self.arbitration.as_ref().is_some_and(|it| it.sizes().filter_bits_per_key.is_some());
        let filter_bytes = if has_filters { version.filter_and_fence_bytes().0 } else { 0 };
        let entries = version.tables().map(|table| table.properties().entries).sum();
        TreeSizes {
            budget_bytes: self.memory_budget().unwrap_or(0) + filter_bytes,
            least_memtable_bytes: self.design.least_memtable_bytes(),
            filter_bytes,
            filter_keys: if has_filters { entries } else { 0 },
            table_bytes: version.tables().map(|table| table.file_bytes()).sum(),
        }
    }
}
