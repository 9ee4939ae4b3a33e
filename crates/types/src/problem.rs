//! The error of a user request. The error consists of a file and a line, the problem, and a remedy.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// The error of a request that lsmbench cannot fulfill. The program then ends with exit code 2.
///
/// A crate with its own error types implements the conversion of its errors to `Problem`, so that `?` works in
/// functions that return [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file that the error is about, and the line number if it is known.
    place: Option<(PathBuf, Option<usize>)>,
    message: String,
}

/// The maximum length of a word that an error message prints completely, in bytes. Most paths are shorter.
const LONGEST_WORD: usize = 250;

/// The number of characters that an error message prints of a word above this length.
const SHOWN_CHARACTERS: usize = 40;

/// The quotes around names and values in error messages.
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// The result of a user request, or the error to report to the user.
pub type Outcome<T> = Result<T, Problem>;

impl Problem {
    /// Creates an error that is not about a file.
    pub fn new(message: impl Into<String>) -> Self {
        Self { place: None, message: shorten_words(&message.into()) }
    }

    /// Creates an error about a file. The first line has the number 1. `line` is `None` if the line is unknown.
    pub fn at(file: &Path, line: Option<usize>, message: impl Into<String>) -> Self {
        Self { place: Some((file.to_owned(), line)), message: shorten_words(&message.into()) }
    }

    /// Creates an error from a failed action and the reason of the failure. The text has the form `cannot write
    /// results/x: …`.
    pub fn doing(what: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self::new(format!("cannot {what}: {error}"))
    }
}

/// Shortens long words of an error message, such as a number with 300 digits. The message then contains the start of
/// the word and its length. Spaces and line breaks stay as they are.
pub fn shorten_words(message: &str) -> String {
    let words = message.split_inclusive(char::is_whitespace).map(|word| {
        // The quotes around a word and the punctuation after it belong to the sentence, not to the word.
        let start = usize::from(word.starts_with(QUOTES));
        let text = word.trim_end();
        let text = text.strip_suffix([';', ',', ':', '.']).unwrap_or(text);
        let end = text.strip_suffix(QUOTES).unwrap_or(text).len();
        let core = word.get(start..end).unwrap_or_default();
        match core.char_indices().nth(SHOWN_CHARACTERS) {
            Some((cut, _)) if core.len() > LONGEST_WORD => {
                let (characters, tail) = (core.chars().count(), &word[end..]);
                Cow::from(format!("{}… ({characters} characters){tail}", &word[..start + cut]))
            }
            _ => Cow::from(word),
        }
    });
    words.collect()
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some((file, Some(line))) => write!(f, "{}:{line}: ", file.display())?,
            Some((file, None)) => write!(f, "{}: ", file.display())?,
            None => {}
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl From<Box<dyn std::error::Error + Send + Sync>> for Problem {
    fn from(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        Self::new(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_shortened() {
        let message = format!("count is {}; use less", "9".repeat(300));
        let expected = format!("count is {}… (300 characters); use less", "9".repeat(40));
        assert_eq!(Problem::new(message).to_string(), expected);
        let path = format!("cannot read /{}", "x".repeat(200));
        assert_eq!(Problem::new(path.clone()).to_string(), path);
        let message = format!("unknown word '{}'\n\nUsage:  x\n", "é".repeat(300));
        let expected = format!("unknown word '{}… (300 characters)'\n\nUsage:  x\n", "é".repeat(40));
        assert_eq!(shorten_words(&message), expected);
        assert_eq!(shorten_words(&"'".repeat(302)), format!("{}… (300 characters)'", "'".repeat(41)));
    }
}
