//! Recomputes the checksums of a changed SSTable, so that fuzzing reaches the code after the checksum verification.

use super::directory::Directory;
use super::footer::FENCE_CHUNK_BYTES;
use super::footer::{FOOTER_BYTES, Footer};
use super::properties::Properties;
use crate::checksum::{block_checksum, checksum};
use crate::codec::Reader;

const SUM_BYTES: usize = size_of::<u32>();

/// Recomputes the checksums of an SSTable, as far as their positions can be determined. All other bytes of the file
/// stay unchanged. Every checksum covers `seal`, a number that identifies the file and its store.
pub(crate) fn reseal(bytes: &mut [u8], seal: u64) {
    let Some(end_at) = bytes.len().checked_sub(FOOTER_BYTES) else { return };
    let footer_bytes = Footer::len(&bytes[end_at..]);
    let Some(footer_at) = bytes.len().checked_sub(footer_bytes) else { return };
    let Some(footer) = Footer::read(&bytes[footer_at..]) else { return };
    // The order matters: the directory contains the checksums of the fence, and the footer contains the checksum of
    // the directory.
    let _ = reseal_blocks(bytes, &footer, seal);
    let _ = reseal_fence(bytes, &footer, seal);
    Footer::reseal(bytes, footer_at, seal);
}

/// Returns `len` bytes of an SSTable from `offset` on. Returns `None` if the file ends before these bytes.
fn part(bytes: &[u8], offset: u64, len: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(offset).ok()?..)?.get(..usize::try_from(len).ok()?)
}

fn reseal_blocks(bytes: &mut [u8], footer: &Footer, seal: u64) -> Option<()> {
    let properties = Properties::decode(part(bytes, footer.properties.offset, footer.properties.len)?)?;
    let directory = part(bytes, footer.directory.offset, footer.directory.len)?;
    let directory = Directory::decode(&mut Reader::new(directory), footer.blocks())?;
    for place in (0..directory.len()).map_while(|block| directory.place(block)) {
        let block = bytes.get_mut(place.offset as usize..)?.get_mut(..place.len)?;
        let (covered, sum) = block.split_at_mut(place.len.checked_sub(SUM_BYTES)?);
        sum.copy_from_slice(&block_checksum(properties.checksum, seal, place.offset, covered).to_le_bytes());
    }
    Some(())
}

fn reseal_fence(bytes: &mut [u8], footer: &Footer, seal: u64) -> Option<()> {
    let section = part(bytes, footer.directory.offset, footer.directory.len)?;
    let mut reader = Reader::new(section);
    Directory::decode(&mut reader, footer.blocks())?;
    reader.varint()?;
    let sums_at = usize::try_from(footer.directory.offset).ok()? + reader.position();
    let fence = part(bytes, footer.fence.offset, footer.fence.len)?;
    let pieces = fence.chunks(FENCE_CHUNK_BYTES).zip(0u64..);
    let sum =
        |(piece, number)| checksum(seal, footer.fence.offset + number * FENCE_CHUNK_BYTES as u64, piece);
    let sums: Vec<u8> = pieces.flat_map(|piece| sum(piece).to_le_bytes()).collect();
    bytes.get_mut(sums_at..)?.get_mut(..sums.len())?.copy_from_slice(&sums);
    Some(())
}
