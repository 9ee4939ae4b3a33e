//! `lsmbench check` compares an experiment with golden files or with another build, as a gate in CI.

use std::path::PathBuf;

use run::{Programs, append, scratch};
use types::{Outcome, Problem};
use verdict::{Against, GateRule, Goldens, ReportFormat, against, check_goldens};

use crate::cli::{CheckArguments, DEFAULT_BASELINE, GateArguments, OverrideArguments};
use crate::output::{line, print};

/// Compares counters with golden files, or times with another build, and prints a report. Returns whether all
/// counters or times pass.
pub(crate) fn check(arguments: &CheckArguments) -> Outcome<bool> {
    let commands = commands(arguments)?;
    let GateArguments { tolerance, fail_on, markdown } = &arguments.gate;
    if arguments.against.is_none() && (tolerance.is_some() || fail_on.is_some()) {
        return Err(Problem::new(
            "--tolerance and --fail-on apply only with --against PROGRAM, because without --against each \
             counter must equal its golden value; remove these two options, or add --against",
        ));
    }
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
            rule: GateRule { tolerance: *tolerance, fail_on: *fail_on },
            work: work.path(),
            runner: &Programs { line },
        })?,
    };
    if let Some(file) = markdown {
        append(file, &report.render(ReportFormat::Markdown))?;
    }
    let mut text = report.render(arguments.format);
    if arguments.format == ReportFormat::Text && !arguments.update && report.can_be_accepted() {
        text += "Accept the new values with: ";
        text += &accepting(arguments);
        text += "\n";
    }
    print(&text)?;
    // With --update, changes are expected, so they do not fail the check. The user reviews them.
    Ok(arguments.update || report.is_good())
}

/// Returns the command `lsmbench check --update`, with which the user accepts the measured values as golden values.
fn accepting(arguments: &CheckArguments) -> String {
    let mut command = "lsmbench check".to_owned();
    let baseline = arguments.baseline.display().to_string();
    if baseline != DEFAULT_BASELINE {
        command += " --baseline ";
        command += &baseline;
    }
    command + " --update"
}

/// Returns one list of arguments of `lsmbench run` for each experiment that the user names.
///
/// # Errors
/// The user gives `--trials`, which this command does not accept. Or the user gives an option that needs an experiment
/// file, such as `--seed` or `--against`, and names no experiment file.
fn commands(arguments: &CheckArguments) -> Outcome<Vec<Vec<String>>> {
    let OverrideArguments { set, trials, seed, quick, design } = &arguments.overrides;
    if trials.is_some() {
        return Err(Problem::new(
            "`lsmbench check` does not accept --trials, because counters need only one trial; with --against, set \
             the number of rounds with --blocks",
        ));
    }
    let is_plain = set.is_empty() && seed.is_none() && !quick && design.is_none();
    if arguments.configs.is_empty() && !is_plain {
        return Err(Problem::new(
            "--set, --seed, --quick and --design need an experiment file; without an experiment file, \
             lsmbench check uses the options that each golden file contains",
        ));
    }
    if arguments.configs.is_empty() && arguments.against.is_some() {
        return Err(Problem::new("--against needs experiments: lsmbench check CONFIG... --against PROGRAM"));
    }
    let mut options: Vec<String> = set.iter().map(|set| format!("--set={set}")).collect();
    options.extend(seed.map(|seed| format!("--seed={seed}")));
    options.extend(arguments.allow_debug.then(|| "--allow-debug".to_owned()));
    options.extend(quick.then(|| "--quick".to_owned()));
    options.extend(design.as_ref().map(|design| format!("--design={}", design.display())));
    let command = |config: &PathBuf| [vec![config.display().to_string()], options.clone()].concat();
    Ok(arguments.configs.iter().map(command).collect())
}
