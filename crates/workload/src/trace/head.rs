//! The beginning of a trace, from which readers recognise their format.

/// The maximum number of bytes of a head.
pub(super) const HEAD_BYTES: usize = 16 << 10;

/// The number of lines or records that a recognition looks at.
const LOOKED_AT: usize = 100;

/// The first bytes of a decompressed trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceHead<'a> {
    bytes: &'a [u8],
    is_whole: bool,
}

impl<'a> TraceHead<'a> {
    /// Creates the head of a file. `is_whole` means that the file has no further bytes.
    pub fn new(bytes: &'a [u8], is_whole: bool) -> Self {
        Self { bytes, is_whole }
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Iterates over the first complete lines, without line ends and without empty lines.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        let end = match self.is_whole {
            true => self.bytes.len(),
            false => self.bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0),
        };
        let lines = self.bytes[..end].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| !line.is_empty()).take(LOOKED_AT)
    }

    /// Returns whether there are lines and whether all of them satisfy `matches`.
    pub fn all_lines(&self, matches: impl FnMut(&[u8]) -> bool) -> bool {
        let mut lines = self.lines().peekable();
        lines.peek().is_some() && lines.all(matches)
    }

    /// Iterates over the first whole records of a fixed size.
    pub fn records<const BYTES: usize>(&self) -> impl Iterator<Item = &'a [u8; BYTES]> {
        self.bytes.as_chunks::<BYTES>().0.iter().take(LOOKED_AT)
    }

    /// Returns whether the file may consist of records of this size, judged by its beginning.
    pub fn may_be_records_of(&self, bytes: usize) -> bool {
        self.bytes.len() >= bytes && (!self.is_whole || self.bytes.len().is_multiple_of(bytes))
    }
}
