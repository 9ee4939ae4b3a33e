//! Every back end of the catalog, and every decorator over one, keeps the laws of storage; storage that
//! breaks one is caught.

mod canary;
mod laws;

use std::path::Path;
use std::sync::Arc;

use canary::{Canary, Fault};
use catalog::Choice;
use laws::{Broken, LAWS, Subject};
use lsmbench_storage::{CATALOG, Counting, Faulty, Memory, Purpose, Storage};

#[test]
fn the_catalog_keeps_its_laws() {
    catalog::laws::check(&CATALOG).unwrap();
    assert_eq!(CATALOG.kinds().collect::<Vec<_>>(), ["pread", "mmap", "direct", "memory"]);
}

#[test]
fn every_back_end_keeps_every_law() {
    let directory = tempfile::tempdir().unwrap();
    let mut broken = Vec::new();
    for (number, (law, holds)) in LAWS.iter().enumerate() {
        for mut subject in subjects(directory.path()) {
            subject.directory = directory.path().join(&subject.name).join(number.to_string());
            subject.storage.create_directory(&subject.directory).unwrap();
            if let Err(Broken(error)) = holds(&subject) {
                broken.push(format!("{}: {law}: {error}", subject.name));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_canary_is_caught_by_its_law() {
    for (fault, law_name) in Fault::ALL {
        let canary = Canary::new(fault);
        let directory = Path::new("/canary").to_owned();
        canary.create_directory(&directory).unwrap();
        let subject = Subject { name: format!("{fault:?}"), storage: Box::new(canary), directory };
        let (_, law) = LAWS.iter().find(|(name, _)| *name == law_name).expect("there is such a law");
        assert!(law(&subject).is_err(), "{fault:?}: \"{law_name}\" did not see it");
    }
}

/// What this machine can run of the catalog, and the decorators.
fn subjects(directory: &Path) -> Vec<Subject> {
    let subject =
        |name: &str, storage| Subject { name: name.to_owned(), storage, directory: directory.into() };
    let build = |kind| CATALOG.build(&Choice::default_of(CATALOG.variant(kind).unwrap())).unwrap();
    let mut subjects: Vec<Subject> = CATALOG.kinds().map(|kind| subject(kind, build(kind))).collect();
    subjects.push(subject("counting", Box::new(Counting::new(Arc::new(Memory::default())))));
    subjects.push(subject("faulty", Box::new(Faulty::new(Arc::new(Memory::default())))));
    subjects.retain(|subject| subject.name != "direct" || takes_direct(&*subject.storage, directory));
    subjects
}

/// Whether the file system of temporary files takes `O_DIRECT`; some do not, and say so.
#[expect(clippy::print_stderr, reason = "whoever runs the tests must know what was left out")]
fn takes_direct(direct: &dyn Storage, directory: &Path) -> bool {
    match direct.create(&directory.join("probe"), Purpose::Table) {
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
            eprintln!("skipped: {error} (set TMPDIR to a directory on a disk)");
            false
        }
        created => created.map(|_| true).unwrap(),
    }
}
