//! Replays of traces. A replay sends the recorded operations of a trace to a store.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use types::{MAX_KEY_BYTES, MAX_VALUE_BYTES, Problem};

use crate::perform::AnswerCounts;
use crate::replay_spec::{Miss, ReplaySpec};
use crate::request::Request;
use crate::target::TargetError;
use crate::trace::{TEXT, TraceError, TraceFile, TraceOperation, TraceRecord, TraceStream};
use crate::values::Values;

/// A replay of recorded operations, which can be executed several times. Each call of `open` starts the replay from the
/// first operation.
pub struct ReplayPlan {
    trace: TraceFile,
    base: PathBuf,
    spec: ReplaySpec,
    values: Arc<Values>,
}

/// An open replay, which returns the requests of its trace in recorded order.
pub struct Replay<'a> {
    plan: &'a ReplayPlan,
    stream: TraceStream,
    /// The recorded time of the first operation of the trace. Other times are relative to this time.
    first_ns: Option<u64>,
    /// The number of requests that the replay has returned so far. Puts that the replay adds after a miss do not count.
    requests: u64,
    writes: u64,
    /// The put that the replay executes next, because the last get found nothing. The tuple contains the key of this
    /// get, and the size of the value if the trace recorded the size.
    fill: Option<(Vec<u8>, Option<u32>)>,
    assumed: Assumed,
}

/// One request of a replay, and the time at which the request is due.
pub struct Due {
    /// The next operation of the replay.
    pub request: Request,
    /// The time at which the request is due, in nanoseconds after the start of the replay. `None` if the replay does
    /// not use the recorded times.
    pub due_ns: Option<u64>,
}

/// Counts the assumptions that a replay has made, by their kind. A replay makes an assumption for a request if the
/// trace does not record a property, or if the store lacks an operation.
#[derive(Default)]
struct Assumed {
    sizes: u64,
    contents: u64,
    range_deletes: u64,
    single_deletes: u64,
    merges: u64,
}

impl ReplayPlan {
    pub(crate) fn new(spec: &ReplaySpec, base: &Path, values: Arc<Values>) -> Self {
        Self { trace: spec.trace.clone(), base: base.to_owned(), spec: spec.clone(), values }
    }

    /// Returns the path of the trace that the replay reads.
    pub fn path(&self) -> PathBuf {
        self.base.join(&self.trace.file)
    }

    /// Returns the approximate number of requests of the replay, for the progress bar. Returns `None` if the number is
    /// known only after the whole trace was read.
    pub fn expected_requests(&self) -> io::Result<Option<u64>> {
        match self.trace.kind() {
            _ if self.spec.operations.is_some() => Ok(self.spec.operations),
            Some(TEXT) => count_lines(&self.path()).map(Some),
            _ => Ok(None),
        }
    }

    /// Opens the trace, and starts the replay at its first operation.
    ///
    /// # Errors
    /// Returns an error if the file is missing or has another format.
    pub fn open(&self) -> Result<Replay<'_>, TraceError> {
        Ok(Replay {
            plan: self,
            stream: self.trace.open(&self.base)?,
            first_ns: None,
            requests: 0,
            writes: 0,
            fill: None,
            assumed: Assumed::default(),
        })
    }

    /// Reads the whole trace before the replay starts, to find errors in the trace. Returns the assumptions that the
    /// replay will make, as one sentence each.
    pub fn check(&self) -> Result<Vec<String>, Problem> {
        let path = self.path();
        let mut replay = self.open().map_err(|error| problem(&path, error))?;
        let failed = |error: TargetError| match error.downcast::<TraceError>() {
            Ok(error) => problem(&path, *error),
            Err(error) => Problem::at(&path, None, error.to_string()),
        };
        while replay.next().map_err(failed)?.is_some() {
            // Without a store, the result of a get is unknown, so every get counts as a miss.
            replay.answer(AnswerCounts::default());
        }
        if replay.requests == 0 {
            return Err(problem(&path, TraceError::Empty { path: path.clone() }));
        }
        Ok(replay.assumptions())
    }
}

/// Converts the error of a trace to a [`Problem`] with the file and, if known, the line.
fn problem(path: &Path, error: TraceError) -> Problem {
    match error {
        TraceError::Read { source, .. } => Problem::doing(format!("read {}", path.display()), source),
        TraceError::Line { line, message, .. } => Problem::at(path, usize::try_from(line).ok(), message),
        TraceError::Malformed { message, .. } => Problem::at(path, None, message),
        error => Problem::new(error.to_string()),
    }
}

impl Replay<'_> {
    /// Returns the next request, or `None` at the end of the replay.
    ///
    /// # Errors
    /// Returns an error if the next record is corrupt, or larger than a store accepts.
    #[expect(
        clippy::should_implement_trait,
        reason = "clippy would prefer an iterator, but an iterator cannot receive the answers of the store"
    )]
    pub fn next(&mut self) -> Result<Option<Due>, TargetError> {
        if let Some((key, bytes)) = self.fill.take() {
            let value = self.value(bytes, None);
            return Ok(Some(Due { request: Request::Put { key, value }, due_ns: None }));
        }
        if self.plan.spec.operations.is_some_and(|operations| self.requests >= operations) {
            return Ok(None);
        }
        let Some(record) = self.stream.next().transpose()? else { return Ok(None) };
        self.requests += 1;
        self.check_sizes(&record)?;
        let due_ns = self.due_ns(&record);
        if self.plan.spec.miss == Miss::Fill && record.operation == TraceOperation::Get {
            self.fill = Some((key_of(&record, &record.key), record.value_bytes));
        }
        let request = self.request(record)?;
        Ok(Some(Due { request, due_ns }))
    }

    /// Processes the answer to the last request. If the get of a replay with `miss = "fill"` found no value, the next
    /// request is a put of its key.
    pub fn answer(&mut self, outcome: AnswerCounts) {
        if outcome.missing == 0 {
            self.fill = None;
        }
    }

    /// Returns the assumptions that the replay has made so far, one sentence each. An assumption replaces a property
    /// that the trace does not record.
    fn assumptions(&self) -> Vec<String> {
        let Assumed { sizes, contents, range_deletes, single_deletes, merges } = self.assumed;
        let (kind, file) = (self.stream.format(), self.plan.trace.file.display());
        let mut assumed = Vec::new();
        if self.plan.trace.format.is_none() {
            assumed.push(format!("{file} is recognized as a trace of kind \"{kind}\""));
        }
        if contents > 0 {
            assumed.push(format!(
                "the trace does not record the values of {contents} writes; lsmbench generates values of the \
                 recorded sizes"
            ));
        }
        if sizes > 0 {
            assumed.push(format!(
                "the trace does not record the value sizes of {sizes} writes; the key `value` of the phase \
                 determines the sizes"
            ));
        }
        if range_deletes > 0 {
            assumed.push(format!(
                "an engine without range deletes executes {range_deletes} range deletes as a scan and a delete per key"
            ));
        }
        if single_deletes > 0 {
            assumed.push(format!(
                "an engine without single deletes executes {single_deletes} single deletes as deletes"
            ));
        }
        if merges > 0 {
            assumed.push(format!(
                "a store without a merge operator executes {merges} merges as a get of the key and a put \
                 whose value is the operand"
            ));
        }
        if self.plan.spec.miss == Miss::Fill {
            assumed.push("after a get that finds no value, the replay puts the key".to_owned());
        }
        assumed.extend(self.stream.notes());
        assumed
    }

    fn check_sizes(&self, record: &TraceRecord) -> Result<(), TargetError> {
        let key = record.key.len().max(record.end.as_ref().map_or(0, Vec::len)) + size_of::<u32>();
        if key > MAX_KEY_BYTES {
            let most = MAX_KEY_BYTES - size_of::<u32>();
            let bytes = key - size_of::<u32>();
            return Err(format!(
                "operation {}: a key has {bytes} bytes; the maximum is {most}",
                self.requests
            )
            .into());
        }
        match record.value_bytes.filter(|bytes| *bytes as usize > MAX_VALUE_BYTES) {
            Some(bytes) => {
                let most = MAX_VALUE_BYTES;
                Err(format!("operation {}: a value has {bytes} bytes; the maximum is {most}", self.requests)
                    .into())
            }
            None => Ok(()),
        }
    }

    /// Returns the time at which a recorded operation is due, in nanoseconds after the start of the replay. Returns
    /// `None` if the replay does not use the recorded times.
    fn due_ns(&mut self, record: &TraceRecord) -> Option<u64> {
        let speed = self.plan.spec.speed?;
        let time_ns = record.time_ns?;
        let first_ns = *self.first_ns.get_or_insert(time_ns);
        Some((time_ns.saturating_sub(first_ns) as f64 / speed) as u64)
    }

    fn request(&mut self, record: TraceRecord) -> Result<Request, TargetError> {
        let key = key_of(&record, &record.key);
        let end = record.end.as_ref().map(|end| key_of(&record, end));
        Ok(match record.operation {
            TraceOperation::Get => Request::Get { key },
            TraceOperation::Put => {
                let value = self.value(record.value_bytes, record.value);
                Request::Put { key, value }
            }
            TraceOperation::ReadModifyWrite => {
                let value = self.value(record.value_bytes, record.value);
                Request::ReadModifyWrite { key, value }
            }
            TraceOperation::Merge => {
                self.assumed.merges += 1;
                let operand = self.value(record.value_bytes, record.value);
                Request::Merge { key, operand }
            }
            TraceOperation::Delete => Request::Delete { key },
            TraceOperation::SingleDelete => {
                self.assumed.single_deletes += 1;
                Request::SingleDelete { key }
            }
            TraceOperation::DeleteRange => {
                self.assumed.range_deletes += 1;
                let high = end.ok_or("a trace reader must give every range delete an end key")?;
                Request::DeleteRange { low: key, high }
            }
            TraceOperation::Scan => {
                let limit = record.count.map_or(usize::MAX, |count| count as usize);
                if record.backward {
                    // A backward scan must include its start key, so its exclusive end is the next larger key.
                    let high = [key.as_slice(), &[0]].concat();
                    let low = end.unwrap_or_default();
                    Request::Scan { low, high: Some(high), backward: true, limit }
                } else {
                    Request::Scan { low: key, high: end, backward: false, limit }
                }
            }
        })
    }

    /// Returns the value that a recorded write writes to the store.
    /// * If the trace contains values, this is the recorded value.
    /// * If the trace contains only sizes, the value is generated in the recorded size.
    /// * Otherwise, the value is generated, and its size comes from the value distribution of the phase.
    fn value(&mut self, bytes: Option<u32>, recorded: Option<Vec<u8>>) -> Vec<u8> {
        self.writes += 1;
        if let Some(value) = recorded {
            return value;
        }
        let bytes = if let Some(bytes) = bytes {
            self.assumed.contents += 1;
            bytes
        } else {
            self.assumed.sizes += 1;
            self.plan.values.bytes(self.writes, 1)
        };
        let mut value = Vec::with_capacity(bytes as usize);
        self.plan.values.append_sized(self.writes, bytes, &mut value);
        value
    }
}

/// Returns the key that the replay uses for a recorded key. A key of the first column family is unchanged. A key of
/// another column family begins with the number of the family, because the store has only one key space.
fn key_of(record: &TraceRecord, key: &[u8]) -> Vec<u8> {
    match record.family {
        0 => key.to_vec(),
        family => [&family.to_be_bytes(), key].concat(),
    }
}

/// Returns the number of lines of a text file. The number of lines is an estimate of the number of operations.
fn count_lines(path: &Path) -> io::Result<u64> {
    let lines = BufReader::new(File::open(path)?).split(b'\n');
    lines.map(|line| line.map(|_| 1)).sum()
}
