//! Tests of the commands in the documentation. The program must accept the arguments of each command. Commands that
//! finish in a short time must succeed, and must print the output that the page quotes.

mod preparations;
mod reader;
mod shape;
mod shell;

use std::collections::BTreeSet;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::markdown::{self, Block, Step};
use preparations::PREPARATIONS;
use reader::Reader;
pub(crate) use shape::missing;
use shell::calls;

/// The beginnings of the commands that the tests do not run, each with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("lsmbench serve ", "the server runs until a signal; `serve.rs` and `served.rs` start servers"),
    ("LSMBENCH_PASSWORD=secret lsmbench serve ", "the server runs until a signal"),
    ("target/release/lsmbench serve ", "the server runs until a signal, and needs the feature `grpc`"),
    (
        "lsmbench page results/quickstart --live",
        "the page is served until a signal; `live.rs` loads such a page",
    ),
    ("lsmbench run configs/quickstart.toml --live", "the run serves its page; `live.rs` loads such a page"),
    (
        "./target/release/lsmbench check configs/quickstart.toml --quick --against",
        "the page also has a tolerant check",
    ),
    ("lsmbench run gate.toml", "the experiment needs two libraries of RocksDB; `gates.rs` runs gates"),
    ("LSMBENCH_DESIGN=configs/designs/leveldb-like.toml lsmbench run ", "the experiment needs a library"),
    (
        "lsmbench torture kill --engine ",
        "the command needs other engines; `kills.rs` kills stores of lsmbench",
    ),
    ("lsmbench run configs/scale/growth.toml", "the sweep names other engines; `recipes.rs` runs the file"),
    ("lsmbench run configs/scale/constant-rate.toml", "the sweep names other engines"),
    ("lsmbench run configs/peers/reads.toml", "the run loads ten million keys"),
    ("lsmbench run memtables.toml --profile", "the command needs perf; `profiles.rs` runs it"),
    ("cargo run --release -- run experiment.toml", "cargo compiles a new crate; `.ci/new` does so"),
    ("lsmbench site --out target/site", "the site takes half a minute; `site.rs` writes a smaller site"),
    ("lsmbench site --check ", "the check needs a full run; `site.rs` checks such a folder"),
    (
        "lsmbench history results/history.csv --metric ops_per_second --add $results",
        "the loop needs old commits",
    ),
    ("systemd-run ", "the command needs systemd and a cgroup"),
    ("lsmbench run growth.toml --set phase.load.insert=10000000", "the run loads ten million keys"),
    (
        "lsmbench report experiments/golsm --quick",
        "the experiments take a minute; `report.rs` runs smaller ones",
    ),
    ("lsmbench report --check", "`report.rs` checks the report in git"),
    ("lsmbench simulate growth.toml --picture expected", "the simulation of 10^9 keys takes a minute"),
    ("lsmbench simulate configs/quickstart.toml --entries", "the simulation of 10^9 keys takes minutes"),
    ("lsmbench simulate grid.toml", "the page describes this file, and does not contain it"),
    ("lsmbench tune grid.toml", "the page describes this file, and does not contain it"),
];

/// The beginnings of the commands of other programs whose output is compared by another test, each with this test.
const OTHER_PROGRAMS: &[(&str, &str)] =
    &[("python3 docs/how-to/recompute.py ", "`pages.rs` runs the script if pandas is installed")];

/// Pages without a command or an experiment, each with the reason.
const WITHOUT_EXAMPLE: [(&str, &str); 1] = [("docs/SUMMARY.md", "the table of contents")];

#[test]
fn pages_contain_valid_commands() {
    let mut wrong = Vec::new();
    let mut found = 0;
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "experiments/README.md"];
    for page in markdown::pages().into_iter().chain(others.map(str::to_owned)) {
        let text = markdown::read(&page);
        let blocks = markdown::blocks(&text);
        let shell = blocks.iter().filter(|block| ["sh", "console"].contains(&&*block.language));
        let lines = shell.flat_map(markdown::command_lines).map(|command| (command.line, command.text, true));
        let workflows = blocks.iter().filter(|block| block.language == "yaml");
        let jobs =
            workflows.flat_map(markdown::workflow_commands).map(|(line, command)| (line, command, true));
        let spans = markdown::spans(&text).into_iter().map(|(line, code)| (line, code, false));
        for (line, text, is_complete) in lines.chain(jobs).chain(spans) {
            for call in calls(&text) {
                found += 1;
                let parsed = lsmbench::hostile::command_line(call.arguments.iter().map(String::as_str));
                // The help and the version are not for standard error.
                if let Err(error) = parsed
                    && error.use_stderr()
                    && (is_complete || !is_shortened(&error))
                {
                    wrong.push(format!("{page}:{line}: {text}\n{error}"));
                }
            }
        }
        let languages =
            blocks.iter().filter(|block| ["", "bash", "shell", "shell-session"].contains(&&*block.language));
        wrong.extend(languages.map(|block| format!("{page}:{}: write ```sh or ```console", block.line)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found > 300, "{found} commands are in the pages");
}

/// Returns whether the arguments are only incomplete, or contain a placeholder such as `NAME` in place of a value.
/// Sentences may mention such a command.
fn is_shortened(error: &clap::Error) -> bool {
    let is_placeholder =
        |value: &str| !value.contains(|letter: char| letter.is_lowercase() || letter.is_numeric());
    match error.kind() {
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => true,
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => match error.get(ContextKind::InvalidValue) {
            Some(ContextValue::String(value)) => is_placeholder(value),
            _ => false,
        },
        _ => false,
    }
}

#[test]
fn commands_of_how_to_pages_succeed() {
    succeed(|page| page.starts_with("docs/how-to/"));
}

#[test]
fn commands_of_other_pages_succeed() {
    succeed(|page| !page.starts_with("docs/how-to/"));
}

/// Runs the commands of the selected pages, each page in its own copy of a part of the repository.
fn succeed(is_selected: fn(&str) -> bool) {
    for page in markdown::pages().iter().filter(|page| is_selected(page)) {
        let steps = steps_of(page);
        if steps.iter().any(is_run) {
            let mut reader = Reader::new(page);
            steps.iter().for_each(|step| reader.follow(step));
        }
    }
}

/// Returns the steps of a page.
fn steps_of(page: &str) -> Vec<Step> {
    markdown::steps(page, &markdown::read(page))
}

/// Returns whether a step is a command that the tests run.
fn is_run(step: &Step) -> bool {
    matches!(step, Step::Run(command) if !calls(&command.text).is_empty() && !is_in(NOT_RUN, &command.text))
}

/// Returns whether a step is a command that another test runs.
fn is_run_elsewhere(step: &Step) -> bool {
    matches!(step, Step::Run(command) if is_in(OTHER_PROGRAMS, &command.text))
}

/// Returns whether the beginning of a command is in a list.
fn is_in(list: &[(&str, &str)], command: &str) -> bool {
    list.iter().any(|(beginning, _)| command.trim_start().starts_with(beginning))
}

#[test]
fn every_page_has_an_example() {
    let is_experiment = |block: &Block| block.language == "toml" && block.code.starts_with("question");
    let mut missing = BTreeSet::new();
    // The generated pages have their own tests.
    for page in markdown::pages().into_iter().filter(|page| !page.starts_with("docs/reference/")) {
        let is_example = |step: &Step| is_run(step) || is_run_elsewhere(step);
        let blocks = markdown::blocks(&markdown::read(&page));
        if !steps_of(&page).iter().any(is_example) && !blocks.iter().any(is_experiment) {
            missing.insert(page);
        }
    }
    assert_eq!(
        missing,
        WITHOUT_EXAMPLE.map(|(page, _)| page.to_owned()).into(),
        "pages without a tested example"
    );
}

#[test]
fn every_quoted_output_is_compared() {
    for page in markdown::pages() {
        for step in steps_of(&page) {
            let Step::Run(command) = &step else { continue };
            let is_compared = command.output.is_none() || is_run(&step) || is_run_elsewhere(&step);
            assert!(is_compared, "{page}:{}: no test compares the output", command.line);
        }
    }
}

#[test]
fn every_exception_is_in_a_page() {
    let commands = |page: &str| {
        let steps = steps_of(page).into_iter();
        steps.filter_map(|step| match step {
            Step::Run(command) => Some(command.text),
            _ => None,
        })
    };
    let all: Vec<String> = markdown::pages().iter().flat_map(|page| commands(page)).collect();
    for (beginning, _) in NOT_RUN.iter().chain(OTHER_PROGRAMS) {
        let is_used = all.iter().any(|command| command.trim_start().starts_with(beginning));
        assert!(is_used, "no page contains {beginning}");
    }
    for (page, beginning, _) in PREPARATIONS {
        assert!(
            commands(page).any(|command| command.starts_with(beginning)),
            "{page} does not contain {beginning}"
        );
    }
}
