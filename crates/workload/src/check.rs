//! Checks the answers of a phase after the measurement has ended. The check generates the operations of the phase
//! again. The check compares the digest of every recorded answer with the digest of the answer that the expected
//! state gives.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::batch::Batch;
use crate::digest::{self, Parts};
use crate::dsl;
use crate::extents::Extent;
use crate::operation::{Kind, Operation};
use crate::plan::PhasePlan;
use crate::prefix;
use crate::shadow::Shadow;
use crate::stream::Stream;

/// Maximum number of wrong answers that the result describes. All further wrong answers are only counted.
const DESCRIBED: usize = 10;

/// The record of one thread in a phase: the number of operations that the thread executed, and digests (64-bit hashes)
/// of the answers that the thread got from the store.
#[derive(Clone, Debug)]
pub struct AnswerDigests {
    stride: u64,
    until_next: u64,
    operations: u64,
    digests: Vec<u64>,
}

/// The result of checking the answers that a store gave in a phase.
#[derive(Clone, Debug, Default)]
pub struct CheckResult {
    /// The number of answers that were compared with the expected answers. Writes do not count, because writes have
    /// no answers.
    pub checked: u64,
    /// The number of recorded answers that were not compared, because the expected answer is unknown.
    /// * If several threads run and at least one of them writes, scans and multi-gets have no known answer.
    /// * If the store may drop data, an answer with a missing entry has no known answer.
    pub unchecked: u64,
    /// The number of compared answers of the store that were wrong.
    pub wrong: u64,
    /// The number of gets that found no value for a written key, in a store that may drop data. These answers are not
    /// wrong.
    pub dropped: u64,
    /// Descriptions of the first wrong answers of the phase.
    pub examples: Vec<WrongAnswer>,
    /// The numbers of keys and of value versions that the workload has used up to the end of the phase. The next phase
    /// continues with the next key and the next version.
    pub extent: Extent,
}

/// A wrong answer: an answer to an operation that a correct store cannot give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongAnswer {
    /// The number of the thread that executed the operation with the wrong answer.
    pub thread: u32,
    /// The number of the operation among the operations of its thread, from 0.
    pub operation: u64,
    /// The kind of the operation that got the wrong answer.
    pub kind: Kind,
    /// The key of the operation as text, in the syntax of `lsmbench shell`.
    pub key: String,
    /// A description of the correct answer.
    pub expected: String,
}

impl fmt::Display for WrongAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, operation, kind, key, expected } = self;
        write!(f, "thread {thread}, operation {operation}: wrong answer of {kind} {key}; expected {expected}")
    }
}

impl AnswerDigests {
    /// Creates the record of a thread, which keeps the answer of every `stride`-th operation. If `stride` is 0, the
    /// record keeps no answers.
    pub fn new(stride: u64) -> Self {
        Self { stride, until_next: 0, operations: 0, digests: Vec::new() }
    }

    /// Creates the record of a thread that executed `operations` operations and kept no answers.
    pub fn unkept(operations: u64) -> Self {
        Self { operations, ..Self::new(0) }
    }

    /// Returns whether the record keeps the answer of the next operation.
    #[inline]
    pub fn wants(&self) -> bool {
        self.until_next == 0 && self.stride != 0
    }

    /// Counts one executed operation. If the record keeps the answer of this operation, the function calls `digest` to
    /// compute the digest of the answer.
    #[inline]
    pub fn done(&mut self, digest: impl FnOnce() -> u64) {
        if self.wants() {
            self.digests.push(digest());
            self.until_next = self.stride;
        }
        self.until_next = self.until_next.saturating_sub(1);
        self.operations += 1;
    }

    /// Returns the number of executed operations. A group (a write batch or a multi-get) with all its members counts as
    /// one operation.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Returns the digests of the kept answers. Each item contains the number of the operation among the operations of
    /// its thread, from 0, and the digest of the answer.
    pub fn kept(&self) -> impl Iterator<Item = (u64, u64)> {
        let numbers = (0..).step_by(self.stride.max(1) as usize);
        numbers.zip(self.digests.iter().copied())
    }
}

/// Checks the recorded answers of all threads of a phase against the expected state of the store. The function applies
/// the operations of the phase to the expected state, which is then ready for the next phase.
///
/// If only one thread runs, or if no thread writes, all recorded answers are checked exactly. If several threads run,
/// only the gets in which a thread reads its own keys are checked exactly. A get of another thread's key may return any
/// version that the phase wrote, or the value before the phase. With several threads, scans and multi-gets count as
/// unchecked.
pub fn check(
    phase: &Arc<PhasePlan>,
    from: Extent,
    records: &[AnswerDigests],
    shadow: &mut Shadow,
) -> CheckResult {
    shadow.begin(phase, from);
    let streams = || phase.performed_streams(from).into_iter().zip(records);
    let contended = records.len() > 1 && phase.mixes_writes();
    let mut checker =
        Checker { shadow, contended, witnesses: HashMap::new(), verdict: CheckResult::default() };
    if contended {
        for (stream, record) in streams() {
            walk(stream, record, |step| checker.call_witness(step));
        }
        for (stream, record) in streams() {
            walk(stream, record, |step| checker.note_writes(step));
        }
    }
    for (stream, record) in streams() {
        let extent = walk(stream, record, |step| checker.step(step));
        checker.verdict.extent = checker.verdict.extent.join(extent);
    }
    checker.verdict
}

/// An operation that a thread has executed. The check generates the operation a second time, because the run does not
/// store its operations.
struct Step<'a> {
    stream: &'a Stream,
    /// The number of the operation among the operations of its thread, from 0.
    ordinal: u64,
    batch: &'a Batch,
    at: usize,
    /// The digest (a 64-bit hash) of the answer of the store. `None` if the thread did not keep the answer.
    answer: Option<u64>,
}

impl Step<'_> {
    fn operation(&self) -> &Operation {
        &self.batch.operations()[self.at]
    }

    /// Returns the executed operation, followed by its members if the operation is the head of a group (a write batch
    /// or a multi-get).
    fn all(&self) -> &[Operation] {
        &self.batch.operations()[self.at..self.at + self.batch.width(self.at)]
    }

    /// Returns whether the operation is a get with a recorded answer, and another thread may write its key. Such a get
    /// may return any version that the phase writes.
    fn is_foreign_get(&self) -> bool {
        let Operation { kind, key, .. } = *self.operation();
        kind == Kind::Get && self.answer.is_some() && !key.is_absent() && !self.stream.owns(key)
    }
}

/// Generates the executed operations of a thread again. Calls `visit` with each operation and the recorded digest of
/// its answer, if any. Returns how many keys and versions are used after these operations.
fn walk(mut stream: Stream, record: &AnswerDigests, mut visit: impl FnMut(&Step<'_>)) -> Extent {
    let mut batch = Batch::default();
    let mut answers = record.digests.iter().copied();
    let mut ordinal = 0;
    while ordinal < record.operations {
        let limit = (record.operations - ordinal).min(Batch::OPERATIONS as u64) as usize;
        if stream.fill(&mut batch, limit) == 0 {
            break;
        }
        for at in batch.heads() {
            let kept = record.stride != 0 && ordinal.is_multiple_of(record.stride);
            let answer = if kept { answers.next() } else { None };
            visit(&Step { stream: &stream, ordinal, batch: &batch, at, answer });
            ordinal += 1;
        }
    }
    stream.extent()
}

struct Checker<'a> {
    shadow: &'a mut Shadow,
    /// Whether several threads run in the phase and at least one of them writes. The answer to a get of another
    /// thread's key is then not unique.
    contended: bool,
    /// For each key that one thread gets and another thread may write: all answers that a correct store may give to a
    /// get of the key.
    witnesses: HashMap<u64, Witness>,
    verdict: CheckResult,
}

/// The answers that a correct store may give to gets of one key while another thread writes the key.
struct Witness {
    /// The digests of all possible answers to a get of the key.
    digests: Vec<u64>,
    /// The value of the key after the writes that the check has processed so far. A merge combines its operand with
    /// this value.
    value: Option<Vec<u8>>,
}

impl Checker<'_> {
    /// Prepares the check of a get whose key another thread may write: records the value before the phase as the first
    /// possible answer.
    fn call_witness(&mut self, step: &Step<'_>) {
        if step.is_foreign_get() {
            let key = step.operation().key;
            let before = self.shadow.expected(key);
            self.witnesses.entry(key.index()).or_insert_with(|| Witness {
                digests: vec![digest::of_value(before)],
                value: before.map(<[u8]>::to_vec),
            });
        }
    }

    /// Records the new value of each written key that another thread gets. The new value is one more possible answer to
    /// these gets.
    fn note_writes(&mut self, step: &Step<'_>) {
        // The head of a batch has no version, because the head writes nothing.
        for operation in step.all().iter().filter(|operation| operation.version > 0) {
            if let Some(witness) = self.witnesses.get_mut(&operation.key.index()) {
                let Witness { digests, value } = witness;
                let written = self.shadow.written(operation.key.index(), operation.version);
                match (operation.kind, self.shadow.operator()) {
                    (Kind::Delete | Kind::SingleDelete, _) => *value = None,
                    (Kind::PutIfAbsent, _) if value.is_some() => {}
                    (Kind::Merge, Some(operator)) => operator.combine(value.get_or_insert_default(), written),
                    _ => *value = Some(written.to_vec()),
                }
                digests.push(digest::of_value(value.as_deref()));
            }
        }
    }

    /// Checks the answer to one operation, and then applies the operation and its members to the expected state.
    fn step(&mut self, step: &Step<'_>) {
        if let Some(answer) = step.answer.filter(|_| step.operation().kind.answers()) {
            let right = match self.is_right(step, answer) {
                Some(false) if self.shadow.may_drop() => self.excuse(step, answer),
                right => right,
            };
            self.judge(step, right);
        }
        for operation in step.all() {
            self.shadow.apply(operation);
        }
    }

    /// Returns whether `answer`, the digest of the answer that the store gave, is the digest of a correct answer.
    /// Returns `None` if the correct answer is unknown.
    fn is_right(&mut self, step: &Step<'_>, answer: u64) -> Option<bool> {
        let operation = step.operation();
        match operation.kind {
            Kind::Get if self.contended && step.is_foreign_get() => {
                Some(self.witnesses[&operation.key.index()].digests.contains(&answer))
            }
            Kind::Get | Kind::ReadModifyWrite => {
                Some(digest::of_value(self.shadow.expected(operation.key)) == answer)
            }
            Kind::PutIfAbsent => {
                Some(digest::of_presence(self.shadow.expected(operation.key).is_some()) == answer)
            }
            Kind::Range | Kind::Prefix | Kind::First | Kind::Last if !self.contended => {
                self.range(step).map(|expected| expected == answer)
            }
            Kind::MultiGet if !self.contended => Some(self.multi_get(&step.all()[1..]) == answer),
            Kind::Range | Kind::Prefix | Kind::MultiGet | Kind::First | Kind::Last => None,
            Kind::Put
            | Kind::Insert
            | Kind::Delete
            | Kind::SingleDelete
            | Kind::Batch
            | Kind::DeleteRange
            | Kind::Merge => {
                unreachable!(
                    "the check must not compare the answer of a write, because a write returns no data"
                )
            }
        }
    }

    /// Returns whether an unexpected answer is allowed, because the store may drop data. A get may find no value, but
    /// not another value. For a scan or a multi-get, the result is `None`, because the digest does not show which
    /// entries are missing.
    fn excuse(&mut self, step: &Step<'_>, answer: u64) -> Option<bool> {
        match step.operation().kind {
            Kind::Range | Kind::Prefix | Kind::MultiGet | Kind::First | Kind::Last => None,
            _ => {
                let is_missing = answer == digest::of_value(None);
                self.verdict.dropped += u64::from(is_missing);
                Some(is_missing)
            }
        }
    }

    fn range(&mut self, step: &Step<'_>) -> Option<u64> {
        let mut parts = Parts::default();
        let Operation { key, count, backward, kind, .. } = *step.operation();
        let (limit, visit) = (count as usize, |key: &[u8], value: &[u8]| parts.entry(key, value));
        let known = match step.batch.end(step.at) {
            None if kind == Kind::Prefix => {
                let (low, mut high) = (prefix::of(step.batch.key(step.at), count), Vec::new());
                if !prefix::end_of(low, &mut high) {
                    // An upper bound of all keys: longer than any key, and made of the largest byte.
                    high = vec![0xff; self.shadow.longest_key() + 1];
                }
                self.shadow.range_between(low, &high, usize::MAX, backward, visit)
            }
            None if kind != Kind::Range => self.shadow.end(backward, visit),
            None => self.shadow.range(key.index(), limit, backward, visit),
            Some(high) => self.shadow.range_between(step.batch.key(step.at), high, limit, backward, visit),
        };
        known.then(|| parts.digest())
    }

    fn multi_get(&self, members: &[Operation]) -> u64 {
        let mut parts = Parts::default();
        for member in members {
            parts.add(digest::of_value(self.shadow.expected(member.key)));
        }
        parts.digest()
    }

    fn judge(&mut self, step: &Step<'_>, right: Option<bool>) {
        let Some(right) = right else {
            self.verdict.unchecked += 1;
            return;
        };
        self.verdict.checked += 1;
        self.verdict.wrong += u64::from(!right);
        if !right && self.verdict.examples.len() < DESCRIBED {
            let example = self.describe(step);
            self.verdict.examples.push(example);
        }
    }

    fn describe(&self, step: &Step<'_>) -> WrongAnswer {
        let operation = step.operation();
        let expected = match operation.kind {
            Kind::Range => format!("the next {} entries", operation.count),
            Kind::Prefix => {
                format!("the entries whose keys begin with the first {} bytes of this key", operation.count)
            }
            Kind::First | Kind::Last => format!("the {end} entry of the store", end = operation.kind),
            Kind::MultiGet => format!("the values of {} keys", operation.count),
            _ if self.contended && step.is_foreign_get() => {
                "a value that this phase or an earlier phase wrote".to_owned()
            }
            _ => match self.shadow.expected(operation.key) {
                None => "nothing".to_owned(),
                Some(value) => {
                    let version = self.shadow.version(operation.key.index());
                    format!(
                        "the value that the write of version {version} wrote, which has {} bytes",
                        value.len()
                    )
                }
            },
        };
        WrongAnswer {
            thread: step.stream.thread(),
            operation: step.ordinal,
            kind: operation.kind,
            key: dsl::token(step.batch.key(step.at)),
            expected,
        }
    }
}
