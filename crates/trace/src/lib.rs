//! Statistics of traces, workloads that are fitted to traces, and writers of trace formats.
//!
//! 1. **Statistics.** [`Statistics`] takes the records of a trace one by one, in bounded memory, and returns a
//!    [`TraceStatistics`]: the mix, sizes, skew, reuse distances with the miss-ratio curve of LRU, and the working set
//!    over time.
//! 2. **Fitted workloads.** [`fit`] writes a workload whose operations have the statistics of a trace, and measures the
//!    distances between the trace and the workload.
//! 3. **Writers.** [`TraceFormat`] writes records as text, CSV, or the formats of RocksDB and libCacheSim. [`Sampler`]
//!    keeps a spatially hashed sample of the keys.
//!
//! The crate reads the records of [`workload`], and depends on no store. `lsmbench trace` and the recording of a trial
//! use this crate.
//!
//! ```
//! use lsmbench_trace::Statistics;
//! use workload::{TraceOperation, TraceRecord};
//!
//! let mut statistics = Statistics::default();
//! for key in ["a", "b", "a", "a"] {
//!     statistics.add(&TraceRecord::new(TraceOperation::Get, key));
//! }
//! let summary = statistics.summary("text", Vec::new());
//! assert_eq!((summary.operations, summary.keys), (4, 2));
//! // An LRU cache with room for one key misses all gets except the last.
//! assert_eq!((summary.lru[0].keys, summary.lru[0].miss_ratio), (1, 0.75));
//! ```

mod arrivals;
mod distance;
mod fit;
mod format;
mod histogram;
mod keys;
mod popularity;
mod reuse;
mod sampler;
mod statistics;
mod summary;
mod twin;
mod window;
mod write_csv;
mod write_oracle_general;
mod write_rocksdb;
mod write_text;
mod writer;

pub use distance::Distances;
pub use fit::{Fit, fit};
pub use format::TraceFormat;
pub use sampler::Sampler;
pub use statistics::Statistics;
pub use summary::{AccessSkew, Arrivals, CurvePoint, MissRatio, Share, Sizes, TraceStatistics, WorkingSet};
pub use writer::TraceWriter;
