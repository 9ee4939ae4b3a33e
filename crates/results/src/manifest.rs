//! The manifest of a run: all information beyond its numbers that is needed to judge and repeat them.
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
    /// The experiment's question.
    pub question: String,
    /// A hash of all settings that affect the measurements; charts print its first digits.
    pub run_id: String,
    /// The experiment with every default and override resolved, as TOML.
    pub resolved: String,
    /// Hash of the settings that a resumed run must share: the cells, the mode, the seed, and the timed and checked
    /// operations. It does not cover charts and the number of trials.
    pub config_hash: String,
    /// The command line.
    pub command: Vec<String>,
    /// The seed of the operation streams and of the trial plan.
    pub seed: u64,
    /// Trials per cell.
    pub trials: u64,
    /// `timed` or `counted`.
    pub mode: String,
    /// Whether it is the experiment's quick form, whose reduced size allows no conclusions.
    #[serde(default)]
    pub quick: bool,
    /// The swept paths, in the order of their columns.
    pub swept: Vec<String>,
    /// The phases, in order.
    pub phases: Vec<String>,
    /// The cells, in order.
    pub cells: Vec<CellInfo>,
    /// The variants in the designs of the cells, each once, with its crate.
    #[serde(default)]
    pub components: Vec<ComponentInfo>,
    /// Combinations that the sweep skipped, with reasons.
    pub left_out: Vec<LeftOut>,
    /// The program that measured.
    pub build: BuildInfo,
    /// The machine on which it ran.
    pub machine: MachineInfo,
    /// Overhead of the measurement.
    pub harness: HarnessCost,
    /// Overhead of calls to components in other languages and processes; empty for built-in components.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seams: Vec<SeamCost>,
    /// Start of the run, RFC 3339.
    pub started: String,
    /// End of the run, RFC 3339; `null` while it runs or if it was killed.
    pub ended: Option<String>,
    /// Assumptions of the replays of traces, because traces do not record them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Warnings about the numbers: noise, overrides, skipped parts.
    pub warnings: Vec<String>,
    /// The verdicts in words, a paragraph for each comparison; none while it runs, and none of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conclusions: Vec<String>,
    /// The seal of `runs.csv`; `null` for files of earlier versions.
    #[serde(default)]
    pub runs: Option<Seal>,
    /// The seal of `timeline.csv`.
    #[serde(default)]
    pub timeline: Option<Seal>,
    /// The seal of `noise.csv`.
    #[serde(default)]
    pub noise: Option<Seal>,
    /// The seal of `levels.csv`.
    #[serde(default)]
    pub levels: Option<Seal>,
    /// The seal of `slices.csv`, if trials ran side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<Seal>,
    /// The looks at the verdicts of a run with `trials.budget`, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<Look>,
    /// The fixtures from which trials started, for phases without rows.
    #[serde(default)]
    pub fixtures: Vec<FixtureInfo>,
}

/// A look at the verdicts before the end of the budget, or at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Finished rounds.
    pub rounds: u64,
    /// Time of the run until then, in seconds.
    pub seconds: f64,
    /// Share of the error rate that this look may spend: the level of its tests and intervals.
    pub level: f64,
}

/// A prebuilt store, clones of which trials start from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixtureInfo {
    /// Name of the fixture: a hash of its build instructions and of the program.
    pub hash: String,
    /// Time at which it was built, RFC 3339.
    pub built: String,
    /// Duration of the build in seconds.
    pub seconds: f64,
    /// The cells whose trials start from it.
    pub cells: Vec<u64>,
    /// Files of the fixture.
    pub files: Vec<FixtureFile>,
}

/// A file of a fixture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixtureFile {
    /// File name.
    pub name: String,
    /// File size in bytes.
    pub bytes: u64,
    /// XXH3-64 of the content, in hexadecimal.
    pub xxh3: String,
}

/// A variant that ran, with its crate.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComponentInfo {
    /// Axis of the variant: `bloom`.
    pub axis: String,
    /// Name of the variant in TOML: `blocked`.
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
    /// Number of the cell.
    pub cell: u64,
    /// Label of the cell.
    pub label: String,
    /// The swept values, in the order of the swept paths.
    pub swept: Vec<String>,
    /// Hash of its resolved design.
    pub design_hash: String,
    /// The engine; missing for lsmbench's own tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineInfo>,
    /// The operation stream of each phase.
    pub streams: Vec<Stream>,
}

/// Start of the lines of [`EngineInfo::mapping`] that name a mismatch.
pub const UNEQUAL: &str = "not equal: ";

/// Another engine that ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineInfo {
    /// Name of the engine in the results.
    pub name: String,
    /// Version that the engine reports.
    pub version: Option<String>,
    /// The loaded shared library; `null` for engines that are compiled in.
    pub library: Option<String>,
    /// Reasons to doubt its times, such as a build with assertions.
    pub doubts: Vec<String>,
    /// The engine options for the settings of the design, and the mismatches.
    pub mapping: Vec<String>,
}

/// The operations of one phase: intended and realised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The name of the phase.
    pub phase: String,
    /// Hash of the operations; cells with equal hashes ran the same operations. `null` if a text file is replayed.
    pub hash: Option<String>,
    /// Intended operations of the phase.
    pub intended: Profile,
    /// Operations in the first trial of the cell; the rows of `runs.csv` have those of every trial.
    pub realised: Profile,
}

/// Statistics of the operations of a phase. A value that does not occur, or has no closed form, is `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Number of operations; a batch or multi-get counts as one.
    pub operations: Option<u64>,
    /// The share of each kind of operation that occurs.
    pub mix: BTreeMap<String, f64>,
    /// The share of gets for keys that were never written.
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
    /// The mean number of entries that a scan requests.
    pub range_entries: Option<f64>,
}

/// A combination that was not run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The label of the combination.
    pub label: String,
    /// Reason why it cannot run.
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
    /// Whether assertions were compiled in; times are then meaningless.
    pub debug_assertions: bool,
}

/// The machine that it ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineInfo {
    /// CPU model.
    pub cpu: Option<String>,
    /// Number of CPUs that the run may use.
    pub cores: Option<u64>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Kernel with its version.
    pub kernel: Option<String>,
    /// The file system of the data folder.
    pub file_system: Option<String>,
    /// The device of that file system.
    pub device: Option<String>,
    /// Free bytes on the file system at the start of the run.
    pub free_bytes: Option<u64>,
    /// Load averages over 1, 5 and 15 minutes at the start of the run.
    pub load_average: Option<[f64; 3]>,
    /// Load averages at the end of the run.
    pub load_average_end: Option<[f64; 3]>,
    /// Checks before the run, with sources of timing noise.
    #[serde(default)]
    pub findings: Vec<MachineFinding>,
}

/// One possible source of timing noise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineFinding {
    /// Name of the check.
    pub check: String,
    /// Result of the check; `null` if the system does not report it.
    pub value: Option<String>,
    /// Advice to fix it, if it is a problem.
    pub advice: Option<String>,
}

/// Overhead of the harness per operation, measured before the run with a store that does nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HarnessCost {
    /// The clock: `time stamp counter` or `operating system`.
    pub clock: Option<String>,
    /// Nanoseconds to read the clock once.
    pub clock_ns: Option<f64>,
    /// Nanoseconds to record one latency.
    pub record_ns: Option<f64>,
    /// Overhead per operation if every operation is timed, if one in a hundred is timed, and with the sampling of this
    /// run.
    pub operations: Vec<OperationCost>,
}

/// Overhead per operation at one sampling rate of latencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationCost {
    /// One of this many operations is timed; 1 times all.
    pub sampling: u64,
    /// Total nanoseconds per operation: generation, timing, recording.
    pub operation_ns: f64,
}

/// Overhead of a call to a component in another language or process, compared with a direct call. It is measured before
/// the run with a component that does the same work on both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeamCost {
    /// The axis.
    pub axis: String,
    /// The variant.
    pub kind: String,
    /// Description of one call.
    pub call: String,
    /// Overhead per call in nanoseconds; about 0, and possibly negative by chance, if it is not measurable.
    pub call_ns: f64,
}

/// The only field that every version of the manifest has.
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
        let text =
            str::from_utf8(bytes).map_err(|error| wrong(format!("this is not a manifest: {error}")))?;
        let text = unseal(text).map_err(|message| wrong(message.to_owned()))?;
        // The version is read first, because a newer layout would only give confusing errors about its fields.
        let Version { version } =
            serde_json::from_str(&text).map_err(|error| wrong(format!("this is not a manifest: {error}")))?;
        if version != MANIFEST_VERSION {
            return Err(wrong(format!(
                "the manifest is of version {version}, this lsmbench reads version {MANIFEST_VERSION}; \
                 use the lsmbench that wrote it"
            )));
        }
        serde_json::from_str(&text).map_err(|error| wrong(format!("the manifest is corrupt: {error}")))
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
            (&self.slices, folder.slices()),
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
        false => Err("the manifest is corrupt: its checksum does not match"),
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
        assert!(message("{}").contains("this is not a manifest: missing field `version`"));
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
