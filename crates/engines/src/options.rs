//! Translates a design into the settings for which other engines have options.

use std::fmt;

use catalog::Choice;
use tree::{Design, MergeOperator};
use types::quantity::{parse_bytes, parse_nanoseconds};

/// One setting that engines can have: the path of its design option, its name in messages, and a function that returns
/// whether two designs differ in the setting.
type Setting = (&'static [&'static str], &'static str, fn(&EngineOptions, &EngineOptions) -> bool);

/// All settings by which the options of two designs can differ. A path to a component, such as `bloom`, covers the kind
/// of the component and all of its parameters.
const SETTINGS: [Setting; 14] = [
    (&["memtable", "capacity"], "memtable.capacity", |a, b| a.memtable_bytes != b.memtable_bytes),
    (&["memtable", "filter"], "memtable.filter", |a, b| a.memtable_filter_bytes != b.memtable_filter_bytes),
    (&["stall", "frozen_memtables"], "stall.frozen_memtables", |a, b| {
        a.frozen_memtables != b.frozen_memtables
    }),
    (&["cache"], "cache.capacity", |a, b| a.cache_bytes != b.cache_bytes),
    (&["bloom"], "bloom.bits_per_key", |a, b| {
        a.filter_bits_per_key.total_cmp(&b.filter_bits_per_key).is_ne()
    }),
    (&["bloom"], "bloom.kind", |a, b| a.filters != b.filters),
    (&["block", "size"], "block.size", |a, b| a.block_bytes != b.block_bytes),
    (&["block", "restart_interval"], "block.restart_interval", |a, b| {
        a.restart_interval != b.restart_interval
    }),
    (&["compression"], "compression", |a, b| a.codec != b.codec),
    (&["wal"], "wal", |a, b| a.log != b.log),
    (&["merge_operator"], "merge_operator", |a, b| a.merge_operator != b.merge_operator),
    (&["threads", "max_subcompactions"], "threads.max_subcompactions", |a, b| {
        a.background_threads != b.background_threads
    }),
    (&["storage"], "storage", |a, b| a.reads != b.reads),
    (&["values"], "values", |a, b| a.values != b.values),
];

/// The settings of a design for which other engines have options.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineOptions {
    /// The size in bytes at which a memtable becomes immutable.
    pub memtable_bytes: u64,
    /// The size in bytes of the filter of each memtable. 0 means no filter.
    pub memtable_filter_bytes: u64,
    /// The number of immutable memtables that may wait for their flush before writers wait.
    pub frozen_memtables: u64,
    /// The capacity of the block cache in bytes. 0 means no cache.
    pub cache_bytes: u64,
    /// The bits per key of the filters of SSTables. 0 means no filters.
    pub filter_bits_per_key: f64,
    /// The kind of filters of SSTables.
    pub filters: Filters,
    /// The size of a block before compression, in bytes.
    pub block_bytes: u64,
    /// Restart interval: the number of entries of a block from one restart point to the next.
    pub restart_interval: u32,
    /// The compression of blocks.
    pub codec: Codec,
    /// The WAL mode: whether there is a WAL, and when it is synced.
    pub log: Log,
    /// The number of background threads that flush and compact.
    pub background_threads: u32,
    /// The method by which the engine reads files.
    pub reads: Reads,
    /// Where values are stored: in SSTables or in blob files.
    pub values: ValuePlace,
    /// The merge operator. `None` if the design has none.
    pub merge_operator: Option<MergeOperator>,
}

/// A kind of filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filters {
    /// Bloom filters, of the variant that the engine uses.
    Bloom,
    /// Ribbon filters. With the same bits per key, ribbon filters have fewer false positives than Bloom filters, but
    /// their lookups take more CPU time.
    Ribbon,
    /// A filter that only the tree of lsmbench has, such as `xor`.
    Other(String),
}

/// The method by which an engine reads files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Reads through system calls, which copy from the page cache of the kernel.
    Copied,
    /// Reads through memory maps.
    Mapped,
    /// Reads that bypass the page cache of the kernel.
    Direct,
}

impl Reads {
    /// Whether the kernel may read ahead: read pages next to the page that a get needs. Only designs with memory maps
    /// allow it. All other designs are meant for data larger than memory, where such additional reads waste I/O.
    pub(crate) fn has_readahead(self) -> bool {
        self == Self::Mapped
    }
}

/// Where values are stored.
#[derive(Clone, Debug, PartialEq)]
pub enum ValuePlace {
    /// Values are in SSTables, next to their keys.
    Inline,
    /// Large values are in blob files. Compactions collect the stale values of these files.
    BlobFiles {
        /// The size in bytes from which (inclusive) a value is stored in a blob file.
        threshold: u64,
        /// The size in bytes at which a blob file is complete, so that the next value begins another file.
        file_bytes: u64,
        /// The share of stale bytes in a blob file, from 0 to 1, at which compactions relocate its live values.
        stale_share: f64,
    },
    /// Another place for values, which only the tree of lsmbench has, such as a value log.
    Other(String),
}

/// The compression of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Codec {
    /// No compression.
    None,
    /// LZ4.
    Lz4,
    /// Snappy.
    Snappy,
    /// Zstandard.
    Zstd {
        /// The compression level.
        level: i32,
    },
    /// A codec that only the tree of lsmbench has.
    Other(String),
}

/// A WAL mode, which determines the failures that an acknowledged write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// The engine writes no WAL.
    None,
    /// WAL records reach the kernel before the write is acknowledged, so they survive the end of the process.
    Buffered,
    /// A write survives a power failure, because it is synced before it is acknowledged.
    Sync,
    /// WAL records are synced at intervals. A power failure may lose the writes since the last sync.
    Interval {
        /// The interval between syncs, in nanoseconds.
        period_ns: u64,
    },
}

impl EngineOptions {
    /// Returns the settings of a design.
    pub fn of(design: &Design) -> Self {
        let (cache, bloom, codec, log, values) = (
            design.choice("cache"),
            design.choice("bloom"),
            design.choice("compression"),
            design.choice("wal"),
            design.choice("values"),
        );
        let number = |choice: &Choice, key: &str| {
            let value = choice.params().get(key)?;
            value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
        };
        let text = |choice: &Choice, key: &str| choice.params().get(key)?.as_str().map(str::to_owned);
        let bytes = |choice: &Choice, key: &str| {
            text(choice, key).and_then(|text| parse_bytes(&text).ok()).unwrap_or(0)
        };
        let options = &design.options;
        // Filters without `bits_per_key` have fingerprints with a fixed number of bits.
        let own_bits_per_key = number(bloom, "bits_per_key");
        let bits_per_key = own_bits_per_key.or_else(|| design.filter_bits_per_key());
        Self {
            memtable_bytes: design.memtable_capacity.0,
            memtable_filter_bytes: design.memtable_filter.map_or(0, |filter| filter.0),
            frozen_memtables: options.stall.frozen_memtables as u64,
            cache_bytes: bytes(cache, "capacity"),
            filter_bits_per_key: bits_per_key.unwrap_or(0.0),
            filters: match bloom.kind() {
                "ribbon" => Filters::Ribbon,
                kind if own_bits_per_key.is_none() && bits_per_key.is_some() => {
                    Filters::Other(kind.to_owned())
                }
                _ => Filters::Bloom,
            },
            block_bytes: options.block.size.0,
            restart_interval: options.block.restart_interval,
            codec: match codec.kind() {
                "none" => Codec::None,
                "lz4" => Codec::Lz4,
                "snappy" => Codec::Snappy,
                "zstd" => Codec::Zstd { level: number(codec, "level").unwrap_or(3.0) as i32 },
                _ => Codec::Other(codec.label()),
            },
            log: match log.kind() {
                "none" => Log::None,
                "sync" | "group" => Log::Sync,
                "interval" => Log::Interval {
                    period_ns: text(log, "period")
                        .and_then(|text| parse_nanoseconds(&text).ok())
                        .unwrap_or(0),
                },
                _ => Log::Buffered,
            },
            background_threads: 1 + u32::try_from(options.threads.max_subcompactions).unwrap_or(u32::MAX - 1),
            reads: match design.choice("storage").kind() {
                "mmap" => Reads::Mapped,
                "direct" => Reads::Direct,
                _ => Reads::Copied,
            },
            values: match values.kind() {
                "inline" => ValuePlace::Inline,
                "blob-files" => ValuePlace::BlobFiles {
                    threshold: bytes(values, "threshold"),
                    file_bytes: bytes(values, "file_size"),
                    stale_share: number(values, "stale_share").unwrap_or(1.0),
                },
                _ => ValuePlace::Other(values.label()),
            },
            merge_operator: options.merge_operator,
        }
    }

    /// Whether the design option at `path` determines one of the settings in [`EngineOptions`]. Such an option also
    /// affects engines other than the tree of lsmbench.
    pub fn depend_on(path: &[&str]) -> bool {
        SETTINGS.iter().any(|(setting, ..)| path.starts_with(setting))
    }

    /// Returns the names of the settings that differ between `self` and `other`.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let differing = SETTINGS.iter().filter(|(.., differ)| differ(self, other));
        differing.map(|(_, name, _)| (*name).to_owned()).collect()
    }

    /// Returns the total size of all memtables at which writers wait, in bytes. The total includes the mutable
    /// memtable.
    pub(crate) fn all_memtable_bytes(&self) -> u64 {
        self.memtable_bytes.saturating_mul(self.frozen_memtables.saturating_add(1))
    }
}

impl Default for EngineOptions {
    /// Returns the settings of the default design.
    fn default() -> Self {
        Self::of(&Design::default())
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

impl fmt::Display for ValuePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline => f.write_str("inline"),
            Self::BlobFiles { threshold, .. } => {
                write!(f, "in blob files from {}", types::quantity::format_bytes(*threshold))
            }
            Self::Other(label) => f.write_str(label),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> EngineOptions {
        EngineOptions::of(&Design::default().with(&text.parse().unwrap()).unwrap())
    }

    #[test]
    fn a_design_has_the_settings_that_engines_have_options_for() {
        let usual = of("");
        assert_eq!(
            (usual.memtable_bytes, usual.cache_bytes, usual.block_bytes),
            (16 << 20, 64 << 20, 4 << 10)
        );
        assert_eq!(
            (usual.codec.clone(), usual.log, usual.reads),
            (Codec::None, Log::Buffered, Reads::Mapped)
        );
        assert_eq!((usual.memtable_filter_bytes, usual.frozen_memtables), (0, 2));
        assert_eq!((usual.restart_interval, usual.background_threads), (8, 2));
        assert_eq!((usual.filter_bits_per_key, &usual.filters), (10.0, &Filters::Bloom));
        assert_eq!((usual.values.clone(), usual.merge_operator), (ValuePlace::Inline, None));
        let other = of(
            "memtable.capacity = \"1MiB\"\nmemtable.filter = \"16KiB\"\ncache = \"none\"\nbloom = \"none\"\n\
             block.size = \"8KiB\"\ncompression = \"zstd(level=7)\"\n\
             wal = { kind = \"interval\", period = \"5ms\" }\nstorage = \"direct\"\nthreads.max_subcompactions = 3",
        );
        let expected = EngineOptions {
            memtable_bytes: 1 << 20,
            memtable_filter_bytes: 16 << 10,
            cache_bytes: 0,
            filter_bits_per_key: 0.0,
            block_bytes: 8 << 10,
            codec: Codec::Zstd { level: 7 },
            log: Log::Interval { period_ns: 5_000_000 },
            background_threads: 4,
            reads: Reads::Direct,
            ..EngineOptions::default()
        };
        assert_eq!(other, expected);
        assert_eq!(of("compression = \"delta\"").codec, Codec::Other("delta".to_owned()));
        let ribbon = of("bloom = \"ribbon(bits_per_key=10)\"");
        assert_eq!(ribbon, EngineOptions { filters: Filters::Ribbon, ..EngineOptions::default() });
        let xor = of("bloom = \"xor(fingerprint_bits=8)\"");
        assert_eq!(xor.filters, Filters::Other("xor".to_owned()));
        assert!((9.8..9.9).contains(&xor.filter_bits_per_key), "{}", xor.filter_bits_per_key);
        assert_eq!(of("bloom = \"none\"").filters, Filters::Bloom);
        assert_eq!(usual.differences(&ribbon), ["bloom.kind"]);
        let blobs = of("values = \"blob-files(threshold=2KiB, file_size=1MiB, stale_share=0.25)\"");
        let values = ValuePlace::BlobFiles { threshold: 2048, file_bytes: 1 << 20, stale_share: 0.25 };
        assert_eq!(blobs, EngineOptions { values, ..EngineOptions::default() });
        assert_eq!(usual.differences(&blobs), ["values"]);
        assert!(matches!(of("values = \"value-log\"").values, ValuePlace::Other(_)));
        assert_eq!(usual.differences(&usual), Vec::<String>::new());
        assert_eq!(usual.differences(&other).len(), 9);
    }

    #[test]
    fn a_path_is_a_setting_if_some_engine_has_an_option_for_it() {
        let depend_on = |path: &[&str]| EngineOptions::depend_on(path);
        assert!(depend_on(&["bloom", "bits_per_key"]) && depend_on(&["wal"]) && !depend_on(&["memtable"]));
    }
}
