//! Checks the answers of a replay. The plan of a workload does not contain the keys and values of a replay. The check
//! therefore executes the replay again on the model, which is a simple store in memory.

use types::Direction;

use crate::check::AnswerDigests;
use crate::perform::Performer;
use crate::replay::{Due, Replay};
use crate::target::{Model, Scan, Target, TargetError};

/// The result of checking the answers of a replay.
#[derive(Debug, Default)]
pub struct ReplayVerdict {
    /// The number of answers of the store that were compared with the answers of the model.
    pub checked: u64,
    /// The number of compared answers of the store that were wrong.
    pub wrong: u64,
    /// Description of the first wrong answer of the store. `None` if no answer was wrong.
    pub first: Option<String>,
    /// Whether the check stopped early because the model exceeded its memory limit. The later answers and the final
    /// content of the store are then not checked.
    pub has_stopped: bool,
}

/// Executes a replay again on the model, which is a simple store in memory, and compares the recorded answers of the
/// store with the answers of the model. The check stops early if the model has more than `most_bytes` bytes of keys and
/// values.
pub fn check(
    mut replay: Replay<'_>,
    record: &AnswerDigests,
    model: &Model,
    most_bytes: u64,
) -> Result<ReplayVerdict, TargetError> {
    let mut performer = Performer::new(model);
    let mut answers = record.kept();
    let mut kept = answers.next();
    let mut verdict = ReplayVerdict::default();
    for ordinal in 0..record.operations() {
        let Some(Due { request, .. }) = replay.next()? else { break };
        replay.answer(performer.request(&request, true)?);
        if model.live_bytes() > most_bytes {
            verdict.has_stopped = true;
            break;
        }
        let Some((_, answer)) = kept.filter(|(kept, _)| *kept == ordinal) else { continue };
        kept = answers.next();
        if request.kind().answers() {
            verdict.checked += 1;
            if performer.digest() != answer {
                verdict.wrong += 1;
                verdict.first.get_or_insert_with(|| {
                    let described = match request.commands().as_deref() {
                        Some([command, ..]) => command.to_string(),
                        _ => request.kind().to_string(),
                    };
                    format!(
                        "operation {ordinal}: the answer of the store to {described} differs from the answer \
                         of the model"
                    )
                });
            }
        }
    }
    Ok(verdict)
}

/// Returns a model (a simple store in memory) that contains all entries of the store `target`.
pub fn copy(target: &dyn Target) -> Result<Model, TargetError> {
    let model = Model::default();
    let mut failed = None;
    target.range(&everything(), &mut |key, value| {
        failed = failed.take().or_else(|| model.put(key, value).err());
    })?;
    failed.map_or(Ok(model), Err)
}

/// Compares the entries of the store `target` with the entries of the model. Returns a description of the first
/// difference; `None` if all entries are equal.
pub fn compare(target: &dyn Target, model: &Model) -> Result<Option<String>, TargetError> {
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    model.range(&everything(), &mut |key, value| expected.push((key.to_vec(), value.to_vec())))?;
    target.range(&everything(), &mut |key, value| found.push((key.to_vec(), value.to_vec())))?;
    let at = expected.iter().zip(&found).position(|(a, b)| a != b);
    let at = at.or_else(|| (expected.len() != found.len()).then(|| expected.len().min(found.len())));
    let name = |pair: Option<&(Vec<u8>, Vec<u8>)>| {
        pair.map_or("nothing".to_owned(), |(key, _)| format!("key {}", key.escape_ascii()))
    };
    Ok(at.map(|at| {
        format!(
            "the entries of the store and the model differ; at the first difference in key order, the store \
             has {}, but the model has {}",
            name(found.get(at)),
            name(expected.get(at))
        )
    }))
}

fn everything() -> Scan<'static> {
    Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX }
}
