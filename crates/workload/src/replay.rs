//! Text replays: the commands of a file as operations, and the check of their answers.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use types::{Direction, Outcome, Problem};

use crate::pairs::Pairs;
use crate::{
    AnswerDigests, Command, CommandReader, Kind, Model, Performer, ReadError, Scan, Target, TargetError,
};

/// Iterator over the operations of a text file. Files of pairs that it loads become puts; statistics commands are
/// skipped.
pub struct Replay {
    path: PathBuf,
    commands: CommandReader<BufReader<File>>,
    pairs: Option<Pairs>,
}

impl Replay {
    /// Opens a text file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        Ok(Self { path: path.to_owned(), commands: CommandReader::new(BufReader::new(file)), pairs: None })
    }

    /// Reads a whole text file, so that its errors are found before it is replayed.
    pub fn check(path: &Path) -> Outcome<()> {
        let mut replay =
            Self::open(path).map_err(|error| Problem::doing(format!("read {}", path.display()), error))?;
        while let Some(operation) = replay.next() {
            operation.map_err(|error| match error.downcast_ref::<ReadError>() {
                Some(ReadError::Syntax { error, .. }) => replay.problem(error.to_string()),
                _ => replay.problem(error.to_string()),
            })?;
        }
        Ok(())
    }

    fn problem(&self, message: String) -> Problem {
        Problem::at(&self.path, usize::try_from(self.commands.line()).ok(), message)
    }

    fn read(&mut self) -> Result<Option<Command>, TargetError> {
        loop {
            if let Some(put) = self.pairs.as_mut().and_then(Iterator::next) {
                return Ok(Some(put?));
            }
            self.pairs = None;
            match self.commands.read()? {
                Some(Command::Load { file }) => {
                    self.pairs = Some(Pairs::open(self.path.parent().unwrap_or(Path::new("")), &file)?);
                }
                Some(Command::Statistics) => {}
                command => return Ok(command),
            }
        }
    }
}

impl Iterator for Replay {
    type Item = Result<(Kind, Command), TargetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let command = match self.read() {
            Ok(command) => command?,
            Err(error) => return Some(Err(error)),
        };
        let kind = match command {
            Command::Put { .. } => Kind::Put,
            Command::Get { .. } => Kind::Get,
            Command::Delete { .. } => Kind::Delete,
            Command::Range { .. } => Kind::Range,
            Command::Load { .. } | Command::Statistics => unreachable!("these are no operations"),
        };
        Some(Ok((kind, command)))
    }
}

/// Returns the number of lines of a text file, which is about its number of operations.
pub fn count_lines(path: &Path) -> io::Result<u64> {
    let lines = BufReader::new(File::open(path)?).split(b'\n');
    lines.map(|line| line.map(|_| 1)).sum()
}

/// Result of the check of a replay.
#[derive(Debug, Default)]
pub struct ReplayVerdict {
    /// The number of answers that were compared.
    pub checked: u64,
    /// The number of compared answers that were wrong.
    pub wrong: u64,
    /// Description of the first wrong answer.
    pub first: Option<String>,
}

/// Executes a replay again, on the model, and compares the kept answers.
pub fn check(replay: Replay, record: &AnswerDigests, model: &Model) -> Result<ReplayVerdict, TargetError> {
    let mut performer = Performer::new(model);
    let mut answers = record.kept();
    let mut kept = answers.next();
    let mut verdict = ReplayVerdict::default();
    for (ordinal, operation) in (0..record.operations()).zip(replay) {
        let (kind, command) = operation?;
        performer.command(&command, true)?;
        let Some((_, answer)) = kept.filter(|(kept, _)| *kept == ordinal) else { continue };
        kept = answers.next();
        if kind.answers() {
            verdict.checked += 1;
            if performer.digest() != answer {
                verdict.wrong += 1;
                verdict
                    .first
                    .get_or_insert_with(|| format!("operation {ordinal}: {command} had a wrong answer"));
            }
        }
    }
    Ok(verdict)
}

/// Returns a model with the entries of `target`.
pub fn copy(target: &dyn Target) -> Result<Model, TargetError> {
    let model = Model::default();
    let mut failed = None;
    target.range(&everything(), &mut |key, value| {
        failed = failed.take().or_else(|| model.put(key, value).err());
    })?;
    failed.map_or(Ok(model), Err)
}

/// Compares the entries of `target` with those of the model; returns the first difference, if any.
pub fn compare(target: &dyn Target, model: &Model) -> Result<Option<String>, TargetError> {
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    model.range(&everything(), &mut |key, value| expected.push((key.to_vec(), value.to_vec())))?;
    target.range(&everything(), &mut |key, value| found.push((key.to_vec(), value.to_vec())))?;
    let at = expected.iter().zip(&found).position(|(a, b)| a != b);
    let at = at.or_else(|| (expected.len() != found.len()).then(|| expected.len().min(found.len())));
    let name = |pair: Option<&(Vec<u8>, Vec<u8>)>| {
        pair.map_or("nothing".to_owned(), |(key, _)| format!("key {}", key.escape_ascii()))
    };
    Ok(at.map(|at| {
        format!("the store has {}, it should have {}", name(found.get(at)), name(expected.get(at)))
    }))
}

fn everything() -> Scan<'static> {
    Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX }
}
