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
//!
//! This crate is a tool of the repository, so no other crate depends on this crate.
//!
//! ```
//! use lsmbench_fuzz::{Hunt, TARGETS};
//!
//! let target = TARGETS.iter().find(|target| target.name == "results-manifest").ok_or("no such target")?;
//! let hunt = Hunt { seed: 1, changes: 20, patience: std::time::Duration::from_secs(60) };
//! let fed = hunt.run(target).map_err(|failure| failure.message)?;
//! // No input violates an invariant. The reader accepts some of the 20 mutated inputs, and rejects the others.
//! assert!(fed.inputs > 20);
//! assert!((1..20).contains(&fed.accepted_changes));
//! # Ok::<(), String>(())
//! ```

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
