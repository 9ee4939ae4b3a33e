//! The parts of a phase. A part contains the operations of the phase in one column family.

use std::sync::Arc;

use crate::extents::Extents;
use crate::phase::{Phase, Work};
use crate::plan::{PhasePlan, PlannedWork};

/// The operations of a phase in one column family. Each family has its own keys and versions, so each part has its own
/// streams and answers.
pub struct PhasePart {
    /// The name of the column family; `None` in a workload without families.
    pub family: Option<String>,
    /// The plan of the operations in this column family. If the phase has only one part, this is the plan of the phase.
    pub plan: Arc<PhasePlan>,
    /// The numbers of the threads that execute these operations, among all threads of the phase.
    pub threads: Vec<u32>,
}

impl PhasePlan {
    /// Splits the phase by column family, in the order of the first thread of each family. A phase whose roles have
    /// different families has several parts.
    pub fn parts(self: &Arc<Self>) -> Vec<PhasePart> {
        let (roles, threads) = (self.phase.roles(), self.phase.threads);
        let family = roles.first().map_or(&self.phase.family, |role| &role.family);
        let PlannedWork::Roles(mixes) = &self.work else { return vec![self.whole()] };
        if roles.iter().all(|role| role.family == *family) {
            return vec![PhasePart { family: family.clone(), ..self.whole() }];
        }
        let has_family = |thread: &u32, family: &Option<String>| {
            self.phase.role_of(*thread).is_some_and(|(role, _)| role.family == *family)
        };
        let mut parts: Vec<PhasePart> = Vec::new();
        for role in roles {
            if parts.iter().any(|part| part.family == role.family) {
                continue;
            }
            let own = || roles.iter().zip(mixes).filter(|(other, _)| other.family == role.family);
            let name = role.family.as_deref().unwrap_or_default();
            let numbers: Vec<u32> = (0..threads).filter(|thread| has_family(thread, &role.family)).collect();
            let phase = Phase {
                // The random numbers of a phase depend on its name.
                name: format!("{}.{name}", self.phase.name),
                work: Work::Roles(own().map(|(role, _)| role.clone()).collect()),
                threads: numbers.len() as u32,
                ..self.phase.clone()
            };
            let work = PlannedWork::Roles(own().map(|(_, mix)| Arc::clone(mix)).collect());
            let (format, values) = (Arc::clone(&self.format), Arc::clone(&self.values));
            let plan = Arc::new(Self { phase, seed: self.seed, format, values, work });
            parts.push(PhasePart { family: role.family.clone(), plan, threads: numbers });
        }
        parts
    }

    /// Returns how many keys and versions each column family has used after all operations of the phase. The function
    /// generates all operations to count them. `from` contains the numbers before the phase.
    pub fn extents_after(self: &Arc<Self>, from: &Extents) -> Extents {
        let mut after = from.clone();
        for part in self.parts() {
            let family = part.family.as_deref();
            after.set(family, part.plan.extent_after(from.of(family)));
        }
        after
    }

    /// Returns the whole phase as a single part, for a phase in one column family.
    fn whole(self: &Arc<Self>) -> PhasePart {
        let threads = (0..self.phase.threads).collect();
        PhasePart { family: self.phase.family.clone(), plan: Arc::clone(self), threads }
    }
}
