//! The manifest of a run: everything beyond its numbers that is needed to judge and repeat them.
//!
//! The manifest is plain data, filled in by the code that runs the experiment. Unknown values are `null`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::whole::write_whole;
use crate::{Folder, ResultsError, Seal};

/// The version of the manifest's layout that this crate writes.
pub const MANIFEST_VERSION: u64 = 1;

/// `manifest.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of this layout: [`MANIFEST_VERSION`].
    pub version: u64,
    /// The name of the experiment: the stem of its file.
    pub experiment: String,
    /// The question it asks.
    pub question: String,
    /// A hash of everything that decides what is measured; charts print its first digits.
    pub run_id: String,
    /// The experiment with every default and override resolved, as TOML.
    pub resolved: String,
    /// Hash of what is measured and how: the cells, the mode, the seed, what is timed and checked. A run can be
    /// resumed with other charts or more trials, which are not in it.
    pub config_hash: String,
    /// The command line.
    pub command: Vec<String>,
    /// The seed of the operation streams and of the trial plan.
    pub seed: u64,
    /// Trials per cell.
    pub trials: u64,
    /// `timed` or `counted`.
    pub mode: String,
    /// Whether it is the experiment's quick form: smaller than it means, and no answer to its question.
    #[serde(default)]
    pub quick: bool,
    /// The swept paths, in the order of their columns.
    pub swept: Vec<String>,
    /// The phases, in order.
    pub phases: Vec<String>,
    /// The cells, in order.
    pub cells: Vec<CellInfo>,
    /// The variants that the designs of the cells use, each once, with the crate that each comes from.
    #[serde(default)]
    pub components: Vec<ComponentInfo>,
    /// Combinations that the sweep left out, and why.
    pub left_out: Vec<LeftOut>,
    /// The program.
    pub build: BuildInfo,
    /// The machine.
    pub machine: MachineInfo,
    /// What measuring costs.
    pub harness: HarnessCost,
    /// What calls to components in other languages and processes cost; nothing for built-in components.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seams: Vec<SeamCost>,
    /// When the run began, RFC 3339.
    pub started: String,
    /// When it ended, RFC 3339; nothing while it runs or if it was killed.
    pub ended: Option<String>,
    /// What a reader of the numbers should know: noise, overrides, refusals.
    pub warnings: Vec<String>,
    /// The verdicts in words, a paragraph for each comparison; none while it runs, and none of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conclusions: Vec<String>,
    /// What is known of `runs.csv`; nothing of what earlier versions wrote.
    #[serde(default)]
    pub runs: Option<Seal>,
    /// What is known of `timeline.csv`.
    #[serde(default)]
    pub timeline: Option<Seal>,
    /// What is known of `noise.csv`.
    #[serde(default)]
    pub noise: Option<Seal>,
    /// What is known of `levels.csv`.
    #[serde(default)]
    pub levels: Option<Seal>,
    /// The fixtures that trials started from; those of phases that are in no row.
    #[serde(default)]
    pub fixtures: Vec<FixtureInfo>,
}

/// A store that trials started from clones of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixtureInfo {
    /// Its name: a hash of what was to be built, and by which program.
    pub hash: String,
    /// When it was built, RFC 3339.
    pub built: String,
    /// How long that took, in seconds.
    pub seconds: f64,
    /// The cells whose trials start from it.
    pub cells: Vec<u64>,
    /// Its files.
    pub files: Vec<FixtureFile>,
}

/// A file of a fixture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixtureFile {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its XXH3-64, in hexadecimal.
    pub xxh3: String,
}

/// A variant that ran, and the crate that it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComponentInfo {
    /// Its axis: `bloom`.
    pub axis: String,
    /// Its name in TOML: `blocked`.
    pub kind: String,
    /// The package: `lsmbench-bloom`.
    pub package: String,
    /// The version of the package.
    pub version: String,
}

/// One cell of the sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellInfo {
    /// Its number.
    pub cell: u64,
    /// Its label.
    pub label: String,
    /// The swept values, in the order of the swept paths.
    pub swept: Vec<String>,
    /// Hash of its resolved design.
    pub design_hash: String,
    /// The engine, where it is not our own tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineInfo>,
    /// The operation stream of each phase.
    pub streams: Vec<Stream>,
}

/// How lines of [`EngineInfo::mapping`] begin that name what is not equal.
pub const UNEQUAL: &str = "not equal: ";

/// Another engine that ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineInfo {
    /// What it is called in the results.
    pub name: String,
    /// Its version, as it tells it itself.
    pub version: Option<String>,
    /// The shared library that was loaded, where it is one.
    pub library: Option<String>,
    /// What makes its times doubtful, as a build with assertions.
    pub doubts: Vec<String>,
    /// What the terms of the design became among its options, and what is not equal.
    pub mapping: Vec<String>,
}

/// The operations of one phase: what was meant beside what came out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The name of the phase.
    pub phase: String,
    /// Hash of the operations; cells that agree on it did the same. None where a text file is replayed.
    pub hash: Option<String>,
    /// What the phase was meant to do.
    pub intended: Profile,
    /// What it did in the first trial of the cell; the rows of `runs.csv` say it of every trial.
    pub realised: Profile,
}

/// The operations of a phase in a few figures. What does not occur, or has no closed form, is `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Operations, a batch or multi-get as one.
    pub operations: Option<u64>,
    /// The share of each kind of operation that occurs.
    pub mix: BTreeMap<String, f64>,
    /// The share of gets for keys that never were.
    pub absent: Option<f64>,
    /// The share of the most popular key in all accesses.
    pub hottest_key: Option<f64>,
    /// The share of the most popular hundredth of the keys.
    pub hottest_1_percent: Option<f64>,
    /// The share of the most popular tenth of the keys.
    pub hottest_10_percent: Option<f64>,
    /// The mean length of the keys.
    pub key_bytes: Option<f64>,
    /// The mean size of the values that are written.
    pub value_bytes: Option<f64>,
    /// The mean number of entries that a range asks for.
    pub range_entries: Option<f64>,
}

/// A combination that was not run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The label of the combination.
    pub label: String,
    /// Why it cannot be run.
    pub reason: String,
}

/// The program that measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BuildInfo {
    /// The version of lsmbench.
    pub version: String,
    /// The git commit it was built from.
    pub git_commit: Option<String>,
    /// Whether the working tree differed from that commit.
    pub git_dirty: Option<bool>,
    /// The compiler.
    pub rustc: Option<String>,
    /// Flags given to the compiler.
    pub flags: Option<String>,
    /// The target triple.
    pub target: Option<String>,
    /// The build profile.
    pub profile: Option<String>,
    /// Whether assertions were compiled in; no time counts then.
    pub debug_assertions: bool,
}

/// The machine that it ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineInfo {
    /// The processor's model.
    pub cpu: Option<String>,
    /// Processors the run may use.
    pub cores: Option<u64>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// Kernel and its version.
    pub kernel: Option<String>,
    /// The file system of the data folder.
    pub file_system: Option<String>,
    /// The device below it.
    pub device: Option<String>,
    /// Bytes free on it when the run began.
    pub free_bytes: Option<u64>,
    /// Load averages over 1, 5 and 15 minutes when the run began.
    pub load_average: Option<[f64; 3]>,
    /// Load averages when it ended.
    pub load_average_end: Option<[f64; 3]>,
    /// What was looked at before the run, and what makes times doubtful.
    #[serde(default)]
    pub findings: Vec<MachineFinding>,
}

/// One thing of a machine that may disturb times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineFinding {
    /// What was looked at.
    pub check: String,
    /// How it is; nothing where the system does not tell.
    pub value: Option<String>,
    /// What to do about it, where it is a concern.
    pub advice: Option<String>,
}

/// What the harness adds to every operation, measured before the run against a store that does nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HarnessCost {
    /// The clock: `time stamp counter` or `operating system`.
    pub clock: Option<String>,
    /// Nanoseconds to read the clock once.
    pub clock_ns: Option<f64>,
    /// Nanoseconds to record one latency.
    pub record_ns: Option<f64>,
    /// The cost per operation: with every one timed, with one in a hundred timed, and as this run times them.
    pub operations: Vec<OperationCost>,
}

/// What measuring adds to an operation at one sampling of latencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationCost {
    /// Every how many operations one is timed; 1 times all.
    pub sampling: u64,
    /// Nanoseconds per operation in all: generation, timing, recording.
    pub operation_ns: f64,
}

/// What a call to a component in another language or process costs beyond a direct call, measured before the run with
/// a component that does the same work on both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeamCost {
    /// The axis.
    pub axis: String,
    /// The variant.
    pub kind: String,
    /// What one call does.
    pub call: String,
    /// Nanoseconds that the seam adds to a call; about 0, and below it by chance, where it adds nothing that can be
    /// measured.
    pub call_ns: f64,
}

/// The one field that every version of the manifest has.
#[derive(Deserialize)]
struct Version {
    version: u64,
}

impl Manifest {
    /// Writes the manifest atomically: a reader sees the old file or the new one.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn write(&self, path: &Path) -> Result<(), ResultsError> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|error| ResultsError::io(path, "encode")(error.into()))?;
        write_whole(path, seal(&text).as_bytes(), true)
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// A file that cannot be read, that is not a manifest, that has a newer version, or that does not match its
    /// checksum if it has one.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        Self::decode(path, &std::fs::read(path).map_err(ResultsError::io(path, "read"))?)
    }

    fn decode(path: &Path, bytes: &[u8]) -> Result<Self, ResultsError> {
        let wrong = |message: String| ResultsError::Manifest { path: path.to_owned(), message };
        let text = str::from_utf8(bytes).map_err(|error| wrong(format!("this is no manifest: {error}")))?;
        let text = unseal(text).map_err(|message| wrong(message.to_owned()))?;
        // The version is read first, because a newer layout would only give confusing errors about its fields.
        let Version { version } =
            serde_json::from_str(&text).map_err(|error| wrong(format!("this is no manifest: {error}")))?;
        if version != MANIFEST_VERSION {
            return Err(wrong(format!(
                "the manifest is of version {version}, this lsmbench reads version {MANIFEST_VERSION}; \
                 use the lsmbench that wrote it"
            )));
        }
        serde_json::from_str(&text).map_err(|error| wrong(format!("the manifest is damaged: {error}")))
    }

    /// Checks the rows of a folder against their seals.
    ///
    /// # Errors
    /// Rows that are missing or changed.
    pub fn check_rows(&self, folder: &Folder) -> Result<(), ResultsError> {
        for (seal, path) in [
            (&self.runs, folder.runs()),
            (&self.timeline, folder.timeline()),
            (&self.noise, folder.noise()),
            (&self.levels, folder.levels()),
        ] {
            seal.as_ref().map_or(Ok(()), |seal| seal.check(&path))?;
        }
        Ok(())
    }
}

/// The last lines of a manifest, with its checksum.
fn ending(body: &str) -> String {
    format!("{SEAL}{:016x}\"\n}}\n", xxh3_64(body.as_bytes()))
}

/// The text before the checksum.
const SEAL: &str = ",\n  \"checksum\": \"";

/// Appends a checksum of all preceding bytes to a JSON object, as its last field.
fn seal(text: &str) -> String {
    let body = text.trim_end().trim_end_matches('}').trim_end();
    format!("{body}{}", ending(body))
}

/// The object without its checksum. Earlier versions wrote no checksum.
fn unseal(text: &str) -> Result<Cow<'_, str>, &'static str> {
    let Some((body, end)) = text.rsplit_once(SEAL) else { return Ok(text.into()) };
    let expected = ending(body);
    match SEAL.len() + end.len() == expected.len() && expected.ends_with(end) {
        true => Ok(format!("{body}\n}}\n").into()),
        false => Err("the manifest is damaged: its checksum does not match"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Manifest {
        Manifest {
            version: MANIFEST_VERSION,
            experiment: "bloom".to_owned(),
            question: "Which filter costs least per absent lookup?".to_owned(),
            resolved: "[design]\nbloom = \"blocked\"\n".to_owned(),
            seed: u64::MAX,
            cells: vec![CellInfo {
                cell: 3,
                label: "blocked(bits_per_key=12)".to_owned(),
                swept: vec!["12".to_owned()],
                streams: vec![Stream {
                    phase: "load".to_owned(),
                    hash: Some("00ff".to_owned()),
                    intended: Profile {
                        mix: BTreeMap::from([("get".to_owned(), 0.95)]),
                        absent: Some(0.5),
                        ..Profile::default()
                    },
                    ..Stream::default()
                }],
                ..CellInfo::default()
            }],
            left_out: vec![LeftOut { label: "x".to_owned(), reason: "y".to_owned() }],
            machine: MachineInfo { load_average: Some([0.1, 0.25, 3.0]), ..MachineInfo::default() },
            harness: HarnessCost {
                clock_ns: Some(9.3),
                operations: vec![OperationCost { sampling: 100, operation_ns: 14.5 }],
                ..HarnessCost::default()
            },
            ..Manifest::default()
        }
    }

    #[test]
    fn manifests_read_back_and_replace_each_other_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.json");
        sample().write(&path).unwrap();
        let ended = Manifest { ended: Some("2026-01-01T00:00:00Z".to_owned()), ..sample() };
        ended.write(&path).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), ended);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn what_is_no_manifest_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.json");
        sample().write(&path).unwrap();
        let sealed = std::fs::read_to_string(&path).unwrap();
        let text = unseal(&sealed).unwrap().into_owned();
        std::fs::write(&path, &text).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), sample(), "earlier versions wrote no checksum");
        let message = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Manifest::read(&path).unwrap_err().to_string()
        };
        assert!(message("{}").contains("this is no manifest: missing field `version`"));
        assert!(message(&text.replace("\"version\": 1,", "\"version\": 2,")).contains("is of version 2"));
        assert!(message(&text.replace("\"seed\"", "\"sead\"")).contains("unknown field `sead`"));
        for length in 0..text.len() - 1 {
            assert!(!message(&text[..length]).is_empty());
        }
        std::fs::remove_file(&path).unwrap();
        assert!(Manifest::read(&path).unwrap_err().to_string().contains("cannot read"));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.json");
        sample().write(&path).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            assert!(Manifest::decode(&path, &whole[..at]).is_err(), "cut to {at}");
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert!(Manifest::decode(&path, &damaged).is_err(), "byte {at}, bit {bit}");
            }
        }
        serde_json::from_slice::<serde_json::Value>(&whole).expect("it is JSON as before");
    }
}
