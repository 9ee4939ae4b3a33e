//! Trims a manifest for git. The result describes the run and its warnings, but contains no folders and no state of
//! the machine.

use experiment::ENGINE;
use results::{LeftOut, Manifest, Seal};
use run::QUICK;
use verdict::{Names, kept_manifest};

/// The seals of the copied CSV files. A seal is the length and the checksum of a CSV file, which the manifest of the
/// copy contains.
#[derive(Default)]
pub(super) struct Seals {
    pub(super) runs: Option<Seal>,
    pub(super) timeline: Option<Seal>,
    pub(super) levels: Option<Seal>,
}

/// Returns a copy of a manifest for git: without the folders and the state of the machine, and with the seals of the
/// copied CSV files.
pub(super) fn trimmed(manifest: &Manifest, Seals { runs, timeline, levels }: Seals) -> Manifest {
    Manifest {
        left_out: left_out(manifest),
        warnings: warnings(manifest),
        runs,
        timeline,
        levels,
        ..kept_manifest(manifest, &Names::of(manifest))
    }
}

/// Returns the configurations that were skipped because their engine was not available, each with a short reason.
/// Configurations with other reasons are omitted, because the experiment file explains them.
pub(super) fn left_out(manifest: &Manifest) -> Vec<LeftOut> {
    let of_engines = manifest.left_out.iter().filter(|left| left.label.contains(&format!("{ENGINE}=")));
    let names = Names::of(manifest);
    let told = |left: &LeftOut| {
        let reason = left.reason.split(';').next().unwrap_or_default();
        let reason = reason.split(" in /").next().unwrap_or_default();
        LeftOut { label: names.spelt(&left.label), reason: names.spelt(reason) }
    };
    of_engines.map(told).collect()
}

/// Returns the warnings of a manifest that are not about the state of the machine. The warning about a quick run is
/// not included either, because the manifest has the field `quick`.
pub(super) fn warnings(manifest: &Manifest) -> Vec<String> {
    let of_machine =
        |warning: &str| manifest.machine.findings.iter().any(|finding| warning.starts_with(&finding.check));
    let kept = manifest.warnings.iter().filter(|warning| !of_machine(warning) && *warning != QUICK);
    let names = Names::of(manifest);
    kept.map(|warning| names.spelt(warning)).collect()
}

#[cfg(test)]
mod tests {
    use results::{CellInfo, EngineInfo, MachineFinding};

    use super::*;

    /// Creates a manifest that contains folders of its machine in all fields that may contain folders.
    fn manifest() -> Manifest {
        let engine = EngineInfo {
            name: "rocksdb".to_owned(),
            version: Some("11.8.1".to_owned()),
            library: Some("/srv/someone/build/librocksdb.so.11.8.1".to_owned()),
            doubts: vec!["the library is built with assertions".to_owned()],
            mapping: vec!["compression none: compression=kNoCompression".to_owned()],
        };
        let mut manifest = Manifest {
            cells: vec![CellInfo { engine: Some(engine), ..CellInfo::default() }],
            left_out: vec![LeftOut {
                label: "engine=terarkdb".to_owned(),
                reason:
                    "cannot find libterarkdb.so in /srv/someone/lib, /usr/lib; build TerarkDB in a folder"
                        .to_owned(),
            }],
            warnings: vec![
                "governor, powersave: set it".to_owned(),
                "engine rocksdb: the library is built with assertions".to_owned(),
                "speedb ends in trial 1: cannot open (/srv/someone/x/LOCK): busy".to_owned(),
            ],
            ..Manifest::default()
        };
        manifest.machine.findings =
            vec![MachineFinding { check: "governor".to_owned(), ..Default::default() }];
        manifest.build.git_commit = Some("abc".to_owned());
        manifest.build.git_dirty = Some(true);
        manifest.build.flags = Some("-C target-cpu=native -L/opt/x -Clink-arg=/srv/someone/y.o".to_owned());
        manifest
    }

    #[test]
    fn what_ran_is_kept_and_no_folder_of_the_machine() {
        let kept = trimmed(&manifest(), Seals::default());
        let engine = kept.cells[0].engine.as_ref().unwrap();
        assert_eq!(engine.library.as_deref(), Some("librocksdb.so.11.8.1"));
        assert_eq!((engine.version.as_deref(), engine.mapping.len()), (Some("11.8.1"), 1));
        assert_eq!(engine.doubts, manifest().cells[0].engine.as_ref().unwrap().doubts);
        let left =
            LeftOut { label: "engine=terarkdb".to_owned(), reason: "cannot find libterarkdb.so".to_owned() };
        assert_eq!(kept.left_out, [left]);
        assert_eq!(
            kept.warnings,
            [
                "engine rocksdb: the library is built with assertions",
                "speedb ends in trial 1: cannot open (LOCK): busy"
            ]
        );
        assert_eq!((kept.build.git_commit.as_deref(), kept.build.git_dirty), (Some("abc"), Some(true)));
        assert_eq!(kept.build.flags.as_deref(), Some("-C target-cpu=native"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.json");
        kept.write(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("someone") && !text.contains("/opt"), "{text}");
    }
}
