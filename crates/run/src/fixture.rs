//! Builds fixtures, and copies them for trials. A fixture is a store on which the first phases of a workload have run,
//! so that each trial can start from a copy of it.
//!
//! The name of a fixture is a hash of everything that determines its bytes: the sources of lsmbench, the design, the
//! phases, the seed, and the mode of the build. All experiments with the same output folder can use it. A copy contains
//! hard links to the SSTables, which no process changes, and copies of all other files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use catalog::Axis;
use experiment::{Cell, Experiment, files_outside};
use results::targets::create_folder;
use results::{FixtureFile, FixtureInfo, RunMode};
use serde::{Deserialize, Serialize};
use storage::Held;
use storage::page_cache::let_go_of;
use trial::{FixtureStep, TrialSpec};
use types::{Outcome, Problem};
use workload::{Phase, Work};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::child::run_trial;
use super::environment;
use super::home::{DataFolder, FIXTURES};
use crate::interrupt;

/// The version of the format of fixtures: of their description ([`Record`]), and of the text whose hash is their name.
const VERSION: u64 = 2;

/// A hash of the source files that determine the bytes of a store. Empty if this program was built outside of the
/// workspace.
const SOURCES: &str = env!("LSMBENCH_STORE_SOURCES");

/// The names of the crates whose source files the hash [`SOURCES`] includes.
const SOURCE_CRATES: &str = env!("LSMBENCH_STORE_CRATES");

/// The name of the JSON file that describes a fixture, in the folder of the fixture.
const RECORD: &str = "fixture.json";

/// The name of the folder inside a fixture that contains the files of the store.
const TREE: &str = "tree";

/// The extension in the name of a folder whose fixture is not complete yet.
pub(super) const BEGUN: &str = "begun";

/// The keys of a design that do not change the files of a store, unless an arbiter moves memory between components.
const IN_MEMORY_ONLY: [&str; 4] = ["cache", "culling", "memory", "sorted_view"];

/// The interval between two attempts to lock a file that another run has locked.
const LOOK_UP_PERIOD: Duration = Duration::from_millis(50);

/// The number of bytes that lsmbench reads at once to hash a file.
const PIECE_BYTES: usize = 1 << 20;

/// The description of a fixture, which the file `fixture.json` contains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    version: u64,
    /// The text whose hash is the name of the fixture: all settings that determine the bytes of the fixture.
    key: String,
    /// The time at which the fixture was built, in the format of RFC 3339.
    pub(super) built: String,
    /// The time that the build of the fixture took, in seconds.
    seconds: f64,
    /// The origin of the fixture as text: the experiment, the configuration and the phases.
    #[serde(default)]
    pub(super) made_by: String,
    /// The number of operations that each thread has executed in each phase of the fixture.
    done: Vec<Vec<u64>>,
    files: Vec<FixtureFile>,
}

impl Record {
    /// Returns whether a program with the [identity](program_identity) `program` may use this fixture.
    pub(super) fn is_of(&self, program: &str) -> bool {
        self.version == VERSION && self.key.contains(&format!("\n{program}\n"))
    }
}

/// Reads the description of the fixture in `folder`.
///
/// # Errors
/// Returns a text if the file cannot be read or parsed.
pub(super) fn read_record(folder: &Path) -> Result<Record, String> {
    let text = fs::read_to_string(folder.join(RECORD));
    let text = text.map_err(|error| format!("its file {RECORD} cannot be read: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{RECORD}: {error}"))
}

/// A fixture that is ready for trials: it was just built, or its files were checked against their hashes.
#[derive(Clone, Debug)]
pub(super) struct Fixture {
    folder: PathBuf,
    record: Record,
    /// The description of the fixture for the manifest of the run.
    pub(super) info: FixtureInfo,
}

/// The fixtures of a run. A fixture is a store on which the first phases of a workload have run, so that trials can
/// start from a copy. The run prepares a fixture when the first trial needs it.
pub(super) struct Fixtures {
    /// The folder that contains the folders of all fixtures.
    root: PathBuf,
    /// The prepared fixtures of the run, by their hash. The value is `None` if the store returned a wrong answer while
    /// the fixture was built.
    ready: BTreeMap<String, Option<Fixture>>,
    /// The [identity](program_identity) of this program. `None` until the identity is first needed.
    program: Option<String>,
    /// The shared file lock that prevents other processes from removing fixtures. The run takes it for its first
    /// fixture, and holds it until it ends.
    held: Option<File>,
    /// A function that prints a progress line.
    line: fn(&str),
}

/// The result of preparing a fixture for the trials of a configuration.
pub(super) enum Found {
    /// There is no fixture, so the trials run all phases. Either the experiment has none, or the store returned a wrong
    /// answer while the fixture was built.
    None,
    /// The fixture (prepared store) from which the trials start.
    Fixture(Box<Fixture>),
    /// The user has interrupted the run.
    Interrupted,
}

impl Fixtures {
    /// Creates the empty collection of fixtures of a run. The files of fixtures are in a folder inside the output
    /// folder `out`.
    pub(super) fn new(out: &Path, line: fn(&str)) -> Self {
        Self { root: out.join(FIXTURES), ready: BTreeMap::new(), program: None, held: None, line }
    }

    /// Returns the fixture for the trials of a configuration, and builds it if necessary. `spec` contains the settings
    /// of such a trial.
    pub(super) fn of(&mut self, experiment: &Experiment, cell: &Cell, spec: &TrialSpec) -> Outcome<Found> {
        let phases = experiment.fixture_phases(&cell.task);
        if phases == 0 {
            return Ok(Found::None);
        }
        let key = self.key(experiment, cell, spec, phases)?;
        let hash = format!("{:016x}", xxh3_64(key.as_bytes()));
        if let Some(ready) = self.ready.get(&hash) {
            return Ok(ready.clone().map_or(Found::None, |fixture| Found::Fixture(Box::new(fixture))));
        }
        if !self.hold()? {
            return Ok(Found::Interrupted);
        }
        let Some(_lock) = lock(create_file(&self.root.join(format!("{hash}.lock")))?, File::try_lock) else {
            return Ok(Found::Interrupted);
        };
        let site = Site { folder: self.root.join(&hash), hash: hash.clone(), key, phases };
        let found = match site.folder.exists() {
            true => Some(site.verify()?),
            false => match site.build(&experiment.name, cell, spec, self.line)? {
                Built::Fixture(fixture) => Some(*fixture),
                Built::Wrong => None,
                Built::Interrupted => return Ok(Found::Interrupted),
            },
        };
        self.ready.insert(hash, found.clone());
        Ok(found.map_or(Found::None, |fixture| Found::Fixture(Box::new(fixture))))
    }

    /// Takes the shared lock that prevents other processes from removing fixtures. Returns `false` if the user
    /// interrupted the run.
    fn hold(&mut self) -> Outcome<bool> {
        if self.held.is_none() {
            create_folder(&self.root)?;
            self.held = lock(open_folder(&self.root)?, File::try_lock_shared);
        }
        Ok(self.held.is_some())
    }

    /// Returns a text with all settings that determine the bytes of a fixture. The hash of this text is the name of the
    /// fixture.
    fn key(
        &mut self,
        experiment: &Experiment,
        cell: &Cell,
        spec: &TrialSpec,
        phases: usize,
    ) -> Outcome<String> {
        let program = self.program.take().map_or_else(program_identity, Ok)?;
        let mut key = format!("fixture {VERSION}\n{program}\n");
        self.program = Some(program);
        let _ = writeln!(key, "mode {}\nseed {}", building_mode(cell, spec, phases).name(), spec.seed);
        let mut design = cell.design.to_toml();
        design.retain(|key, _| cell.design.moves_memory() || !IN_MEMORY_ONLY.contains(&key));
        let _ = writeln!(key, "[design]\n{design}");
        key.push_str(&files_outside(&cell.design));
        let Some(workload) = cell.task.workload() else { return Ok(key) };
        for trace in workload.phases.iter().filter_map(Phase::trace) {
            let _ = writeln!(key, "trace {:016x}", hash_of(&experiment.base.join(&trace.file))?.1);
        }
        let mut first = workload.clone();
        first.phases.truncate(phases);
        let _ = writeln!(key, "[workload]\n{}", first.to_toml());
        Ok(key)
    }
}

/// Returns the mode in which lsmbench executes the phases of a fixture: counted, or timed.
///
/// If possible, the mode is `counted`, because the levels and runs of the tree then depend only on the operations.
/// Otherwise, all trials would start from a random tree.
fn building_mode(cell: &Cell, spec: &TrialSpec, phases: usize) -> RunMode {
    let first = cell.task.workload().into_iter().flat_map(|workload| workload.phases.iter().take(phases));
    let ends_by_time = |work: &Work| match work {
        Work::Mixed(mixed) => mixed.time_limit_ns.is_some(),
        Work::Roles(_) => true,
        _ => false,
    };
    match first.into_iter().any(|phase| phase.threads > 1 || ends_by_time(&phase.work)) {
        true => spec.mode,
        false => RunMode::Counted,
    }
}

/// A fixture that may not exist yet: its folder, and the settings that determine its bytes.
struct Site {
    folder: PathBuf,
    hash: String,
    key: String,
    phases: usize,
}

/// The result of an attempt to build a fixture (a prepared store).
enum Built {
    Fixture(Box<Fixture>),
    /// The store returned a wrong answer while the fixture was built.
    Wrong,
    Interrupted,
}

impl Site {
    /// Checks every byte of an existing fixture against the recorded hashes, and returns the fixture.
    fn verify(&self) -> Outcome<Fixture> {
        let changed = |reason: String| {
            let folder = self.folder.display();
            Problem::new(format!("fixture {folder} is not as lsmbench built it: {reason}; remove the folder"))
        };
        let record = read_record(&self.folder).map_err(changed)?;
        if record.version != VERSION || record.key != self.key {
            return Err(changed(format!(
                "the file {RECORD} in its folder has another format version, or describes another fixture"
            )));
        }
        let found = files_in(&self.folder.join(TREE))?;
        if let Some(other) = record.files.iter().find(|file| !found.contains(file)) {
            return Err(changed(format!("its file {} has changed or is missing", other.name)));
        }
        if found.len() != record.files.len() {
            return Err(changed("its folder has additional files".to_owned()));
        }
        Ok(self.fixture(record))
    }

    /// Builds the fixture: executes its phases on a new store, checks the answers of the store, and moves the files to
    /// the folder of the fixture.
    fn build(&self, experiment: &str, cell: &Cell, spec: &TrialSpec, line: fn(&str)) -> Outcome<Built> {
        line(&format!("  building fixture {} of {}", self.hash, cell.label));
        let (data, started) = (DataFolder::create(self.folder.with_extension(BEGUN))?, Instant::now());
        let mode = building_mode(cell, spec, self.phases);
        if mode == RunMode::Timed {
            line(
                "  warning: this fixture is not reproducible, because a phase has several threads or a time limit; all trials share the fixture",
            );
        }
        let spec = TrialSpec {
            mode,
            directory: data.path().join(TREE),
            results: None,
            memory_limit: None,
            warm_memory: None,
            fixture: Some(FixtureStep::Build { phases: self.phases }),
            turns: None,
            ..spec.clone()
        };
        let Some(report) = run_trial(&spec, line, |_| {})? else { return Ok(Built::Interrupted) };
        if !report.wrong.is_empty() {
            line(&format!(
                "  warning: no fixture for {}, because its store returned wrong answers; each trial runs all phases",
                cell.label
            ));
            return Ok(Built::Wrong);
        }
        let record = Record {
            version: VERSION,
            key: self.key.clone(),
            built: environment::now(),
            seconds: started.elapsed().as_secs_f64(),
            made_by: format!("{experiment}, {}: {}", cell.label, self.phase_names(cell)),
            done: report.done,
            files: files_in(&spec.directory)?,
        };
        let text = serde_json::to_string_pretty(&record)
            .expect("every type in the description of a fixture must serialize to JSON");
        let place = data.path().join(RECORD);
        fs::write(&place, text)
            .map_err(|error| Problem::doing(format!("write {}", place.display()), error))?;
        // The folder is renamed only when it is complete.
        fs::rename(data.path(), &self.folder)
            .map_err(|error| Problem::doing(format!("keep the fixture {}", self.folder.display()), error))?;
        Ok(Built::Fixture(Box::new(self.fixture(record))))
    }

    /// Returns the names of the phases in the fixture, such as `load, churn`.
    fn phase_names(&self, cell: &Cell) -> String {
        cell.task.phases()[..self.phases].join(", ")
    }

    fn fixture(&self, record: Record) -> Fixture {
        let info = FixtureInfo {
            hash: self.hash.clone(),
            built: record.built.clone(),
            seconds: record.seconds,
            cells: Vec::new(),
            files: record.files.clone(),
        };
        Fixture { folder: self.folder.clone(), record, info }
    }
}

impl Fixture {
    /// Copies the fixture to the new folder `target`. Returns the settings for a trial that starts from this copy.
    ///
    /// If the memory of trials is limited, the function first evicts the files from the page cache, because the limit
    /// does not include pages that another process has read.
    pub(super) fn clone_to(&self, target: &Path, memory_is_limited: bool) -> Outcome<FixtureStep> {
        create_folder(target)?;
        for file in &self.record.files {
            let (from, to) = (self.folder.join(TREE).join(&file.name), target.join(&file.name));
            if memory_is_limited {
                let dropped = let_go_of(&from);
                dropped.map_err(|error| Problem::doing(format!("read {}", from.display()), error))?;
            }
            // On a file system without hard links, files are copied.
            let linked = is_table(&file.name) && fs::hard_link(&from, &to).is_ok();
            if !linked {
                let copied = fs::copy(&from, &to);
                copied.map_err(|error| Problem::doing(format!("clone {}", from.display()), error))?;
            }
        }
        Ok(FixtureStep::Stands { done: self.record.done.clone() })
    }
}

/// Returns whether a file is an SSTable. SSTables never change after their creation.
fn is_table(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "table")
}

fn create_file(path: &Path) -> Outcome<File> {
    File::create(path).map_err(|error| Problem::doing(format!("create {}", path.display()), error))
}

fn open_folder(folder: &Path) -> Outcome<File> {
    File::open(folder).map_err(|error| Problem::doing(format!("open {}", folder.display()), error))
}

/// Locks a file. `attempt` tries to lock it, and is repeated while another run has locked the file. Returns `None` if
/// the user interrupts the run.
fn lock(file: File, attempt: fn(&File) -> Result<(), TryLockError>) -> Option<File> {
    loop {
        match attempt(&file) {
            Err(TryLockError::WouldBlock) if interrupt::is_requested() => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK_UP_PERIOD),
            // Runs continue on a file system without locks.
            Ok(()) | Err(TryLockError::Error(_)) => return Some(file),
        }
    }
}

/// Locks all fixtures of an output folder, so that no run can use them until the returned file is closed. Returns
/// `None` if the folder has no fixtures.
///
/// # Errors
/// Returns an error if a run is using a fixture. The message names the process that holds the lock.
pub fn lock_all(out: &Path) -> Outcome<Option<File>> {
    let root = out.join(FIXTURES);
    if !root.is_dir() {
        return Ok(None);
    }
    let file = open_folder(&root)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Problem::new(format!(
            "another run ({1}) uses the fixtures in {0}; wait for this run",
            out.display(),
            Held::by(&file).user()
        ))),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(file)),
    }
}

/// Returns the identity of this program. A fixture is used only by programs with the same identity.
///
/// The identity is a hash of the sources of lsmbench that determine the bytes of a store. If the program has variants
/// from other crates, the identity is a hash of the whole program.
///
/// # Errors
/// The program cannot be read.
pub fn program_identity() -> Outcome<String> {
    if !SOURCES.is_empty() && catalogs_of_stores().all(is_of_sources) {
        return Ok(format!("sources {SOURCES}"));
    }
    let path = std::env::current_exe().map_err(|error| Problem::doing("find this program", error))?;
    Ok(format!("program {:016x}", hash_of(&path)?.1))
}

/// Returns the axes whose variants determine the bytes of a store. An axis is a kind of component, such as filters.
pub(super) fn catalogs_of_stores() -> impl Iterator<Item = &'static dyn Axis> {
    let of_work: [&'static dyn Axis; 5] =
        [&workload::KEYS, &workload::SIZES, &workload::LENGTHS, &workload::FORMATS, &workload::TRACES];
    tree::AXES.iter().copied().chain(of_work)
}

/// Returns whether [`SOURCE_CRATES`] contains the crate of every variant of this kind of component. If so, the hash
/// [`SOURCES`] covers the source code of all these variants.
fn is_of_sources(axis: &dyn Axis) -> bool {
    axis.variants().iter().all(|variant| SOURCE_CRATES.split(' ').any(|name| name == variant.origin.package))
}

/// Returns the files of a folder with their lengths and hashes, sorted by name.
fn files_in(folder: &Path) -> Outcome<Vec<FixtureFile>> {
    let reading = |error| Problem::doing(format!("read {}", folder.display()), error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(reading)? {
        let entry = entry.map_err(reading)?;
        let (bytes, hash) = hash_of(&entry.path())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.push(FixtureFile { name, bytes, xxh3: format!("{hash:016x}") });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// Returns the length of a file and the XXH3-64 hash of its content.
fn hash_of(path: &Path) -> Outcome<(u64, u64)> {
    let reading = |error| Problem::doing(format!("read {}", path.display()), error);
    let mut file = File::open(path).map_err(reading)?;
    let (mut hash, mut bytes, mut piece) = (Xxh3::new(), 0, vec![0; PIECE_BYTES]);
    loop {
        match file.read(&mut piece).map_err(reading)? {
            0 => return Ok((bytes, hash.digest())),
            read => {
                hash.update(&piece[..read]);
                bytes += read as u64;
            }
        }
    }
}
