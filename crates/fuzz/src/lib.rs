//! Fuzz targets for every reader of external bytes or text.
//!
//! A [`FuzzTarget`] is one reader of untrusted input. A target has a corpus of valid inputs, which the encoders create.
//! A target also has a function that passes one input to the reader, and panics if an invariant is violated. All
//! targets check the following invariants: The reader does not panic. Its memory and its time stay within limits. An
//! accepted input is valid. If the accepted data is written and read again, the data is unchanged. The docstring of
//! each target lists its additional invariants.
//!
//! A target runs in two ways. In an ordinary test with a stable toolchain, the target runs on its corpus, on earlier
//! findings, and on seeded mutations of both ([`Hunt`]). Under libFuzzer (`just fuzz`), the target runs on inputs that
//! libFuzzer derives from inputs that reached new code. Most files have checksums, so readers would reject nearly all
//! mutated inputs. Each input is therefore read twice: with its own checksums, and with corrected checksums, as an
//! attacker would write them.

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
