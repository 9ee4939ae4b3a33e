//! The schema of results. This crate defines all columns of result files, and reads and writes rows, timelines, latency
//! logs and manifests.
//!
//! All code that writes, reads, checks, compares or draws results uses the list in [`columns`]. The list defines the
//! CSV header, the titles and units of chart axes, the better direction of a verdict, and `docs/reference/columns.md`.
//!
//! A [`Schema`] contains the columns of one file. A [`RowWriter`] appends [`Row`]s to a CSV file, and a [`Table`] reads
//! this file. A [`Folder`] names the files of a run, and the [`Manifest`] of the run describes its conditions.
//!
//! ```
//! use lsmbench_results::columns::{CELL, FPR, OPERATION, PHASE, TRIAL};
//! use lsmbench_results::{Folder, Row, RowWriter, Schema, Table};
//!
//! let folder = tempfile::tempdir()?;
//! let file = Folder::new(folder.path()).runs();
//! let schema = Schema::runs(&["design.bloom"])?;
//! let mut row = Row::new(&schema);
//! row.set(&CELL, 0_u64).set(&TRIAL, 0_u64).set(&PHASE, "lookup").set(&OPERATION, "all");
//! row.set(&FPR, 0.008).set_swept("design.bloom", "ribbon")?;
//! RowWriter::create(&file, &schema)?.append(&[row])?;
//!
//! let table = Table::read(&file)?.only("design.bloom", "ribbon")?;
//! assert_eq!(table.rows()[0].get(&FPR).number(), Some(0.008));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod columns;
pub mod counters;
pub mod effects;
mod error;
mod expectation;
mod folded;
mod folder;
pub mod formulas;
mod golden;
pub mod history;
mod interleaving;
mod latency;
pub mod levels;
mod machine;
mod manifest;
mod measurements;
mod metric;
mod mode;
mod part;
mod path;
pub mod reference;
mod row;
mod schema;
mod seal;
pub mod slices;
mod table;
pub mod targets;
mod value;
pub mod verdicts;
mod whole;
mod writer;

pub use error::ResultsError;
pub use expectation::{EXPECTATIONS, Expectation};
pub use folded::FoldedStacks;
pub use folder::Folder;
pub use golden::{Golden, GoldenNumber};
pub use interleaving::Interleaving;
pub use latency::LatencyLog;
pub use machine::{MachineFinding, MachineInfo};
pub use manifest::{
    BuildInfo, CellInfo, ComponentInfo, CpuProfileInfo, EngineInfo, FixtureFile, FixtureInfo, FlameGraphInfo,
    HarnessCost, IDENTICAL, LeftOut, Look, MANIFEST_VERSION, MISMATCH, Manifest, OperationCost,
    ProfileRecord, SeamCost, StreamRecord,
};
pub use measurements::Measurements;
pub use metric::{Better, Metric, Repeats, Unit, ValueType};
pub use mode::RunMode;
pub use part::{NodeInfo, PartInfo};
pub use path::{ConfigPath, Root};
pub use row::{Group, Row};
pub use schema::{Column, Schema};
pub use seal::Seal;
pub use table::{RowGroup, Table, Torn};
pub use value::Value;
pub use writer::{Resumed, RowWriter};
