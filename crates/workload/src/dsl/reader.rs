//! Reader of commands. The reader parses a text stream, one command at a time.

use std::io::{self, BufRead};

use thiserror::Error;
use types::{MAX_KEY_BYTES, MAX_VALUE_BYTES};

use super::command::Command;
use super::parse::SyntaxError;

/// Maximum length of a line in bytes. The maximum is enough for a key and a value in which every byte is escaped, and
/// for some blanks.
const LONGEST_LINE: u64 = 4 * (MAX_KEY_BYTES + MAX_VALUE_BYTES) as u64 + 1024;

/// Reason why the next command cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The text cannot be read, because of an I/O error.
    #[error("line {line}: {source}")]
    Io {
        /// The number of the line at which reading failed, from 1.
        line: u64,
        /// The I/O error.
        source: io::Error,
    },
    /// A line of the text is not a valid command.
    #[error("line {line}, {error}")]
    Syntax {
        /// The number of the wrong line, from 1.
        line: u64,
        /// The syntax error in this line.
        error: SyntaxError,
    },
    /// A line is longer than the longest possible command.
    #[error(
        "line {line} is longer than {LONGEST_LINE} bytes, the maximum of a command; check that the file is a text file"
    )]
    TooLong {
        /// The number of the long line, from 1.
        line: u64,
    },
}

/// Reader that parses the commands in a text, one line after the other. The reader keeps only one line in memory.
#[derive(Debug)]
pub struct CommandReader<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> CommandReader<R> {
    /// Creates a reader of the commands in the text `reader`.
    pub fn new(reader: R) -> Self {
        Self { reader, line: Vec::new(), number: 0 }
    }

    /// Returns the number of the last line read, from 1.
    pub fn line(&self) -> u64 {
        self.number
    }

    /// Returns the next command, or `None` at the end of the text. After a [`Syntax`](ReadError::Syntax) error, the
    /// next call continues with the next line.
    ///
    /// # Errors
    /// Returns the number of the wrong line, and the error in the line.
    pub fn read(&mut self) -> Result<Option<Command>, ReadError> {
        loop {
            self.line.clear();
            self.number += 1;
            let line = self.number;
            let read = io::Read::take(&mut self.reader, LONGEST_LINE).read_until(b'\n', &mut self.line);
            match read {
                Ok(0) => return Ok(None),
                Ok(read) if read as u64 == LONGEST_LINE => return Err(ReadError::TooLong { line }),
                Ok(_) => {}
                Err(source) => return Err(ReadError::Io { line, source }),
            }
            match Command::parse(&self.line) {
                Ok(None) => {}
                Ok(command) => return Ok(command),
                Err(error) => return Err(ReadError::Syntax { line, error }),
            }
        }
    }
}

impl<R: BufRead> Iterator for CommandReader<R> {
    type Item = Result<Command, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_one_by_one_and_errors_name_their_line() {
        let text = "# a comment\n\np 1 2\ng 1\noops\nd 1";
        let mut reader = CommandReader::new(text.as_bytes());
        assert_eq!(reader.read().unwrap().unwrap().to_string(), "p 1 2");
        assert_eq!(reader.line(), 3);
        assert_eq!(reader.read().unwrap().unwrap().to_string(), "g 1");
        let error = reader.read().unwrap_err();
        assert!(error.to_string().starts_with("line 5, column 1: unknown command \"oops\""), "{error}");
        assert_eq!(reader.read().unwrap().unwrap().to_string(), "d 1");
        assert!(reader.read().unwrap().is_none() && reader.next().is_none());
    }

    /// Tests that the reader rejects a file without line ends before the file fills the memory.
    #[test]
    fn endless_lines_are_refused() {
        let endless = io::BufReader::with_capacity(1 << 20, io::repeat(b'x'));
        assert!(matches!(CommandReader::new(endless).read(), Err(ReadError::TooLong { line: 1 })));
    }
}
