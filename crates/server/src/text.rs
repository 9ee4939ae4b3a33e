//! Implements the text language of `lsmbench shell`: the execution of commands, and the protocol for many clients.

mod answer;
mod session;

pub use answer::{TextError, TextStore, answer_command};
pub(crate) use session::TextSession;
