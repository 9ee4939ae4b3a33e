//! Reader of the output of YCSB's `basic` binding. Each `READ`, `SCAN`, `UPDATE`, `INSERT` or `DELETE` operation is
//! on its own line. The reader skips all other output of YCSB.

use catalog::Variant;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::lines::{LineFormat, LineRecords, Records, field};
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::plain(
    "ycsb",
    "output of YCSB's basic binding (READ, SCAN, UPDATE, INSERT and DELETE with table and key)",
    || Box::new(Ycsb),
);

struct Ycsb;

/// The parser of the lines that the `basic` binding of YCSB prints.
#[derive(Default)]
struct Lines {
    others: u64,
}

impl TraceReader for Ycsb {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        head.lines().any(|line| parse(line).is_some_and(|parsed| parsed.is_ok()))
    }

    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        Ok(Box::new(LineRecords::new(input, Lines::default())))
    }
}

impl LineFormat for Lines {
    fn parse(&mut self, line: &[u8], records: &mut Records) -> Result<(), String> {
        match parse(line) {
            Some(record) => records.push(record?),
            None => self.others += 1,
        }
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        match self.others {
            0 => Vec::new(),
            count => vec![format!("{count} lines of YCSB are left out, because they are not operations")],
        }
    }
}

/// Parses a line of the output of YCSB. Returns `None` if the line is not an operation.
fn parse(line: &[u8]) -> Option<Result<TraceRecord, String>> {
    let (head, tail) = line.split_at(line.iter().position(|byte| *byte == b'[').unwrap_or(line.len()));
    let mut words = head.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let operation = match words.next()? {
        b"READ" => TraceOperation::Get,
        b"SCAN" => TraceOperation::Scan,
        b"UPDATE" | b"INSERT" => TraceOperation::Put,
        b"DELETE" => TraceOperation::Delete,
        _ => return None,
    };
    let (_table, key) = (words.next()?, words.next()?);
    let record = TraceRecord::new(operation, key);
    Some(match operation {
        TraceOperation::Scan => {
            field("number of records", words.next().unwrap_or_default()).map(|count| record.entries(count))
        }
        TraceOperation::Put => Ok(record.sized(bytes_of_fields(tail))),
        _ => Ok(record),
    })
}

/// Returns the sum of the lengths of the values in `[ field0=… field1=… ]`, in bytes. The names of the fields are not
/// included.
fn bytes_of_fields(list: &[u8]) -> u32 {
    let list = list.strip_prefix(b"[").unwrap_or(list);
    let list = list.trim_ascii_end();
    let list = list.strip_suffix(b"]").unwrap_or(list);
    let mut bytes = list.len();
    let mut at = 0;
    while let Some(name) =
        list[at..].windows(6).position(|window| window == b" field").map(|found| at + found)
    {
        let digits = list[name + 6..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = name + 6 + digits;
        if digits > 0 && list.get(end) == Some(&b'=') {
            bytes -= end + 1 - name;
        }
        at = end;
    }
    // One blank follows the last value, and does not count.
    u32::try_from(bytes.saturating_sub(1)).unwrap_or(u32::MAX)
}
