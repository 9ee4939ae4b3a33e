//! Encoding of numbers and byte strings in the tree's files. Decoding checks every length.

/// Appends `number` as a varint: seven bits per byte, lowest bits first. The high bit of a byte is set if another byte
/// follows.
#[inline]
pub(crate) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the length of `bytes` and then `bytes`.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads a varint at the offset `at`. Returns the number and the offset after the varint. Returns `None` if the bytes
/// end early or the number does not fit in 64 bits.
#[inline]
pub(crate) fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    if first < 0x80 {
        return Some((u64::from(first), at + 1));
    }
    let second = *bytes.get(at + 1)?;
    if second < 0x80 {
        return Some((u64::from(first & 0x7f) | u64::from(second) << 7, at + 2));
    }
    long_varint(bytes, at)
}

#[inline(never)]
fn long_varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut number = 0u64;
    for (index, byte) in bytes[at..].iter().take(10).enumerate() {
        let group = u64::from(byte & 0x7f);
        if index == 9 && group > 1 {
            return None;
        }
        number |= group << (7 * index);
        if byte & 0x80 == 0 {
            return Some((number, at + index + 1));
        }
    }
    None
}

/// A reader of numbers and byte strings from the front of a slice. Every read past the end of the slice returns
/// `None`.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader that begins at the first byte of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the number of bytes that the reader has read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Returns whether the reader has read all bytes.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Reads a varint, a number with seven bits per byte.
    pub(crate) fn varint(&mut self) -> Option<u64> {
        let (number, end) = varint(self.bytes, self.at)?;
        self.at = end;
        Some(number)
    }

    /// Reads the next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(len)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    /// Reads the length of a byte string, and then the byte string.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.varint()?).ok()?;
        self.take(len)
    }

    /// Reads the length of a byte string, and then the byte string as UTF-8 text.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// Reads one byte.
    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|taken| taken[0])
    }

    /// Reads a 32-bit little-endian number.
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take(4)
            .map(|taken| u32::from_le_bytes(taken.try_into().expect("the reader must return 4 bytes")))
    }

    /// Reads a 64-bit little-endian number.
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take(8)
            .map(|taken| u64::from_le_bytes(taken.try_into().expect("the reader must return 8 bytes")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_read_back_and_refuse_what_is_none() {
        for number in [0, 1, 127, 128, 300, 1 << 35, u64::MAX - 1, u64::MAX] {
            let mut bytes = vec![9];
            put_varint(&mut bytes, number);
            assert_eq!(varint(&bytes, 1), Some((number, bytes.len())));
            for cut in 1..bytes.len() {
                assert_eq!(varint(&bytes[..cut], 1), None);
            }
        }
        assert_eq!(varint(&[0x80; 11], 0), None);
        assert_eq!(varint(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2], 0), None, "65 bits");
        assert_eq!(varint(&[], 5), None);
    }

    #[test]
    fn a_reader_never_leaves_its_bytes() {
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, b"key");
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.bytes(), Some(&b"key"[..]));
        assert!(reader.is_at_end());
        assert_eq!(reader.byte(), None);
        let mut lying = Vec::new();
        put_varint(&mut lying, u64::MAX);
        assert_eq!(Reader::new(&lying).bytes(), None);
    }
}
