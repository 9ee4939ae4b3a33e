//! Reads samples from results folders. For each configuration, phase, operation and metric, there is one sample.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use measure::Sample;
use results::columns::ALL;
use results::{
    Better, Column, ConfigPath, Folder, Manifest, Metric, Root, RunMode, Table, Unit, columns as c,
};
use types::{Outcome, Problem};

use crate::judge::holds_found_rate;
use crate::trial_rows::TrialRows;

/// The main metrics of timed runs, compared by default: rates, latencies, CPU time, and amplifications.
const TIMED: [Metric; 9] = [
    c::OPS_PER_SECOND,
    c::P50_NS,
    c::P99_NS,
    c::P50_SLICE_NS,
    c::CPU_SECONDS,
    c::WRITE_AMP_SETTLED,
    c::SPACE_AMP_SETTLED,
    c::BUILD_NS_PER_ENTRY,
    c::BYTES_PER_ENTRY,
];

/// The name of the folder that contains replaced results. A run moves older results of the same experiment into this
/// folder.
const EARLIER: &str = "earlier";

/// The identity of a compared value: experiment, configuration, phase, operation and metric.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) experiment: String,
    /// The label of the configuration.
    pub(crate) label: String,
    pub(crate) phase: String,
    pub(crate) operation: String,
    /// The name of the metric, which is a column of `runs.csv`.
    pub(crate) metric: &'static str,
}

impl Key {
    /// Returns the experiment, the label and the phase of the compared value. They are the key of the map
    /// `implausible`, because one implausible value removes the verdicts on all values of its phase.
    fn place(&self) -> [String; 3] {
        [&self.experiment, &self.label, &self.phase].map(Clone::clone)
    }
}

/// The measured values of one side of a comparison: of the base results, or of the new results.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// The values of each compared metric, by trial.
    pub(crate) values: BTreeMap<Key, Sample>,
    /// The median of each compared metric in each session. Empty if the values come from golden files or from builds
    /// that run alternately.
    pub(crate) sessions: BTreeMap<Key, Vec<f64>>,
    /// Configurations that gave wrong answers, as `experiment: label`.
    pub(crate) wrong: BTreeSet<String>,
    /// The first physical or theoretical bound that a value exceeds, by experiment, label and phase. Phases without
    /// implausible values are absent.
    pub(crate) implausible: BTreeMap<[String; 3], String>,
    /// The manifest of each experiment, by the name of the experiment.
    pub(crate) manifests: BTreeMap<String, Manifest>,
}

impl Samples {
    /// Returns the bound that some value in the phase of `key` exceeds. Returns `None` if all values of this phase are
    /// plausible.
    pub(crate) fn implausible(&self, key: &Key) -> Option<&str> {
        self.implausible.get(&key.place()).map(String::as_str)
    }

    /// Returns the relative precision of the rate search that found the value. Returns 0 for a value that no rate
    /// search found.
    pub(crate) fn resolution(&self, key: &Key) -> f64 {
        let manifest = self.manifests.get(&key.experiment).filter(|_| holds_found_rate(key.metric));
        let resolved = manifest.and_then(|manifest| manifest.resolved.parse::<toml::Table>().ok());
        let phases = resolved.as_ref().and_then(|table| table.get("phase")?.as_array());
        let searched = phases
            .into_iter()
            .flatten()
            .filter(|phase| phase.get("name").and_then(toml::Value::as_str) == Some(&*key.phase));
        let within = searched.filter_map(|phase| phase.get("rate")?.get("within")?.as_float());
        within.fold(0.0, f64::max)
    }

    /// Reads the measured values of all results folders at a path. Several folders with results of one experiment are
    /// sessions of this experiment.
    ///
    /// # Errors
    /// A path without results; a file that cannot be read; two folders of one experiment with different settings.
    pub fn read(path: &Path, metrics: &[String]) -> Outcome<Self> {
        let mut samples = Self::default();
        for folder in folders(path)? {
            let mut session = Self::default();
            session.add(&folder, metrics, 0)?;
            samples.add_session(&session, &folder)?;
        }
        Ok(samples)
    }

    /// Adds the samples of one more session, which is another results folder of the same experiment. The trials of the
    /// session get new numbers, so that they do not overlap with the trials of earlier sessions.
    fn add_session(&mut self, session: &Self, folder: &Folder) -> Outcome<()> {
        let session = session.with_labels_of(self);
        for (name, manifest) in session.manifests {
            let earlier = self.manifests.entry(name).or_insert_with(|| manifest.clone());
            if earlier.config_hash != manifest.config_hash {
                let message = "another folder has results of this experiment with different settings; compare only \
                    one of these folders";
                return Err(Problem::at(folder.root(), None, message));
            }
        }
        for (key, sample) in session.values {
            self.sessions.entry(key.clone()).or_default().extend(sample.median());
            let all = self.values.entry(key).or_insert_with_key(|key| Sample::new(&*key.label, []));
            let offset = all.blocks.iter().map(|(trial, _)| trial + 1).max().unwrap_or(0);
            all.blocks.extend(sample.blocks.iter().map(|(trial, value)| (offset + trial, *value)));
        }
        self.wrong.extend(session.wrong);
        for (place, words) in session.implausible {
            self.implausible.entry(place).or_insert(words);
        }
        Ok(())
    }

    /// Returns these samples with the labels that the results `other` have for the same configurations. Two
    /// configurations of an experiment are the same if they have equal values of all swept settings. An earlier version
    /// of lsmbench may have given them another label, such as `leveled` instead of `leveled(size_ratio=10)`.
    #[must_use]
    pub(crate) fn with_labels_of(&self, other: &Self) -> Self {
        let (mut own, mut labels) = (self.clone(), BTreeMap::new());
        for (name, manifest) in &mut own.manifests {
            let Some(theirs) = other.manifests.get(name).filter(|of| of.swept == manifest.swept) else {
                continue;
            };
            for cell in &mut manifest.cells {
                if let Some(same) = theirs.cells.iter().find(|their| their.swept == cell.swept) {
                    let old = std::mem::replace(&mut cell.label, same.label.clone());
                    labels.insert([name.clone(), old], same.label.clone());
                }
            }
        }
        let rename = |experiment: &String, label: &mut String| {
            if let Some(new) = labels.get(&[experiment.clone(), label.clone()]) {
                label.clone_from(new);
            }
        };
        let key = |mut key: Key| {
            rename(&key.experiment, &mut key.label);
            key
        };
        let place = |[experiment, mut label, phase]: [String; 3]| {
            rename(&experiment, &mut label);
            [experiment, label, phase]
        };
        own.values = own.values.into_iter().map(|(of, sample)| (key(of), sample)).collect();
        own.sessions = own.sessions.into_iter().map(|(of, medians)| (key(of), medians)).collect();
        own.implausible = own.implausible.into_iter().map(|(of, words)| (place(of), words)).collect();
        own
    }

    /// Adds the samples of another batch of rounds. The trials of the two batches must have different numbers.
    pub(crate) fn extend(&mut self, other: &Self) {
        for (key, sample) in &other.values {
            let all = self.values.entry(key.clone()).or_insert_with(|| Sample::new(&*key.label, []));
            all.blocks.extend(&sample.blocks);
        }
        self.wrong.extend(other.wrong.iter().cloned());
        self.implausible
            .extend(other.implausible.iter().map(|(place, words)| (place.clone(), words.clone())));
        self.manifests
            .extend(other.manifests.iter().map(|(name, manifest)| (name.clone(), manifest.clone())));
    }

    /// Adds the samples of one results folder. The number `block` is added to the number of each trial, so that trials
    /// of different folders can have different numbers. Configurations with a wrong answer get no values.
    pub(crate) fn add(&mut self, folder: &Folder, metrics: &[String], block: u64) -> Outcome<()> {
        let manifest = Manifest::read(&folder.manifest())?;
        manifest.check_rows(folder)?;
        let table = Table::read(&folder.runs())?;
        let chosen = chosen(&manifest, &table, metrics)?;
        let rows = TrialRows::of(&table);
        let wrong = rows.wrong_cells();
        let right = rows.of_cells(|cell| !wrong.contains(&cell));
        for (place, _) in rows.of_cells(|cell| wrong.contains(&cell)).by_key() {
            self.wrong.insert(format!("{}: {}", manifest.experiment, place.label));
        }
        for (row, words) in right.implausible() {
            let [label, phase] = [&c::LABEL, &c::PHASE].map(|column| row.get(column).to_string());
            self.implausible.entry([manifest.experiment.clone(), label, phase]).or_insert(words);
        }
        for (place, rows) in right.by_key() {
            for metric in chosen.iter().filter(|metric| is_of(metric, &place.operation, &manifest)) {
                let measured = rows.measured(&place.label, metric);
                if measured.blocks.is_empty() {
                    continue;
                }
                let key = Key {
                    experiment: manifest.experiment.clone(),
                    label: place.label.clone(),
                    phase: place.phase.clone(),
                    operation: place.operation.clone(),
                    metric: metric.name,
                };
                let sample = self.values.entry(key).or_insert_with_key(|key| Sample::new(&*key.label, []));
                sample.blocks.extend(measured.blocks.iter().map(|(trial, value)| (block + trial, *value)));
            }
        }
        self.manifests.insert(manifest.experiment.clone(), manifest);
        Ok(())
    }
}

/// Returns whether a metric is compared for a kind of operation. In a timed workload, latencies are compared for each
/// kind of operation, and all other metrics only for all operations together. In `counted` mode, all metrics are
/// compared for every kind of operation.
fn is_of(metric: &Metric, operation: &str, manifest: &Manifest) -> bool {
    let is_of_component = |path: &String| ConfigPath::new(path).root() == Root::Component;
    let is_latency = metric.unit == Unit::Nanoseconds && !manifest.swept.iter().any(is_of_component);
    manifest.mode == RunMode::Counted.name() || is_latency != (operation == ALL)
}

/// Returns the columns to compare. These are the columns `metrics`, or the default columns if this list is empty: the
/// exact columns for `counted` runs, and the main metrics for timed runs.
fn chosen(manifest: &Manifest, table: &Table, metrics: &[String]) -> Outcome<Vec<Metric>> {
    let named = metrics.iter().map(|name| match table.column(name)? {
        Column::Fixed(metric) if metric.better != Better::Neither => Ok(*metric),
        _ => Err(Problem::new(format!(
            "neither higher nor lower values of {name} are better, so {name} cannot have a verdict"
        ))),
    });
    let named: Vec<Metric> = named.collect::<Outcome<_>>()?;
    let all = c::METRICS.iter().copied();
    Ok(match manifest.mode == RunMode::Counted.name() {
        _ if !named.is_empty() => named,
        true => all.filter(Metric::is_exact).collect(),
        false => all.filter(|metric| TIMED.contains(metric)).collect(),
    })
}

/// Returns the results folders at a path: the path itself, the folders in it, or the folders one level deeper. Several
/// folders of one experiment are its sessions.
fn folders(path: &Path) -> Outcome<Vec<Folder>> {
    let holds_results = |path: &PathBuf| Folder::new(path).manifest().is_file();
    if holds_results(&path.to_owned()) {
        return Ok(vec![Folder::new(path)]);
    }
    let sessions = inside(path)?;
    let mut inside: Vec<PathBuf> = sessions.iter().filter(|path| holds_results(path)).cloned().collect();
    if inside.is_empty() {
        let within = sessions.iter().filter(|path| path.is_dir()).filter_map(|path| self::inside(path).ok());
        inside = within.flatten().filter(holds_results).collect();
    }
    if inside.is_empty() {
        let message = format!(
            "{path} has no results; name a folder that contains manifest.json, or a folder of such folders",
            path = path.display()
        );
        return Err(Problem::new(message));
    }
    Ok(inside.into_iter().map(Folder::new).collect())
}

/// Returns the files and folders in a folder, sorted by name. Omits the folder with results that a later run replaced.
fn inside(path: &Path) -> Outcome<Vec<PathBuf>> {
    let entries =
        path.read_dir().map_err(|error| Problem::doing(format!("read {}", path.display()), error))?;
    let mut inside: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    inside.retain(|path| path.file_name().is_none_or(|name| name != EARLIER));
    inside.sort();
    Ok(inside)
}
