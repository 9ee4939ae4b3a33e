//! `lsmbench shell`: a durable store that executes the commands on standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::ops::Bound;
use std::os::fd::AsFd;
use std::path::Path;

use catalog::Limit;
use experiment::{read_design, set_design};
use run::interrupt::{self, UntilInterrupted};
use tree::{Design, OpenOptions, Tree};
use types::{Outcome, Problem};
use workload::{Command, CommandReader, Pairs, PairsError, ReadError};

use crate::cli::ShellArguments;
use crate::output::line;

/// Opens the store and executes the commands on standard input until it ends or the user interrupts. Closes the store, so
/// that all writes are durable in every WAL mode.
pub(crate) fn shell(arguments: &ShellArguments) -> Outcome<()> {
    let mut design = match &arguments.design {
        Some(path) => read_design(path)?,
        None => Design::default(),
    };
    for text in &arguments.set {
        design = set_design(&design, text)?;
    }
    if let Some((axis, choice, limit)) =
        design.limits().into_iter().find(|(_, _, limit)| *limit == Limit::NotDurable)
    {
        return Err(Problem::new(format!(
            "the shell needs a durable store, but {axis} = \"{choice}\" {limit}; choose another variant"
        )));
    }
    let input = io::stdin().as_fd().try_clone_to_owned();
    let input = input.map_err(|error| Problem::doing("read standard input", error))?;
    interrupt::install();
    let tree = OpenOptions::new(design).quarantine(arguments.quarantine).open(&arguments.directory)?;
    tree.recovery().quarantined_files.iter().for_each(|file| line(&format!("quarantined: {file}")));
    let mut shell = Shell { tree: &tree, out: BufWriter::new(io::stdout().lock()) };
    let outcome = shell.run(BufReader::new(UntilInterrupted(File::from(input))));
    drop(shell);
    tree.close()?;
    outcome
}

/// A store and the stream for its answers.
struct Shell<'a, W: Write> {
    tree: &'a Tree,
    out: W,
}

impl<W: Write> Shell<'_, W> {
    /// Executes every command of `input`. Reports invalid lines and skips them.
    fn run(&mut self, input: impl BufRead) -> Outcome<()> {
        let mut reader = CommandReader::new(input);
        let mut failed = 0;
        while !interrupt::is_requested() {
            match reader.read() {
                Ok(None) => break,
                Ok(Some(command)) => match self.command(&command) {
                    Ok(()) => {}
                    Err(Failure::ReaderIsGone) => return Ok(()),
                    Err(Failure::Command(message)) => {
                        failed += 1;
                        line(&format!("line {}: {message}", reader.line()));
                    }
                },
                Err(ReadError::Syntax { error, .. }) => {
                    failed += 1;
                    line(&format!("line {}: {error}", reader.line()));
                }
                Err(error) => return Err(Problem::doing("read commands", error)),
            }
        }
        match failed {
            _ if interrupt::is_requested() => Ok(()),
            0 => Ok(()),
            1 => Err(Problem::new("1 command failed")),
            count => Err(Problem::new(format!("{count} commands failed"))),
        }
    }

    fn command(&mut self, command: &Command) -> Result<(), Failure> {
        match command {
            Command::Put { key, value } => Ok(self.tree.put(key, value)?),
            Command::Delete { key } => Ok(self.tree.delete(key)?),
            Command::Get { key } => {
                let value = self.tree.get(key)?.unwrap_or_default();
                self.answer(|out| out.write_all(&value))
            }
            Command::Range { low, high } => self.range(low, high),
            Command::Load { file } => self.load(file),
            Command::Statistics => self.statistics(),
        }
    }

    /// Writes one line of an answer and flushes it.
    fn answer(&mut self, write: impl FnOnce(&mut W) -> io::Result<()>) -> Result<(), Failure> {
        let written =
            write(&mut self.out).and_then(|()| self.out.write_all(b"\n")).and_then(|()| self.out.flush());
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderIsGone,
            _ => Failure::Command(format!("cannot write the answer: {error}")),
        })
    }

    fn range(&mut self, low: &[u8], high: &[u8]) -> Result<(), Failure> {
        let mut range = self.tree.range((Bound::Included(low), Bound::Excluded(high)))?;
        let mut pairs = Vec::new();
        while let Some((key, value)) = range.next()? {
            if !pairs.is_empty() {
                pairs.push(b' ');
            }
            pairs.extend_from_slice(key);
            pairs.push(b':');
            pairs.extend_from_slice(value);
        }
        self.answer(|out| out.write_all(&pairs))
    }

    /// Puts the pairs of a file, up to the first invalid line or an interrupt.
    fn load(&mut self, file: &[u8]) -> Result<(), Failure> {
        let failed = |error: PairsError| Failure::Command(error.to_string());
        for (done, put) in Pairs::open(Path::new(""), file).map_err(failed)?.enumerate() {
            if interrupt::is_requested() {
                return Err(Failure::Command(format!(
                    "interrupted after pair {done}; completed puts are kept"
                )));
            }
            self.command(&put.map_err(failed)?)?;
        }
        Ok(())
    }

    fn statistics(&mut self) -> Result<(), Failure> {
        let stats = self.tree.stats();
        let mut lines: Vec<String> = Vec::new();
        for (number, level) in stats.levels.iter().enumerate() {
            lines.push(format!(
                "level {number}: {} runs, {} tables, {} entries, {} tombstones, {} bytes",
                level.runs, level.tables, level.entries, level.tombstones, level.file_bytes
            ));
        }
        lines.push(format!(
            "memory: memtables {} bytes, filters {} bytes, fences {} bytes, cache {} bytes",
            stats.memtable_bytes, stats.filter_bytes, stats.fence_bytes, stats.cache_bytes
        ));
        lines.extend(
            stats
                .counts
                .iter()
                .filter(|(_, count)| *count > 0)
                .map(|(name, count)| format!("{name}: {count}")),
        );
        self.answer(|out| out.write_all(lines.join("\n").as_bytes()))
    }
}

/// Why a command failed.
enum Failure {
    /// The reader of the answers is gone.
    ReaderIsGone,
    /// The store returned an error, or the command is invalid.
    Command(String),
}

impl From<tree::Error> for Failure {
    fn from(error: tree::Error) -> Self {
        Self::Command(error.to_string())
    }
}
