//! Adapter for the LSM-tree of lsmbench, which is assembled from the design. This is the default engine of an
//! experiment.

use std::path::Path;

use catalog::{Limit, Variant};
use tree::{Design, Families, Mode, OpenOptions, Tree};
use workload::{Kind, Scan, Target, TargetError, Write};

use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::EngineOptions;
use crate::stats::EngineStats;
use crate::store::Store;

mod calls;
mod families;
mod readings;

use families::FamiliesStore;

pub(crate) const VARIANT: Variant<dyn Engine> =
    Variant::plain("lsmbench", "lsmbench's own tree, assembled from the design", || Box::new(Lsmbench));

struct Lsmbench;

impl Engine for Lsmbench {
    fn identify(&self) -> Result<Identity, Missing> {
        Ok(Identity { version: Some(env!("CARGO_PKG_VERSION").to_owned()), ..Identity::default() })
    }

    /// Returns no lines, because the tree reads the complete design, so no setting needs a corresponding option.
    fn mapping(&self, _: &EngineOptions) -> Vec<String> {
        Vec::new()
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let mut options = OpenOptions::new(opening.design.clone()).mode(opening.mode).clock(opening.clock);
        if let Some(identity) = opening.identity {
            options = options.identity(identity);
        }
        if opening.design.has_family_trees() {
            let families = Families::open(options, &opening.directory)?;
            return Ok(Box::new(FamiliesStore::new(families, opening.mode)));
        }
        Ok(Box::new(TreeStore { tree: options.open(&opening.directory)?, mode: opening.mode }))
    }

    fn reads_whole_design(&self) -> bool {
        true
    }

    fn limits(&self, design: &Design) -> Vec<Limit> {
        design.limits().into_iter().map(|(_, _, limit)| limit).collect()
    }

    fn may_reject_options(&self) -> bool {
        false
    }

    fn stores_can_be_cloned(&self) -> bool {
        true
    }

    fn compacts_on_request(&self) -> bool {
        true
    }

    fn makes_checkpoints(&self) -> bool {
        true
    }

    fn merges(&self) -> bool {
        true
    }

    fn puts_if_absent(&self) -> bool {
        true
    }

    fn deletes_ranges(&self) -> bool {
        true
    }

    fn has_families(&self) -> bool {
        true
    }

    fn single_deletes(&self) -> bool {
        true
    }

    fn batches(&self, kind: Kind) -> bool {
        Kind::BATCHED.contains(&kind)
    }

    fn reports_levels_and_stalls(&self) -> bool {
        true
    }

    fn reports_memory(&self) -> bool {
        true
    }

    fn allocates_in_program(&self) -> bool {
        true
    }
}

/// An open store that consists of one tree.
struct TreeStore {
    tree: Tree,
    mode: Mode,
}

impl Target for TreeStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        Ok(self.tree.put(key, value)?)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        Ok(self.tree.get_into(key, value)?)
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        Ok(self.tree.delete(key)?)
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        Some(self.tree.put_if_absent(key, value).map_err(Into::into))
    }

    fn merge(&self, key: &[u8], operand: &[u8]) -> Option<Result<(), TargetError>> {
        self.tree.design().options.merge_operator?;
        Some(self.tree.merge(key, operand).map_err(Into::into))
    }

    fn single_delete(&self, key: &[u8]) -> Option<Result<(), TargetError>> {
        Some(self.tree.single_delete(key).map_err(Into::into))
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        Some(self.tree.delete_range(low, high).map_err(Into::into))
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let mut range = self.tree.range(calls::bounds(scan))?.expecting(scan.limit);
        Ok(range.visit(scan.direction, scan.limit, visit)?)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        Ok(self.tree.write(&calls::batch(writes)?)?)
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        calls::visit_values(&self.tree.multi_get(keys)?, visit);
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(self.tree.flush()?)
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(self.tree.settle()?)
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(self.tree.sync()?)
    }
}

impl Store for TreeStore {
    fn version(&self) -> Option<String> {
        Some(env!("CARGO_PKG_VERSION").to_owned())
    }

    fn stats(&self) -> EngineStats {
        readings::of_store(&self.tree.stats(), self.mode, self.tree.design())
    }

    fn compact(&self) -> Option<Result<(), TargetError>> {
        Some(self.tree.compact().map_err(Into::into))
    }

    fn checkpoint(&self, directory: &Path) -> Option<Result<(), TargetError>> {
        Some(self.tree.checkpoint(directory).map_err(Into::into))
    }

    fn end(self: Box<Self>) -> Result<(), TargetError> {
        Ok(self.tree.close()?)
    }
}
