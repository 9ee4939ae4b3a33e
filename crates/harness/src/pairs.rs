//! Files of pairs, which the command `l "FILE"` loads: one pair a line.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Split};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use thiserror::Error;
use workload::Command;

/// A file of pairs that cannot be loaded.
#[derive(Debug, Error)]
pub(crate) enum PairsError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A line is no pair.
    #[error("{}:{line}: {message}", path.display())]
    Line { path: PathBuf, line: usize, message: String },
}

/// The pairs of a file, as puts. A line is `KEY VALUE`, as behind a `p` or with it; empty lines and those that
/// begin with `#` say nothing.
pub(crate) struct Pairs {
    path: PathBuf,
    lines: Split<BufReader<File>>,
    line: usize,
}

impl Pairs {
    /// Opens the file that a command names; a relative path starts from `folder`.
    pub(crate) fn open(folder: &Path, name: &[u8]) -> Result<Self, PairsError> {
        let path = folder.join(OsStr::from_bytes(name));
        match File::open(&path) {
            Ok(file) => Ok(Self { path, lines: BufReader::new(file).split(b'\n'), line: 0 }),
            Err(source) => Err(PairsError::Read { path, source }),
        }
    }
}

impl Iterator for Pairs {
    type Item = Result<Command, PairsError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self.lines.next()?;
            self.line += 1;
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

/// A line of a file of pairs, as the put it stands for.
fn read_pair(text: &[u8]) -> Result<Option<Command>, String> {
    if text.iter().all(u8::is_ascii_whitespace) || text.starts_with(b"#") {
        return Ok(None);
    }
    let as_pair = Command::parse(&[b"p ", text].concat());
    match as_pair.or_else(|error| Command::parse(text).map_err(|_| error)) {
        Ok(Some(put @ Command::Put { .. })) => Ok(Some(put)),
        Ok(_) => Err("a line of a file of pairs is KEY VALUE".to_owned()),
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
        // A line of two words is a pair, whatever its key.
        assert_eq!(pairs.next().unwrap().unwrap().to_string(), "p d a");
        assert!(pairs.next().is_none());
        std::fs::write(folder.path().join("pairs"), "a 1\nb\n").unwrap();
        let error = Pairs::open(folder.path(), b"pairs").unwrap().nth(1).unwrap().unwrap_err().to_string();
        assert!(error.contains("pairs:2: "), "{error}");
        assert!(matches!(Pairs::open(folder.path(), b"nothing"), Err(PairsError::Read { .. })));
    }
}
