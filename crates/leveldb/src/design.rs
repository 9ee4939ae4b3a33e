//! The design of a store: a design file or LevelDB's default options, changed by the options of the calling program.

use std::path::Path;
use std::sync::LazyLock;

use toml::{Table, Value};
use tree::Design;

use crate::failure::Failure;
use crate::settings::Settings;

/// The environment variable that names a design file.
const VARIABLE: &str = "LSMBENCH_DESIGN";

/// Registers the component variants of published systems, so that a design file can use them.
static STUDY: LazyLock<Result<(), String>> =
    LazyLock::new(|| study::register().map_err(|error| error.to_string()));

/// Returns the design of a store that the calling program opens with the options `settings`.
pub(crate) fn design_of(settings: &Settings) -> Result<Design, Failure> {
    STUDY.clone().map_err(Failure::invalid)?;
    let design = match std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        Some(path) => experiment::read_design(Path::new(&path))
            .map_err(|problem| Failure::invalid(format!("{VARIABLE}: {problem}")))?,
        None => leveldb_like(),
    };
    settings.apply(&design)
}

/// Returns the design that corresponds to LevelDB's default options.
fn leveldb_like() -> Design {
    let file: Table =
        include_str!("leveldb-like.toml").parse().expect("the file leveldb-like.toml must be valid TOML");
    let design = file
        .get("design")
        .and_then(Value::as_table)
        .expect("the file leveldb-like.toml must have a table [design]");
    Design::default().with(design).expect("the design in the file leveldb-like.toml must be valid")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::settings::FilterChoice;
    use crate::shared_cache::SharedCache;

    fn changed(settings: &Settings) -> Design {
        settings.apply(&leveldb_like()).unwrap()
    }

    #[test]
    fn options_replace_the_matching_keys_of_the_design() {
        assert_eq!(changed(&Settings::default()), leveldb_like());
        let design = changed(&Settings {
            write_buffer_size: Some(100_000),
            block_size: Some(1024),
            block_restart_interval: Some(8),
            max_file_size: Some(3 << 20),
            compression: Some(0),
            paranoid_checks: Some(true),
            filter: Some(FilterChoice::Bloom(12)),
            cache: Some(Arc::new(SharedCache::new(1 << 20))),
            ..Settings::default()
        });
        let expected = "memtable.capacity = \"100000B\"\nblock.size = \"1KiB\"\nblock.restart_interval = 8\n\
                        table.capacity = \"3MiB\"\ncompression = \"none\"\nblock.verify = \"always\"\n\
                        bloom = \"standard(bits_per_key=12)\"\ncache.capacity = \"1MiB\"";
        assert_eq!(design, leveldb_like().with(&expected.parse().unwrap()).unwrap());
    }

    #[test]
    fn values_outside_of_the_limits_of_leveldb_become_the_nearest_limit() {
        let of = |bytes| {
            let design = changed(&Settings {
                write_buffer_size: Some(bytes),
                max_file_size: Some(bytes),
                ..Settings::default()
            });
            (design.memtable_capacity.0, design.options.table.capacity.0)
        };
        assert_eq!(of(0), (64 << 10, 1 << 20));
        assert_eq!(of(usize::MAX), (1 << 30, 1 << 30));
    }

    #[test]
    fn a_variant_of_the_design_keeps_its_kind_if_it_has_the_parameter() {
        let settings = Settings {
            filter: Some(FilterChoice::Bloom(7)),
            cache: Some(Arc::new(SharedCache::new(1 << 20))),
            ..Settings::default()
        };
        let base = |text: &str| Design::default().with(&text.parse().unwrap()).unwrap();
        let kept = settings.apply(&base("bloom = \"ribbon\"\ncache = \"sieve\"")).unwrap();
        assert_eq!(kept.choice("bloom").label(), "ribbon(bits_per_key=7)");
        assert_eq!(kept.choice("cache").kind(), "sieve");
        let replaced = settings.apply(&base("bloom = \"none\"\ncache = \"none\"")).unwrap();
        assert_eq!(replaced.choice("bloom").label(), "standard(bits_per_key=7)");
        assert_eq!(replaced.choice("cache").kind(), "lru");
        let none = Settings {
            filter: Some(FilterChoice::None),
            cache: Some(Arc::new(SharedCache::new(0))),
            ..Settings::default()
        };
        let none = none.apply(&base("bloom = \"ribbon\"")).unwrap();
        assert_eq!((none.choice("bloom").kind(), none.choice("cache").kind()), ("none", "none"));
    }

    #[test]
    fn values_that_no_tree_has_are_errors() {
        let failure = |settings: Settings| settings.apply(&leveldb_like()).unwrap_err().to_string();
        let codec = failure(Settings { compression: Some(7), ..Settings::default() });
        assert_eq!(
            codec,
            "Invalid argument: unknown compression 7. Valid: 0 (none), 1 (Snappy), 2 (Zstandard)"
        );
        let size = failure(Settings { block_size: Some(1 << 20), ..Settings::default() });
        assert_eq!(size, "Invalid argument: block.size: must be 512 B to 64 KiB, not 1MiB");
        let interval = failure(Settings { block_restart_interval: Some(0), ..Settings::default() });
        assert!(interval.starts_with("Invalid argument: block.restart_interval: "), "{interval}");
    }
}
