//! The text language of `lsmbench shell`: the answer to a command, and its conversation with many clients.

mod answer;
mod session;

pub use answer::{TextError, answer_command};
pub(crate) use session::TextSession;
