//! The commands of the text language (DSL) of `lsmbench shell`, and their conversion to text.

use std::fmt::{self, Write};

/// A command of the text language (DSL), such as a put. The `Display` output of a command is a line that parses to the
/// same command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A put: `p KEY VALUE`.
    Put {
        /// The key of the operation.
        key: Vec<u8>,
        /// New value of the key.
        value: Vec<u8>,
    },
    /// A get: `g KEY`.
    Get {
        /// The key of the operation.
        key: Vec<u8>,
    },
    /// A delete: `d KEY`.
    Delete {
        /// The key of the operation.
        key: Vec<u8>,
    },
    /// A merge: `m KEY OPERAND`.
    Merge {
        /// The key of the operation.
        key: Vec<u8>,
        /// The operand that is merged into the value.
        operand: Vec<u8>,
    },
    /// A single delete: `sd KEY`.
    SingleDelete {
        /// The key of the operation.
        key: Vec<u8>,
    },
    /// A range delete: `x LOW HIGH`.
    DeleteRange {
        /// The first key of the range.
        low: Vec<u8>,
        /// The end of the range (exclusive).
        high: Vec<u8>,
    },
    /// A scan: `r LOW HIGH`.
    Range {
        /// The first key of the range.
        low: Vec<u8>,
        /// The end of the range (exclusive).
        high: Vec<u8>,
    },
    /// A load of the key-value pairs in a file: `l "FILE"`.
    Load {
        /// The path of the file, as bytes.
        file: Vec<u8>,
    },
    /// A request to print the statistics of the store: `s`.
    Statistics,
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Put { key, value } => write!(f, "p {} {}", Token(key), Token(value)),
            Self::Get { key } => write!(f, "g {}", Token(key)),
            Self::Delete { key } => write!(f, "d {}", Token(key)),
            Self::SingleDelete { key } => write!(f, "sd {}", Token(key)),
            Self::Merge { key, operand } => write!(f, "m {} {}", Token(key), Token(operand)),
            Self::DeleteRange { low, high } => write!(f, "x {} {}", Token(low), Token(high)),
            Self::Range { low, high } => write!(f, "r {} {}", Token(low), Token(high)),
            Self::Load { file } => write!(f, "l {}", Quoted(file)),
            Self::Statistics => f.write_str("s"),
        }
    }
}

/// Returns `bytes` as one token of a DSL line: unchanged if possible, else in quotes with escapes.
pub(crate) fn token(bytes: &[u8]) -> String {
    Token(bytes).to_string()
}

/// Displays bytes as one token of a DSL line. The token contains the bytes unchanged if possible, and is in quotes with
/// escapes otherwise.
struct Token<'a>(&'a [u8]);

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = !self.0.is_empty() && self.0.iter().all(|byte| is_bare(*byte));
        match std::str::from_utf8(self.0) {
            Ok(text) if bare => f.write_str(text),
            _ => Quoted(self.0).fmt(f),
        }
    }
}

/// Displays bytes in quotes, with escapes for special characters.
struct Quoted<'a>(&'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for byte in self.0 {
            match byte {
                b'"' => f.write_str("\\\"")?,
                b'\\' => f.write_str("\\\\")?,
                b'\n' => f.write_str("\\n")?,
                b'\r' => f.write_str("\\r")?,
                b'\t' => f.write_str("\\t")?,
                0 => f.write_str("\\0")?,
                b' '..=b'~' => f.write_char(char::from(*byte))?,
                _ => write!(f, "\\x{byte:02x}")?,
            }
        }
        f.write_char('"')
    }
}

/// Returns whether a byte of a DSL token needs no quotes. Such a byte is a printable ASCII character other than the
/// quote and the backslash.
fn is_bare(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'"' && byte != b'\\'
}
