//! Text and traces from which workloads are read.

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::path::Path;

use lzma_rust2::{XzOptions, XzWriter};
use tempfile::TempDir;
use workload::{Command, CommandReader, Endian, ReadError, Recording, TraceFile};

use super::input::{SPARE_BYTES, choose};
use crate::bounds::bounded;
use crate::target::{Form, Target};

/// Lines of the DSL. Invariants: a printed command reads back as itself; an error names a column of its line and the
/// number of that line; reading continues after the error, once for each line.
pub(super) const DSL: Target = Target {
    name: "dsl",
    about: "operations as lines of text",
    form: Form::Text,
    seeds: dsl_seeds,
    run: run_dsl,
};

/// A raw trace; the first byte of an input selects the format. Invariants: the numbers, written again, are the file;
/// every access names its key.
pub(super) const TRACE: Target = Target {
    name: "trace",
    about: "a trace of numbers of fixed width",
    form: Form::Bytes,
    seeds: || (0..8).map(|how| [&[how][..], &numbers()].concat()).collect(),
    run: |input| run_trace(input, false),
};

/// A raw trace in an `.xz` file.
pub(super) const COMPRESSED_TRACE: Target = Target {
    name: "xz-trace",
    about: "a compressed trace of numbers of fixed width",
    form: Form::Bytes,
    seeds: || {
        vec![[&[4][..], &packed(&numbers())].concat(), [&[6][..], &packed(&numbers().repeat(9))].concat()]
    },
    run: |input| run_trace(input, true),
};

/// The initial memory of a reader of `.xz`: its dictionary and its output buffer.
const DECOMPRESSOR_BYTES: usize = 512 << 20;

fn dsl_seeds() -> Vec<Vec<u8>> {
    let lines = "# a comment\np 10 7\ng 10\n\nd 10\nr a z\nl \"data file.bin\"\ns\n  p\t\"a b\" \"\\x00\\xfF\\n\\\"\\\\\"\r\n";
    let bytes = b"p \xff\xfe k\xc3\xa4se\nput 1 2\np 10\nd 1 2\ng \"abc\ng ab\"c\ng \"a\\q\"\n";
    vec![lines.as_bytes().to_vec(), bytes.to_vec(), b"s".to_vec(), Vec::new()]
}

fn run_dsl(input: &[u8]) -> bool {
    bounded(input.len(), SPARE_BYTES, || {
        let lines = input.split(|byte| *byte == b'\n').count() as u64;
        let mut reader = CommandReader::new(input);
        loop {
            match reader.read() {
                Ok(None) => return true,
                Ok(Some(command)) => {
                    let printed = command.to_string();
                    assert!(printed.is_ascii() && !printed.contains('\n'), "a command prints as {printed:?}");
                    assert_eq!(
                        Command::parse(printed.as_bytes()),
                        Ok(Some(command)),
                        "it reads back otherwise"
                    );
                }
                Err(ReadError::Syntax { line, error }) => {
                    assert!(line <= lines && error.column >= 1, "line {line} of {lines}, {error}");
                }
                Err(error) => panic!("text in memory cannot be read: {error}"),
            }
            assert!(reader.line() <= lines, "line {} of {lines}", reader.line());
        }
    })
}

fn numbers() -> Vec<u8> {
    (0..64u64).flat_map(|number| (number * number % 37).to_be_bytes()).collect()
}

/// Bytes as an `.xz` file.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(0)).expect("the options are right");
    writer.write_all(bytes).expect("a vector takes bytes");
    writer.finish().expect("a vector takes bytes")
}

thread_local! {
    /// The folder of this thread's input files.
    static FOLDER: RefCell<TempDir> = RefCell::new(tempfile::tempdir().expect("there is room for a folder"));
}

/// Writes an input to a file of this thread and passes its path to `work`.
pub(super) fn in_file<R>(name: &str, input: &[u8], work: impl FnOnce(&Path) -> R) -> R {
    FOLDER.with_borrow(|folder| {
        let path = folder.path().join(name);
        fs::write(&path, input).expect("there is room for a file");
        work(&path)
    })
}

fn run_trace(input: &[u8], is_packed: bool) -> bool {
    let Some((how, content)) = choose(input) else { return false };
    let width = 1 << (how & 3);
    let endian = if how & 4 == 0 { Endian::Big } else { Endian::Little };
    let name = if is_packed { "trace.xz" } else { "trace" };
    let trace = TraceFile::raw(name.into(), width, endian).expect("the width is one of those there are");
    let spare = if is_packed { DECOMPRESSOR_BYTES } else { 4 * SPARE_BYTES };
    in_file(name, content, |path| {
        let base = path.parent().expect("a file has a folder");
        bounded(input.len(), spare, || {
            let Ok(numbers) = trace.read(base) else { return false };
            if !is_packed {
                assert!(written(&numbers, width, endian) == content, "the numbers are not those of the file");
            }
            let (recording, accesses) = Recording::read(&[&trace], base)
                .expect("a trace that was read is read")
                .expect("there is a trace");
            assert!(recording.numbers().is_sorted_by(|a, b| a < b), "keys are numbered in another order");
            let named = accesses[0].iter().map(|access| recording.numbers()[*access as usize]);
            assert!(named.eq(numbers), "an access names another key");
            true
        })
    })
}

/// Numbers as a trace.
fn written(numbers: &[u64], width: usize, endian: Endian) -> Vec<u8> {
    let bytes = |number: &u64| match endian {
        Endian::Big => number.to_be_bytes()[8 - width..].to_vec(),
        Endian::Little => number.to_le_bytes()[..width].to_vec(),
    };
    numbers.iter().flat_map(bytes).collect()
}
