//! Layout of the files of a store. The layout is parsed independently of the tree, so that corruption can target every
//! part, and the tests do not rely on the code under test.

use std::ops::Range;

/// Size of a WAL header in bytes: magic, number, checksum.
pub(crate) const LOG_HEADER_BYTES: usize = 20;

/// Size of the magic and version of a manifest in bytes.
pub(crate) const MANIFEST_MAGIC_BYTES: usize = 12;

/// Size of an SSTable footer in bytes: four sections of offset, length and checksum; version, checksum, magic.
const FOOTER_BYTES: usize = 4 * SECTION_BYTES + 16;
const SECTION_BYTES: usize = 20;

/// Kind of a file, derived from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FileKind {
    /// An SSTable.
    Table,
    /// A write-ahead log.
    Log,
    /// The manifest.
    Manifest,
    /// A file without user data: the lock, or a file that was set aside.
    Other,
}

impl FileKind {
    /// Kind of the file with that name.
    pub(crate) fn of(name: &str) -> Self {
        match name.rsplit_once('.') {
            _ if name.contains('/') => Self::Other,
            Some((_, "table")) => Self::Table,
            Some((_, "wal")) => Self::Log,
            None if name == "manifest" => Self::Manifest,
            _ => Self::Other,
        }
    }
}

/// A named part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Name of the part.
    pub(crate) name: &'static str,
    /// Byte range of the part.
    pub(crate) range: Range<usize>,
}

/// Parts of a file in order. Together they cover the complete file.
pub(crate) fn regions(kind: FileKind, bytes: &[u8]) -> Vec<Region> {
    let (names, cuts) = match kind {
        FileKind::Table => table_parts(bytes).unwrap_or_default(),
        FileKind::Log => (vec!["header", "records"], vec![LOG_HEADER_BYTES.min(bytes.len())]),
        FileKind::Manifest => {
            let last = last_manifest_record(bytes);
            (vec!["magic", "older records", "last record"], vec![MANIFEST_MAGIC_BYTES.min(last), last])
        }
        FileKind::Other => (vec!["whole"], Vec::new()),
    };
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(bytes.len()));
    let ranges = starts.zip(ends).map(|(start, end)| start..end);
    let regions = names.into_iter().zip(ranges).map(|(name, range)| Region { name, range });
    regions.filter(|region| !region.range.is_empty()).collect()
}

/// Offset of the last record of a manifest.
pub(crate) fn last_manifest_record(bytes: &[u8]) -> usize {
    let (mut at, mut last) = (MANIFEST_MAGIC_BYTES, MANIFEST_MAGIC_BYTES);
    while let Some(len) = bytes.get(at..at + 4) {
        last = at;
        at += 8 + u32::from_le_bytes(len.try_into().expect("four bytes")) as usize;
    }
    last.min(bytes.len())
}

/// Offset of the format version in a file.
pub(crate) fn version_at(kind: FileKind, bytes: &[u8]) -> Option<usize> {
    match kind {
        FileKind::Table => bytes.len().checked_sub(16),
        FileKind::Log => Some(7),
        FileKind::Manifest => Some(11),
        FileKind::Other => None,
    }
}

fn table_parts(bytes: &[u8]) -> Option<(Vec<&'static str>, Vec<usize>)> {
    let footer = bytes.len().checked_sub(FOOTER_BYTES)?;
    let offset = |section: usize| number(bytes, footer + section * SECTION_BYTES);
    let cuts = [offset(0)?, offset(1)?, offset(2)?, offset(3)?, footer];
    let names = vec!["blocks", "filter", "fence", "directory", "properties", "footer"];
    Some((names, cuts.to_vec()))
}

/// Smallest and largest key of an SSTable.
pub(crate) fn bounds(bytes: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let footer = bytes.len().checked_sub(FOOTER_BYTES)?;
    let mut at = number(bytes, footer + 3 * SECTION_BYTES)?;
    for _ in 0..5 {
        varint(bytes, &mut at)?;
    }
    let mut key = || {
        let len = varint(bytes, &mut at)?;
        at += len;
        Some(bytes.get(at - len..at)?.to_vec())
    };
    Some((key()?, key()?))
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?) as usize)
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
