//! Encodes shapes and jobs as JSON, and decodes them. Each shape and each job is one line.

use serde::{Deserialize, Serialize, Serializer};

use crate::job::{Action, Job};
use crate::operations::Operations;
use crate::policy::CompactionPolicy;
use crate::shape::{Level, Levels, Run, RunId, Shape, TableId, TableShape};

/// The shape of a tree in the JSON format of the protocol.
#[derive(Serialize)]
struct SentShape<'a> {
    buffer_bytes: u64,
    levels: Vec<Vec<SentRun<'a>>>,
    #[serde(skip_serializing_if = "Operations::is_empty")]
    operations: Operations,
}

#[derive(Serialize)]
struct SentRun<'a> {
    id: RunId,
    tables: Vec<SentTable<'a>>,
}

#[derive(Serialize)]
struct SentTable<'a> {
    id: TableId,
    bytes: u64,
    entries: u64,
    tombstones: u64,
    smallest: Hex<'a>,
    largest: Hex<'a>,
}

/// The bytes of a key, which JSON contains as a string of hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl Serialize for Hex<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let text: String = digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect();
        serializer.serialize_str(&text)
    }
}

/// A shape that was decoded from JSON. Its keys are still hexadecimal.
#[derive(Deserialize)]
struct ReadShape {
    buffer_bytes: u64,
    levels: Vec<Vec<ReadRun>>,
    #[serde(default)]
    operations: Operations,
}

#[derive(Deserialize)]
struct ReadRun {
    id: RunId,
    tables: Vec<ReadTable>,
}

#[derive(Deserialize)]
struct ReadTable {
    id: TableId,
    bytes: u64,
    entries: u64,
    tombstones: u64,
    smallest: String,
    largest: String,
}

/// A compaction job in the JSON format of the protocol.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SentJob {
    inputs: Vec<TableId>,
    level: usize,
    #[serde(default)]
    run: Option<RunId>,
    #[serde(default)]
    action: SentAction,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SentAction {
    #[default]
    Merge,
    Move,
}

/// Encodes the shape of a tree as one line of JSON, without the newline.
pub(super) fn encode_shape<'a>(shape: &'a Shape) -> String {
    fn table(table: &TableShape) -> SentTable<'_> {
        SentTable {
            id: table.id,
            bytes: table.bytes,
            entries: table.entries,
            tombstones: table.tombstones,
            smallest: Hex(&table.smallest),
            largest: Hex(&table.largest),
        }
    }
    fn run(run: &Run<TableShape>) -> SentRun<'_> {
        SentRun { id: run.id, tables: run.tables.iter().map(table).collect() }
    }
    let level = |level: &'a Level<TableShape>| level.runs.iter().map(run).collect();
    let levels = shape.levels.levels.iter().map(level).collect();
    to_line(&SentShape { buffer_bytes: shape.buffer_bytes, levels, operations: shape.operations })
}

/// Decodes the shape of a tree from one line of JSON.
fn decode_shape(line: &str) -> Result<Shape, String> {
    let shape: ReadShape = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let table = |table: ReadTable| {
        Ok(TableShape {
            id: table.id,
            bytes: table.bytes,
            entries: table.entries,
            tombstones: table.tombstones,
            smallest: unhex(&table.smallest)?.into(),
            largest: unhex(&table.largest)?.into(),
        })
    };
    let run = |run: ReadRun| {
        let tables = run.tables.into_iter().map(table).collect::<Result<_, String>>()?;
        Ok(Run { id: run.id, tables })
    };
    let level =
        |runs: Vec<ReadRun>| Ok(Level { runs: runs.into_iter().map(run).collect::<Result<_, String>>()? });
    let levels = shape.levels.into_iter().map(level).collect::<Result<_, String>>()?;
    Ok(Shape { buffer_bytes: shape.buffer_bytes, levels: Levels { levels }, operations: shape.operations })
}

/// Decodes the hexadecimal digits of a key to bytes.
fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("the key \"{text}\" is not hexadecimal");
    let digit = |byte: u8| char::from(byte).to_digit(16).ok_or_else(wrong);
    let pair = |pair: &[u8]| match *pair {
        [high, low] => Ok((digit(high)? * 16 + digit(low)?) as u8),
        _ => Err(wrong()),
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

/// Encodes a compaction job as one line of JSON, without the newline. The line is `null` if there is no job.
///
/// # Errors
/// The job drops SSTables.
fn encode_job(job: Option<&Job>) -> Result<String, String> {
    let sent = |job: &Job| {
        let action = match job.action {
            Action::Merge => SentAction::Merge,
            Action::Move => SentAction::Move,
            Action::Drop => return Err("the protocol does not support jobs that drop SSTables".to_owned()),
        };
        Ok(SentJob { inputs: job.inputs.clone(), level: job.level, run: job.run, action })
    };
    Ok(to_line(&job.map(sent).transpose()?))
}

/// Decodes a compaction job from one line of JSON. Returns `None` for the line `null`.
///
/// # Errors
/// The line is neither `null` nor a job. The message describes a valid line.
pub(super) fn decode_job(line: &str) -> Result<Option<Job>, String> {
    let job: Option<SentJob> = serde_json::from_str(line).map_err(|error| {
        format!(
            "an answer of the policy process must be one line of JSON, null or {{\"inputs\": [table ids], \
             \"level\": N, \"run\": run id or null, \"action\": \"merge\" or \"move\"}}: {error}"
        )
    })?;
    Ok(job.map(|job| {
        let action = match job.action {
            SentAction::Merge => Action::Merge,
            SentAction::Move => Action::Move,
        };
        Job { inputs: job.inputs, level: job.level, run: job.run, action }
    }))
}

/// Returns the job of a built-in policy for the shape of a tree. The shape and the job are encoded as JSON and decoded
/// again, so a measurement of this function shows the cost of the encoding.
///
/// # Panics
/// An encoded value cannot be decoded, or the policy drops SSTables. Neither case can happen.
pub(super) fn through(policy: &dyn CompactionPolicy, shape: &Shape) -> Option<Job> {
    let shape = decode_shape(&encode_shape(shape)).expect("lsmbench must decode a shape that it encoded");
    let answer = encode_job(policy.pick(&shape).as_ref())
        .expect("a policy that drops SSTables must be rejected before it picks a job");
    decode_job(&answer).expect("lsmbench must decode a job that it encoded")
}

fn to_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a shape or a job must serialize to JSON")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shapes() -> impl Strategy<Value = Shape> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..6);
        let table = (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>(), bytes(), bytes());
        let table = table.prop_map(|(id, bytes, entries, tombstones, smallest, largest)| TableShape {
            id,
            bytes,
            entries,
            tombstones,
            smallest: smallest.into(),
            largest: largest.into(),
        });
        let run = (any::<u64>(), proptest::collection::vec(table, 0..4));
        let run = run.prop_map(|(id, tables)| Run { id, tables });
        let level = proptest::collection::vec(run, 0..4).prop_map(|runs| Level { runs });
        let counts = (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>());
        let operations = counts.prop_map(|(flushes, gets_found, gets_missing, scans)| Operations {
            flushes,
            gets_found,
            gets_missing,
            scans,
        });
        (any::<u64>(), proptest::collection::vec(level, 0..4), operations).prop_map(
            |(buffer_bytes, levels, operations)| Shape {
                buffer_bytes,
                levels: Levels { levels },
                operations,
            },
        )
    }

    fn jobs() -> impl Strategy<Value = Option<Job>> {
        let action = prop_oneof![Just(Action::Merge), Just(Action::Move)];
        let inputs = proptest::collection::vec(any::<u64>(), 0..5);
        let job = (inputs, any::<usize>(), any::<Option<u64>>(), action);
        proptest::option::of(job.prop_map(|(inputs, level, run, action)| Job { inputs, level, run, action }))
    }

    proptest! {
        #[test]
        fn shapes_read_back(shape in shapes()) {
            prop_assert_eq!(decode_shape(&encode_shape(&shape)), Ok(shape));
        }

        #[test]
        fn jobs_read_back(job in jobs()) {
            prop_assert_eq!(decode_job(&encode_job(job.as_ref()).unwrap()), Ok(job));
        }

        #[test]
        fn anything_else_is_an_error(text in ".*") {
            if let Ok(Some(_)) = decode_job(&text) {
                prop_assert!(text.contains("inputs"));
            }
        }
    }

    #[test]
    fn what_an_answer_may_leave_out_has_a_default() {
        let job = decode_job(r#"{"inputs": [1, 2], "level": 1}"#).unwrap().unwrap();
        assert_eq!(job, Job { inputs: vec![1, 2], level: 1, run: None, action: Action::Merge });
        for wrong in [
            "",
            "{}",
            "[]",
            "true",
            r#"{"inputs": [1], "level": 1, "action": "drop"}"#,
            r#"{"inputs": [1], "level": -1}"#,
            r#"{"inputs": [1], "level": 1, "runs": 2}"#,
        ] {
            assert!(
                decode_job(wrong)
                    .unwrap_err()
                    .starts_with("an answer of the policy process must be one line of JSON"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn the_lines_are_those_of_the_documentation() {
        let table = TableShape {
            id: 7,
            bytes: 100,
            entries: 2,
            tombstones: 1,
            smallest: (*b"a\xff").into(),
            largest: (*b"b").into(),
        };
        let level = |runs| Level { runs };
        let levels = vec![level(Vec::new()), level(vec![Run { id: 3, tables: vec![table] }])];
        let mut shape =
            Shape { buffer_bytes: 50, levels: Levels { levels }, operations: Operations::default() };
        assert_eq!(
            encode_shape(&shape),
            r#"{"buffer_bytes":50,"levels":[[],[{"id":3,"tables":[{"id":7,"bytes":100,"entries":2,"tombstones":1,"smallest":"61ff","largest":"62"}]}]]}"#
        );
        shape = Shape { levels: Levels::default(), ..shape };
        shape.operations = Operations { flushes: 8, gets_found: 3, gets_missing: 2, scans: 1 };
        assert_eq!(
            encode_shape(&shape),
            r#"{"buffer_bytes":50,"levels":[],"operations":{"flushes":8,"gets_found":3,"gets_missing":2,"scans":1}}"#
        );
        assert_eq!(encode_job(None), Ok("null".to_owned()));
    }
}
