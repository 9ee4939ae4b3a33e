//! The first data blocks of an SSTable, which its writer keeps as training data until the codec of the SSTable is
//! trained.

/// The first data blocks of an SSTable before compression, concatenated. A codec trains its dictionaries on them.
#[derive(Debug)]
pub(super) struct Samples {
    bytes: Vec<u8>,
    /// For each data block, the offset in the buffer at which the block ends.
    ends: Vec<usize>,
    wanted: usize,
}

impl Samples {
    /// Creates a buffer for training data, which is full after at least `wanted` bytes of data blocks. Returns `None`
    /// if `wanted` is 0, because the codec needs no training.
    pub(super) fn new(wanted: usize) -> Option<Self> {
        (wanted > 0).then(|| Self { bytes: Vec::new(), ends: Vec::new(), wanted })
    }

    /// Adds a data block to the training data. Returns whether there are enough bytes for the training.
    pub(super) fn add(&mut self, block: &[u8]) -> bool {
        self.bytes.extend_from_slice(block);
        self.ends.push(self.bytes.len());
        self.bytes.len() >= self.wanted
    }

    /// Returns the data blocks in the order in which they were added.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[*start..*end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_and_enough_is_enough() {
        assert!(Samples::new(0).is_none());
        let mut samples = Samples::new(5).unwrap();
        assert_eq!([&b"abc"[..], b"d", b"ef"].map(|block| samples.add(block)), [false, false, true]);
        assert_eq!(samples.blocks().collect::<Vec<_>>(), [&b"abc"[..], b"d", b"ef"]);
    }
}
