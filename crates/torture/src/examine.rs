//! Opens a store after a crash, and checks it: first the invariants of every store, and then the number of commits that
//! it must contain.

use std::any::Any;
use std::ops::{Bound, RangeInclusive};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use storage::{Memory, RecordingStorage, Storage, StorageChange};

use crate::player::{DIRECTORY, Marks, copy_directory};
use crate::script::{Content, Script, ScriptWrite, apply, digest};
use crate::store_kind::StoreKind;
use crate::subject::StoreUnderTest;
use crate::violation::{Check, Violation};

/// The result of opening a store after a crash, if the store opened.
pub(crate) struct Recovered {
    /// The digest of the content that the store has after its recovery.
    pub(crate) digest: u128,
    /// The recorded storage calls: those of the opening, followed by those of the operations after it.
    pub(crate) steps: Vec<StorageChange>,
    /// The number of storage calls in `steps` that belong to the opening.
    pub(crate) opening: usize,
    /// The times of the commits after the recovery, as positions in `steps`. They determine how many commits must
    /// survive a second crash.
    pub(crate) marks: Marks,
    /// The digests of the expected content after 0, 1, 2 … commits since the recovery.
    pub(crate) digests: Vec<u128>,
    /// The state of each checkpoint of the store after the crash.
    pub(crate) copies: Vec<Copy>,
}

/// The state of a checkpoint after a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Copy {
    /// The directory of the checkpoint does not exist, or is empty.
    Absent,
    /// The directory exists, but does not open as a store. The text is the error.
    Refused(String),
    /// The checkpoint opens as a store. The number is the digest of its content.
    Whole(u128),
}

/// Opens the store on `disk`, and checks that all read paths agree. Then writes to the store, and opens it again.
/// `copies` is the number of checkpoints to examine.
///
/// # Errors
/// The first violation of an invariant. The number of commits in the recovered store is not checked here.
pub(crate) fn recover(
    subject: &StoreKind,
    disk: &Arc<Memory>,
    copies: usize,
) -> Result<Recovered, Violation> {
    catch_unwind(AssertUnwindSafe(|| Examination { subject, disk }.run(copies)))
        .unwrap_or_else(|panic| Err(Violation::new(Check::Panic, panic_text(&*panic))))
}

/// Returns the message of a panic, or "without a message".
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

struct Examination<'a> {
    subject: &'a StoreKind,
    disk: &'a Arc<Memory>,
}

impl Examination<'_> {
    fn run(&self, copies: usize) -> Result<Recovered, Violation> {
        // On a disk without the directory, or with an empty directory, the store was never created.
        if self.disk.list(Path::new(DIRECTORY)).is_ok_and(|names| !names.is_empty()) {
            self.verify(Check::CleanBefore)?;
        }
        let recording = Arc::new(RecordingStorage::new(Arc::clone(self.disk) as _));
        let storage: Arc<dyn Storage> = Arc::clone(&recording) as _;
        let store = self.open(&storage).map_err(|error| Violation::new(Check::Opens, error.to_string()))?;
        let opening = recording.position();
        let content = read(&*store)?;
        let (marks, digests) = self.go_on(store, &recording, content)?;
        let copies = (0..copies).map(|number| self.copy(number)).collect::<Result<_, _>>()?;
        Ok(Recovered { digest: digests[0], steps: recording.steps(), opening, marks, digests, copies })
    }

    fn open(&self, storage: &Arc<dyn Storage>) -> tree::Result<Box<dyn StoreUnderTest>> {
        self.subject.maker.open(storage, Path::new(DIRECTORY))
    }

    fn verify(&self, check: Check) -> Result<(), Violation> {
        let storage: Arc<dyn Storage> = Arc::clone(self.disk) as _;
        match self.subject.maker.verify(&storage, Path::new(DIRECTORY)) {
            Ok(damage) if damage.is_empty() => Ok(()),
            Ok(damage) => Err(Violation::new(check, damage.join("; "))),
            Err(error) => Err(Violation::new(check, error.to_string())),
        }
    }

    /// Writes to the recovered store, opens it again, and checks its content. Returns the times of the writes, and the
    /// digest of the expected content after each commit.
    fn go_on(
        &self,
        store: Box<dyn StoreUnderTest>,
        recording: &Arc<RecordingStorage>,
        mut content: Content,
    ) -> Result<(Marks, Vec<u128>), Violation> {
        let fails = |error: tree::Error| Violation::new(Check::GoesOn, error.to_string());
        let (mut marks, mut digests) = (Marks::default(), vec![digest(&content)]);
        for commit in next_commits(&content) {
            marks.begun.push(recording.position());
            store.write(&commit).map_err(fails)?;
            marks.acknowledged.push(recording.position());
            apply(&mut content, &commit);
            digests.push(digest(&content));
        }
        store.flush().map_err(fails)?;
        marks.durable.push((recording.position(), marks.acknowledged.len()));
        store.close().map_err(fails)?;
        let storage: Arc<dyn Storage> = Arc::clone(recording) as _;
        let store = self.open(&storage).map_err(fails)?;
        let found = read(&*store)?;
        if found != content {
            return Err(Violation::new(Check::GoesOn, difference(&found, &content)));
        }
        drop(store);
        self.verify(Check::CleanAfter)?;
        Ok((marks, digests))
    }

    /// Returns the state of the checkpoint `number` of the store after the crash.
    fn copy(&self, number: usize) -> Result<Copy, Violation> {
        let directory = copy_directory(number);
        let names = self.disk.list(&directory).unwrap_or_default();
        if names.is_empty() {
            return Ok(Copy::Absent);
        }
        let storage: Arc<dyn Storage> = Arc::clone(self.disk) as _;
        match self.subject.maker.open(&storage, &directory) {
            Ok(store) => Ok(Copy::Whole(digest(&read(&*store)?))),
            Err(error) => Ok(Copy::Refused(error.to_string())),
        }
    }
}

/// Returns the commits that the test writes to a recovered store: a put, a batch, and a delete of an existing key.
fn next_commits(content: &Content) -> Vec<Vec<ScriptWrite>> {
    let put = |key: &str, value: &str| ScriptWrite { key: key.into(), value: Some(value.into()), end: None };
    let mut commits = vec![vec![put("after", "1")], vec![put("after", "2"), put("batch", "3")]];
    if let Some(key) = content.keys().nth(content.len() / 2) {
        commits.push(vec![ScriptWrite { key: key.clone(), value: None, end: None }]);
    }
    commits
}

/// Reads the whole store by a scan and by gets, and checks that both return the same entries.
pub(crate) fn read(store: &dyn StoreUnderTest) -> Result<Content, Violation> {
    let wrong = |error: tree::Error| Violation::new(Check::Reads, error.to_string());
    let content = store.range(Bound::Unbounded, Bound::Unbounded).map_err(wrong)?;
    for key in Script::keys() {
        let found = store.get(&key).map_err(wrong)?;
        if found.as_ref() != content.get(&key) {
            let key = String::from_utf8_lossy(&key).into_owned();
            let what = format!(
                "a get of key \"{key}\" returned {}, but a scan returned {}",
                shown(found.as_ref()),
                shown(content.get(key.as_bytes()))
            );
            return Err(Violation::new(Check::Reads, what));
        }
    }
    Ok(content)
}

/// Checks that the content of a store results from the first n commits of the script, for an n in the range `promise`.
/// `digest` is the digest of the content, and `content` reads it again to explain a violation.
pub(crate) fn judge(
    script: &Script,
    promise: &RangeInclusive<usize>,
    digest: u128,
    content: impl FnOnce() -> Option<Content>,
) -> Result<(), Violation> {
    match script.commits_with(digest, promise.clone()) {
        Some(commits) if promise.contains(&commits) => Ok(()),
        Some(commits) if commits < *promise.start() => {
            let what = format!(
                "only the first {commits} commits are present, but at least {} must survive in this WAL mode",
                promise.start()
            );
            Err(Violation::new(Check::Promise, what))
        }
        Some(commits) => {
            let what = format!(
                "{commits} commits are present, but only {} had begun before the crash",
                promise.end()
            );
            Err(Violation::new(Check::Invention, what))
        }
        None => Err(match content() {
            Some(content) => explain(script, promise, &content),
            None => Violation::new(
                Check::Order,
                "the content of the store does not result from the first n commits for any n",
            ),
        }),
    }
}

/// Describes the violation of a store whose content does not result from the first n commits for any n. `promise` is
/// the range of allowed n.
fn explain(script: &Script, promise: &RangeInclusive<usize>, content: &Content) -> Violation {
    // The newest commit with a visible write determines the rest of the content.
    let mut newest = 0;
    for (key, value) in content {
        let write = ScriptWrite { key: key.clone(), value: Some(value.clone()), end: None };
        let Some(commit) = script.commits().iter().rposition(|commit| commit.contains(&write)) else {
            let what = format!("\"{}\" is {}", String::from_utf8_lossy(key), shown(Some(value)));
            return Violation::new(Check::Invention, what);
        };
        newest = newest.max(commit + 1);
    }
    let newest = newest.max(*promise.start());
    let expected = script.content(newest);
    let commit = newest.checked_sub(1).map(|last| &script.commits()[last][..]).unwrap_or_default();
    let lacks = |write: &&ScriptWrite| content.get(&write.key) != expected.get(&write.key);
    let missing = commit.iter().filter(lacks).count();
    let text = difference(content, &expected);
    if commit.len() > 1 && missing > 0 {
        return Violation::new(Check::Batch, format!("only a part of commit {newest} is present: {text}"));
    }
    let back = content.keys().any(|key| !expected.contains_key(key));
    let lost = expected.iter().any(|(key, value)| content.get(key) != Some(value));
    let check = if back && !lost { Check::Deletion } else { Check::Order };
    Violation::new(
        check,
        format!("the store differs from its expected content after commit {newest}: {text}"),
    )
}

/// Describes the first difference between two contents of a store.
fn difference(found: &Content, expected: &Content) -> String {
    let keys = found.keys().chain(expected.keys());
    let Some(key) = keys.filter(|key| found.get(*key) != expected.get(*key)).min() else {
        return "no difference".to_owned();
    };
    let (found, expected) = (shown(found.get(key)), shown(expected.get(key)));
    format!("the value of key \"{}\" is {found}, expected {expected}", String::from_utf8_lossy(key))
}

/// Formats a value for messages: its first 24 bytes and its length, or "missing".
pub(crate) fn shown(value: Option<&Vec<u8>>) -> String {
    let Some(value) = value else { return "missing".to_owned() };
    let start = String::from_utf8_lossy(&value[..value.len().min(24)]).into_owned();
    format!("\"{start}\" ({} bytes)", value.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(script: &Script, promise: RangeInclusive<usize>, content: &Content) -> Option<Check> {
        let outcome = judge(script, &promise, digest(content), || Some(content.clone()));
        outcome.err().map(|violation| violation.check)
    }

    #[test]
    fn every_kind_of_wrong_content_is_told_apart() {
        let script = Script::new(5, 150);
        let last = script.commits().len();
        let content = script.content(last);
        assert_eq!(judged(&script, last..=last, &content), None);
        assert_eq!(judged(&script, last..=last, &script.content(last - 9)), Some(Check::Promise));
        assert_eq!(judged(&script, 0..=last - 9, &content), Some(Check::Invention));
        let mut invented = content.clone();
        invented.insert(b"key".to_vec(), b"nobody wrote this".to_vec());
        assert_eq!(judged(&script, 0..=last, &invented), Some(Check::Invention));

        // A lost write that is older than surviving ones.
        let is_newest = |value: &[u8]| value.starts_with(format!("{last}.").as_bytes());
        let (key, _) = content.iter().find(|(_, value)| !is_newest(value)).unwrap();
        let mut holed = content.clone();
        holed.remove(key);
        assert!(matches!(judged(&script, 0..=last, &holed), Some(Check::Order | Check::Batch)));
        let gone = Script::keys().find(|key| !content.contains_key(key)).expect("something was deleted");
        let before = (0..last).rev().find_map(|commits| script.content(commits).remove(&gone)).unwrap();
        let mut back = content.clone();
        back.insert(gone, before);
        assert!(matches!(judged(&script, last..=last, &back), Some(Check::Deletion | Check::Batch)));
    }

    #[test]
    fn half_a_batch_is_called_so() {
        let script = Script::new(5, 150);
        let puts =
            |commit: &Vec<ScriptWrite>| commit.len() > 2 && commit.iter().all(|write| write.value.is_some());
        let batch = script.commits().iter().position(puts).unwrap();
        let mut content = script.content(batch);
        apply(&mut content, &script.commits()[batch][1..2]);
        assert_eq!(judged(&script, batch..=batch + 1, &content), Some(Check::Batch));
    }
}
