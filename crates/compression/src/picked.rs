//! The choice of a codec in the parameters of a selector. In TOML, a label identifies the codec. Selectors of other
//! crates also use these types.

use std::marker::PhantomData;
use std::sync::Arc;

use catalog::{CatalogHandle, Choice};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Value;

use crate::compression::Compression;
use crate::dictionaries::Dictionaries;

/// A choice of a codec from the catalog `C`. In TOML, the choice is the label of the codec, such as `"lz4"` or
/// `"zstd(level=3)"`.
pub struct Picked<C>(Choice, PhantomData<C>);

impl<C: CatalogHandle<dyn Compression>> Picked<C> {
    /// Returns the choice of the codec with this label.
    ///
    /// # Panics
    /// The catalog has no codec with this name.
    pub fn of(label: &str) -> Self {
        Self::read(label).expect("the catalog of codecs must contain the codec with this label")
    }

    /// Parses the label of a codec. A selector is not allowed.
    ///
    /// # Errors
    /// The catalog has no such codec, or the label is the label of a selector.
    fn read(label: &str) -> Result<Self, String> {
        // This check comes before `choose`, because `choose` would also parse the defaults of a selector, which may
        // contain the label that is parsed now.
        let kind = label.split(['(', ' ']).next().unwrap_or_default();
        if C::catalog().variant(kind).is_ok_and(|variant| variant.selector) {
            return Err(format!(
                "{kind} selects among several codecs, which is not allowed here; name a single codec, such \
                 as \"lz4\""
            ));
        }
        let choice = C::catalog().choose(&Value::from(label)).map_err(|error| error.to_string())?;
        Ok(Self(choice, PhantomData))
    }

    /// Builds the chosen codec.
    ///
    /// # Errors
    /// The parameters of the codec are invalid.
    pub fn build(&self) -> Result<Arc<dyn Compression>, String> {
        C::catalog().build(&self.0).map(Arc::from).map_err(|error| error.to_string())
    }
}

/// Returns the number of sample bytes with which several codecs can be trained at the level `level` of the tree. This
/// is the largest number that one of the codecs needs.
pub fn sample_bytes(codecs: &[Arc<dyn Compression>], level: usize) -> usize {
    codecs.iter().map(|codec| codec.sample_bytes(level)).max().unwrap_or(0)
}

/// Returns the memory in bytes that libraries in other languages allocate for several codecs together, at the level
/// `level` of the tree.
pub fn foreign_bytes(codecs: &[Arc<dyn Compression>], level: usize) -> usize {
    codecs.iter().map(|codec| codec.foreign_bytes(level)).sum()
}

/// Trains several codecs with the first blocks of an SSTable. In the result, each codec that could be trained is
/// replaced by its trained codec. Returns `None` if no codec could be trained.
pub fn learn<const N: usize>(
    codecs: &[Arc<dyn Compression>; N],
    level: usize,
    samples: &[&[u8]],
    dictionaries: &mut Dictionaries,
) -> Option<[Arc<dyn Compression>; N]> {
    let mut has_learnt = false;
    let learnt = codecs.each_ref().map(|codec| match codec.learn(level, samples, dictionaries) {
        Some(learnt) => {
            has_learnt = true;
            learnt
        }
        None => Arc::clone(codec),
    });
    has_learnt.then_some(learnt)
}

impl<'de, C: CatalogHandle<dyn Compression>> Deserialize<'de> for Picked<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<C> Serialize for Picked<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.label())
    }
}
