//! `lsmbench check`: the gate of a CI run.

use std::path::PathBuf;

use crate::cli::{CheckArguments, OverrideArguments};
use crate::gate::{Against, Goldens, against, check_goldens};
use crate::output::print;
use crate::problem::{Outcome, Problem};

/// Checks counters against goldens, or times against another build, and prints a report; whether nothing got worse.
pub(crate) fn check(arguments: &CheckArguments) -> Outcome<bool> {
    let work = Work::create(arguments)?;
    let commands = commands(arguments);
    let report = match &arguments.against {
        None => check_goldens(&Goldens {
            folder: &arguments.baseline,
            commands,
            work: &work.0,
            update: arguments.update,
        })?,
        Some(_) if commands.is_empty() => {
            return Err(Problem::new(
                "--against wants experiments: lsmbench check CONFIG… --against PROGRAM",
            ));
        }
        Some(base) => against(&Against {
            base,
            commands,
            blocks: arguments.blocks,
            metrics: &arguments.metric,
            work: &work.0,
        })?,
    };
    print(&report.render(arguments.format))?;
    // What changed was asked for, and is to be looked at.
    Ok(arguments.update || (report.is_good() && !(arguments.against.is_none() && report.has_changed())))
}

/// The experiments with the options that each is run with.
fn commands(arguments: &CheckArguments) -> Vec<Vec<String>> {
    let OverrideArguments { set, trials: _, seed, quick, design } = &arguments.overrides;
    let mut options: Vec<String> = set.iter().map(|set| format!("--set={set}")).collect();
    options.extend(seed.map(|seed| format!("--seed={seed}")));
    options.extend(arguments.allow_debug.then(|| "--allow-debug".to_owned()));
    options.extend(quick.then(|| "--quick".to_owned()));
    options.extend(design.as_ref().map(|design| format!("--design={}", design.display())));
    let command = |config: &PathBuf| [vec![config.display().to_string()], options.clone()].concat();
    arguments.configs.iter().map(command).collect()
}

/// A folder for runs that goes with this value.
struct Work(PathBuf);

impl Work {
    fn create(arguments: &CheckArguments) -> Outcome<Self> {
        let parent = arguments.work.clone().unwrap_or_else(std::env::temp_dir);
        let folder = parent.join(format!("lsmbench-check-{}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .map_err(|error| Problem::doing(format!("create {}", folder.display()), error))?;
        Ok(Self(folder))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // What stays is in a folder for what does not last.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
