//! Parameters of a component test whose value is a variant of another catalog, such as `keys = "user"`.

use std::marker::PhantomData;
use std::sync::Arc;

use catalog::{Catalog, Choice};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Value;
use workload::{FORMATS, KeyFormat, KeyFormatPolicy};

/// A catalog whose variants are the valid values of a parameter of a component test.
pub(crate) trait Menu {
    /// The type of the values that the variants of this catalog build.
    type Built: ?Sized + 'static;

    /// Returns the catalog whose variants are the valid values of the parameter.
    fn catalog() -> &'static Catalog<Self::Built>;
}

/// A parameter of a component test whose value is a variant of a catalog.
pub(crate) struct Chosen<M> {
    choice: Choice,
    menu: PhantomData<M>,
}

impl<M: Menu> Chosen<M> {
    /// Builds the variant that the parameter names.
    pub(crate) fn build(&self) -> Box<M::Built> {
        M::catalog().build(&self.choice).expect("the parsed value of a parameter must be valid")
    }
}

impl<M: Menu> Default for Chosen<M> {
    fn default() -> Self {
        Self { choice: M::catalog().baseline(), menu: PhantomData }
    }
}

impl<M: Menu> Serialize for Chosen<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.choice.to_toml().serialize(serializer)
    }
}

impl<'de, M: Menu> Deserialize<'de> for Chosen<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let choice = M::catalog().choose(&value).map_err(D::Error::custom)?;
        Ok(Self { choice, menu: PhantomData })
    }
}

/// The catalog of the key formats of workloads, whose variants are the valid values of a parameter.
pub(crate) enum Formats {}

impl Menu for Formats {
    type Built = dyn KeyFormatPolicy;

    fn catalog() -> &'static Catalog<Self::Built> {
        &FORMATS
    }
}

impl Chosen<Formats> {
    /// Builds the key format that the parameter names. Returns an error if the format takes its keys from a trace.
    pub(crate) fn open(&self) -> Result<Arc<dyn KeyFormat>, String> {
        self.build().open(None).map_err(|error| format!("keys: {error}"))
    }
}
