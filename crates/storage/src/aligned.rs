//! Memory whose address is aligned for direct I/O.

/// The alignment for direct I/O, in bytes. The offsets, lengths and addresses of direct reads and writes are multiples
/// of this number. Every device with sectors of 512 or 4096 bytes accepts this alignment.
pub(crate) const ALIGNMENT: usize = 4096;

/// Zeroed memory for direct I/O, whose address is a multiple of [`ALIGNMENT`].
pub(crate) struct AlignedBuffer {
    memory: Box<[u8]>,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    /// Creates a zeroed buffer of `len` bytes.
    pub(crate) fn new(len: usize) -> Self {
        let memory = vec![0; len + ALIGNMENT].into_boxed_slice();
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        Self { memory, start, len }
    }

    /// Returns the length of the buffer, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the content of the buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.start..][..self.len]
    }

    /// Returns the content of the buffer as a mutable slice.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..][..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_start_at_a_multiple() {
        for len in [0, 1, ALIGNMENT, 3 * ALIGNMENT, 1 << 20] {
            let mut buffer = AlignedBuffer::new(len);
            assert!(buffer.bytes().as_ptr().addr().is_multiple_of(ALIGNMENT));
            assert_eq!(buffer.bytes_mut().len(), len);
            assert_eq!(buffer.len(), len);
        }
    }
}
