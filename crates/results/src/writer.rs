//! The writer of result files. It appends the rows of a trial as soon as they are measured, so a killed run loses at
//! most the current trial.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::seal::Sealing;
use crate::whole::write_whole;
use crate::{Group, ResultsError, Row, Schema, Seal, Table, Torn, Value};

/// The writer of one CSV file. It locks the file, so that no other process of lsmbench writes to it.
#[derive(Debug)]
pub struct RowWriter {
    path: PathBuf,
    file: File,
    schema: Schema,
    /// The seal of the file, which is its size and checksum, computed while the file is written.
    sealing: Sealing,
}

/// The content of an existing file that a resumed run continues.
#[derive(Debug)]
pub struct Resumed {
    /// The rows that the resumed run keeps in the file.
    pub table: Table,
    /// The number of rows that the resumed run removed, because their trial did not finish.
    pub dropped_rows: usize,
    /// The incomplete last line that was removed; `None` if the last line was complete.
    pub torn: Option<Torn>,
}

impl RowWriter {
    /// Starts a new file with its header.
    ///
    /// # Errors
    /// The file exists already, or the file system returns an error.
    pub fn create(path: &Path, schema: &Schema) -> Result<Self, ResultsError> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => ResultsError::Exists { path: path.to_owned() },
            _ => ResultsError::Io { path: path.to_owned(), action: "create", source },
        })?;
        let mut writer = Self::locked(path, file, schema)?;
        writer.write(&encode(schema.header().into_iter().map(str::to_owned)))?;
        Ok(writer)
    }

    /// Opens an existing file to continue it. The rows of finished trials remain, and all other rows are removed. If
    /// the file is missing or has an incomplete header, a new file starts.
    ///
    /// # Errors
    /// The file has another header, the file is corrupt before its end, or the file system returns an error. After such
    /// an error, the file is unchanged.
    pub fn resume(
        path: &Path,
        schema: &Schema,
        finished: &BTreeSet<Group>,
    ) -> Result<(Self, Resumed), ResultsError> {
        let header = encode(schema.header().into_iter().map(str::to_owned));
        if starts_anew(path, &header)? {
            let writer = Self::create(path, schema)?;
            let table = Table::new(schema.clone(), Vec::new());
            return Ok((writer, Resumed { table, dropped_rows: 0, torn: None }));
        }
        let mut writer = Self::open(path, schema)?;
        let before = Table::read(path)?;
        if let Some(difference) = schema.difference(before.schema()) {
            return Err(ResultsError::OtherShape { path: path.to_owned(), difference });
        }
        let table = before.filter(|row| row.group().is_some_and(|group| finished.contains(&group)));
        let dropped_rows = before.rows().len() - table.rows().len();
        if before.rows().starts_with(table.rows()) {
            // A killed run leaves an unfinished trial only at the end of the file, so the lines before the end are not
            // changed.
            let length = length_of_lines(path, table.rows().len() + 1)?;
            writer.file.set_len(length).map_err(ResultsError::io(path, "cut"))?;
        } else {
            // The lock is on the old file and is held until the new file has replaced it.
            replace(path, schema, table.rows())?;
            writer = Self::open(path, schema)?;
        }
        writer.file.seek(SeekFrom::End(0)).map_err(ResultsError::io(path, "seek"))?;
        writer.sealing.add(&std::fs::read(path).map_err(ResultsError::io(path, "read"))?);
        Ok((writer, Resumed { dropped_rows, torn: before.torn(), table }))
    }

    fn open(path: &Path, schema: &Schema) -> Result<Self, ResultsError> {
        let file = OpenOptions::new().write(true).open(path).map_err(ResultsError::io(path, "open"))?;
        Self::locked(path, file, schema)
    }

    fn locked(path: &Path, file: File, schema: &Schema) -> Result<Self, ResultsError> {
        match file.try_lock() {
            // If the file system has no locks, lsmbench writes without a lock.
            Ok(()) | Err(TryLockError::Error(_)) => {
                let sealing = Sealing::default();
                Ok(Self { path: path.to_owned(), file, schema: schema.clone(), sealing })
            }
            Err(TryLockError::WouldBlock) => Err(ResultsError::InUse { path: path.to_owned() }),
        }
    }

    /// Appends all rows of a trial in one write.
    ///
    /// # Errors
    /// A row belongs to another file, a text contains a line break or another control character, or the file system
    /// returns an error. After an error, the file is truncated to its previous length.
    pub fn append(&mut self, rows: &[Row]) -> Result<(), ResultsError> {
        let mut bytes = Vec::new();
        for row in rows {
            bytes.extend(encode_row(&self.path, &self.schema, row)?);
        }
        self.write(&bytes)
    }

    /// Syncs the file, and returns its seal: the number of lines, the size and the checksum. After the sync, a power
    /// failure cannot remove the sealed rows.
    ///
    /// # Errors
    /// The file system returns an error.
    pub fn seal(&mut self) -> Result<Seal, ResultsError> {
        self.file.sync_data().map_err(ResultsError::io(&self.path, "sync"))?;
        Ok(self.sealing.seal())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ResultsError> {
        let before = self.file.stream_position().map_err(ResultsError::io(&self.path, "append"))?;
        self.file.write_all(bytes).map_err(|source| {
            // A resumed run would remove the incomplete rows of this trial, but a clean file is better.
            let _ = self.file.set_len(before);
            let _ = self.file.seek(SeekFrom::Start(before));
            ResultsError::Io { path: self.path.clone(), action: "append", source }
        })?;
        self.sealing.add(bytes);
        Ok(())
    }
}

/// Returns whether a resumed run must write the file from the beginning, because the file is missing or its header is
/// incomplete. Removes a file with an incomplete header.
///
/// # Errors
/// The file cannot be read or removed.
fn starts_anew(path: &Path, header: &[u8]) -> Result<bool, ResultsError> {
    match std::fs::read(path) {
        Ok(bytes) if bytes.len() < header.len() && header.starts_with(&bytes) => {
            std::fs::remove_file(path).map_err(ResultsError::io(path, "replace"))?;
            Ok(true)
        }
        Ok(_) => Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(ResultsError::io(path, "read")(error)),
    }
}

/// Returns the number of bytes in the first `lines` lines of a file. If the file has fewer lines, returns the length of
/// the file.
fn length_of_lines(path: &Path, lines: usize) -> Result<u64, ResultsError> {
    let bytes = std::fs::read(path).map_err(ResultsError::io(path, "read"))?;
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at as u64 + 1);
    Ok(ends.take(lines).last().unwrap_or(0))
}

/// Replaces a file atomically with a file that has the header of `schema` and the rows `rows`.
pub(crate) fn replace(path: &Path, schema: &Schema, rows: &[Row]) -> Result<(), ResultsError> {
    let mut bytes = encode(schema.header().into_iter().map(str::to_owned));
    for row in rows {
        bytes.extend(encode_row(path, schema, row)?);
    }
    write_whole(path, &bytes, false)
}

fn encode_row(path: &Path, schema: &Schema, row: &Row) -> Result<Vec<u8>, ResultsError> {
    if let Some(difference) = schema.difference(row.schema()) {
        return Err(ResultsError::OtherShape { path: path.to_owned(), difference });
    }
    for (column, value) in schema.columns().iter().zip(row.cells()) {
        if let Value::Text(text) = value
            && text.chars().any(char::is_control)
        {
            return Err(ResultsError::Cell {
                column: column.name().to_owned(),
                text: text.clone(),
                message: "the text must be one line without control characters",
            });
        }
    }
    Ok(encode(row.cells().iter().map(Value::to_string)))
}

/// Formats the fields `cells` as a line of CSV, including the line break.
pub(crate) fn encode(cells: impl Iterator<Item = String>) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells).expect("a write of a CSV line to memory must not fail");
    writer.into_inner().expect("a write of a CSV line to memory must not fail")
}
