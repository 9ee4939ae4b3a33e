//! Raw traces: fixed-width integers, one key access each.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use catalog::{Build, Variant};
use lzma_rust2::XzReader;
use serde::{Deserialize, Serialize};

use super::reader::{TraceError, TraceReader};

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::new::<Raw>(
    "raw",
    "whole numbers of one width, one after the other; a file that ends in .xz is decompressed",
    "# Size of a number in bytes: 1, 2, 4 or 8.\n\
     width = 4\n\
     # Byte order of numbers: most significant first (\"big\") or least significant first (\"little\").\n\
     endian = \"big\"\n",
);

/// Memory limit of decompression, in KiB: enough for every preset of `xz`.
const XZ_MEMORY_KIB: u32 = 128 << 10;

/// Size in bytes to which a compressed trace of any length may decompress.
pub(super) const XZ_SPARE_BYTES: u64 = 16 << 20;

/// Maximum compression ratio beyond that. Recorded accesses shrink to a few hundredths at best; a few bytes that
/// decompress to all memory are not a trace.
pub(super) const XZ_MOST_RATIO: u64 = 256;

/// Byte order of the numbers in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endian {
    /// The most significant byte first.
    #[default]
    Big,
    /// The least significant byte first.
    Little,
}

impl Endian {
    /// Returns the name in TOML.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Big => "big",
            Self::Little => "little",
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    width: usize,
    endian: Endian,
}

impl Default for Params {
    fn default() -> Self {
        Self { width: 4, endian: Endian::Big }
    }
}

/// Reader of numbers of one width.
struct Raw {
    width: usize,
    endian: Endian,
}

impl Build<dyn TraceReader> for Raw {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn TraceReader>, String> {
        let Params { width, endian } = params;
        match width {
            1 | 2 | 4 | 8 => Ok(Box::new(Self { width, endian })),
            _ => Err(format!("width is {width}; it must be 1, 2, 4 or 8 bytes")),
        }
    }
}

impl TraceReader for Raw {
    fn width(&self) -> usize {
        self.width
    }

    fn read(&self, path: &Path) -> Result<Vec<u64>, TraceError> {
        let failed = |source| TraceError::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
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
            return Err(TraceError::Bomb { path: path.to_owned(), bytes: most });
        }
        if rest > 0 {
            let bytes = (numbers.len() * self.width + rest) as u64;
            return Err(TraceError::Torn { path: path.to_owned(), bytes, width: self.width });
        }
        Ok(numbers)
    }
}

impl Raw {
    /// Returns all whole numbers, and the number of bytes after them.
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
