//! Tests of a filter from another crate in the complete program. The program lists the filter, sweeps it together with
//! built-in filters, and uses it in trial processes.

use std::io::Write;
use std::process::{Command, ExitCode, Output};

use engines::{Engine, Identity, Missing, Opening, Store};
use lsmbench::bloom::{CorruptFilter, Filter, FilterInput, FilterPolicy};
use lsmbench::catalog::{Build, Variant, origin};
use lsmbench::types::{Bytes, KeyHash};
use results::{Folder, Table, columns as c};
use serde::{Deserialize, Serialize};

/// If this environment variable is set, the test program runs as `lsmbench` with the filter. Trial processes inherit
/// the variable.
const AS_PROGRAM: &str = "LSMBENCH_TEST_AS_PROGRAM";

static BYTE_MAP: Variant<dyn FilterPolicy> = Variant::new::<ByteMap>(
    "byte-map",
    "one byte per slot, two slots per key",
    "# Slots per key.\nslots_per_key = 8\n",
)
.from(origin!());

/// A filter with the name of a built-in filter, which lsmbench must reject.
static SECOND_BLOCKED: Variant<dyn FilterPolicy> =
    Variant::new::<ByteMap>("blocked", "a name twice", "slots_per_key = 8\n").from(origin!());

/// An engine that declares more durability than the engine has.
static FORGETFUL: Variant<dyn Engine> = Variant::<dyn Engine>::plain(
    "forgetful",
    "our tree without a WAL, which declares that it has one",
    || Box::new(Forgetful),
)
.from(origin!());

struct Forgetful;

impl Engine for Forgetful {
    fn identify(&self) -> Result<Identity, Missing> {
        Ok(Identity::default())
    }

    fn mapping(&self, _: &engines::EngineOptions) -> Vec<String> {
        Vec::new()
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, workload::TargetError> {
        let without_log = "wal = \"none\"\nmemtable = { capacity = \"64MiB\" }".parse()?;
        let design = opening.design.with(&without_log).map_err(|error| error.message)?;
        let tree = engines::CATALOG.build(&engines::CATALOG.baseline()).map_err(|error| error.message)?;
        tree.open(&Opening::new(&opening.directory, &design))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    slots_per_key: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self { slots_per_key: 8 }
    }
}

struct ByteMap(Params);

impl Build<dyn FilterPolicy> for ByteMap {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self(params)))
    }
}

/// Returns the two slots that belong to a key, among `slots` slots.
fn slots_of(hash: KeyHash, slots: usize) -> [usize; 2] {
    [hash.0 as u32, (hash.0 >> 32) as u32].map(|half| half as usize % slots)
}

impl FilterPolicy for ByteMap {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let mut slots = vec![0; (input.hashes.len() * self.0.slots_per_key).max(1)];
        input
            .hashes
            .iter()
            .flat_map(|hash| slots_of(*hash, slots.len()))
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|slot| slots[slot] = 1);
        slots
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        if stored.is_empty() {
            Err(CorruptFilter("no slots".to_owned()))
        } else {
            Ok(Box::new(Slots(stored)))
        }
    }
}

struct Slots(Bytes);

impl Filter for Slots {
    fn may_contain(&self, hash: KeyHash) -> bool {
        slots_of(hash, self.0.len()).iter().all(|slot| self.0[*slot] == 1)
    }

    fn expected_fpr(&self) -> f64 {
        let set: u64 = self.0.iter().map(|slot| u64::from(*slot)).sum();
        (set as f64 / self.0.len() as f64).powi(2)
    }

    fn memory_bytes(&self) -> usize {
        self.0.len()
    }
}

const EXPERIMENT: &str = r#"
question = "Which filter lets fewest absent lookups through?"

[design]
memtable = { capacity = "32KiB" }

[[phase]]
name   = "load"
insert = 3_000
value  = { kind = "fixed", bytes = 32 }

[[phase]]
name       = "look"
operations = 3_000
mix        = "get"
absent     = 0.5

[sweep]
"design.bloom" = ["none", "blocked", "byte-map(slots_per_key=16)"]

[trials]
count = 1
mode  = "counted"

[[chart]]
kind = "bar"
x    = "design.bloom"
y    = "fpr"
"#;

fn main() -> ExitCode {
    match std::env::var(AS_PROGRAM).as_deref() {
        Ok("good") => lsmbench::Workbench::new().bloom(&BYTE_MAP).main(),
        Ok("forgetful") => lsmbench::Workbench::new().engine(&FORGETFUL).main(),
        Ok("twice") => lsmbench::Workbench::new().bloom(&BYTE_MAP).bloom(&SECOND_BLOCKED).main(),
        _ => {
            a_filter_from_outside_is_listed_where_it_belongs();
            a_filter_from_outside_runs_beside_built_in_ones();
            a_name_twice_is_an_error_of_the_program();
            an_engine_that_declares_too_much_durability_is_caught();
            let result = "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
            writeln!(std::io::stdout(), "{result}").expect("standard output is open");
            ExitCode::SUCCESS
        }
    }
}

/// Runs this test program as `lsmbench` in a folder.
fn lsmbench(form: &str, folder: &std::path::Path, arguments: &[&str]) -> Output {
    let program = std::env::current_exe().expect("the test knows where it is");
    let mut command = Command::new(program);
    command.env(AS_PROGRAM, form).current_dir(folder).args(arguments);
    command.output().expect("the program can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn a_filter_from_outside_is_listed_where_it_belongs() {
    let folder = tempfile::tempdir().unwrap();
    let listed = lsmbench("good", folder.path(), &["list", "bloom", "--json"]);
    let axes: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let variants = axes[0]["variants"].as_array().unwrap();
    let place = |kind: &str| variants.iter().position(|variant| variant["kind"] == kind);
    assert_eq!(place("byte-map"), Some(variants.len() - 2), "before the oracle");
    assert_eq!(place("perfect"), Some(variants.len() - 1));
    let mine = &variants[variants.len() - 2];
    assert_eq!(mine["crate"], format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")));
    assert!(variants[0]["crate"].as_str().unwrap().starts_with("lsmbench-bloom "), "{}", variants[0]);
}

fn a_filter_from_outside_runs_beside_built_in_ones() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("filters.toml"), EXPERIMENT).unwrap();
    let ran = lsmbench("good", folder.path(), &["run", "filters.toml", "--allow-debug"]);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let results = Folder::new(folder.path().join("results/filters"));
    let table = Table::read(&results.runs()).unwrap();
    let row_of = |label: &str| {
        let is = |row: &&results::Row, metric, text: &str| row.get(metric).to_string() == text;
        table.rows().iter().find(|row| {
            is(row, &c::LABEL, label) && is(row, &c::PHASE, "look") && is(row, &c::OPERATION, "all")
        })
    };
    assert!(row_of("none").is_some() && row_of("blocked").is_some());
    let mine = row_of("byte-map(slots_per_key=16)").expect("the filter from outside ran");
    let fpr = mine.get(&c::FPR).number().expect("its rate was measured");
    assert!(fpr > 0.0 && fpr < 0.1, "two of 16 slots per key let {fpr} of absent keys through");
    assert!(folder.path().join("plots/filters").read_dir().unwrap().count() > 0, "charts were drawn");
    let manifest = results::Manifest::read(&results.manifest()).unwrap();
    let mine = manifest.components.iter().find(|one| one.kind == "byte-map").expect("the manifest names it");
    assert_eq!((&*mine.axis, &*mine.package), ("bloom", env!("CARGO_PKG_NAME")));
    let wrong = lsmbench("good", folder.path(), &["run", "filters.toml", "--set", "design.bloom=byte-mop"]);
    assert_eq!(wrong.status.code(), Some(2));
    let error = text(&wrong.stderr);
    assert!(error.contains("did you mean \"byte-map\"?"), "{error}");
}

fn a_name_twice_is_an_error_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let refused = lsmbench("twice", folder.path(), &["list"]);
    assert_eq!(refused.status.code(), Some(2));
    let error = text(&refused.stderr);
    assert!(
        error.contains("bloom: another variant has the name \"blocked\"; rename your variant"),
        "{error}"
    );
}

fn an_engine_that_declares_too_much_durability_is_caught() {
    let folder = tempfile::tempdir().unwrap();
    let what =
        ["torture", "kill", "--engine", "forgetful", "--wal", "buffered", "--kills", "4", "--dir", "."];
    let killed = lsmbench("forgetful", folder.path(), &what);
    let out = text(&killed.stdout);
    assert_eq!(killed.status.code(), Some(1), "{out}{}", text(&killed.stderr));
    assert!(
        out.contains(
            "violation (the engine declares that acknowledged commits survive; the store is kept in "
        ),
        "{out}"
    );
    assert!(out.contains("after the kill: a write is lost although the store promised to keep it"), "{out}");
    assert!(out.contains("lsmbench torture kill --engine forgetful --wal buffered --seed 1"), "{out}");
}
