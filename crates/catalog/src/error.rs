//! Errors of choices. Each message names the problem and the valid values.

use thiserror::Error;

/// A choice that names no variant, has an unknown parameter, or has an invalid value.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct ChoiceError {
    /// The wrong key in the choice's table, such as `bits_per_key`. `None` if the choice as a whole is wrong.
    pub key: Option<String>,
    /// The problem, and how to correct it.
    pub message: String,
}

impl ChoiceError {
    /// An error about a choice, without a key.
    pub fn whole(message: impl Into<String>) -> Self {
        Self { key: None, message: message.into() }
    }

    /// An error about one key in the table of a choice.
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
        /// The axis.
        axis: &'static str,
        /// The name of the variant.
        kind: &'static str,
    },
    /// Another variant already has the name.
    #[error("{axis}: another variant has the name \"{kind}\"; rename your variant")]
    Taken {
        /// The axis.
        axis: &'static str,
        /// The name of the variant.
        kind: &'static str,
    },
    /// A variant of another crate has the same code, by which files name the variant.
    #[error("{axis}: \"{}\" and \"{}\" both have the file code {code}; give one of them another code", .kinds[0], .kinds[1])]
    SameCode {
        /// The axis.
        axis: &'static str,
        /// The names of the variants.
        kinds: [&'static str; 2],
        /// The code.
        code: u8,
    },
    /// The catalog is closed because of an earlier lookup.
    #[error(
        "{axis}: variant \"{kind}\" was added too late; add the variant before the first lookup on this axis"
    )]
    Closed {
        /// The axis.
        axis: &'static str,
        /// The name of the variant.
        kind: &'static str,
    },
}

/// Returns `did you mean …? ` for the one of `names` that is most similar to `wrong`. Empty if no name is similar.
pub fn suggestion<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    names
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(distance, name)| (1..=1 + name.len() / 4).contains(distance))
        .min()
        .map(|(_, name)| format!("did you mean \"{name}\"? "))
        .unwrap_or_default()
}
