//! Tests that the invariants of storage also hold with decorators, and for back ends with parameters other than the
//! defaults. Other tests check that the conformance check detects faulty storage.

mod canary;

use std::path::Path;
use std::sync::Arc;

use canary::{Canary, Fault};
use toml::Value;

use super::invariants::{self, INVARIANTS, Subject};
use super::runs_in;
use crate::{CATALOG, Counting, Faulty, Memory, Storage};

#[test]
fn every_form_and_decorator_keeps_every_invariant() {
    let home = tempfile::tempdir().unwrap();
    for (name, storage) in forms() {
        let directory = home.path().join(&name);
        if runs_in(&*storage, &directory).unwrap() {
            invariants::check(&name, &storage, &directory).unwrap();
        }
    }
}

/// Tests that the check skips only back ends that a system may reject: `io_uring` depends on the kernel, and `O_DIRECT`
/// depends on the file system. All other back ends must run on every system.
#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out must be seen")]
fn only_back_ends_that_may_be_refused_are_left_out() {
    let home = tempfile::tempdir().unwrap();
    let all = CATALOG.all().map(|choice| (choice.label(), Arc::from(CATALOG.build(&choice).unwrap())));
    for (name, storage) in all.chain(forms()) {
        if !runs_in(&*storage, &home.path().join(&name)).unwrap() {
            assert!(name == "direct" || name.starts_with("uring"), "{name} does not run here");
            eprintln!("SKIPPED: this system rejects the storage {name}");
        }
    }
}

#[test]
fn every_canary_is_caught_by_its_invariant() {
    for (fault, name) in Fault::ALL {
        let directory = Path::new("/canary").to_owned();
        let storage: Arc<dyn Storage> = Arc::new(Canary::new(fault));
        storage.create_directory(&directory).unwrap();
        let subject = Subject { storage, directory };
        let (_, check) = INVARIANTS.iter().find(|(other, _)| *other == name).expect("it is an invariant");
        assert!(
            check(&subject).is_err(),
            "{fault:?}: the check of the invariant \"{name}\" did not detect this fault"
        );
    }
}

/// Returns the storages under test, with their names: back ends with parameters other than the defaults, and back ends
/// with decorators.
fn forms() -> Vec<(String, Arc<dyn Storage>)> {
    let labels = [
        "pread(log=\"write\")",
        "uring(direct=false)",
        "uring(queue_depth=3, direct=false)",
        "memory(mapped=true)",
    ];
    let forms = labels.map(|label| {
        let storage = CATALOG.build(&CATALOG.choose(&Value::from(label)).unwrap()).unwrap();
        (label.to_owned(), Arc::from(storage))
    });
    let counting: Arc<dyn Storage> = Arc::new(Counting::new(Arc::new(Memory::mapped())));
    let faulty: Arc<dyn Storage> = Arc::new(Faulty::new(Arc::new(Memory::mapped())));
    forms.into_iter().chain([("counting".to_owned(), counting), ("faulty".to_owned(), faulty)]).collect()
}
