//! Describes the engine of a configuration, for the output at the start of a run and for the manifest.

use engines::{EngineOptions, Identity, MISMATCH};
use experiment::{Cell, engine, engine_label, in_memory};
use results::EngineInfo;

/// Describes the engine of a configuration, such as RocksDB, for the manifest. Returns `None` for the tree of lsmbench,
/// because the manifest already contains its design and its build.
pub fn engine_info(cell: &Cell) -> Option<EngineInfo> {
    let engine = engine(&cell.engine);
    let mapping = engine.mapping(&EngineOptions::of(&cell.design));
    if engine.reads_whole_design() && mapping.is_empty() {
        return None;
    }
    // Configurations whose engine is not installed were skipped. If an engine was removed since then, its identity is
    // unknown.
    let Identity { version, library, doubts } = engine.identify().unwrap_or_default();
    Some(EngineInfo {
        name: engine_label(&cell.engine),
        version,
        library: library.map(|path| path.to_string_lossy().into_owned()),
        doubts,
        mapping,
    })
}

/// Returns which writes of a configuration survive `kill -9`, as text for the manifest. Returns `None` in these cases:
/// * The configuration runs a component without a tree, so there is no store.
/// * The files of the store are in memory.
/// * A server process holds the store.
pub(crate) fn survival(cell: &Cell) -> Option<String> {
    cell.task.workload()?;
    let engine = engine(&cell.engine);
    if engine.reads_whole_design() && in_memory(&cell.design) {
        return None;
    }
    engine.survival(EngineOptions::of(&cell.design).log).map(|survival| survival.to_string())
}

/// Describes an engine for the output at the start of a run. The lines contain the version, the library, and the engine
/// options that correspond to the settings of the design.
pub fn introduction(info: &EngineInfo) -> Vec<String> {
    let version =
        info.version.as_deref().unwrap_or("the version of the engine is known after the first trial");
    let library = info.library.as_ref().map_or_else(String::new, |library| format!(", {library}"));
    let (mismatches, equal): (Vec<&String>, Vec<&String>) =
        info.mapping.iter().partition(|line| line.starts_with(MISMATCH));
    let mut lines = vec![format!("engine {}: {version}{library}", info.name)];
    lines.extend(equal.into_iter().chain(mismatches).map(|line| format!("  {line}")));
    lines
}
