//! Hostile input for every reader of bytes or text from outside, and the invariants that hold for every input.
//!
//! A [`FuzzTarget`] is one reader of untrusted input. A target has a corpus that code makes (valid encodings, from the
//! encoders themselves). A target also has a function that feeds one input to the reader and panics if an invariant is
//! broken. All targets share these invariants: there is no panic; memory and time are in proportion to the input; an
//! accepted input is valid, and reads back unchanged after it is written again. The docstring of each target lists its
//! additional invariants.
//!
//! The function runs in two ways. As an ordinary test, it runs on the corpus, on earlier findings, and on seeded
//! mutations of both ([`Hunt`]), with a stable toolchain. Under libFuzzer, it runs on inputs that reach new code
//! (`just fuzz`). Most files have checksums, which random bytes do not pass. Inputs are therefore read twice:
//! unchanged, and with corrected checksums, as an attacker would make them.

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
