//! Workloads: operations as data. A workload is read from TOML and planned with a seed. The plan returns a stream of
//! operations with encoded keys for every thread of every phase. A timed loop then only reads an array of operations
//! and calls the store.
//!
//! The main parts of the crate are:
//!
//! 1. **The request.** [`Workload`] has the key format ([`FORMATS`]) and the [`Phase`]s. A phase executes a
//!    [`StoreStep`], or a [`Mix`] of [`Kind`]s. A phase with a mix has distributions of keys ([`KEYS`]), value
//!    sizes ([`SIZES`]) and scan lengths ([`LENGTHS`]), and a [`Rate`].
//! 2. **The plan.** [`WorkloadPlan::new`] reads traces, and checks as much as possible before anything runs.
//!    [`PhasePlan::streams`] returns one [`Stream`] per thread.
//! 3. **The run.** [`Stream::fill`] fills a [`Batch`]. [`Performer::perform`] executes the operations of the batch
//!    on a [`Target`]. An [`AnswerDigests`] keeps digests of the answers. [`NoOp`] is a store that does nothing, and
//!    [`Model`] is the reference store.
//! 4. **The check.** After the measurement, [`check`] generates the operations of a phase again. The check compares
//!    every recorded answer with the expected state in the [`Shadow`]. [`Shadow::verify`] compares a whole store with
//!    the expected state. [`Profile`] compares the requested operations with the
//!    executed operations.
//! 5. **The text.** [`Command`] is one operation as text, [`CommandReader`] reads commands from a text, and
//!    [`write_operations`] prints a phase.
//!
//! All random numbers are derived from one seed. Each [`Concern`] (kind of random decision) has an independent
//! generator. The crate depends on no engine. Every store that implements [`Target`] can run a workload.
//!
//! ```
//! use std::path::Path;
//!
//! use lsmbench_workload::{Batch, Extent, Model, Performer, Workload, WorkloadPlan};
//!
//! let workload = Workload::from_toml(&"phase = [{ name = \"load\", insert = 1000 }]".parse()?)?;
//! let plan = WorkloadPlan::new(&workload, 42, Path::new("."))?;
//! let mut streams = plan.phases()[0].streams(Extent::default());
//! let store = Model::default();
//! let (mut performer, mut batch) = (Performer::new(&store), Batch::default());
//! while streams[0].fill(&mut batch, Batch::OPERATIONS) > 0 {
//!     for at in batch.heads() {
//!         performer.perform(&batch, at, false)?;
//!     }
//! }
//! assert_eq!(store.len(), 1000);
//! # Ok::<(), lsmbench_workload::TargetError>(())
//! ```

mod batch;
mod before;
mod check;
pub mod conformance;
mod digest;
mod dsl;
mod extents;
mod fnv;
mod format;
mod keys;
mod length;
mod mix;
mod mixed;
pub mod model_check;
mod operation;
mod order;
mod pairs;
mod parts;
mod perform;
mod permutation;
mod phase;
mod plan;
mod pool;
mod prefix;
mod profile;
mod random;
mod range;
mod rate;
pub mod reference;
mod replay;
mod replay_spec;
mod request;
mod role;
mod shadow;
mod share;
mod single_deletes;
mod spelling;
mod step;
mod stream;
mod sustained;
mod target;
mod trace;
mod value;
mod values;
mod workload;

pub use batch::Batch;
pub use before::{Before, CacheState, UntilSteady, WarmUp};
pub use check::{AnswerDigests, CheckResult, WrongAnswer, check};
pub use dsl::{Command, CommandReader, ReadError, SyntaxError, write_operations};
pub use extents::{Extent, Extents};
pub use format::{FORMATS, KeyBytes, KeyFormat, KeyFormatPolicy};
pub use keys::{CATALOG as KEYS, KeyDistribution, KeySampler, PopularKeys, Scope};
pub use length::LengthDistribution;
pub use mix::Mix;
pub use mixed::{KeySource, Mixed};
pub use operation::{KeyId, Kind, Operation, Span};
pub use pairs::{Pairs, PairsError};
pub use parts::PhasePart;
pub use perform::{AnswerCounts, Performer};
pub use permutation::Permutation;
pub use phase::{Load, Order, Phase, Work};
pub use plan::{PhasePlan, PlanError, WorkloadPlan};
pub use profile::{Profile, Recorder};
pub use random::{Concern, Random, sub_seed};
pub use range::{LENGTHS, RangeSpec};
pub use rate::Rate;
pub use replay::{Due, Replay, ReplayPlan};
pub use replay_spec::{Miss, ReplaySpec};
pub use request::Request;
pub use role::Role;
pub use shadow::{Shadow, StoreVerdict};
pub use step::StoreStep;
pub use stream::Stream;
pub use sustained::{Objective, Probed, Sustained, SustainedRate};
pub use target::{Model, NoOp, Scan, Target, TargetError, Write, get_one_by_one};
pub use trace::{
    Accesses, CSV_HEADER, Endian, RecordError, Recording, TRACES, TraceError, TraceFile, TraceHead,
    TraceInput, TraceOperation, TraceReader, TraceRecord, TraceRecords, TraceStream,
};
pub use value::{SIZES, ValueSpec};
pub use values::Values;
pub use workload::Workload;
