//! Streams of requests for blocks. The requests come from a distribution, repeat a loop, contain scans, or come from a
//! recording.

use std::path::{Path, PathBuf};

use catalog::{Build, Catalog, Choice, ChoiceError, Variant, alternatives};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::{Table, Value};
use workload::{Endian, KEYS, KeyDistribution, Random, Scope, TraceFile};

/// A sequence of requests for blocks of a cache.
pub(crate) trait Requests: Send + Sync {
    /// Returns the block numbers of `count` requests, or of fewer requests if a recording is shorter. The numbers are
    /// below `blocks`, except those of scanned and recorded blocks.
    ///
    /// # Errors
    /// The file with recorded requests cannot be read.
    fn names(&self, blocks: u64, count: usize, random: &mut Random, base: &Path) -> Result<Vec<u64>, String>;

    /// Returns the distribution from which each request is drawn independently. Returns `None` if the requests do not
    /// come from a distribution.
    fn law(&self) -> Option<Box<dyn KeyDistribution>> {
        None
    }

    /// Returns the file with the recorded requests. Returns `None` if the requests are not recorded.
    fn file(&self) -> Option<TraceFile> {
        None
    }
}

/// All sequences of block requests that do not come from a key distribution of workloads.
pub(crate) static STREAMS: Catalog<dyn Requests> = Catalog::new(
    catalog::origin!(),
    "requests",
    "the sequence of blocks that are requested from a cache",
    &[
        Variant::new::<ScanMixed>(
            "scan-mixed",
            "requests with a Zipf distribution, mixed with scans of blocks that are requested only once",
            "# Zipf exponent. A larger exponent concentrates more requests on few blocks.\n\
             theta = 0.99\n\
             # Share of the requests for blocks that are requested only once.\n\
             once = 0.5\n",
        ),
        Variant::plain("loop", "all blocks in sequence, repeated from the first block", || Box::new(Loop)),
        Variant::new::<Trace>(
            "trace",
            "a raw trace file of fixed-width integers, with one integer per request",
            "# Path of the trace file.\n\
             file = \"\"\n\
             # Size of each integer in bytes.\n\
             width = 4\n\
             # Byte order of the integers. Valid values: \"big\", \"little\".\n\
             endian = \"big\"\n",
        ),
    ],
);

/// A parameter that selects the requests to a cache: one of [`STREAMS`], or any distribution of keys.
#[derive(Clone)]
pub(crate) struct RequestChoice(Source);

#[derive(Clone)]
enum Source {
    Stream(Choice),
    Keys(Choice),
}

impl RequestChoice {
    /// Returns the sequence of requests that are drawn from the key distribution with this label.
    pub(crate) fn of_keys(label: &str) -> Self {
        let choice = KEYS.choose(&Value::String(label.to_owned()));
        Self(Source::Keys(
            choice.expect("the catalog of key distributions must contain the distribution with this label"),
        ))
    }

    /// Parses the choice of a sequence of requests from a label, or from a table with the key `kind`.
    pub(crate) fn from_toml(value: &Value) -> Result<Self, ChoiceError> {
        let kind = match value {
            Value::Table(table) => table.get("kind").and_then(Value::as_str).unwrap_or_default(),
            other => other.as_str().unwrap_or_default(),
        };
        let kind = kind.split('(').next().unwrap_or_default().trim();
        if STREAMS.kinds().any(|known| known == kind) {
            return STREAMS.choose(value).map(|choice| Self(Source::Stream(choice)));
        }
        if KEYS.kinds().any(|known| known == kind) || kind.is_empty() {
            return KEYS.choose(value).map(|choice| Self(Source::Keys(choice)));
        }
        let kinds: Vec<&str> = STREAMS.kinds().chain(KEYS.kinds()).collect();
        Err(ChoiceError::whole(format!("unknown stream \"{kind}\"{}", alternatives(kind, kinds))))
    }

    /// Builds the sequence of requests that the parameter names.
    pub(crate) fn build(&self) -> Box<dyn Requests> {
        match &self.0 {
            Source::Stream(choice) => {
                STREAMS.build(choice).expect("the parsed stream of requests must have valid parameters")
            }
            Source::Keys(choice) => Box::new(Law(choice.clone())),
        }
    }
}

impl Serialize for RequestChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (Source::Stream(choice) | Source::Keys(choice)) = &self.0;
        choice.to_toml().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RequestChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_toml(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A sequence of independent requests that are drawn from a key distribution.
struct Law(Choice);

impl Requests for Law {
    fn names(&self, blocks: u64, count: usize, random: &mut Random, _: &Path) -> Result<Vec<u64>, String> {
        let law = KEYS.build(&self.0).map_err(|error| error.to_string())?;
        let scope = Scope {
            keys: blocks,
            planned: blocks,
            inserts: 0,
            popularity: random.bits(),
            thread: 0,
            threads: 1,
        };
        let mut names = vec![0; count];
        law.sampler(&scope).fill(random, blocks, &mut names);
        Ok(names)
    }

    fn law(&self) -> Option<Box<dyn KeyDistribution>> {
        KEYS.build(&self.0).ok()
    }
}

struct ScanMixed(ScanMixedParams);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ScanMixedParams {
    theta: f64,
    once: f64,
}

impl Default for ScanMixedParams {
    fn default() -> Self {
        Self { theta: 0.99, once: 0.5 }
    }
}

/// Returns a sequence of requests whose blocks have a Zipf distribution with the exponent `theta`.
fn zipf(theta: f64) -> Result<Law, String> {
    let table = Table::from_iter([
        ("kind".to_owned(), Value::String("zipfian".to_owned())),
        ("theta".to_owned(), Value::Float(theta)),
    ]);
    KEYS.choose(&Value::Table(table)).map(Law).map_err(|error| error.to_string())
}

impl Build<dyn Requests> for ScanMixed {
    type Params = ScanMixedParams;

    fn build(params: ScanMixedParams) -> Result<Box<dyn Requests>, String> {
        zipf(params.theta)?;
        match params.once {
            once if (0.0..=1.0).contains(&once) => Ok(Box::new(Self(params))),
            once => Err(format!("once is {once}; it must be a share between 0 and 1")),
        }
    }
}

impl Requests for ScanMixed {
    fn names(&self, blocks: u64, count: usize, random: &mut Random, base: &Path) -> Result<Vec<u64>, String> {
        let mut names = zipf(self.0.theta)?.names(blocks, count, random, base)?;
        let mut scanned = blocks;
        for name in &mut names {
            if random.unit() < self.0.once {
                *name = scanned;
                scanned += 1;
            }
        }
        Ok(names)
    }
}

struct Loop;

impl Requests for Loop {
    fn names(&self, blocks: u64, count: usize, _: &mut Random, _: &Path) -> Result<Vec<u64>, String> {
        Ok((0..count as u64).map(|number| number % blocks).collect())
    }
}

struct Trace(TraceFile);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TraceParams {
    file: PathBuf,
    width: usize,
    endian: Endian,
}

impl Default for TraceParams {
    fn default() -> Self {
        Self { file: PathBuf::new(), width: 4, endian: Endian::Big }
    }
}

impl Build<dyn Requests> for Trace {
    type Params = TraceParams;

    fn build(params: TraceParams) -> Result<Box<dyn Requests>, String> {
        let TraceParams { file, width, endian } = params;
        Ok(Box::new(Self(TraceFile::raw(file, width, endian).map_err(|error| error.message)?)))
    }
}

impl Requests for Trace {
    fn names(&self, _: u64, count: usize, _: &mut Random, base: &Path) -> Result<Vec<u64>, String> {
        let mut names = self.0.read(base).map_err(|error| error.to_string())?;
        names.truncate(count);
        Ok(names)
    }

    fn file(&self) -> Option<TraceFile> {
        Some(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(label: &str, count: usize) -> Vec<u64> {
        let choice = RequestChoice::from_toml(&Value::String(label.to_owned())).unwrap();
        choice.build().names(100, count, &mut Random::new(1), Path::new(".")).unwrap()
    }

    #[test]
    fn streams_ask_for_what_they_say() {
        catalog::laws::check(&STREAMS).unwrap();
        assert_eq!(names("loop", 203)[198..], [98, 99, 0, 1, 2]);
        for label in ["uniform", "zipfian(theta=0.5)", "hotspot"] {
            assert!(names(label, 1000).iter().all(|name| *name < 100), "{label}");
        }
        let mut scanned = names("scan-mixed", 10_000);
        scanned.retain(|name| *name >= 100);
        assert!((4_800..5_200).contains(&scanned.len()), "{}", scanned.len());
        assert!(scanned.windows(2).all(|pair| pair[0] < pair[1]), "a scanned block comes once");
    }

    #[test]
    fn unknown_streams_name_all_that_there_are() {
        let error = |value: Value| RequestChoice::from_toml(&value).map(|_| ()).unwrap_err().message;
        let message = error("zipfain".into());
        assert!(
            message.contains(
                "did you mean \"zipfian\"? Valid: \"scan-mixed\", \"loop\", \"trace\", \"uniform\""
            ),
            "{message}"
        );
        assert!(error("scan-mixed(once=2)".into()).contains("once is 2; it must be a share"));
        assert!(error(Value::Integer(3)).contains("expected a variant"));
    }

    #[test]
    fn a_trace_is_read_as_it_was_recorded() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t"), [0, 7, 0, 9, 0, 7]).unwrap();
        let choice = RequestChoice::from_toml(&"trace(file=t, width=2)".into()).unwrap();
        let stream = choice.build();
        assert_eq!(stream.names(1, 2, &mut Random::new(1), folder.path()).unwrap(), [7, 9]);
        assert!(stream.file().is_some());
    }
}
