//! Seals of result files. A seal contains the number of lines, the size and the checksum of a file, and is stored in
//! the manifest. A file with a changed digit, a missing line or a duplicate line can still be valid CSV, so only a
//! seal detects such a change.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::ResultsError;

/// The size and the hash of a result file after the last complete measurement. If the file contains more rows than
/// the seal, the run was killed before it updated the seal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// Number of lines, including the header.
    pub lines: u64,
    /// Number of bytes in these lines.
    pub bytes: u64,
    /// XXH3-64 hash of these lines, in hexadecimal.
    pub xxh3: String,
}

impl Seal {
    /// Checks the beginning of a file against this seal. The file may have more bytes than the seal.
    ///
    /// # Errors
    /// The file cannot be read, is shorter than the seal, or has other bytes.
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
                "the first {} lines of the file differ from the lines that the run wrote",
                self.lines
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
    /// Adds bytes that were appended to the file.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.lines += bytes.split(|byte| *byte == b'\n').skip(1).count() as u64;
    }

    /// Returns the seal of all bytes that were appended so far.
    pub(crate) fn seal(&self) -> Seal {
        Seal { lines: self.lines, bytes: self.bytes, xxh3: format!("{:016x}", self.hash.digest()) }
    }
}

impl std::fmt::Debug for Sealing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.seal().fmt(f)
    }
}
