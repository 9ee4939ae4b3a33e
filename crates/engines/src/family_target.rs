//! Gives access to the operations of one column family of a store, or of the whole store.

use tree::{Design, FamilyLayout};
use workload::{Target, TargetError};

use crate::prefixed::Prefixed;
use crate::store::Store;

/// Access to the keys of one column family of a store, or of the whole store.
pub enum FamilyTarget<'s> {
    /// The operations use the keys of the whole store.
    Store(&'s dyn Target),
    /// The operations use the keys of one column family.
    Family(Box<dyn Target + 's>),
}

impl<'s> FamilyTarget<'s> {
    /// Returns access to the keys of the column family `family` in a store with this design. If `family` is `None`,
    /// returns access to the whole store.
    ///
    /// # Errors
    /// The store has no family with this name.
    pub(crate) fn of(
        store: &'s dyn Store,
        design: &Design,
        family: Option<&str>,
    ) -> Result<Self, TargetError> {
        let Some(name) = family else { return Ok(Self::Store(store)) };
        let family = match design.family_layout() {
            FamilyLayout::Trees => store.family(name),
            FamilyLayout::Prefixed => {
                let number = design.families().position(|other| other == name);
                let number = number.and_then(|number| u8::try_from(number).ok());
                number.map(|number| Box::new(Prefixed::new(store, number)) as Box<dyn Target>)
            }
        };
        family.map(Self::Family).ok_or_else(|| format!("the store has no column family \"{name}\"").into())
    }

    /// Returns the store or the column family as a [`Target`], the interface through which a workload runs.
    pub fn target(&self) -> &dyn Target {
        match self {
            Self::Store(store) => *store,
            Self::Family(family) => &**family,
        }
    }
}
