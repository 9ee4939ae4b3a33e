//! Tests stores under torture: crashes and I/O errors at every step, corruption of files, and killed processes.
//!
//! A [script](Script) of actions, such as writes, flushes and checkpoints, runs on a [`StoreKind`] in `counted` mode,
//! on one thread. A seed determines the script, and therefore a history: a list of storage calls.
//!
//! * [`crash`] stops a history after every call, and derives the possible disk states ([`storage::States`]). For each
//!   state, it opens the store and checks the promises of its WAL mode.
//! * [`errors`] injects every error into every call, checks the error that the caller receives, and opens the store
//!   again.
//! * [`damage`] corrupts every part of the files that a history leaves, and reads everything from the store.
//! * [`kill`] contains the writers and the checks for processes that are killed under load, on real disks and with real
//!   threads. The caller starts and kills the processes.
//! * [`race`] runs threads on one store in `timed` mode. It checks whether one order of all operations explains all
//!   reads.
//!
//! Every finding of the first three modules contains the numbers that reproduce it.
//!
//! The tests of this repository and `lsmbench torture` use this crate. A test reaches a store only through [`Maker`]
//! and [`StoreUnderTest`].
//!
//! ```
//! use lsmbench_torture::crash::{CrashBudget, explore};
//! use lsmbench_torture::{StoreKind, small};
//!
//! let design = tree::Design::default().with(&"wal = \"sync\"".parse()?)?;
//! let store = StoreKind::tree("synced", small(&design))?;
//! let summary = explore(&store, CrashBudget { seed: 1, states: 20 });
//! // Recovery ran on at least 20 different disk states, and kept all promises of the WAL mode "sync".
//! assert!(summary.recovered >= 20);
//! assert_eq!(summary.findings.violations, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod crash;
pub mod damage;
mod disk;
pub mod errors;
mod examine;
mod families;
mod findings;
pub mod kill;
mod parallel;
mod player;
pub mod race;
mod script;
mod small;
mod store_kind;
mod subject;
mod violation;

pub use findings::{Findings, LocatedViolation};
pub use parallel::in_order;
pub use script::{CommitLimits, Content, Script, ScriptWrite, StoreAction};
pub use small::small;
pub use store_kind::StoreKind;
pub use subject::{Maker, StoreUnderTest, TreeMaker};
pub use violation::{Check, Violation};
