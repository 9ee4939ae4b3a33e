//! Simulates an experiment without data. The compaction policies make their decisions for a model of the tree (a
//! picture) instead of a real tree. A [`Simulation`] has the design and the workload, and [`simulate`] returns one
//! [`PhaseRow`] per phase.
//!
//! * [`Picture::Exact`]: the keys of the operation stream, without values. Flushes, compactions, runs, levels, SSTables
//!   and found keys equal the results of a real run in `counted` mode, which uses one thread.
//! * [`Picture::Expected`]: key ranges with expected numbers of entries, for trees of any size. Skewed overwrites and
//!   deletes are classes of keys that are written equally often.
//!
//! The sizes of files and filters, and the device time, are measured on two sample SSTables of the design with real
//! entries (see [`Costs`]). `lsmbench simulate` and the search of `lsmbench tune` use this crate.
//!
//! ```
//! use lsmbench_simulation::{Picture, Simulation, simulate};
//!
//! let load = "phase = [{ name = \"load\", insert = 20_000, order = \"random\" }]".parse()?;
//! let workload = workload::Workload::from_toml(&load)?;
//! let write_amp = |policy: &str| -> Result<Option<f64>, Box<dyn std::error::Error>> {
//!     let changes = format!("compaction = \"{policy}\"\nmemtable = {{ capacity = \"64KiB\" }}");
//!     let design = &tree::Design::default().with(&changes.parse()?)?;
//!     let (workload, base, picture) = (&workload, ".".as_ref(), Picture::Exact);
//!     let simulation = Simulation { design, workload, seed: 42, base, picture, device: "nvme", costs: None };
//!     Ok(simulate(&simulation)?.0[0].row.number(&results::columns::WRITE_AMP))
//! };
//! assert!(write_amp("tiered")? < write_amp("leveled")?, "tiering must write less than leveling");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod costs;
mod exact;
mod expected;
mod phases;
mod readings;
mod simulate;

pub use costs::Costs;
pub use exact::SimulatedTree;
pub use phases::{Rates, added_keys, rates, scaled, scans};
pub use simulate::{MOST_EXACT_WRITES, PhaseRow, Picture, Simulation, check, simulate};
