//! `lsmbench submit` runs the parts of an experiment and their merge as jobs of a scheduler.

mod jobs;
mod kubernetes;
mod slurm;
mod ssh;
mod watch;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use experiment::Experiment;
use results::RunMode;
use types::{Outcome, Problem};

use self::jobs::{Jobs, quoted};
use crate::cli::{OverrideArguments, SubmitArguments};
use crate::output::{line, print};

/// Prints the jobs for a scheduler, or submits them. With `--watch`, prints the progress of the parts instead.
pub(crate) fn submit(arguments: &SubmitArguments, overrides: &experiment::Overrides) -> Outcome<()> {
    let experiment = Experiment::load(&arguments.config, overrides)?;
    let natural = match experiment.trials.mode {
        RunMode::Timed => experiment.trials.count,
        RunMode::Counted => experiment.cells.len() as u64,
    };
    let count = arguments.parts.unwrap_or(natural.max(1));
    run::check_count(&experiment, count)?;
    if arguments.watch {
        return watch::watch(&experiment, &arguments.out, count);
    }
    let missing = run::missing(&arguments.out, &experiment.name, count);
    let name = experiment.name.clone();
    let into = arguments.into.clone().unwrap_or_else(|| Path::new("results").join(&experiment.name));
    let program = program(arguments)?;
    let config = arguments.config.display().to_string();
    let out = arguments.out.display().to_string();
    let mut run = vec![program.clone(), "run".to_owned(), config, "--out".to_owned(), out.clone()];
    run.extend(options(&arguments.overrides));
    if arguments.allow_debug {
        run.push("--allow-debug".to_owned());
    }
    let examine = [program.clone(), "doctor".to_owned(), out.clone(), "--require".to_owned()];
    let examine = arguments.require.then(|| quoted(&examine));
    let merge = [program, "merge".to_owned(), out, "--into".to_owned(), into.display().to_string()];
    let done = count - missing.len() as u64;
    line(&format!("{name}: {done} of {count} parts are done"));
    let jobs = Jobs { name, count, missing, examine, run: quoted(&run), merge: quoted(&merge), arguments };
    let text = match (&arguments.ssh[..], arguments.kubernetes) {
        (hosts @ [_, ..], _) => ssh::script(&jobs, hosts),
        (_, true) => kubernetes::manifest(&jobs),
        _ => slurm::script(&jobs),
    };
    if arguments.submit { execute(&text) } else { print(&text) }
}

/// Runs a script that submits jobs to Slurm.
///
/// # Errors
/// This machine has no `sbatch`, or the script fails.
fn execute(script: &str) -> Outcome<()> {
    let wrong = |error: &dyn std::fmt::Display| Problem::doing("submit the jobs", error);
    let has_sbatch = Command::new("sbatch").arg("--version").stdout(Stdio::null()).status();
    if has_sbatch.is_err() {
        return Err(Problem::new(
            "this machine has no program sbatch; to get the script, repeat the command without --submit, and run \
             the script on a machine with Slurm",
        ));
    }
    let mut bash = Command::new("bash").stdin(Stdio::piped()).spawn().map_err(|error| wrong(&error))?;
    if let Some(mut input) = bash.stdin.take() {
        input.write_all(script.as_bytes()).map_err(|error| wrong(&error))?;
    }
    match bash.wait().map_err(|error| wrong(&error))? {
        status if status.success() => Ok(()),
        status => Err(wrong(&format!("the script ended with {status}; the lines above contain the reason"))),
    }
}

/// Returns the path of the program that runs the parts: the path of `--program`, or else the path of this program.
/// For Kubernetes, the default is `lsmbench`, the program in the container image.
fn program(arguments: &SubmitArguments) -> Outcome<String> {
    let named = arguments.program.clone();
    let own = || std::env::current_exe().map_err(|error| Problem::doing("find this program", error));
    let image = arguments.kubernetes.then(|| PathBuf::from("lsmbench"));
    Ok(named.or(image).map_or_else(own, Ok)?.display().to_string())
}

/// Returns the options of `lsmbench run` that set other values than the experiment file, such as `--set` and `--seed`.
fn options(overrides: &OverrideArguments) -> Vec<String> {
    let OverrideArguments { set, trials, seed, quick, design } = overrides;
    let mut options: Vec<String> = set.iter().flat_map(|set| ["--set".to_owned(), set.clone()]).collect();
    let numbers = [("--trials", trials), ("--seed", seed)];
    options.extend(
        numbers
            .iter()
            .filter_map(|(name, of)| Some([(*name).to_owned(), of.as_ref()?.to_string()]))
            .flatten(),
    );
    options.extend(quick.then(|| "--quick".to_owned()));
    options.extend(design.iter().flat_map(|file| ["--design".to_owned(), file.display().to_string()]));
    options
}
