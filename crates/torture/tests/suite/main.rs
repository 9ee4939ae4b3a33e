//! Short torture tests of every kind of design. The tests must find no violation in correct stores, and must detect
//! every injected bug.

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

/// Returns the default design with small sizes and with these settings.
fn design(toml: &str) -> Design {
    let design = Design::default().with(&toml.parse().expect("designs are TOML"));
    small(&design.expect("the design can be built"))
}

/// Returns the kind of store for the tree with the design `toml`.
fn subject(toml: &str) -> StoreKind {
    StoreKind::tree(toml, design(toml)).expect("the design can be built")
}

/// Returns the maker of trees with the design `toml`, for tests that wrap these trees.
fn maker(toml: &str) -> TreeMaker {
    TreeMaker(design(toml))
}
