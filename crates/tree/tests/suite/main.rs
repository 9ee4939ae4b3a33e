//! The tests of the whole tree, in one program. The tests share designs, a model and replays.

#![allow(clippy::print_stdout)] // tests print the designs and seeds that they try

mod arbiter;
mod background;
mod blobs;
mod common;
mod concurrent;
mod conditional;
mod counters;
mod crash;
mod damage;
mod dropping;
mod existence;
mod families;
mod family_files;
mod holding;
mod inline;
mod key_ranges;
mod lookups;
mod mapped;
mod model;
mod moves;
mod names;
mod observe;
mod power;
mod probe;
mod read_ahead;
mod scanned;
mod schedule;
mod seek;
mod single_deletes;
mod sorted_views;
mod subcompactions;
