//! The keys of a workload's traces, numbered in key order.

use std::path::Path;
use std::sync::Arc;

use super::file::TraceFile;
use super::reader::TraceError;

/// The distinct keys of all traces of a workload, in ascending order. Key i of the workload's key space is the i-th
/// smallest key.
#[derive(Debug)]
pub struct Recording {
    width: usize,
    numbers: Vec<u64>,
}

/// The accesses of one trace, in recorded order. Each access is the index of the accessed key in a [`Recording`].
pub type Accesses = Arc<[u32]>;

impl Recording {
    /// Reads `traces` and numbers their keys. Returns `None` if `traces` is empty.
    ///
    /// # Errors
    /// Returns an error if a trace cannot be read, or if the traces have keys of different lengths.
    pub fn read(traces: &[&TraceFile], base: &Path) -> Result<Option<(Self, Vec<Accesses>)>, TraceError> {
        let streams = traces.iter().map(|trace| trace.read(base)).collect::<Result<Vec<_>, _>>()?;
        let widths = traces.iter().map(|trace| trace.open(base).map(|stream| stream.width()));
        let widths: Vec<usize> = widths.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        let Some(width) = widths.first().copied() else {
            return Ok(None);
        };
        if let Some(other) = widths.iter().find(|other| **other != width) {
            return Err(TraceError::Widths { first: width, second: *other });
        }
        let recording = Self::of(width, streams.concat());
        let numbers = &recording.numbers;
        if numbers.len() > u32::MAX as usize {
            return Err(TraceError::TooManyKeys { keys: numbers.len() });
        }
        let index = |number: &u64| numbers.partition_point(|smaller| smaller < number) as u32;
        let accesses = streams.iter().map(|stream| stream.iter().map(index).collect()).collect();
        Ok(Some((recording, accesses)))
    }

    /// Creates a recording from the keys of a trace, given as numbers in any order. Each key has `width` bytes.
    pub(crate) fn of(width: usize, mut numbers: Vec<u64>) -> Self {
        numbers.sort_unstable();
        numbers.dedup();
        numbers.shrink_to_fit();
        Self { width, numbers }
    }

    /// Returns the length of each key in bytes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the distinct keys as numbers, in ascending order.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }
}
