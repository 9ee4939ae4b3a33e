//! A codec that a selector picks, named in TOML by its label.

use std::sync::Arc;

use catalog::Choice;
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::compression::Compression;
use crate::dictionaries::Dictionaries;

/// A codec by its label; other spellings of the same choice become its label.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Picked(Choice);

impl Picked {
    /// The codec of a label of this catalog.
    pub(crate) fn of(label: &str) -> Self {
        Self::try_from(label.to_owned()).expect("a codec of this catalog")
    }

    /// Builds the codec.
    pub(crate) fn build(&self) -> Result<Arc<dyn Compression>, String> {
        crate::CATALOG.build(&self.0).map(Arc::from).map_err(|error| error.to_string())
    }
}

/// The bytes that any of the codecs wants to learn from.
pub(crate) fn sample_bytes(codecs: &[Arc<dyn Compression>], level: usize) -> usize {
    codecs.iter().map(|codec| codec.sample_bytes(level)).max().unwrap_or(0)
}

/// The bytes of memory of all codecs for blocks of a level that allocators of Rust do not see.
pub(crate) fn foreign_bytes(codecs: &[Arc<dyn Compression>], level: usize) -> usize {
    codecs.iter().map(|codec| codec.foreign_bytes(level)).sum()
}

/// The codecs after each of them learnt, those that have nothing to learn as they are; `None` where none did.
pub(crate) fn learn<const N: usize>(
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

impl TryFrom<String> for Picked {
    type Error = String;

    fn try_from(label: String) -> Result<Self, String> {
        // Before the choice is made: its own defaults may be what is being read.
        let kind = label.split(['(', ' ']).next().unwrap_or_default();
        if crate::SELECTORS.contains(&kind) {
            return Err(format!("{kind} picks among codecs itself; name a codec"));
        }
        let choice = crate::CATALOG.choose(&Value::String(label)).map_err(|error| error.to_string())?;
        Ok(Self(choice))
    }
}

impl From<Picked> for String {
    fn from(picked: Picked) -> Self {
        picked.0.label()
    }
}
