//! The footer of an SSTable. It is at the end of the file and contains the positions of all other parts.
//!
//! The length of the footer depends only on the optional sections of the SSTable: range tombstones, and marks of single
//! deletes.

use std::ops::Range;

use crate::checksum::checksum;
use crate::codec::Reader;

/// The size of a chunk of the fence section, in bytes. Each chunk has a separate checksum, so a page of the fence can
/// be read without the rest.
pub(super) const FENCE_CHUNK_BYTES: usize = 4096;

/// The length of the footer of an SSTable without optional sections, in bytes.
pub(super) const FOOTER_BYTES: usize = 4 * SECTION_BYTES + END_BYTES;

/// The length of the last three fields of the footer in bytes: the version, the checksum and the magic number.
const END_BYTES: usize = 4 + 4 + 8;

const SECTION_BYTES: usize = 8 + 8 + 4;

/// The last bytes of every SSTable.
const MAGIC: [u8; 8] = *b"lsmtable";

/// The version of an SSTable without optional sections. Each optional section adds a number to the version. The tree
/// rejects files with any other version.
const VERSION: u32 = 1;

/// The number that an SSTable with range tombstones adds to its version.
const RANGE_TOMBSTONES: u32 = 1;

/// The number that an SSTable with marks of single deletes adds to its version.
const SINGLE_MARKS: u32 = 2;

/// The version of an SSTable with all optional sections.
const LAST_VERSION: u32 = VERSION + RANGE_TOMBSTONES + SINGLE_MARKS;

/// The position and the checksum of one part of an SSTable, such as the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// The offset of the part in the file of the SSTable.
    pub(super) offset: u64,
    /// The length of the part of the SSTable, in bytes.
    pub(super) len: u64,
    /// The checksum of the part of the SSTable, as stored in the footer.
    pub(super) checksum: u32,
}

/// The positions of all parts of an SSTable, except the data blocks. The data blocks are before the filter. The fence
/// is before the data blocks or after the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footer {
    /// The position of the filter in the SSTable.
    pub(super) filter: Section,
    /// The position of the fence in the SSTable.
    pub(super) fence: Section,
    /// The position of the range tombstones in the SSTable. `None` if the SSTable has no range tombstones.
    pub(super) range_tombstones: Option<Section>,
    /// The position of the marks of single deletes in the SSTable. `None` if the SSTable has no marked entries.
    pub(super) single_marks: Option<Section>,
    /// The position of the block directory in the SSTable. The same section contains the checksums of the fence chunks,
    /// and the references to blob files if values are in blob files.
    pub(super) directory: Section,
    /// The position of the properties of the SSTable.
    pub(super) properties: Section,
}

impl Footer {
    /// Returns the footer as bytes. Its checksum also covers `offset`, the offset of the footer, and `seal`, a number
    /// that identifies the file and its store.
    pub(super) fn encode(&self, seal: u64, offset: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FOOTER_BYTES + 2 * SECTION_BYTES);
        for section in self.sections() {
            bytes.extend_from_slice(&section.offset.to_le_bytes());
            bytes.extend_from_slice(&section.len.to_le_bytes());
            bytes.extend_from_slice(&section.checksum.to_le_bytes());
        }
        bytes.extend_from_slice(&self.version().to_le_bytes());
        bytes.extend_from_slice(&checksum(seal, offset, &bytes).to_le_bytes());
        bytes.extend_from_slice(&MAGIC);
        bytes
    }

    /// Returns the format version of the SSTable, which identifies its optional sections.
    fn version(&self) -> u32 {
        let range_tombstones = if self.range_tombstones.is_some() { RANGE_TOMBSTONES } else { 0 };
        let single_marks = if self.single_marks.is_some() { SINGLE_MARKS } else { 0 };
        VERSION + range_tombstones + single_marks
    }

    /// Returns the length of the footer of an SSTable, in bytes. `end` contains the last [`FOOTER_BYTES`] of the file.
    pub(super) fn len(end: &[u8]) -> usize {
        let optional = version_of(end).saturating_sub(VERSION).count_ones() as usize;
        FOOTER_BYTES + optional * SECTION_BYTES
    }

    /// Verifies and decodes the footer of an SSTable. `offset` is the offset of the footer, and `seal` is the number
    /// that identifies the file and its store.
    ///
    /// # Errors
    /// The bytes are not a footer, are corrupt, have an unknown version, or refer to parts outside of the file.
    pub(super) fn decode(bytes: &[u8], seal: u64, offset: u64) -> Result<Self, String> {
        let (rest, magic) = bytes.split_last_chunk::<8>().ok_or("the SSTable is shorter than its footer")?;
        if *magic != MAGIC {
            return Err("the file is not an SSTable, or is truncated".to_owned());
        }
        let (covered, sum) = rest.split_last_chunk::<4>().ok_or("the SSTable is shorter than its footer")?;
        if bytes.len() != Self::len(bytes) || checksum(seal, offset, covered) != u32::from_le_bytes(*sum) {
            return Err(
                "the footer of the SSTable is corrupt, or the file was renamed or copied from another store"
                    .to_owned(),
            );
        }
        let version =
            u32::from_le_bytes(*covered.last_chunk().ok_or("the footer of the SSTable is too short")?);
        if version_of(bytes) != version {
            return Err(format!(
                "the SSTable has format version {version}; this program reads versions {VERSION} to \
                 {LAST_VERSION}"
            ));
        }
        let footer = Self::read(bytes).ok_or("the footer of the SSTable is too short")?;
        footer.check(offset).map(|()| footer)
    }

    /// Recomputes the checksums in the footer of an SSTable, so that fuzzing reaches the code after the checksum
    /// verification. `at` is the offset of the footer, and `seal` is the number that identifies the file and its store.
    /// Parts that extend beyond the file keep their checksums.
    pub(super) fn reseal(file: &mut [u8], at: usize, seal: u64) {
        let sections = Self::read(&file[at..]).map(|footer| footer.sections());
        for (number, section) in sections.into_iter().flatten().enumerate() {
            let part = file.get(section.offset as usize..).and_then(|rest| rest.get(..section.len as usize));
            if let Some(sum) = part.map(|part| checksum(seal, section.offset, part)) {
                let end = at + (number + 1) * SECTION_BYTES;
                file[end - 4..end].copy_from_slice(&sum.to_le_bytes());
            }
        }
        let end = file.len() - END_BYTES + 4;
        let sum = checksum(seal, at as u64, &file[at..end]);
        file[end..end + 4].copy_from_slice(&sum.to_le_bytes());
    }

    /// Reads the positions of the parts of an SSTable from its footer, without verification. Returns `None` if `bytes`
    /// is too short.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let optional = version_of(bytes) - VERSION;
        let mut reader = Reader::new(bytes);
        let mut section =
            || Some(Section { offset: reader.u64()?, len: reader.u64()?, checksum: reader.u32()? });
        Some(Self {
            filter: section()?,
            fence: section()?,
            range_tombstones: if optional & RANGE_TOMBSTONES > 0 { Some(section()?) } else { None },
            single_marks: if optional & SINGLE_MARKS > 0 { Some(section()?) } else { None },
            directory: section()?,
            properties: section()?,
        })
    }

    /// Returns the byte range of the data blocks in the SSTable, including padding before the first block. The range
    /// ends at the filter. If the fence is before the filter, the range begins at the end of the fence.
    pub(super) fn blocks(&self) -> Range<u64> {
        let Section { offset, len, .. } = self.fence;
        let start = if offset < self.filter.offset { offset.saturating_add(len) } else { 0 };
        start..self.filter.offset
    }

    /// Returns the positions of all parts of the SSTable, in the order of the footer.
    pub(super) fn sections(&self) -> Vec<Section> {
        let first = [self.filter, self.fence].into_iter();
        let optional = self.range_tombstones.into_iter().chain(self.single_marks);
        first.chain(optional).chain([self.directory, self.properties]).collect()
    }

    /// Checks that the parts of the SSTable do not overlap, and that all parts are before the footer.
    fn check(&self, footer_offset: u64) -> Result<(), String> {
        // The blocks end where the filter begins. Only the fence may precede the blocks.
        let is_after_blocks = |section: &Section| section.offset >= self.filter.offset;
        let optional = self.range_tombstones.into_iter().chain(self.single_marks);
        let mut others = [self.directory, self.properties].into_iter().chain(optional);
        let is_fence_placed = self.fence.offset == 0 || is_after_blocks(&self.fence);
        if !is_fence_placed || !others.all(|section| is_after_blocks(&section)) {
            return Err("the footer of the SSTable refers to parts inside of the data blocks".to_owned());
        }
        let mut end = 0;
        let mut sections = self.sections();
        sections.sort_by_key(|section| section.offset);
        for section in sections {
            let section_end = section.offset.checked_add(section.len);
            match section_end {
                Some(next) if section.offset >= end && next <= footer_offset => end = next,
                _ => return Err("the footer of the SSTable refers to parts outside of the file".to_owned()),
            }
        }
        Ok(())
    }
}

/// Returns the format version in the footer of an SSTable. `end` ends with the footer. For an unknown version, returns
/// [`VERSION`], the version without optional sections.
fn version_of(end: &[u8]) -> u32 {
    let version = end.len().checked_sub(END_BYTES).and_then(|at| end[at..].first_chunk());
    let version = version.map_or(VERSION, |version| u32::from_le_bytes(*version));
    if (VERSION..=LAST_VERSION).contains(&version) { version } else { VERSION }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_refused_though_its_checksum_is_right() {
        let section = Section { offset: 9, len: 0, checksum: 7 };
        let footer = Footer {
            filter: section,
            fence: section,
            range_tombstones: None,
            single_marks: None,
            directory: section,
            properties: section,
        };
        let mut bytes = footer.encode(5, 140);
        assert_eq!(Footer::decode(&bytes, 5, 140), Ok(footer));
        let at = 4 * SECTION_BYTES;
        bytes[at] += 4;
        let sum = checksum(5, 140, &bytes[..at + 4]).to_le_bytes();
        bytes[at + 4..at + 8].copy_from_slice(&sum);
        assert!(Footer::decode(&bytes, 5, 140).unwrap_err().contains("this program reads versions 1 to 4"));
    }

    #[test]
    fn every_flipped_bit_is_found_out() {
        let optional = Section { offset: 128, len: 0, checksum: 7 };
        for (range_tombstones, single_marks, sections) in [
            (None, None, 0),
            (Some(optional), None, 1),
            (None, Some(optional), 1),
            (Some(optional), Some(optional), 2),
        ] {
            check_every_bit(range_tombstones, single_marks, FOOTER_BYTES + sections * SECTION_BYTES);
        }
    }

    fn check_every_bit(range_tombstones: Option<Section>, single_marks: Option<Section>, len: usize) {
        let section = |offset, len| Section { offset, len, checksum: 7 };
        let footer = Footer {
            filter: section(100, 20),
            fence: section(128, 0),
            range_tombstones,
            single_marks,
            directory: section(128, 9),
            properties: section(137, 3),
        };
        let bytes = footer.encode(5, 140);
        assert_eq!((bytes.len(), Footer::len(&bytes[len - FOOTER_BYTES..])), (len, len));
        assert_eq!(Footer::decode(&bytes, 5, 140), Ok(footer));
        assert!(Footer::decode(&bytes, 6, 140).is_err());
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(Footer::decode(&damaged, 5, 140).is_err(), "byte {at} bit {bit}");
            }
            assert!(Footer::decode(&bytes[..at], 5, 140).is_err());
        }
    }
}
