//! Reads the parts of an experiment from a folder, and checks that the parts belong to the same experiment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use results::{BuildInfo, CellInfo, ComponentInfo, Folder, Manifest, PartInfo, Table};
use toml::Value;
use types::{Outcome, Problem, valid_names};

use super::cut::Cut;
use super::part::Part;

/// The tables of an experiment that affect only its verdicts. The hash of the settings does not include them.
const OF_VERDICTS: [&str; 2] = ["verdict", "gate"];

/// One part of an experiment, as read from its folder: its manifest and its rows.
pub(super) struct ReadPart {
    pub(super) info: PartInfo,
    pub(super) folder: Folder,
    pub(super) manifest: Manifest,
    pub(super) runs: Table,
    pub(super) noise: Table,
}

/// All parts of an experiment that a folder contains, in the order of their numbers.
pub(super) struct Parts {
    pub(super) of: Vec<ReadPart>,
    /// The folder that contains the parts.
    root: PathBuf,
}

impl Parts {
    /// Reads the parts of an experiment in the folder `root`. If the folder has parts of several experiments, reads
    /// only the parts of `wanted`.
    ///
    /// # Errors
    /// The folder contains no parts, or other results, or parts of several experiments of which none is `wanted`. The
    /// rows of a part were changed after the run.
    pub(super) fn read(root: &Path, wanted: &str) -> Outcome<Self> {
        let found = folders(root)?;
        let experiments: BTreeSet<&String> = found.iter().map(|(_, experiment, _)| experiment).collect();
        let name = match experiments.iter().find(|name| name.as_str() == wanted) {
            Some(name) => (*name).clone(),
            None if experiments.len() == 1 => found[0].1.clone(),
            None => {
                return Err(Problem::new(format!(
                    "the parts in {} belong to several experiments; end --into with the name of one experiment. {}",
                    root.display(),
                    valid_names(experiments)
                )));
            }
        };
        let mut of = Vec::new();
        for (number, experiment, path) in found {
            if experiment != name {
                continue;
            }
            of.push(ReadPart::read(number, path)?);
        }
        of.sort_by_key(|part| part.info.number);
        Ok(Self { of, root: root.to_owned() })
    }

    /// Checks that all parts belong to the same run, and that their program has the same version and commit as this
    /// program, which `build` describes.
    ///
    /// # Errors
    /// The first difference.
    pub(super) fn check(&self, build: &BuildInfo) -> Outcome<()> {
        let first = &self.of[0];
        for part in &self.of {
            Self::check_like(first, part)?;
            let differs = |what: &str, own: &str, other: &str| {
                wrong(part, &format!("the part ran with {what} {own}, but this program has {other}"))
            };
            let own = &part.manifest.build;
            if own.version != build.version {
                return Err(differs("lsmbench", &own.version, &build.version));
            }
            if own.git_commit != build.git_commit {
                let [own, other] =
                    [&own.git_commit, &build.git_commit].map(|of| of.as_deref().unwrap_or("unknown"));
                return Err(differs("commit", own, other));
            }
        }
        Ok(())
    }

    /// Checks that each row of a part belongs to this part, and that all parts exist and are finished.
    ///
    /// # Errors
    /// A part is missing or not finished, or contains a row of another part.
    pub(super) fn check_rows(&self, cut: &Cut) -> Outcome<()> {
        self.of.iter().try_for_each(|part| part.check_rows(cut))?;
        self.check_whole()
    }

    /// Checks that two parts belong to the same run: their experiment, settings, program, verdict settings, operations
    /// and columns must be equal.
    fn check_like(first: &ReadPart, part: &ReadPart) -> Outcome<()> {
        let (one, other) = (&first.manifest, &part.manifest);
        let number = first.info.number;
        let (this, that) = ("the part", format!("part {number}"));
        let but = |own: String, others: String| Err(wrong(part, &format!("{own}, but {others}")));
        let against = |difference: &str| Err(wrong(part, difference));
        if one.experiment != other.experiment {
            let has = |part: &str, name: &str| format!("{part} has the experiment {name}");
            return but(has(this, &other.experiment), has(&that, &one.experiment));
        }
        if one.seed != other.seed {
            let has = |part: &str, seed| format!("{part} has the seed {seed}");
            return but(has(this, other.seed), has(&that, one.seed));
        }
        if one.mode != other.mode {
            let ran = |part: &str, mode: &str| format!("{part} ran in {mode} mode");
            return but(ran(this, &other.mode), ran(&that, &one.mode));
        }
        if one.quick != other.quick {
            let ran =
                |part: &str, quick| format!("{part} ran {} --quick", if quick { "with" } else { "without" });
            return but(ran(this, other.quick), ran(&that, one.quick));
        }
        if one.trials != other.trials {
            let has = |part: &str, trials| format!("{part} has trials.count = {trials}");
            return but(has(this, other.trials), has(&that, one.trials));
        }
        if one.config_hash != other.config_hash {
            return against(&format!("the part has another design, workload or override than part {number}"));
        }
        if first.info.image != part.info.image {
            let ran = |part: &str, image: Option<&str>| match image {
                Some(image) => format!("{part} ran in the container image {image}"),
                None => format!("{part} ran without a container image"),
            };
            return but(ran(this, part.info.image.as_deref()), ran(&that, first.info.image.as_deref()));
        }
        if one.build != other.build {
            return against(&format!(
                "the part ran with another build of lsmbench (commit, flags or compiler) than part {number}"
            ));
        }
        if first.info.program != part.info.program {
            let ran = |part: &str, program: &str| format!("{part} ran with the program {program}");
            return but(ran(this, &part.info.program), ran(&that, &first.info.program));
        }
        if let Some((path, own, others)) = other_verdict_settings(other, one) {
            let has = |part: &str, value: Option<Value>| match value {
                Some(value) => format!("{part} has {path} = {value}"),
                None => format!("{part} has no setting {path}"),
            };
            return but(has(this, own), has(&that, others));
        }
        if let Some(component) = unlike(&one.components, &other.components) {
            let ComponentInfo { axis, kind, package, version } = component;
            return against(&format!(
                "the part used version {version} of the {axis} {kind} from the package {package}, \
                 another version than part {number}"
            ));
        }
        if let Some(engine) = other_engine(one, other) {
            return against(&format!(
                "the part ran another version of the engine {engine} than part {number}"
            ));
        }
        if let Some((label, phase)) = other_operations(one, other) {
            return against(&format!(
                "the part ran other operations in phase {phase} of {label} than part {number}"
            ));
        }
        if first.info.count != part.info.count {
            let belongs = |part: &str, count| format!("{part} belongs to a run with {count} parts");
            return but(belongs(this, part.info.count), belongs(&that, first.info.count));
        }
        let columns = |of: &ReadPart| -> Vec<String> {
            of.runs.schema().columns().iter().map(|column| column.name().to_owned()).collect()
        };
        if columns(first) != columns(part) {
            return against(&format!("the part has other columns in runs.csv than part {number}"));
        }
        Ok(())
    }

    /// Checks that all parts exist and are finished.
    fn check_whole(&self) -> Outcome<()> {
        let count = self.of[0].info.count;
        let there: BTreeMap<u64, &ReadPart> = self.of.iter().map(|part| (part.info.number, part)).collect();
        let missing: Vec<u64> = (1..=count).filter(|number| !there.contains_key(number)).collect();
        let unfinished = self.of.iter().filter(|part| part.manifest.ended.is_none());
        let unfinished: Vec<u64> = unfinished.map(|part| part.info.number).collect();
        let listed = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let mut said = Vec::new();
        if !missing.is_empty() {
            said.push(format!("missing: {}", listed(&missing)));
        }
        if !unfinished.is_empty() {
            said.push(format!("unfinished: {}", listed(&unfinished)));
        }
        if said.is_empty() {
            return Ok(());
        }
        let next = missing.iter().chain(&unfinished).min().copied().unwrap_or_default();
        Err(Problem::new(format!(
            "{} does not contain all {count} finished parts ({}); run the other parts, such as: lsmbench run \
             FILE --part {next}/{count} --out {}",
            self.root.display(),
            said.join("; "),
            self.root.display()
        )))
    }
}

impl ReadPart {
    fn read(number: u64, path: PathBuf) -> Outcome<Self> {
        let folder = Folder::new(path);
        let manifest = Manifest::read(&folder.manifest())?;
        let Some(info) = manifest.part.clone() else {
            return Err(Problem::new(format!(
                "{} has results of a complete run, not of a part; `lsmbench run --part` creates parts",
                folder.root().display()
            )));
        };
        if info.number != number {
            return Err(Problem::new(format!(
                "{} has part {} instead of part {number}; move each part into the folder of its number",
                folder.root().display(),
                info.number
            )));
        }
        manifest.check_rows(&folder)?;
        let [runs, noise] = [folder.runs(), folder.noise()].map(|path| Table::read(&path));
        Ok(Self { info, manifest, runs: runs?, noise: noise?, folder })
    }

    /// Returns the number of this part and the number of all parts.
    ///
    /// # Errors
    /// The number of the part exceeds the number of all parts.
    pub(super) fn part(&self) -> Outcome<Part> {
        let PartInfo { number, count, .. } = self.info;
        Part::new(number, count).ok_or_else(|| {
            wrong(self, &format!("part {number} does not exist, because there are only {count} parts"))
        })
    }

    /// Checks that each row of this part belongs to one of its trials, on a machine that ran the round of the trial.
    fn check_rows(&self, cut: &Cut) -> Outcome<()> {
        let part = self.part()?;
        for row in self.runs.rows().iter().chain(self.noise.rows()) {
            let group = row.group();
            let place = group.and_then(|of| self.manifest.cells.iter().position(|cell| cell.cell == of.cell));
            let has_node = |round| self.info.nodes.iter().any(|node| node.rounds.contains(&round));
            let is_own = group
                .zip(place)
                .is_some_and(|(group, place)| cut.holds(part, place, group.trial) && has_node(group.trial));
            if !is_own {
                let trial = group.map_or(0, |group| group.trial + 1);
                return Err(wrong(
                    self,
                    &format!("the part has a row of round {trial} that belongs to another part"),
                ));
            }
        }
        Ok(())
    }
}

/// Returns the results folders of parts in the folder `root`: for each, the number of the part, the name of the
/// experiment, and the path.
fn folders(root: &Path) -> Outcome<Vec<(u64, String, PathBuf)>> {
    let inside = |path: &Path| -> Vec<PathBuf> {
        let entries = path.read_dir().into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        paths.sort();
        paths
    };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut found = Vec::new();
    for path in inside(root) {
        let Ok(number) = name(&path).parse::<u64>() else { continue };
        let results = inside(&path).into_iter().filter(|path| Folder::new(path).manifest().exists());
        found.extend(results.map(|path| (number, name(&path), path)));
    }
    match found.is_empty() {
        true => Err(Problem::new(format!(
            "{} has no parts; run parts with: lsmbench run FILE --part K/N --out {}",
            root.display(),
            root.display()
        ))),
        false => Ok(found),
    }
}

/// Compares the settings of the verdicts in the manifests of two parts. Returns the path of the first setting that
/// differs, with its value in each manifest. Returns `None` if all settings are equal.
fn other_verdict_settings(
    one: &Manifest,
    other: &Manifest,
) -> Option<(String, Option<Value>, Option<Value>)> {
    let [one, other] = [one, other].map(|of| of.resolved.parse::<toml::Table>().unwrap_or_default());
    OF_VERDICTS.into_iter().find_map(|table| match (one.get(table), other.get(table)) {
        (Some(Value::Table(a)), Some(Value::Table(b))) => {
            let key = a.keys().chain(b.keys()).find(|key| a.get(*key) != b.get(*key))?;
            Some((format!("{table}.{key}"), a.get(key).cloned(), b.get(key).cloned()))
        }
        (a, b) => (a != b).then(|| (table.to_owned(), a.cloned(), b.cloned())),
    })
}

/// Returns a component of `other` that has another version in `one`, or is missing there. Returns `None` if there is
/// none.
fn unlike<'a>(one: &[ComponentInfo], other: &'a [ComponentInfo]) -> Option<&'a ComponentInfo> {
    other.iter().find(|component| !one.contains(component))
}

/// Returns the name of an engine whose version in `other` differs from its version in `one`. `None` if no version
/// differs.
fn other_engine<'a>(one: &Manifest, other: &'a Manifest) -> Option<&'a str> {
    let mut engines =
        other.cells.iter().zip(&one.cells).filter_map(|(a, b)| a.engine.as_ref().zip(b.engine.as_ref()));
    let differ = engines.find(|(a, b)| a.version.is_some() && b.version.is_some() && a.version != b.version);
    differ.map(|(engine, _)| engine.name.as_str())
}

/// Returns a configuration and a phase of `other` whose operations differ from those in `one`. Returns `None` if no
/// operations differ. Only compares configurations that differ at most in the design or the engine.
fn other_operations<'a>(one: &'a Manifest, other: &'a Manifest) -> Option<(&'a str, &'a str)> {
    let is_workload =
        |path: &str| !["design", "engine"].iter().any(|root| path.split('.').next() == Some(root));
    let workload = |cell: &'a CellInfo| -> Vec<&'a String> {
        let swept = one.swept.iter().zip(&cell.swept);
        swept.filter(|(path, _)| is_workload(path)).map(|(_, value)| value).collect()
    };
    let hash = |cell: &'a CellInfo, phase: &str| {
        cell.streams.iter().find(|stream| stream.phase == phase).and_then(|stream| stream.hash.as_ref())
    };
    other.cells.iter().find_map(|cell| {
        let like =
            one.cells.iter().find(|like| !like.streams.is_empty() && workload(like) == workload(cell))?;
        let differs = |phase: &&str| hash(like, phase).zip(hash(cell, phase)).is_some_and(|(a, b)| a != b);
        let mut phases = cell.streams.iter().map(|stream| stream.phase.as_str());
        phases.find(differs).map(|phase| (cell.label.as_str(), phase))
    })
}

fn wrong(part: &ReadPart, what: &str) -> Problem {
    let (folder, number) = (part.folder.root().display(), part.info.number);
    Problem::new(format!(
        "{folder}: part {number} does not belong to the other parts: {what}; remove this part, and run it again"
    ))
}
