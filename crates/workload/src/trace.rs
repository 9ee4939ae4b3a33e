//! Traces: files of recorded key accesses, replayed in recorded order.

mod raw;
mod reader;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalog::{Catalog, Choice, ChoiceError};
use toml::{Table, Value};

pub use raw::Endian;
pub use reader::{TraceError, TraceReader};

/// All readers of traces. The first is the default.
pub static TRACES: Catalog<dyn TraceReader> =
    Catalog::new(catalog::origin!(), "trace", "how recorded accesses are read from a file", &[raw::VARIANT]);

/// Location and format of a trace: `{ kind = "raw", file = …, width = 4, endian = "big" }`.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceFile {
    /// The file; relative paths start from the file that names it.
    pub file: PathBuf,
    /// The reader, one of [`TRACES`].
    pub format: Choice,
}

/// The different keys of all traces of a workload, in ascending order: key i of the key space is the i-th smallest.
#[derive(Debug)]
pub struct Recording {
    width: usize,
    numbers: Vec<u64>,
}

/// The accesses of one trace as indexes of keys, in recorded order.
pub type Accesses = Arc<[u32]>;

impl TraceFile {
    /// Creates a raw trace.
    ///
    /// # Errors
    /// A width that is not 1, 2, 4 or 8.
    pub fn raw(file: PathBuf, width: usize, endian: Endian) -> Result<Self, ChoiceError> {
        let mut format = Table::new();
        format.insert("kind".to_owned(), raw::VARIANT.kind.into());
        format.insert("width".to_owned(), Value::Integer(i64::try_from(width).unwrap_or(i64::MAX)));
        format.insert("endian".to_owned(), endian.name().into());
        Ok(Self { file, format: TRACES.choose(&Value::Table(format))? })
    }

    /// Reads a table with `kind`, `file` and the parameters of the reader.
    pub(crate) fn from_toml(mut table: Table) -> Result<Self, ChoiceError> {
        let file = match table.remove("file") {
            Some(Value::String(file)) => file.into(),
            Some(_) => return Err(ChoiceError::at("file", "file is the path of the trace: file = \"…\"")),
            None => return Err(ChoiceError::at("file", "a replay names its file: file = \"…\"")),
        };
        Ok(Self { file, format: TRACES.choose_beside(&Value::Table(table), &["file"])? })
    }

    pub(crate) fn to_toml(&self) -> Value {
        let mut table = Table::new();
        table.insert("kind".to_owned(), self.format.kind().into());
        table.insert("file".to_owned(), self.file.to_string_lossy().into_owned().into());
        table.extend(self.format.params().clone());
        Value::Table(table)
    }

    /// Reads all accesses in recorded order, each as the number of its key; relative paths start from the folder
    /// `base`.
    ///
    /// # Errors
    /// The file is missing, corrupt, truncated or empty.
    pub fn read(&self, base: &Path) -> Result<Vec<u64>, TraceError> {
        let path = base.join(&self.file);
        let reader = self.reader();
        let (numbers, width) = (reader.read(&path)?, reader.width());
        let fits = |number: &u64| width >= size_of::<u64>() || number >> (8 * width) == 0;
        match numbers.iter().find(|number| !fits(number)) {
            _ if numbers.is_empty() => Err(TraceError::Empty { path }),
            _ if !(1..=size_of::<u64>()).contains(&width) => {
                let message = format!("its reader reports keys of {width} bytes; valid are 1 to 8");
                Err(TraceError::Malformed { path, message })
            }
            Some(number) => {
                let message = format!("its reader gives the key {number}, which has more than {width} bytes");
                Err(TraceError::Malformed { path, message })
            }
            None => Ok(numbers),
        }
    }

    fn reader(&self) -> Box<dyn TraceReader> {
        TRACES.build(&self.format).expect("it was built once when it was chosen")
    }
}

impl Recording {
    /// Reads `traces` and numbers their keys; `None` if the list is empty.
    ///
    /// # Errors
    /// If a trace cannot be read or the traces have different widths.
    pub fn read(traces: &[&TraceFile], base: &Path) -> Result<Option<(Self, Vec<Accesses>)>, TraceError> {
        let widths: Vec<usize> = traces.iter().map(|trace| trace.reader().width()).collect();
        let Some(width) = widths.first().copied() else {
            return Ok(None);
        };
        if let Some(other) = widths.iter().find(|other| **other != width) {
            return Err(TraceError::Widths { first: width, second: *other });
        }
        let streams = traces.iter().map(|trace| trace.read(base)).collect::<Result<Vec<_>, _>>()?;
        let recording = Self::of(width, streams.concat());
        let numbers = &recording.numbers;
        if numbers.len() > u32::MAX as usize {
            return Err(TraceError::TooManyKeys { keys: numbers.len() });
        }
        let index = |number: &u64| numbers.partition_point(|smaller| smaller < number) as u32;
        let accesses = streams.iter().map(|stream| stream.iter().map(index).collect()).collect();
        Ok(Some((recording, accesses)))
    }

    /// Creates the recording of accesses to keys of `width` bytes.
    pub(crate) fn of(width: usize, mut numbers: Vec<u64>) -> Self {
        numbers.sort_unstable();
        numbers.dedup();
        numbers.shrink_to_fit();
        Self { width, numbers }
    }

    /// Returns the length of a key in bytes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the different keys, ascending.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::raw::{XZ_MOST_RATIO, XZ_SPARE_BYTES};
    use super::*;

    fn trace(folder: &Path, name: &str, bytes: &[u8], width: usize, endian: Endian) -> TraceFile {
        std::fs::write(folder.join(name), bytes).unwrap();
        TraceFile::raw(name.into(), width, endian).unwrap()
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
    fn the_catalog_keeps_its_contract_and_a_width_is_checked() {
        catalog::laws::check(&TRACES).unwrap();
        let error = TraceFile::raw("t".into(), 3, Endian::Big).unwrap_err();
        assert!(error.message.contains("width is 3; it is 1, 2, 4 or 8 bytes"), "{error}");
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
        assert!(torn.to_string().contains("5 bytes are not a whole number of 4-byte keys"), "{torn}");
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
        let missing = TraceFile::raw("missing".into(), 4, Endian::Big).unwrap();
        assert!(missing.read(at).unwrap_err().to_string().contains("check the path"));
        let (a, b) = (trace(at, "a", &[1], 1, Endian::Big), trace(at, "b", &[1, 2], 2, Endian::Big));
        assert!(matches!(Recording::read(&[&a, &b], at), Err(TraceError::Widths { first: 1, second: 2 })));
    }
}
