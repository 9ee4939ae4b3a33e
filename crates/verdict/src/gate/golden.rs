//! Compares counters with golden files. The counters of one experiment are equal to the last digit on every machine, so
//! each difference is a change of the program.

use std::path::{Path, PathBuf};

use measure::Sample;
use results::targets::check_folder;
use results::{Golden, GoldenNumber, Manifest, RunMode, Table, columns as c, columns::COMPONENT};
use types::{Outcome, Problem};

use crate::compare::{ComparisonReport, Key, Pairing, Samples};
use crate::runner::Runner;

/// A check of experiments against golden files.
pub struct Goldens<'a> {
    /// The folder that contains one golden file per experiment.
    pub folder: &'a Path,
    /// The experiments with their options, such as `configs/bloom.toml --quick`. If the list is empty, the check uses
    /// the experiments and options of the golden files.
    pub commands: Vec<Vec<String>>,
    /// The folder for the stores and results of the runs.
    pub work: &'a Path,
    /// Whether the new counters replace the golden files.
    pub update: bool,
    /// The object that runs the experiments.
    pub runner: &'a dyn Runner,
}

/// Measures every experiment in `counted` mode and compares it with its golden file. With `update`, rewrites the golden
/// files and reports the changes. Returns `None` if there is nothing to compare, because all golden files are new.
///
/// # Errors
/// An experiment that cannot be run. Without `update`: an experiment that has no golden file, or whose options differ
/// from the options in its golden file. With `update`: an experiment with wrong answers.
pub fn check_goldens(goldens: &Goldens<'_>) -> Outcome<Option<ComparisonReport>> {
    let (mut base, mut new) = (Samples::default(), Samples::default());
    let mut first_time = Vec::new();
    let commands = goldens.commands()?;
    match goldens.update {
        true => check_folder(goldens.folder)?,
        false => commands.iter().try_for_each(|command| goldens.check_options(command))?,
    }
    for (number, command) in commands.iter().enumerate() {
        let mut arguments = command.clone();
        arguments.extend(["--trials=1", "--set=trials.mode=\"counted\""].map(str::to_owned));
        let out = goldens.work.join(format!("counted-{number}"));
        let folder = goldens.runner.run(None, &arguments, &out)?;
        let manifest = Manifest::read(&folder.manifest())?;
        new.add(&folder, &[], 0)?;
        if goldens.update && !new.wrong.is_empty() {
            let wrong: Vec<String> = new.wrong.into_iter().collect();
            return Err(Problem::new(format!(
                "{names} returned wrong answers, so lsmbench writes no golden file",
                names = wrong.join(", ")
            )));
        }
        let path = goldens.folder.join(format!("{}.csv", manifest.experiment));
        if path.exists() {
            let golden = Golden::read(&path)?;
            if !goldens.update
                || golden.numbers.iter().all(|number| results::reference::metric(&number.metric).is_some())
            {
                add(&mut base, &golden)?;
            }
        } else if goldens.update {
            first_time.push(manifest.experiment.clone());
        } else {
            return Err(Problem::new(format!(
                "no golden file {path}; create it with --update, review it, and commit it",
                path = path.display()
            )));
        }
        if goldens.update {
            std::fs::create_dir_all(goldens.folder)
                .map_err(|error| Problem::doing(format!("create {}", goldens.folder.display()), error))?;
            golden(&manifest, &Table::read(&folder.runs())?, command).write(&path)?;
        }
    }
    for experiment in &first_time {
        goldens
            .runner
            .tell(&format!("{experiment}: created the golden file; review it before you commit it"));
    }
    if base.manifests.is_empty() {
        return Ok(None);
    }
    let report = ComparisonReport::of(&base, &new, Pairing::Exact)?;
    Ok(Some(if goldens.update { report.accepted() } else { report }))
}

impl Goldens<'_> {
    /// Returns the experiments to check, with their options.
    fn commands(&self) -> Outcome<Vec<Vec<String>>> {
        if !self.commands.is_empty() {
            return Ok(self.commands.clone());
        }
        let found = self.folder.read_dir();
        let found =
            found.map_err(|error| Problem::doing(format!("read {}", self.folder.display()), error))?;
        let mut files: Vec<PathBuf> = found.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
        files.sort();
        if files.is_empty() {
            let message =
                "no golden files in this folder; create them with: lsmbench check CONFIG... --update";
            return Err(Problem::at(self.folder, None, message));
        }
        files.iter().map(|path| Ok(Golden::read(path)?.command)).collect()
    }

    /// Returns an error if the options of an experiment differ from the options in its golden file. The counters in the
    /// golden file then belong to other operations.
    fn check_options(&self, command: &[String]) -> Outcome<()> {
        let Some((config, given)) = command.split_first() else { return Ok(()) };
        let stem = Path::new(config).file_stem().unwrap_or_default().to_string_lossy();
        let files = [stem.to_string(), format!("{COMPONENT}-{stem}")].map(|name| format!("{name}.csv"));
        let Some(path) = files.iter().map(|file| self.folder.join(file)).find(|path| path.exists()) else {
            return Ok(());
        };
        let golden = Golden::read(&path)?;
        let made = options(golden.command.get(1..).unwrap_or_default());
        if options(given) == made {
            return Ok(());
        }
        let listed = |options: Vec<&String>| match options.is_empty() {
            true => "no options".to_owned(),
            false => options.into_iter().map(String::as_str).collect::<Vec<_>>().join(" "),
        };
        Err(Problem::new(format!(
            "the golden file {path} was created with {old}, not with {new}, so the counters are not \
             comparable; use the options of the golden file, or create another golden file with --baseline \
             DIR --update",
            path = path.display(),
            old = listed(made),
            new = listed(options(given))
        )))
    }
}

/// Returns the command-line options that affect counters, sorted.
fn options(arguments: &[String]) -> Vec<&String> {
    let mut options: Vec<&String> =
        arguments.iter().filter(|argument| *argument != "--allow-debug").collect();
    options.sort();
    options
}

/// Converts the exact values of a run to a golden file. `command` contains the experiment file and its options.
fn golden(manifest: &Manifest, table: &Table, command: &[String]) -> Golden {
    let mut golden = Golden {
        experiment: manifest.experiment.clone(),
        command: command.to_vec(),
        config_hash: manifest.config_hash.clone(),
        ..Golden::default()
    };
    for row in table.rows() {
        for metric in c::METRICS.iter().filter(|metric| metric.is_exact()) {
            let value = row.get(metric);
            if value.number().is_some() {
                golden.numbers.push(GoldenNumber {
                    label: row.get(&c::LABEL).to_string(),
                    phase: row.get(&c::PHASE).to_string(),
                    operation: row.get(&c::OPERATION).to_string(),
                    metric: metric.name.to_owned(),
                    value: value.to_string(),
                });
            }
        }
    }
    golden
}

/// Adds the values of a golden file to the samples.
///
/// # Errors
/// A column that this version does not know.
fn add(samples: &mut Samples, golden: &Golden) -> Outcome<()> {
    for number in &golden.numbers {
        let Some(metric) = results::reference::metric(&number.metric) else {
            let (experiment, metric) = (&golden.experiment, &number.metric);
            let message = format!(
                "the golden file of {experiment} has the unknown column {metric}; write the file again with --update"
            );
            return Err(Problem::new(message));
        };
        let value = number.value.parse().expect("a golden file must contain only numbers");
        let key = Key {
            experiment: golden.experiment.clone(),
            label: number.label.clone(),
            phase: number.phase.clone(),
            operation: number.operation.clone(),
            metric: metric.name,
        };
        samples.values.insert(key, Sample::new(&*number.label, [(0, value)]));
    }
    let manifest = Manifest {
        experiment: golden.experiment.clone(),
        mode: RunMode::Counted.name().to_owned(),
        config_hash: golden.config_hash.clone(),
        ..Manifest::default()
    };
    samples.manifests.insert(golden.experiment.clone(), manifest);
    Ok(())
}
