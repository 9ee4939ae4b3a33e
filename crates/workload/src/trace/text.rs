//! Reader of commands as lines of text. `lsmbench workload` prints such lines, and `lsmbench shell` executes them.

use std::io::BufRead;
use std::path::PathBuf;

use catalog::Variant;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};
use crate::dsl::{Command, CommandReader, ReadError};
use crate::pairs::Pairs;

/// The name of the trace format whose lines are text commands.
pub(crate) const KIND: &str = "text";

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::plain(
    KIND,
    "commands as text, one command per line, as `lsmbench workload` prints them",
    || Box::new(Text),
);

struct Text;

impl TraceReader for Text {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        let is_command = |line: &[u8]| Command::parse(line).is_ok();
        head.all_lines(is_command) && head.lines().any(|line| !line.starts_with(b"#"))
    }

    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        let folder = input.folder().to_owned();
        Ok(Box::new(Commands { reader: CommandReader::new(input.into_reader()), folder, pairs: None }))
    }
}

/// The operations in a text of commands. If a command loads a file of pairs, each pair becomes a put. Commands that
/// print statistics are skipped.
struct Commands {
    reader: CommandReader<Box<dyn BufRead + Send>>,
    folder: PathBuf,
    pairs: Option<Pairs>,
}

impl TraceRecords for Commands {
    fn read(&mut self) -> Result<Option<TraceRecord>, RecordError> {
        loop {
            if let Some(put) = self.pairs.as_mut().and_then(Iterator::next) {
                return put.map(record).map_err(|error| self.wrong(error.to_string()));
            }
            self.pairs = None;
            match self.reader.read() {
                Ok(Some(Command::Load { file })) => {
                    let pairs = Pairs::open(&self.folder, &file);
                    self.pairs = Some(pairs.map_err(|error| self.wrong(error.to_string()))?);
                }
                Ok(Some(Command::Statistics)) => {}
                Ok(command) => return Ok(command.and_then(record)),
                Err(ReadError::Io { source, .. }) => return Err(source.into()),
                Err(ReadError::Syntax { line, error }) => {
                    return Err(RecordError::Line { line, message: error.to_string() });
                }
                Err(error @ ReadError::TooLong { .. }) => return Err(self.wrong(error.to_string())),
            }
        }
    }
}

impl Commands {
    fn wrong(&self, message: String) -> RecordError {
        RecordError::Line { line: self.reader.line(), message }
    }
}

/// Returns the recorded operation that a text command stands for. Returns `None` if the command is not an operation on
/// keys.
fn record(command: Command) -> Option<TraceRecord> {
    match command {
        Command::Put { key, value } => Some(TraceRecord::new(TraceOperation::Put, key).with_value(value)),
        Command::Get { key } => Some(TraceRecord::new(TraceOperation::Get, key)),
        Command::Delete { key } => Some(TraceRecord::new(TraceOperation::Delete, key)),
        Command::SingleDelete { key } => Some(TraceRecord::new(TraceOperation::SingleDelete, key)),
        Command::Merge { key, operand } => {
            Some(TraceRecord::new(TraceOperation::Merge, key).with_value(operand))
        }
        Command::DeleteRange { low, high } => {
            Some(TraceRecord::new(TraceOperation::DeleteRange, low).until(high))
        }
        Command::Range { low, high } => Some(TraceRecord::new(TraceOperation::Scan, low).until(high)),
        Command::Load { .. } | Command::Statistics => None,
    }
}
