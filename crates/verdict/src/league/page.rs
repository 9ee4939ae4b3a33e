//! The tables of an experiment as Markdown: rates and ratios, what falls short, what each engine took, and which
//! engines on which terms.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use measure::median;
use results::{BuildInfo, EngineInfo, MachineInfo, Manifest, Metric, Row, UNEQUAL, Unit, columns as c};

use super::heading::Heading;
use super::{League, Line, Targets, ratio};
use crate::markdown::{self, plain};
use crate::trial_rows::TrialRows;

/// What an engine took over the run, as columns of a table.
const MOST_MEMORY: &str = "most memory";
const MOST_DISK: &str = "most disk";
const WRITTEN: &str = "write amplification";
const TOLD: &str = "told by the engine";

impl League {
    /// The whole of it: a heading, the tables, what falls short, and what was measured how.
    pub fn markdown(&self, targets: &Targets) -> String {
        let Manifest { experiment, question, trials, quick, ended, .. } = &self.manifest;
        let (base, question) = (plain(&self.baseline), plain(question));
        let interval = if *trials > 1 { ", with its 95 % interval" } else { "" };
        let mut text = format!(
            "### {}: {question}\n\nIn the row of {base} operations per second, of which a batch is one; in the others \
             how many times as fast {base} is{interval}. Medians over {trials} interleaved trials.",
            plain(experiment)
        );
        if *quick {
            text += " The quick form: smaller than it means, and no answer.";
        }
        if ended.is_none() {
            text += " The run did not come to its end.";
        }
        text += "\n\n";
        text += &self.by_threads(|threads, columns| self.rates(threads, columns));
        text += &self.shortfalls(targets).unwrap_or_default();
        text += &self.costs();
        text += &self.processor_time();
        text += &self.reads();
        text += &self.terms();
        text + &self.provenance()
    }

    /// A table for each number of threads.
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
        self.table(&in_threads(threads), columns, |line, heading| self.rate(line, heading))
    }

    /// A table of the engines of which there is something to say, whose cells are Markdown; nothing where there are none.
    fn table(&self, corner: &str, columns: &[&Heading], cell: impl Fn(&Line, &Heading) -> String) -> String {
        let titles: Vec<String> = columns.iter().map(|heading| heading.title()).collect();
        let rows = |line: &Line| columns.iter().map(|heading| cell(line, heading)).collect();
        self.laid(corner, &titles, rows)
    }

    /// The same by titles.
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

    /// A rate, or how far the baseline is ahead of it.
    fn rate(&self, line: &Line, heading: &Heading) -> String {
        if self.is_wrong(line) {
            return "wrong answers".to_owned();
        }
        let own = self.measured(line, heading, &c::OPS_PER_SECOND);
        let Some(rate) = own.median() else { return String::new() };
        let rate = plot::format_value(rate, c::OPS_PER_SECOND.unit);
        if line.label == self.baseline {
            return format!("**{}**", rate.trim_end_matches("/s").trim_end());
        }
        let lead = self.lead(line, heading).as_ref().and_then(ratio);
        lead.unwrap_or_else(|| format!("{rate} a second"))
    }

    /// What each engine took over the run.
    fn costs(&self) -> String {
        let of_system = |row: &Row| row.get(&c::OS_WRITE_BYTES_SETTLED).number();
        let cost = |line: &Line, title: &str| match title {
            MOST_MEMORY => self.most(line, &c::RSS_PEAK_BYTES),
            MOST_DISK => self.most(line, &c::DISK_BYTES),
            WRITTEN => self.written(line, of_system),
            _ => self.written(line, told_to_be_written),
        };
        let known = |title: &&str| self.lines.iter().any(|line| !cost(line, title).is_empty());
        let titles = [MOST_MEMORY, MOST_DISK, WRITTEN, TOLD].into_iter().filter(known);
        let titles: Vec<String> = titles.map(str::to_owned).collect();
        self.laid("over the run", &titles, |line| titles.iter().map(|title| cost(line, title)).collect())
    }

    /// The most of a cost in any column, by the medians over trials.
    fn most(&self, line: &Line, metric: &Metric) -> String {
        let medians = self.columns.iter().filter_map(|heading| {
            let sample = self.measured(line, heading, metric);
            median(sample.blocks.iter().map(|(_, value)| *value))
        });
        medians.reduce(f64::max).map_or_else(String::new, |value| plot::format_value(value, metric.unit))
    }

    /// The bytes written per byte of the user, over all phases: one may owe what another writes. The median over trials,
    /// and the most where something is swept; trials of which not all is known are left out.
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

    /// Processor time per operation.
    fn processor_time(&self) -> String {
        let per_operation = |row: &Row| per_operation(row, &[&c::CPU_SECONDS]).map(|seconds| seconds * 1e9);
        let tables = self.by_threads(|threads, columns| {
            let corner = format!("processor time per operation, {}", in_threads(threads));
            self.table(&corner, columns, |line, heading| {
                self.median_of(line, heading, per_operation, Unit::Nanoseconds)
            })
        });
        match tables.is_empty() {
            true => tables,
            false => format!(
                "{tables}Processor time is that of the whole process, flushes and merges and the harness included: \
                 1 µs per operation is 1 s per million.\n\n"
            ),
        }
    }

    /// What reading took per operation: bytes of the device, and blocks as engines tell of them.
    fn reads(&self) -> String {
        let read = |row: &Row| per_operation(row, &[&c::OS_READ_BYTES]);
        let medians = self.lines.iter().flat_map(|line| {
            self.columns.iter().filter_map(|heading| self.sample(line, heading, read).median())
        });
        let mut text = match medians.reduce(f64::max) {
            None => String::new(),
            // Pages of the program and of its libraries are read, too.
            Some(most) if most < 1.0 => {
                "Less than a byte per operation was read from storage: what was not in a cache of the engine was in that \
                 of the system.\n\n"
                    .to_owned()
            }
            Some(_) => self.by_threads(|threads, columns| {
                let corner = format!("bytes read from storage per operation, {}", in_threads(threads));
                self.table(&corner, columns, |line, heading| {
                    self.median_of(line, heading, read, Unit::Bytes)
                })
            }),
        };
        text += &self.by_threads(|threads, columns| {
            let columns: Vec<&Heading> =
                columns.iter().copied().filter(|heading| !heading.only_writes()).collect();
            let corner =
                format!("blocks looked into per operation, by engines that tell, {}", in_threads(threads));
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

    /// What is not equal among the engines, and which are left out and why.
    fn terms(&self) -> String {
        let mut text = String::new();
        // What several engines say alike stands there once.
        let mut unequal: Vec<(&str, Vec<String>)> = Vec::new();
        let engines = || self.lines.iter().filter_map(|line| line.engine.as_ref());
        for engine in engines() {
            let mapped = engine.mapping.iter().filter(|line| line.starts_with(UNEQUAL));
            for words in engine.doubts.iter().chain(mapped) {
                match unequal.iter_mut().find(|(known, _)| known == words) {
                    Some((_, names)) => names.push(plain(&engine.name)),
                    None => unequal.push((words, vec![plain(&engine.name)])),
                }
            }
        }
        for (words, names) in unequal {
            let _ = writeln!(text, "* {}: {}", names.join(", "), plain(words));
        }
        // An engine that is not there is left out of every column.
        let left_out = self.manifest.left_out.iter().map(|left| {
            let label = left.label.split_once(", ").map_or(&*left.label, |(first, _)| first);
            format!("* left out: {}: {}\n", plain(label), plain(&left.reason))
        });
        left_out.collect::<BTreeSet<String>>().iter().for_each(|line| text.push_str(line));
        if text.is_empty() { text } else { text + "\n" }
    }

    /// Which engines, which program, which machine, and when.
    fn provenance(&self) -> String {
        let Manifest { build, machine, started, warnings, .. } = &self.manifest;
        let engines = self.lines.iter().filter_map(|line| line.engine.as_ref()).map(identity);
        let engines: Vec<String> = engines.collect();
        let day = started.split_once('T').map_or(started.as_str(), |(day, _)| day);
        let mut text = match engines.is_empty() {
            true => String::new(),
            false => format!("Beside {}. ", engines.join(", ")),
        };
        let _ = write!(text, "Measured on {} by {}", plain(day), program(build));
        text += &place(machine);
        match warnings.len() {
            0 => {}
            1 => text += " The manifest has a warning.",
            more => {
                let _ = write!(text, " The manifest has {more} warnings.");
            }
        }
        text + "\n"
    }
}

/// The bytes that an engine says it wrote into tables, those of debts included.
fn told_to_be_written(row: &Row) -> Option<f64> {
    let [flushed, merged] = [&c::FLUSH_BYTES_SETTLED, &c::COMPACTION_BYTES_WRITTEN_SETTLED]
        .map(|metric| row.get(metric).number());
    Some(flushed? + merged?)
}

/// A sum of columns per operation; nothing where none of them has anything.
fn per_operation(row: &Row, metrics: &[&Metric]) -> Option<f64> {
    let operations = row.get(&c::OPS).number().filter(|operations| *operations > 0.0)?;
    let sum = metrics.iter().filter_map(|metric| row.get(metric).number()).reduce(|a, b| a + b)?;
    Some(sum / operations)
}

fn in_threads(threads: u64) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// `rocksdb 11.8.1 (librocksdb.so)`.
fn identity(engine: &EngineInfo) -> String {
    let version = engine.version.as_deref().unwrap_or("of a version that is not told");
    let library = engine.library.as_deref().and_then(|library| library.rsplit('/').next());
    let library = library.map_or_else(String::new, |name| format!(" ({})", plain(name)));
    // A version that begins with the name, as "RocksDB 11.8.1" does, says it all.
    match version.to_lowercase().starts_with(&engine.name.to_lowercase()) {
        true => format!("{}{library}", plain(version)),
        false => format!("{} {}{library}", plain(&engine.name), plain(version)),
    }
}

/// `lsmbench 0.1.0 of commit 0123456789ab`.
fn program(build: &BuildInfo) -> String {
    let commit = build.git_commit.as_deref().filter(|commit| !commit.is_empty());
    let commit = commit.map_or_else(String::new, |commit| {
        let changed = if build.git_dirty == Some(true) { " with changes" } else { "" };
        format!(" of commit {}{changed}", plain(commit.get(..12).unwrap_or(commit)))
    });
    format!("lsmbench {}{commit}", plain(&build.version))
}

/// The processor, and how busy it was.
fn place(machine: &MachineInfo) -> String {
    let cores = machine.cores.map_or_else(String::new, |cores| format!(", {cores} cores"));
    let mut text = machine.cpu.as_ref().map_or_else(String::new, |cpu| format!(" on {}{cores}", plain(cpu)));
    if let Some([begin, ..]) = machine.load_average {
        let _ = write!(text, "; load {begin:.1} at the beginning");
        if let Some([end, ..]) = machine.load_average_end {
            let _ = write!(text, " and {end:.1} at the end");
        }
    }
    text + "."
}
