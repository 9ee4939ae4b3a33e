//! Our tree as a target of workloads.

use std::ops::Bound;

use tree::{Stats, Tree, WriteBatch};
use workload::{Scan, Target, TargetError, Write};

/// A store under test, and what it tells of itself.
pub(super) trait Store: Send + Sync {
    /// What is driven.
    fn target(&self) -> &dyn Target;

    /// What it tells now.
    fn look(&self) -> Look;

    /// The version of its engine, where that is not our own.
    fn version(&self) -> Option<String> {
        None
    }

    /// The same store after it was flushed, closed, and opened again; `between` is done while it is closed. What it
    /// counts begins anew.
    fn reopen(self, between: &dyn Fn() -> Result<(), TargetError>) -> Result<Self, TargetError>
    where
        Self: Sized;
}

/// What a store tells of itself at one moment.
#[derive(Clone, Debug)]
pub(super) enum Look {
    /// The counters and sizes of our own tree.
    Tree(Box<Stats>),
    /// Those that another engine has.
    Peer(peers::Stats),
}

impl Look {
    /// Those of our own tree, if it is one.
    pub(super) fn tree(&self) -> Option<&Stats> {
        match self {
            Self::Tree(stats) => Some(stats),
            Self::Peer(_) => None,
        }
    }
}

/// A tree, driven through the interface that every engine is driven through.
pub(super) struct TreeTarget {
    tree: Tree,
    /// Opens it again.
    open: Open,
}

/// Opens a tree.
type Open = Box<dyn Fn() -> Result<Tree, TargetError> + Send + Sync>;

impl TreeTarget {
    /// Drives the tree that `open` opens.
    pub(super) fn open(open: Open) -> Result<Self, TargetError> {
        Ok(Self { tree: open()?, open })
    }
}

impl Store for TreeTarget {
    fn target(&self) -> &dyn Target {
        self
    }

    fn look(&self) -> Look {
        Look::Tree(Box::new(self.tree.stats()))
    }

    fn reopen(self, between: &dyn Fn() -> Result<(), TargetError>) -> Result<Self, TargetError> {
        // Without a log the memtables are nowhere else.
        self.tree.flush()?;
        self.tree.settle()?;
        let Self { tree, open } = self;
        tree.close()?;
        between()?;
        Self::open(open)
    }
}

impl Target for TreeTarget {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        Ok(self.tree.put(key, value)?)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        Ok(self.tree.get_into(key, value)?)
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        Ok(self.tree.delete(key)?)
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let high = scan.high.map_or(Bound::Unbounded, Bound::Excluded);
        let mut range = self.tree.range((Bound::Included(scan.low), high))?.expecting(scan.limit);
        Ok(range.visit(scan.direction, scan.limit, visit)?)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        let mut batch = WriteBatch::new();
        for write in writes {
            match write {
                Write::Put { key, value } => batch.put(key, value)?,
                Write::Delete { key } => batch.delete(key)?,
            }
        }
        Ok(self.tree.write(&batch)?)
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let values = self.tree.multi_get(keys)?;
        values.iter().enumerate().for_each(|(place, value)| visit(place, value.as_deref()));
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
