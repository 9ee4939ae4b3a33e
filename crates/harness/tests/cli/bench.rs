//! A temporary folder in which tests run the program and read its files.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use results::{Folder, Manifest, Metric, Row, Table, columns as c};
use tempfile::TempDir;

/// An experiment of three cells that takes less than a second.
pub(crate) const SMALL: &str = r#"
question = "Which filter lets fewest absent lookups through?"

[design]
memtable = { capacity = "32KiB" }

[[phase]]
name   = "load"
insert = 3_000
value  = { kind = "fixed", bytes = 32 }

[[phase]]
name       = "look"
operations = 3_000
mix        = { get = 0.9, put = 0.1 }
absent     = 0.5

[sweep]
"design.bloom" = ["none", "standard", "blocked"]

[trials]
count = 1
mode  = "counted"

[[chart]]
kind = "bar"
x    = "design.bloom"
y    = "fpr"
"#;

/// Time limit of any step of a test.
const PATIENCE: Duration = Duration::from_mins(1);

/// A folder to work in, removed when dropped.
pub(crate) struct Bench {
    folder: TempDir,
}

/// The output and the exit code of the program.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("there is room for a folder") }
    }

    /// A folder with the experiment [`SMALL`] in `small.toml`.
    pub(crate) fn small() -> Self {
        let bench = Self::new();
        bench.write("small.toml", SMALL);
        bench
    }

    /// Writes an experiment to `x.toml`, and returns the error of `describe` with these options.
    #[track_caller]
    pub(crate) fn rejected(&self, experiment: &str, options: &[&str]) -> String {
        self.write("x.toml", experiment);
        self.run(&[&["describe", "x.toml"], options].concat()).refusal()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The program in this folder, ready to start.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lsmbench"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        Answer::of(self.command(arguments).spawn().expect("the program starts"))
    }

    /// Runs the program to its end, with `input` on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Answer {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A program that stops reading closes its end.
            scope.spawn(move || stdin.write_all(input.as_bytes()));
            Answer::of(child)
        })
    }

    /// Runs the program to its end under resource limits, such as `ulimit -f 16`. A file beyond its limit is an error
    /// of the write, without a signal.
    pub(crate) fn limited(&self, limits: &str, arguments: &[&str]) -> Answer {
        Answer::of(self.limited_command(limits, arguments).spawn().expect("there is a shell"))
    }

    /// The program under resource limits, ready to start.
    pub(crate) fn limited_command(&self, limits: &str, arguments: &[&str]) -> Command {
        let program = self.command(arguments);
        let mut command = Command::new("sh");
        let script = format!("trap '' XFSZ; {limits}; exec \"$0\" \"$@\"");
        command.args(["-c", &script]).arg(program.get_program()).args(program.get_args());
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program, which must succeed, and returns its answer.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        self.run(arguments).expect(0).out
    }

    /// Removes the seals of the rows from an experiment's manifest, as in results of an earlier version, so that a
    /// test may change the rows.
    pub(crate) fn forget_seals(&self, experiment: &str) {
        let mut manifest = self.manifest(experiment);
        (manifest.runs, manifest.timeline) = (None, None);
        (manifest.noise, manifest.levels) = (None, None);
        manifest.write(&Folder::new(self.path("results").join(experiment)).manifest()).unwrap();
    }

    /// The rows of an experiment's `runs.csv`.
    pub(crate) fn rows(&self, experiment: &str) -> Vec<Row> {
        let folder = Folder::new(self.path("results").join(experiment));
        Table::read(&folder.runs()).unwrap_or_else(|error| panic!("{error}")).rows().to_vec()
    }

    pub(crate) fn manifest(&self, experiment: &str) -> Manifest {
        let folder = Folder::new(self.path("results").join(experiment));
        Manifest::read(&folder.manifest()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Every file and folder in this one, with the contents of the files.
    pub(crate) fn content(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut content = BTreeMap::new();
        collect(self.folder.path(), &mut content);
        content
    }
}

fn collect(folder: &Path, content: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, content);
            content.insert(path, None);
        } else {
            content.insert(path.clone(), Some(fs::read(&path).unwrap()));
        }
    }
}

impl Answer {
    fn of(child: Child) -> Self {
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Checks the exit code and returns the answer.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "standard output:\n{}\nstandard error:\n{}", self.out, self.err);
        self
    }

    /// Checks that a request failed while it was running: exit code 2 and no panic. Returns the last line of the error.
    #[track_caller]
    pub(crate) fn refusal_behind_progress(self) -> String {
        let answer = self.expect(2);
        assert!(!answer.err.contains("panicked"), "{}", answer.err);
        let text = on_one_line(&answer.err);
        let error = text.lines().last().and_then(|line| line.strip_prefix("error: "));
        error.unwrap_or_else(|| panic!("no error: {}", answer.err)).to_owned()
    }

    /// Checks that a request is invalid: exit code 2, nothing on standard output, and a one-line error. Returns the
    /// error with the lines of its suggestion and valid values.
    #[track_caller]
    pub(crate) fn refusal(self) -> String {
        let answer = self.expect(2);
        assert_eq!(answer.out, "", "a refusal is no answer");
        let text = on_one_line(&answer.err);
        let error = text.strip_suffix('\n').and_then(|line| line.strip_prefix("error: "));
        let error = error.unwrap_or_else(|| panic!("no error: {}", answer.err));
        assert!(!error.contains('\n'), "more than one line: {error}");
        error.to_owned()
    }
}

/// Joins wrapped lines into one line, because sentences of a verdict are wrapped at the width of a terminal.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// An error whose suggestion and valid values are on its line.
fn on_one_line(text: &str) -> String {
    text.replace("\n  help: ", "; ").replace("\n  valid: ", " Valid: ")
}

/// The process that an error names as the holder of a lock; without a name if the kernel does not list locks.
pub(crate) fn user(process: &Child) -> String {
    match Path::new("/proc/locks").exists() {
        true => format!("process {}", process.id()),
        false => "another process".to_owned(),
    }
}

/// The value of a column as text.
pub(crate) fn text(row: &Row, column: &Metric) -> String {
    row.get(column).to_string()
}

/// The number in a column.
#[track_caller]
pub(crate) fn number(row: &Row, column: &Metric) -> f64 {
    row.get(column).number().unwrap_or_else(|| panic!("{} is empty", column.name))
}

/// The count in a column.
#[track_caller]
pub(crate) fn count(row: &Row, column: &Metric) -> u64 {
    row.get(column).integer().unwrap_or_else(|| panic!("{} holds no count", column.name))
}

/// The rows of a phase for one kind of operation, or for `all`.
pub(crate) fn of<'a>(rows: &'a [Row], phase: &str, operation: &str) -> Vec<&'a Row> {
    let found = |row: &&Row| text(row, &c::PHASE) == phase && text(row, &c::OPERATION) == operation;
    rows.iter().filter(found).collect()
}

/// The rows of all operations of a phase. Each row has at least `least` checked answers, and no answer is wrong.
#[track_caller]
pub(crate) fn right_answers<'a>(rows: &'a [Row], phase: &str, least: u64) -> Vec<&'a Row> {
    let all = of(rows, phase, "all");
    assert!(!all.is_empty(), "no rows of phase {phase}");
    for row in &all {
        let (checked, wrong) = (count(row, &c::CHECKED_ANSWERS), count(row, &c::WRONG_ANSWERS));
        assert!(checked >= least && wrong == 0, "{phase}: {wrong} of {checked} answers are wrong");
    }
    all
}

/// The fields of each row that must have equal values in every run in `counted` mode.
pub(crate) fn exact_cells(rows: &[Row]) -> Vec<Vec<String>> {
    let cells = |row: &Row| {
        let cells = row.schema().columns().iter().zip(row.cells());
        cells.filter(|(column, _)| column.exact()).map(|(_, value)| value.to_string()).collect()
    };
    rows.iter().map(cells).collect()
}

/// Waits until `ready` returns a value.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(2));
    }
}
