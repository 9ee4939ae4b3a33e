//! Merges the parts of an experiment into one results folder, which has the same format as the results folder of a
//! single run.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use experiment::{Experiment, Overrides};
use measure::{Arrangement, Plan};
use results::targets::{check_file, check_folder, create_folder};
use results::{
    BuildInfo, Folder, Group, MachineInfo, Manifest, NodeInfo, PartInfo, Row, RowWriter, Seal, Table,
    columns as c,
};
use types::{Outcome, Problem};
use verdict::Machines;

use super::conclusion::Conclusion;
use super::console::Console;
use super::cut::Cut;
use super::ending::Ending;
use super::environment;
use super::parts::{Parts, ReadPart};

/// The name of the folder for the manifests of the merged parts.
const PARTS: &str = "parts";

/// The options of a merge of the parts of an experiment.
#[derive(Clone, Debug)]
pub struct PartsMergeOptions {
    /// The folder for charts. The charts of each experiment are in a folder with its name.
    pub plots: PathBuf,
    /// Whether to write a page with the results next to the charts.
    pub has_page: bool,
    /// The file to which the verdicts are appended as Markdown. `None` if there is no such file.
    pub markdown: Option<PathBuf>,
    /// The functions that print the output.
    pub console: Console,
    /// The description of this program, for the manifest.
    pub build: BuildInfo,
}

/// Merges the parts of an experiment in the folder `parts` into a new results folder, and computes the verdicts. Trials
/// are compared only with trials of the same machine.
///
/// # Errors
/// The parts belong to different experiments, are incomplete, or were changed after the run. The folder `into` already
/// contains files.
pub fn merge(parts: &Path, into: &Path, options: &PartsMergeOptions) -> Outcome<Ending> {
    let wanted = into.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parts = Parts::read(parts, &wanted)?;
    parts.check(&options.build)?;
    if into.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Problem::new(format!(
            "{} already contains files; remove the folder, or merge into another folder",
            into.display()
        )));
    }
    check_folder(into)?;
    options.markdown.as_deref().map_or(Ok(()), check_file)?;
    let experiment = experiment_of(&parts.of[0].manifest)?;
    let facts = experiment.facts();
    let cut = Cut::of(&experiment, &facts);
    parts.check_rows(&cut)?;
    create_folder(into)?;
    let folder = Folder::new(into);
    let source = Source { order: order(&parts, &cut), parts, cut };
    let mut manifest = source.manifest(into)?;
    manifest.runs = Some(source.write(&folder, Folder::runs, false)?);
    manifest.timeline = Some(source.write(&folder, Folder::timeline, false)?);
    manifest.levels = Some(source.write(&folder, Folder::levels, false)?);
    manifest.noise = Some(source.write(&folder, Folder::noise, true)?);
    keep_manifests(&source.parts, &folder)?;
    source.copy_histograms(&folder)?;
    let conclusion = Conclusion {
        experiment: &experiment,
        facts: &facts,
        folder: &folder,
        plots: options.plots.join(&experiment.name),
        has_page: options.has_page,
        markdown: options.markdown.as_deref(),
        console: options.console,
    };
    let verdicts = conclusion.verdicts(&[])?;
    let of_machines = verdicts.of_machines(&machines(&manifest.nodes));
    manifest.conclusions = verdicts.sentences();
    manifest.conclusions.extend(of_machines.iter().cloned());
    manifest.write(&folder.manifest())?;
    conclusion.conclude(&manifest, &verdicts, &of_machines)
}

/// Reads the experiment from the manifest of one of its parts.
fn experiment_of(manifest: &Manifest) -> Outcome<Experiment> {
    let wrong = |error: std::io::Error| {
        Problem::doing("write a temporary file with the experiment that the parts belong to", error)
    };
    let folder = tempfile::tempdir().map_err(wrong)?;
    let stem = manifest.experiment.strip_prefix("component-").unwrap_or(&manifest.experiment);
    let path = folder.path().join(format!("{stem}.toml"));
    std::fs::write(&path, &manifest.resolved).map_err(wrong)?;
    let experiment = Experiment::load(&path, &Overrides::default())?;
    match experiment.config_hash() == manifest.config_hash {
        true => Ok(experiment),
        false => Err(Problem::new(
            "this program reads another experiment from the manifests of the parts than the program that ran them; \
             merge with that program, on a machine that has the input files",
        )),
    }
}

/// Returns all trials of the merged results, in the order in which a single run would write their rows. The flag of a
/// trial is true if it is the second trial of a baseline.
fn order(parts: &Parts, cut: &Cut) -> Vec<(Group, bool)> {
    let ReadPart { manifest, info, .. } = &parts.of[0];
    let has_noise = |cell: u64| {
        let mut rows = parts.of.iter().flat_map(|part| part.noise.rows());
        rows.any(|row| row.group().is_some_and(|group| group.cell == cell))
    };
    let numbers = || manifest.cells.iter().map(|cell| cell.cell);
    let twice = numbers().filter(|cell| has_noise(*cell)).map(|cell| (cell, true));
    let cells: Vec<(u64, bool)> = numbers().map(|cell| (cell, false)).chain(twice).collect();
    let plan = Plan::new(cells.len(), manifest.trials as usize, manifest.seed, Arrangement::Mirrored);
    let groups = plan.slots.iter().flat_map(|slot| {
        let (cell, again) = cells[slot.cell];
        cut.merged(info.count, slot.block as u64).map(move |trial| (Group { cell, trial }, again))
    });
    groups.collect()
}

/// The parts of an experiment to merge, with the order of their rows in the merged results.
struct Source {
    parts: Parts,
    cut: Cut,
    /// The trials in the order of the merged results. The flag of a trial is true if it is the second trial of a
    /// baseline.
    order: Vec<(Group, bool)>,
}

impl Source {
    /// Merges one CSV file of all parts. `path` returns the path of this file in a results folder. `again` is true if
    /// the file contains the second trials of baselines.
    fn write(&self, folder: &Folder, path: fn(&Folder) -> PathBuf, again: bool) -> Outcome<Seal> {
        let mut rows: HashMap<Group, Vec<Row>> = HashMap::new();
        let mut schema = None;
        for part in &self.parts.of {
            let table = Table::read(&path(&part.folder))?;
            for row in table.rows() {
                let Some(group) = row.group() else { continue };
                let trial = self.cut.merged_round(part.part()?, group.trial);
                let mut row = row.clone();
                row.set(&c::TRIAL, trial);
                rows.entry(Group { trial, ..group }).or_default().push(row);
            }
            schema.get_or_insert_with(|| table.schema().clone());
        }
        let schema = schema.ok_or_else(|| Problem::new("the experiment has no finished parts"))?;
        let mut writer = RowWriter::create(&path(folder), &schema)?;
        for (group, _) in self.order.iter().filter(|(_, of_noise)| *of_noise == again) {
            if let Some(rows) = rows.remove(group) {
                writer.append(&rows)?;
            }
        }
        Ok(writer.seal()?)
    }

    /// Creates the manifest of the merged results.
    fn manifest(&self, into: &Path) -> Outcome<Manifest> {
        let parts = &self.parts.of;
        let manifests = || parts.iter().map(|part| &part.manifest);
        let mut manifest = parts[0].manifest.clone();
        manifest.part = None;
        manifest.trials = self.cut.merged_rounds(parts[0].info.count);
        manifest.started = manifests().map(|of| of.started.clone()).min().unwrap_or_default();
        manifest.ended = manifests().filter_map(|of| of.ended.clone()).max();
        manifest.command = std::env::args().collect();
        for cell in &mut manifest.cells {
            let number = cell.cell;
            let mut others = manifests().flat_map(|of| &of.cells).filter(|other| other.cell == number);
            if let Some(ran) = others.find(|other| !other.streams.is_empty()) {
                *cell = ran.clone();
            }
        }
        let infos = parts.iter().map(|part| self.merged_info(part)).collect::<Outcome<Vec<_>>>()?;
        manifest.nodes = PartInfo::nodes_of(&infos);
        let names: Vec<&str> = manifest.nodes.iter().map(|node| node.name.as_str()).collect();
        let is_one = names.len() < 2;
        if !is_one {
            let cpu = Some(format!("{} machines: {}", names.len(), names.join(", ")));
            manifest.machine = MachineInfo { cpu, cores: None, ..environment::machine_info(into) };
        }
        manifest.warnings.clear();
        for part in parts {
            for warning in &part.manifest.warnings {
                let said =
                    if is_one { warning.clone() } else { format!("part {}: {warning}", part.info.number) };
                if !manifest.warnings.contains(&said) {
                    manifest.warnings.push(said);
                }
            }
        }
        Ok(manifest)
    }

    /// Returns the entry of a part for the manifest of the merged results. The entry contains the numbers that the
    /// rounds of the part have in the merged results.
    fn merged_info(&self, part: &ReadPart) -> Outcome<PartInfo> {
        let (own, mut info) = (part.part()?, part.info.clone());
        for round in info.nodes.iter_mut().flat_map(|node| &mut node.rounds) {
            *round = self.cut.merged_round(own, *round);
        }
        Ok(info)
    }

    /// Copies the latency logs of all parts. The names of the copies contain the round numbers of the merged results.
    fn copy_histograms(&self, folder: &Folder) -> Outcome<()> {
        create_folder(&folder.histograms())?;
        for part in &self.parts.of {
            let groups: BTreeSet<Group> = part.runs.rows().iter().filter_map(Row::group).collect();
            for group in groups {
                let merged = Group { trial: self.cut.merged_round(part.part()?, group.trial), ..group };
                for phase in &part.manifest.phases {
                    let from = part.folder.histogram(group, phase);
                    if from.exists() {
                        copy(&from, &folder.histogram(merged, phase))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the machine of each round, and the findings of `lsmbench doctor` on each machine.
fn machines(nodes: &[NodeInfo]) -> Machines {
    let mut machines = Machines::default();
    for node in nodes {
        machines.of_rounds.extend(node.rounds.iter().map(|round| (*round, node.name.clone())));
        let concerns = node.machine.findings.iter().filter_map(|finding| {
            let value = finding.value.as_ref().map_or_else(String::new, |value| format!(", {value}"));
            Some(format!("{}{value}: {}", finding.check, finding.advice.as_ref()?))
        });
        machines.findings.insert(node.name.clone(), concerns.collect());
    }
    machines
}

/// Copies the manifest of every part to the folder of the merged results.
fn keep_manifests(parts: &Parts, folder: &Folder) -> Outcome<()> {
    let kept = folder.root().join(PARTS);
    create_folder(&kept)?;
    for part in &parts.of {
        copy(&part.folder.manifest(), &kept.join(format!("{}.json", part.info.number)))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    let copied = std::fs::copy(from, to);
    copied.map(drop).map_err(|error| Problem::doing(format!("copy {}", from.display()), error))
}
