//! A codec that a selector picks, named in TOML by its label.

use catalog::Choice;
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::compression::Compression;

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
    pub(crate) fn build(&self) -> Result<Box<dyn Compression>, String> {
        crate::CATALOG.build(&self.0).map_err(|error| error.to_string())
    }
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
