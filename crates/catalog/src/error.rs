//! Errors in choices of variants. Each message names the problem and the valid values.

use thiserror::Error;
use types::valid_names;

/// The error of an invalid choice: the variant is unknown, a parameter is unknown, or a value is invalid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct ChoiceError {
    /// The key with the error in the table of the choice, such as `bits_per_key`. `None` if the error is not about a
    /// single key.
    pub key: Option<String>,
    /// The description of the problem, and how to correct it.
    pub message: String,
}

impl ChoiceError {
    /// Creates an error that is not about a single key of the choice.
    pub fn whole(message: impl Into<String>) -> Self {
        Self { key: None, message: message.into() }
    }

    /// Creates an error about one key of the choice.
    pub fn at(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: Some(key.into()), message: message.into() }
    }
}

/// The reason why a variant cannot be added to a catalog.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AdditionError {
    /// The variant does not name its crate.
    #[error("{axis}: variant \"{kind}\" does not name its crate; write Variant::new(…).from(origin!())")]
    NoOrigin {
        /// The name of the axis, such as `bloom`.
        axis: &'static str,
        /// The name of the variant, such as `blocked`.
        kind: &'static str,
    },
    /// Another variant of the axis has the same name.
    #[error("{axis}: another variant has the name \"{kind}\"; rename your variant")]
    Taken {
        /// The name of the axis, such as `bloom`.
        axis: &'static str,
        /// The name of the variant, such as `blocked`.
        kind: &'static str,
    },
    /// A variant of a different crate has the same code. A code identifies a variant in files.
    #[error("{axis}: \"{}\" and \"{}\" both have the file code {code}; give one of them another code", .kinds[0], .kinds[1])]
    SameCode {
        /// The name of the axis, such as `bloom`.
        axis: &'static str,
        /// The names of the two variants.
        kinds: [&'static str; 2],
        /// The code that both variants have.
        code: u8,
    },
    /// The variant was added after the first lookup, which closes the catalog.
    #[error(
        "{axis}: variant \"{kind}\" was added too late; add variants before the program looks up a variant \
         of this axis"
    )]
    Closed {
        /// The name of the axis, such as `bloom`.
        axis: &'static str,
        /// The name of the variant, such as `blocked`.
        kind: &'static str,
    },
}

/// Returns the end of the error message about the unknown name `wrong`. The end contains the most similar name and all
/// valid names, such as `; did you mean "lru"? Valid: "none", "lru"`. If no name is similar, the end is
/// `. Valid: "none", "lru"`.
pub fn alternatives<'a, I>(wrong: &str, names: I) -> String
where
    I: IntoIterator<Item = &'a str, IntoIter: Clone>,
{
    let names = names.into_iter();
    let hint = suggestion(wrong, names.clone());
    let separator = if hint.is_empty() { "." } else { ";" };
    format!("{separator} {hint}{}", valid_names(names))
}

/// Returns the text `did you mean …? ` with the name from `names` that is most similar to `wrong`. The text is empty
/// if no name is similar.
pub fn suggestion<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    names
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(distance, name)| (1..=1 + name.len() / 4).contains(distance))
        .min()
        .map(|(_, name)| format!("did you mean \"{name}\"? "))
        .unwrap_or_default()
}
