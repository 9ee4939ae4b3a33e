//! The expected content of the store of a trial, so that its answers can be checked outside of the timed path.

use std::sync::Arc;

use workload::replay::{self, Replay};
use workload::{AnswerDigests, Extent, KeyFormat, Model, PhasePlan, Shadow, Target, TargetError, check};

/// The largest store that is copied into a model, in key and value bytes: a text replay on a larger one is not
/// checked.
const MOST_MODEL_BYTES: u64 = 256 << 20;

/// The expected content of the store.
pub(super) enum Truth {
    /// A version per key that was generated.
    Shadow(Shadow),
    /// A copy: text replays write keys and values that are in no plan.
    Model(Model),
    /// It is not known: the answers are not checked.
    Unknown,
}

/// The result of checking a phase.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Answers that were compared.
    pub(super) answers: u64,
    /// Answers that were wrong.
    pub(super) wrong: u64,
    /// Gets that found nothing where something was written, where the design may drop data.
    pub(super) dropped: Option<u64>,
    /// The first wrong ones, in words.
    pub(super) examples: Vec<String>,
    /// Where the next phase starts.
    pub(super) extent: Extent,
    /// Key and value bytes of all that is live, where it is known.
    pub(super) live_bytes: Option<u64>,
}

impl Truth {
    /// Prepares for a phase. Before a text replay, the whole content of the store is compared with the expected
    /// state, because that is impossible afterwards. Returns the differences.
    pub(super) fn begin(
        &mut self,
        phase: &PhasePlan,
        target: &dyn Target,
    ) -> Result<Option<String>, TargetError> {
        if phase.text().is_none() {
            if matches!(self, Self::Model(_)) {
                let wrong = self.verify(target)?;
                *self = Self::Unknown;
                return Ok(wrong);
            }
            return Ok(None);
        }
        let Self::Shadow(shadow) = self else { return Ok(None) };
        // A model has no notion of data that may be missing.
        let copied = shadow.live_bytes() <= MOST_MODEL_BYTES && !shadow.may_drop();
        let wrong = self.verify(target)?;
        *self = if copied { Self::Model(replay::copy(target)?) } else { Self::Unknown };
        Ok(wrong)
    }

    /// Whether answers can be checked.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// Goes through a phase once more, compares the answers that were kept, and takes its writes over.
    pub(super) fn check(
        &mut self,
        phase: &Arc<PhasePlan>,
        from: Extent,
        records: &[AnswerDigests],
        format: &Arc<dyn KeyFormat>,
    ) -> Result<Checked, TargetError> {
        match (self, phase.text()) {
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
            (Self::Model(model), Some(file)) => {
                let verdict = replay::check(Replay::open(file)?, &records[0], model)?;
                Ok(Checked {
                    answers: verdict.checked,
                    wrong: verdict.wrong,
                    dropped: None,
                    examples: verdict.first.into_iter().collect(),
                    extent: from,
                    live_bytes: Some(model.live_bytes()),
                })
            }
            (_, None) => {
                // Nothing is known, but the operations went on from where they were.
                let verdict = check(phase, from, records, &mut Shadow::new(format));
                Ok(Checked { extent: verdict.extent, ..Checked::default() })
            }
            (_, Some(_)) => Ok(Checked { extent: from, ..Checked::default() }),
        }
    }

    /// Compares the whole content of the store with the expected content. Returns the first difference.
    pub(super) fn verify(&mut self, target: &dyn Target) -> Result<Option<String>, TargetError> {
        match self {
            Self::Shadow(shadow) => {
                let verdict = shadow.verify(target)?;
                Ok(verdict.first.map(|first| format!("{} entries are wrong: {first}", verdict.wrong)))
            }
            Self::Model(model) => replay::compare(target, model),
            Self::Unknown => Ok(None),
        }
    }
}
