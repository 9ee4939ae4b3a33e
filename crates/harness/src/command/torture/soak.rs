//! `lsmbench torture soak` runs concurrent operations on files for a long time, and checks that memory, open files,
//! threads and disk space do not grow.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use run::interrupt;
use storage::Storage;
use torture::race::{Contestant, Race};
use tree::Design;

use super::designs::named;
use super::jobs::row;
use super::race::contestant;
use crate::cli::SoakArguments;
use crate::output::{line, print};
use types::{Outcome, PlatformPart, Problem};

/// The titles of the columns of the table that the soak test prints, with one row per sample.
const COLUMNS: [&str; 7] =
    ["seconds", "operations", "opened", "memory KiB", "files open", "threads", "disk KiB"];

/// The columns of [`COLUMNS`] that must not grow during a soak test. Each entry contains the index of a column and the
/// largest allowed rise in the second half of the samples, as a fraction of the mean of the column.
const FLAT: [(usize, f64); 4] = [(3, 0.05), (4, 0.05), (5, 0.05), (6, 0.05)];

/// The rise of a column is significant if it exceeds this number of standard errors.
const ERRORS: f64 = 3.0;

/// The minimum number of samples in the second half of a soak test. With fewer samples, the test does not judge growth.
const LEAST_SAMPLES: usize = 4;

/// Runs concurrent operations for the requested time, prints samples, and prints which columns grow. Returns `true`
/// if no invariant was violated and no column grows. Without enough samples, growth is not judged.
pub(crate) fn soak(arguments: &SoakArguments) -> Outcome<bool> {
    PlatformPart::SoakStatistics.here().map_err(|missing| Problem::new(missing.to_string()))?;
    let (name, design) = named(&arguments.design)?;
    let contestant = contestant(&name, &design, arguments.wal.as_deref())?;
    let place = Place::new(arguments.dir.as_deref())?;
    interrupt::install();
    let samples = match race(arguments, &contestant, &design, &place.directory)? {
        Ok(samples) => samples,
        Err(violation) => {
            print(&format!(
                "violation (seed {seed}; the seed does not reproduce the order of the threads): \
                 {violation}\n",
                seed = arguments.seed
            ))?;
            return Ok(false);
        }
    };
    let (verdict, is_flat) = verdict(&samples);
    print(&verdict)?;
    Ok(is_flat)
}

/// The directory of the store in a soak test. Dropping the value removes the directory, unless the user named it.
struct Place {
    directory: PathBuf,
    is_kept: bool,
}

impl Place {
    fn new(named: Option<&Path>) -> Outcome<Self> {
        let own = || std::env::temp_dir().join(format!("lsmbench-soak-{}", std::process::id()));
        let directory = named.map_or_else(own, Path::to_owned);
        let cannot = |error| Problem::doing(format!("use {}", directory.display()), error);
        fs::create_dir_all(&directory).map_err(cannot)?;
        if fs::read_dir(&directory).map_err(cannot)?.next().is_some() {
            let message = format!(
                "{directory} is not empty; name a new or empty directory with --dir",
                directory = directory.display()
            );
            return Err(Problem::new(message));
        }
        Ok(Self { directory, is_kept: named.is_some() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_kept {
            // The operating system removes temporary files that remain.
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

/// One sample: a number for each of the [`COLUMNS`].
type Sample = [u64; COLUMNS.len()];

/// Runs concurrent operations on the store, and prints and returns the samples. The inner error is the first violation
/// of an invariant.
fn race(
    arguments: &SoakArguments,
    contestant: &Contestant,
    design: &Design,
    directory: &Path,
) -> Outcome<Result<Vec<Sample>, torture::Violation>> {
    let storage = storage::CATALOG.build(design.choice("storage"));
    let storage: Arc<dyn Storage> = Arc::from(storage.map_err(|error| Problem::new(error.message))?);
    let mut race =
        Race::on_storage(contestant, storage, directory, arguments.threads as usize, arguments.seed);
    print(&format!("{}\n", row(&COLUMNS)))?;
    let (mut samples, start) = (Vec::new(), Instant::now());
    let mut next = Duration::ZERO;
    while start.elapsed() < Duration::from_secs(arguments.seconds) && !interrupt::is_requested() {
        if let Err(violation) = race.round() {
            return Ok(Err(violation));
        }
        if start.elapsed() >= next {
            next = start.elapsed() + Duration::from_secs(arguments.every);
            let (memory, threads) = status()?;
            let tally = race.tally;
            let sample = [
                start.elapsed().as_secs(),
                tally.operations,
                tally.opened,
                memory,
                open_files()?,
                threads,
                bytes_below(directory).map_err(|error| Problem::doing("measure the store", error))? >> 10,
            ];
            print(&format!("{}\n", row(&sample)))?;
            samples.push(sample);
        }
    }
    let (operations, seconds) = (race.tally.operations, start.elapsed().as_secs_f64());
    line(&format!(
        "{operations} operations in {seconds:.1} s: {rate:.0} per second",
        rate = operations as f64 / seconds
    ));
    Ok(Ok(samples))
}

/// Returns a text that states for each column of the samples whether it grows, and by how many percent of its mean. A
/// column grows if the line through the second half of its samples rises significantly, and by more than [`FLAT`]
/// allows. The second result is true if no column grows, or if there are too few samples.
fn verdict(samples: &[Sample]) -> (String, bool) {
    let half = &samples[samples.len() / 2..];
    if half.len() < LEAST_SAMPLES {
        return (
            format!(
                "no verdict on growth: a verdict needs at least {least} samples; run for longer with \
                 --seconds, or sample more often with --every\n",
                least = 2 * LEAST_SAMPLES
            ),
            true,
        );
    }
    let mut text = String::new();
    let mut is_flat = true;
    for (column, most) in FLAT {
        let values: Vec<f64> = half.iter().map(|sample| sample[column] as f64).collect();
        let (rise, error) = rise(&values);
        let grows = rise > most && rise > ERRORS * error;
        is_flat &= !grows;
        let (name, word) = (COLUMNS[column], if grows { "grows" } else { "flat" });
        let (rise, error) = (rise * 100.0, error * 100.0);
        let _ =
            writeln!(text, "{name}: {word}, {rise:+.1}% over the second half, standard error {error:.1}%");
    }
    (text, is_flat)
}

/// Fits a least-squares line to the values. Returns the rise of the line from the first to the last value, and the
/// standard error of this rise, both as fractions of the mean of the values.
fn rise(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let distances = || (0..values.len()).map(|at| at as f64 - (count - 1.0) / 2.0);
    let squares: f64 = distances().map(|distance| distance * distance).sum();
    let slope =
        distances().zip(values).map(|(distance, value)| distance * (value - mean)).sum::<f64>() / squares;
    let off = distances().zip(values).map(|(distance, value)| (value - mean - slope * distance).powi(2));
    let error = (off.sum::<f64>() / (count - 2.0) / squares).sqrt();
    (slope * (count - 1.0) / mean, error * (count - 1.0) / mean)
}

/// Returns the anonymous resident memory of this process in KiB, and the number of its threads.
fn status() -> Outcome<(u64, u64)> {
    let text = fs::read_to_string("/proc/self/status")
        .map_err(|error| Problem::doing("read /proc/self/status, which the soak test needs", error))?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    Ok((field("RssAnon:"), field("Threads:")))
}

fn open_files() -> Outcome<u64> {
    let files = fs::read_dir("/proc/self/fd");
    let files =
        files.map_err(|error| Problem::doing("list /proc/self/fd, which the soak test needs", error))?;
    // One of the open files is the directory `/proc/self/fd`, which this function has opened.
    Ok((files.count() as u64).saturating_sub(1))
}

/// Returns the total size of all files in a directory and its subdirectories, in bytes. A file that disappears during
/// the count has the size 0.
fn bytes_below(directory: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes += bytes_below(&entry.path())?,
            Ok(metadata) => bytes += metadata.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(memory: impl Fn(u64) -> u64) -> Vec<Sample> {
        (0..40).map(|at| [at, at * 1000, at, memory(at), 20, 9, 300 + at % 7]).collect()
    }

    #[test]
    fn a_line_that_rises_is_told_from_one_that_only_trembles() {
        assert_eq!(rise(&[1.0, 2.0, 3.0]), (1.0, 0.0));
        assert_eq!(rise(&[5.0, 5.0, 5.0, 5.0]), (0.0, 0.0));
        let (text, is_flat) = verdict(&samples(|at| 30_000 + at * 7 % 11 * 2000));
        assert!(is_flat && text.contains("memory KiB: flat"), "{text}");
        // Growth at the beginning is allowed.
        assert!(verdict(&samples(|at| 10_000 + at.min(15) * 1000)).1);
        let (text, is_flat) = verdict(&samples(|at| 30_000 + at * 200 + at % 5 * 100));
        assert!(!is_flat && text.contains("memory KiB: grows"), "{text}");
    }

    #[test]
    fn a_few_samples_are_no_verdict() {
        assert!(verdict(&samples(|at| at)[..6]).0.contains("no verdict"));
    }
}
