//! `lsmbench`: experiments on LSM-trees, from the command line.

mod charts;
mod cli;
mod command;
mod experiment;
mod interrupt;
mod output;
mod pairs;
mod problem;
mod run;
mod subject;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command, OverrideArguments};
use experiment::Overrides;
use problem::Outcome;
use run::{Ending, RunOptions};

/// The answer is bad: wrong answers, damage found.
const BAD_ANSWER: u8 = 1;

/// The request is bad.
const BAD_REQUEST: u8 = 2;

/// The user interrupted, as shells report it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run_command(cli.command) {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            output::line(&format!("error: {problem}"));
            ExitCode::from(BAD_REQUEST)
        }
    }
}

/// Does what the command line asks for and returns the exit code.
fn run_command(command: Command) -> Outcome<u8> {
    match command {
        Command::Run(arguments) => {
            interrupt::install();
            let plots = arguments.plots.unwrap_or_else(|| {
                match arguments.out.as_path() == std::path::Path::new("results") {
                    true => "plots".into(),
                    false => arguments.out.join("charts"),
                }
            });
            let options = RunOptions {
                out: arguments.out,
                plots,
                resume: arguments.resume,
                allow_debug: arguments.allow_debug,
                overrides: overrides(arguments.overrides),
            };
            Ok(match run::run_all(&arguments.configs, &options)? {
                Ending::Done => 0,
                Ending::WrongAnswers => BAD_ANSWER,
                Ending::Interrupted => INTERRUPTED,
            })
        }
        Command::List(arguments) => command::list(&arguments).map(|()| 0),
        Command::Describe(arguments) => {
            command::describe(&arguments.config, &overrides(arguments.overrides)).map(|()| 0)
        }
        Command::Plot(arguments) => command::plot(&arguments).map(|()| 0),
        Command::Workload(arguments) => {
            command::workload(&arguments.config, &overrides(arguments.overrides), arguments.limit).map(|()| 0)
        }
        Command::Shell(arguments) => command::shell(&arguments).map(|()| 0),
        Command::Verify(arguments) => {
            command::verify(&arguments.directory).map(|clean| if clean { 0 } else { BAD_ANSWER })
        }
        Command::Doctor(arguments) => command::doctor(&arguments.folder, arguments.json).map(|()| 0),
        Command::Torture { what } => command::torture(&what).map(|clean| if clean { 0 } else { BAD_ANSWER }),
        Command::Completions { shell } => command::completions(shell).map(|()| 0),
        Command::Man => command::man().map(|()| 0),
        Command::TrialProcess => Ok(if run::run_trial_process() { 0 } else { BAD_REQUEST }),
    }
}

fn overrides(arguments: OverrideArguments) -> Overrides {
    let OverrideArguments { set, trials, seed, quick, design } = arguments;
    Overrides { set, trials, seed, quick, design }
}
