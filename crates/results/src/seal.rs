//! Seals of result files. A seal contains the number of lines, the size and the checksum of a file, and is stored in
//! the manifest. A file with a changed digit, a missing line or a duplicate line can still be valid CSV, so only a
//! seal detects such a change.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::ResultsError;

/// The size and the hash of a result file after the last complete measurement. A file that is longer than its seal
/// states belongs to a run that was killed before it updated the seal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// Number of sealed lines, including the header.
    pub lines: u64,
    /// Number of bytes in the sealed lines.
    pub bytes: u64,
    /// XXH3-64 hash of the sealed lines, in hexadecimal.
    pub xxh3: String,
}

impl Seal {
    /// Checks that the sealed bytes of a file have not changed. The file may have further bytes after the sealed bytes.
    ///
    /// # Errors
    /// The file cannot be read, is shorter than the seal states, or has another hash.
    pub fn check(&self, path: &Path) -> Result<(), ResultsError> {
        let bytes = fs::read(path).map_err(ResultsError::io(path, "read"))?;
        let changed = |message: String| ResultsError::Changed { path: path.to_owned(), message };
        let Some(sealed) = bytes.get(..self.bytes as usize) else {
            let missing = self.bytes - bytes.len() as u64;
            return Err(changed(format!("{missing} bytes are missing at the end of the file")));
        };
        match format!("{:016x}", xxh3_64(sealed)) == self.xxh3 {
            true => Ok(()),
            false => Err(changed(format!(
                "the first {count} lines of the file differ from the lines that the run wrote",
                count = self.lines
            ))),
        }
    }
}

/// Computes the seal of a file incrementally while the file is written.
#[derive(Clone, Default)]
pub(crate) struct Sealing {
    hash: Xxh3,
    lines: u64,
    bytes: u64,
}

impl Sealing {
    /// Extends the seal by bytes that were appended to the file.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.lines += bytes.split(|byte| *byte == b'\n').skip(1).count() as u64;
    }

    /// Returns the seal of all bytes that were added so far.
    pub(crate) fn seal(&self) -> Seal {
        Seal { lines: self.lines, bytes: self.bytes, xxh3: format!("{:016x}", self.hash.digest()) }
    }
}

impl std::fmt::Debug for Sealing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.seal().fmt(f)
    }
}
