//! Translates the settings of a design into options of `RocksDB`, in the syntax of its options files.
//!
//! lsmbench passes the options as text instead of one function call per option. The text has the same meaning in all
//! versions, but functions change. For example, `rocksdb_filterpolicy_create_bloom_full` has another parameter type in
//! older versions.

use super::overrides::{Overrides, name_of};
use super::params::{CacheKind, Params, Style};
use crate::engine::MISMATCH;
use crate::options::{Codec, EngineOptions, Filters, Log, Reads, ValuePlace};

/// Returns all options in the format of `rocksdb_get_options_from_string`: the options from the settings, replaced or
/// extended by those of the user.
pub(super) fn text(params: &Params, overrides: &Overrides, settings: &EngineOptions) -> String {
    let own: Vec<String> = terms(params, settings).into_iter().flat_map(|(_, options)| options).collect();
    let mut options = vec!["create_if_missing=true".to_owned()];
    options.extend(own.iter().map(|option| overrides.of(name_of(option)).unwrap_or_else(|| option.clone())));
    options.extend(overrides.besides(&own));
    options.join(";")
}

/// Returns one message per setting of the design, with the options of `RocksDB` that correspond to the setting. The
/// messages about settings that `RocksDB` cannot match begin with [`MISMATCH`].
pub(super) fn mapping(params: &Params, overrides: &Overrides, settings: &EngineOptions) -> Vec<String> {
    let terms = terms(params, settings);
    let own: Vec<String> = terms.iter().flat_map(|(_, options)| options.clone()).collect();
    let mut lines: Vec<String> =
        terms.into_iter().map(|(term, options)| line(&term, options, overrides)).collect();
    lines.push(match settings.log {
        Log::None => "WAL mode \"none\": WriteOptions.disableWAL".to_owned(),
        Log::Sync => "WAL mode \"sync\": WriteOptions.sync".to_owned(),
        Log::Buffered => "WAL mode \"buffered\": WriteOptions.sync off".to_owned(),
        Log::Interval { .. } => {
            format!(
                "{MISMATCH}WAL mode \"{}\": RocksDB syncs either every write or no write, so this run syncs no write \
                (WriteOptions.sync off)",
                settings.log
            )
        }
    });
    if let Some(operator) = settings.merge_operator {
        lines
            .push(format!("merge operator {0}: a MergeOperator with the name lsmbench.{0}", operator.name()));
    }
    if params.cache == CacheKind::HyperClock {
        lines.push("block cache: a HyperClockCache with the capacity of the design".to_owned());
    }
    if !params.verify_checksums {
        lines.push(format!(
            "{MISMATCH}checksums: gets and scans of RocksDB verify no checksums (ReadOptions.verify_checksums off)"
        ));
    }
    let further = overrides.besides(&own);
    if !further.is_empty() {
        lines.push(format!("also: {}", further.join(" ")));
    }
    if let Codec::Other(name) = &settings.codec {
        lines.push(format!(
            "{MISMATCH}compression {name}: RocksDB does not have this codec, so it runs without compression"
        ));
    }
    match &settings.values {
        ValuePlace::Inline => {}
        ValuePlace::BlobFiles { .. } => lines.push(format!(
            "{MISMATCH}values: compactions of RocksDB relocate only the values in the oldest quarter of the blob files"
        )),
        ValuePlace::Other(label) => lines.push(format!(
            "{MISMATCH}values {label}: RocksDB does not support this value policy, so it keeps values with their keys"
        )),
    }
    lines.push(format!(
        "{MISMATCH}memtable size: RocksDB counts the arena, lsmbench counts keys and values, so a memtable of RocksDB has fewer entries"
    ));
    lines.push(match overrides.of("max_bytes_for_level_base").or(overrides.of("target_file_size_base")) {
        Some(_) => format!("{MISMATCH}sizes of levels and files: set by engine.options, not by the design"),
        None => format!("{MISMATCH}sizes of levels and files: RocksDB's defaults, 256 MiB and 64 MiB"),
    });
    lines
}

/// Returns the message about the setting `setting`, which corresponds to the `RocksDB` options `options`. If the user
/// overrides one of these options, the message reports a mismatch.
fn line(setting: &str, options: Vec<String>, overrides: &Overrides) -> String {
    let is_replaced = options.iter().any(|option| overrides.of(name_of(option)).is_some());
    let given = |option: String| overrides.of(name_of(&option)).unwrap_or(option);
    let options: Vec<String> = options.into_iter().map(given).collect();
    match is_replaced {
        true => format!("{MISMATCH}{setting}: engine.options changes the options to {}", options.join(" ")),
        false => format!("{setting}: {}", options.join(" ")),
    }
}

/// Returns a description of each setting, and the options of the engine that implement the setting.
fn terms(params: &Params, settings: &EngineOptions) -> Vec<(String, Vec<String>)> {
    let EngineOptions { memtable_bytes, frozen_memtables, background_threads, .. } = *settings;
    let mut terms = vec![
        (
            format!("memtable of {}, at most {frozen_memtables} immutable memtables", bytes(memtable_bytes)),
            vec![
                format!("write_buffer_size={memtable_bytes}"),
                format!("max_write_buffer_number={}", frozen_memtables + 1),
            ],
        ),
        (
            format!(
                "cache of {}, blocks of {}, filters with {} bits per key",
                bytes(settings.cache_bytes),
                bytes(settings.block_bytes),
                settings.filter_bits_per_key
            ),
            vec![table_factory(settings)],
        ),
        (format!("compression {}", settings.codec), compression(&settings.codec)),
        (
            format!("{background_threads} background threads"),
            vec![format!("max_background_jobs={background_threads}")],
        ),
    ];
    if settings.memtable_filter_bytes > 0 {
        let share = settings.memtable_filter_bytes as f64 / memtable_bytes.max(1) as f64;
        terms.push((
            format!("memtable filter of {}", bytes(settings.memtable_filter_bytes)),
            vec![
                format!("memtable_prefix_bloom_size_ratio={share}"),
                "memtable_whole_key_filtering=true".to_owned(),
            ],
        ));
    }
    if params.compaction == Style::Universal {
        terms.push(("levels".to_owned(), vec!["compaction_style=kCompactionStyleUniversal".to_owned()]));
    }
    if let ValuePlace::BlobFiles { threshold, file_bytes, stale_share } = settings.values {
        terms.push((
            format!("values {}", settings.values),
            vec![
                "enable_blob_files=true".to_owned(),
                format!("min_blob_size={threshold}"),
                format!("blob_file_size={file_bytes}"),
                "enable_blob_garbage_collection=true".to_owned(),
                format!("blob_garbage_collection_force_threshold={stale_share}"),
            ],
        ));
    }
    let (reads, options): (&str, &[&str]) = match settings.reads {
        Reads::Copied => ("SSTables read by system calls", &["allow_mmap_reads=false"]),
        Reads::Mapped => ("memory-mapped SSTables", &["allow_mmap_reads=true"]),
        Reads::Direct => {
            ("direct I/O", &["use_direct_reads=true", "use_direct_io_for_flush_and_compaction=true"])
        }
    };
    terms.push((reads.to_owned(), options.iter().map(ToString::to_string).collect()));
    terms
}

fn table_factory(settings: &EngineOptions) -> String {
    let mut options = vec![match settings.cache_bytes {
        0 => "no_block_cache=true".to_owned(),
        bytes => format!("block_cache={bytes}"),
    }];
    options.push(format!("block_size={}", settings.block_bytes));
    options.push(format!("block_restart_interval={}", settings.restart_interval));
    if settings.filter_bits_per_key > 0.0 {
        options.push(match settings.filters {
            Filters::Bloom | Filters::Other(_) => {
                format!("filter_policy=bloomfilter:{}:false", settings.filter_bits_per_key)
            }
            Filters::Ribbon => {
                format!("filter_policy=ribbonfilter:{:.3}:-1", bloom_equivalent_bits(settings))
            }
        });
    }
    format!("block_based_table_factory={{{}}}", options.join(";"))
}

/// Returns the bits per key to request from `RocksDB`, so that its ribbon filter has about the bits per key of the
/// settings. `RocksDB` expects the bits of a Bloom filter with the same false-positive rate, and a ribbon filter needs
/// about 30 % fewer bits.
///
/// Source: the header `filter_policy.h` of `RocksDB`, at `NewRibbonFilterPolicy`.
pub(super) fn bloom_equivalent_bits(settings: &EngineOptions) -> f64 {
    settings.filter_bits_per_key / 0.7
}

fn compression(codec: &Codec) -> Vec<String> {
    let kind = match codec {
        Codec::None | Codec::Other(_) => "kNoCompression",
        Codec::Lz4 => "kLZ4Compression",
        Codec::Snappy => "kSnappyCompression",
        Codec::Zstd { .. } => "kZSTD",
    };
    let mut options = vec![format!("compression={kind}")];
    if let Codec::Zstd { level } = codec {
        // Window bits, level, strategy, bytes of a dictionary.
        options.push(format!("compression_opts=-14:{level}:0:0"));
    }
    options
}

fn bytes(bytes: u64) -> String {
    types::quantity::format_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_becomes_options_and_lines() {
        let settings = EngineOptions {
            codec: Codec::Zstd { level: 3 },
            reads: Reads::Direct,
            memtable_filter_bytes: 256 << 10,
            ..EngineOptions::default()
        };
        let params = Params::default();
        let given = Overrides::parse("num_levels=5").unwrap();
        assert_eq!(
            text(&params, &given, &settings),
            "create_if_missing=true;write_buffer_size=16777216;max_write_buffer_number=3;\
             block_based_table_factory={block_cache=67108864;block_size=4096;block_restart_interval=8;\
             filter_policy=bloomfilter:10:false};compression=kZSTD;compression_opts=-14:3:0:0;\
             max_background_jobs=2;memtable_prefix_bloom_size_ratio=0.015625;memtable_whole_key_filtering=true;\
             use_direct_reads=true;use_direct_io_for_flush_and_compaction=true;num_levels=5"
        );
        let lines = mapping(&params, &given, &settings);
        assert_eq!(
            lines[0],
            "memtable of 16MiB, at most 2 immutable memtables: write_buffer_size=16777216 max_write_buffer_number=3"
        );
        assert!(lines.iter().any(|line| line == "also: num_levels=5"), "{lines:?}");
    }

    #[test]
    fn values_apart_become_blob_files() {
        let values = ValuePlace::BlobFiles { threshold: 512, file_bytes: 1 << 26, stale_share: 0.5 };
        let settings = EngineOptions { values, ..EngineOptions::default() };
        let text = text(&Params::default(), &Overrides::default(), &settings);
        assert!(
            text.contains(
                ";enable_blob_files=true;min_blob_size=512;blob_file_size=67108864;\
                 enable_blob_garbage_collection=true;blob_garbage_collection_force_threshold=0.5;"
            ),
            "{text}"
        );
        let lines = mapping(&Params::default(), &Overrides::default(), &settings);
        assert!(lines.iter().any(|line| line.contains("oldest quarter")), "{lines:?}");
    }

    #[test]
    fn a_ribbon_filter_has_as_many_bits() {
        let settings =
            EngineOptions { filters: Filters::Ribbon, filter_bits_per_key: 7.0, ..EngineOptions::default() };
        let text = text(&Params::default(), &Overrides::default(), &settings);
        assert!(text.contains("filter_policy=ribbonfilter:10.000:-1"), "{text}");
    }

    #[test]
    fn what_the_user_gives_stands_in_its_line_and_once_among_the_options() {
        let given = Overrides::parse("write_buffer_size=64M;num_levels=5").unwrap();
        let (params, settings) = (Params::default(), EngineOptions::default());
        let text = text(&params, &given, &settings);
        assert_eq!(text.matches("write_buffer_size=").count(), 1, "{text}");
        assert!(text.contains(";write_buffer_size=64M;") && text.ends_with(";num_levels=5"), "{text}");
        let lines = mapping(&params, &given, &settings);
        let expected = "mismatch: memtable of 16MiB, at most 2 immutable memtables: engine.options changes the options to \
                        write_buffer_size=64M max_write_buffer_number=3";
        assert_eq!(lines[0], expected);
        assert!(lines.iter().any(|line| line == "also: num_levels=5"), "{lines:?}");
    }

    #[test]
    fn what_cannot_be_equal_is_named() {
        let settings = EngineOptions {
            codec: Codec::Other("fsst".to_owned()),
            log: Log::Interval { period_ns: 1_000_000 },
            ..EngineOptions::default()
        };
        let lines = mapping(&Params::default(), &Overrides::default(), &settings);
        for part in ["mismatch: compression fsst", "mismatch: WAL mode \"interval 1ms\""] {
            assert!(lines.iter().any(|line| line.starts_with(part)), "{part}: {lines:?}");
        }
    }
}
