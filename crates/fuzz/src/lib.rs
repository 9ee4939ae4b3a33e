//! Hostile input for everything that reads bytes or text from outside, and the laws that hold whatever it is.
//!
//! A [`Target`] is one such reader: a corpus that code makes (valid encodings, from the encoders themselves) and a
//! function that feeds one input to the reader and panics where a law is broken. The laws common to all: no panic;
//! memory and time in proportion to the input; what is accepted means something, and reads back as the same when
//! it is written again. What each holds to besides stands above it.
//!
//! The same function runs in two ways: under a stable toolchain on the corpus, on what was found before, and on
//! seeded [changes of both ([`Hunt`]), as an ordinary test; and under libFuzzer, which looks for inputs
//! that reach new code (`just fuzz`). Most files are under checksums, which random bytes do not pass. So inputs are
//! read twice: as they are, and with their checksums put right, as a hostile writer would.

mod bounds;
mod counting;
mod hunt;
mod mutate;
mod regressions;
mod target;
mod targets;

pub use bounds::bounded;
pub use hunt::{Failure, Hunt};
pub use regressions::regressions;
pub use target::{Form, Target};
pub use targets::TARGETS;
