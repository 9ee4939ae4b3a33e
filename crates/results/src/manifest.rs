//! The manifest of a run. The manifest contains all information that is necessary to judge and to repeat the run,
//! except the measured values.
//!
//! The manifest is plain data, which the code that runs the experiment fills in. A value that is unknown is `null`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::machine::MachineInfo;
use crate::whole::write_whole;
use crate::{Folder, NodeInfo, PartInfo, ResultsError, Seal};

/// The version of the manifest format that this crate reads and writes.
pub const MANIFEST_VERSION: u64 = 1;

/// The manifest of a run, as stored in `manifest.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the manifest format, which is 1 for this version of lsmbench.
    pub version: u64,
    /// The name of the experiment: the name of its file without `.toml`.
    pub experiment: String,
    /// The question that the experiment answers, from its TOML file.
    pub question: String,
    /// A hash of all settings that affect the measurements. Charts print the first digits of the id.
    pub run_id: String,
    /// The experiment with every default and override resolved, as TOML.
    pub resolved: String,
    /// Hash of the settings that must not change when a run is resumed: the configurations, the mode, the seed, and
    /// the selection of timed and checked operations. The hash does not include the charts and the number of trials.
    pub config_hash: String,
    /// The command line that started the run.
    pub command: Vec<String>,
    /// The seed of the operation streams and of the order of trials.
    pub seed: u64,
    /// Number of trials of each configuration.
    pub trials: u64,
    /// The mode of the run: `timed`, or `counted`, which measures no times.
    pub mode: String,
    /// Whether the run used reduced sizes (`--quick`), which allow no conclusions.
    #[serde(default)]
    pub quick: bool,
    /// The paths of the swept settings, in the order of their columns in `runs.csv`.
    pub swept: Vec<String>,
    /// The phases, in the order in which they ran.
    pub phases: Vec<String>,
    /// The configurations, in the order of the sweep. Result files use the word cell for a configuration.
    pub cells: Vec<CellInfo>,
    /// The variants in the designs of all configurations, with their packages. Each variant occurs only once in the
    /// list.
    #[serde(default)]
    pub components: Vec<ComponentInfo>,
    /// Combinations of swept values that were skipped, with reasons.
    pub left_out: Vec<LeftOut>,
    /// The build of lsmbench that measured.
    pub build: BuildInfo,
    /// The machine on which the program ran.
    pub machine: MachineInfo,
    /// The part of the experiment that this run measured, if the experiment was divided between several machines.
    /// Missing for a complete run and for merged parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartInfo>,
    /// The machines of merged parts, with their rounds. The field is missing for all other runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeInfo>,
    /// Overhead of lsmbench's measuring code per operation.
    pub harness: HarnessCost,
    /// Overhead of calls to components that are in another language or process. Empty if all components are built in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seams: Vec<SeamCost>,
    /// Start of the run, RFC 3339.
    pub started: String,
    /// End of the run, RFC 3339; `null` if the run is still running or was killed.
    pub ended: Option<String>,
    /// Assumptions about replayed traces, because traces do not record everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Warnings about the measurements, such as noise, overrides and skipped parts.
    pub warnings: Vec<String>,
    /// The verdicts in words, one paragraph per comparison. Empty until the run ends, and in manifests of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conclusions: Vec<String>,
    /// The seal of `runs.csv`: the size and hash of the file. `null` in manifests of earlier versions.
    #[serde(default)]
    pub runs: Option<Seal>,
    /// The seal of `timeline.csv`: the size and hash of the file.
    #[serde(default)]
    pub timeline: Option<Seal>,
    /// The seal of `noise.csv`: the size and hash of the file.
    #[serde(default)]
    pub noise: Option<Seal>,
    /// The seal of `levels.csv`: the size and hash of the file.
    #[serde(default)]
    pub levels: Option<Seal>,
    /// The seal of `slices.csv`: the size and hash of the file. Missing unless the trials of a round ran side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<Seal>,
    /// The evaluations of the verdicts during a run with `trials.budget`, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<Look>,
    /// The fixtures from which trials started. A fixture is a store after the first phases, and these phases have no
    /// rows in the results.
    #[serde(default)]
    pub fixtures: Vec<FixtureInfo>,
    /// The CPU profiles of the configurations. Missing for a run without `--profile`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_profiles: Vec<CpuProfileInfo>,
    /// The flame graphs that compare two profiles. Missing for a run without `--profile`, and if no verdict on a time
    /// is decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flame_graphs: Vec<FlameGraphInfo>,
}

/// The CPU profile of a configuration: samples of the stacks of all threads in one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuProfileInfo {
    /// Number of the configuration.
    pub cell: u64,
    /// Name of the phase.
    pub phase: String,
    /// Number of operations of the phase, over all profiled trials.
    pub operations: u64,
    /// Number of profiled trials. These trials are not in `runs.csv`.
    pub trials: u64,
    /// Number of samples in the profile.
    pub samples: u64,
    /// Number of samples that the profiler takes per second of CPU time.
    pub samples_per_second: u64,
    /// Path of the folded stacks, relative to the folder of the manifest.
    pub file: String,
}

/// A flame graph that compares the profiles of two configurations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlameGraphInfo {
    /// Number of the candidate: the configuration that is compared with the baseline.
    pub cell: u64,
    /// Number of the baseline configuration.
    pub baseline: u64,
    /// A text that names the functions with the largest differences in CPU time.
    pub summary: String,
    /// Path of the flame graph (SVG), relative to the folder of the manifest.
    pub file: String,
}

/// An evaluation of the verdicts during a run with a time budget, or at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Number of rounds that had finished before this evaluation of the verdicts.
    pub rounds: u64,
    /// Time from the start of the run to this evaluation of the verdicts, in seconds.
    pub seconds: f64,
    /// The significance level of the tests and intervals of this evaluation. The levels of all evaluations are so small
    /// that together they have the error rate of the run.
    pub level: f64,
}

/// A prebuilt store. Trials start from copies of this store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixtureInfo {
    /// Name of the fixture. The name is a hash of the build instructions and of the program.
    pub hash: String,
    /// Time at which the fixture was built, RFC 3339.
    pub built: String,
    /// Time to build the fixture, in seconds.
    pub seconds: f64,
    /// Numbers of the configurations whose trials start from the fixture.
    pub cells: Vec<u64>,
    /// The files that make up the fixture.
    pub files: Vec<FixtureFile>,
}

/// A file of a fixture, which is a prebuilt store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixtureFile {
    /// Name of the file.
    pub name: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// XXH3-64 of the file's content, in hexadecimal.
    pub xxh3: String,
}

/// A variant of a component that ran, such as the filter `blocked`, with its crate.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComponentInfo {
    /// Axis of the variant, such as `bloom`.
    pub axis: String,
    /// Name of the variant in TOML, such as `blocked`.
    pub kind: String,
    /// The package with the variant, such as `lsmbench-bloom`.
    pub package: String,
    /// The version of the package.
    pub version: String,
}

/// One configuration of the sweep. Result files use the word cell for a configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellInfo {
    /// Number of the configuration, from 0.
    pub cell: u64,
    /// Label of the configuration.
    pub label: String,
    /// The values of the swept settings in this configuration, in the order of the swept paths.
    pub swept: Vec<String>,
    /// Hash of the resolved design.
    pub design_hash: String,
    /// The storage engine. The field is missing for the tree of lsmbench.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineInfo>,
    /// The writes that survive `kill -9` of the process: `acknowledged` for every acknowledged write, or `flushed` for
    /// every write before the last completed flush. The field is missing if the configuration has no store, or if a
    /// server or the memory of the process holds the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survives_kill: Option<String>,
    /// The operation stream of each phase.
    pub streams: Vec<StreamRecord>,
}

/// The start of [`LeftOut::reason`] for a combination that is skipped because it is identical to another configuration.
/// For example, an engine may not read a swept setting of the design, so all values of the setting give identical
/// configurations.
pub const IDENTICAL: &str = "this combination is identical to configuration";

/// The prefix of a line in [`EngineInfo::mapping`] about a mismatch: a setting of the design that the engine does not
/// support.
pub const MISMATCH: &str = "mismatch: ";

/// The prefix of a line about a mismatch in the manifests of earlier versions. [`Manifest::read`] replaces it by
/// [`MISMATCH`].
const EARLIER_MISMATCH: &str = "not equal: ";

/// A storage engine other than lsmbench's own tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineInfo {
    /// Name of the engine in the results.
    pub name: String,
    /// Version that the engine reports.
    pub version: Option<String>,
    /// The path of the loaded shared library. `null` for engines that are part of the program.
    pub library: Option<String>,
    /// Reasons to doubt the times of the engine, such as a build with assertions.
    pub doubts: Vec<String>,
    /// The engine options that correspond to the settings of the design, and the settings that the engine does not
    /// support.
    pub mapping: Vec<String>,
}

/// The operations of one phase, as requested and as executed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamRecord {
    /// The name of the phase.
    pub phase: String,
    /// Hash of the operations. Configurations with equal hashes ran the same operations. `null` if a text file is
    /// replayed.
    pub hash: Option<String>,
    /// Requested operations of the phase.
    pub intended: ProfileRecord,
    /// Executed operations in the first trial of the configuration. For the statistics of all other trials, see
    /// `runs.csv`.
    pub realised: ProfileRecord,
}

/// Statistics of the operations of a phase, such as the mean value size. A statistic is `null` if it does not apply to
/// the phase, or if no formula can compute it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileRecord {
    /// Number of operations. A batch or a multi-get counts as one operation.
    pub operations: Option<u64>,
    /// The fraction of each kind of operation.
    pub mix: BTreeMap<String, f64>,
    /// The fraction of gets for keys that were never written.
    pub absent: Option<f64>,
    /// The fraction of all accesses that go to the most popular key.
    pub hottest_key: Option<f64>,
    /// The fraction of all accesses that go to the most popular 1 % of the keys.
    pub hottest_1_percent: Option<f64>,
    /// The fraction of all accesses that go to the most popular 10 % of the keys.
    pub hottest_10_percent: Option<f64>,
    /// The mean length of the keys, in bytes.
    pub key_bytes: Option<f64>,
    /// The mean size of the written values, in bytes.
    pub value_bytes: Option<f64>,
    /// The mean number of entries that a scan requests.
    pub range_entries: Option<f64>,
}

/// A combination of swept values that was not run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The label of the combination.
    pub label: String,
    /// Reason why the combination cannot run.
    pub reason: String,
}

/// The build of lsmbench that measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BuildInfo {
    /// The version of lsmbench.
    pub version: String,
    /// The git commit from which the program was built.
    pub git_commit: Option<String>,
    /// Whether the working tree had uncommitted changes when the program was built.
    pub git_dirty: Option<bool>,
    /// The version of the Rust compiler.
    pub rustc: Option<String>,
    /// Flags that the build gave to the Rust compiler.
    pub flags: Option<String>,
    /// The target triple of the build, such as `x86_64-unknown-linux-gnu`.
    pub target: Option<String>,
    /// The Cargo profile of the build, such as `release`.
    pub profile: Option<String>,
    /// Whether the program contains debug assertions. In a build with assertions, times are meaningless.
    pub debug_assertions: bool,
    /// The container image with its digest, from the variable `LSMBENCH_IMAGE`, or the image that Podman names in the
    /// container. Missing outside of a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// Overhead of the harness per operation. The harness measures this overhead before the run, with a store that does
/// nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HarnessCost {
    /// The clock that lsmbench reads: `time stamp counter` or `operating system`.
    pub clock: Option<String>,
    /// Nanoseconds to read the clock once.
    pub clock_ns: Option<f64>,
    /// Nanoseconds to record one latency.
    pub record_ns: Option<f64>,
    /// Overhead per operation if all operations are timed, if one operation in a hundred is timed, and at the
    /// sampling rate of this run.
    pub operations: Vec<OperationCost>,
}

/// Overhead per operation at one sampling rate. The sampling rate determines how many operations are timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationCost {
    /// The sampling interval: with 1, lsmbench times all operations; with 100, one operation in 100.
    pub sampling: u64,
    /// Total overhead per operation in nanoseconds, for generation, timing and recording.
    pub operation_ns: f64,
}

/// Overhead of a call to a component in another language or process, compared with a direct call. Before the run,
/// lsmbench measures the overhead with two components that do the same work: one in this program, and one in the other
/// language or process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeamCost {
    /// The axis of the component.
    pub axis: String,
    /// The variant of the component.
    pub kind: String,
    /// Description of the measured call.
    pub call: String,
    /// Overhead per call in nanoseconds. If the overhead is too small to measure, the value is about 0 and can be
    /// negative.
    pub call_ns: f64,
}

/// The version of a manifest. Read first, because the other fields depend on the version.
#[derive(Deserialize)]
struct Version {
    version: u64,
}

impl Manifest {
    /// Writes the manifest in one atomic step, so a reader sees the complete old file or the complete new file.
    ///
    /// # Errors
    /// The file system returns an error.
    pub fn write(&self, path: &Path) -> Result<(), ResultsError> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|error| ResultsError::io(path, "encode")(error.into()))?;
        write_whole(path, seal(&text).as_bytes(), true)
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// The file cannot be read, is not a manifest, has another version than [`MANIFEST_VERSION`], or does not match
    /// its checksum.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        Self::decode(path, &std::fs::read(path).map_err(ResultsError::io(path, "read"))?)
    }

    fn decode(path: &Path, bytes: &[u8]) -> Result<Self, ResultsError> {
        let wrong = |message: String| ResultsError::Manifest { path: path.to_owned(), message };
        let text =
            str::from_utf8(bytes).map_err(|error| wrong(format!("the file is not a manifest: {error}")))?;
        let text = unseal(text).map_err(|message| wrong(message.to_owned()))?;
        // The version is read first, because a newer layout would only give confusing errors about its fields.
        let Version { version } = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("the file is not a manifest: {error}")))?;
        if version != MANIFEST_VERSION {
            return Err(wrong(format!(
                "the manifest has version {version}, but this lsmbench reads version {MANIFEST_VERSION}; \
                 use the lsmbench that wrote the manifest"
            )));
        }
        let mut manifest: Self = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("the manifest is corrupt: {error}")))?;
        let engines = manifest.cells.iter_mut().filter_map(|cell| cell.engine.as_mut());
        for line in engines.flat_map(|engine| &mut engine.mapping) {
            if let Some(mismatch) = line.strip_prefix(EARLIER_MISMATCH) {
                *line = format!("{MISMATCH}{mismatch}");
            }
        }
        Ok(manifest)
    }

    /// Checks that no CSV file of a results folder has changed since the run wrote it. The manifest contains a seal of
    /// each file: its size and hash.
    ///
    /// # Errors
    /// A file cannot be read, is shorter than its seal states, or has another hash.
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

/// Returns the last lines of a manifest: the checksum of the preceding text `body`, and the end of the JSON object.
fn ending(body: &str) -> String {
    format!("{SEAL}{:016x}\"\n}}\n", xxh3_64(body.as_bytes()))
}

/// The text before the checksum in the last lines of a manifest.
const SEAL: &str = ",\n  \"checksum\": \"";

/// Adds the checksum to the text of a manifest, as the last field of the JSON object.
fn seal(text: &str) -> String {
    let body = text.trim_end().trim_end_matches('}').trim_end();
    format!("{body}{}", ending(body))
}

/// Verifies the checksum of a manifest, and returns the JSON object without the checksum. A manifest of an earlier
/// version has no checksum and is returned unchanged.
///
/// # Errors
/// The checksum does not match the text.
fn unseal(text: &str) -> Result<Cow<'_, str>, &'static str> {
    let Some((body, end)) = text.rsplit_once(SEAL) else { return Ok(text.into()) };
    let expected = ending(body);
    match SEAL.len() + end.len() == expected.len() && expected.ends_with(end) {
        true => Ok(format!("{body}\n}}\n").into()),
        false => Err("the checksum of the manifest does not match, so the manifest is corrupt"),
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
                streams: vec![StreamRecord {
                    phase: "load".to_owned(),
                    hash: Some("00ff".to_owned()),
                    intended: ProfileRecord {
                        mix: BTreeMap::from([("get".to_owned(), 0.95)]),
                        absent: Some(0.5),
                        ..ProfileRecord::default()
                    },
                    ..StreamRecord::default()
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
    fn mismatches_of_earlier_versions_have_the_prefix_of_this_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest.json");
        let with = |prefix: &str| {
            let mapping = vec!["cache: block_cache".to_owned(), format!("{prefix}filters: not equal: none")];
            let engine = Some(EngineInfo { mapping, ..EngineInfo::default() });
            Manifest { cells: vec![CellInfo { engine, ..CellInfo::default() }], ..sample() }
        };
        for prefix in [EARLIER_MISMATCH, MISMATCH] {
            with(prefix).write(&path).unwrap();
            assert_eq!(Manifest::read(&path).unwrap(), with(MISMATCH), "{prefix}");
        }
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
        assert!(message("{}").contains("the file is not a manifest: missing field `version`"));
        assert!(message(&text.replace("\"version\": 1,", "\"version\": 2,")).contains("has version 2"));
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
