//! Combines reads of adjacent parts of a file into one call.

use types::Bytes;

use crate::storage::StorageError;

/// Reads several parts of a file, with one call of `read` for adjacent parts. A part is a pair of offset and length.
/// The result has one buffer or error per part, in the order of `parts`.
///
/// If a read of several parts fails, the function reads these parts separately, so that each part has its own result.
pub(crate) fn read_together(
    parts: &[(u64, usize)],
    read: impl Fn(u64, usize) -> Result<Bytes, StorageError>,
) -> Vec<Result<Bytes, StorageError>> {
    let follow = |before: &(u64, usize), behind: &(u64, usize)| {
        before.0.checked_add(before.1 as u64).is_some_and(|end| end == behind.0)
    };
    let mut answers = Vec::with_capacity(parts.len());
    for group in parts.chunk_by(follow) {
        let len = group.iter().fold(0usize, |len, part| len.saturating_add(part.1));
        match group {
            [_, _, ..] if let Ok(whole) = read(group[0].0, len) => {
                let mut at = 0;
                answers.extend(group.iter().map(|(_, len)| {
                    at += len;
                    Ok(Bytes::copy_from(&whole[at - len..at]))
                }));
            }
            _ => answers.extend(group.iter().map(|(offset, len)| read(*offset, *len))),
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io;

    use super::*;

    #[test]
    fn neighbours_take_one_call_and_failures_hit_whom_they_would_alone() {
        let calls = RefCell::new(Vec::new());
        let read = |offset: u64, len: usize| {
            calls.borrow_mut().push((offset, len));
            if offset.saturating_add(len as u64) > 100 {
                return Err(StorageError::new("read", "file", io::ErrorKind::UnexpectedEof.into()));
            }
            Ok(Bytes::copy_from(&(offset as u8..offset as u8 + len as u8).collect::<Vec<u8>>()))
        };
        let parts = [(10, 5), (15, 1), (16, 4), (30, 2), (90, 10), (100, 1), (u64::MAX, 1), (0, 3)];
        let answers = read_together(&parts, read);
        let expected = [(10, 10), (30, 2), (90, 11), (90, 10), (100, 1), (u64::MAX, 1), (0, 3)];
        assert_eq!(calls.into_inner(), expected);
        for ((offset, len), answer) in parts.iter().zip(answers) {
            match answer {
                Ok(bytes) => {
                    assert_eq!(&*bytes, (*offset as u8..*offset as u8 + *len as u8).collect::<Vec<u8>>());
                }
                Err(error) => assert!(*offset >= 100, "{error}"),
            }
        }
    }
}
