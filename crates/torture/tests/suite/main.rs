//! Every kind of design explored a little, and every planted bug caught.

#![allow(clippy::print_stdout)] // what caught a bug is worth reading in the output of a test

mod damage;
mod kills;
mod largest;
mod planted;
mod raced;
mod shipped;
mod wrong;

use lsmbench_torture::{Subject, TreeMaker, small};
use tree::Design;

/// The small default design, changed.
fn design(toml: &str) -> Design {
    let design = Design::default().with(&toml.parse().expect("designs are TOML"));
    small(&design.expect("the design can be built"))
}

/// The tree of that design.
fn subject(toml: &str) -> Subject {
    Subject::tree(toml, design(toml)).expect("the design can be built")
}

/// What opens that tree, for tests to put something around it.
fn maker(toml: &str) -> TreeMaker {
    TreeMaker(design(toml))
}
