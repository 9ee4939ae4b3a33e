//! The invariants that every storage back end must keep. One function per invariant checks a back end.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use catalog::laws::all_kept;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Purpose, ReadFile, Storage, StorageError};

/// Checks all invariants of the back end `storage`, which has the name `name`. Each check uses its own directory below
/// `home`.
///
/// # Errors
/// Returns one line per violated invariant, in the form `name: "invariant": failure`.
pub(crate) fn check(name: &str, storage: &Arc<dyn Storage>, home: &Path) -> Result<(), String> {
    let broken = INVARIANTS.iter().enumerate().filter_map(|(number, (invariant, check))| {
        let directory = home.join(number.to_string());
        let subject = Subject { storage: Arc::clone(storage), directory };
        let created = storage.create_directory(&subject.directory).map_err(Broken::from);
        let Broken(what) = created.and_then(|()| check(&subject)).err()?;
        Some(format!("{name}: \"{invariant}\": {what}"))
    });
    all_kept(&broken.collect::<Vec<_>>())
}

/// The back end under test, and an empty directory for one check.
pub(crate) struct Subject {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) directory: PathBuf,
}

/// A function that checks one invariant, and returns an error if the back end violates the invariant.
type Check = fn(&Subject) -> Result<(), Broken>;

/// The invariants of storage: the name and the check of each invariant.
pub(crate) const INVARIANTS: &[(&str, Check)] = &[
    ("a read must return the appended bytes", appended_bytes_are_read_back),
    ("appended bytes must be readable at once; in SSTables, only after a sync", what_is_appended_is_seen),
    ("a read beyond the end of a file must fail", nothing_is_read_beyond_the_end),
    ("an empty file must be supported", a_file_may_be_empty),
    ("file sizes must be exact, also near block boundaries", sizes_are_exact_around_blocks),
    (
        "creating a file under an existing name must not change the old file for its open readers",
        creating_takes_the_name_alone,
    ),
    ("a rename must replace an existing file", renaming_replaces),
    ("an open file must stay readable after its removal", what_is_removed_can_be_read_on),
    ("hard links to a file must share its content", links_share_their_content),
    ("a directory must list its files in the order of their names", names_are_listed_in_order),
    ("a call for a missing file must return an error", what_is_missing_is_an_error),
    ("a lock must have at most one holder", a_lock_is_held_once),
    ("concurrent reads must return the appended bytes", readers_do_not_disturb_each_other),
    ("a read of several parts must equal single reads", parts_read_together),
    ("a memory map of a file must contain the appended bytes", what_is_mapped_is_read),
];

/// The error of a violated invariant: a sentence that describes how the back end violates it.
pub(crate) struct Broken(pub(crate) String);

impl From<StorageError> for Broken {
    fn from(error: StorageError) -> Self {
        Self(format!("a storage call that must succeed has failed: {error}"))
    }
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken(otherwise())) }
}

/// Checks that a storage call has failed with an error of the kind `kind`, and that the error names `path`.
fn ensure_error<T>(result: Result<T, StorageError>, kind: ErrorKind, path: &Path) -> Result<(), Broken> {
    match result {
        Ok(_) => Err(Broken(format!(
            "a storage call for {path} must fail with {kind:?}, but it succeeded",
            path = path.display()
        ))),
        Err(error) => ensure(error.kind() == kind && error.path == path, || {
            format!(
                "a storage call for {path} must fail with {kind:?} and name this path, but the error is: \
                 {error}",
                path = path.display()
            )
        }),
    }
}

fn random_bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}

impl Subject {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn write(&self, name: &str, purpose: Purpose, bytes: &[u8]) -> Result<PathBuf, Broken> {
        let path = self.path(name);
        self.storage.create(&path, purpose)?.append(bytes)?;
        Ok(path)
    }

    fn open(&self, name: &str, purpose: Purpose) -> Result<Arc<dyn ReadFile>, Broken> {
        Ok(self.storage.open(&self.path(name), purpose)?)
    }

    fn ensure_content(&self, name: &str, purpose: Purpose, expected: &[u8]) -> Result<(), Broken> {
        let file = self.open(name, purpose)?;
        if purpose == Purpose::Log && file.len() > expected.len() as u64 {
            let (content, padding) = (file.read(0, expected.len())?, expected.len() as u64);
            let rest = file.read(padding, (file.len() - padding) as usize)?;
            return ensure(*content == *expected && rest.iter().all(|byte| *byte == 0), || {
                format!("{name} must contain the appended bytes and then only zeros, but it does not")
            });
        }
        ensure_all(&*file, expected, name)
    }
}

/// Checks that `file` contains exactly the bytes `expected`. `what` names the file in the error.
fn ensure_all(file: &dyn ReadFile, expected: &[u8], what: &str) -> Result<(), Broken> {
    ensure(file.len() == expected.len() as u64 && file.is_empty() == expected.is_empty(), || {
        format!("{what} must have {} bytes, but has {} bytes", expected.len(), file.len())
    })?;
    ensure(*file.read(0, expected.len())? == *expected, || {
        format!("{what} must contain the appended bytes, but it does not")
    })
}

/// Checks that reads of any size at any offset return the appended bytes. The check appends the bytes in pieces of many
/// sizes.
fn appended_bytes_are_read_back(subject: &Subject) -> Result<(), Broken> {
    let content = random_bytes(5_000_000, 1);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    for purpose in Purpose::ALL {
        let path = subject.path("file");
        let mut writer = subject.storage.create(&path, purpose)?;
        let mut rest = &content[..];
        let sizes = [0, 1, 4095, 4096, 0, 4097, 1 << 20, 3 << 19, 12_288];
        let sizes = sizes.into_iter().chain(std::iter::repeat_with(|| random.random_range(0..20_000)));
        for (number, size) in sizes.enumerate() {
            let (now, later) = rest.split_at(size.min(rest.len()));
            writer.append(now)?;
            rest = later;
            let so_far = (content.len() - rest.len()) as u64;
            ensure(writer.len() == so_far, || {
                format!(
                    "the writer of a file reports {} bytes, but {so_far} bytes were appended",
                    writer.len()
                )
            })?;
            if matches!(number, 2 | 5 | 30) {
                writer.sync()?;
            }
            if rest.is_empty() {
                break;
            }
        }
        drop(writer);
        let file = subject.open("file", purpose)?;
        ensure_all(&*file, &content, &format!("a {purpose:?}"))?;
        for largest in [1, 100, 4096, 10_000, 3_000_000] {
            for _ in 0..100 {
                let len = random.random_range(0..=largest);
                let offset = random.random_range(0..=content.len() - len);
                let same = *file.read(offset as u64, len)? == content[offset..offset + len];
                ensure(same, || {
                    format!(
                        "a read of {len} bytes at offset {offset} of a {purpose:?} file did not return the \
                         appended bytes"
                    )
                })?;
            }
        }
    }
    Ok(())
}

fn what_is_appended_is_seen(subject: &Subject) -> Result<(), Broken> {
    for purpose in Purpose::ALL {
        let mut writer = subject.storage.create(&subject.path("file"), purpose)?;
        let mut content = Vec::new();
        for (seed, size) in (0..).zip([3, 5000, 4096, 1, 70_000]) {
            let piece = random_bytes(size, seed);
            writer.append(&piece)?;
            content.extend_from_slice(&piece);
            if purpose == Purpose::Table {
                writer.sync()?;
            }
            subject.ensure_content("file", purpose, &content)?;
        }
        let before = subject.open("file", purpose)?;
        let len = before.len();
        writer.append(b"more")?;
        writer.sync()?;
        ensure(before.len() == len, || {
            "the length of an open file must not change, but it grew after an append".to_owned()
        })?;
        content.extend_from_slice(b"more");
        subject.ensure_content("file", purpose, &content)?;
    }
    Ok(())
}

fn nothing_is_read_beyond_the_end(subject: &Subject) -> Result<(), Broken> {
    for purpose in Purpose::ALL {
        let path = subject.write("file", purpose, &random_bytes(5000, 1))?;
        let file = subject.open("file", purpose)?;
        let beyond = [
            (5000, 1),
            (4999, 2),
            (0, 5001),
            (5001, 0),
            (8192, 1),
            (u64::MAX, 1),
            (u64::MAX, 0),
            (1, usize::MAX),
            (0, usize::MAX / 2),
        ];
        for (offset, len) in beyond {
            ensure_error(file.read(offset, len), ErrorKind::UnexpectedEof, &path)?;
        }
        ensure(file.read(5000, 0)?.is_empty(), || {
            "a read of 0 bytes at the end of a file must return no bytes, but it returned some".to_owned()
        })?;
    }
    Ok(())
}

fn a_file_may_be_empty(subject: &Subject) -> Result<(), Broken> {
    for purpose in Purpose::ALL {
        let path = subject.path("file");
        let mut writer = subject.storage.create(&path, purpose)?;
        ensure(writer.is_empty(), || {
            "a new file must be empty, but its writer reports a length above 0".to_owned()
        })?;
        writer.sync()?;
        subject.ensure_content("file", purpose, b"")?;
        writer.append(b"")?;
        ensure(writer.is_empty(), || {
            "an append of 0 bytes must not change the length of the file, but it did".to_owned()
        })?;
        drop(writer);
        subject.ensure_content("file", purpose, b"")?;
        ensure_error(subject.open("file", purpose)?.read(0, 1), ErrorKind::UnexpectedEof, &path)?;
    }
    Ok(())
}

fn sizes_are_exact_around_blocks(subject: &Subject) -> Result<(), Broken> {
    for blocks in [1, 2, 16, 256, 257] {
        for size in [blocks * 4096 - 1, blocks * 4096, blocks * 4096 + 1] {
            let content = random_bytes(size, size as u64);
            subject.write("file", Purpose::Table, &content)?;
            let file = subject.open("file", Purpose::Table)?;
            ensure_all(&*file, &content, &format!("an SSTable of {size} bytes"))?;
            for (offset, len) in [(0, 1), (size - 1, 1), (size - 4095, 4095), (size / 2, size - size / 2)] {
                let same = *file.read(offset as u64, len)? == content[offset..offset + len];
                ensure(same, || {
                    format!(
                        "a read of {len} bytes at offset {offset} of an SSTable of {size} bytes did not \
                         return the appended bytes"
                    )
                })?;
            }
        }
    }
    Ok(())
}

/// Checks that a file can be created under the name of an existing file. Readers and other names of the existing file
/// must keep the old content.
fn creating_takes_the_name_alone(subject: &Subject) -> Result<(), Broken> {
    for purpose in Purpose::ALL {
        let path = subject.write("file", purpose, b"old and long")?;
        let link = subject.path("link");
        subject.storage.hard_link(&path, &link)?;
        let reader = subject.open("file", purpose)?;
        subject.write("file", purpose, b"new")?;
        ensure_all(&*reader, b"old and long", "the open file")?;
        subject.ensure_content("link", purpose, b"old and long")?;
        subject.ensure_content("file", purpose, b"new")?;
        subject.storage.remove(&link)?;
    }
    Ok(())
}

fn renaming_replaces(subject: &Subject) -> Result<(), Broken> {
    let from = subject.write("from", Purpose::Manifest, b"new")?;
    let to = subject.write("to", Purpose::Manifest, b"old")?;
    let reader = subject.open("to", Purpose::Manifest)?;
    subject.storage.rename(&from, &to)?;
    subject.ensure_content("to", Purpose::Manifest, b"new")?;
    ensure_all(&*reader, b"old", "the replaced file, which is still open,")?;
    ensure_error(subject.storage.open(&from, Purpose::Manifest), ErrorKind::NotFound, &from)?;

    // The new name is in another directory, and the writer is still open.
    let below = subject.path("below");
    subject.storage.create_directory(&below)?;
    let mut writer = subject.storage.create(&from, Purpose::Log)?;
    writer.append(b"one ")?;
    subject.storage.rename(&from, &below.join("moved"))?;
    writer.append(b"two")?;
    subject.ensure_content("below/moved", Purpose::Log, b"one two")?;
    ensure(subject.storage.list(&subject.directory)? == ["to"], || {
        "after a rename to another directory, the old directory must list only \"to\", but it does not"
            .to_owned()
    })
}

fn what_is_removed_can_be_read_on(subject: &Subject) -> Result<(), Broken> {
    for purpose in Purpose::ALL {
        let content = random_bytes(100_000, 1);
        let path = subject.write("file", purpose, &content)?;
        let reader = subject.open("file", purpose)?;
        subject.storage.remove(&path)?;
        ensure_error(subject.storage.open(&path, purpose), ErrorKind::NotFound, &path)?;
        ensure_all(&*reader, &content, "the removed file")?;
    }
    Ok(())
}

fn links_share_their_content(subject: &Subject) -> Result<(), Broken> {
    let (path, link) = (subject.path("file"), subject.path("link"));
    let mut writer = subject.storage.create(&path, Purpose::Log)?;
    writer.append(b"before ")?;
    subject.storage.hard_link(&path, &link)?;
    writer.append(b"after")?;
    for name in ["file", "link"] {
        subject.ensure_content(name, Purpose::Log, b"before after")?;
    }
    ensure_error(subject.storage.hard_link(&path, &link), ErrorKind::AlreadyExists, &link)?;
    subject.storage.remove(&path)?;
    subject.ensure_content("link", Purpose::Log, b"before after")
}

fn names_are_listed_in_order(subject: &Subject) -> Result<(), Broken> {
    let list = || Ok::<_, Broken>(subject.storage.list(&subject.directory)?);
    ensure(list()?.is_empty(), || "the list of an empty directory must be empty, but it is not".to_owned())?;
    let below = subject.path("m-directory");
    subject.storage.create_directory(&below.join("deeper"))?;
    subject.storage.create_directory(&below)?;
    for name in ["000010", "b", "000009", "a", "Z"] {
        subject.write(name, Purpose::Log, b"")?;
        subject.storage.create(&below.join(format!("x{name}")), Purpose::Table)?;
    }
    subject.storage.remove(&subject.path("b"))?;
    subject.storage.sync_directory(&subject.directory)?;
    let names = list()?;
    ensure(names == ["000009", "000010", "Z", "a"], || {
        format!("the directory must list \"000009\", \"000010\", \"Z\" and \"a\", but lists {names:?}")
    })?;
    let names = subject.storage.list(&below)?;
    ensure(names == ["x000009", "x000010", "xZ", "xa", "xb"], || {
        format!(
            "the directory must list \"x000009\", \"x000010\", \"xZ\", \"xa\" and \"xb\", but lists {names:?}"
        )
    })
}

fn what_is_missing_is_an_error(subject: &Subject) -> Result<(), Broken> {
    let storage = &subject.storage;
    let (missing, other) = (subject.path("missing"), subject.path("other"));
    let inside = missing.join("file");
    for purpose in Purpose::ALL {
        ensure_error(storage.open(&missing, purpose), ErrorKind::NotFound, &missing)?;
        ensure_error(storage.create(&inside, purpose), ErrorKind::NotFound, &inside)?;
    }
    ensure_error(storage.rename(&missing, &other), ErrorKind::NotFound, &missing)?;
    ensure_error(storage.remove(&missing), ErrorKind::NotFound, &missing)?;
    ensure_error(storage.hard_link(&missing, &other), ErrorKind::NotFound, &other)?;
    ensure_error(storage.list(&missing), ErrorKind::NotFound, &missing)?;
    ensure_error(storage.sync_directory(&missing), ErrorKind::NotFound, &missing)?;
    ensure_error(storage.lock(&inside), ErrorKind::NotFound, &inside)
}

fn a_lock_is_held_once(subject: &Subject) -> Result<(), Broken> {
    let (lock, other) = (subject.path("lock"), subject.path("other"));
    for _ in 0..2 {
        let held = subject.storage.lock(&lock)?;
        ensure_error(subject.storage.lock(&lock), ErrorKind::WouldBlock, &lock)?;
        let _other = subject.storage.lock(&other)?;
        drop(held);
    }
    let names = subject.storage.list(&subject.directory)?;
    ensure(names == ["lock", "other"], || {
        format!("the directory must list the locked files \"lock\" and \"other\" only, but lists {names:?}")
    })
}

fn readers_do_not_disturb_each_other(subject: &Subject) -> Result<(), Broken> {
    let content = random_bytes(300_000, 1);
    subject.write("file", Purpose::Table, &content)?;
    let file = subject.open("file", Purpose::Table)?;
    let read_much = |seed| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..500 {
            let len = random.random_range(0..10_000);
            let offset = random.random_range(0..=content.len() - len);
            let same = *file.read(offset as u64, len)? == content[offset..offset + len];
            ensure(same, || {
                format!(
                    "during concurrent reads, a read of {len} bytes at offset {offset} did not return the \
                     appended bytes"
                )
            })?;
            let parts = [(offset as u64, len), (0, len / 2)];
            for (answer, (offset, len)) in file.read_many(&parts).into_iter().zip(parts) {
                let same = *answer? == content[offset as usize..][..len];
                ensure(same, || {
                    format!(
                        "during concurrent reads, read_many did not return the appended {len} bytes at \
                         offset {offset}"
                    )
                })?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..4).map(|seed| scope.spawn(move || read_much(seed))).collect();
        readers
            .into_iter()
            .try_for_each(|reader| reader.join().expect("the threads of concurrent readers must not panic"))
    })
}

/// Checks calls that read several parts of a file, up to 700 parts per call. The parts have many sizes and are in any
/// order. Some parts occur twice, and some parts extend beyond the end of the file.
fn parts_read_together(subject: &Subject) -> Result<(), Broken> {
    let content = random_bytes(3_000_001, 1);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    for purpose in Purpose::ALL {
        let path = subject.write("file", purpose, &content)?;
        let file = subject.open("file", purpose)?;
        ensure(file.queue_depth() >= 1, || {
            "queue_depth() of a file must be at least 1, but is 0".to_owned()
        })?;
        for count in [0, 1, 2, 32, 700] {
            let mut parts: Vec<(u64, usize)> = (0..count)
                .map(|number| match number % 9 {
                    3 => (content.len() as u64 - 5, random.random_range(6..10_000)),
                    4 => (random.random_range(0..1000) * 4096, 4096),
                    5 => (number as u64, 0),
                    number => (random.random_range(0..2_900_000), 1 + number * 500),
                })
                .collect();
            parts.extend(parts.get(1).copied());
            parts.extend((count == 32).then_some((1, 3_000_000)));
            let answers = file.read_many(&parts);
            ensure(answers.len() == parts.len(), || {
                format!("read_many must return one result per part, but returned {}", answers.len())
            })?;
            for (answer, (offset, len)) in answers.into_iter().zip(parts) {
                match content.get(offset as usize..).and_then(|rest| rest.get(..len)) {
                    Some(expected) => ensure(*answer? == *expected, || {
                        format!(
                            "read_many of {count} parts of a {purpose:?} file did not return the appended \
                             {len} bytes at offset {offset}"
                        )
                    })?,
                    None => ensure_error(answer, ErrorKind::UnexpectedEof, &path)?,
                }
            }
        }
    }
    Ok(())
}

/// Checks that the memory map of a file covers the whole file, and stays unchanged when the name of the file is
/// removed.
fn what_is_mapped_is_read(subject: &Subject) -> Result<(), Broken> {
    for len in [1, 4096, 100_001] {
        let content = random_bytes(len, 3);
        let path = subject.write("file", Purpose::Table, &content)?;
        let file = subject.open("file", Purpose::Table)?;
        file.expect(0, len);
        file.expect(len as u64, 1);
        subject.storage.remove(&path)?;
        let is_whole = file.mapped().is_none_or(|mapped| mapped == content);
        ensure(is_whole, || {
            format!("the memory map of a file must contain its {len} bytes, but it does not")
        })?;
    }
    Ok(())
}
