//! Raw traces: files of fixed-width integers, one key access each, replayed in recorded order.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalog::ChoiceError;
use lzma_rust2::XzReader;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::{Table, Value};

use crate::spelling::Spelling;

/// The most memory that decompressing may take: enough for every preset of `xz`.
const XZ_MEMORY_KIB: u32 = 128 << 10;

/// What a compressed trace may decompress to whatever its length, in bytes.
const XZ_SPARE_BYTES: u64 = 16 << 20;

/// By how much a trace may be compressed beyond that. Recorded accesses shrink to a few hundredths at best; a few
/// bytes that stand for all memory are no trace.
const XZ_MOST_RATIO: u64 = 256;

/// Which byte of a number comes first in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endian {
    /// The most significant byte.
    #[default]
    Big,
    /// The least significant byte.
    Little,
}

/// Where a raw trace is, and how it is to be read: `{ kind = "raw", file = …, width = 4, endian = "big" }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// The file; relative to the file that names it. One that ends in `.xz` is decompressed.
    pub file: PathBuf,
    /// The bytes of a number: 1, 2, 4 or 8.
    pub width: usize,
    /// The order of its bytes.
    pub endian: Endian,
}

/// What can be wrong with a trace.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be opened, read or decompressed.
    #[error("trace {path}: {source}; check the path, and that the file is whole")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system or the decompressor says.
        source: io::Error,
    },
    /// The file ends in the middle of a number.
    #[error("trace {path}: {bytes} bytes are no whole number of {width}-byte keys; is the width right?")]
    Torn {
        /// The file.
        path: PathBuf,
        /// Its length after decompression.
        bytes: u64,
        /// The width that was asked for.
        width: usize,
    },
    /// A small file decompresses to a large one.
    #[error(
        "trace {path}: it decompresses to more than {bytes} bytes, which no trace of its size does; decompress it"
    )]
    Bomb {
        /// The file.
        path: PathBuf,
        /// The bytes that a file of its size may decompress to.
        bytes: u64,
    },
    /// There is nothing to replay.
    #[error("trace {path}: the file holds no accesses")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// More different keys than a run can number.
    #[error("{keys} different keys in the traces; at most {} can be replayed", u32::MAX)]
    TooManyKeys {
        /// The number of different keys.
        keys: usize,
    },
    /// Two traces of one workload have keys of different widths.
    #[error("the traces of one workload must have one width, but there are {first} and {second} bytes")]
    Widths {
        /// One of the widths.
        first: usize,
        /// Another.
        second: usize,
    },
}

/// The different keys of all raw traces of a workload, in ascending order: key i of the key space is the
/// i-th smallest.
#[derive(Debug)]
pub struct Recording {
    width: usize,
    numbers: Vec<u64>,
}

/// The accesses of one trace as indexes of keys, in recorded order.
pub type Accesses = Arc<[u32]>;

impl TraceFile {
    pub(crate) fn from_spelling(mut spelling: Spelling) -> Result<Self, ChoiceError> {
        let file = spelling
            .read("file")?
            .ok_or_else(|| ChoiceError::at("file", "a replay names its file: file = \"…\""))?;
        let width = spelling.read("width")?.unwrap_or(4);
        let endian = spelling.read("endian")?.unwrap_or_default();
        spelling.finish("a raw replay")?;
        if ![1, 2, 4, 8].contains(&width) {
            return Err(ChoiceError::at("width", format!("width is {width}; it is 1, 2, 4 or 8 bytes")));
        }
        Ok(Self { file, width, endian })
    }

    pub(crate) fn to_toml(&self) -> Value {
        let mut table = Table::new();
        table.insert("kind".to_owned(), "raw".into());
        table.insert("file".to_owned(), self.file.to_string_lossy().into_owned().into());
        table.insert("width".to_owned(), i64::try_from(self.width).expect("a width is at most 8").into());
        let endian = if self.endian == Endian::Big { "big" } else { "little" };
        table.insert("endian".to_owned(), endian.into());
        Value::Table(table)
    }

    /// Reads all numbers, in recorded order; `base` is the folder that a relative path starts from.
    ///
    /// # Errors
    /// If the file is missing, damaged, torn or empty.
    pub fn read(&self, base: &Path) -> Result<Vec<u64>, TraceError> {
        let path = base.join(&self.file);
        let failed = |source| TraceError::Read { path: path.clone(), source };
        let file = File::open(&path).map_err(failed)?;
        let most = file.metadata().map_err(failed)?.len().saturating_mul(XZ_MOST_RATIO) + XZ_SPARE_BYTES;
        let file = BufReader::with_capacity(1 << 20, file);
        let compressed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xz"));
        let (numbers, rest) = if compressed {
            self.read_numbers(XzReader::new_mem_limit(file, true, XZ_MEMORY_KIB).take(most + 1))
        } else {
            self.read_numbers(file)
        }
        .map_err(failed)?;
        if compressed && (numbers.len() * self.width + rest) as u64 > most {
            return Err(TraceError::Bomb { path, bytes: most });
        }
        if rest > 0 {
            let bytes = (numbers.len() * self.width + rest) as u64;
            return Err(TraceError::Torn { path, bytes, width: self.width });
        }
        if numbers.is_empty() {
            return Err(TraceError::Empty { path });
        }
        Ok(numbers)
    }

    /// All whole numbers, and the number of bytes behind them.
    fn read_numbers(&self, mut reader: impl Read) -> io::Result<(Vec<u64>, usize)> {
        const CHUNK: usize = 64 << 10;
        let mut numbers = Vec::new();
        let mut chunk = vec![0; CHUNK];
        let mut held = 0;
        loop {
            let read = match reader.read(&mut chunk[held..]) {
                Ok(0) => return Ok((numbers, held)),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            held += read;
            let whole = held - held % self.width;
            numbers.extend(chunk[..whole].chunks_exact(self.width).map(|bytes| self.number(bytes)));
            chunk.copy_within(whole..held, 0);
            held -= whole;
        }
    }

    fn number(&self, bytes: &[u8]) -> u64 {
        let mut padded = [0; 8];
        match self.endian {
            Endian::Big => {
                padded[8 - bytes.len()..].copy_from_slice(bytes);
                u64::from_be_bytes(padded)
            }
            Endian::Little => {
                padded[..bytes.len()].copy_from_slice(bytes);
                u64::from_le_bytes(padded)
            }
        }
    }
}

impl Recording {
    /// Reads `traces` and numbers their keys; `None` where there are no traces.
    ///
    /// # Errors
    /// If a trace cannot be read or they do not go together.
    pub fn read(traces: &[&TraceFile], base: &Path) -> Result<Option<(Self, Vec<Accesses>)>, TraceError> {
        let Some(first) = traces.first() else {
            return Ok(None);
        };
        if let Some(other) = traces.iter().find(|trace| trace.width != first.width) {
            return Err(TraceError::Widths { first: first.width, second: other.width });
        }
        let streams = traces.iter().map(|trace| trace.read(base)).collect::<Result<Vec<_>, _>>()?;
        let recording = Self::of(first.width, streams.concat());
        let numbers = &recording.numbers;
        if numbers.len() > u32::MAX as usize {
            return Err(TraceError::TooManyKeys { keys: numbers.len() });
        }
        let index = |number: &u64| numbers.partition_point(|smaller| smaller < number) as u32;
        let accesses = streams.iter().map(|stream| stream.iter().map(index).collect()).collect();
        Ok(Some((recording, accesses)))
    }

    /// The recording of accesses to keys of `width` bytes.
    pub(crate) fn of(width: usize, mut numbers: Vec<u64>) -> Self {
        numbers.sort_unstable();
        numbers.dedup();
        numbers.shrink_to_fit();
        Self { width, numbers }
    }

    /// The bytes of a key.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The different keys, ascending.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(folder: &Path, name: &str, bytes: &[u8], width: usize, endian: Endian) -> TraceFile {
        std::fs::write(folder.join(name), bytes).unwrap();
        TraceFile { file: name.into(), width, endian }
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let options = lzma_rust2::XzOptions::with_preset(0);
        let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        std::io::Write::write_all(&mut writer, bytes).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn numbers_are_read_in_both_orders_and_all_widths() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (1..=16).collect();
        for (width, endian, first) in [
            (1, Endian::Big, 0x01),
            (2, Endian::Big, 0x0102),
            (4, Endian::Little, 0x0403_0201),
            (8, Endian::Big, 0x0102_0304_0506_0708),
        ] {
            let trace = trace(folder.path(), "t", &bytes, width, endian);
            let numbers = trace.read(folder.path()).unwrap();
            assert_eq!((numbers.len(), numbers[0]), (16 / width, first));
        }
    }

    #[test]
    fn keys_are_numbered_in_ascending_order_over_all_traces() {
        let folder = tempfile::tempdir().unwrap();
        let a = trace(folder.path(), "a", &[9, 3, 9], 1, Endian::Big);
        let b = trace(folder.path(), "b", &[5, 3], 1, Endian::Big);
        let (recording, accesses) = Recording::read(&[&a, &b], folder.path()).unwrap().unwrap();
        assert_eq!(recording.numbers(), [3, 5, 9]);
        assert_eq!([&*accesses[0], &*accesses[1]], [&[2, 0, 2][..], &[1, 0][..]]);
        assert!(Recording::read(&[], folder.path()).unwrap().is_none());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let torn = trace(at, "torn", &[1, 2, 3, 4, 5], 4, Endian::Big).read(at).unwrap_err();
        assert!(torn.to_string().contains("5 bytes are no whole number of 4-byte keys"), "{torn}");
        let empty = trace(at, "empty", &[], 4, Endian::Big).read(at).unwrap_err();
        assert!(empty.to_string().contains("no accesses"), "{empty}");
        let garbage = trace(at, "garbage.xz", &[7; 100], 4, Endian::Big).read(at).unwrap_err();
        assert!(matches!(garbage, TraceError::Read { .. }), "{garbage}");
        let zeros = packed(&vec![0; (XZ_SPARE_BYTES + (8 << 20)) as usize]);
        assert!((zeros.len() as u64) < (8 << 20) / XZ_MOST_RATIO);
        let bomb = trace(at, "bomb.xz", &zeros, 8, Endian::Big).read(at).unwrap_err();
        assert!(matches!(bomb, TraceError::Bomb { .. }), "{bomb}");
        let fine = packed(&vec![0; 4 << 20]);
        assert_eq!(trace(at, "fine.xz", &fine, 8, Endian::Big).read(at).unwrap().len(), 4 << 17);
        let missing = TraceFile { file: "missing".into(), width: 4, endian: Endian::Big };
        assert!(missing.read(at).unwrap_err().to_string().contains("check the path"));
        let (a, b) = (trace(at, "a", &[1], 1, Endian::Big), trace(at, "b", &[1, 2], 2, Endian::Big));
        assert!(matches!(Recording::read(&[&a, &b], at), Err(TraceError::Widths { first: 1, second: 2 })));
    }
}
