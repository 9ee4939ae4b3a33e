//! `lsmbench check`: the gate of a CI run.

use std::path::PathBuf;

use run::{Programs, scratch};
use types::{Outcome, Problem};
use verdict::{Against, Goldens, against, check_goldens};

use crate::cli::{CheckArguments, OverrideArguments};
use crate::output::{line, print};

/// Checks counters against goldens, or times against another build, and prints a report; whether nothing got worse.
pub(crate) fn check(arguments: &CheckArguments) -> Outcome<bool> {
    let commands = commands(arguments)?;
    let work = scratch(arguments.work.as_deref())?;
    let report = match &arguments.against {
        None => {
            let (folder, update) = (&*arguments.baseline, arguments.update);
            let goldens = Goldens { folder, commands, work: work.path(), update, runner: &Programs { line } };
            let Some(report) = check_goldens(&goldens)? else {
                return Ok(true);
            };
            report
        }
        Some(base) => against(&Against {
            base,
            commands,
            blocks: arguments.blocks,
            metrics: &arguments.metric,
            work: work.path(),
            runner: &Programs { line },
        })?,
    };
    print(&report.render(arguments.format))?;
    // What changed was asked for, and is to be looked at.
    Ok(arguments.update || report.is_good())
}

/// The experiments with the options that each is run with.
///
/// # Errors
/// Options that mean nothing here.
fn commands(arguments: &CheckArguments) -> Outcome<Vec<Vec<String>>> {
    let OverrideArguments { set, trials, seed, quick, design } = &arguments.overrides;
    if trials.is_some() {
        return Err(Problem::new(
            "--trials means nothing to a check: counters take one, --against takes --blocks",
        ));
    }
    let is_plain = set.is_empty() && seed.is_none() && !quick && design.is_none();
    if arguments.configs.is_empty() && !is_plain {
        return Err(Problem::new("goldens know their options; name the experiment that others are for"));
    }
    if arguments.configs.is_empty() && arguments.against.is_some() {
        return Err(Problem::new("--against wants experiments: lsmbench check CONFIG… --against PROGRAM"));
    }
    let mut options: Vec<String> = set.iter().map(|set| format!("--set={set}")).collect();
    options.extend(seed.map(|seed| format!("--seed={seed}")));
    options.extend(arguments.allow_debug.then(|| "--allow-debug".to_owned()));
    options.extend(quick.then(|| "--quick".to_owned()));
    options.extend(design.as_ref().map(|design| format!("--design={}", design.display())));
    let command = |config: &PathBuf| [vec![config.display().to_string()], options.clone()].concat();
    Ok(arguments.configs.iter().map(command).collect())
}
