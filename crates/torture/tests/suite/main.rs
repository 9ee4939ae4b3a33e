//! A short exploration of every kind of design. Every seeded bug must be caught.

#![allow(clippy::print_stdout)] // what caught a bug is worth reading in the output of a test

mod damage;
mod kills;
mod largest;
mod planted;
mod raced;
mod shipped;
mod wrong;

use lsmbench_torture::{StoreKind, TreeMaker, small};
use tree::Design;

/// The small default design with changes.
fn design(toml: &str) -> Design {
    let design = Design::default().with(&toml.parse().expect("designs are TOML"));
    small(&design.expect("the design can be built"))
}

/// A tree of the design in `toml`.
fn subject(toml: &str) -> StoreKind {
    StoreKind::tree(toml, design(toml)).expect("the design can be built")
}

/// Opener of that tree, for tests that wrap it.
fn maker(toml: &str) -> TreeMaker {
    TreeMaker(design(toml))
}
