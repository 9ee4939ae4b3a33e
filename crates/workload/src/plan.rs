//! The plan of a workload. The plan reads the traces, generates the values, and returns the streams of every phase.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use catalog::ChoiceError;
use thiserror::Error;

use crate::before::WarmUp;
use crate::extents::{Extent, Extents};
use crate::format::{FORMATS, KeyFormat};
use crate::keys::{self, KeyDistribution};
use crate::length::LengthDistribution;
use crate::mixed::{KeySource, Mixed};
use crate::operation::Kind;
use crate::phase::{Order, Phase, Work};
use crate::range::LENGTHS;
use crate::replay::ReplayPlan;
use crate::replay_spec::ReplaySpec;
use crate::role::Role;
use crate::share::ThreadShare;
use crate::single_deletes::check_queue;
use crate::spelling::inside;
use crate::step::StoreStep;
use crate::trace::{Accesses, Recording, TraceError};
use crate::values::Values;
use crate::workload::{Workload, path};

/// Reason why a workload cannot be planned.
#[derive(Debug, Error)]
pub enum PlanError {
    /// A setting of the workload is invalid. The error names the TOML key of the setting.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A trace cannot be replayed.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// A workload that is ready to run with one seed: its traces are read, and its values are generated.
pub struct WorkloadPlan {
    phases: Vec<Arc<PhasePlan>>,
    format: Arc<dyn KeyFormat>,
}

/// A phase of a planned workload, from which the streams of operations are generated.
pub struct PhasePlan {
    pub(crate) phase: Phase,
    pub(crate) seed: u64,
    pub(crate) format: Arc<dyn KeyFormat>,
    pub(crate) values: Arc<Values>,
    pub(crate) work: PlannedWork,
}

/// The work of a phase in an executable form: with constructed distributions, and with traces that were read.
pub(crate) enum PlannedWork {
    Load {
        keys: u64,
        order: Order,
        batch: Option<u32>,
    },
    Mixed(Box<PlannedMix>),
    /// The mixes of the roles, in the order of their threads.
    Roles(Vec<Arc<PlannedMix>>),
    Replay(Box<ReplayPlan>),
    Step,
}

/// The settings of a mix, with constructed distributions of keys and lengths.
pub(crate) struct PlannedMix {
    pub(crate) spec: Mixed,
    pub(crate) keys: PlannedKeys,
    pub(crate) ranges: Box<dyn LengthDistribution>,
}

/// Source of the keys of a planned mix: a constructed distribution, or the accesses of a trace.
pub(crate) enum PlannedKeys {
    Drawn(Box<dyn KeyDistribution>),
    Recorded(Accesses),
}

impl WorkloadPlan {
    /// Plans `workload` with `seed`. Relative paths in the workload are relative to the folder `base`.
    ///
    /// # Errors
    /// Returns an error if a trace cannot be read, or if the phases request more keys, versions or threads than
    /// possible.
    pub fn new(workload: &Workload, seed: u64, base: &Path) -> Result<Self, PlanError> {
        let traces: Vec<_> = workload.phases.iter().filter_map(Phase::trace).collect();
        let (recording, accesses) = Recording::read(&traces, base)?.unzip();
        let recording = recording.map(Arc::new);
        let open = FORMATS.build(&workload.key)?.open(recording.as_ref());
        let format = open.map_err(|message| ChoiceError::at("key.format", message))?;
        let mut builder = Builder {
            seed,
            base,
            format: Arc::clone(&format),
            recorded_keys: recording.map_or(0, |recording| recording.numbers().len() as u64),
            accesses: accesses.unwrap_or_default().into_iter(),
            values: HashMap::new(),
        };
        let mut phases: Vec<Arc<PhasePlan>> = Vec::new();
        let mut extents = Extents::default();
        let workload = workload.clone().without_unread(|_, _| false);
        for phase in &workload.phases {
            let at = |error: ChoiceError| ChoiceError {
                key: Some(path(&phase.name, error.key.as_deref().unwrap_or_default())),
                message: format!("phase \"{}\": {}", phase.name, error.message),
            };
            let planned = Arc::new(builder.build(phase).map_err(at)?);
            for part in planned.parts() {
                let family = part.family.as_deref();
                extents.set(family, part.plan.check(extents.of(family)).map_err(at)?);
            }
            phases.push(planned);
        }
        Ok(Self { phases, format })
    }

    /// Returns the phases in the order in which they run.
    pub fn phases(&self) -> &[Arc<PhasePlan>] {
        &self.phases
    }

    /// Returns the format of all keys of the workload.
    pub fn format(&self) -> &Arc<dyn KeyFormat> {
        &self.format
    }
}

/// The inputs of the planning of a workload, and the results that several phases share.
struct Builder<'a> {
    seed: u64,
    base: &'a Path,
    format: Arc<dyn KeyFormat>,
    recorded_keys: u64,
    accesses: std::vec::IntoIter<Accesses>,
    /// The values that the phases write, by the TOML text of their settings. Phases with equal settings share one
    /// object.
    values: HashMap<String, Arc<Values>>,
}

impl Builder<'_> {
    fn build(&mut self, phase: &Phase) -> Result<PhasePlan, ChoiceError> {
        let values = self.values_of(phase)?;
        let work = match &phase.work {
            Work::Load(load) => PlannedWork::Load {
                keys: load.keys.unwrap_or(self.recorded_keys),
                order: load.order,
                batch: load.batch,
            },
            Work::Mixed(mixed) => PlannedWork::Mixed(Box::new(self.build_mixed(mixed)?)),
            Work::Roles(roles) => {
                let build = |role: &Role| {
                    let mix = self.build_mixed(&role.mixed);
                    mix.map(Arc::new).map_err(|error| inside("role", inside(&role.name, error)))
                };
                PlannedWork::Roles(roles.iter().map(build).collect::<Result<_, _>>()?)
            }
            Work::Replay(replay) => {
                self.check_file(replay)?;
                let plan = ReplayPlan::new(replay, self.base, Arc::clone(&values));
                PlannedWork::Replay(Box::new(plan))
            }
            Work::Step(_) => PlannedWork::Step,
        };
        let format = Arc::clone(&self.format);
        Ok(PhasePlan { phase: phase.clone(), seed: self.seed, format, values, work })
    }

    /// Returns the values that a phase writes. Phases with equal settings of values share one object.
    fn values_of(&mut self, phase: &Phase) -> Result<Arc<Values>, ChoiceError> {
        let spelt = phase.value.to_toml().to_string();
        let values = match self.values.get(&spelt) {
            Some(values) => Arc::clone(values),
            None => Arc::new(Values::new(&phase.value, self.seed)?),
        };
        self.values.insert(spelt, Arc::clone(&values));
        Ok(values)
    }

    fn build_mixed(&mut self, mixed: &Mixed) -> Result<PlannedMix, ChoiceError> {
        let keys = match &mixed.keys {
            KeySource::Drawn(choice) => PlannedKeys::Drawn(keys::CATALOG.build(choice)?),
            KeySource::Recorded(_) => {
                let accesses = self
                    .accesses
                    .next()
                    .expect("every trace that a phase uses must be read before the phase is planned");
                let length = accesses.len() as u64;
                if let Some(operations) = mixed.operations.filter(|operations| *operations > length) {
                    let message = format!("operations is {operations}, but the trace has {length} accesses");
                    return Err(ChoiceError::at("operations", message));
                }
                PlannedKeys::Recorded(accesses)
            }
        };
        if mixed.range.span > 0 && !self.format.has_numbers() {
            let message = "span is above 0, but the keys of this key format are not numbers; use the key \
                           format \"u64\" or \"decimal\"";
            return Err(ChoiceError::at("range.span", message));
        }
        if mixed.has(Kind::DeleteRange) && !(self.format.has_numbers() && self.format.ordered()) {
            let message = "a range delete needs keys in the order of their numbers; use the key format \"u64\" or \
                           \"decimal\" without scattered = true";
            return Err(ChoiceError::at("mix.delete_range", message));
        }
        Ok(PlannedMix { spec: mixed.clone(), keys, ranges: LENGTHS.build(&mixed.range.length)? })
    }

    fn check_file(&self, replay: &ReplaySpec) -> Result<(), ChoiceError> {
        let path = self.base.join(&replay.trace.file);
        if path.is_file() {
            return Ok(());
        }
        let message = format!(
            "there is no file {}; a relative path starts from the folder of the file that contains the path",
            path.display()
        );
        Err(ChoiceError::at("replay.file", message))
    }
}

impl PhasePlan {
    /// Returns the phase as it was read from TOML.
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Returns the values that the phase writes.
    pub fn values(&self) -> &Arc<Values> {
        &self.values
    }

    /// Returns the number of operations that a thread executes after the warm-up, if this number is known in
    /// advance.
    pub fn operations_of(&self, thread: u32) -> Option<u64> {
        let threads = u64::from(self.phase.threads);
        self.operations().map(|operations| part(operations, u64::from(thread), threads))
    }

    /// Returns the mix that the thread with the number `thread` executes, and its share of the operations and keys.
    /// Returns `None` if the phase has no mix.
    pub(crate) fn mix_of(&self, thread: u32) -> Option<(&PlannedMix, ThreadShare)> {
        match &self.work {
            PlannedWork::Mixed(mixed) => Some((mixed, ThreadShare::equal(thread, self.phase.threads))),
            PlannedWork::Roles(mixes) => {
                let (number, share) = ThreadShare::of_role(self.phase.roles(), thread)?;
                Some((&mixes[number], share))
            }
            _ => None,
        }
    }

    /// Returns the number of operations over all threads after the warm-up, if this number is known in advance. A
    /// batch with all its members counts as one operation.
    pub fn operations(&self) -> Option<u64> {
        match &self.work {
            PlannedWork::Load { keys, batch, .. } => {
                let threads = u64::from(self.phase.threads);
                let batch = u64::from(batch.unwrap_or(1));
                Some((0..threads).map(|thread| part(*keys, thread, threads).div_ceil(batch)).sum())
            }
            PlannedWork::Mixed(mixed) => mixed.operations(),
            PlannedWork::Roles(mixes) => mixes.iter().map(|mix| mix.operations()).sum(),
            PlannedWork::Replay(_) => None,
            PlannedWork::Step => Some(0),
        }
    }

    /// Returns the replay that the phase executes. Returns `None` if the phase executes streams of operations.
    pub fn replay(&self) -> Option<&ReplayPlan> {
        match &self.work {
            PlannedWork::Replay(replay) => Some(replay),
            _ => None,
        }
    }

    /// Returns the step that the phase executes, or `None` if the phase executes operations.
    pub fn step(&self) -> Option<StoreStep> {
        self.phase.step()
    }

    /// Returns whether the phase executes a mix that may write.
    pub(crate) fn mixes_writes(&self) -> bool {
        match &self.work {
            PlannedWork::Mixed(_) | PlannedWork::Roles(_) => self.phase.may_write(),
            _ => false,
        }
    }

    /// Checks that enough keys and version numbers remain for the phase. `from` contains the keys and versions that
    /// earlier phases used. Returns the minimum number of keys and the maximum number of versions after the phase.
    ///
    /// # Errors
    /// Returns an error if the phase needs more keys or versions than possible.
    fn check(&self, from: Extent) -> Result<Extent, ChoiceError> {
        let mut after = from;
        match &self.work {
            PlannedWork::Load { keys, .. } => {
                after.keys = from.keys.saturating_add(*keys);
                self.check_capacity("insert", after.keys)?;
                after.versions = check_versions("insert", from, *keys, self.phase.threads)?;
            }
            PlannedWork::Mixed(mixed) => {
                let threads = (self.phase.threads, self.phase.threads);
                (after.versions, after.retired) = self.check_mix(mixed, from, threads)?;
            }
            PlannedWork::Roles(mixes) => {
                let updating = self.phase.roles().iter().filter(|role| role.updates());
                let writers = updating.map(|role| role.threads).sum();
                for (role, mixed) in self.phase.roles().iter().zip(mixes) {
                    let checked = self.check_mix(mixed, from, (role.threads, writers));
                    let (versions, retired) =
                        checked.map_err(|error| inside("role", inside(&role.name, error)))?;
                    after.versions = after.versions.max(versions);
                    after.retired = after.retired.max(retired);
                }
            }
            PlannedWork::Replay(_) | PlannedWork::Step => {}
        }
        Ok(after)
    }

    /// Checks that `threads` threads can execute the mix. `from` contains the keys and versions that earlier phases
    /// used, and `writers` is the number of threads of the phase that write existing keys. Returns the maximum number
    /// of versions after the mix, and how many keys its single deletes may remove.
    fn check_mix(
        &self,
        mixed: &PlannedMix,
        from: Extent,
        (threads, writers): (u32, u32),
    ) -> Result<(u32, u64), ChoiceError> {
        let spec = &mixed.spec;
        check_keys(mixed, from, writers)?;
        let warm_up = match self.phase.before.warm_up {
            Some(WarmUp::Operations(operations)) => operations,
            _ => 0,
        };
        let operations = mixed.operations().unwrap_or(0).saturating_add(warm_up);
        let written = operations.saturating_mul(spec.most_writes());
        if spec.has(Kind::Insert) {
            let added = if spec.batches(Kind::Insert) { written } else { operations };
            self.check_capacity("operations", from.keys.saturating_add(added))?;
        }
        let versions = if spec.mix.writes() { written } else { 0 };
        // The writing threads divide the keys equally among themselves.
        let (left, writers) = (from.keys.saturating_sub(from.retired), u64::from(writers.max(1)));
        let of_thread = mixed.operations().map(|_| operations as f64 / f64::from(threads));
        let taken = check_queue(spec, of_thread, left / writers)?;
        let versions = check_versions("operations", from, versions, threads)?;
        Ok((versions, from.retired.saturating_add(taken.saturating_mul(writers))))
    }

    fn check_capacity(&self, key: &str, keys: u64) -> Result<(), ChoiceError> {
        let capacity = self.format.capacity();
        if keys <= capacity {
            return Ok(());
        }
        let message = format!(
            "the phase may add keys up to number {keys}, but the key format has only {capacity} different \
             keys; use longer keys, or insert fewer keys"
        );
        Err(ChoiceError::at(key, message))
    }
}

fn check_versions(key: &str, from: Extent, writes: u64, threads: u32) -> Result<u32, ChoiceError> {
    let most = writes.div_ceil(u64::from(threads));
    match u32::try_from(u64::from(from.versions).saturating_add(most)) {
        Ok(versions) => Ok(versions),
        Err(_) => Err(ChoiceError::at(
            key,
            format!(
                "a thread can execute at most {} writes in a run; lower `operations`, or use more threads",
                u32::MAX
            ),
        )),
    }
}

/// Checks that a mix has keys: keys must exist from which the mix can draw, and each writing thread of the phase needs
/// a key of its own.
fn check_keys(mixed: &PlannedMix, from: Extent, writers: u32) -> Result<(), ChoiceError> {
    let only_inserts = Kind::ALL
        .into_iter()
        .all(|kind| [Kind::Insert, Kind::Batch].contains(&kind) || !mixed.spec.has(kind));
    if only_inserts || matches!(mixed.keys, PlannedKeys::Recorded(_)) {
        return Ok(());
    }
    if from.keys == 0 {
        let message = "the store has no keys from which the mix can draw; put a phase with insert = … before \
                       this phase";
        return Err(ChoiceError::at("keys", message));
    }
    if mixed.spec.mix.writes() && from.keys < u64::from(writers) {
        let message = format!(
            "threads is {writers}, but only {} keys exist; each writing thread needs a key of its own",
            from.keys
        );
        return Err(ChoiceError::at("threads", message));
    }
    Ok(())
}

impl PlannedMix {
    /// Returns the number of operations of the mix, if this number is known in advance.
    pub(crate) fn operations(&self) -> Option<u64> {
        match &self.keys {
            PlannedKeys::Drawn(_) => self.spec.operations,
            PlannedKeys::Recorded(accesses) => Some(self.spec.operations.unwrap_or(accesses.len() as u64)),
        }
    }
}

/// Divides `whole` items as evenly as possible among `threads` threads, and returns the number of items of the thread
/// with the number `thread`.
pub(crate) fn part(whole: u64, thread: u64, threads: u64) -> u64 {
    whole / threads + u64::from(thread < whole % threads)
}
