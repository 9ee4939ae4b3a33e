//! Files of key-value pairs, one pair per line. The command `l "FILE"` loads such a file.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Take};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use thiserror::Error;
use types::{MAX_KEY_BYTES, MAX_VALUE_BYTES};

use crate::Command;

/// Maximum length of a line of a file of key-value pairs, in bytes. The maximum is enough for a key and a value in
/// which every byte is escaped, and for some blanks.
const LONGEST_LINE: u64 = 4 * (MAX_KEY_BYTES + MAX_VALUE_BYTES) as u64 + 1024;

/// A flag of the system call `open`. With this flag, opening a pipe does not wait until another process writes to the
/// pipe.
const WITHOUT_WAITING: i32 = OFlags::NONBLOCK.bits().cast_signed();

/// Reason why a file of pairs cannot be loaded.
#[derive(Debug, Error)]
pub enum PairsError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// A line of the file is not a key-value pair.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The number of the wrong line, from 1.
        line: usize,
        /// Description of the error.
        message: String,
    },
}

/// Reader that returns each key-value pair of a file as a put command. A line is `KEY VALUE`, with or without a leading
/// `p`. The reader ignores empty lines and lines that begin with `#`.
///
/// The reader stops at the length that the file had at the time of opening. A line that is longer than any pair is an
/// error.
pub struct Pairs {
    path: PathBuf,
    text: BufReader<Take<File>>,
    line: usize,
}

impl Pairs {
    /// Opens the file that a load command names. A relative path starts from `folder`.
    pub fn open(folder: &Path, name: &[u8]) -> Result<Self, PairsError> {
        let path = folder.join(OsStr::from_bytes(name));
        match open(&path) {
            Ok(text) => Ok(Self { path, text: BufReader::new(text), line: 0 }),
            Err(source) => Err(PairsError::Read { path, source }),
        }
    }

    /// Returns the next line, or `None` at the end of the file.
    fn read_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let read = self.text.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if read as u64 == LONGEST_LINE {
            return Err(io::Error::other(format!(
                "line {} is longer than the maximum of a pair, {LONGEST_LINE} bytes",
                self.line
            )));
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Ok((read > 0).then_some(line))
    }
}

impl Iterator for Pairs {
    type Item = Result<Command, PairsError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.line += 1;
            let text = self.read_line().transpose()?;
            let path = || self.path.clone();
            let put = match text {
                Err(source) => return Some(Err(PairsError::Read { path: path(), source })),
                Ok(text) => read_pair(&text),
            };
            match put {
                Ok(None) => {}
                Ok(Some(put)) => return Some(Ok(put)),
                Err(message) => {
                    return Some(Err(PairsError::Line { path: path(), line: self.line, message }));
                }
            }
        }
    }
}

/// Opens a file of key-value pairs. The returned reader stops at the current length of the file.
fn open(path: &Path) -> io::Result<Take<File>> {
    let file = OpenOptions::new().read(true).custom_flags(WITHOUT_WAITING).open(path)?;
    let found = file.metadata()?;
    match found.is_file() {
        true => Ok(file.take(found.len())),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// Parses a line of a file of key-value pairs. Returns a put command, or `None` if the line contains no pair.
fn read_pair(text: &[u8]) -> Result<Option<Command>, String> {
    if text.iter().all(u8::is_ascii_whitespace) || text.starts_with(b"#") {
        return Ok(None);
    }
    let as_pair = Command::parse(&[b"p ", text].concat());
    match as_pair.or_else(|error| Command::parse(text).map_err(|_| error)) {
        Ok(Some(put @ Command::Put { .. })) => Ok(Some(put)),
        Ok(_) => Err("a line of a file of pairs must be KEY VALUE, and not another command".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_stand_with_and_without_a_letter() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("pairs"), "# two\na 1\n\np b \"x y\"\nd a\n").unwrap();
        let mut pairs = Pairs::open(folder.path(), b"pairs").unwrap();
        assert_eq!(pairs.next().unwrap().unwrap().to_string(), "p a 1");
        assert_eq!(pairs.next().unwrap().unwrap().to_string(), "p b \"x y\"");
        // A line with two words is a pair whose key is the first word.
        assert_eq!(pairs.next().unwrap().unwrap().to_string(), "p d a");
        assert!(pairs.next().is_none());
        std::fs::write(folder.path().join("pairs"), "a 1\nb\n").unwrap();
        let error = Pairs::open(folder.path(), b"pairs").unwrap().nth(1).unwrap().unwrap_err().to_string();
        assert!(error.contains("pairs:2: "), "{error}");
        assert!(matches!(Pairs::open(folder.path(), b"nothing"), Err(PairsError::Read { .. })));
    }

    #[test]
    fn what_has_no_end_is_not_loaded() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["/dev/zero", "/dev/stdin", "/", "."] {
            let Err(error) = Pairs::open(folder.path(), name.as_bytes()) else { panic!("{name} was opened") };
            assert!(error.to_string().contains("not a regular file"), "{error}");
        }
        // The reader ignores bytes that are appended while it reads the file.
        let path = folder.path().join("grows");
        std::fs::write(&path, "a 1\nb 2").unwrap();
        let mut pairs = Pairs::open(folder.path(), b"grows").unwrap();
        std::fs::write(&path, "a 1\nb 2\nc 3\n").unwrap();
        assert_eq!(
            pairs.by_ref().map(|put| put.unwrap().to_string()).collect::<Vec<_>>(),
            ["p a 1", "p b 2"]
        );
        let hole = File::create(folder.path().join("hole")).unwrap();
        hole.set_len(LONGEST_LINE + 1).unwrap();
        let error = Pairs::open(folder.path(), b"hole").unwrap().next().unwrap().unwrap_err();
        assert!(error.to_string().contains("line 1 is longer than the maximum of a pair"), "{error}");
    }
}
