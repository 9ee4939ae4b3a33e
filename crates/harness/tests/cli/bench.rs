//! A temporary folder in which tests run the program and read its files.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use results::{Folder, Manifest, Metric, Row, Table, columns as c};
use tempfile::TempDir;

/// An experiment with three configurations, which takes less than a second.
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

/// The time limit of any step of a test.
const PATIENCE: Duration = Duration::from_mins(1);

/// A temporary folder in which the tests run the program. The folder is removed when the value is dropped.
pub(crate) struct Bench {
    folder: TempDir,
}

/// The output and the exit code of a finished process of the program.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder can be created") }
    }

    /// Creates a folder on the file system of the target folder. The system's folder for temporary files can be in
    /// memory, where no bytes reach a device.
    pub(crate) fn on_disk() -> Self {
        Self {
            folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))
                .expect("a temporary folder can be created"),
        }
    }

    /// Creates a folder that contains the experiment [`SMALL`] in `small.toml`.
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

    /// Writes a file. Creates the folders above the file if they do not exist.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns a command that runs the program in this folder.
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

    /// Runs the program to its end, with `input` as its standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Answer {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A program that stops reading closes its end.
            scope.spawn(move || stdin.write_all(input.as_bytes()));
            Answer::of(child)
        })
    }

    /// Runs the program to its end under resource limits, such as `ulimit -f 16`. If a file would exceed its limit, the
    /// write returns an error, and the program receives no signal.
    pub(crate) fn limited(&self, limits: &str, arguments: &[&str]) -> Answer {
        Answer::of(self.limited_command(limits, arguments).spawn().expect("there is a shell"))
    }

    /// Returns a command that runs the program under resource limits.
    pub(crate) fn limited_command(&self, limits: &str, arguments: &[&str]) -> Command {
        let program = self.command(arguments);
        let mut command = Command::new("sh");
        let script = format!("trap '' XFSZ; {limits}; exec \"$0\" \"$@\"");
        command.args(["-c", &script]).arg(program.get_program()).args(program.get_args());
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program, which must succeed, and returns its standard output.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        self.run(arguments).expect(0).out
    }

    /// Removes the seals of the rows from the manifest of an experiment, so that a test can change the rows. Results of
    /// earlier versions have no seals.
    pub(crate) fn forget_seals(&self, experiment: &str) {
        let mut manifest = self.manifest(experiment);
        (manifest.runs, manifest.timeline) = (None, None);
        (manifest.noise, manifest.levels) = (None, None);
        manifest.write(&Folder::new(self.path("results").join(experiment)).manifest()).unwrap();
    }

    /// Returns the rows in the `runs.csv` of an experiment.
    pub(crate) fn rows(&self, experiment: &str) -> Vec<Row> {
        let folder = Folder::new(self.path("results").join(experiment));
        Table::read(&folder.runs()).unwrap_or_else(|error| panic!("{error}")).rows().to_vec()
    }

    pub(crate) fn manifest(&self, experiment: &str) -> Manifest {
        let folder = Folder::new(self.path("results").join(experiment));
        Manifest::read(&folder.manifest()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the paths of all files and folders in this folder, and the content of each file.
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
    /// Waits for the end of a process.
    pub(crate) fn of(child: Child) -> Self {
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Checks the exit code of the process, and returns the answer.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "standard output:\n{}\nstandard error:\n{}", self.out, self.err);
        self
    }

    /// Checks that a request failed after it had begun to run: exit code 2 and no panic. Returns the last line of the
    /// error.
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

/// Returns an error message in which the suggestion and the valid values are on the line of the problem.
fn on_one_line(text: &str) -> String {
    text.replace("\n  help: ", "; ").replace("\n  valid: ", " Valid: ")
}

/// Returns the words with which an error names the process that holds a lock. The words have no name if the kernel does
/// not list locks.
pub(crate) fn user(process: &Child) -> String {
    match Path::new("/proc/locks").exists() {
        true => format!("process {}", process.id()),
        false => "another process".to_owned(),
    }
}

/// Returns the value of a column as text.
pub(crate) fn text(row: &Row, column: &Metric) -> String {
    row.get(column).to_string()
}

/// Returns the number in a column.
#[track_caller]
pub(crate) fn number(row: &Row, column: &Metric) -> f64 {
    row.get(column).number().unwrap_or_else(|| panic!("{} is empty", column.name))
}

/// Returns the count in a column.
#[track_caller]
pub(crate) fn count(row: &Row, column: &Metric) -> u64 {
    row.get(column).integer().unwrap_or_else(|| panic!("{} holds no count", column.name))
}

/// Returns the rows of a phase for one kind of operation, or for `all`.
pub(crate) fn of<'a>(rows: &'a [Row], phase: &str, operation: &str) -> Vec<&'a Row> {
    let found = |row: &&Row| text(row, &c::PHASE) == phase && text(row, &c::OPERATION) == operation;
    rows.iter().filter(found).collect()
}

/// Returns the rows of a phase in the order of the configurations. The order in the file is the order in which the
/// trials ran.
pub(crate) fn by_cell<'a>(rows: &'a [Row], phase: &str) -> Vec<&'a Row> {
    let mut rows = of(rows, phase, "all");
    rows.sort_by_key(|row| row.get(&c::CELL).integer());
    rows
}

/// Returns the rows of a phase for all operations together. Checks that each row has at least `least` checked answers
/// and no wrong answer.
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

/// Returns the fields of each row that must have equal values in every run in `counted` mode.
pub(crate) fn exact_cells(rows: &[Row]) -> Vec<Vec<String>> {
    let cells = |row: &Row| {
        let cells = row.schema().columns().iter().zip(row.cells());
        cells.filter(|(column, _)| column.exact()).map(|(_, value)| value.to_string()).collect()
    };
    rows.iter().map(cells).collect()
}

/// Calls `find` until it returns a value, and returns this value. Panics after the time limit. `what` names the value
/// in the message.
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
