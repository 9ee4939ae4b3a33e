//! Tests stores with column families. The keys of a script are spread over the families, so most commits write to
//! several families.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use storage::Storage;
use tree::{Design, Families, Family, FamilyBatch, Mode, OpenOptions, Result};
use xxhash_rust::xxh3::xxh3_64;

use crate::script::{Content, ScriptWrite};
use crate::subject::{Maker, StoreUnderTest};

/// Opens stores with the column families of one design, in `counted` mode.
pub(crate) struct FamiliesMaker(pub(crate) Design);

impl FamiliesMaker {
    fn options(&self, storage: &Arc<dyn Storage>, directory: &Path) -> OpenOptions {
        let identity = xxh3_64(directory.as_os_str().as_encoded_bytes());
        let options = OpenOptions::new(self.0.clone()).mode(Mode::Counted).identity(identity);
        options.storage(Arc::clone(storage))
    }
}

impl Maker for FamiliesMaker {
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn StoreUnderTest>> {
        Ok(Box::new(Families::open(self.options(storage, directory), directory)?))
    }

    fn open_quarantined(
        &self,
        storage: &Arc<dyn Storage>,
        directory: &Path,
    ) -> Result<(Box<dyn StoreUnderTest>, Vec<String>)> {
        let store = Families::open(self.options(storage, directory).quarantine(true), directory)?;
        let report = store.recovery().quarantined_files.clone();
        Ok((Box::new(store), report))
    }

    fn folders(&self) -> Vec<String> {
        self.0.families().map(str::to_owned).collect()
    }

    fn verify(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Vec<String>> {
        let report = tree::verify(storage, directory)?;
        Ok(report.damage.iter().map(ToString::to_string).collect())
    }
}

/// Returns the number of the family to which a key belongs, from 0. Neighboring keys belong to different families.
pub(crate) fn place_of(key: &[u8], families: usize) -> usize {
    key.iter().map(|byte| usize::from(*byte)).sum::<usize>() % families
}

/// Returns all column families of a store, in the order of their numbers.
fn handles(store: &Families) -> Vec<Family<'_>> {
    store.names().filter_map(|name| store.family(name)).collect()
}

impl StoreUnderTest for Families {
    fn write(&self, commit: &[ScriptWrite]) -> Result<()> {
        let families = handles(self);
        let of = |key: &[u8]| families[place_of(key, families.len())];
        if let [ScriptWrite { key, value: Some(value), .. }] = commit {
            // A conditional put does nothing if the key exists. The put that follows then replaces the value.
            return match key.len() % 2 == 1 && of(key).put_if_absent(key, value)? {
                true => Ok(()),
                false => of(key).put(key, value),
            };
        }
        let mut batch = FamilyBatch::new();
        for ScriptWrite { key, value, end } in commit {
            match (value, end) {
                (Some(value), _) => batch.of(of(key).id()).put(key, value)?,
                (None, None) => batch.of(of(key).id()).delete(key)?,
                // The keys of the range are in all families.
                (None, Some(end)) => {
                    families.iter().try_for_each(|family| batch.of(family.id()).delete_range(key, end))?;
                }
            }
        }
        Families::write(self, &batch)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let families = handles(self);
        families[place_of(key, families.len())].get(key)
    }

    fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Content> {
        let mut content = Content::new();
        for family in handles(self) {
            let mut range = family.range((low, high))?;
            while let Some((key, value)) = range.next()? {
                content.insert(key.to_vec(), value.to_vec());
            }
        }
        Ok(content)
    }

    fn snapshot(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        let snapshots = self.snapshots();
        keys.iter().map(|key| snapshots[place_of(key, snapshots.len())].get(key)).collect()
    }

    fn flush(&self) -> Result<()> {
        Families::flush(self)
    }

    fn compact(&self) -> Result<()> {
        Families::compact(self)
    }

    fn sync(&self) -> Result<()> {
        Families::sync(self)
    }

    fn checkpoint(&self, directory: &Path) -> Result<()> {
        Families::checkpoint(self, directory)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Families::close(*self)
    }
}
