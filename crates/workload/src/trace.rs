//! Traces. A trace is a file with recorded operations, and a replay executes these operations in recorded order.

mod arc;
mod cachelib;
mod csv;
mod file;
mod head;
mod input;
mod lines;
mod lirs;
mod oracle_general;
mod payload;
mod raw;
mod reader;
mod record;
mod recording;
mod redis;
mod redis_aof;
mod redis_monitor;
mod rocksdb;
mod rocksdb_text;
mod seeks;
mod tectonic;
mod text;
mod twitter;
mod write_batch;
mod ycsb;

use catalog::Catalog;

pub use csv::CSV_HEADER;
pub use file::{TraceFile, TraceStream};
pub use head::TraceHead;
pub use input::{RecordError, TraceInput};
pub use raw::Endian;
pub use reader::{TraceError, TraceReader, TraceRecords};
pub use record::{TraceOperation, TraceRecord};
pub use recording::{Accesses, Recording};
pub(crate) use text::KIND as TEXT;

/// All trace readers, one for each trace format. The first reader is the default. If the format of a file is not given,
/// lsmbench tries the readers in this order.
pub static TRACES: Catalog<dyn TraceReader> = Catalog::new(
    catalog::origin!(),
    "trace",
    "the format of a file with recorded operations",
    &[
        raw::VARIANT,
        rocksdb::VARIANT,
        redis_aof::VARIANT,
        cachelib::VARIANT,
        csv::VARIANT,
        twitter::VARIANT,
        redis_monitor::VARIANT,
        rocksdb_text::VARIANT,
        arc::VARIANT,
        lirs::VARIANT,
        text::VARIANT,
        tectonic::VARIANT,
        ycsb::VARIANT,
        oracle_general::VARIANT,
    ],
);
