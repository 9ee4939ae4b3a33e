//! Reader of raw traces, which consist of fixed-width integers. Each integer is one access to a key.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::input::{RecordError, TraceInput};
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::new::<Raw>(
    "raw",
    "fixed-width integers without separators; each integer is the key of one access",
    "# Size of each integer in bytes. Valid values: 1, 2, 4, 8.\n\
     width = 4\n\
     # Byte order of the integers. \"big\" stores the most significant byte first, and \"little\" stores the\n\
     # least significant byte first.\n\
     endian = \"big\"\n",
);

/// Byte order of the integers in a file.
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
    /// Returns the name of the byte order in TOML.
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

/// Trace reader for integers of one fixed width.
#[derive(Clone, Copy)]
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
    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        Ok(Box::new(Numbers { input, raw: *self }))
    }

    fn width(&self) -> Option<usize> {
        Some(self.width)
    }

    fn has_only_keys(&self) -> bool {
        true
    }
}

struct Numbers {
    input: TraceInput,
    raw: Raw,
}

impl TraceRecords for Numbers {
    fn read(&mut self) -> Result<Option<TraceRecord>, RecordError> {
        let Raw { width, endian } = self.raw;
        let mut key = vec![0; width];
        let offset = self.input.offset();
        let is_read = self.input.fill(&mut key).map_err(|error| match error {
            RecordError::Byte { .. } => RecordError::Byte {
                offset,
                message: format!(
                    "the file length is not a multiple of width = {width} bytes; set width to the size of one \
                     integer"
                ),
            },
            error => error,
        })?;
        if endian == Endian::Little {
            key.reverse();
        }
        Ok(is_read.then(|| TraceRecord::new(TraceOperation::Get, key)))
    }
}
