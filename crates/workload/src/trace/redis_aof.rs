//! Reader of append-only files of Redis. The files contain the commands that changed the data. Each command is an
//! array of bulk strings.

use catalog::Variant;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::lines::{Records, number, quoted};
use super::reader::{TraceReader, TraceRecords};
use super::record::TraceRecord;
use super::redis::Commands;

pub(super) const VARIANT: Variant<dyn TraceReader> =
    Variant::plain("redis-aof", "append-only files of Redis that have no preamble in RDB format", || {
        Box::new(Aof)
    });

/// The maximum number of arguments of a Redis command.
const MOST_ARGUMENTS: usize = 1 << 20;

/// Maximum length of an argument of a Redis command in bytes. Redis has the same limit.
const LONGEST_ARGUMENT: u64 = 512 << 20;

/// Nanoseconds per second.
const SECOND_NS: u64 = 1_000_000_000;

struct Aof;

impl TraceReader for Aof {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        let bytes = head.bytes();
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_array = line.strip_prefix(b"*").is_some_and(|count| number::<u32>(count).is_some());
        bytes.starts_with(b"REDIS0") || bytes.starts_with(b"#TS:") || is_array
    }

    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        let (commands, records) = (Commands::default(), Records::default());
        Ok(Box::new(File { input, commands, records, time_ns: None, line: Vec::new() }))
    }
}

/// The commands in an append-only file of Redis, from which the operations are read.
struct File {
    input: TraceInput,
    commands: Commands,
    records: Records,
    /// The last timestamp in the file. Redis writes timestamps only if its configuration enables them.
    time_ns: Option<u64>,
    line: Vec<u8>,
}

impl TraceRecords for File {
    fn read(&mut self) -> Result<Option<TraceRecord>, RecordError> {
        loop {
            if let Some(record) = self.records.pop() {
                return Ok(Some(record));
            }
            let offset = self.input.offset();
            let wrong = |message| RecordError::Byte { offset, message };
            if !self.input.read_line(&mut self.line)? {
                return Ok(None);
            }
            if let Some(time) = self.line.strip_prefix(b"#TS:") {
                let time_s: Option<u64> = number(time);
                self.time_ns = time_s.map(|time_s| time_s.saturating_mul(SECOND_NS));
                continue;
            }
            let count = self.line.strip_prefix(b"*").and_then(number::<usize>);
            let count = count.ok_or_else(|| wrong(self.unexpected("*COUNT")))?;
            if count > MOST_ARGUMENTS {
                return Err(wrong(format!(
                    "a command of the append-only file has {count} words; the maximum is {MOST_ARGUMENTS}"
                )));
            }
            let mut command = Vec::new();
            for _ in 0..count {
                command.push(self.argument()?);
            }
            let translated = self.commands.translate(&command, self.time_ns, &mut self.records);
            translated.map_err(wrong)?;
        }
    }

    fn notes(&self) -> Vec<String> {
        self.commands.notes()
    }
}

impl File {
    /// Reads one argument of a command. In the file, an argument is a bulk string: its length, and then its bytes.
    fn argument(&mut self) -> Result<Vec<u8>, RecordError> {
        let offset = self.input.offset();
        let wrong = |message| RecordError::Byte { offset, message };
        if !self.input.read_line(&mut self.line)? {
            return Err(wrong(
                "the file ends inside of a command; remove the incomplete command with redis-check-aof --fix"
                    .to_owned(),
            ));
        }
        let length = self.line.strip_prefix(b"$").and_then(number::<u64>);
        let length = length.ok_or_else(|| wrong(self.unexpected("$LENGTH")))?;
        if length > LONGEST_ARGUMENT {
            return Err(wrong(format!(
                "an argument of a command has {length} bytes; the maximum is {LONGEST_ARGUMENT}"
            )));
        }
        let mut argument = Vec::new();
        self.input.take(length, &mut argument)?;
        let mut end = [0; 2];
        if !self.input.fill(&mut end)? || end != *b"\r\n" {
            return Err(wrong(format!("the line end after the {length} bytes of an argument is missing")));
        }
        Ok(argument)
    }

    fn unexpected(&self, expected: &str) -> String {
        if self.line.starts_with(b"REDIS") {
            return "the file begins in RDB format; set aof-use-rdb-preamble no in Redis, and rewrite the file".to_owned();
        }
        format!("\"{}\"; expected {expected}", quoted(&self.line))
    }
}
