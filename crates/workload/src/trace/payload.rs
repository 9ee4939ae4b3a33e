//! Parser of the fields of binary records in the encoding of RocksDB.

/// Reader of the fields in the payload of a binary record, in the encoding of RocksDB.
pub(super) struct Payload<'a> {
    bytes: &'a [u8],
}

impl<'a> Payload<'a> {
    /// Creates a reader of the fields in `bytes`, the payload of one binary record.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns whether all bytes of the payload were read.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns all bytes that were not read yet.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }

    /// Returns the next `bytes` bytes of the record. `what` names the field of the record in the error message.
    pub(super) fn take(&mut self, bytes: usize, what: &str) -> Result<&'a [u8], String> {
        let Some((taken, rest)) = self.bytes.split_at_checked(bytes) else {
            return Err(format!("the record ends inside of {what}"));
        };
        self.bytes = rest;
        Ok(taken)
    }

    /// Returns the next byte of the record. `what` names the field of the record in the error message.
    pub(super) fn byte(&mut self, what: &str) -> Result<u8, String> {
        self.take(1, what).map(|taken| taken[0])
    }

    /// Returns the next four bytes of the record as a little-endian number. `what` is the name of the field.
    pub(super) fn u32(&mut self, what: &str) -> Result<u32, String> {
        let taken = self.take(4, what)?;
        Ok(u32::from_le_bytes(taken.try_into().expect("`take` must return the four requested bytes")))
    }

    /// Returns the next eight bytes of the record as a little-endian number. `what` is the name of the field.
    pub(super) fn u64(&mut self, what: &str) -> Result<u64, String> {
        let taken = self.take(8, what)?;
        Ok(u64::from_le_bytes(taken.try_into().expect("`take` must return the eight requested bytes")))
    }

    /// Returns the next number of the record, in the variable-length encoding of RocksDB. Each byte contains 7 bits of
    /// the number, and the first byte contains the lowest bits.
    pub(super) fn varint(&mut self, what: &str) -> Result<u32, String> {
        let mut number = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte(what)?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return u32::try_from(number).map_err(|_| format!("{what} does not fit into 32 bits"));
            }
        }
        Err(format!("the encoding of {what} has more than 5 bytes, the maximum for a number of 32 bits"))
    }

    /// Returns the next byte string of the record, which begins with its length. `what` is the name of the field.
    pub(super) fn prefixed(&mut self, what: &str) -> Result<&'a [u8], String> {
        let length = self.varint(what)?;
        self.take(length as usize, what)
    }
}
