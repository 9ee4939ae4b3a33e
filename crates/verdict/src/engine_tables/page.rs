//! Renders the tables of an experiment as Markdown: throughput and speedups, missed targets, the cost of each engine,
//! and the mismatched settings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use measure::median;
use results::{
    BuildInfo, EngineInfo, IDENTICAL, LeftOut, MISMATCH, MachineInfo, Manifest, Metric, Row, Unit,
    columns as c,
};

use super::heading::Heading;
use super::{EngineTables, Line, Targets, ratio};
use crate::markdown::{self, plain};
use crate::trial_rows::TrialRows;

/// The title of the column with the peak resident memory of an engine during the run, as in charts of `rss_peak_bytes`.
const PEAK_MEMORY: &str = "peak resident memory";
/// The title of the column with the largest disk space that an engine used during the run.
const MOST_DISK: &str = "most disk";
/// The title of the column with the write amplification that the operating system reports.
const WRITTEN: &str = "write amplification";
/// The title of the column with the write amplification that the engine reports.
const BY_ENGINE: &str = "write amplification by the engine";

/// The title of a column, which names the writes that survive a kill of the engine's process.
const SURVIVE: &str = "writes that survive a kill";

/// The text before the list of mismatched settings.
const MISMATCHES: &str = "These settings of the engines do not match the settings of lsmbench:\n\n";

impl EngineTables {
    /// Renders the section of the experiment: heading, tables, missed targets, and a line about the engines, the
    /// program and the machine.
    pub fn markdown(&self, targets: &Targets) -> String {
        let Manifest { experiment, question, trials, quick, ended, .. } = &self.manifest;
        let (base, question) = (plain(&self.baseline), plain(question));
        let interval = if *trials > 1 { ", with its 95 % confidence interval" } else { "" };
        let mut text = format!(
            "### {name}: {question}\n\nThe row of {base} has the throughput of {base} in operations per \
             second; a batch counts as one operation. Each other row has the speedup of {base} over the \
             engine of this row{interval}. Medians over {trials} interleaved trials.",
            name = plain(experiment)
        );
        if *quick {
            text += " This is a quick run of reduced size; do not draw conclusions.";
        }
        if ended.is_none() {
            text += " The run was interrupted.";
        }
        text += "\n\n";
        text += &self.by_threads(|threads, columns| self.rates(threads, columns));
        text += &self.settled_rates();
        text += &self.step_times();
        text += &self.states();
        text += &self.shortfalls(targets).unwrap_or_default();
        text += &self.costs();
        text += &self.cpu_time();
        text += &self.reads();
        text += &self.terms();
        text + &self.provenance()
    }

    /// Renders one table for each number of threads. `table` renders the table for a number of threads, from the
    /// columns of the phases with this number.
    fn by_threads(&self, table: impl Fn(u64, &[&Heading]) -> String) -> String {
        let threads: BTreeSet<u64> = self.columns.iter().map(|heading| heading.threads).collect();
        let of = |threads: u64| {
            let columns: Vec<&Heading> =
                self.columns.iter().filter(|heading| heading.threads == threads).collect();
            table(threads, &columns)
        };
        threads.into_iter().map(of).collect()
    }

    fn rates(&self, threads: u64, columns: &[&Heading]) -> String {
        self.table(&in_threads(threads), columns, |line, heading| {
            self.rate(line, heading, &c::OPS_PER_SECOND)
        })
    }

    /// Renders the settled throughput of the phases with writes. The time of such a phase includes the pending flushes
    /// and compactions after its last operation. Returns an empty text for results of an earlier version, which do not
    /// contain the settled throughput.
    fn settled_rates(&self) -> String {
        let metric = &c::SETTLED_OPS_PER_SECOND;
        let tables = self.by_threads(|threads, columns| {
            let columns: Vec<&Heading> = columns.iter().copied().filter(|heading| heading.writes).collect();
            let corner = format!("settled throughput, {}", in_threads(threads));
            self.table(&corner, &columns, |line, heading| self.rate(line, heading, metric))
        });
        match tables.is_empty() {
            true => tables,
            false => format!(
                "{tables}The settled throughput is the number of operations divided by the time until all pending flushes \
                 and compactions have finished.\n\n"
            ),
        }
    }

    /// Renders the table with the times of the steps on the store, such as a compaction.
    fn step_times(&self) -> String {
        let steps: Vec<&Heading> = self.steps.iter().collect();
        let seconds = |row: &Row| row.get(&c::SECONDS).number();
        self.table("time of a step", &steps, |line, heading| {
            self.median_of(line, heading, seconds, Unit::Seconds)
        })
    }

    /// Renders the state of the store at the start of each phase with reads. A state that applies to several columns is
    /// printed once, with the titles of these columns.
    fn states(&self) -> String {
        let mut states: Vec<(&str, Vec<String>)> = Vec::new();
        for heading in self.columns.iter().filter(|heading| !heading.only_writes()) {
            let Some(state) = &heading.state else { continue };
            let title = heading.full_title();
            match states.iter_mut().find(|(known, _)| known == state) {
                Some((_, titles)) => titles.push(title),
                None => states.push((state, vec![title])),
            }
        }
        let states: Vec<String> =
            states.into_iter().map(|(state, titles)| format!("{state} ({})", titles.join("; "))).collect();
        match states.is_empty() {
            true => String::new(),
            false => {
                format!("State of the store when reads began: {states}.\n\n", states = states.join(", "))
            }
        }
    }

    /// Renders a table with one row per engine and one column per phase. `corner` is the title of the first column, and
    /// `cell` returns the Markdown of a field. Rows without any value are left out. Returns an empty text if no row has
    /// a value.
    fn table(&self, corner: &str, columns: &[&Heading], cell: impl Fn(&Line, &Heading) -> String) -> String {
        let titles: Vec<String> = columns.iter().map(|heading| heading.title()).collect();
        let rows = |line: &Line| columns.iter().map(|heading| cell(line, heading)).collect();
        self.laid(corner, &titles, rows)
    }

    /// Renders a table with one row per engine. `corner` is the title of the first column, `titles` are the titles of
    /// the other columns, and `row` returns the fields of an engine. Engines without any value are left out.
    fn laid(&self, corner: &str, titles: &[String], row: impl Fn(&Line) -> Vec<String>) -> String {
        let rows = self.lines.iter().map(|line| (line, row(line)));
        let rows: Vec<(&Line, Vec<String>)> =
            rows.filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty())).collect();
        if rows.is_empty() {
            return String::new();
        }
        let heads = [corner].into_iter().chain(titles.iter().map(String::as_str));
        let mut text = markdown::row(heads) + "|---|" + &"--:|".repeat(titles.len()) + "\n";
        for (line, cells) in rows {
            let _ = writeln!(text, "| {} | {} |", plain(&line.label), cells.join(" | "));
        }
        text + "\n"
    }

    /// Formats a field of a table of the throughput `metric`: the throughput of the baseline, or the speedup of the
    /// baseline over another engine. If the speedup is unknown, the field is the throughput of this engine.
    fn rate(&self, line: &Line, heading: &Heading, metric: &Metric) -> String {
        if self.is_wrong(line) {
            return "wrong answers".to_owned();
        }
        let own = self.measured(line, heading, metric);
        let Some(rate) = own.median() else { return String::new() };
        let rate = plot::format_value(rate, metric.unit);
        if line.label == self.baseline {
            return format!("**{}**", rate.trim_end_matches("/s").trim_end());
        }
        let lead = self.lead(line, heading, metric).as_ref().and_then(ratio);
        lead.unwrap_or_else(|| format!("{rate} a second"))
    }

    /// Renders a table with the costs of each engine over the run: peak resident memory, largest disk space, write
    /// amplification, and the writes that survive a kill. Omits columns that are unknown for all engines.
    fn costs(&self) -> String {
        let of_system = |row: &Row| row.get(&c::OS_WRITE_BYTES_SETTLED).number();
        let cost = |line: &Line, title: &str| match title {
            PEAK_MEMORY => self.most(line, &c::RSS_PEAK_BYTES),
            MOST_DISK => self.most(line, &c::DISK_BYTES),
            WRITTEN => self.written(line, of_system),
            SURVIVE => line.survives_kill.clone().unwrap_or_default(),
            _ => self.written(line, written_by_engine),
        };
        let known = |title: &&str| self.lines.iter().any(|line| !cost(line, title).is_empty());
        let titles = [PEAK_MEMORY, MOST_DISK, WRITTEN, BY_ENGINE, SURVIVE].into_iter().filter(known);
        let titles: Vec<String> = titles.map(str::to_owned).collect();
        let mut text =
            self.laid("over the run", &titles, |line| titles.iter().map(|title| cost(line, title)).collect());
        if titles.iter().any(|title| title == SURVIVE) {
            text += "After `kill -9` of the process, a store contains every acknowledged write (`acknowledged`), or every \
                     write before the last completed flush (`flushed`). The field is empty if a server or the memory \
                     of the process holds the store. The command `lsmbench torture kill --engine all` tests these \
                     declarations.\n\n";
        }
        text
    }

    /// Formats the largest value of a cost, such as the memory of an engine, over all phases and steps. The value of a
    /// phase is the median over trials.
    fn most(&self, line: &Line, metric: &Metric) -> String {
        let medians = self.columns.iter().chain(&self.steps).filter_map(|heading| {
            let sample = self.measured(line, heading, metric);
            median(sample.blocks.iter().map(|(_, value)| *value))
        });
        medians.reduce(f64::max).map_or_else(String::new, |value| plot::format_value(value, metric.unit))
    }

    /// Formats the write amplification of an engine over all phases: the bytes that `bytes` returns, per user byte.
    ///
    /// * The value is the median over trials. If the engine has several configurations, the largest value is printed.
    /// * A trial is left out if the value of any of its phases is unknown.
    fn written(&self, line: &Line, bytes: impl Fn(&Row) -> Option<f64>) -> String {
        let of_cell = |cell: &u64| {
            let mut trials: BTreeMap<u64, Option<(f64, f64)>> = BTreeMap::new();
            let rows = TrialRows::of(&self.table).of_all_operations().of_cells(|number| number == *cell);
            for row in rows.iter() {
                let own = bytes(row).filter(|_| row.get(&c::IMPLAUSIBLE).is_empty());
                let sums = trials.entry(row.get(&c::TRIAL).integer()?).or_insert(Some((0.0, 0.0)));
                *sums = sums.zip(own).map(|((written, of_user), own)| {
                    (written + own, of_user + row.get(&c::USER_BYTES_WRITTEN).number().unwrap_or(0.0))
                });
            }
            let wrote = trials.into_values().flatten().filter(|(_, of_user)| *of_user > 0.0);
            median(wrote.map(|(written, of_user)| written / of_user))
        };
        let most = line.cells.iter().filter_map(of_cell).reduce(f64::max);
        most.map_or_else(String::new, |value| plot::format_value(value, Unit::Ratio))
    }

    /// Renders one table of the CPU time per operation for each number of threads. Returns an empty text if all CPU
    /// times are unknown.
    fn cpu_time(&self) -> String {
        let per_operation = |row: &Row| per_operation(row, &[&c::CPU_SECONDS]).map(|seconds| seconds * 1e9);
        let tables = self.by_threads(|threads, columns| {
            let corner = format!("CPU time per operation, {threads}", threads = in_threads(threads));
            self.table(&corner, columns, |line, heading| {
                self.median_of(line, heading, per_operation, Unit::Nanoseconds)
            })
        });
        match tables.is_empty() {
            true => tables,
            false => format!(
                "{tables}The CPU time includes flushes, compactions and the harness. A time of 1 µs per operation equals 1 s \
                 per million operations.\n\n"
            ),
        }
    }

    /// Renders the cost of reads per operation: bytes read from storage, and blocks read as reported by the engine. If
    /// every engine read less than one byte per operation from storage, a sentence replaces the table of bytes.
    fn reads(&self) -> String {
        let read = |row: &Row| per_operation(row, &[&c::OS_READ_BYTES]);
        let medians = self.lines.iter().flat_map(|line| {
            self.columns.iter().filter_map(|heading| self.sample(line, heading, read).median())
        });
        let mut text = match medians.reduce(f64::max) {
            None => String::new(),
            // The pages of the program and of its libraries also count, so a few bytes do not mean that an engine read
            // a block.
            Some(most) if most < 1.0 => {
                "Less than one byte per operation was read from storage, because each block was in a cache of the \
                 engine or in the page cache.\n\n"
                    .to_owned()
            }
            Some(_) => self.by_threads(|threads, columns| {
                let corner = format!(
                    "bytes read from storage per operation, {threads}",
                    threads = in_threads(threads)
                );
                self.table(&corner, columns, |line, heading| self.median_of(line, heading, read, Unit::Bytes))
            }),
        };
        text += &self.by_threads(|threads, columns| {
            let columns: Vec<&Heading> =
                columns.iter().copied().filter(|heading| !heading.only_writes()).collect();
            let corner = format!(
                "blocks read per operation, as engines report, {threads}",
                threads = in_threads(threads)
            );
            let blocks = [&c::BLOCKS_READ, &c::BLOCKS_FROM_CACHE, &c::BLOCKS_IN_PLACE];
            self.table(&corner, &columns, |line, heading| {
                self.median_of(line, heading, |row| per_operation(row, &blocks), Unit::Ratio)
            })
        });
        text
    }

    fn median_of(
        &self,
        line: &Line,
        heading: &Heading,
        value: impl Fn(&Row) -> Option<f64>,
        unit: Unit,
    ) -> String {
        let median = self.sample(line, heading, value).median();
        median.map_or_else(String::new, |value| plot::format_value(value, unit))
    }

    /// Renders the list of settings that engines cannot match, and the skipped engines with the reasons.
    fn terms(&self) -> String {
        let mut text = String::new();
        // A mismatch of several engines has one line.
        let mut found: Vec<(&str, Vec<String>)> = Vec::new();
        let engines = || self.lines.iter().filter_map(|line| line.engine.as_ref());
        for engine in engines() {
            let mapped = engine.mapping.iter().filter(|line| line.starts_with(MISMATCH));
            for words in engine.doubts.iter().chain(mapped) {
                match found.iter_mut().find(|(known, _)| known == words) {
                    Some((_, names)) => names.push(plain(&engine.name)),
                    None => found.push((words, vec![plain(&engine.name)])),
                }
            }
        }
        let (mismatches, doubts): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(words, _)| words.starts_with(MISMATCH));
        for (words, names) in doubts {
            let _ = writeln!(text, "* {}: {}", names.join(", "), plain(words));
        }
        // An engine that is not installed is skipped in every column, but the list contains the engine only once.
        let is_skipped = |left: &&LeftOut| !left.reason.starts_with(IDENTICAL);
        let left_out = self.manifest.left_out.iter().filter(is_skipped).map(|left| {
            let label = left.label.split_once(", ").map_or(&*left.label, |(first, _)| first);
            format!("* skipped: {}: {}\n", plain(label), plain(&left.reason))
        });
        left_out.collect::<BTreeSet<String>>().iter().for_each(|line| text.push_str(line));
        if !mismatches.is_empty() {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(MISMATCHES);
        }
        for (words, names) in mismatches {
            let words = words.strip_prefix(MISMATCH).unwrap_or(words);
            let _ = writeln!(text, "* {}: {}", names.join(", "), plain(words));
        }
        if text.is_empty() { text } else { text + "\n" }
    }

    /// Renders the versions of the engines, the date, the version of lsmbench, the machine, and the number of warnings
    /// in the manifest.
    fn provenance(&self) -> String {
        let Manifest { build, machine, started, warnings, .. } = &self.manifest;
        let engines = self.lines.iter().filter_map(|line| line.engine.as_ref()).map(identity);
        let engines: Vec<String> = engines.collect();
        let day = started.split_once('T').map_or(started.as_str(), |(day, _)| day);
        let mut text = match engines.is_empty() {
            true => String::new(),
            false => format!("Engines: {}. ", engines.join(", ")),
        };
        let _ = write!(text, "Measured on {} by {}", plain(day), program(build));
        text += &place(machine);
        match warnings.len() {
            0 => {}
            1 => text += " The manifest of the run contains a warning.",
            more => {
                let _ = write!(text, " The manifest of the run contains {more} warnings.");
            }
        }
        text + "\n"
    }
}

/// Returns the bytes that an engine wrote by flushes and compactions, as the engine reports them, including the
/// compaction debt after the phase. Returns `None` if the engine does not report these bytes.
fn written_by_engine(row: &Row) -> Option<f64> {
    let [flushed, merged] = [&c::FLUSH_BYTES_SETTLED, &c::COMPACTION_BYTES_WRITTEN_SETTLED]
        .map(|metric| row.get(metric).number());
    Some(flushed? + merged?)
}

/// Returns the sum of some columns divided by the number of operations. Empty columns count as 0. Returns `None` if all
/// these columns are empty, or if the row has no operations.
fn per_operation(row: &Row, metrics: &[&Metric]) -> Option<f64> {
    let operations = row.get(&c::OPS).number().filter(|operations| *operations > 0.0)?;
    let sum = metrics.iter().filter_map(|metric| row.get(metric).number()).reduce(|a, b| a + b)?;
    Some(sum / operations)
}

fn in_threads(threads: u64) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// Formats an engine with its version and library: `rocksdb 11.8.1 (librocksdb.so)`.
fn identity(engine: &EngineInfo) -> String {
    let version = engine.version.as_deref().unwrap_or("of an unknown version");
    let library = engine.library.as_deref().and_then(|library| library.rsplit('/').next());
    let library = library.map_or_else(String::new, |name| format!(" ({})", plain(name)));
    // A version that begins with the name, such as "RocksDB 11.8.1", needs no name before it.
    match version.to_lowercase().starts_with(&engine.name.to_lowercase()) {
        true => format!("{}{library}", plain(version)),
        false => format!("{} {}{library}", plain(&engine.name), plain(version)),
    }
}

/// Formats the version and the commit of the program that measured: `lsmbench 0.1.0 of commit 0123456789ab`.
fn program(build: &BuildInfo) -> String {
    let commit = build.git_commit.as_deref().filter(|commit| !commit.is_empty());
    let commit = commit.map_or_else(String::new, |commit| {
        let changed = if build.git_dirty == Some(true) { " with changes" } else { "" };
        format!(" of commit {}{changed}", plain(commit.get(..12).unwrap_or(commit)))
    });
    format!("lsmbench {}{commit}", plain(&build.version))
}

/// Describes the CPU of the machine, and the load average at the start and at the end of the run.
fn place(machine: &MachineInfo) -> String {
    let cores = machine.cores.map_or_else(String::new, |cores| format!(", {cores} cores"));
    let mut text = machine.cpu.as_ref().map_or_else(String::new, |cpu| format!(" on {}{cores}", plain(cpu)));
    if let Some([begin, ..]) = machine.load_average {
        let _ = write!(text, "; load average {begin:.1} at the start");
        if let Some([end, ..]) = machine.load_average_end {
            let _ = write!(text, " and {end:.1} at the end");
        }
    }
    text + "."
}
