//! Settings of a design that have an effect only together with other settings.

use engines::{EngineOptions, Log};
use toml::Value;
use tree::{BackgroundThreads, Design, InlineWork};

/// A setting that a design changes from its default, and that has an effect only together with other settings.
pub(super) struct ConditionalSetting {
    /// The path of the setting in the design, such as `stall.reserve_wal`.
    pub(super) path: &'static str,
    /// The reason why the setting has no effect, and what to change. `None` if the setting has an effect.
    pub(super) idle: Option<String>,
}

/// Returns the settings that a design changes from their defaults, and that have an effect only together with other
/// settings. `is_counted` is true if the tree runs in counted mode.
pub(super) fn conditional_settings(design: &Design, is_counted: bool) -> Vec<ConditionalSetting> {
    let mut settings = Vec::new();
    if design.options.threads.compaction_nice > 0 {
        let idle = idle_niceness(design, is_counted).map(str::to_owned);
        settings.push(ConditionalSetting { path: "threads.compaction_nice", idle });
    }
    if design.options.stall.reserve_wal {
        settings.push(ConditionalSetting {
            path: "stall.reserve_wal",
            idle: idle_reservation(design, is_counted),
        });
    }
    if design.choice("bloom").kind() != bloom::CATALOG.baseline().kind() {
        settings.push(ConditionalSetting { path: "bloom", idle: idle_filters(design) });
    }
    settings
}

/// Returns the reason why `threads.compaction_nice` has no effect: no thread runs only compactions. Returns `None` if
/// the setting has an effect.
fn idle_niceness(design: &Design, is_counted: bool) -> Option<&'static str> {
    let threads = &design.options.threads;
    match (threads.inline, threads.background) {
        _ if is_counted => Some(
            "in counted mode, the threads that write also run the compactions; use trials.mode = \"timed\"",
        ),
        (InlineWork::All, _) => Some(
            "with threads.inline = \"all\", the threads that write also run the compactions; use inline = \
             \"none\"",
        ),
        (InlineWork::None, BackgroundThreads::Shared) => Some(
            "with threads.background = \"shared\", one thread runs flushes and compactions; use background = \
             \"apart\"",
        ),
        _ => None,
    }
}

/// Returns the reason why `stall.reserve_wal` has no effect: no thread reserves space for WALs. Returns `None` if the
/// setting has an effect.
fn idle_reservation(design: &Design, is_counted: bool) -> Option<String> {
    let [wal, storage] = ["wal", "storage"].map(|axis| design.choice(axis));
    let is_mapped = storage.params().get("log").and_then(Value::as_str) == Some("mapped");
    match (EngineOptions::of(design).log, design.options.threads.inline) {
        _ if is_counted => {
            Some("in counted mode, no thread reserves space for WALs; use trials.mode = \"timed\"".to_owned())
        }
        (_, InlineWork::Flush | InlineWork::All) => Some(
            "without a flush thread, no thread reserves space for WALs; use threads.inline = \"none\""
                .to_owned(),
        ),
        (Log::None, _) => Some(format!("wal = \"{wal}\" writes no WAL; use wal = \"buffered\"")),
        (Log::Sync | Log::Interval { .. }, _) => Some(format!(
            "lsmbench reserves space only for a WAL that it does not sync, but wal = \"{wal}\" syncs the \
             WAL; use wal = \"buffered\""
        )),
        (Log::Buffered, InlineWork::None) => (!is_mapped).then(|| {
            format!(
                "storage = \"{storage}\" does not map the WAL into memory; use a storage with log = \
                 \"mapped\", such as \"mmap\""
            )
        }),
    }
}

/// Returns the reason why the filters of SSTables have no effect: gets use an index of all keys instead. Returns `None`
/// if gets or scans may use the filters.
fn idle_filters(design: &Design) -> Option<String> {
    let (axis, culling) = design.index_of_all_runs()?;
    let filters = bloom::CATALOG.build(design.choice("bloom")).ok()?;
    // Filters that are built from keys may also answer scans.
    (axis == "culling" && !filters.needs_keys()).then(|| {
        format!(
            "with culling = \"{culling}\", gets use an index of all keys instead of the filters of \
             SSTables, so the filters only take memory; use bloom = \"none\""
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The conditional settings of a design: each path, and whether the setting has an effect.
    fn settings(design: &str, is_counted: bool) -> Vec<(&'static str, bool)> {
        let design = Design::default().with(&design.parse().unwrap()).unwrap();
        let settings = conditional_settings(&design, is_counted).into_iter();
        settings.map(|setting| (setting.path, setting.idle.is_none())).collect()
    }

    #[test]
    fn settings_without_effect_are_found() {
        let [nice, reserve] = ["threads.compaction_nice", "stall.reserve_wal"];
        for (design, path, has_effect) in [
            ("threads = { compaction_nice = 5 }", nice, true),
            ("threads = { compaction_nice = 5, inline = \"flush\", background = \"shared\" }", nice, true),
            ("threads = { compaction_nice = 5, background = \"shared\" }", nice, false),
            ("threads = { compaction_nice = 5, inline = \"all\" }", nice, false),
            ("stall = { reserve_wal = true }\nwal = \"buffered\"\nstorage = \"mmap\"", reserve, true),
            (
                "stall = { reserve_wal = true }\nstorage = { kind = \"mmap\", log = \"write\" }",
                reserve,
                false,
            ),
            ("stall = { reserve_wal = true }\nwal = \"buffered\"\nstorage = \"memory\"", reserve, false),
            ("stall = { reserve_wal = true }\nwal = \"sync\"", reserve, false),
            ("stall = { reserve_wal = true }\nwal = \"none\"", reserve, false),
            ("stall = { reserve_wal = true }\nthreads = { inline = \"flush\" }", reserve, false),
        ] {
            let design = format!("bloom = \"none\"\n{design}");
            assert_eq!(settings(&design, false), [(path, has_effect)], "{design}");
            assert_eq!(settings(&design, true), [(path, false)], "{design}");
        }
        assert_eq!(settings("bloom = \"none\"", false), []);
        assert_eq!(settings("bloom = \"blocked\"", false), [("bloom", true)]);
        assert_eq!(settings("bloom = \"blocked\"\nculling = \"chucky\"", false), [("bloom", false)]);
        assert_eq!(settings("bloom = \"surf\"\nculling = \"chucky\"", false), [("bloom", true)]);
    }
}
