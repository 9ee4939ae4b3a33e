//! Holds the expected content of a trial's store, and compares the answers of the store with it. The measured times do
//! not include the comparison.

use std::sync::Arc;

use workload::model_check;
use workload::{AnswerDigests, Extent, KeyFormat, Model, PhasePlan, Shadow, Target, TargetError, check};

/// The maximum size of the expected content of a replay in memory, in key and value bytes. If the content becomes
/// larger, later answers are not checked.
const MOST_MODEL_BYTES: u64 = 256 << 20;

/// The content that a store or a column family must have after the phases so far.
pub(super) enum Truth {
    /// The version number of each key, for operations that the workload generates.
    Shadow(Shadow),
    /// A copy of the content of the store, for replays. The plan of a workload does not contain the keys and values
    /// that a replay writes.
    Model(Model),
    /// The expected content is unknown, so answers are not checked.
    Unknown,
}

/// The result of checking the answers that the store gave in a phase.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// The number of answers of the store that were compared with expected answers.
    pub(super) answers: u64,
    /// The number of compared answers of the store that were wrong.
    pub(super) wrong: u64,
    /// The number of gets that found no value for a written key, if the design may drop data.
    pub(super) dropped: Option<u64>,
    /// Descriptions of the first wrong answers of the store.
    pub(super) examples: Vec<String>,
    /// The numbers of keys and versions that the phases have used up to the end of this phase.
    pub(super) extent: Extent,
    /// The size of the keys and values of all live entries, in bytes. `None` if the content is unknown.
    pub(super) live_bytes: Option<u64>,
}

impl Truth {
    /// Prepares the expected content for a phase. Before a replay, the function also compares the complete content of
    /// the store with the expected content, because this comparison is not possible after the replay. Returns the first
    /// difference, if any.
    pub(super) fn begin(
        &mut self,
        phase: &PhasePlan,
        target: &dyn Target,
    ) -> Result<Option<String>, TargetError> {
        if phase.replay().is_none() {
            if matches!(self, Self::Model(_)) {
                let wrong = self.verify(target)?;
                *self = Self::Unknown;
                return Ok(wrong);
            }
            return Ok(None);
        }
        let Self::Shadow(shadow) = self else { return Ok(None) };
        // A model (a copy of the content) cannot represent a store that may drop data.
        let copied = shadow.live_bytes() <= MOST_MODEL_BYTES && !shadow.may_drop();
        let operator = shadow.operator();
        let wrong = self.verify(target)?;
        *self = match copied {
            true => Self::Model(model_check::copy(target)?.merging_by(operator)),
            false => Self::Unknown,
        };
        Ok(wrong)
    }

    /// Returns whether the expected content is known, so that answers can be checked.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// Checks the answers that the threads got in a phase: compares them with the expected answers, and applies the
    /// writes of the phase to the expected content. The function generates the operations of the phase again, or reads
    /// them again from the trace.
    pub(super) fn check(
        &mut self,
        phase: &Arc<PhasePlan>,
        from: Extent,
        records: &[AnswerDigests],
        format: &Arc<dyn KeyFormat>,
    ) -> Result<Checked, TargetError> {
        match (&mut *self, phase.replay()) {
            (Self::Shadow(shadow), None) => {
                let verdict = check(phase, from, records, shadow);
                Ok(Checked {
                    answers: verdict.checked,
                    wrong: verdict.wrong,
                    dropped: shadow.may_drop().then_some(verdict.dropped),
                    examples: verdict.examples.iter().map(ToString::to_string).collect(),
                    extent: verdict.extent,
                    live_bytes: (!shadow.may_drop()).then(|| shadow.live_bytes()),
                })
            }
            (Self::Model(model), Some(replay)) => {
                let verdict = model_check::check(replay.open()?, &records[0], model, MOST_MODEL_BYTES)?;
                let live_bytes = (!verdict.has_stopped).then(|| model.live_bytes());
                if verdict.has_stopped {
                    *self = Self::Unknown;
                }
                Ok(Checked {
                    answers: verdict.checked,
                    wrong: verdict.wrong,
                    dropped: None,
                    examples: verdict.first.into_iter().collect(),
                    extent: from,
                    live_bytes,
                })
            }
            (_, None) => {
                // The expected content is unknown, so the answers are not checked. The check only counts the keys and
                // versions that the phase used.
                let verdict = check(phase, from, records, &mut Shadow::new(format));
                Ok(Checked { extent: verdict.extent, ..Checked::default() })
            }
            (_, Some(_)) => Ok(Checked { extent: from, ..Checked::default() }),
        }
    }

    /// Returns the total size of the keys and values of all live data in bytes. `None` if the content is unknown.
    pub(super) fn live_bytes(&self) -> Option<u64> {
        match self {
            Self::Shadow(shadow) => (!shadow.may_drop()).then(|| shadow.live_bytes()),
            Self::Model(model) => Some(model.live_bytes()),
            Self::Unknown => None,
        }
    }

    /// Compares the whole content of the store with the expected content. Returns a description of the first
    /// difference. `None` if there is none, or if the content is unknown.
    pub(super) fn verify(&mut self, target: &dyn Target) -> Result<Option<String>, TargetError> {
        match self {
            Self::Shadow(shadow) => {
                let verdict = shadow.verify(target)?;
                Ok(verdict.first.map(|first| {
                    format!("{} entries differ from the expected content; the first: {first}", verdict.wrong)
                }))
            }
            Self::Model(model) => model_check::compare(target, model),
            Self::Unknown => Ok(None),
        }
    }
}
