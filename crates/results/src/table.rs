//! Reads the rows of a result file. Every cell is checked, and an incomplete last line is left out. A table can
//! filter and group its rows.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::columns::{CELL, OPERATION, PHASE, SECOND, TRIAL};
use crate::levels::LEVEL;
use crate::slices::{SLICE, SLICE_AGAIN};
use crate::{Column, Group, ResultsError, Row, Schema, Value};

/// The rows of one CSV file.
#[derive(Clone, Debug)]
pub struct Table {
    path: PathBuf,
    schema: Schema,
    rows: Vec<Row>,
    torn: Option<Torn>,
}

/// The incomplete last line of a file. A run that was killed while it wrote the line leaves such a line. The rows of
/// the table do not include the incomplete line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The number of the incomplete line in its file, from 1.
    pub line: u64,
    /// The length of the incomplete line in bytes.
    pub bytes: usize,
}

/// A group of rows that have equal values in the requested columns.
#[derive(Clone, Debug)]
pub struct RowGroup<'a> {
    /// The values that the rows have in common, in the order of the requested columns.
    pub key: Vec<Value>,
    /// The rows, in the order of the table.
    pub rows: Vec<&'a Row>,
}

impl Table {
    /// Reads `runs.csv`, `timeline.csv`, `levels.csv` or `slices.csv`.
    ///
    /// # Errors
    /// The file cannot be read or has no complete header. A row has too many or too few fields, has a field of the
    /// wrong type, or occurs twice. The error names the file and the line.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let (schema, numbered, torn) = read_rows(path, |header| Schema::read(path, header))?;
        let (mut rows, mut seen) = (Vec::new(), HashSet::new());
        for (line, row) in numbered {
            if !seen.insert(identity(&row)) {
                let message = "duplicate row: an earlier row has equal values in all columns that identify a row, \
                               such as cell, trial, phase and operation";
                return Err(ResultsError::Row { path: path.to_owned(), line, message: message.to_owned() });
            }
            rows.push(row);
        }
        Ok(Self { path: path.to_owned(), schema, rows, torn })
    }

    /// Creates a table from rows that are not in a file.
    pub fn new(schema: Schema, rows: Vec<Row>) -> Self {
        Self { path: PathBuf::new(), schema, rows, torn: None }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the columns of the table.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the rows in the order of the file.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the incomplete last line; `None` if the last line is complete.
    pub fn torn(&self) -> Option<Torn> {
        self.torn
    }

    /// Returns the column with this name.
    ///
    /// # Errors
    /// The name is unknown. The message contains the most similar column.
    pub fn column(&self, name: &str) -> Result<&Column, ResultsError> {
        Ok(&self.schema.columns()[self.schema.find(name)?])
    }

    /// Returns a table with only the rows for which `keep` returns true.
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&Row) -> bool) -> Self {
        let rows = self.rows.iter().filter(|row| keep(row)).cloned().collect();
        Self { path: self.path.clone(), schema: self.schema.clone(), rows, torn: self.torn }
    }

    /// Returns a table with other values in the swept columns. `text` receives the name of a column and a value as in
    /// the CSV file, and returns the text of the new value. Empty cells stay empty.
    #[must_use]
    pub fn with_swept(&self, text: impl Fn(&str, &str) -> String) -> Self {
        let mut table = self.clone();
        for row in &mut table.rows {
            row.replace_swept(&text);
        }
        table
    }

    /// Returns a table with only the rows that have this value in a column. `value` is written as in the CSV file.
    ///
    /// # Errors
    /// The column does not exist.
    pub fn only(&self, column: &str, value: &str) -> Result<Self, ResultsError> {
        let at = self.schema.find(column)?;
        Ok(self.filter(|row| row.cells()[at].to_string() == value))
    }

    /// Returns the distinct values of a column, in the order of their first rows.
    ///
    /// # Errors
    /// The column does not exist.
    pub fn distinct(&self, column: &str) -> Result<Vec<Value>, ResultsError> {
        Ok(self.group_by(&[column])?.into_iter().map(|mut group| group.key.remove(0)).collect())
    }

    /// Groups the rows by their values in `columns`. The groups are in the order of their first rows.
    ///
    /// # Errors
    /// One of the columns does not exist.
    pub fn group_by(&self, columns: &[&str]) -> Result<Vec<RowGroup<'_>>, ResultsError> {
        let at = columns.iter().map(|name| self.schema.find(name)).collect::<Result<Vec<_>, _>>()?;
        let mut groups: Vec<RowGroup<'_>> = Vec::new();
        // The keys of the map are texts, because not all values are hashable.
        let mut places = HashMap::new();
        for row in &self.rows {
            let key: Vec<String> = at.iter().map(|at| row.cells()[*at].to_string()).collect();
            let place = *places.entry(key).or_insert_with(|| {
                let key = at.iter().map(|at| row.cells()[*at].clone()).collect();
                groups.push(RowGroup { key, rows: Vec::new() });
                groups.len() - 1
            });
            groups[place].rows.push(row);
        }
        Ok(groups)
    }

    /// Returns the trials that are complete. A trial is complete if it has the row of the phase `last_phase` with the
    /// operation `all`, because a run writes this row last. A resumed run repeats all other trials.
    pub fn finished(&self, last_phase: &str) -> BTreeSet<Group> {
        self.rows
            .iter()
            .filter(|row| row.get(&PHASE).text() == Some(last_phase))
            .filter(|row| row.get(&OPERATION).text() == Some("all"))
            .filter_map(Row::group)
            .collect()
    }
}

/// The contents of a result file: its columns, its rows with their line numbers, and its incomplete last line, if any.
pub(crate) type RowsOfFile = (Schema, Vec<(u64, Row)>, Option<Torn>);

/// Reads a CSV file. `read_header` checks the header and returns the columns.
///
/// # Errors
/// The file cannot be read, or a line is not valid.
pub(crate) fn read_rows(
    path: &Path,
    read_header: impl FnOnce(&[&str]) -> Result<Schema, ResultsError>,
) -> Result<RowsOfFile, ResultsError> {
    let bytes = fs::read(path).map_err(ResultsError::io(path, "read"))?;
    let (text, torn) = split_torn(path, &bytes)?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut records = reader.records();
    let header = match records.next() {
        Some(header) => header.map_err(|error| row_error(path, 1, &error))?,
        None => csv::StringRecord::new(),
    };
    let schema = read_header(&header.iter().collect::<Vec<_>>())?;
    let mut rows = Vec::new();
    for (index, record) in records.enumerate() {
        let line = index as u64 + 2;
        let record = record.map_err(|error| row_error(path, line, &error))?;
        let cells = read_cells(&schema, &record).map_err(|message| ResultsError::Row {
            path: path.to_owned(),
            line,
            message,
        })?;
        rows.push((line, Row::from_cells(&schema, cells)));
    }
    Ok((schema, rows, torn))
}

/// Splits the bytes of a file into the text of its complete lines, and its incomplete last line, if any.
///
/// # Errors
/// A complete line is not UTF-8.
fn split_torn<'a>(path: &Path, bytes: &'a [u8]) -> Result<(&'a str, Option<Torn>), ResultsError> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let lines_before = |at: usize| bytes[..at].split(|byte| *byte == b'\n').count() as u64 - 1;
    let text = str::from_utf8(&bytes[..end]).map_err(|error| ResultsError::Row {
        path: path.to_owned(),
        line: lines_before(error.valid_up_to()) + 1,
        message: "the line is not UTF-8, so it is corrupt".to_owned(),
    })?;
    let torn = (end < bytes.len()).then(|| Torn { line: lines_before(end) + 1, bytes: bytes.len() - end });
    Ok((text, torn))
}

/// Returns the values in the columns that identify a row in its file, such as cell, trial, phase and operation.
fn identity(row: &Row) -> Vec<String> {
    let columns = [CELL, TRIAL, PHASE, OPERATION, SECOND, LEVEL, SLICE, SLICE_AGAIN];
    let positions = columns.iter().filter_map(|column| row.schema().position(column.name));
    positions.map(|at| row.cells()[at].to_string()).collect()
}

fn read_cells(schema: &Schema, record: &csv::StringRecord) -> Result<Vec<Value>, String> {
    let columns = schema.columns();
    // lsmbench never writes a line break into a cell. A line break in a cell therefore means that a corrupt byte became
    // a quotation mark, which joins lines.
    if record.iter().any(|text| text.contains(['\n', '\r'])) {
        return Err("a quotation mark on this line has no closing quotation mark".to_owned());
    }
    if let Some(text) = record.iter().find(|text| text.chars().any(char::is_control)) {
        return Err(format!(
            "{text:?} contains a control character, which is not allowed in a field of a results file"
        ));
    }
    if record.len() != columns.len() {
        return Err(format!(
            "the line has {fields} fields, but the header has {columns} columns",
            fields = record.len(),
            columns = columns.len()
        ));
    }
    columns.iter().zip(record).map(|(column, text)| column.parse(text)).collect()
}

fn row_error(path: &Path, line: u64, error: &csv::Error) -> ResultsError {
    ResultsError::Row { path: path.to_owned(), line, message: error.to_string() }
}
