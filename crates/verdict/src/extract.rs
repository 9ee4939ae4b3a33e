//! Extracts the parts of results that are stored in git: rows without empty columns, and a manifest without folders of
//! the machine.

mod names;

use std::path::Path;

use results::{BuildInfo, Column, EngineInfo, Manifest, Schema, Seal, columns};
use xxhash_rust::xxh3::xxh3_64;

use types::{Outcome, Problem};

pub use names::Names;
use names::file_name;

/// Returns a copy of a manifest for git with only a few fields, such as the question, the program and the engines.
/// Callers can add further fields to the copy. Paths become file names.
pub fn kept_manifest(whole: &Manifest, names: &Names) -> Manifest {
    let cells = whole.cells.iter().cloned().map(|mut cell| {
        cell.streams.clear();
        cell.label = names.spelt(&cell.label);
        cell.swept = names.all(&cell.swept);
        cell.engine = cell.engine.map(|engine| engine_of(&engine, names));
        cell
    });
    let mut kept = Manifest {
        version: whole.version,
        experiment: whole.experiment.clone(),
        question: whole.question.clone(),
        run_id: whole.run_id.clone(),
        config_hash: whole.config_hash.clone(),
        seed: whole.seed,
        trials: whole.trials,
        mode: whole.mode.clone(),
        quick: whole.quick,
        swept: whole.swept.clone(),
        phases: whole.phases.clone(),
        cells: cells.collect(),
        components: whole.components.clone(),
        started: whole.started.clone(),
        ended: whole.ended.clone(),
        conclusions: names.all(&whole.conclusions),
        build: BuildInfo { flags: whole.build.flags.as_deref().map(flags), ..whole.build.clone() },
        ..Manifest::default()
    };
    kept.machine.cpu.clone_from(&whole.machine.cpu);
    kept.machine.cores = whole.machine.cores;
    kept
}

fn engine_of(engine: &EngineInfo, names: &Names) -> EngineInfo {
    EngineInfo {
        name: names.spelt(&engine.name),
        version: engine.version.as_deref().map(|version| names.spelt(version)),
        library: engine.library.as_deref().map(|path| file_name(path).to_owned()),
        doubts: names.all(&engine.doubts),
        mapping: names.all(&engine.mapping),
    }
}

/// Returns a list of compiler flags without the flags that contain a path, such as `-L/opt/lib`.
fn flags(flags: &str) -> String {
    flags.split(' ').filter(|flag| !flag.contains('/')).collect::<Vec<_>>().join(" ")
}

/// Copies a CSV file of results without the measured columns that are empty in all rows. `spelt` converts the text of
/// each field. Returns the seal (size and checksum) of the copy.
pub fn copy_rows(schema: &Schema, from: &Path, to: &Path, spelt: impl Fn(&str) -> String) -> Outcome<Seal> {
    let wrong = |error: csv::Error| Problem::doing(format!("copy {}", from.display()), error);
    let mut reader = csv::Reader::from_path(from).map_err(wrong)?;
    let header = reader.headers().map_err(wrong)?.clone();
    let records = reader.into_records().collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let is_kept = |at: &usize| {
        let measured = matches!(schema.columns()[*at], Column::Fixed(_)) && *at >= columns::IDENTITY.len();
        !measured || records.iter().any(|record| record.get(*at).is_some_and(|cell| !cell.is_empty()))
    };
    let kept: Vec<usize> = (0..header.len()).filter(is_kept).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in std::iter::once(&header).chain(&records) {
        writer.write_record(kept.iter().filter_map(|at| record.get(*at)).map(&spelt)).map_err(wrong)?;
    }
    let bytes =
        writer.into_inner().map_err(|error| Problem::doing(format!("copy {}", from.display()), error))?;
    std::fs::write(to, &bytes).map_err(|error| Problem::doing(format!("write {}", to.display()), error))?;
    let lines = bytes.split(|byte| *byte == b'\n').skip(1).count() as u64;
    Ok(Seal { lines, bytes: bytes.len() as u64, xxh3: format!("{:016x}", xxh3_64(&bytes)) })
}
