//! A store whose calls do nothing. A run on this store measures the overhead of the harness.

use super::{Scan, Target, TargetError, Write};

/// A store that does nothing: it accepts every write and finds no key. With this store, lsmbench measures its own
/// overhead.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOp;

impl Target for NoOp {
    fn put(&self, _: &[u8], _: &[u8]) -> Result<(), TargetError> {
        Ok(())
    }

    fn get(&self, _: &[u8], _: &mut Vec<u8>) -> Result<bool, TargetError> {
        Ok(false)
    }

    fn delete(&self, _: &[u8]) -> Result<(), TargetError> {
        Ok(())
    }

    fn put_if_absent(&self, _: &[u8], _: &[u8]) -> Option<Result<bool, TargetError>> {
        Some(Ok(true))
    }

    fn merge(&self, _: &[u8], _: &[u8]) -> Option<Result<(), TargetError>> {
        Some(Ok(()))
    }

    fn single_delete(&self, _: &[u8]) -> Option<Result<(), TargetError>> {
        Some(Ok(()))
    }

    fn delete_range(&self, _: &[u8], _: &[u8]) -> Option<Result<(), TargetError>> {
        Some(Ok(()))
    }

    fn range(&self, _: &Scan<'_>, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        Ok(0)
    }

    fn write(&self, _: &[Write<'_>]) -> Result<(), TargetError> {
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(())
    }
}
