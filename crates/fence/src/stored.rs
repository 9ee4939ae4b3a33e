//! The stored format of separators, for fences that read all separators when an SSTable is opened.
//!
//! ```text
//! tag [u8; 4] | count u32 | lengths u32 × count | separators, end to end | whatever the fence adds
//! ```
//! Separators are stored in full, so the separators never need more memory than their stored size.

use types::Bytes;

use crate::fence::{FenceError, TableView};
use crate::separators::Separators;

/// Four bytes that identify the fence variant that wrote the stored bytes.
pub(crate) type Tag = [u8; 4];

const U32: usize = size_of::<u32>();

/// Encodes the tag of a fence and its separators as stored bytes.
pub(crate) fn encode(tag: Tag, separators: &Separators) -> Vec<u8> {
    let mut stored = Vec::from(tag);
    stored.extend((separators.len() as u32).to_le_bytes());
    separators.iter().for_each(|separator| stored.extend((separator.len() as u32).to_le_bytes()));
    separators.iter().for_each(|separator| stored.extend(separator));
    stored
}

/// Reads all bytes that the fence of `table` stored with the tag `tag`. Returns one separator per block, and the
/// bytes after the separators.
///
/// # Errors
/// Returns an error if another fence wrote the bytes, if the number of separators differs from the number of blocks, if
/// the separators do not increase, if the stored bytes end before the last separator, or if reading fails.
pub(crate) fn read(tag: Tag, table: &dyn TableView) -> Result<(Separators, Bytes), FenceError> {
    let stored = table.read_stored(0..table.stored_bytes())?;
    let mut rest: &[u8] = &stored;
    let found = take(&mut rest, tag.len())?;
    if found != tag {
        return Err(corrupt(format!(
            "the stored fence begins with the tag \"{}\", expected \"{}\"; another variant may have \
             written the fence",
            found.escape_ascii(),
            tag.escape_ascii()
        )));
    }
    let count = u32s(take(&mut rest, U32)?).next().expect("a number in a stored fence must have four bytes");
    if count != table.block_count() || count == 0 {
        return Err(corrupt(format!(
            "the stored fence has {count} separators, but the SSTable has {} blocks",
            table.block_count()
        )));
    }
    let lengths = take(&mut rest, count as usize * U32)?;
    let mut separators = Separators::default();
    for length in u32s(lengths) {
        push_above(&mut separators, take(&mut rest, length as usize)?)?;
    }
    let read = stored.len() - rest.len();
    Ok((separators, stored.slice(read..stored.len())))
}

/// Appends a separator of a stored fence to `separators`.
///
/// # Errors
/// Returns an error if the separator is not above the previous separator.
pub(crate) fn push_above(separators: &mut Separators, separator: &[u8]) -> Result<(), FenceError> {
    if !separators.is_empty() && separators.get(separators.len() - 1) >= separator {
        return Err(corrupt(format!(
            "separator {} of the stored fence is not above the previous separator",
            separators.len()
        )));
    }
    separators.push(separator);
    Ok(())
}

/// Reads the separators that the fence of `table` stored with the tag `tag`. No other bytes may follow after the
/// separators.
///
/// # Errors
/// Returns the errors that [`read`] describes, and an error if more bytes follow.
pub(crate) fn read_separators(tag: Tag, table: &dyn TableView) -> Result<Separators, FenceError> {
    match read(tag, table)? {
        (separators, rest) if rest.is_empty() => Ok(separators),
        (_, rest) => Err(corrupt(format!("the stored fence has {} additional bytes at the end", rest.len()))),
    }
}

/// Removes `count` bytes from the start of `rest`, and returns the removed bytes.
///
/// # Errors
/// Returns an error if `rest` has fewer bytes.
pub(crate) fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], FenceError> {
    let (front, back) = rest.split_at_checked(count).ok_or_else(|| {
        corrupt(format!(
            "the stored fence is truncated: expected {count} more bytes, but only {} remain",
            rest.len()
        ))
    })?;
    *rest = back;
    Ok(front)
}

/// Iterates over the little-endian numbers in `bytes`. An incomplete number at the end is omitted.
pub(crate) fn u32s(bytes: &[u8]) -> impl ExactSizeIterator<Item = u32> {
    bytes.chunks_exact(U32).map(|number| {
        u32::from_le_bytes(number.try_into().expect("a number in a stored fence must have four bytes"))
    })
}

/// Creates the error for a stored fence whose bytes are corrupt. `what` describes the corruption.
pub(crate) fn corrupt(what: impl Into<String>) -> FenceError {
    FenceError::Corrupt(what.into())
}
