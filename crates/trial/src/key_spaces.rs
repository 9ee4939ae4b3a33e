//! Holds the expected content of each column family of a trial's store.

use std::sync::Arc;

use catalog::Limit;
use engines::{FamilyTarget, OpenStore};
use tree::Design;
use workload::{AnswerDigests, Extent, KeyFormat, PhasePart, PhasePlan, Shadow, TargetError, WorkloadPlan};

use super::truth::{Checked, Truth};

/// The keys of a column family, with the values that the store must contain for them.
struct KeySpace {
    /// The name of the column family; `None` in a workload without families.
    family: Option<String>,
    truth: Truth,
    /// The numbers of keys and versions that the phases so far have used.
    extent: Extent,
}

/// The expected content of all column families of a store. A workload without families has one key space.
pub(super) struct KeySpaces {
    spaces: Vec<KeySpace>,
    format: Arc<dyn KeyFormat>,
}

impl KeySpaces {
    /// Creates the expected content of an empty store of this design.
    pub(super) fn new(plan: &WorkloadPlan, design: &Design, store: &OpenStore) -> Self {
        let mut families: Vec<Option<String>> = Vec::new();
        for part in plan.phases().iter().filter(|phase| phase.step().is_none()).flat_map(PhasePlan::parts) {
            if !families.contains(&part.family) {
                families.push(part.family);
            }
        }
        let space = |family: Option<String>| {
            let own = family.as_deref().filter(|_| design.has_family_trees());
            let design = own.and_then(|name| design.family(name).ok()).unwrap_or_else(|| design.clone());
            let operator = design.options.merge_operator.filter(|_| store.engine().merges());
            let shadow = Shadow::new(plan.format()).merging_by(operator);
            let drops = store.engine().limits(&design).contains(&Limit::DropsData);
            let truth = Truth::Shadow(if drops { shadow.of_a_store_that_drops() } else { shadow });
            KeySpace { family, truth, extent: Extent::default() }
        };
        Self { spaces: families.into_iter().map(space).collect(), format: Arc::clone(plan.format()) }
    }

    /// Prepares the expected content of each column family for the operations of a phase. See [`Truth::begin`].
    pub(super) fn begin(
        &mut self,
        phase: &Arc<PhasePlan>,
        store: &OpenStore,
    ) -> Result<Vec<String>, TargetError> {
        let mut wrong = Vec::new();
        for part in phase.parts() {
            let target = store.family(part.family.as_deref())?;
            wrong.extend(self.space_mut(&part).truth.begin(&part.plan, target.target())?);
        }
        Ok(wrong)
    }

    /// Returns how many keys and versions the phases so far have used in one column family.
    pub(super) fn extent(&self, part: &PhasePart) -> Extent {
        let space = self.spaces.iter().find(|space| space.family == part.family);
        space.map_or_else(Extent::default, |space| space.extent)
    }

    /// Returns how many keys and versions the phases so far have used in the column family of `phase`. Returns 0 for a
    /// phase with several families, and for a step.
    pub(super) fn extent_of_phase(&self, phase: &Arc<PhasePlan>) -> Extent {
        match &*phase.parts() {
            [part] => self.extent(part),
            _ => Extent::default(),
        }
    }

    /// Returns whether the expected content of all column families of a phase is known, so that answers can be checked.
    pub(super) fn is_known(&self, phase: &Arc<PhasePlan>) -> bool {
        let parts = phase.parts();
        self.spaces
            .iter()
            .filter(|space| parts.iter().any(|part| part.family == space.family))
            .all(|space| space.truth.is_known())
    }

    /// Checks the answers that the threads got in a phase: compares them with the expected answers, and applies the
    /// writes of the phase to the expected content. The function generates the operations of the phase again, or reads
    /// them again from the trace.
    pub(super) fn check(
        &mut self,
        phase: &Arc<PhasePlan>,
        records: &[AnswerDigests],
    ) -> Result<Checked, TargetError> {
        let mut all = Checked::default();
        for part in phase.parts() {
            let own: Vec<AnswerDigests> =
                part.threads.iter().filter_map(|thread| records.get(*thread as usize)).cloned().collect();
            let format = Arc::clone(&self.format);
            let space = self.space_mut(&part);
            let checked = space.truth.check(&part.plan, space.extent, &own, &format)?;
            space.extent = checked.extent;
            all.answers += checked.answers;
            all.wrong += checked.wrong;
            if let Some(dropped) = checked.dropped {
                all.dropped = Some(all.dropped.unwrap_or(0) + dropped);
            }
            all.examples.extend(checked.examples);
        }
        all.live_bytes = self.live_bytes();
        Ok(all)
    }

    /// Returns the total size of the keys and values that the store must contain, in bytes. `None` if the content of a
    /// family is unknown.
    pub(super) fn live_bytes(&self) -> Option<u64> {
        self.spaces.iter().map(|space| space.truth.live_bytes()).sum()
    }

    /// Compares the whole content of a store with the expected content, family by family. `target` returns a handle for
    /// the operations on a family. Returns a description of the first difference for each family that differs.
    pub(super) fn verify<'s>(
        &mut self,
        target: impl Fn(Option<&str>) -> Result<FamilyTarget<'s>, TargetError>,
    ) -> Result<Vec<String>, TargetError> {
        let mut wrong = Vec::new();
        for KeySpace { family, truth, .. } in &mut self.spaces {
            let difference = truth.verify(target(family.as_deref())?.target())?;
            let named = |what| match &family {
                Some(family) => format!("family {family}: {what}"),
                None => what,
            };
            wrong.extend(difference.map(named));
        }
        Ok(wrong)
    }

    /// Returns the names of all families of the workload.
    pub(super) fn families(&self) -> impl Iterator<Item = Option<&str>> {
        self.spaces.iter().map(|space| space.family.as_deref())
    }

    fn space_mut(&mut self, part: &PhasePart) -> &mut KeySpace {
        let mut spaces = self.spaces.iter_mut();
        spaces
            .find(|space| space.family == part.family)
            .expect("the expected content of each column family of a phase must be known")
    }
}
