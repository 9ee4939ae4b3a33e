//! A reader who follows the steps of a page in a copy of the repository.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use results::{Folder, Manifest, columns as c};

use super::preparations::prepare;
use super::shell::{Call, calls};
use super::{NOT_RUN, is_in, missing};
use crate::bench::{Answer, Bench};
use crate::markdown::{CommandLine, Step, in_repository, is_file};

/// The parts of the repository that the pages use.
const COPIED: [&str; 5] =
    ["configs", "docs/results/engines.md", "results/baseline", "results/history.csv", "results/peers"];

/// The keys with numbers of operations. The tests run experiments with smaller numbers.
const SIZES: [&str; 3] = ["insert", "operations", "entries"];

/// The words in the output of a run in `counted` mode. The test compares the numbers of such an output, too.
const EXACT: &str = ", counted (one seed)";

/// A reader who follows the steps of a page in a copy of the repository.
pub(super) struct Reader<'a> {
    pub(super) page: &'a str,
    bench: Bench,
    /// The files that the page asks to save, by their names.
    files: BTreeMap<String, String>,
}

impl<'a> Reader<'a> {
    /// Copies the parts of the repository that pages use. The experiments of the copy have fewer operations.
    pub(super) fn new(page: &'a str) -> Self {
        let bench = Bench::new();
        for path in COPIED {
            copy(&in_repository(path), &bench.path("lsmbench").join(path));
        }
        let program = Path::new(env!("CARGO_BIN_EXE_lsmbench"));
        for folder in ["lsmbench", "base"] {
            let folder = bench.path(folder).join("target/release");
            fs::create_dir_all(&folder).unwrap();
            symlink(program, folder.join("lsmbench")).unwrap();
        }
        Self { page, bench, files: BTreeMap::new() }
    }

    /// Returns a path in the copy of the repository.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.bench.path("lsmbench").join(path)
    }

    /// Writes files of a page. Experiments get fewer operations.
    pub(super) fn save(&self, files: &BTreeMap<String, String>) {
        files.iter().for_each(|(name, text)| fs::write(self.path(name), smaller(text)).unwrap());
    }

    /// Runs lsmbench, which must succeed.
    pub(super) fn ok(&self, arguments: &[&str]) {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        self.call(&Call { arguments, ..Call::default() }, false).expect(0);
    }

    /// Follows one step of the page.
    pub(super) fn follow(&mut self, step: &Step) {
        match step {
            Step::Save { .. } | Step::ReplaceEnd { .. } => step.save(self.page, &mut self.files),
            Step::Run(command) if !is_in(NOT_RUN, &command.text) => self.run(command),
            Step::Run(_) => {}
        }
    }

    /// Runs a command, and compares its output with the quoted output.
    fn run(&self, command: &CommandLine) {
        let place = format!("{}:{}: {}", self.page, command.line, command.text);
        let calls = calls(&command.text);
        if calls.is_empty() {
            return;
        }
        let is_exact = command.output.as_ref().is_some_and(|output| output.contains(EXACT));
        match is_exact {
            true => self.files.iter().for_each(|(name, text)| fs::write(self.path(name), text).unwrap()),
            false => self.save(&self.files),
        }
        prepare(self, &command.text);
        for call in &calls {
            let answer = self.call(call, command.output.is_some());
            let is_expected = match &command.output {
                // Only noise distinguishes a build from itself.
                _ if call.arguments.iter().any(|argument| argument == "--against") => {
                    answer.code == Some(0) || answer.code == Some(1)
                }
                Some(output) if output.starts_with("FAIL") => answer.code == Some(1),
                _ => answer.code == Some(0),
            };
            assert!(is_expected, "{place}: exit code {:?}\n{}{}", answer.code, answer.out, answer.err);
            let Some(quoted) = &command.output else { continue };
            let real = match quoted.contains(" paired trials") {
                true => self.with_fixed_times(call),
                false => answer.out,
            };
            if is_exact {
                assert_eq!(quoted.trim(), real.trim(), "{place}");
            } else if let Some(statement) = missing(quoted, &real) {
                panic!("{place}: the output does not contain: {statement}\n{real}");
            }
        }
    }

    /// Runs lsmbench in the copy of the repository. If the page does not quote the output, a run has one trial.
    fn call(&self, call: &Call, is_quoted: bool) -> Answer {
        let expanded = self.expanded(&call.arguments);
        let mut arguments = expanded.clone();
        let has = |option: &str| call.arguments.iter().any(|argument| argument == option);
        let mut add = |options: &[&str]| arguments.extend(options.iter().map(|option| (*option).to_owned()));
        let is_run = call.arguments[0] == "run";
        if ["run", "tune", "check"].contains(&&*call.arguments[0]) {
            add(&["--allow-debug"]);
        }
        if is_run && !is_quoted && !has("--trials") && !has("--part") {
            add(&["--trials", "1"]);
        }
        if is_run && expanded.iter().any(|argument| self.sweeps_engines(argument)) {
            add(&["--set", "sweep.engine=[\"lsmbench\"]"]);
        }
        if has("--against") {
            add(&["--blocks", "6", "--set", "sweep.\"design.compaction\"=[\"leveled\"]"]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = self.bench.command(&arguments);
        command.current_dir(self.path(".")).envs(call.environment.iter().cloned());
        Answer::of(command.spawn().unwrap())
    }

    /// Returns whether an argument is an experiment that sweeps engines, or sets such a sweep.
    fn sweeps_engines(&self, argument: &str) -> bool {
        let is_engine = |line: &str| line.starts_with("engine ") || line.starts_with("\"engine\" ");
        let text = || fs::read_to_string(self.path(argument)).unwrap_or_default();
        argument.starts_with("sweep.engine=") || is_file(argument, "toml") && text().lines().any(is_engine)
    }

    /// Replaces each argument that is a pattern such as `configs/*.toml` by the path of the shortest such file. Other
    /// tests and CI run all shipped experiments.
    fn expanded(&self, arguments: &[String]) -> Vec<String> {
        let file = |argument: &String| {
            let (before, after) = argument.split_once('*')?;
            let (folder, before) = before.rsplit_once('/')?;
            let names = fs::read_dir(self.path(folder)).unwrap().map(|entry| entry.unwrap().file_name());
            let names = names.map(|name| name.into_string().unwrap());
            let found = names.filter(|name| name.starts_with(before) && name.ends_with(after));
            let paths = found.map(|name| format!("{folder}/{name}"));
            paths.min_by_key(|path| (fs::metadata(self.path(path)).unwrap().len(), path.clone()))
        };
        arguments.iter().map(|argument| file(argument).unwrap_or_else(|| argument.clone())).collect()
    }

    /// Replaces the times and the memory in the results of a run by fixed values that decide the verdict, and returns
    /// the output of a resumed run, which computes its verdict from these values.
    fn with_fixed_times(&self, call: &Call) -> String {
        let name = Path::new(&call.arguments[1]).file_stem().unwrap().to_str().unwrap();
        let folder = Folder::new(self.path("results").join(name));
        for (file, factor) in [(folder.runs(), 1.0), (folder.noise(), 1.001)] {
            let text = fs::read_to_string(&file).unwrap();
            let mut lines = text.lines();
            let header: Vec<&str> = lines.next().unwrap().split(',').collect();
            let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
            let [own, trial, rate, cache] =
                [&c::CELL, &c::TRIAL, &c::OPS_PER_SECOND, &c::CACHE_BYTES].map(|column| place(column.name));
            let mut changed = header.join(",") + "\n";
            for line in lines {
                let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
                let [number, round] = [own, trial].map(|place| cells[place].parse::<f64>().unwrap());
                cells[rate] = (1e6 * factor * (1.0 + 0.7 * number) * (1.0 + 0.01 * round)).to_string();
                cells[cache] = format!("{}", 20_000_000 + 1_000_000 * number as u64);
                changed.extend([&*cells.join(","), "\n"]);
            }
            fs::write(file, changed).unwrap();
        }
        let mut manifest = Manifest::read(&folder.manifest()).unwrap();
        (manifest.runs, manifest.timeline, manifest.noise, manifest.levels) = (None, None, None, None);
        manifest.write(&folder.manifest()).unwrap();
        let mut resumed = call.clone();
        resumed.arguments.push("--resume".to_owned());
        self.call(&resumed, true).expect(0).out
    }
}

/// Copies a file or a folder. Experiments get fewer operations.
pub(super) fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.extension().is_some_and(|ending| ending == "toml") {
        fs::write(to, smaller(&fs::read_to_string(from).unwrap())).unwrap();
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}

/// Returns an experiment with fewer operations. Numbers of operations that differ also differ in the result.
fn smaller(experiment: &str) -> String {
    let smaller_line = |line: &str| {
        let (key, value) = line.split_once('=')?;
        let last = key.trim().trim_matches('"').rsplit('.').next()?;
        SIZES.contains(&last).then(|| format!("{key}={}\n", smaller_numbers(value).trim_end()))
    };
    experiment.lines().map(|line| smaller_line(line).unwrap_or_else(|| format!("{line}\n"))).collect()
}

/// Replaces each number above 100 in the values of a line by a number that is a thousandth, plus 100.
fn smaller_numbers(values: &str) -> String {
    let values = values.split('#').next().unwrap();
    let mut text = String::new();
    let mut digits = String::new();
    for character in values.chars().chain([' ']) {
        if character.is_ascii_digit() || character == '_' && !digits.is_empty() {
            digits.push(character);
            continue;
        }
        if !digits.is_empty() {
            let number: u64 = std::mem::take(&mut digits).replace('_', "").parse().unwrap();
            text += &(if number > 100 { 100 + number / 1000 } else { number }).to_string();
        }
        text.push(character);
    }
    text
}

#[test]
fn experiments_get_fewer_operations() {
    let text = "insert = 10_000  # all\n\"phase.a.operations\" = [50, 1_000_000]\nseed = 10_000\n";
    assert_eq!(smaller(text), "insert = 110\n\"phase.a.operations\" = [50, 1100]\nseed = 10_000\n");
}
