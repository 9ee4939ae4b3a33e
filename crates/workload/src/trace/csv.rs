//! Reader of CSV traces. The parameters of the reader select the columns. For example, the reader can read the block
//! traces of MSR Cambridge, Alibaba, Tencent and `UMass`. The default parameters fit the CSV files that
//! `lsmbench trace convert` writes.

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};
use types::{MAX_KEY_BYTES, valid_names};

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::lines::{LineFormat, LineRecords, Records, field, number, quoted};
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::new::<Csv>(
    "csv",
    "CSV with configurable columns; the defaults match the output of `lsmbench trace convert`",
    "# Byte between two columns.\n\
     separator = \",\"\n\
     # Whether the first line contains the names of the columns.\n\
     header = true\n\
     # Number of the column with the time, counted from 1; 0 if there is no such column.\n\
     time = 1\n\
     # Unit of the column with the time. Valid values: \"ns\", \"us\", \"ms\", \"s\", \"filetime\" (100 ns).\n\
     time_unit = \"ns\"\n\
     # Number of the column with the operation; 0 if every row is a read.\n\
     operation = 2\n\
     # Number of the column with the key or the offset.\n\
     key = 3\n\
     # Numbers of the columns that are put in front of the key, such as the host and the disk of a block\n\
     # trace.\n\
     namespace = []\n\
     # Number of the column with the end key of a scan; 0 if there is no such column.\n\
     end = 4\n\
     # Number of the column with the number of entries of a scan; 0 if there is no such column.\n\
     count = 5\n\
     # Number of the column with the value size or the request length; 0 if there is no such column.\n\
     size = 6\n\
     # Whether the text \\xHH in a key stands for one byte.\n\
     escapes = true\n\
     # Size of a block in a block trace; 0B for other traces. In a block trace, the key is an offset, the\n\
     # size is a length, and a row gives one operation for each block of the request.\n\
     block = \"0B\"\n\
     # Unit of the offset, such as the size of a sector.\n\
     unit = \"1B\"\n\
     # Unit of the size or length.\n\
     size_unit = \"1B\"\n\
     # Names of operations that read, in upper or lower case.\n\
     read = [\"get\", \"read\", \"r\"]\n\
     # Names of operations that write, in upper or lower case.\n\
     write = [\"put\", \"write\", \"w\"]\n\
     # Names of operations that delete, in upper or lower case.\n\
     delete = [\"delete\", \"d\"]\n",
);

/// The header line of a CSV trace that the default parameters fit.
pub const CSV_HEADER: &str = "time_ns,operation,key,end,count,value_bytes";

/// The maximum number of blocks of one request in a block trace.
const MOST_BLOCKS: u64 = 1 << 16;

/// The unit of the times in a column.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TimeUnit {
    Ns,
    Us,
    Ms,
    S,
    Filetime,
}

impl TimeUnit {
    fn nanoseconds(self) -> u32 {
        match self {
            Self::Ns => 1,
            Self::Filetime => 100,
            Self::Us => 1000,
            Self::Ms => 1_000_000,
            Self::S => 1_000_000_000,
        }
    }
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    separator: String,
    header: bool,
    time: usize,
    time_unit: TimeUnit,
    operation: usize,
    key: usize,
    namespace: Vec<usize>,
    end: usize,
    count: usize,
    size: usize,
    escapes: bool,
    block: ByteSize,
    unit: ByteSize,
    size_unit: ByteSize,
    read: Vec<String>,
    write: Vec<String>,
    delete: Vec<String>,
}

impl Default for Params {
    fn default() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            separator: ",".to_owned(),
            header: true,
            time: 1,
            time_unit: TimeUnit::Ns,
            operation: 2,
            key: 3,
            namespace: Vec::new(),
            end: 4,
            count: 5,
            size: 6,
            escapes: true,
            block: ByteSize(0),
            unit: ByteSize(1),
            size_unit: ByteSize(1),
            read: names(&["get", "read", "r"]),
            write: names(&["put", "write", "w"]),
            delete: names(&["delete", "d"]),
        }
    }
}

#[derive(Clone)]
struct Csv {
    params: Params,
    separator: u8,
}

/// The parser of the rows of a CSV trace.
struct Rows {
    csv: Csv,
    is_first: bool,
}

impl Build<dyn TraceReader> for Csv {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn TraceReader>, String> {
        let [separator] = *params.separator.as_bytes() else {
            return Err(format!("separator is \"{}\"; it must be one byte", params.separator));
        };
        if params.key == 0 || params.namespace.contains(&0) {
            return Err("key and namespace must be column numbers, counted from 1".to_owned());
        }
        if params.unit.0 == 0 || params.size_unit.0 == 0 {
            return Err("unit and size_unit must be sizes of at least 1B".to_owned());
        }
        if params.block.0 > 0 && params.size == 0 {
            return Err(
                "block traces need the column of the request length; set `size` to the number of this column"
                    .to_owned(),
            );
        }
        Ok(Box::new(Self { params, separator }))
    }
}

impl TraceReader for Csv {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        head.lines().next() == Some(CSV_HEADER.as_bytes())
    }

    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        Ok(Box::new(LineRecords::new(input, Rows { csv: self.clone(), is_first: self.params.header })))
    }
}

impl LineFormat for Rows {
    fn parse(&mut self, line: &[u8], records: &mut Records) -> Result<(), String> {
        if std::mem::take(&mut self.is_first) {
            return Ok(());
        }
        let params = &self.csv.params;
        let fields = split(line, self.csv.separator);
        let get = |name: &str, column: usize| match column {
            0 => Ok(None),
            column => match fields.get(column - 1) {
                Some(field) => Ok(Some(field.trim_ascii()).filter(|field| !field.is_empty())),
                None => Err(format!(
                    "the row has {} columns, but the parameter {name} selects column {column}",
                    fields.len()
                )),
            },
        };
        let operation = match get("operation", params.operation)? {
            Some(name) => self.csv.operation(name)?,
            None => TraceOperation::Get,
        };
        let time_ns =
            get("time", params.time)?.map(|time| nanoseconds(time, params.time_unit)).transpose()?;
        let key = get("key", params.key)?.ok_or("the row has an empty key")?;
        let mut prefix = Vec::new();
        for column in &params.namespace {
            prefix.extend_from_slice(get("namespace", *column)?.unwrap_or_default());
            prefix.push(b':');
        }
        let size = get("size", params.size)?.map(|size| field::<u64>("size", size)).transpose()?;
        let size = size.map(|size| size.saturating_mul(params.size_unit.0));
        if params.block.0 > 0 {
            return self.csv.push_blocks(operation, time_ns, &prefix, (key, size.unwrap_or(0)), records);
        }
        let mut record = TraceRecord::new(operation, [prefix.as_slice(), &self.csv.unescaped(key)].concat());
        record.time_ns = time_ns;
        record.end =
            get("end", params.end)?.map(|end| [prefix.as_slice(), &self.csv.unescaped(end)].concat());
        record.count = get("count", params.count)?.map(|count| field("count", count)).transpose()?;
        record.value_bytes = size
            .map(|size| {
                u32::try_from(size)
                    .map_err(|_| format!("the size is {size} bytes; the maximum is {}", u32::MAX))
            })
            .transpose()?;
        if record.key.len() > MAX_KEY_BYTES {
            return Err(format!("the key has {} bytes; the maximum is {MAX_KEY_BYTES}", record.key.len()));
        }
        if record.operation == TraceOperation::DeleteRange && record.end.is_none() {
            return Err("a range delete has no end key".to_owned());
        }
        if record.operation == TraceOperation::Scan && record.end.is_none() && record.count.is_none() {
            return Err("a scan has neither an end key nor a number of entries".to_owned());
        }
        records.push(record);
        Ok(())
    }
}

impl Csv {
    fn operation(&self, name: &[u8]) -> Result<TraceOperation, String> {
        let Params { read, write, delete, .. } = &self.params;
        let is_in = |names: &[String]| names.iter().any(|one| one.as_bytes().eq_ignore_ascii_case(name));
        if is_in(read) {
            return Ok(TraceOperation::Get);
        }
        if is_in(write) {
            return Ok(TraceOperation::Put);
        }
        if is_in(delete) {
            return Ok(TraceOperation::Delete);
        }
        let others = [
            TraceOperation::DeleteRange,
            TraceOperation::SingleDelete,
            TraceOperation::Scan,
            TraceOperation::ReadModifyWrite,
            TraceOperation::Merge,
        ];
        others
            .into_iter()
            .find(|operation| operation.name().as_bytes().eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                let valid = valid_names([read, write, delete].into_iter().flatten());
                format!("unknown operation \"{}\"; set `read`, `write` and `delete`. {valid}", quoted(name))
            })
    }

    /// Appends one operation for each block of a request. The request begins at a byte offset and has `length` bytes.
    fn push_blocks(
        &self,
        operation: TraceOperation,
        time_ns: Option<u64>,
        prefix: &[u8],
        (offset, length): (&[u8], u64),
        records: &mut Records,
    ) -> Result<(), String> {
        let (block, unit) = (self.params.block.0, self.params.unit.0);
        let offset = field::<u64>("offset", offset)?.saturating_mul(unit);
        let length = length.max(1);
        let (first, last) = (offset / block, offset.saturating_add(length - 1) / block);
        if last - first >= MOST_BLOCKS {
            return Err(format!("a request of {length} bytes has more than {MOST_BLOCKS} blocks"));
        }
        for number in first..=last {
            let mut record = TraceRecord::new(operation, [prefix, &number.to_be_bytes()].concat());
            record.time_ns = time_ns;
            let deletes = [TraceOperation::Delete, TraceOperation::SingleDelete].contains(&operation);
            record.value_bytes = u32::try_from(block).ok().filter(|_| !deletes);
            records.push(record);
        }
        Ok(())
    }

    fn unescaped(&self, text: &[u8]) -> Vec<u8> {
        if !self.params.escapes || !text.contains(&b'\\') {
            return text.to_vec();
        }
        let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let mut bytes = Vec::new();
        let mut at = 0;
        while at < text.len() {
            match (digit(at + 2), digit(at + 3)) {
                (Some(high), Some(low)) if text[at..].starts_with(b"\\x") => {
                    bytes.push((high << 4 | low) as u8);
                    at += 4;
                }
                _ => {
                    bytes.push(text[at]);
                    at += 1;
                }
            }
        }
        bytes
    }
}

/// Parses a time, which may have a fraction. Returns nanoseconds.
fn nanoseconds(time: &[u8], unit: TimeUnit) -> Result<u64, String> {
    let nanoseconds = unit.nanoseconds();
    if let Some(whole) = number::<u64>(time) {
        return Ok(whole.saturating_mul(nanoseconds.into()));
    }
    match number::<f64>(time) {
        Some(time) if time.is_finite() && time >= 0.0 => Ok((time * f64::from(nanoseconds)) as u64),
        _ => Err(format!("the time is \"{}\"; expected a number", quoted(time))),
    }
}

/// Splits a row into fields. A field in double quotes may contain separators. In a quoted field, two double quotes
/// stand for one double quote.
fn split(line: &[u8], separator: u8) -> Vec<Vec<u8>> {
    let mut fields = vec![Vec::new()];
    let mut is_quoted = false;
    let mut bytes = line.iter().peekable();
    while let Some(byte) = bytes.next() {
        let field = fields.last_mut().expect("a row must have at least one field");
        match byte {
            b'"' if is_quoted && bytes.peek() == Some(&&b'"') => {
                field.push(b'"');
                bytes.next();
            }
            b'"' if is_quoted || field.is_empty() => is_quoted = !is_quoted,
            byte if *byte == separator && !is_quoted => fields.push(Vec::new()),
            byte => field.push(*byte),
        }
    }
    fields
}
