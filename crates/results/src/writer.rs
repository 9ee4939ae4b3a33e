//! Appends rows as measurements end, so that a killed run loses at most the one in hand.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::seal::Sealing;
use crate::whole::write_whole;
use crate::{Group, ResultsError, Row, Schema, Seal, Table, Torn, Value};

/// The writer of one CSV file; no other process may write it meanwhile.
#[derive(Debug)]
pub struct RowWriter {
    path: PathBuf,
    file: File,
    schema: Schema,
    /// All that is in the file.
    sealing: Sealing,
}

/// What a resumed run starts from.
#[derive(Debug)]
pub struct Resumed {
    /// The rows that stay.
    pub table: Table,
    /// How many rows of unfinished measurements were taken out.
    pub dropped_rows: usize,
    /// The torn last line that was taken out.
    pub torn: Option<Torn>,
}

impl RowWriter {
    /// Starts a new file with its header.
    ///
    /// # Errors
    /// If there is a file already, or the file system refuses.
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

    /// Continues a file: keeps the rows of finished groups, takes out all others and a torn last line.
    /// A file that is missing, or torn within its header, is started anew.
    ///
    /// # Errors
    /// A file whose header differs or that is damaged before its end; a file system that refuses. Nothing is
    /// changed then.
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
            // What a kill leaves behind stands at the end: the lines before it are not touched.
            let length = length_of_lines(path, table.rows().len() + 1)?;
            writer.file.set_len(length).map_err(ResultsError::io(path, "cut"))?;
        } else {
            // The lock is on the old file and is held until the new one stands in its place.
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
            // A file system without locks is no reason not to write.
            Ok(()) | Err(TryLockError::Error(_)) => {
                let sealing = Sealing::default();
                Ok(Self { path: path.to_owned(), file, schema: schema.clone(), sealing })
            }
            Err(TryLockError::WouldBlock) => Err(ResultsError::InUse { path: path.to_owned() }),
        }
    }

    /// Appends the rows of one finished group in one write.
    ///
    /// # Errors
    /// A row of another file; text with a line break or another control character; a file system that
    /// refuses, in which case the file is cut back to what it was.
    pub fn append(&mut self, rows: &[Row]) -> Result<(), ResultsError> {
        let mut bytes = Vec::new();
        for row in rows {
            bytes.extend(encode_row(&self.path, &self.schema, row)?);
        }
        self.write(&bytes)
    }

    /// What is to be known of the file beside it. Its rows are on the device then, so that what is missing of
    /// them later was taken by damage and not by a power failure.
    ///
    /// # Errors
    /// A file system that refuses.
    pub fn seal(&mut self) -> Result<Seal, ResultsError> {
        self.file.sync_data().map_err(ResultsError::io(&self.path, "sync"))?;
        Ok(self.sealing.seal())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ResultsError> {
        let before = self.file.stream_position().map_err(ResultsError::io(&self.path, "append"))?;
        self.file.write_all(bytes).map_err(|source| {
            // Half a group would look finished to nobody, but a clean file is the better thing to leave.
            let _ = self.file.set_len(before);
            let _ = self.file.seek(SeekFrom::Start(before));
            ResultsError::Io { path: self.path.clone(), action: "append", source }
        })?;
        self.sealing.add(bytes);
        Ok(())
    }
}

/// Whether there is nothing to continue: no file, or a part of the header. Such a part is removed.
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

/// The bytes that the first so many lines take; all of them if there are no more.
fn length_of_lines(path: &Path, lines: usize) -> Result<u64, ResultsError> {
    let bytes = std::fs::read(path).map_err(ResultsError::io(path, "read"))?;
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at as u64 + 1);
    Ok(ends.take(lines).last().unwrap_or(0))
}

/// Writes the file anew beside the old one and puts it in its place.
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
                message: "names are one line without control characters",
            });
        }
    }
    Ok(encode(row.cells().iter().map(Value::to_string)))
}

/// One line of CSV with its end.
pub(crate) fn encode(cells: impl Iterator<Item = String>) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells).expect("writing to memory does not fail");
    writer.into_inner().expect("writing to memory does not fail")
}
