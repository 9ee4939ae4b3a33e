//! Finds the settings of engines that differ from the settings of the design, and the reasons to doubt the times of
//! engines.

use results::{MISMATCH, Manifest};

/// The notes about one engine: settings that differ from the design, and reasons to doubt the times of the engine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EngineMismatches {
    pub(crate) engine: String,
    /// The mismatched settings, and then the reasons to doubt the times of the engine. Each line occurs once.
    pub(crate) lines: Vec<String>,
}

/// Returns the notes about the engines of a run, in the order of the run. Engines without notes are omitted.
pub(crate) fn mismatches(manifest: &Manifest) -> Vec<EngineMismatches> {
    let mut all: Vec<EngineMismatches> = Vec::new();
    for engine in manifest.cells.iter().filter_map(|cell| cell.engine.as_ref()) {
        let mismatches =
            engine.mapping.iter().filter_map(|line| line.strip_prefix(MISMATCH)).map(str::to_owned);
        let doubts = engine.doubts.iter().map(|doubt| format!("warning: {doubt}"));
        let place = all.iter().position(|of| of.engine == engine.name).unwrap_or_else(|| {
            all.push(EngineMismatches { engine: engine.name.clone(), lines: Vec::new() });
            all.len() - 1
        });
        for line in mismatches.chain(doubts) {
            if !all[place].lines.contains(&line) {
                all[place].lines.push(line);
            }
        }
    }
    all.retain(|of| !of.lines.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use results::{CellInfo, EngineInfo};

    use super::*;

    #[test]
    fn configurations_of_an_engine_share_their_lines() {
        let cell = |name: &str, mapping: &[&str], doubts: &[&str]| CellInfo {
            engine: Some(EngineInfo {
                name: name.to_owned(),
                mapping: mapping.iter().map(ToString::to_string).collect(),
                doubts: doubts.iter().map(ToString::to_string).collect(),
                ..EngineInfo::default()
            }),
            ..CellInfo::default()
        };
        let manifest = Manifest {
            cells: vec![
                CellInfo::default(),
                cell("lmdb", &["map size: 1 GiB", "mismatch: no filter"], &["an old library"]),
                cell("lmdb", &["mismatch: no filter", "mismatch: no cache"], &[]),
                cell("sled", &["cache: 1 MiB"], &[]),
            ],
            ..Manifest::default()
        };
        let lines = ["no filter", "warning: an old library", "no cache"].map(str::to_owned).to_vec();
        assert_eq!(mismatches(&manifest), [EngineMismatches { engine: "lmdb".to_owned(), lines }]);
    }
}
