//! Hostile input for every reader of bytes or text from outside, and the invariants that hold for every input.
//!
//! A [`Target`] is one such reader: a corpus that code makes (valid encodings, from the encoders themselves) and a
//! function that feeds one input to the reader and panics where an invariant is broken. All targets share these
//! invariants: no panic; memory and time in proportion to the input; an accepted input is valid, and reads back as the
//! same when it is written again. The docstring of each target lists its additional invariants.
//!
//! The same function runs in two ways: under a stable toolchain on the corpus, on earlier findings, and on seeded
//! changes of both ([`Hunt`]), as an ordinary test; and under libFuzzer, which searches for inputs that reach new code
//! (`just fuzz`). Most files have checksums, which random bytes do not pass. So inputs are read twice: unchanged, and
//! with corrected checksums, as a hostile writer would make them.

mod bounds;
mod counting;
mod hunt;
mod mutate;
mod regressions;
mod target;
mod targets;

pub use bounds::bounded;
pub use hunt::{Failure, Fed, Hunt};
pub use regressions::regressions;
pub use target::{Form, Target};
pub use targets::TARGETS;
