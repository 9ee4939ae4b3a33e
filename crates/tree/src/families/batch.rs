//! Write batches with operations in several column families.

use types::MAX_BATCH_BYTES;

use crate::batch::WriteBatch;
use crate::error::{Error, Result};

/// The number of a column family in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FamilyId(pub(super) usize);

/// A write batch over several column families, which the store applies atomically.
#[derive(Clone, Debug, Default)]
pub struct FamilyBatch {
    /// The operations of each column family. Each family occurs at most once.
    parts: Vec<(FamilyId, WriteBatch)>,
}

impl FamilyBatch {
    /// Creates an empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the operations for one column family, to which the caller can add further operations.
    pub fn of(&mut self, family: FamilyId) -> &mut WriteBatch {
        let place = self.parts.iter().position(|(other, _)| *other == family).unwrap_or_else(|| {
            self.parts.push((family, WriteBatch::new()));
            self.parts.len() - 1
        });
        &mut self.parts[place].1
    }

    /// Returns the operations of each column family that the batch changes, with the number of the family.
    pub(super) fn parts(&self) -> Result<Vec<(usize, &WriteBatch)>> {
        parts(self.parts.iter().map(|(family, batch)| (*family, batch)))
    }
}

/// Returns the non-empty batches, each with the number of its column family.
///
/// # Errors
/// If the batches together are longer than `MAX_BATCH_BYTES`.
pub(super) fn parts<'b>(
    batches: impl Iterator<Item = (FamilyId, &'b WriteBatch)> + Clone,
) -> Result<Vec<(usize, &'b WriteBatch)>> {
    let bytes: usize = batches.clone().map(|(_, batch)| batch.encoded().len()).sum();
    if bytes > MAX_BATCH_BYTES {
        return Err(Error::BatchTooLong(bytes));
    }
    Ok(batches.filter(|(_, batch)| !batch.is_empty()).map(|(family, batch)| (family.0, batch)).collect())
}
