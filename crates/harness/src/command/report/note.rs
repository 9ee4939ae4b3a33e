//! Notes of a report about a run: the identity of the run, its engines other than lsmbench, and its warnings.

use experiment::ENGINE;
use report::{EngineNote, RunNote};
use results::{EngineInfo, MISMATCH, Manifest};

use super::trimmed::{left_out, warnings};

/// Returns the notes about the run that a manifest describes.
pub(super) fn note(manifest: &Manifest) -> RunNote {
    RunNote {
        experiment: manifest.experiment.clone(),
        run_id: manifest.run_id.clone(),
        is_quick: manifest.quick,
        trials: manifest.trials,
        mode: manifest.mode.clone(),
        cpu: manifest.machine.cpu.clone(),
        cores: manifest.machine.cores,
        engines: engines(manifest),
        left_out: missing(manifest),
        warnings: warnings(manifest),
    }
}

/// Returns the engines other than lsmbench in a run. Each engine occurs once, with the mismatches (settings of the
/// design that the engine cannot match) of all its configurations.
fn engines(manifest: &Manifest) -> Vec<EngineNote> {
    let mut notes: Vec<EngineNote> = Vec::new();
    for info in manifest.cells.iter().filter_map(|cell| cell.engine.as_ref()) {
        let EngineInfo { name, version, library, mapping, .. } = info;
        let at = notes.iter().position(|note| note.name == *name).unwrap_or_else(|| {
            let (version, library) = (version.clone(), library.clone());
            notes.push(EngineNote { name: name.clone(), version, library, unequal: Vec::new() });
            notes.len() - 1
        });
        let note = &mut notes[at];
        // Some engines report their version only when they run, so a configuration that did not run has no version.
        note.version = note.version.take().or_else(|| version.clone());
        for term in mapping.iter().filter_map(|line| line.strip_prefix(MISMATCH)) {
            if !note.unequal.iter().any(|known| known == term) {
                note.unequal.push(term.to_owned());
            }
        }
    }
    notes
}

/// Returns the engines that a run skipped. Each engine occurs once, with the reason.
fn missing(manifest: &Manifest) -> Vec<String> {
    let mut missing = Vec::new();
    for left in left_out(manifest) {
        let others = manifest.swept.iter().map(|path| format!(", {path}="));
        let Some((_, engine)) = left.label.split_once(&format!("{ENGINE}=")) else { continue };
        let end = others.filter_map(|other| engine.find(&other)).min().unwrap_or(engine.len());
        let skipped = format!("{}: {}", &engine[..end], left.reason);
        if !missing.contains(&skipped) {
            missing.push(skipped);
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use results::{CellInfo, LeftOut};

    use super::*;

    #[test]
    fn an_engine_stands_once_with_all_its_mismatches() {
        let cell = |version: Option<&str>, mapping: &[&str]| CellInfo {
            engine: Some(EngineInfo {
                name: "lmdb".to_owned(),
                version: version.map(str::to_owned),
                mapping: mapping.iter().map(ToString::to_string).collect(),
                ..EngineInfo::default()
            }),
            ..CellInfo::default()
        };
        let left = |label: &str| LeftOut {
            label: label.to_owned(),
            reason: "cannot find libspeedb.so in /usr/lib; build SpeedB".to_owned(),
        };
        let manifest = Manifest {
            swept: vec!["engine".to_owned(), "phase.write.batch".to_owned()],
            cells: vec![
                CellInfo::default(),
                cell(None, &["WAL mode \"none\": no WAL", "mismatch: cache: its own"]),
                cell(Some("0.9.70"), &["mismatch: cache: its own", "mismatch: blocks: pages"]),
            ],
            left_out: vec![
                left("engine=speedb(statistics=true, cache=lru), phase.write.batch=1"),
                left("engine=speedb(statistics=true, cache=lru), phase.write.batch=1000"),
                left("design.bloom=none"),
            ],
            ..Manifest::default()
        };
        let note = note(&manifest);
        assert_eq!(
            note.engines,
            [EngineNote {
                name: "lmdb".to_owned(),
                version: Some("0.9.70".to_owned()),
                library: None,
                unequal: vec!["cache: its own".to_owned(), "blocks: pages".to_owned()],
            }]
        );
        assert_eq!(note.left_out, ["speedb(statistics=true, cache=lru): cannot find libspeedb.so"]);
    }
}
