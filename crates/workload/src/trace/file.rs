//! A trace file that a phase uses, and the records of this file.

use std::path::{Path, PathBuf};

use catalog::{Choice, ChoiceError};
use toml::{Table, Value};
use types::valid_names;

use super::TRACES;
use super::head::TraceHead;
use super::input::TraceInput;
use super::raw::{self, Endian};
use super::reader::{TraceError, TraceReader, TraceRecords};
use super::record::TraceRecord;

/// The path and the format of a trace, such as `{ kind = "raw", file = …, width = 4, endian = "big" }`.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceFile {
    /// The path of the file. A relative path is relative to the folder of the file that names the trace.
    pub file: PathBuf,
    /// The format of the trace, which is one of [`TRACES`]. With `None`, lsmbench recognizes the format by the
    /// content of the file.
    pub format: Option<Choice>,
}

/// The records of an open trace.
pub struct TraceStream {
    path: PathBuf,
    format: Choice,
    width: Option<usize>,
    records: Box<dyn TraceRecords>,
    has_ended: bool,
}

impl TraceFile {
    /// Creates a trace whose records are integers of `width` bytes, each of which is the key of one access.
    ///
    /// # Errors
    ///
    /// Returns an error if the width is not 1, 2, 4 or 8.
    pub fn raw(file: PathBuf, width: usize, endian: Endian) -> Result<Self, ChoiceError> {
        let mut format = Table::new();
        format.insert("kind".to_owned(), raw::VARIANT.kind.into());
        format.insert("width".to_owned(), Value::Integer(i64::try_from(width).unwrap_or(i64::MAX)));
        format.insert("endian".to_owned(), endian.name().into());
        Ok(Self { file, format: Some(TRACES.choose(&Value::Table(format))?) })
    }

    /// Creates a trace. `kind` is the name of a format, such as `raw`, or a format with parameters, such as
    /// `raw(width=8)`. If `kind` is `None`, lsmbench recognizes the format by the content of the file.
    ///
    /// # Errors
    /// Returns an error if the format is unknown, or if a parameter is invalid.
    pub fn new(file: PathBuf, kind: Option<&str>) -> Result<Self, ChoiceError> {
        let format = kind.map(|kind| TRACES.choose(&kind.into())).transpose()?;
        Ok(Self { file, format })
    }

    /// Returns the name of the trace format. Returns `None` if lsmbench must recognize the format by the content of
    /// the file.
    pub fn kind(&self) -> Option<&str> {
        self.format.as_ref().map(Choice::kind)
    }

    /// Returns the reader of the format that the settings name. Returns `None` if the settings name no format.
    pub(crate) fn reader(&self) -> Option<Box<dyn TraceReader>> {
        self.format.as_ref().map(built)
    }

    pub(crate) fn to_toml(&self) -> Table {
        let mut table = Table::new();
        if let Some(format) = &self.format {
            table.insert("kind".to_owned(), format.kind().into());
        }
        table.insert("file".to_owned(), self.file.to_string_lossy().into_owned().into());
        table.extend(self.format.iter().flat_map(|format| format.params().clone()));
        table
    }

    /// Opens the trace. Relative paths are relative to the folder `base`.
    ///
    /// # Errors
    /// Returns an error if the file is missing, is truncated at its start, or has an unknown format.
    pub fn open(&self, base: &Path) -> Result<TraceStream, TraceError> {
        let path = base.join(&self.file);
        let failed = |source| TraceError::Read { path: path.clone(), source };
        let mut input = TraceInput::open(&path).map_err(failed)?;
        let format = if let Some(format) = &self.format {
            format.clone()
        } else {
            let (head, is_whole) = input.peek().map_err(failed)?;
            recognized(&TraceHead::new(&head, is_whole)).ok_or_else(|| TraceError::Unknown {
                path: path.clone(),
                valid: valid_names(TRACES.kinds()),
            })?
        };
        let reader = built(&format);
        let records = reader.records(input).map_err(|error| TraceError::of_record(&path, error))?;
        Ok(TraceStream { path, format, width: reader.width(), records, has_ended: false })
    }

    /// Reads all accesses in recorded order. The result contains the key number of each access.
    ///
    /// # Errors
    /// Returns an error if the file is missing, corrupt, truncated or empty, or if its keys are not numbers of one
    /// width.
    pub fn read(&self, base: &Path) -> Result<Vec<u64>, TraceError> {
        let stream = self.open(base)?;
        let path = stream.path.clone();
        let malformed = |message: String| TraceError::Malformed { path: path.clone(), message };
        let Some(width) = stream.width.filter(|width| (1..=size_of::<u64>()).contains(width)) else {
            let kind = stream.format.kind();
            return Err(malformed(format!(
                "the keys of a {kind} trace are not numbers of one width, so a mix cannot use them; remove `mix`"
            )));
        };
        let numbers = stream.map(|record| {
            let key = record?.key;
            let mut padded = [0; size_of::<u64>()];
            match padded.len().checked_sub(key.len()) {
                Some(start) if key.len() == width => padded[start..].copy_from_slice(&key),
                _ => {
                    let bytes = key.len();
                    return Err(malformed(format!(
                        "a record has a key of {bytes} bytes, but the keys of this trace format must have \
                         {width} bytes"
                    )));
                }
            }
            Ok(u64::from_be_bytes(padded))
        });
        let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
        if numbers.is_empty() { Err(TraceError::Empty { path }) } else { Ok(numbers) }
    }
}

impl TraceStream {
    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the format of the file. The format was set by the user or recognized by the content of the file.
    pub fn format(&self) -> &Choice {
        &self.format
    }

    /// Returns the length of a key in bytes, if all keys are numbers of one width.
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Returns notes about skipped records and about assumptions, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        self.records.notes()
    }
}

impl Iterator for TraceStream {
    type Item = Result<TraceRecord, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let record = self.records.read();
        self.has_ended = !matches!(record, Ok(Some(_)));
        record.map_err(|error| TraceError::of_record(&self.path, error)).transpose()
    }
}

fn built(format: &Choice) -> Box<dyn TraceReader> {
    TRACES.build(format).expect(
        "the parameters of a trace format must be valid, because they were checked when the format was \
         chosen",
    )
}

/// Returns the first trace format that recognizes the first bytes of a file, with its default parameters. Returns
/// `None` if no format recognizes the file.
fn recognized(head: &TraceHead<'_>) -> Option<Choice> {
    let kinds: Vec<&str> = TRACES.variants().iter().map(|variant| variant.kind).collect();
    let choices = kinds.into_iter().filter_map(|kind| TRACES.choose(&kind.into()).ok());
    choices.into_iter().find(|choice| built(choice).recognizes(head))
}
