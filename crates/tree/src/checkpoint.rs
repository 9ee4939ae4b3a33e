//! Checkpoints: copies of a tree that share its SSTables.

use std::path::Path;

use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::maintain::run_states;
use crate::manifest::{Manifest, State};
use crate::table::table_path;

impl Inner {
    /// Creates an independent tree in `target`, which must be new or empty, with hard links to the SSTables.
    pub(crate) fn checkpoint(&self, target: &Path) -> Result<()> {
        self.storage.create_directory(target)?;
        if !self.storage.list(target)?.is_empty() {
            return Err(Error::Misuse(format!(
                "{} is not empty; give the checkpoint an empty or a new directory",
                target.display()
            )));
        }
        self.flush()?;
        // The view holds references to the tables, so their files stay until all of them are linked.
        let view = self.view.load_full();
        for table in view.version.tables() {
            self.storage
                .hard_link(&table_path(&self.directory, table.id()), &table_path(target, table.id()))?;
        }
        self.storage.sync_directory(target)?;
        let recorded = self.manifest.lock().state.clone();
        let seals = recorded.seals.of_copy(recorded.next_file, target);
        let state = State { levels: run_states(&view.version.levels), log: None, seals, ..recorded };
        Manifest::create(&*self.storage, target, state)?;
        Ok(())
    }
}
