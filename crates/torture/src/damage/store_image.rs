//! Generates the stores that the test corrupts. A store image consists of the files of a store after a seeded sequence
//! of actions (a history), and the contents that the store may have. It also contains files that can replace these
//! files: earlier versions, and files of another store.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use storage::{Memory, Purpose, Storage, Unsynced};

use super::layout::{FileKind, QUARANTINE};
use crate::disk::disk_of;
use crate::examine::read;
use crate::player::{DIRECTORY, Marks, Player};
use crate::script::{Content, Script, ScriptWrite, StoreAction, apply, digest};
use crate::store_kind::StoreKind;
use crate::violation::{Check, Violation};

/// The number of actions, such as writes and flushes, in one history (a seeded sequence of actions).
const ACTIONS: usize = 90;

/// The number that is added to a seed to generate a second store, whose files replace files of the first store.
const OTHER_SEED: u64 = 0x6f74_6865_7220_7374;

/// The directory of the second store, whose files replace files of the first store.
const OTHER_DIRECTORY: &str = "other";

/// The way in which a sequence of actions on a store ended, which determines the state of the store's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The store was closed.
    Closed,
    /// The process died, so the WAL contains data that is not in SSTables yet.
    Stopped,
    /// The process died and an SSTable was lost. The store was then opened in quarantine mode, written to and closed.
    SetAside,
    /// The files are a checkpoint of the store. The checkpoint was not opened as a store before the test.
    Copied,
}

impl Ending {
    /// All ways in which a sequence of actions on a store can end.
    pub(crate) const ALL: [Self; 4] = [Self::Closed, Self::Stopped, Self::SetAside, Self::Copied];

    fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Stopped => "stopped",
            Self::SetAside => "set-aside",
            Self::Copied => "copied",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Ending {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|ending| ending.name() == text).ok_or(())
    }
}

/// A file of a store: its path, its kind and its content.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// The path of the file, relative to the directory of its store.
    pub(crate) name: String,
    /// The kind of the file, such as an SSTable.
    pub(crate) kind: FileKind,
    /// The bytes of the file.
    pub(crate) bytes: Arc<Vec<u8>>,
}

/// The position of the WAL record of one commit, and the number of bytes that were durable before the record was
/// written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommitRecord {
    /// The number of the commit in the sequence of actions, from 0.
    pub(crate) commit: usize,
    /// The offsets of the first byte of the record in the WAL, and of the byte after the record (`end`).
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The length of the part of the WAL that was durable before the record was written, in bytes.
    pub(crate) synced: usize,
}

/// The files of a store after a sequence of actions, and the contents that the store may have.
pub(crate) struct StoreImage {
    /// The way in which the sequence of actions ended.
    pub(crate) ending: Ending,
    /// The in-memory disk with the files of the store, all of which are durable.
    pub(crate) disk: Memory,
    /// The files of the store.
    pub(crate) files: Vec<File>,
    /// The content of the store after 0, 1, 2 … commits. The last content is the current content.
    pub(crate) history: Vec<Content>,
    /// All earlier contents of the store. For a checkpoint, also those of the original store.
    pub(crate) past: Arc<Vec<Content>>,
    /// The positions of the WAL records of the commits in the last WAL.
    pub(crate) records: Vec<CommitRecord>,
    /// The keys in the records of the last WAL of the store.
    pub(crate) logged: Vec<Vec<u8>>,
    /// The earlier versions of each WAL and manifest, by the name of the file.
    generations: BTreeMap<String, Vec<Arc<Vec<u8>>>>,
    /// The files of another store, which can replace files of this store.
    others: Vec<File>,
}

impl StoreImage {
    /// Returns the path of a file of the store, by the index of the file.
    pub(crate) fn path(&self, file: usize) -> PathBuf {
        Path::new(DIRECTORY).join(&self.files[file].name)
    }

    /// Returns the indexes of all files that have the same kind as `file`, including `file`.
    pub(crate) fn alike(&self, file: usize) -> impl Iterator<Item = usize> + '_ {
        let kind = self.files[file].kind;
        (0..self.files.len()).filter(move |other| self.files[*other].kind == kind)
    }

    /// Returns whether a file is the last WAL of the store. All earlier WALs are complete.
    pub(crate) fn is_last_log(&self, file: usize) -> bool {
        self.files.iter().rposition(|file| file.kind == FileKind::Log) == Some(file)
    }

    /// Returns the earlier versions of a WAL or manifest, from the oldest to the newest. Returns nothing for other
    /// files.
    pub(crate) fn older(&self, file: usize) -> &[Arc<Vec<u8>>] {
        self.generations.get(&self.files[file].name).map_or(&[], |generations| &generations[..])
    }

    /// Returns files of another store that can replace a file: the file with the same name, or else up to two files of
    /// the same kind.
    pub(crate) fn foreign(&self, file: usize) -> Vec<&[u8]> {
        let File { name, kind, .. } = &self.files[file];
        let alike = || self.others.iter().filter(|other| other.kind == *kind && *kind != FileKind::Other);
        let same: Vec<&[u8]> =
            alike().filter(|other| other.name == *name).map(|other| &other.bytes[..]).collect();
        if same.is_empty() { alike().take(2).map(|other| &other.bytes[..]).collect() } else { same }
    }
}

/// The states of the files of a store during a sequence of actions: the lengths of the WAL, and the earlier versions of
/// WALs and manifests.
#[derive(Default)]
struct Observed {
    moments: Vec<(Option<String>, usize)>,
    generations: BTreeMap<String, Vec<Arc<Vec<u8>>>>,
}

impl Observed {
    /// Records the state of the files in the folders `folders` of the store. Returns the number of this record, which
    /// serves as a time.
    fn look(&mut self, disk: &Memory, folders: &[String]) -> usize {
        let files = files(disk, Path::new(DIRECTORY), folders);
        let log = files.iter().rfind(|file| file.kind == FileKind::Log);
        self.moments.push((log.map(|log| log.name.clone()), log.map_or(0, |log| log.bytes.len())));
        for File { name, kind, bytes } in files {
            let generations = self.generations.entry(name).or_default();
            if matches!(kind, FileKind::Log | FileKind::Manifest) && generations.last() != Some(&bytes) {
                generations.push(bytes);
            }
        }
        self.moments.len() - 1
    }
}

/// Runs the sequence of actions of a seed, and returns one store image per [`Ending`].
///
/// # Errors
/// The store violates its contract before any corruption.
pub(crate) fn live(subject: &StoreKind, seed: u64) -> Result<Vec<StoreImage>, Violation> {
    let script = Script::new(seed, ACTIONS);
    let disk = Arc::new(disk_of(seed));
    let observed = RefCell::new(Observed::default());
    let folders = subject.maker.folders();
    let clock = || observed.borrow_mut().look(&disk, &folders);
    let mut player = Player::new(subject, Arc::clone(&disk) as _, &clock);
    player.play_undisturbed(&script)?;
    let stopped = disk.after_crash(Unsynced::Kept);
    let wrong = |error: tree::Error| {
        Violation::new(Check::GoesOn, format!("a call failed before any corruption: {error}"))
    };
    player
        .store
        .take()
        .expect("the store must still be open after the last action of the script")
        .close()
        .map_err(wrong)?;
    let closed = disk.after_crash(Unsynced::Kept);
    let marks = std::mem::take(&mut player.marks);
    drop(player);
    let history: Vec<Content> = (0..=script.commits().len()).map(|commits| script.content(commits)).collect();
    let observed = observed.into_inner();
    let others = other(subject, seed)?;
    let set_aside = set_aside(subject, &stopped)?;
    let copied = copied(subject, &closed)?;
    let survived = history[..=survivors(subject, &script, &stopped)?].to_vec();
    let past = Arc::new(history.clone());
    let all = [(closed, history.clone()), (stopped, survived), set_aside, (copied, history)];
    let mut store_images = Vec::new();
    for (ending, (disk, history)) in Ending::ALL.into_iter().zip(all) {
        let files = files(&disk, Path::new(DIRECTORY), &folders);
        let (mut records, mut logged) = (Vec::new(), Vec::new());
        if let Some(log) = files.iter().rfind(|file| file.kind == FileKind::Log) {
            records = records_in(&log.name, &script, &marks, &observed, subject);
            let writes = records.iter().flat_map(|record| &script.commits()[record.commit]);
            logged = writes.map(|write| write.key.clone()).collect();
        }
        // The recorded earlier versions do not belong to the store that lost an SSTable.
        let is_same = ending != Ending::SetAside;
        let generations = if is_same { observed.generations.clone() } else { BTreeMap::new() };
        store_images.push(StoreImage {
            ending,
            disk,
            files,
            history,
            past: Arc::clone(&past),
            records,
            logged,
            generations,
            others: others.clone(),
        });
    }
    Ok(store_images)
}

/// Returns the number of commits that a store contains after its process has died. `stopped` is the disk of this
/// process.
fn survivors(subject: &StoreKind, script: &Script, stopped: &Memory) -> Result<usize, Violation> {
    let storage: Arc<dyn Storage> = Arc::new(stopped.after_crash(Unsynced::Kept));
    let store = subject.maker.open(&storage, Path::new(DIRECTORY));
    let store = store.map_err(|error| Violation::new(Check::Opens, error.to_string()))?;
    let (found, all) = (digest(&read(&*store)?), script.commits().len());
    let commits = script.commits_with(found, all..=all);
    commits.ok_or_else(|| {
        Violation::new(
            Check::Order,
            "the content of the store does not result from the first n commits for any n",
        )
    })
}

/// Returns the positions of the records of all commits in the WAL `name`.
fn records_in(
    name: &str,
    script: &Script,
    marks: &Marks,
    observed: &Observed,
    subject: &StoreKind,
) -> Vec<CommitRecord> {
    let length = |moment: usize| {
        let (log, len) = &observed.moments[moment];
        (log.as_deref() == Some(name)).then_some(*len)
    };
    // `sync` is the only action that makes commits durable in the WAL. All other actions create SSTables.
    let lasting = script.actions.iter().filter(|action| {
        matches!(
            action,
            StoreAction::Flush
                | StoreAction::Compact
                | StoreAction::Sync
                | StoreAction::Checkpoint
                | StoreAction::Reopen
        )
    });
    let marked = lasting.zip(&marks.durable).filter(|(action, _)| **action == StoreAction::Sync);
    let syncs: Vec<usize> = marked.map(|(_, (moment, _))| *moment).collect();
    let is_synced = subject.wal.survives_power_loss();
    let record = |commit: usize| {
        let (start, end) = (length(marks.begun[commit])?, length(marks.acknowledged[commit])?);
        let before = syncs.iter().filter(|moment| **moment <= marks.begun[commit]);
        let synced = if is_synced { Some(start) } else { before.filter_map(|moment| length(*moment)).max() };
        Some(CommitRecord { commit, start, end, synced: synced.unwrap_or(0) })
    };
    (0..marks.acknowledged.len()).filter_map(record).collect()
}

/// Generates the second store, and returns its files, which can replace files of the first store.
fn other(subject: &StoreKind, seed: u64) -> Result<Vec<File>, Violation> {
    let script = Script::new(seed ^ OTHER_SEED, ACTIONS);
    let disk = Arc::new(disk_of(seed));
    let mut player = Player::new(subject, Arc::clone(&disk) as _, &|| 0);
    player.directory = PathBuf::from(OTHER_DIRECTORY);
    player.play_undisturbed(&script)?;
    drop(player);
    Ok(files(&disk, Path::new(OTHER_DIRECTORY), &subject.maker.folders()))
}

/// Truncates one SSTable, opens the store in quarantine mode without it, and writes to the store. Returns the disk, the
/// content after the opening, and the content after each further commit.
fn set_aside(subject: &StoreKind, stopped: &Memory) -> Result<(Memory, Vec<Content>), Violation> {
    let wrong = |error: tree::Error| {
        Violation::new(
            Check::GoesOn,
            format!("a call failed after one SSTable was moved to the quarantine: {error}"),
        )
    };
    let disk = Arc::new(stopped.after_crash(Unsynced::Kept));
    let files = files(&disk, Path::new(DIRECTORY), &subject.maker.folders());
    let tables: Vec<&File> = files.iter().filter(|file| file.kind == FileKind::Table).collect();
    if let Some(table) = tables.get(tables.len() / 2) {
        let path = Path::new(DIRECTORY).join(&table.name);
        write(&disk, &path, &table.bytes[..table.bytes.len() / 2]);
    }
    let storage: Arc<dyn Storage> = Arc::clone(&disk) as _;
    let (store, _) = subject.maker.open_quarantined(&storage, Path::new(DIRECTORY)).map_err(wrong)?;
    let mut history = vec![read(&*store)?];
    for number in 0..3 {
        let key = Script::keys()
            .nth(number * 7)
            .expect("the script must have at least as many keys as the test of the quarantine mode writes");
        let commit =
            [ScriptWrite { key, value: Some(format!("set aside {number}").into_bytes()), end: None }];
        store.write(&commit).map_err(wrong)?;
        let mut content = history.last().cloned().unwrap_or_default();
        apply(&mut content, &commit);
        history.push(content);
    }
    store.close().map_err(wrong)?;
    Ok((disk.after_crash(Unsynced::Kept), history))
}

/// Makes a checkpoint of the store. Returns an in-memory disk with the checkpoint in place of the store.
fn copied(subject: &StoreKind, closed: &Memory) -> Result<Memory, Violation> {
    let wrong = |error: tree::Error| Violation::new(Check::Checkpoint, error.to_string());
    let disk = Arc::new(closed.after_crash(Unsynced::Kept));
    let storage: Arc<dyn Storage> = Arc::clone(&disk) as _;
    let store = subject.maker.open(&storage, Path::new(DIRECTORY)).map_err(wrong)?;
    let target = Path::new("checkpoint");
    store.checkpoint(target).map_err(wrong)?;
    drop(store);
    let copy = Memory::mapped();
    let folders = subject.maker.folders();
    for folder in [""].into_iter().chain(folders.iter().map(String::as_str)) {
        let folder = Path::new(DIRECTORY).join(folder);
        copy.create_directory(&folder).expect("the in-memory disk must be able to create a directory");
    }
    for file in files(&disk, target, &folders) {
        write(&copy, &Path::new(DIRECTORY).join(&file.name), &file.bytes);
    }
    Ok(copy.after_crash(Unsynced::Kept))
}

/// Replaces the content of a file on an in-memory disk.
pub(crate) fn write(disk: &Memory, path: &Path, bytes: &[u8]) {
    let file = disk.create(path, Purpose::Manifest);
    file.and_then(|mut file| file.append(bytes))
        .expect("the in-memory disk must be able to write every file");
}

/// Returns all files of a store in `directory` and in its folders `folders`.
fn files(disk: &Memory, directory: &Path, folders: &[String]) -> Vec<File> {
    let mut files = Vec::new();
    let of_folder = |folder: &String| [folder.clone(), format!("{folder}/{QUARANTINE}")];
    let all = ["", QUARANTINE].map(str::to_owned).into_iter().chain(folders.iter().flat_map(of_folder));
    for below in all {
        for name in disk.list(&directory.join(&below)).unwrap_or_default() {
            let name = if below.is_empty() { name } else { format!("{below}/{name}") };
            let file = disk
                .open(&directory.join(&name), Purpose::Manifest)
                .expect("the in-memory disk must open every file that it lists");
            let bytes = file
                .read(0, file.len() as usize)
                .expect("the in-memory disk must be able to read every file");
            files.push(File { kind: FileKind::of(&name), name, bytes: Arc::new(bytes.to_vec()) });
        }
    }
    files
}
