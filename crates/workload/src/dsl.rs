//! The text form of operations, one a line, for people, pipes and the shell.
//!
//! | line | meaning |
//! |---|---|
//! | `p KEY VALUE` | put: give KEY the value VALUE |
//! | `g KEY` | get: print the value of KEY, or an empty line |
//! | `d KEY` | delete KEY |
//! | `r LOW HIGH` | range: print all entries from LOW on, HIGH excluded |
//! | `l "FILE"` | load the pairs in FILE |
//! | `s` | print statistics |
//!
//! Keys and values are any bytes. One without blanks, quotes, control bytes or bytes beyond ASCII stands as
//! it is; any other stands in double quotes, where `\"`, `\\`, `\n`, `\r`, `\t`, `\0` and `\xHH` are escapes.
//! Blanks at the ends of a line do not count; empty lines and lines that begin with `#` say nothing.

mod command;
mod parse;
mod reader;
mod text;

pub use command::Command;
pub(crate) use command::token;
pub use parse::SyntaxError;
pub use reader::{CommandReader, ReadError};
pub use text::write_operations;
