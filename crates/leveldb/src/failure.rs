//! Error messages in the format of LevelDB: the kind of the error, a colon, and a description.

use std::fmt;

use tree::Error;

/// The error of a failed call, as a message in the format of LevelDB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
}

/// A kind of error. Each error message begins with the name of its kind, such as `Corruption`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    InvalidArgument,
    Corruption,
    Io,
}

impl Failure {
    /// Creates the failure of a call with an invalid argument or option.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { kind: Kind::InvalidArgument, message: message.into() }
    }

    /// Creates the failure of a call in which lsmbench panicked.
    pub(crate) fn panicked() -> Self {
        Self { kind: Kind::Io, message: "lsmbench panicked; standard error contains the reason".to_owned() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = match &error {
            error if error.is_damage() => Kind::Corruption,
            Error::Storage(_) | Error::InUse(..) | Error::Failed(_) | Error::Policy(_) => Kind::Io,
            _ => Kind::InvalidArgument,
        };
        Self { kind, message: error.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::InvalidArgument => "Invalid argument",
            Kind::Corruption => "Corruption",
            Kind::Io => "IO error",
        };
        write!(text, "{kind}: {}", self.message)
    }
}
