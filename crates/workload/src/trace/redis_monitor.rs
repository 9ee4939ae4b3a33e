//! Reader of the output of `redis-cli monitor`. A line has a time in seconds, a database and an address, and a
//! command with its arguments in quotes.

use catalog::Variant;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::lines::{LineFormat, LineRecords, Records, number};
use super::reader::{TraceReader, TraceRecords};
use super::redis::Commands;

pub(super) const VARIANT: Variant<dyn TraceReader> =
    Variant::plain("redis-monitor", "output of the command `redis-cli monitor`", || Box::new(Monitor));

/// The error message about a line that does not have the format of `redis-cli monitor`.
const SHAPE: &str = "a line is TIME [DATABASE ADDRESS] \"COMMAND\" \"ARGUMENT\" …";

struct Monitor;

/// The parser of the lines that `redis-cli monitor` prints.
#[derive(Default)]
struct Lines(Commands);

impl TraceReader for Monitor {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        head.all_lines(|line| line == b"OK" || Line::of(line).is_some_and(|line| line.arguments().is_ok()))
            && head.lines().any(|line| line != b"OK")
    }

    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        Ok(Box::new(LineRecords::new(input, Lines::default())))
    }
}

impl LineFormat for Lines {
    fn parse(&mut self, line: &[u8], records: &mut Records) -> Result<(), String> {
        if line == b"OK" {
            return Ok(());
        }
        let line = Line::of(line).ok_or(SHAPE)?;
        let arguments = line.arguments()?;
        // Each line contains its database, so a SELECT command changes nothing.
        self.0.database = line.database;
        self.0.translate(&arguments, Some(line.time_ns), records)
    }

    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }
}

/// The parts of a line of `redis-cli monitor`.
struct Line<'a> {
    time_ns: u64,
    database: u32,
    command: &'a [u8],
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let open = line.iter().position(|byte| *byte == b'[')?;
        // An IPv6 address contains brackets, so the first closing bracket may belong to the address.
        let close = open + line[open..].windows(3).position(|bytes| bytes == b"] \"")?;
        let time = line[..open].trim_ascii();
        let (seconds, micros) = time.split_at_checked(time.iter().position(|byte| *byte == b'.')?)?;
        let (seconds, micros): (u64, u64) = (number(seconds)?, number(&micros[1..])?);
        let database = line[open + 1..close].split(|byte| *byte == b' ').next().and_then(number)?;
        let time_ns = seconds.saturating_mul(1_000_000).saturating_add(micros).saturating_mul(1000);
        Some(Self { time_ns, database, command: line[close + 1..].trim_ascii() })
    }

    /// Parses the command and its arguments. Each argument is in quotes.
    fn arguments(&self) -> Result<Vec<Vec<u8>>, String> {
        let mut rest = self.command;
        let mut arguments = Vec::new();
        while let Some((open, after)) = rest.split_first() {
            if *open != b'"' {
                return Err(SHAPE.to_owned());
            }
            let (argument, behind) = unquoted(after).ok_or("an argument has no closing quote")?;
            arguments.push(argument);
            rest = behind.trim_ascii_start();
        }
        if arguments.is_empty() { Err(SHAPE.to_owned()) } else { Ok(arguments) }
    }
}

/// Parses text up to a closing quote. Returns the bytes before the quote, and the rest of the line.
fn unquoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut bytes = Vec::new();
    let mut at = 0;
    loop {
        match *text.get(at)? {
            b'"' => return Some((bytes, &text[at + 1..])),
            b'\\' => {
                at += 1;
                bytes.push(match *text.get(at)? {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'a' => 7,
                    b'b' => 8,
                    b'x' => {
                        let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
                        let byte = digit(at + 1)? << 4 | digit(at + 2)?;
                        at += 2;
                        byte as u8
                    }
                    other => other,
                });
            }
            byte => bytes.push(byte),
        }
        at += 1;
    }
}
