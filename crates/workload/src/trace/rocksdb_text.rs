//! Reader of RocksDB traces in the text format of `trace_analyzer -convert_to_human_readable_trace`. A line has a
//! key in hexadecimal digits, a type, a column family, the size of the value, and the time in microseconds.

use catalog::{Build, Variant};

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::lines::{LineFormat, LineRecords, Records, field, number, quoted, words};
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};
use super::seeks::{self, Params, Seeks};

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::new::<RocksDbText>(
    "rocksdb-text",
    "RocksDB traces as text lines (hexadecimal key, type, column family, value size, time)",
    seeks::REFERENCE,
);

struct RocksDbText(Params);

impl Build<dyn TraceReader> for RocksDbText {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn TraceReader>, String> {
        Ok(Box::new(Self(params)))
    }
}

/// The parser of the lines of a RocksDB trace in text format.
struct Lines {
    seeks: Seeks,
    /// A range delete whose end key is not known yet, because the end key is on the next line.
    begun: Option<TraceRecord>,
    unfinished: u64,
}

impl TraceReader for RocksDbText {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        head.all_lines(|line| {
            let words: Vec<&[u8]> = words(line).collect();
            let is_number = |word: &&[u8]| number::<u64>(word).is_some();
            (5..=6).contains(&words.len())
                && bytes_of(words[0]).is_some()
                && words[words.len() - 4..].iter().all(is_number)
                && operation(words[words.len() - 4]).is_some()
        })
    }

    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        Ok(Box::new(LineRecords::new(
            input,
            Lines { seeks: Seeks::new(&self.0), begun: None, unfinished: 0 },
        )))
    }
}

impl LineFormat for Lines {
    fn parse(&mut self, line: &[u8], records: &mut Records) -> Result<(), String> {
        let words: Vec<&[u8]> = words(line).collect();
        let (keys, [kind, family, value_bytes, time]) = match words[..] {
            [_, _, _, _] => return Err("the line has no key; run trace_analyzer without -no_key".to_owned()),
            [key, kind, family, bytes, time] => (vec![key], [kind, family, bytes, time]),
            [key, end, kind, family, bytes, time] => (vec![key, end], [kind, family, bytes, time]),
            _ => return Err("a line is HEX_KEY TYPE FAMILY VALUE_SIZE TIME".to_owned()),
        };
        let hex = |key: &[u8]| {
            bytes_of(key)
                .ok_or_else(|| format!("the key is \"{}\"; expected hexadecimal digits", quoted(key)))
        };
        let operation =
            operation(kind).ok_or_else(|| format!("unknown operation type \"{}\"", quoted(kind)))?;
        let time_us: u64 = field("time", time)?;
        let mut record = TraceRecord::new(operation, hex(keys[0])?)
            .in_family(field("column family", family)?)
            .at(time_us.saturating_mul(1000));
        record.backward = kind == b"7";
        if operation == TraceOperation::Scan {
            record.count = Some(self.seeks.entries());
        } else if operation.sets() {
            record = record.sized(field("value size", value_bytes)?);
        }
        if operation != TraceOperation::DeleteRange {
            self.unfinished += u64::from(self.begun.take().is_some());
            records.push(record);
        } else if let Some(end) = keys.get(1) {
            records.push(record.until(hex(end)?));
        } else if let Some(begun) = self.begun.take_if(|begun| begun.time_ns == record.time_ns) {
            records.push(begun.until(record.key));
        } else {
            self.unfinished += u64::from(self.begun.replace(record).is_some());
        }
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.seeks.note().into_iter().collect();
        let left_out = self.unfinished + u64::from(self.begun.is_some());
        if left_out > 0 {
            notes.push(format!("{left_out} range deletes without an end key are left out"));
        }
        notes
    }
}

/// Parses bytes that are written as hexadecimal digits, with or without `0x`.
fn bytes_of(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    pairs.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8)).collect()
}

fn operation(kind: &[u8]) -> Option<TraceOperation> {
    Some(match kind {
        b"0" | b"8" => TraceOperation::Get,
        b"1" | b"9" => TraceOperation::Put,
        b"2" => TraceOperation::Delete,
        b"3" => TraceOperation::SingleDelete,
        b"4" => TraceOperation::DeleteRange,
        b"5" => TraceOperation::Merge,
        b"6" | b"7" => TraceOperation::Scan,
        _ => return None,
    })
}
