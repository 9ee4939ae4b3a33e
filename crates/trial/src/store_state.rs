//! Tracks the state of a store from phase to phase, for the column `state_at_start`.

use workload::{CacheState, Phase, StoreStep};

/// The state of the store between two phases, such as "flushed", which follows from the earlier phases.
#[derive(Clone, Debug, Default)]
pub(super) struct StoreState {
    is_written: bool,
    /// The steps that the store has executed since the last phase with writes, in order.
    steps: Vec<&'static str>,
    /// Whether flushes or compactions may still be running in the store.
    is_unsettled: bool,
}

impl StoreState {
    /// Updates the state of the store at the end of a phase. `is_settled` is true if all flushes and compactions have
    /// finished.
    pub(super) fn pass(&mut self, phase: &Phase, is_settled: bool) {
        if phase.may_write() {
            self.is_written = true;
            self.steps.clear();
        }
        // After a flush or a recovery, compactions may be necessary.
        let makes_work = phase.may_write()
            || matches!(phase.step(), Some(StoreStep::Flush | StoreStep::Compact | StoreStep::Reopen));
        self.is_unsettled = !is_settled && (self.is_unsettled || makes_work);
        match phase.step() {
            Some(StoreStep::Flush) => self.add("flushed"),
            Some(StoreStep::Reopen) => self.add("reopened"),
            Some(StoreStep::Compact) => {
                // A compaction of the whole store includes all data, regardless of earlier steps.
                self.steps.clear();
                self.add("compacted");
            }
            _ => {}
        }
    }

    /// Updates the state of the store after the caches were prepared for the next phase. For cold caches, the store was
    /// flushed and reopened.
    pub(super) fn prepare(&mut self, cache: CacheState) {
        if cache == CacheState::Cold {
            self.reopen_flushed();
        }
    }

    /// Updates the state of a store that was flushed, closed and opened again.
    pub(super) fn reopen_flushed(&mut self) {
        if !self.steps.iter().any(|step| ["flushed", "compacted"].contains(step)) {
            self.add("flushed");
        }
        self.add("reopened");
        self.is_unsettled = false;
    }

    fn add(&mut self, step: &'static str) {
        if self.steps.last() != Some(&step) {
            self.steps.push(step);
        }
    }

    /// Returns the state of the store as text, for the column `state_at_start`.
    pub(super) fn name(&self) -> String {
        let mut words = self.steps.clone();
        if !self.is_written {
            words = vec!["empty"];
        } else if words.is_empty() {
            words.push("written");
        }
        words.extend(self.is_unsettled.then_some("unsettled"));
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(text: &str) -> Phase {
        Phase::from_toml(&format!("name = \"x\"\n{text}").parse().unwrap()).unwrap()
    }

    #[test]
    fn steps_follow_one_another_until_something_is_written() {
        let mut state = StoreState::default();
        let mut after = |text: &str, is_settled: bool| {
            state.pass(&phase(text), is_settled);
            state.name()
        };
        assert_eq!(after("step = \"flush\"", true), "empty");
        assert_eq!(after("insert = 5", true), "written");
        assert_eq!(after("operations = 5\nmix = \"get\"", true), "written");
        assert_eq!(after("step = \"flush\"", true), "flushed");
        assert_eq!(after("step = \"flush\"", true), "flushed");
        assert_eq!(after("step = \"reopen\"", true), "flushed, reopened");
        assert_eq!(after("step = \"compact\"", true), "compacted");
        assert_eq!(after("step = \"drop_caches\"", true), "compacted");
        assert_eq!(after("operations = 5\nmix = { get = 1, put = 1 }", false), "written, unsettled");
        assert_eq!(after("step = \"flush\"", false), "flushed, unsettled");
        assert_eq!(after("step = \"sleep\"\nseconds = 1", false), "flushed, unsettled");
        assert_eq!(after("step = \"settle\"", true), "flushed");
        assert_eq!(after("step = \"sleep\"\nseconds = 1", false), "flushed");
        state.prepare(CacheState::Warm);
        assert_eq!(state.name(), "flushed");
        state.prepare(CacheState::Cold);
        assert_eq!(state.name(), "flushed, reopened");
    }
}
