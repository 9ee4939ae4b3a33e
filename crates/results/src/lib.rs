//! The schema of results. This crate defines all columns of result files, and reads and writes rows, timelines,
//! latency logs and manifests.
//!
//! All code that writes, reads, checks, compares or draws results uses the list in [`columns`]. The list defines the
//! CSV header, the titles and units of chart axes, the better direction of a verdict, and
//! `docs/reference/columns.md`.

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
    HarnessCost, IDENTICAL, LeftOut, Look, MANIFEST_VERSION, Manifest, OperationCost, ProfileRecord,
    SeamCost, StreamRecord, UNEQUAL,
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
