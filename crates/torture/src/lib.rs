//! Crashes and I/O errors at every step of a store's life, damage to what it leaves, and the check of what is left.
//!
//! A seeded [script](Script) of writes, reads, flushes, compactions, checkpoints and reopens is played on a
//! [`Subject`] in `counted` mode, on one thread, so that a seed is a life and a life is a list of calls to
//! storage.
//!
//! * [`crash`] stops that list behind every step, derives the states in which a disk may then be
//!   ([`storage::States`]), opens the store on each, and holds it to what its log mode promises.
//! * [`errors`] lets every call fail in every way, asks what the caller was told, and opens the store again.
//! * [`damage`] damages every part of the files that a life leaves, and asks the store for everything.
//! * [`kill`] is for processes that die under load, on real disks and with real threads: it has their writers and
//!   the check of what they leave. Starting and killing them is up to whoever has a program to start.
//!
//! * [`race`] lets threads loose on one store in `timed` mode, and asks whether one order of all that they did
//!   explains all that they saw.
//!
//! Whatever is found names the numbers that lead there again.

pub mod crash;
pub mod damage;
mod disk;
pub mod errors;
mod examine;
mod findings;
pub mod kill;
mod parallel;
mod player;
pub mod race;
mod script;
mod small;
mod subject;
mod violation;

pub use findings::{Finding, Findings};
pub use parallel::in_order;
pub use script::{Action, Content, Script, Write};
pub use small::small;
pub use subject::{Maker, Store, Subject, TreeMaker};
pub use violation::{Check, Violation};
