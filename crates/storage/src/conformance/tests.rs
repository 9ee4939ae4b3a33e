//! Every back end of the catalog, and every decorator over one, keeps the laws of storage; storage that
//! breaks one is caught.

mod canary;
mod laws;

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use canary::{Canary, Fault};
use laws::{Broken, LAWS, Subject};
use lsmbench_storage::{CATALOG, Counting, Faulty, Memory, Purpose, Storage};
use toml::Value;

#[test]
fn the_catalog_keeps_its_laws() {
    catalog::laws::check(&CATALOG).unwrap();
    assert_eq!(
        CATALOG.kinds().collect::<Vec<_>>(),
        ["pread", "mmap", "direct", "uring", "memory", "simulated"]
    );
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

/// What this machine can run of the catalog, further forms of some back ends, and the decorators.
fn subjects(directory: &Path) -> Vec<Subject> {
    let subject =
        |name: &str, storage| Subject { name: name.to_owned(), storage, directory: directory.into() };
    let build =
        |label: &str| CATALOG.build(&CATALOG.choose(&Value::String(label.to_owned())).unwrap()).unwrap();
    let forms = [
        "pread(log=\"write\")",
        "uring(direct=false)",
        "uring(queue_depth=3, direct=false)",
        "memory(mapped=true)",
    ];
    let mut subjects: Vec<Subject> =
        CATALOG.kinds().chain(forms).map(|label| subject(label, build(label))).collect();
    subjects.push(subject("counting", Box::new(Counting::new(Arc::new(Memory::mapped())))));
    subjects.push(subject("faulty", Box::new(Faulty::new(Arc::new(Memory::mapped())))));
    subjects.retain(|subject| runs_here(subject, directory));
    subjects
}

/// Whether this machine takes the back end: some file systems refuse `O_DIRECT`, some kernels `io_uring`, and the
/// back end says so.
#[expect(clippy::print_stderr, reason = "whoever runs the tests must know what was left out")]
fn runs_here(Subject { name, storage, .. }: &Subject, directory: &Path) -> bool {
    storage.create_directory(directory).unwrap();
    let refused = match storage.create(&directory.join("probe"), Purpose::Table) {
        Err(error) if error.kind() == ErrorKind::Unsupported => error,
        created => return created.map(|_| true).unwrap(),
    };
    let may_refuse = name == "direct" || name.starts_with("uring");
    assert!(may_refuse, "{name}: {refused}");
    eprintln!("skipped {name}: {refused}");
    false
}
