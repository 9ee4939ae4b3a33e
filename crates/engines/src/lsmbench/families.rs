//! Implements a store of lsmbench whose column families are separate trees.

use std::path::Path;

use tree::{Families, Family, Mode};
use types::valid_names;
use workload::{Scan, Target, TargetError, Write};

use super::{calls, readings};
use crate::stats::EngineStats;
use crate::store::Store;

/// An open store whose column families are separate trees.
pub(super) struct FamiliesStore {
    families: Families,
    mode: Mode,
}

impl FamiliesStore {
    pub(super) fn new(families: Families, mode: Mode) -> Self {
        Self { families, mode }
    }

    /// Returns the error of an operation that must name a column family but names none. The error lists the families.
    fn unnamed<T>(&self) -> Result<T, TargetError> {
        let valid = valid_names(self.families.names());
        Err(format!("the operation must name a column family. {valid}").into())
    }
}

/// The operations on the whole store. An operation on a key is an error, because only the operations of a
/// [family](Store::family) can name the column family of the key.
impl Target for FamiliesStore {
    fn put(&self, _: &[u8], _: &[u8]) -> Result<(), TargetError> {
        self.unnamed()
    }

    fn get(&self, _: &[u8], _: &mut Vec<u8>) -> Result<bool, TargetError> {
        self.unnamed()
    }

    fn delete(&self, _: &[u8]) -> Result<(), TargetError> {
        self.unnamed()
    }

    fn range(&self, _: &Scan<'_>, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        self.unnamed()
    }

    fn write(&self, _: &[Write<'_>]) -> Result<(), TargetError> {
        self.unnamed()
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(self.families.flush()?)
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(self.families.settle()?)
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(self.families.sync()?)
    }
}

impl Store for FamiliesStore {
    fn version(&self) -> Option<String> {
        Some(env!("CARGO_PKG_VERSION").to_owned())
    }

    fn stats(&self) -> EngineStats {
        readings::of_store(&self.families.stats(), self.mode, self.families.design())
    }

    fn compact(&self) -> Option<Result<(), TargetError>> {
        Some(self.families.compact().map_err(Into::into))
    }

    fn checkpoint(&self, directory: &Path) -> Option<Result<(), TargetError>> {
        Some(self.families.checkpoint(directory).map_err(Into::into))
    }

    fn family<'s>(&'s self, name: &str) -> Option<Box<dyn Target + 's>> {
        let family = self.families.family(name)?;
        Some(Box::new(FamilyOfStore { family, store: self }))
    }

    fn end(self: Box<Self>) -> Result<(), TargetError> {
        Ok(self.families.close()?)
    }
}

/// The operations on one column family of a store.
struct FamilyOfStore<'s> {
    family: Family<'s>,
    store: &'s FamiliesStore,
}

impl Target for FamilyOfStore<'_> {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        Ok(self.family.put(key, value)?)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        Ok(self.family.get_into(key, value)?)
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        Ok(self.family.delete(key)?)
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        Some(self.family.put_if_absent(key, value).map_err(Into::into))
    }

    fn merge(&self, key: &[u8], operand: &[u8]) -> Option<Result<(), TargetError>> {
        self.family.design().options.merge_operator?;
        Some(self.family.merge(key, operand).map_err(Into::into))
    }

    fn single_delete(&self, key: &[u8]) -> Option<Result<(), TargetError>> {
        Some(self.family.single_delete(key).map_err(Into::into))
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        Some(self.family.delete_range(low, high).map_err(Into::into))
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let mut range = self.family.range(calls::bounds(scan))?.expecting(scan.limit);
        Ok(range.visit(scan.direction, scan.limit, visit)?)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        Ok(self.family.write(&calls::batch(writes)?)?)
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        calls::visit_values(&self.family.multi_get(keys)?, visit);
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        self.store.flush()
    }

    fn settle(&self) -> Result<(), TargetError> {
        self.store.settle()
    }

    fn close(&self) -> Result<(), TargetError> {
        self.store.close()
    }
}
