//! Error messages in the format of LevelDB: the kind of the error, a colon, and a description.

use std::fmt;

use tree::Error;

/// The message of a failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
}

/// The kinds of errors. Programs can recognize the kind by the start of the error message.
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

    /// Creates the failure of a call that panicked.
    pub(crate) fn panicked() -> Self {
        Self { kind: Kind::Io, message: "lsmbench panicked; standard error has the reason".to_owned() }
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
