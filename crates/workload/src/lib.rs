//! Operations as data: a workload is read from TOML, made ready with a seed, and then gives for every thread
//! of every phase a stream of plain operations with their keys written out, so that a timed loop reads an
//! array and calls the store.
//!
//! From the top down:
//!
//! 1. **The request.** [`Workload`] holds the key format ([`FORMATS`]) and the [`Phase`]s; a phase its
//!    [`Mix`] of [`Kind`]s, the distributions of keys ([`KEYS`]), value sizes ([`SIZES`]) and range lengths
//!    ([`LENGTHS`]), and its [`Rate`].
//! 2. **The plan.** [`Plan::new`] reads traces and checks what can be checked before anything runs;
//!    [`PhasePlan::streams`] gives one [`Stream`] per thread.
//! 3. **The run.** [`Stream::fill`] makes a [`Batch`]; [`Performer::perform`] does its operations on a
//!    [`Target`]; a [`AnswerDigests`] keeps what was answered. [`NoOp`] is the store that costs nothing, [`Model`]
//!    the one that is right.
//! 4. **The proof.** [`check`] goes through a phase once more, off the clock, and compares every recorded
//!    answer with the [`Shadow`], which also knows the live bytes; [`Shadow::verify`] compares a whole store.
//!    [`Profile`] sets what was intended beside what came out.
//! 5. **The text.** [`Command`] is a line of the DSL, [`CommandReader`] a stream of them, and
//!    [`write_operations`] prints a phase.
//!
//! Everything random comes from one seed through generators that are apart for every [`Concern`].

mod batch;
mod before;
mod check;
pub mod conformance;
mod digest;
mod dsl;
mod fnv;
mod format;
mod keys;
mod length;
mod mix;
mod operation;
mod order;
mod pairs;
mod perform;
mod permutation;
mod phase;
mod plan;
mod pool;
mod profile;
mod random;
mod range;
mod rate;
pub mod reference;
pub mod replay;
mod shadow;
mod spelling;
mod stream;
mod sustained;
mod target;
mod trace;
mod value;
mod values;
mod workload;

pub use batch::Batch;
pub use before::{Before, CacheState, UntilSteady, WarmUp};
pub use check::{AnswerDigests, Verdict, WrongAnswer, check};
pub use dsl::{Command, CommandReader, ReadError, SyntaxError, write_operations};
pub use format::{FORMATS, KeyBytes, KeyFormat, KeyFormatPolicy};
pub use keys::{CATALOG as KEYS, KeyDistribution, KeySampler, Scope, Standing};
pub use length::LengthDistribution;
pub use mix::Mix;
pub use operation::{KeyId, Kind, Operation, Span};
pub use pairs::{Pairs, PairsError};
pub use perform::{Outcome, Performer};
pub use permutation::Permutation;
pub use phase::{KeySource, Load, Mixed, Order, Phase, Work};
pub use plan::{Extent, PhasePlan, Plan, PlanError};
pub use profile::{Profile, Recorder};
pub use random::{Concern, Random, sub_seed};
pub use range::{LENGTHS, RangeSpec};
pub use rate::Rate;
pub use replay::Replay;
pub use shadow::{Shadow, StoreVerdict};
pub use stream::Stream;
pub use sustained::{Objective, Probed, Sustained, SustainedRate};
pub use target::{Model, NoOp, Scan, Target, TargetError, Write, get_one_by_one};
pub use trace::{Accesses, Endian, Recording, TRACES, TraceError, TraceFile, TraceReader};
pub use value::{SIZES, ValueSpec};
pub use values::Values;
pub use workload::Workload;
