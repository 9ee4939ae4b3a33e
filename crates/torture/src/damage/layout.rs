//! Parses the layout of the files of a store without code of the tree, so that corruption can target every part of a
//! file.

use std::ops::Range;
use std::path::Path;

/// The folder to which a store moves corrupted files in quarantine mode.
pub(crate) const QUARANTINE: &str = "quarantine";

/// The size of the header of a WAL, in bytes: magic number, file number and checksum.
pub(crate) const LOG_HEADER_BYTES: usize = 20;

/// The size of the magic number and the version at the start of a manifest, in bytes.
pub(crate) const MANIFEST_MAGIC_BYTES: usize = 12;

/// The size of the entry for one section in the footer of an SSTable, in bytes: offset, length and checksum.
const SECTION_BYTES: usize = 20;

/// The size of the end of the footer of an SSTable, in bytes: version, checksum and magic number.
const FOOTER_END_BYTES: usize = 16;

/// The size of the footer of a blob file, in bytes: records, bytes, partition, checksum and magic number.
const BLOB_FOOTER_BYTES: usize = 32;

/// The kind of a file of a store, which follows from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FileKind {
    /// An SSTable.
    Table,
    /// The filter of an SSTable, in a separate file.
    Filter,
    /// A write-ahead log.
    Log,
    /// A blob file.
    Blob,
    /// The manifest.
    Manifest,
    /// A file without user data: the lock file, or a file in the quarantine.
    Other,
}

impl FileKind {
    /// Returns the kind of the file with the path `path`, relative to the directory of the store.
    pub(crate) fn of(path: &str) -> Self {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        match name.rsplit_once('.') {
            _ if Path::new(folder).ends_with(QUARANTINE) => Self::Other,
            Some((_, "table" | "bin" | "sst")) => Self::Table,
            Some((_, "filter")) => Self::Filter,
            Some((_, "wal")) => Self::Log,
            Some((_, "blob")) => Self::Blob,
            None if name == "manifest" => Self::Manifest,
            _ => Self::Other,
        }
    }
}

/// A named part of a file of a store, such as a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// The name of this part of the file, such as a section or a header.
    pub(crate) name: &'static str,
    /// The byte range of the part within its file.
    pub(crate) range: Range<usize>,
}

/// Returns the parts of a file in order. Together, the parts cover the complete file.
pub(crate) fn regions(kind: FileKind, bytes: &[u8]) -> Vec<Region> {
    let (names, cuts) = match kind {
        FileKind::Table => table_parts(bytes).unwrap_or_default(),
        FileKind::Log => (vec!["header", "records"], vec![LOG_HEADER_BYTES.min(bytes.len())]),
        FileKind::Manifest => {
            let last = last_manifest_record(bytes);
            (vec!["magic", "older records", "last record"], vec![MANIFEST_MAGIC_BYTES.min(last), last])
        }
        FileKind::Blob => (vec!["records", "footer"], vec![bytes.len().saturating_sub(BLOB_FOOTER_BYTES)]),
        FileKind::Filter | FileKind::Other => (vec!["whole"], Vec::new()),
    };
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(bytes.len()));
    let ranges = starts.zip(ends).map(|(start, end)| start..end);
    let regions = names.into_iter().zip(ranges).map(|(name, range)| Region { name, range });
    regions.filter(|region| !region.range.is_empty()).collect()
}

/// Returns the offset of the last record of a manifest.
pub(crate) fn last_manifest_record(bytes: &[u8]) -> usize {
    let (mut at, mut last) = (MANIFEST_MAGIC_BYTES, MANIFEST_MAGIC_BYTES);
    while let Some(len) = bytes.get(at..at + 4) {
        last = at;
        at += 8 + u32::from_le_bytes(len.try_into().expect("four bytes")) as usize;
    }
    last.min(bytes.len())
}

/// Returns the offset of the byte that contains the format version of a file. Returns `None` if the file has no
/// version.
pub(crate) fn version_at(kind: FileKind, bytes: &[u8]) -> Option<usize> {
    match kind {
        FileKind::Table => bytes.len().checked_sub(16),
        FileKind::Blob => bytes.len().checked_sub(1),
        FileKind::Log => Some(7),
        FileKind::Manifest => Some(11),
        FileKind::Filter | FileKind::Other => None,
    }
}

fn table_parts(bytes: &[u8]) -> Option<(Vec<&'static str>, Vec<usize>)> {
    let Sections { footer, names: optional } = footer_of(bytes)?;
    let sections = SECTIONS + optional.len();
    let offset = |section: usize| number(bytes, footer + section * SECTION_BYTES);
    let mut cuts = (0..sections).map(offset).collect::<Option<Vec<usize>>>()?;
    cuts.push(footer);
    let mut names = vec!["blocks", "filter", "fence", "directory", "properties", "footer"];
    names.splice(3..3, optional);
    if cuts[1] < cuts[0] {
        // The fence pointers are before the blocks, and the blocks end where the filter begins.
        let fence = number(bytes, footer + SECTION_BYTES + 8)?;
        cuts[1] += fence;
        cuts.swap(0, 1);
        names[..3].copy_from_slice(&["fence", "blocks", "filter"]);
    }
    Some((names, cuts))
}

/// The number of sections that every SSTable has.
const SECTIONS: usize = 4;

/// The name of the optional section with the range tombstones.
const RANGE_TOMBSTONES: &str = "range tombstones";

/// The offset of the footer of an SSTable, and the names of its optional sections. The format version determines which
/// optional sections an SSTable has.
struct Sections {
    footer: usize,
    names: Vec<&'static str>,
}

fn footer_of(bytes: &[u8]) -> Option<Sections> {
    let end = bytes.len().checked_sub(FOOTER_END_BYTES)?;
    let version = u32::from_le_bytes(bytes[end..end + 4].try_into().ok()?);
    let names = match version {
        2 => vec![RANGE_TOMBSTONES],
        3 => vec!["marks"],
        4 => vec![RANGE_TOMBSTONES, "marks"],
        _ => Vec::new(),
    };
    Some(Sections { footer: end.checked_sub((SECTIONS + names.len()) * SECTION_BYTES)?, names })
}

/// Returns the smallest and the largest key of an SSTable, including its range tombstones.
pub(crate) fn bounds(bytes: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let Sections { footer, names } = footer_of(bytes)?;
    let mut at = number(bytes, footer + (SECTIONS + names.len() - 1) * SECTION_BYTES)?;
    for _ in 0..5 {
        varint(bytes, &mut at)?;
    }
    let (mut smallest, mut largest) = (key(bytes, &mut at)?, key(bytes, &mut at)?);
    if names.first() == Some(&RANGE_TOMBSTONES) {
        let mut at = number(bytes, footer + 2 * SECTION_BYTES)?;
        for _ in 0..varint(bytes, &mut at)? {
            smallest = smallest.min(key(bytes, &mut at)?);
            largest = largest.max(key(bytes, &mut at)?);
        }
    }
    Some((smallest, largest))
}

/// Reads a key with its length prefix, and advances `at` past the key.
fn key(bytes: &[u8], at: &mut usize) -> Option<Vec<u8>> {
    let len = varint(bytes, at)?;
    *at += len;
    Some(bytes.get(*at - len..*at)?.to_vec())
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
