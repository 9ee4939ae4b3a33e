//! Checks the results that a contributor measured on a machine: their schema, completeness and plausibility, and the
//! versions of the program and its components.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use results::columns::ALL;
use results::{ComponentInfo, Folder, Manifest, RunMode, Table, columns as c};
use types::{Outcome, Problem, valid_names};
use verdict::{Names, TrialRows};

use crate::machine::{folder_name, folders};
use crate::plausible::implausible;

/// The smallest number of trials with which a median has a 95 % confidence interval.
const FEWEST_TRIALS: u64 = 6;

/// The largest size of a results folder, in bytes.
const MOST_BYTES: u64 = 4 << 20;

/// The files that a results folder may contain.
const FILES: [&str; 3] = ["manifest.json", "runs.csv", "noise.csv"];

/// The fix for a results folder that is not an unchanged copy by `lsmbench engines --keep`.
const COPY: &str = "copy the results with: lsmbench engines RESULTS --keep results/machines/NAME";

/// An experiment of the repository that a contribution may repeat.
#[derive(Clone, Debug)]
pub struct KnownExperiment {
    /// The name of the experiment.
    pub name: String,
    /// The phases of the experiment.
    pub phases: Vec<String>,
    /// The seed of the operations.
    pub seed: u64,
}

/// The result of checking a contributed folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contribution {
    /// The number of experiments in the contributed folder.
    pub experiments: usize,
    /// The faults of the contributed folder. The repository accepts only folders without faults.
    pub faults: Vec<String>,
    /// Remarks about the contributed folder that are no faults.
    pub notes: Vec<String>,
}

/// The reference data for the check of a contribution.
#[derive(Clone, Copy, Debug)]
pub struct Standard<'a> {
    /// The experiments that a contribution may repeat.
    pub experiments: &'a [KnownExperiment],
    /// The current version of the program.
    pub version: &'a str,
    /// The variants of all catalogs, with their crates and versions.
    pub components: &'a [ComponentInfo],
    /// The label of the configuration with which the site compares engines.
    pub baseline: &'a str,
}

/// A results folder of a contribution, with the findings of its check.
struct Examined<'a> {
    path: PathBuf,
    manifest: Manifest,
    standard: &'a Standard<'a>,
    faults: Vec<String>,
}

/// Checks the folder with the results that a contributor measured on a machine. Returns the faults of the folder.
///
/// # Errors
/// The folder does not exist, cannot be read, or is the results folder of a single experiment.
pub fn check(root: &Path, standard: &Standard<'_>) -> Outcome<Contribution> {
    if !root.is_dir() {
        return Err(Problem::at(
            root,
            None,
            "this folder does not exist; name the folder with the results of a machine",
        ));
    }
    if Folder::new(root).manifest().exists() {
        let message =
            "this folder has the results of one experiment; name the folder of the machine above it";
        return Err(Problem::at(root, None, message));
    }
    let mut found = Contribution::default();
    let name = folder_name(&root.canonicalize().unwrap_or_else(|_| root.to_owned()));
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(is_plain) {
        let remedy = "use lower-case letters, digits and hyphens";
        found.faults.push(format!("{}: the name of the folder is \"{name}\"; {remedy}", root.display()));
    }
    let inside =
        root.read_dir().map_err(|error| Problem::doing(format!("read {}", root.display()), error))?;
    for entry in inside.flatten().filter(|entry| !entry.path().is_dir()) {
        found.faults.push(unexpected(&entry.path()));
    }
    let mut manifests = Vec::new();
    for path in folders(root)? {
        found.experiments += 1;
        let place = path.display().to_string();
        match Manifest::read(&Folder::new(&path).manifest()) {
            Ok(manifest) => {
                let mut examined = Examined { path, manifest, standard, faults: Vec::new() };
                examined.examine();
                if examined.manifest.components.is_empty() && examined.faults.is_empty() {
                    let why = "an earlier version of lsmbench copied the results";
                    found.notes.push(format!(
                        "{place}: components: the manifest lists no components, because {why}"
                    ));
                }
                found.faults.append(&mut examined.faults);
                manifests.push((place, examined.manifest));
            }
            Err(error) => found.faults.push(format!("{error}; {COPY}")),
        }
    }
    if found.experiments == 0 {
        found.faults.push(format!("{}: the folder has no results; {COPY}", root.display()));
    }
    found.faults.extend(other_machine(&manifests));
    Ok(found)
}

/// Returns a fault if the experiments ran on different machines.
fn other_machine(manifests: &[(String, Manifest)]) -> Option<String> {
    let key = |manifest: &Manifest| (manifest.machine.cpu.clone(), manifest.machine.cores);
    let (first, one) = manifests.first()?;
    let (other, _) = manifests.iter().find(|(_, manifest)| key(manifest) != key(one))?;
    Some(format!(
        "{other}: machine: the CPU model or the number of cores differs from {first}; use one folder per machine"
    ))
}

fn unexpected(path: &Path) -> String {
    format!("{}: unexpected file; remove the file", path.display())
}

impl Examined<'_> {
    /// Records a fault of the folder. `key` is a key of the manifest, or the name of a file.
    fn fault(&mut self, key: &str, problem: &str) {
        self.faults.push(format!("{}: {key}: {problem}", self.path.display()));
    }

    /// Runs all checks of a contributed results folder, and records its faults.
    fn examine(&mut self) {
        self.files();
        self.experiment();
        self.run();
        self.program();
        self.paths();
        // If there are other faults, the rows are not checked, because they may not match their checksum.
        if self.faults.is_empty() {
            self.rows();
        }
    }

    /// Checks that the folder has no unexpected files, that its files are small enough, and that the rows match their
    /// checksum.
    fn files(&mut self) {
        let folder = Folder::new(&self.path);
        let mut bytes = 0;
        for entry in self.path.read_dir().into_iter().flatten().flatten() {
            bytes += entry.metadata().map_or(0, |data| data.len());
            if !FILES.iter().any(|name| entry.file_name() == *name) {
                self.faults.push(unexpected(&entry.path()));
            }
        }
        if bytes > MOST_BYTES {
            self.fault(
                "size",
                &format!("the files have {bytes} bytes; the limit is {MOST_BYTES} bytes; {COPY}"),
            );
        }
        // The checksum covers only the rows that the run has written. Lines that were added later make the file longer.
        let length = folder.runs().metadata().map_or(0, |data| data.len());
        let sealed = self.manifest.runs.as_ref().map(|seal| seal.bytes);
        if sealed.is_none() {
            self.fault("runs", &format!("the manifest has no checksum of runs.csv; {COPY}"));
        } else if sealed.is_some_and(|sealed| length > sealed) {
            self.fault(
                "runs",
                &format!("runs.csv has bytes after the rows that its checksum covers; {COPY}"),
            );
        } else if let Err(error) = self.manifest.check_rows(&folder) {
            self.faults.push(format!("{error}; {COPY}"));
        }
    }

    /// Checks that the repository has this experiment, with equal phases and an equal seed.
    fn experiment(&mut self) {
        let name = self.manifest.experiment.clone();
        if name != folder_name(&self.path) {
            self.fault(
                "experiment",
                &format!(
                    "the manifest contains the name \"{name}\", but the folder has another name; rename the folder to \
                     \"{name}\""
                ),
            );
            return;
        }
        let known = self.standard.experiments;
        let Some(expected) = known.iter().find(|known| known.name == name) else {
            let valid = valid_names(known.iter().map(|known| &known.name));
            self.fault("experiment", &format!("unknown experiment \"{name}\". {valid}"));
            return;
        };
        if self.manifest.phases != expected.phases {
            let phases = expected.phases.join(", ");
            self.fault(
                "phases",
                &format!(
                    "the phases of the experiment differ from the phases in the experiment file of the \
                     repository; run this file, which has the phases {phases}"
                ),
            );
        }
        if self.manifest.seed != expected.seed {
            let (own, other) = (self.manifest.seed, expected.seed);
            self.fault("seed", &format!("the seed is {own}; run the experiment with the seed {other}"));
        }
        if !self.manifest.swept.iter().any(|path| path == c::ENGINE) {
            self.fault("swept", "the experiment does not sweep engines; run an experiment of configs/peers");
        }
    }

    /// Checks that the run is complete, and has enough trials for verdicts.
    fn run(&mut self) {
        let Manifest { mode, quick, trials, ended, machine, .. } = self.manifest.clone();
        if mode != RunMode::Timed.name() {
            self.fault("mode", &format!("the mode is \"{mode}\"; run in timed mode"));
        }
        if quick {
            self.fault("quick", "the run has reduced sizes; run without --quick");
        }
        if trials < FEWEST_TRIALS {
            self.fault("trials", &format!("{trials} trials are too few; run at least {FEWEST_TRIALS}"));
        }
        if ended.is_none() {
            self.fault("ended", "the run did not end; finish the run with --resume");
        }
        if machine.cpu.as_deref().unwrap_or_default().is_empty() || machine.cores.unwrap_or(0) == 0 {
            self.fault("machine", "the CPU model or the number of cores is missing; run on Linux with /proc");
        }
    }

    /// Checks that the program is a release build of a commit, and that the versions of the program, the components and
    /// the engines are as required.
    fn program(&mut self) {
        let build = self.manifest.build.clone();
        let version = self.standard.version;
        if build.version != version {
            let own = &build.version;
            self.fault(
                "build.version",
                &format!("lsmbench {own} measured the results; measure with lsmbench {version}"),
            );
        }
        if build.git_dirty == Some(true) || build.git_commit.is_none() {
            self.fault(
                "build.git_commit",
                "the program has uncommitted changes or no commit; build lsmbench from a commit",
            );
        }
        if build.debug_assertions || build.profile.as_deref() != Some("release") {
            self.fault("build.profile", "a debug build measured the results; build lsmbench with --release");
        }
        let known = self.standard.components;
        let strange = self.manifest.components.iter().find(|component| !known.contains(component)).cloned();
        if let Some(ComponentInfo { axis, kind, package, version }) = strange {
            let what = format!("{axis} \"{kind}\" of {package} {version}");
            self.fault(
                "components",
                &format!(
                    "this version of lsmbench has no {what}; measure with the components of the repository"
                ),
            );
        }
        let mut engines = self.manifest.cells.iter().filter_map(|cell| cell.engine.as_ref());
        let nameless = engines.find(|engine| engine.version.is_none()).map(|engine| engine.name.clone());
        if let Some(name) = nameless {
            self.fault(
                "cells",
                &format!(
                    "the version of the engine {name} is unknown; use a library that reports its version"
                ),
            );
        }
    }

    /// Checks that the manifest contains no paths of the contributor's machine.
    fn paths(&mut self) {
        let names = Names::of(&self.manifest);
        let Manifest { command, resolved, warnings, left_out, cells, .. } = &self.manifest;
        let mut texts: Vec<&String> = command.iter().chain([resolved]).chain(warnings).collect();
        texts.extend(left_out.iter().flat_map(|left| [&left.label, &left.reason]));
        texts.extend(cells.iter().filter_map(|cell| cell.engine.as_ref()?.library.as_ref()));
        let found = texts.into_iter().find(|text| names.spelt(text) != **text).cloned();
        if let Some(text) = found {
            let short: String = text.chars().take(80).collect();
            self.fault("manifest.json", &format!("\"{short}\" contains a path of the machine; {COPY}"));
        }
    }

    /// Checks the rows of `runs.csv`: columns, completeness, answers and plausibility.
    fn rows(&mut self) {
        let table = match Table::read(&Folder::new(&self.path).runs()) {
            Ok(table) => table,
            Err(error) => {
                self.faults.push(format!("{error}; {COPY}"));
                return;
            }
        };
        if let Some(missing) = self.missing(&table) {
            self.fault("runs.csv", &missing);
        }
        let wrong = TrialRows::of(&table).wrong_cells();
        if let Some(cell) = self.manifest.cells.iter().find(|cell| wrong.contains(&cell.cell)) {
            let label = cell.label.clone();
            self.fault(
                "runs.csv",
                &format!(
                    "{label} returned wrong answers; remove the engine from the experiment, and report the answers as \
                     a bug"
                ),
            );
        }
        let cores = self.manifest.machine.cores.unwrap_or(1);
        for (line, row) in (2..).zip(table.rows()) {
            if let Some(problem) = implausible(row, cores) {
                self.fault(&format!("runs.csv:{line}"), &format!("{problem}; run the experiment again"));
                return;
            }
        }
    }

    /// Describes the first missing part of the results: the baseline, or a trial without a row of some phase. Returns
    /// `None` if nothing is missing.
    fn missing(&self, table: &Table) -> Option<String> {
        let baseline = self.standard.baseline;
        let is_baseline = |label: &str| label.split(" + ").next() == Some(baseline);
        if !self.manifest.cells.iter().any(|cell| is_baseline(&cell.label)) {
            return Some(format!(
                "no configuration has the engine \"{baseline}\"; include this engine in the sweep"
            ));
        }
        let key = |row: &results::Row| {
            let number = |column| row.get(column).integer();
            let of_all = row.get(&c::OPERATION).text() == Some(ALL);
            let phase = row.get(&c::PHASE).to_string();
            Some((number(&c::CELL)?, number(&c::TRIAL)?, phase)).filter(|_| of_all)
        };
        let present: BTreeSet<(u64, u64, String)> = table.rows().iter().filter_map(key).collect();
        for cell in &self.manifest.cells {
            for trial in 0..self.manifest.trials {
                for phase in &self.manifest.phases {
                    if !present.contains(&(cell.cell, trial, phase.clone())) {
                        let label = &cell.label;
                        return Some(format!(
                            "{label} has no row of trial {trial} in phase {phase}; finish the run with --resume"
                        ));
                    }
                }
            }
        }
        None
    }
}
