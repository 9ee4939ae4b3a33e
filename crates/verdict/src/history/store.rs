//! Reads the history file, and adds results to this file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use results::history::{self as h, row};
use results::targets::create_folder;
use results::{Manifest, Row, RunMode};
use types::{Outcome, Problem};

use crate::compare::Samples;

/// Returns the entries of a history, oldest entry first.
///
/// # Errors
/// A file that does not exist or cannot be read.
pub fn entries(store: &Path) -> Outcome<Vec<Row>> {
    match store.exists() {
        true => read(store),
        false => Err(Problem::new(format!(
            "there is no history {path}; create it with: {command}",
            path = store.display(),
            command = add_command(store)
        ))),
    }
}

/// Adds the medians of runs to a history. Skips a run that the history already contains. Quick runs count as separate
/// configurations, because their sizes are reduced. `tell` prints a line for each skipped run.
///
/// # Errors
/// Results that cannot be read, or were changed after the run; a history file that cannot be written.
pub fn add(store: &Path, results: &[PathBuf], metrics: &[String], tell: fn(&str)) -> Outcome<()> {
    let mut rows = read(store)?;
    let known: BTreeSet<(String, String)> = rows.iter().map(identity).collect();
    for path in results {
        let samples = Samples::read(path, metrics)?;
        if samples.sessions.values().any(|sessions| sessions.len() > 1) {
            let message =
                "several folders in this path have results of one experiment; name only one of these folders";
            return Err(Problem::at(path, None, message));
        }
        for (experiment, manifest) in &samples.manifests {
            if known.contains(&(manifest.started.clone(), experiment.clone())) {
                tell(&format!(
                    "the run of {experiment} from {time} is in the history already",
                    time = manifest.started
                ));
                continue;
            }
            let of_run = samples.values.iter().filter(|(key, _)| key.experiment == *experiment);
            for (key, sample) in of_run {
                let mut row = begin(manifest);
                row.set(&h::LABEL, key.label.as_str()).set(&h::PHASE, key.phase.as_str());
                row.set(&h::OPERATION, key.operation.as_str()).set(&h::METRIC, key.metric);
                row.set(&h::MEDIAN, sample.median().unwrap_or(f64::NAN));
                row.set(&h::TRIALS, sample.blocks.len() as u64);
                rows.push(row);
            }
            tell(&format!("added the run of {experiment} from {time}", time = manifest.started));
        }
    }
    // Runs may be added in any order, and a history is in the order of time. The sort is stable.
    rows.sort_by_key(|row| row.get(&h::STARTED).to_string());
    let folder = store.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), create_folder)?;
    Ok(h::write(store, &rows)?)
}

/// Reads the rows of a history file. Returns no rows if the file does not exist yet.
fn read(store: &Path) -> Outcome<Vec<Row>> {
    if store.is_dir() {
        let message = "this is a folder; name the file of a history, such as results/history.csv";
        return Err(Problem::at(store, None, message));
    }
    h::read(store).map_err(|error| {
        let advice = "fix this line, or move the history file away and create another file with";
        Problem::new(format!("{error}; {advice}: {}", add_command(store)))
    })
}

/// Returns the command that adds results to a history.
pub fn add_command(store: &Path) -> String {
    format!("lsmbench history {} --add RESULTS", store.display())
}

/// Returns the experiment and the start time in a history row, which together identify the run.
fn identity(row: &Row) -> (String, String) {
    (row.get(&h::STARTED).to_string(), row.get(&h::EXPERIMENT).to_string())
}

/// Creates a history row that describes a run, without a value.
fn begin(manifest: &Manifest) -> Row {
    let mut begun = row();
    begun.set(&h::STARTED, manifest.started.as_str()).set(&h::EXPERIMENT, manifest.experiment.as_str());
    begun.set(&h::CONFIG_HASH, manifest.config_hash.as_str());
    // A program with uncommitted changes belongs to no commit.
    let is_dirty = manifest.build.git_dirty == Some(true);
    if let Some(commit) = manifest.build.git_commit.as_ref().filter(|_| !is_dirty) {
        begun.set(&h::GIT_COMMIT, commit.as_str());
    }
    // Counters are the same on every machine.
    if manifest.mode != RunMode::Counted.name() {
        let machine = &manifest.machine;
        let words = [
            machine.cpu.clone(),
            machine.cores.map(|cores| format!("{cores} cores")),
            machine.kernel.clone(),
        ];
        begun.set(&h::MACHINE, words.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }
    begun
}
