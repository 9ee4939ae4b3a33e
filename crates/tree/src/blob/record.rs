//! Records and footers of blob files.

use std::ops::Range;

use types::{MAX_KEY_BYTES, MAX_VALUE_BYTES};

use crate::checksum::checksum;
use crate::codec::Reader;

/// The number of bytes in a blob file record before its key: the checksum and the lengths of key and value.
pub(super) const HEAD_BYTES: usize = 4 + 4 + 4;

/// The length of the footer of a blob file, in bytes.
pub const FOOTER_BYTES: usize = 8 + 8 + 4 + 4 + MAGIC.len();

/// The last bytes of every blob file, which identify the kind of file and the version of its format.
const MAGIC: [u8; 8] = *b"lsmblob1";

/// The length in bytes of the checksum of a blob file record.
const SUM_BYTES: usize = 4;

/// Returns the length in bytes of a blob file record whose key and value have the given lengths.
pub fn record_bytes(key_bytes: usize, value_bytes: u64) -> u64 {
    ((HEAD_BYTES + key_bytes) as u64).saturating_add(value_bytes)
}

/// Appends a blob file record to `out`. Its checksum also covers the `offset` of the record, and `seal`, a number that
/// identifies the file and its store.
pub(super) fn append(out: &mut Vec<u8>, seal: u64, offset: u64, key: &[u8], value: &[u8]) {
    let start = out.len();
    out.extend_from_slice(&[0; SUM_BYTES]);
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    out.extend_from_slice(key);
    out.extend_from_slice(value);
    let sum = checksum(seal, offset, &out[start + SUM_BYTES..]);
    out[start..start + SUM_BYTES].copy_from_slice(&sum.to_le_bytes());
}

/// The byte ranges of the key and the value in a blob file record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

impl Record {
    /// Decodes the lengths at the start of a blob file record. `bytes` may extend beyond the record. Returns `None` if
    /// the lengths are impossible.
    pub(super) fn of_head(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let (_, key, value) = (reader.u32()?, reader.u32()? as usize, reader.u32()? as usize);
        let key_end = HEAD_BYTES + key;
        let fits = key <= MAX_KEY_BYTES && value <= MAX_VALUE_BYTES + MAX_KEY_BYTES;
        fits.then_some(Self { key: HEAD_BYTES..key_end, value: key_end..key_end + value })
    }

    /// Verifies and decodes a blob file record. `bytes` is the complete record, `offset` is its offset in the blob
    /// file, and `seal` is the number that identifies the file and its store.
    pub(super) fn decode(bytes: &[u8], seal: u64, offset: u64) -> Result<Self, &'static str> {
        let record = Self::of_head(bytes).filter(|record| record.value.end == bytes.len());
        let (sum, covered) =
            bytes.split_first_chunk::<SUM_BYTES>().ok_or("the record in the blob file has no checksum")?;
        match record {
            Some(record) if checksum(seal, offset, covered) == u32::from_le_bytes(*sum) => Ok(record),
            _ => Err("the record in the blob file does not match its checksum"),
        }
    }
}

/// The footer of a blob file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footer {
    /// The number of records in the blob file.
    pub(super) records: u64,
    /// The total length of all records in the blob file, in bytes. The footer begins at this offset.
    pub(super) bytes: u64,
    /// The partition of the blob file. The value policy divides keys by their hashes into partitions, and all keys of
    /// the file belong to one partition. 0 if the value policy has only one partition.
    pub(super) partition: u32,
}

impl Footer {
    /// Returns the footer of a blob file as bytes. Its checksum also covers `seal`, a number that identifies the file
    /// and its store.
    pub(super) fn encode(&self, seal: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(FOOTER_BYTES);
        out.extend_from_slice(&self.records.to_le_bytes());
        out.extend_from_slice(&self.bytes.to_le_bytes());
        out.extend_from_slice(&self.partition.to_le_bytes());
        out.extend_from_slice(&checksum(seal, self.bytes, &out).to_le_bytes());
        out.extend_from_slice(&MAGIC);
        out
    }

    /// Verifies and decodes the footer of a blob file. `offset` is the offset of the footer, and `seal` is the number
    /// that identifies the file and its store.
    pub(super) fn decode(bytes: &[u8], seal: u64, offset: u64) -> Result<Self, &'static str> {
        let Some(rest) = bytes.strip_suffix(&MAGIC) else {
            return Err("the file is not a blob file, or is truncated");
        };
        let mut reader = Reader::new(rest);
        let mut read =
            || Some(Self { records: reader.u64()?, bytes: reader.u64()?, partition: reader.u32()? });
        let (footer, sum) = (read(), reader.u32());
        match footer {
            Some(footer)
                if footer.bytes == offset
                    && reader.is_at_end()
                    && sum == Some(checksum(seal, offset, &rest[..rest.len() - SUM_BYTES])) =>
            {
                Ok(footer)
            }
            _ => {
                Err("the footer of the blob file is corrupt, or the file was renamed or copied from another \
                 store")
            }
        }
    }
}

/// Recomputes the checksums of all records and of the footer of a blob file, so that fuzzing reaches the code after the
/// checksum verification. `seal` is the number that identifies the file and its store. A record with impossible lengths
/// and all later records keep their checksums. See [`crate::reseal`].
pub(crate) fn reseal(bytes: &mut [u8], seal: u64) {
    let Some(footer_at) = bytes.len().checked_sub(FOOTER_BYTES) else { return };
    let mut at = 0;
    while let Some(record) = Record::of_head(&bytes[at..footer_at]) {
        let end = at + record.value.end;
        if end > footer_at {
            break;
        }
        let sum = checksum(seal, at as u64, &bytes[at + SUM_BYTES..end]);
        bytes[at..at + SUM_BYTES].copy_from_slice(&sum.to_le_bytes());
        at = end;
    }
    let sum_at = bytes.len() - MAGIC.len() - SUM_BYTES;
    let sum = checksum(seal, footer_at as u64, &bytes[footer_at..sum_at]);
    bytes[sum_at..sum_at + SUM_BYTES].copy_from_slice(&sum.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_of_a_record_is_found_out() {
        let mut bytes = Vec::new();
        append(&mut bytes, 9, 4096, b"key", b"value");
        assert_eq!(bytes.len() as u64, record_bytes(3, 5));
        let record = Record::decode(&bytes, 9, 4096).unwrap();
        assert_eq!((&bytes[record.key], &bytes[record.value]), (&b"key"[..], &b"value"[..]));
        assert!(Record::decode(&bytes, 8, 4096).is_err() && Record::decode(&bytes, 9, 4095).is_err());
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(Record::decode(&damaged, 9, 4096).is_err(), "byte {at} bit {bit}");
            }
            assert!(Record::decode(&bytes[..at], 9, 4096).is_err());
        }
    }

    #[test]
    fn every_flipped_bit_of_a_footer_is_found_out() {
        let footer = Footer { records: 3, bytes: 700, partition: 2 };
        let bytes = footer.encode(5);
        assert_eq!(Footer::decode(&bytes, 5, 700), Ok(footer));
        assert!(Footer::decode(&bytes, 6, 700).is_err() && Footer::decode(&bytes, 5, 701).is_err());
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(Footer::decode(&damaged, 5, 700).is_err(), "byte {at} bit {bit}");
            }
            assert!(Footer::decode(&bytes[..at], 5, 700).is_err());
        }
    }

    #[test]
    fn a_resealed_file_has_right_checksums() {
        let mut bytes = Vec::new();
        for (key, value) in [(&b"a"[..], &b"first"[..]), (b"b", b"")] {
            let offset = bytes.len() as u64;
            append(&mut bytes, 9, offset, key, value);
        }
        let data = bytes.len();
        bytes.extend(Footer { records: 2, bytes: data as u64, partition: 0 }.encode(9));
        let whole = bytes.clone();
        bytes[HEAD_BYTES + 2] ^= 1;
        bytes[data] ^= 8;
        reseal(&mut bytes, 9);
        let first = record_bytes(1, 5) as usize;
        assert!(Record::decode(&bytes[..first], 9, 0).is_ok());
        assert_eq!(
            Footer::decode(&bytes[data..], 9, data as u64),
            Ok(Footer { records: 10, bytes: data as u64, partition: 0 })
        );
        reseal(&mut whole.clone(), 9);
        (0..whole.len()).for_each(|len| reseal(&mut whole[..len].to_vec(), 9));
    }
}
