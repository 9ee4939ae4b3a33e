//! The tests of the whole tree, in one program: they share designs, a model and replays.

#![allow(clippy::print_stdout)] // what was tried is worth reading in the output of a test

mod common;
mod crash;
mod damage;
mod model;
