//! The tests of the whole tree, in one program: they share designs, a model and replays.

mod common;
mod crash;
mod damage;
mod model;
