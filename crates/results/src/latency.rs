//! Latency logs. A latency log contains the latencies of one phase in one trial of a configuration, as HDR
//! histograms. The format is the V2 interval log format of the `HdrHistogram` tools, followed by a checksum.
//!
//! A log contains one histogram per tag. If a histogram contains service times, its tag is the kind of operation,
//! such as `get`, or `all`. If a histogram contains response times of an open loop, its tag has the suffix
//! `:response`, such as `get:response`. All latencies are in nanoseconds.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::ResultsError;
use crate::whole::write_whole;

/// The text before the checksum on the last line of a latency log. The checksum also covers the name of the file, so
/// lsmbench detects a log that was stored under the name of another log.
const SEAL: &str = "#[XXH3-64 of the file's name and the bytes above: ";

/// The text before the checksum in latency logs of earlier versions of lsmbench. In these logs, the checksum does not
/// cover the name of the file.
const EARLIER_SEAL: &str = "#[XXH3-64 of the bytes above: ";

/// A latency log: the histograms of the latencies of one phase in one trial. A tag names each histogram, such as `get`
/// for the service times of gets.
#[derive(Clone, Debug, Default)]
pub struct LatencyLog {
    /// The histograms with their tags, such as `get` or `get:response`, in insertion order.
    pub histograms: Vec<(String, Histogram<u64>)>,
}

impl LatencyLog {
    /// Returns the histogram with a tag, such as `get`.
    pub fn get(&self, tag: &str) -> Option<&Histogram<u64>> {
        self.histograms.iter().find(|(name, _)| name == tag).map(|(_, histogram)| histogram)
    }

    /// Adds a histogram with a tag.
    pub fn push(&mut self, tag: impl Into<String>, histogram: Histogram<u64>) {
        self.histograms.push((tag.into(), histogram));
    }

    /// Writes the latency log of a phase in one atomic step, and creates missing folders. `duration` is the duration of
    /// the phase.
    ///
    /// # Errors
    /// A tag contains a comma, a space or a line break, or the file system returns an error.
    pub fn write(&self, path: &Path, duration: Duration) -> Result<(), ResultsError> {
        let mut bytes = self.encode(path, duration)?;
        let seal = format!("{SEAL}{:016x}]\n", sealed(path, &bytes));
        bytes.extend(seal.as_bytes());
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(ResultsError::io(folder, "create"))?;
        write_whole(path, &bytes, false)
    }

    fn encode(&self, path: &Path, duration: Duration) -> Result<Vec<u8>, ResultsError> {
        let refused =
            |line: usize, message: String| ResultsError::Latency { path: path.to_owned(), line, message };
        let mut bytes = Vec::new();
        let mut serializer = V2DeflateSerializer::new();
        let mut log = IntervalLogWriterBuilder::new()
            .add_comment("[Histogram log format version 1.3]")
            .add_comment("[Latencies in nanoseconds]")
            .begin_log_with(&mut bytes, &mut serializer)
            .map_err(ResultsError::io(path, "write"))?;
        for (at, (name, histogram)) in self.histograms.iter().enumerate() {
            let tag = Tag::new(name).ok_or_else(|| {
                refused(
                    at + 3,
                    format!("{name:?} is not a valid tag; it must not contain commas, spaces or line breaks"),
                )
            })?;
            log.write_histogram(histogram, Duration::ZERO, duration, Some(tag))
                .map_err(|error| refused(at + 3, error.to_string()))?;
        }
        Ok(bytes)
    }

    /// Reads a latency log.
    ///
    /// # Errors
    /// The file cannot be read, its checksum is missing or does not match, or a line is not a histogram with a tag.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        Self::decode(path, &std::fs::read(path).map_err(ResultsError::io(path, "read"))?)
    }

    fn decode(path: &Path, bytes: &[u8]) -> Result<Self, ResultsError> {
        let lines = bytes.split(|byte| *byte == b'\n').count() - 1;
        let damaged = |line: usize, message: &str| ResultsError::Latency {
            path: path.to_owned(),
            line,
            message: message.to_owned(),
        };
        let body = unseal(path, bytes).map_err(|message| damaged(lines.max(1), message))?;
        let mut log = Self::default();
        for (at, entry) in IntervalLogIterator::new(body).enumerate() {
            let line = at + 3;
            let Ok(LogEntry::Interval(interval)) = entry else {
                return Err(damaged(line, "the line is not a histogram of an HDR interval log"));
            };
            let tag = interval.tag().filter(|tag| Tag::new(tag.as_str()).is_some());
            let tag = tag.ok_or_else(|| damaged(line, "the histogram on this line has no tag"))?;
            let histogram = STANDARD
                .decode(interval.encoded_histogram())
                .ok()
                .and_then(|packed| Deserializer::new().deserialize(&mut packed.as_slice()).ok())
                .ok_or_else(|| damaged(line, "the histogram on this line cannot be decoded"))?;
            log.push(tag.as_str(), histogram);
        }
        Ok(log)
    }
}

/// Verifies the checksum of a latency log, and returns the bytes before the checksum. lsmbench decodes only verified
/// bytes, so a corrupt length in a log cannot cause a large allocation.
fn unseal<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a [u8], &'static str> {
    let of = |seal: &'static str, sum: &dyn Fn(&[u8]) -> u64| {
        let (body, end) = bytes.split_at_checked(bytes.len().checked_sub(seal.len() + 16 + "]\n".len())?)?;
        let sum =
            end.strip_prefix(seal.as_bytes()).map(|end| end == format!("{:016x}]\n", sum(body)).as_bytes());
        sum.map(|is_right| (body, is_right))
    };
    match of(SEAL, &|body| sealed(path, body)).or_else(|| of(EARLIER_SEAL, &xxh3_64)) {
        Some((body, true)) => Ok(body),
        Some((_, false)) => {
            Err("the checksum of the latency log does not match, so the log is corrupt, or was renamed from \
                 the log of another measurement")
        }
        None => Err("the latency log has no checksum, so it is truncated"),
    }
}

/// Computes the checksum of a latency log from its bytes and its file name.
fn sealed(path: &Path, bytes: &[u8]) -> u64 {
    let name = path.file_name().unwrap_or_default();
    xxh3_64_with_seed(bytes, xxh3_64(name.as_encoded_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> LatencyLog {
        let mut log = LatencyLog::default();
        for (tag, base) in [("get", 300), ("all", 500), ("get:response", 90_000)] {
            let mut histogram = Histogram::new_with_bounds(1, 1_000_000_000_000, 3).unwrap();
            for i in 0..1000_u64 {
                histogram.record(base + i * i).unwrap();
            }
            log.push(tag, histogram);
        }
        log.push("put", Histogram::new_with_bounds(1, 1_000_000_000_000, 3).unwrap());
        log
    }

    #[test]
    fn logs_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("histograms/cell-0.hlog");
        sample().write(&path, Duration::from_millis(1500)).unwrap();
        let log = LatencyLog::read(&path).unwrap();
        assert_eq!(log.histograms, sample().histograms);
        assert_eq!(log.get("get:response").unwrap().len(), 1000);
        assert!(log.get("scan").is_none());
        assert!(sample().write(&folder.path().join("x"), Duration::ZERO).is_ok());
        let mut bad = sample();
        bad.push("a b", Histogram::new(3).unwrap());
        assert!(
            bad.write(&path, Duration::ZERO).unwrap_err().to_string().contains("\"a b\" is not a valid tag")
        );
    }

    #[test]
    fn damage_anywhere_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.hlog");
        sample().write(&path, Duration::from_secs(1)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            assert!(LatencyLog::decode(&path, &whole[..length]).is_err(), "cut to {length}");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            assert!(LatencyLog::decode(&path, &damaged).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_log_that_changed_places_with_another_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["a.hlog", "b.hlog"].map(|name| folder.path().join(name));
        sample().write(&path, Duration::from_secs(1)).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert!(LatencyLog::decode(&path, &bytes).is_ok());
        let error = LatencyLog::decode(&other, &bytes).unwrap_err().to_string();
        assert!(error.contains("was renamed from the log of another measurement"), "{error}");
        // The checksum of earlier versions does not include the name.
        let body = unseal(&path, &bytes).unwrap();
        let earlier = [body, format!("{EARLIER_SEAL}{:016x}]\n", xxh3_64(body)).as_bytes()].concat();
        assert!(LatencyLog::decode(&other, &earlier).is_ok());
        assert!(LatencyLog::decode(&other, &earlier[1..]).is_err());
    }
}
