//! `lsmbench shell` opens a durable store, and executes the commands on standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::Path;

use run::interrupt::{self, UntilInterrupted};
use server::{TextStore, answer_command};
use types::{Outcome, Problem, valid_names};
use workload::{Command, CommandReader, Pairs, PairsError, ReadError};

use super::store::{design_of, family_names_of, open_families, open_tree};
use crate::cli::ShellArguments;
use crate::output::line;

/// Opens the store, and executes the commands on standard input until the input ends or the user interrupts the
/// program. Then closes the store, which makes all writes durable in every WAL mode.
pub(crate) fn shell(arguments: &ShellArguments) -> Outcome<()> {
    let design = design_of(&arguments.store, "the shell")?;
    let input = io::stdin().as_fd().try_clone_to_owned();
    let input = input.map_err(|error| Problem::doing("read standard input", error))?;
    interrupt::install();
    let input = BufReader::new(UntilInterrupted(File::from(input)));
    let run = |store: &dyn TextStore| Shell { store, out: BufWriter::new(io::stdout().lock()) }.run(input);
    let families = family_names_of(&arguments.store, &design)?;
    check_family(arguments, &families)?;
    match &arguments.family {
        None => {
            let tree = open_tree(&arguments.store, design)?;
            let outcome = run(&tree);
            tree.close()?;
            outcome
        }
        Some(name) => {
            let families = open_families(&arguments.store, &design, families)?;
            let outcome = families.family(name).map_or(Ok(()), |family| run(&family));
            families.close()?;
            outcome
        }
    }
}

/// Checks the option `--family`. `families` are the families of the store and of the design.
///
/// # Errors
/// The option names a family that does not exist, or the option is missing for a store with families.
fn check_family(arguments: &ShellArguments, families: &[String]) -> Outcome<()> {
    let directory = arguments.store.directory.display();
    let message = match (&arguments.family, families) {
        (None, []) => return Ok(()),
        (Some(name), families) if families.contains(name) => return Ok(()),
        (None, [first, ..]) => format!(
            "{directory} has column families, and the shell can open only one of them; name it, such as in \
             `lsmbench shell {directory} --family {first}`"
        ),
        (Some(name), []) => {
            format!(
                "{directory} has no column families; remove --family, or create the family with --set \
                 families.{name}={{}}"
            )
        }
        (Some(name), families) => {
            format!("{directory} has no column family \"{name}\". {}", valid_names(families))
        }
    };
    Err(Problem::new(message))
}

/// The open store or column family, and the output of the shell.
struct Shell<'a, W: Write> {
    store: &'a dyn TextStore,
    out: W,
}

impl<W: Write> Shell<'_, W> {
    /// Executes the commands in `input`. If a command is invalid or fails, prints the error and continues. Returns an
    /// error at the end if a command has failed.
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
        if let Command::Load { file } = command {
            return self.load(file);
        }
        let mut answer = Vec::new();
        answer_command(self.store, command, usize::MAX, &mut answer)
            .map_err(|error| Failure::Command(error.to_string()))?;
        if answer.is_empty() {
            return Ok(());
        }
        self.out.write_all(&answer).and_then(|()| self.out.flush()).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderIsGone,
            _ => Failure::Command(format!(
                "cannot write the answer of the command to standard output: {error}"
            )),
        })
    }

    /// Puts the key-value pairs of a file into the store. Stops at the first pair that is invalid or cannot be written,
    /// and when the user interrupts the program.
    fn load(&mut self, file: &[u8]) -> Result<(), Failure> {
        let failed = |error: PairsError| Failure::Command(error.to_string());
        for (done, put) in Pairs::open(Path::new(""), file).map_err(failed)?.enumerate() {
            if interrupt::is_requested() {
                return Err(Failure::Command(format!(
                    "interrupted; the store contains the first {done} pairs of the file"
                )));
            }
            self.command(&put.map_err(failed)?)?;
        }
        Ok(())
    }
}

/// The reason why a command of the shell failed.
enum Failure {
    /// The program that reads the output of the shell has closed the pipe.
    ReaderIsGone,
    /// The store returned an error, or the command is invalid.
    Command(String),
}
