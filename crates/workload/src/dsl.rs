//! A text form of operations, called the DSL. `lsmbench shell` reads this text language, and `lsmbench workload` prints
//! operations in this language. Each line contains one command.
//!
//! | line | meaning |
//! |---|---|
//! | `p KEY VALUE` | put: give KEY the value VALUE |
//! | `g KEY` | get: print the value of KEY, or an empty line |
//! | `d KEY` | delete KEY |
//! | `sd KEY` | single delete: delete KEY, which was put at most once since its previous single delete |
//! | `m KEY OPERAND` | merge OPERAND into the value of KEY |
//! | `x LOW HIGH` | delete all keys from LOW on, HIGH excluded |
//! | `r LOW HIGH` | scan: print all entries from LOW on, HIGH excluded |
//! | `l "FILE"` | load the pairs in FILE |
//! | `s` | print statistics |
//!
//! Keys and values are arbitrary bytes. A token without blanks, quotes, control bytes or non-ASCII bytes is written
//! unchanged. Any other token is written in double quotes. The escapes in quotes are `\"`, `\\`, `\n`, `\r`, `\t`, `\0`
//! and `\xHH`. The parser ignores leading and trailing blanks of a line, empty lines, and lines that begin with `#`.

mod command;
mod parse;
mod reader;
mod text;

pub use command::Command;
pub(crate) use command::token;
pub use parse::SyntaxError;
pub use reader::{CommandReader, ReadError};
pub use text::write_operations;
