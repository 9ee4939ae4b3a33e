//! All checks of one engine, in this process and in a separate process.

use std::fmt;
use std::process::{Command, ExitCode};

use catalog::Choice;
use lsmbench_engines::conformance::{Checked, Kept, check_each};
use lsmbench_engines::{Identity, Opening};
use tree::Design;

use crate::{ONE, choose, engine};

/// The prefixes of the lines in which the process that checks one engine reports its results.
const VERSION: &str = "version ";
const KEPT: &str = "kept ";
const WITHOUT: &str = "without ";

/// The outcome of all checks of an engine.
pub(crate) enum Outcome {
    /// The engine keeps every invariant.
    Kept(Report),
    /// The engine breaks an invariant. Contains the output of the process.
    Broken(String),
}

/// An engine that keeps its invariants.
pub(crate) struct Report {
    pub(crate) label: String,
    pub(crate) version: String,
    pub(crate) identity: Identity,
    /// The names of the checks that apply and passed.
    pub(crate) kept: Vec<String>,
    /// The codecs without which the engine was built.
    pub(crate) without: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, version, identity, kept, without } = self;
        write!(text, "{label} {version}: {} checks passed: {}", kept.len(), kept.join(", "))?;
        without.iter().try_for_each(|what| write!(text, "; without {what}"))?;
        identity.doubts.iter().try_for_each(|doubt| write!(text, "\n    {doubt}"))
    }
}

/// Checks an engine in a separate process.
pub(crate) fn check_apart(choice: &Choice, identity: Identity) -> Outcome {
    let program = std::env::current_exe().unwrap();
    let ended = Command::new(program).env(ONE, choice.label()).output().unwrap();
    let (told, errors) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    if !ended.status.success() {
        return Outcome::Broken(format!("{told}{errors}{}", ended.status));
    }
    let told_as = |start: &str| -> Vec<String> {
        told.lines().filter_map(|line| line.strip_prefix(start)).map(str::to_owned).collect()
    };
    Outcome::Kept(Report {
        label: choice.label(),
        version: told_as(VERSION).pop().unwrap_or_default(),
        identity,
        kept: told_as(KEPT),
        without: told_as(WITHOUT),
    })
}

/// Checks an engine in this process, and prints the outcome on standard output.
pub(crate) fn check_here(label: &str) -> ExitCode {
    let choice = choose(label);
    let mut code = ExitCode::SUCCESS;
    for Checked { name, outcome } in check_each(&|| engine(&choice)) {
        match outcome {
            Ok(Kept::Yes) => println!("{KEPT}{name}"),
            Ok(Kept::Without(what)) => println!("{KEPT}{name}\n{WITHOUT}{what}"),
            Ok(Kept::NotAsked) => {}
            Err(broken) => {
                eprintln!("{name}: {broken}");
                code = ExitCode::FAILURE;
            }
        }
    }
    let home = tempfile::tempdir().unwrap();
    let store = engine(&choice).open(&Opening::new(home.path(), &Design::default())).unwrap();
    println!("{VERSION}{}", store.version().unwrap_or_default());
    store.end().unwrap();
    code
}
