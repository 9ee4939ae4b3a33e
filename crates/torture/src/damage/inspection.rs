//! Opens a corrupted store, reads it through every read path, and checks that no answer is wrong.

use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use storage::{Memory, Storage, Unsynced};

use super::corruption::{Changed, Corruption, FileChange};
use super::layout::{FileKind, bounds};
use super::rule::{Class, Rule};
use super::store_image::{Ending, StoreImage, write};
use crate::examine::{panic_text, shown};
use crate::player::DIRECTORY;
use crate::script::{Content, Script, ScriptWrite, apply};
use crate::store_kind::StoreKind;
use crate::subject::StoreUnderTest;
use crate::violation::{Check, Violation};

/// The result of checking one corrupted store, if all checks passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The corruptions change no byte of the store.
    Nothing,
    /// `verify` reported the corruption, and no read returned wrong data.
    Told,
    /// `verify` did not report the corruption, and did not have to for the reason that the class states.
    Harmless(Class),
}

/// The check of one corrupted store: its files, and their corruptions.
pub(crate) struct Inspection<'a> {
    subject: &'a StoreKind,
    store_image: &'a StoreImage,
    /// The corruptions that change at least one byte of the store.
    corruptions: Vec<&'a Corruption>,
    rule: Rule,
}

/// A function that returns whether a key may have an old value, because the newest value may be in a corrupted file.
type Lost<'a> = &'a dyn Fn(&[u8]) -> bool;

impl<'a> Inspection<'a> {
    /// Creates the check of the store `store_image` with the corruptions `corruptions`.
    pub(crate) fn new(
        subject: &'a StoreKind,
        store_image: &'a StoreImage,
        corruptions: &'a [Corruption],
    ) -> Self {
        let corruptions: Vec<&Corruption> =
            corruptions.iter().filter(|corruption| !corruption.apply(store_image).is_empty()).collect();
        let rule = Rule::of(store_image, &corruptions, subject.wal);
        Self { subject, store_image, corruptions, rule }
    }

    /// Verifies, opens and reads the corrupted store, and writes to it.
    ///
    /// # Errors
    /// The first violation of an invariant.
    pub(crate) fn run(&self) -> Result<Outcome, Violation> {
        let changed: Vec<Changed> =
            self.corruptions.iter().flat_map(|corruption| corruption.apply(self.store_image)).collect();
        if changed.is_empty() {
            return Ok(Outcome::Nothing);
        }
        let disk = self.store_image.disk.after_crash(Unsynced::Kept);
        for (file, bytes) in changed {
            let path = self.store_image.path(file);
            match bytes {
                Some(bytes) => write(&disk, &path, &bytes),
                None => disk.remove(&path).expect("the file that a corruption removes must exist"),
            }
        }
        let disk = disk.after_crash(Unsynced::Kept);
        catch_unwind(AssertUnwindSafe(|| self.all(&disk)))
            .unwrap_or_else(|panic| Err(Violation::new(Check::Panic, panic_text(&*panic))))
    }

    fn all(&self, disk: &Memory) -> Result<Outcome, Violation> {
        let damage = self.verify(disk)?;
        self.open(disk, !damage.is_empty())?;
        if damage.is_empty() {
            return Ok(Outcome::Harmless(
                self.rule
                    .passes
                    .expect("a corruption that verify does not report must be of a harmless class"),
            ));
        }
        self.quarantine(disk)?;
        Ok(Outcome::Told)
    }

    /// Runs `verify`, and returns one line per reported corruption. Checks that `verify` reports every harmful
    /// corruption with its file, and does not change the store.
    fn verify(&self, disk: &Memory) -> Result<Vec<String>, Violation> {
        let disk = Arc::new(disk.after_crash(Unsynced::Kept));
        let before = disk.fingerprint();
        let storage: Arc<dyn Storage> = Arc::clone(&disk) as _;
        let damage = match self.subject.maker.verify(&storage, Path::new(DIRECTORY)) {
            Ok(damage) => damage,
            Err(error) => vec![error.to_string()],
        };
        if disk.fingerprint() != before {
            return Err(Violation::new(
                Check::Unchanged,
                "verify must not change the store, but its files differ after the call",
            ));
        }
        damage.iter().try_for_each(|line| names_a_file(line))?;
        if self.rule.passes.is_none() && damage.is_empty() {
            return Err(Violation::new(
                Check::Told,
                "verify reported no corruption, although bytes that it must check are corrupt",
            ));
        }
        self.names_every_corruption(&damage)?;
        Ok(damage)
    }

    /// Checks that `verify` names the file of each corruption that it must report.
    ///
    /// * If a manifest is corrupted, `verify` may instead name a file to which the manifest refers.
    /// * If an SSTable is corrupted, `verify` does not read its filter file, so it need not name this file.
    fn names_every_corruption(&self, damage: &[String]) -> Result<(), Violation> {
        let kind = |corruption: &Corruption| self.store_image.files[corruption.file].kind;
        let is_table_corrupt = self.corruptions.iter().any(|corruption| kind(corruption) == FileKind::Table);
        let is_reported = |corruption: &&Corruption| match kind(corruption) {
            FileKind::Manifest => false,
            FileKind::Filter => !is_table_corrupt,
            _ => true,
        };
        for corruption in self.corruptions.iter().copied().filter(is_reported) {
            let alone = Rule::of(self.store_image, &[corruption], self.subject.wal);
            let other =
                if let FileChange::Exchange { with } = corruption.change { with } else { corruption.file };
            let names = [corruption.file, other].map(|file| &self.store_image.files[file].name);
            let is_named = |name: &String| damage.iter().any(|line| line.contains(&**name));
            if alone.passes.is_none() && !names.into_iter().all(is_named) {
                let what = format!(
                    "verify must name the corrupted file {}, but reported: {}",
                    names[0],
                    damage.join("; ")
                );
                return Err(Violation::new(Check::Told, what));
            }
        }
        Ok(())
    }

    /// Opens the corrupted store, reads all entries, and continues with writes. `is_told` states whether `verify`
    /// reported the corruption.
    fn open(&self, disk: &Memory, is_told: bool) -> Result<(), Violation> {
        let storage: Arc<dyn Storage> = Arc::new(disk.after_crash(Unsynced::Kept));
        let store = match self.subject.maker.open(&storage, Path::new(DIRECTORY)) {
            Ok(store) => store,
            // If a manifest is missing, or was swapped with the manifest of a column family, the directory is not a
            // store, and the error need not be about corruption.
            Err(error) if error.is_damage() || self.is_manifest_corrupt() => {
                return is_allowed(&error, is_told);
            }
            Err(error) => return Err(Violation::new(Check::Named, error.to_string())),
        };
        let allowed = self.store_image.history[self.rule.least..].to_vec();
        let found = self.look(&*store, allowed, is_told, &|_| false)?;
        self.go_on(store, &storage, found, is_told, &|_| false)
    }

    /// Returns whether a manifest is among the corrupted files.
    fn is_manifest_corrupt(&self) -> bool {
        let kind = |corruption: &&Corruption| self.store_image.files[corruption.file].kind;
        self.corruptions.iter().any(|corruption| kind(corruption) == FileKind::Manifest)
    }

    /// Opens the corrupted store in quarantine mode, which moves corrupted files away. All other data must be readable,
    /// and the store must accept writes.
    fn quarantine(&self, disk: &Memory) -> Result<(), Violation> {
        let storage: Arc<dyn Storage> = Arc::new(disk.after_crash(Unsynced::Kept));
        let wrong = |what: String| Err(Violation::new(Check::Quarantine, what));
        let manifest = self.is_manifest_corrupt();
        let (store, report) = match self.subject.maker.open_quarantined(&storage, Path::new(DIRECTORY)) {
            Ok(opened) => opened,
            Err(error) if manifest => return is_allowed(&error, true),
            Err(error) => {
                return wrong(format!(
                    "the store cannot be opened in quarantine mode, which moves corrupted files away: {error}"
                ));
            }
        };
        let lost = self.lost();
        let lost: Lost<'_> = if report.is_empty() { &|_| false } else { &lost };
        let allowed = self.store_image.history[self.rule.least..].to_vec();
        let found = self.look(&*store, allowed, manifest, lost)?;
        self.go_on(store, &storage, found, manifest, lost)
    }

    /// Returns a function that decides whether a key may have an old value, because its newest value may be in a
    /// corrupted file.
    fn lost(&self) -> impl Fn(&[u8]) -> bool + '_ {
        let mut ranges = Vec::new();
        let mut is_all = false;
        for corruption in &self.corruptions {
            let with =
                if let FileChange::Exchange { with } = corruption.change { with } else { corruption.file };
            for number in [corruption.file, with] {
                let file = &self.store_image.files[number];
                match file.kind {
                    FileKind::Table => ranges.extend(bounds(&file.bytes)),
                    FileKind::Log => {
                        let is_stopped = self.store_image.ending == Ending::Stopped;
                        is_all |= !is_stopped || !self.store_image.is_last_log(number);
                    }
                    // If a blob file or a filter is corrupted, every SSTable that refers to this file may be moved to
                    // the quarantine.
                    FileKind::Manifest | FileKind::Blob | FileKind::Filter => is_all = true,
                    FileKind::Other => {}
                }
            }
        }
        let log = self
            .corruptions
            .iter()
            .any(|corruption| self.store_image.files[corruption.file].kind == FileKind::Log);
        move |key: &[u8]| {
            is_all
                || ranges.iter().any(|(low, high)| &**low <= key && key <= &**high)
                || (log && self.store_image.logged.iter().any(|logged| logged == key))
        }
    }

    /// Reads the whole store through every read path. Returns the contents in `allowed` that agree with all reads.
    ///
    /// A read may fail only if `verify` reported the corruption (`is_told`). A key for which `lost` returns true may
    /// have any of its earlier values.
    fn look(
        &self,
        store: &dyn StoreUnderTest,
        mut allowed: Vec<Content>,
        is_told: bool,
        lost: Lost<'_>,
    ) -> Result<Vec<Content>, Violation> {
        let keys: Vec<Vec<u8>> = Script::keys().collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        for key in &keys {
            match store.get(key) {
                Ok(value) => self.narrow(&mut allowed, key, value.as_ref(), lost, "a get")?,
                Err(error) => is_allowed(&error, is_told)?,
            }
        }
        match store.snapshot(&keys) {
            Ok(values) => keys.iter().zip(&values).try_for_each(|(key, value)| {
                self.narrow(&mut allowed, key, value.as_ref(), lost, "a snapshot")
            })?,
            Err(error) => is_allowed(&error, is_told)?,
        }
        match store.range(Bound::Unbounded, Bound::Unbounded) {
            Ok(content) => {
                if let Some(key) = content.keys().find(|key| !keys.contains(&&***key) && !is_added(key)) {
                    let what = format!(
                        "a scan returned the key \"{}\", which was never written",
                        String::from_utf8_lossy(key)
                    );
                    return Err(Violation::new(Check::Answer, what));
                }
                keys.iter()
                    .try_for_each(|key| self.narrow(&mut allowed, key, content.get(*key), lost, "a range"))?;
            }
            Err(error) => is_allowed(&error, is_told)?,
        }
        Ok(allowed)
    }

    /// Removes the contents from `allowed` that do not agree with a read. `way` names the kind of the read, and `value`
    /// is the value that it returned for `key`.
    ///
    /// # Errors
    /// No allowed content agrees with the value.
    fn narrow(
        &self,
        allowed: &mut Vec<Content>,
        key: &[u8],
        value: Option<&Vec<u8>>,
        lost: Lost<'_>,
        way: &str,
    ) -> Result<(), Violation> {
        let expected = allowed.last().and_then(|content| content.get(key)).cloned();
        if lost(key) {
            let was_there = |content: &Content| content.get(key) == value;
            let mut past = self.store_image.past.iter().chain(&self.store_image.history);
            if past.any(was_there) || value.is_none() || is_added(key) {
                return Ok(());
            }
        } else {
            allowed.retain(|content| content.get(key) == value);
            if !allowed.is_empty() {
                return Ok(());
            }
        }
        let key = String::from_utf8_lossy(key);
        let what = format!(
            "{way} returned {} for the key \"{key}\", expected {}",
            shown(value),
            shown(expected.as_ref())
        );
        Err(Violation::new(Check::Answer, what))
    }

    /// Writes to the store, flushes it, and opens it again. Checks that every acknowledged write is present.
    fn go_on(
        &self,
        store: Box<dyn StoreUnderTest>,
        storage: &Arc<dyn Storage>,
        mut allowed: Vec<Content>,
        is_told: bool,
        lost: Lost<'_>,
    ) -> Result<(), Violation> {
        for commit in added() {
            let mut after = allowed.clone();
            after.iter_mut().for_each(|content| apply(content, &commit));
            match store.write(&commit) {
                Ok(()) => allowed = after,
                Err(error) => {
                    is_allowed(&error, is_told)?;
                    allowed.extend(after);
                }
            }
        }
        for done in [store.flush(), store.close()] {
            done.or_else(|error| is_allowed(&error, is_told))?;
        }
        let store = match self.subject.maker.open(storage, Path::new(DIRECTORY)) {
            Ok(store) => store,
            Err(error) => return is_allowed(&error, is_told),
        };
        for key in added().iter().flatten().map(|write| &write.key) {
            match store.get(key) {
                Ok(value) => self.narrow(&mut allowed, key, value.as_ref(), &|_| false, "a get")?,
                Err(error) => is_allowed(&error, is_told)?,
            }
        }
        self.look(&*store, allowed, is_told, lost)?;
        drop(store);
        if is_told {
            return Ok(());
        }
        match self.subject.maker.verify(storage, Path::new(DIRECTORY)) {
            Ok(damage) if damage.is_empty() => Ok(()),
            Ok(damage) => Err(Violation::new(Check::CleanAfter, damage.join("; "))),
            Err(error) => Err(Violation::new(Check::CleanAfter, error.to_string())),
        }
    }
}

/// Returns a violation if an error message names no file of the store.
fn names_a_file(text: &str) -> Result<(), Violation> {
    let is_named = [".table", ".bin", ".sst", ".filter", ".wal", ".blob", "manifest"]
        .iter()
        .any(|part| text.contains(part));
    if is_named { Ok(()) } else { Err(Violation::new(Check::Named, text)) }
}

/// Checks an error of the store: it must name a file, and `verify` must have reported corruption before (`is_told`).
fn is_allowed(error: &tree::Error, is_told: bool) -> Result<(), Violation> {
    let text = error.to_string();
    names_a_file(&text)?;
    match is_told {
        true => Ok(()),
        false => Err(Violation::new(
            Check::Told,
            format!("verify reported no corruption, but a call of the store fails: {text}"),
        )),
    }
}

/// Returns the commits that the test writes to a corrupted store after it has read the store.
fn added() -> [Vec<ScriptWrite>; 2] {
    let put = |key: &str, value: &str| ScriptWrite { key: key.into(), value: Some(value.into()), end: None };
    [vec![put("after", "1")], vec![put("after", "2"), put("batch", "3")]]
}

fn is_added(key: &[u8]) -> bool {
    [&b"after"[..], b"batch"].contains(&key)
}
