//! The program `lsmbench`, which runs experiments on LSM-trees from the command line. Components can come from this
//! repository or from other crates.
//!
//! A crate with its own component depends only on this crate. [`Workbench`] runs the program `lsmbench` with the
//! component. This crate also re-exports the crates of all axes.
//!
//! ```
//! use lsmbench::Workbench;
//! use lsmbench::catalog::{Variant, origin};
//! use lsmbench::tree::hash::{CATALOG, KeyHasher};
//! use lsmbench::types::KeyHash;
//!
//! /// A hash function that returns the first byte of a key.
//! struct FirstByte;
//!
//! impl KeyHasher for FirstByte {
//!     fn hash(&self, key: &[u8]) -> KeyHash {
//!         KeyHash(key.first().copied().unwrap_or_default().into())
//!     }
//! }
//!
//! static FIRST_BYTE: Variant<dyn KeyHasher> =
//!     Variant::<dyn KeyHasher>::plain("first-byte", "the first byte", || Box::new(FirstByte)).from(origin!());
//!
//! let workbench = Workbench::new().hash(&FIRST_BYTE);
//! let hasher = CATALOG.build(&CATALOG.choose(&"first-byte".into())?)?;
//! assert_eq!(hasher.hash(b"a key"), KeyHash(97));
//! // In `main`, `workbench.main()` then executes the command line. Experiments can set `design.hash = "first-byte"`.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[doc(hidden)]
pub use measure::allocation;
mod build_info;
mod charts;
mod cli;
mod command;
mod error_text;
#[doc(hidden)]
pub mod hostile;
mod live;
mod output;
mod workbench;

use std::process::ExitCode;

use clap::Parser;

pub use {
    bloom, cache, catalog, compaction, compression, engines, fence, memtable, plot, results, serde, storage,
    subject, tree, types, workload,
};

use build_info::build_info;
use cli::{Cli, Command, OverrideArguments, RunArguments};
use error_text::error_text;
use experiment::{Experiment, Overrides};
use live::Live;
use output::CONSOLE;
use run::{Ending, RunOptions, interrupt};
use types::{Outcome, shorten_words};
pub use workbench::Workbench;

/// The exit code of a command that found a regression, wrong answers or corruption.
const BAD_ANSWER: u8 = 1;

/// The exit code of an invalid request, and of a command that failed.
const BAD_REQUEST: u8 = 2;

/// The exit code of a command that the user interrupted: 128 plus the number of SIGINT, as in shells.
const INTERRUPTED: u8 = 130;

/// Parses the command line, executes its command, and returns the exit code. Prints errors to standard error.
fn obey_command_line() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => return print_answer_of_parser(&answer),
    };
    match run_command(cli.command) {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            output::line(&error_text(&problem));
            ExitCode::from(BAD_REQUEST)
        }
    }
}

/// Prints the answer of the parser of the command line: the help, the version, or an error. The function shortens long
/// words of an error, because the parser repeats wrong words completely. Returns the exit code.
fn print_answer_of_parser(answer: &clap::Error) -> ExitCode {
    let text = answer.render().to_string();
    let shortened = shorten_words(&text);
    if shortened == text {
        // No other stream is left for a message about an error of the terminal.
        let _ = answer.print();
    } else {
        output::line(shortened.trim_end());
    }
    ExitCode::from(if answer.use_stderr() { BAD_REQUEST } else { 0 })
}

/// Executes one command and returns the exit code.
fn run_command(command: Command) -> Outcome<u8> {
    match command {
        Command::Run(arguments) => run_experiments(arguments),
        Command::List(arguments) => command::list(&arguments).map(|()| 0),
        Command::Describe(arguments) => {
            command::describe(&arguments.config, &overrides(arguments.overrides)).map(|()| 0)
        }
        Command::Simulate(arguments) => {
            command::simulate(&arguments, &overrides(arguments.overrides.clone())).map(|()| 0)
        }
        Command::Tune(arguments) => {
            interrupt::install();
            command::tune(&arguments, overrides(arguments.overrides.clone())).map(|()| ended(true))
        }
        Command::New(arguments) => command::new(&arguments).map(|()| 0),
        Command::Plot(arguments) => command::plot(&arguments).map(|()| 0),
        Command::Merge(arguments) => command::merge(&arguments).map(code_of),
        Command::Submit(arguments) => {
            let changes = overrides(arguments.overrides.clone());
            command::submit(&arguments, &changes).map(|()| 0)
        }
        Command::Page(arguments) => command::page(&arguments).map(|()| 0),
        Command::Gallery(arguments) => {
            interrupt::install();
            command::gallery(&arguments).map(|()| ended(true))
        }
        Command::Report(arguments) => {
            interrupt::install();
            command::report(&arguments).map(ended)
        }
        Command::Site(arguments) => command::site(&arguments).map(|()| 0),
        Command::Workload(arguments) => {
            command::workload(&arguments.config, &overrides(arguments.overrides), arguments.limit).map(|()| 0)
        }
        Command::Trace { command } => command::trace(&command).map(|()| ended(true)),
        Command::Shell(arguments) => command::shell(&arguments).map(|()| ended(true)),
        Command::Serve(arguments) => command::serve(&arguments).map(|()| ended(true)),
        Command::Verify(arguments) => {
            command::verify(&arguments.directory).map(|clean| if clean { 0 } else { BAD_ANSWER })
        }
        Command::Compare(arguments) => {
            command::compare(&arguments).map(|good| if good { 0 } else { BAD_ANSWER })
        }
        Command::Effects(arguments) => command::effects(&arguments).map(|()| 0),
        Command::Engines(arguments) => command::engines(&arguments).map(ended),
        Command::Check(arguments) => {
            interrupt::install();
            command::check(&arguments).map(|good| if good { 0 } else { BAD_ANSWER })
        }
        Command::Fixtures(arguments) => command::fixtures(&arguments).map(|()| 0),
        Command::History(arguments) => command::history(&arguments).map(|()| 0),
        Command::Calibrate(arguments) => {
            interrupt::install();
            command::calibrate(&arguments).map(|()| 0)
        }
        Command::Doctor(arguments) => command::doctor(&arguments.folder, arguments.json)
            .map(|good| if good || !arguments.require { 0 } else { BAD_ANSWER }),
        Command::Torture { test } => command::torture(&test).map(ended),
        Command::Completions { shell } => command::completions(shell).map(|()| 0),
        Command::Man => command::man().map(|()| 0),
        Command::TrialProcess => Ok(if trial::run_trial_process() { 0 } else { BAD_REQUEST }),
        Command::PolicyProcess => {
            // A broken pipe means that no process waits for an answer.
            let done = compaction::answer_without_jobs(std::io::stdin().lock(), std::io::stdout().lock());
            Ok(if done.is_ok() { 0 } else { BAD_REQUEST })
        }
        Command::WriterProcess => {
            command::write_until_killed();
            Ok(BAD_REQUEST)
        }
    }
}

/// Runs experiments and returns the exit code.
fn run_experiments(arguments: RunArguments) -> Outcome<u8> {
    interrupt::install();
    let RunArguments {
        configs,
        mut out,
        plots,
        resume,
        part,
        live,
        no_page,
        allow_debug,
        profile,
        instructions,
        verbose,
        markdown,
        overrides: mut changes,
    } = arguments;
    changes.set.extend(instructions.map(|most| format!("trials.instructions={most}")));
    if let Some(part) = part {
        out = out.join(part.number().to_string());
    }
    let plots = plots.unwrap_or_else(|| match out.as_path() == std::path::Path::new("results") {
        true => "plots".into(),
        false => out.join("charts"),
    });
    let (overrides, build) = (overrides(changes), build_info());
    let (has_page, resume) = (!no_page, resume || part.is_some());
    let console = CONSOLE;
    let options = RunOptions {
        out,
        plots,
        has_page,
        part,
        resume,
        allow_debug,
        has_profile: profile,
        verbose,
        markdown,
        overrides,
        console,
        build,
    };
    let Some(port) = live else { return run::run_all(&configs, &options).map(code_of) };
    let names = configs.iter().map(|config| Ok(Experiment::load(config, &options.overrides)?.name));
    let folders = names.map(|name: Outcome<String>| Ok(options.out.join(name?))).collect::<Outcome<_>>()?;
    Live::bind(folders, port)?.serve_behind();
    let ending = run::run_all(&configs, &options);
    std::thread::sleep(live::LAST_LOOK);
    ending.map(code_of)
}

/// Returns the exit code of a command that runs or merges experiments. `ending` is the way in which the command ended.
fn code_of(ending: Ending) -> u8 {
    match ending {
        Ending::Done => 0,
        Ending::WrongAnswers | Ending::Regressed => BAD_ANSWER,
        Ending::Interrupted => INTERRUPTED,
    }
}

/// Returns the exit code of a command that the user may have interrupted. `is_good` is true if all checks of the
/// command passed.
fn ended(is_good: bool) -> u8 {
    match is_good {
        true if interrupt::is_requested() => INTERRUPTED,
        true => 0,
        false => BAD_ANSWER,
    }
}

fn overrides(arguments: OverrideArguments) -> Overrides {
    let OverrideArguments { set, trials, seed, quick, design } = arguments;
    Overrides { set, trials, seed, quick, design }
}
