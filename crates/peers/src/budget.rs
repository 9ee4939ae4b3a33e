//! What every engine of a comparison is given: the terms that a design sets, as plain data.

use std::fmt;

/// The terms of a design that other engines have options for.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Bytes at which a memtable is frozen.
    pub memtable_bytes: u64,
    /// Bytes of the filter in front of each memtable; 0 is none.
    pub memtable_filter_bytes: u64,
    /// Frozen memtables that may wait for their flush before writers wait.
    pub frozen_memtables: u64,
    /// Bytes of the block cache.
    pub cache_bytes: u64,
    /// Bits per key of filters; 0 is no filters.
    pub filter_bits_per_key: f64,
    /// What filters are, where an engine has a choice.
    pub filters: Filters,
    /// Bytes of a block before compression.
    pub block_bytes: u64,
    /// Every how many entries of a block a key is stored whole.
    pub restart_interval: u32,
    /// How blocks are compressed.
    pub codec: Codec,
    /// What a write survives.
    pub log: Log,
    /// Threads that flush and compact.
    pub background_threads: u32,
    /// How files are read.
    pub reads: Reads,
}

/// What filters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filters {
    /// Bloom filters of whatever kind the engine has.
    Bloom,
    /// Ribbon filters, which let fewer keys through at as many bits and take longer.
    Ribbon,
}

/// How files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// By system calls that copy out of the cache of the operating system.
    Copied,
    /// Through memory maps.
    Mapped,
    /// Past the cache of the operating system.
    Direct,
}

/// How blocks are compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    None,
    /// LZ4.
    Lz4,
    /// Snappy.
    Snappy,
    /// Zstandard.
    Zstd {
        /// Effort.
        level: i32,
    },
    /// A codec of our own tree that no other engine has.
    Other(String),
}

/// What a write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// Nothing: there is no log.
    None,
    /// The end of the process: records reach the operating system.
    Buffered,
    /// A power failure: a write is synced before it is acknowledged.
    Sync,
    /// A power failure, but for the last writes: records are synced every so often.
    Interval {
        /// How often, in nanoseconds.
        period_ns: u64,
    },
}

impl Budget {
    /// Bytes of all memtables at which writers wait: of the one that is written and those that are frozen.
    pub(crate) fn all_memtable_bytes(&self) -> u64 {
        self.memtable_bytes.saturating_mul(self.frozen_memtables.saturating_add(1))
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            memtable_bytes: 16 << 20,
            memtable_filter_bytes: 0,
            frozen_memtables: 2,
            cache_bytes: 64 << 20,
            filter_bits_per_key: 10.0,
            filters: Filters::Bloom,
            block_bytes: 4 << 10,
            restart_interval: 8,
            codec: Codec::None,
            log: Log::Buffered,
            background_threads: 2,
            reads: Reads::Mapped,
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Lz4 => f.write_str("lz4"),
            Self::Snappy => f.write_str("snappy"),
            Self::Zstd { level } => write!(f, "zstd level {level}"),
            Self::Other(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Buffered => f.write_str("buffered"),
            Self::Sync => f.write_str("sync"),
            Self::Interval { period_ns } => {
                write!(f, "interval {}", types::quantity::format_nanoseconds(*period_ns))
            }
        }
    }
}
