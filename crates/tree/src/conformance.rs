//! The model test of a whole tree, which checks that a tree of any design gives the same answers as a `BTreeMap`.
//!
//! A crate that adds a variant to an axis calls [`check`] with a design that has the variant. The tests of this crate
//! call [`check`] for every variant of every axis.
//!
//! ```
//! let design = lsmbench_tree::conformance::small(&"bloom = \"ribbon\"".parse()?)?;
//! lsmbench_tree::conformance::check(&design)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod replay;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use storage::Memory;
use toml::Table;

pub use replay::{Model, Replay, Step, Write, in_pairs, steps, with_merges};

use crate::{Design, DesignError, Mode};

/// The number of operations in one replay. A replay applies the same operations to a tree and to a `BTreeMap`, and
/// compares the results.
const STEPS: usize = 4_000;

/// The number of replays per mode. Each replay has its own seed and therefore its own sequence of operations.
const SEEDS: u64 = 2;

/// The options of the small test design, as TOML. Memtables, SSTables and blocks are small, so few operations cause
/// flushes and compactions.
static SMALL: LazyLock<Table> = LazyLock::new(|| {
    let small = r#"
        memtable = { capacity = "2KiB" }
        table = { capacity = "1536B" }
        block = { size = "512B", restart_interval = 4 }
        compaction = { size_ratio = 3 }
        cache = { capacity = "16KiB" }
    "#;
    small.parse().expect("the options of the small test design must be valid TOML")
});

/// Returns the design that a TOML table describes, but with small memtables, SSTables and blocks. A few hundred
/// operations on a tree of this design cause flushes, compactions and several SSTables per run.
///
/// # Errors
/// If the design is invalid. See [`Design::with`].
pub fn small(toml: &Table) -> Result<Design, DesignError> {
    Design::default().with(&SMALL)?.with(toml)
}

/// Checks that a tree of this design gives the same answers as a `BTreeMap`.
///
/// Seeded operations of all kinds run in counted mode and in timed mode. Both modes run on the in-memory storage, once
/// with memory-mapped files and once without. Some operations close the tree and open it again. If the design has a
/// merge operator, the operations include merges. A design that drops old data does not pass.
///
/// # Errors
/// The error contains the mode, the seed, the first operation with a wrong answer, and both answers.
pub fn check(design: &Design) -> Result<(), String> {
    for mode in [Mode::Counted, Mode::Timed] {
        for seed in 0..SEEDS {
            let memory = if seed % 2 == 0 { Memory::mapped() } else { Memory::default() };
            let replay = Replay::new(design, mode, Arc::new(memory), Path::new("tree"));
            let steps = steps(seed, STEPS);
            let steps = if design.options.merge_operator.is_some() { with_merges(steps) } else { steps };
            let outcome = replay.and_then(|mut replay| replay.run(&steps));
            outcome.map_err(|difference| format!("{mode:?} mode, seed {seed}: {difference}"))?;
        }
    }
    Ok(())
}

/// Checks that a tree gives the same answers as a `BTreeMap` if its design has the variant `kind` on `axis`. The
/// catalog of the axis must contain this variant.
pub(crate) fn check_in_tree(axis: &str, kind: &str) -> Result<(), String> {
    let named = Table::from_iter([(axis.to_owned(), kind.into())]);
    let checked = small(&named).map_err(|error| error.to_string()).and_then(|design| check(&design));
    checked.map_err(|what| {
        format!("{kind}: a tree with this variant does not return the same results as a BTreeMap: {what}")
    })
}
