//! `lsmbench shell`: a durable store, driven by the DSL on standard input.

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

/// Opens the store and does what standard input says, until it ends or the user wants the program to end; the
/// store is closed then, so that what was done is kept in every log mode.
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
            "a shell keeps what it is told, but {axis} = {choice} {limit}; choose another one"
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

/// A store with where its answers go.
struct Shell<'a, W: Write> {
    tree: &'a Tree,
    out: W,
}

impl<W: Write> Shell<'_, W> {
    /// Does every command of `input`; lines that are no commands are named and passed over.
    fn run(&mut self, input: impl BufRead) -> Outcome<()> {
        let mut reader = CommandReader::new(input);
        let mut refused = 0;
        while !interrupt::is_requested() {
            match reader.read() {
                Ok(None) => break,
                Ok(Some(command)) => match self.command(&command) {
                    Ok(()) => {}
                    Err(Failure::ReaderIsGone) => return Ok(()),
                    Err(Failure::Refused(message)) => {
                        refused += 1;
                        line(&format!("line {}: {message}", reader.line()));
                    }
                },
                Err(ReadError::Syntax { error, .. }) => {
                    refused += 1;
                    line(&format!("line {}: {error}", reader.line()));
                }
                Err(error) => return Err(Problem::doing("read commands", error)),
            }
        }
        match refused {
            _ if interrupt::is_requested() => Ok(()),
            0 => Ok(()),
            1 => Err(Problem::new("1 line was not done")),
            count => Err(Problem::new(format!("{count} lines were not done"))),
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

    /// Writes one line of an answer; whoever waits for it gets it now.
    fn answer(&mut self, write: impl FnOnce(&mut W) -> io::Result<()>) -> Result<(), Failure> {
        let written =
            write(&mut self.out).and_then(|()| self.out.write_all(b"\n")).and_then(|()| self.out.flush());
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderIsGone,
            _ => Failure::Refused(format!("cannot write the answer: {error}")),
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

    /// Puts the pairs of a file, up to the first line that is none, or until the user wants the program to end.
    fn load(&mut self, file: &[u8]) -> Result<(), Failure> {
        let refused = |error: PairsError| Failure::Refused(error.to_string());
        for (done, put) in Pairs::open(Path::new(""), file).map_err(refused)?.enumerate() {
            if interrupt::is_requested() {
                return Err(Failure::Refused(format!(
                    "interrupted behind pair {done}; what is done is kept"
                )));
            }
            self.command(&put.map_err(refused)?)?;
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

/// Why a command was not done.
enum Failure {
    /// Nobody reads the answers any more.
    ReaderIsGone,
    /// The store refuses, or the command cannot be done.
    Refused(String),
}

impl From<tree::Error> for Failure {
    fn from(error: tree::Error) -> Self {
        Self::Refused(error.to_string())
    }
}
