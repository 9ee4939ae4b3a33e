//! Hostile input for every reader of bytes or text from outside, and the invariants that hold for every input.
//!
//! A [`FuzzTarget`] is one reader of untrusted input. A target has a corpus that code makes (valid encodings, from
//! the encoders themselves). A target also has a function that feeds one input to the reader and panics if an
//! invariant is broken. All targets check these invariants: no panic occurs; memory and time are proportional to the
//! input; an accepted input is valid, and stays equal after it is written and read again. The docstring of each
//! target lists its additional invariants.
//!
//! The function runs in two ways. In an ordinary test with a stable toolchain, a target runs on the corpus, on
//! earlier findings, and on seeded mutations of both ([`Hunt`]). Under libFuzzer, it runs on inputs that reach new
//! code (`just fuzz`). Most files have checksums, which random bytes do not pass. Each input is therefore read twice:
//! with its own checksums, and with corrected checksums, as an attacker would write them.

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
pub use target::{FuzzTarget, InputForm};
pub use targets::TARGETS;
