//! Defines the error of a Redis request, in the form of its reply.

use std::borrow::Cow;

/// The reason why a request failed. The text is the error reply that the client receives.
#[derive(Clone, Debug)]
pub(crate) struct Failure(Cow<'static, str>);

impl Failure {
    /// The error of a string command for the name of a hash, or of a hash command for the name of a string.
    pub(crate) const WRONG_TYPE: Self =
        Self(Cow::Borrowed("WRONGTYPE Operation against a key holding the wrong kind of value"));

    /// The error of an argument or a stored value that is not a whole number, or is out of range.
    pub(crate) const NO_INTEGER: Self = Self(Cow::Borrowed("ERR value is not an integer or out of range"));

    /// The error of a request whose arguments do not match the syntax of the command.
    pub(crate) const SYNTAX: Self = Self(Cow::Borrowed("ERR syntax error"));

    /// The error of a client that has not sent the password.
    pub(crate) const NO_PASSWORD: Self = Self(Cow::Borrowed("NOAUTH Authentication required."));

    /// The error of a client that has sent a wrong password.
    pub(crate) const WRONG_PASSWORD: Self =
        Self(Cow::Borrowed("WRONGPASS invalid username-password pair or user is disabled."));

    /// Creates an error reply with the general error code `ERR`.
    pub(crate) fn error(text: impl std::fmt::Display) -> Self {
        Self(Cow::Owned(format!("ERR {text}")))
    }

    /// Creates an error reply from a text that begins with an error code.
    pub(crate) fn coded(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// Creates the error reply for a wrong number of arguments of `command`.
    pub(crate) fn arguments(command: &str) -> Self {
        Self::error(format!("wrong number of arguments for '{}' command", command.to_ascii_lowercase()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl From<tree::Error> for Failure {
    fn from(error: tree::Error) -> Self {
        Self::error(error)
    }
}
