//! The first bytes of a trace, by which readers recognize their formats.

/// Number of bytes at the start of a trace file by which the readers recognize their formats.
pub(super) const HEAD_BYTES: usize = 16 << 10;

/// Maximum number of lines or records that a reader checks to recognize a format.
const LOOKED_AT: usize = 100;

/// The first bytes of a trace, after decompression.
#[derive(Clone, Copy, Debug)]
pub struct TraceHead<'a> {
    bytes: &'a [u8],
    is_whole: bool,
}

impl<'a> TraceHead<'a> {
    /// Creates the head of a trace from its first bytes. If `is_whole` is true, the trace has no further bytes.
    pub fn new(bytes: &'a [u8], is_whole: bool) -> Self {
        Self { bytes, is_whole }
    }

    /// Returns the first bytes of the trace.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Iterates over the first complete lines of the trace, without their line ends. Empty lines are skipped.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        let end = match self.is_whole {
            true => self.bytes.len(),
            false => self.bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0),
        };
        let lines = self.bytes[..end].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| !line.is_empty()).take(LOOKED_AT)
    }

    /// Returns whether `matches` returns true for all first lines of the trace. Returns false if there is no line.
    pub fn all_lines(&self, matches: impl FnMut(&[u8]) -> bool) -> bool {
        let mut lines = self.lines().peekable();
        lines.peek().is_some() && lines.all(matches)
    }

    /// Iterates over the first complete records of the trace, all of which have the same size.
    pub fn records<const BYTES: usize>(&self) -> impl Iterator<Item = &'a [u8; BYTES]> {
        self.bytes.as_chunks::<BYTES>().0.iter().take(LOOKED_AT)
    }

    /// Returns whether the trace may consist of records of `bytes` bytes. Only the first bytes of the trace are
    /// checked.
    pub fn may_be_records_of(&self, bytes: usize) -> bool {
        self.bytes.len() >= bytes && (!self.is_whole || self.bytes.len().is_multiple_of(bytes))
    }
}
