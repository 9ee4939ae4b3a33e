//! What can be wrong with a choice, said so that the reader knows what to write instead.

use thiserror::Error;

/// A choice that names no variant, or gives one parameters it does not take.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct ChoiceError {
    /// The key inside the choice's table that is at fault, if it is one: `bits_per_key`.
    pub key: Option<String>,
    /// What is wrong and what would be right.
    pub message: String,
}

impl ChoiceError {
    /// An error about the choice as a whole.
    pub fn whole(message: impl Into<String>) -> Self {
        Self { key: None, message: message.into() }
    }

    /// An error about one key of the choice's table.
    pub fn at(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: Some(key.into()), message: message.into() }
    }
}

/// A variant that cannot be added to a catalog.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AdditionError {
    /// The variant does not say which crate it comes from.
    #[error("{axis}: variant \"{kind}\" does not name its crate; write Variant::new(…).from(origin!())")]
    NoOrigin {
        /// The axis.
        axis: &'static str,
        /// The name of the variant.
        kind: &'static str,
    },
    /// Another variant has the name.
    #[error("{axis}: there is a variant \"{kind}\" already; give yours another name")]
    Taken {
        /// The axis.
        axis: &'static str,
        /// The name of the variant.
        kind: &'static str,
    },
    /// A variant of another crate has the same code, by which files name the variant.
    #[error("{axis}: \"{}\" and \"{}\" both have the code {code} in files; give one of them another code", .kinds[0], .kinds[1])]
    SameCode {
        /// The axis.
        axis: &'static str,
        /// The names of the variants.
        kinds: [&'static str; 2],
        /// The code.
        code: u8,
    },
    /// The catalog was read before.
    #[error("{axis}: variant \"{kind}\" comes too late; add it before any variant of the axis is looked up")]
    Closed {
        /// The axis.
        axis: &'static str,
        /// The name of the variant.
        kind: &'static str,
    },
}

/// `did you mean …; ` where one of `names` is close to `wrong`, else nothing.
pub fn suggestion<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    names
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(distance, name)| (1..=1 + name.len() / 4).contains(distance))
        .min()
        .map(|(_, name)| format!("did you mean \"{name}\"? "))
        .unwrap_or_default()
}
