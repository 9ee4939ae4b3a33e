//! The whole-tree model test: every design gives the answers of a `BTreeMap`, whatever its parts.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use crate::common::{Replay, all_designs, memory, steps};
use lsmbench_tree::{Design, Mode};
use storage::{Purpose, Storage, StorageError};

/// Steps per design and seed.
const STEPS: usize = 4_000;

/// Seeds per design.
const SEEDS: u64 = 3;

/// Where a design keeps its files: the storage it names, in a directory of its own.
fn storage_of(design: &Design) -> Arc<dyn Storage> {
    match design.choice("storage").kind() {
        "memory" => memory(),
        _ => Arc::from(storage::CATALOG.build(design.choice("storage")).unwrap()),
    }
}

/// What this machine says where it cannot run a back end: some kernels refuse `io_uring`, some file systems
/// `O_DIRECT`.
fn refusal(design: &Design) -> Option<StorageError> {
    let home = tempfile::tempdir().unwrap();
    let storage = storage_of(design);
    storage.create_directory(home.path()).unwrap();
    let refused = storage.create(&home.path().join("probe"), Purpose::Table).err();
    refused.filter(|error| error.kind() == ErrorKind::Unsupported)
}

fn replay_all(mode: Mode) {
    let mut designs = all_designs();
    designs.retain(|(name, design)| {
        let refusal = refusal(design);
        refusal.iter().for_each(|refusal| println!("left out: {name}: {refusal}"));
        refusal.is_none()
    });
    let mut operations = 0;
    for (name, design) in &designs {
        // The storage axis is tried on real files; for the others memory is as good and faster.
        let on_disk = name.starts_with("storage");
        for seed in 0..SEEDS {
            let home = tempfile::tempdir().unwrap();
            let (storage, directory) = match on_disk {
                true => (storage_of(design), home.path().join("tree")),
                false => (memory(), Path::new("tree").to_owned()),
            };
            let steps = steps(seed, STEPS);
            let outcome = Replay::new(design, mode, storage, &directory).run(&steps);
            if let Err(difference) = outcome {
                panic!("{name}, {mode:?}, seed {seed}: {difference}");
            }
            operations += steps.len();
        }
    }
    println!("{mode:?}: {operations} operations over {} designs, no difference", designs.len());
}

#[test]
fn every_design_answers_like_the_model_in_counted_mode() {
    replay_all(Mode::Counted);
}

#[test]
fn every_design_answers_like_the_model_in_timed_mode() {
    replay_all(Mode::Timed);
}
