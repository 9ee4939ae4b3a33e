//! A variant of an axis: its name, its parameters and how it is built.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::error::suggestion;
use crate::reading::read_value;
use crate::{Choice, ChoiceError, Origin};

/// How a component is built from its parameters.
pub trait Build<T: ?Sized> {
    /// The parameters, with their defaults; `deny_unknown_fields` and `default` are expected of them.
    type Params: Serialize + DeserializeOwned + Default;

    /// Builds the component.
    ///
    /// # Errors
    /// A sentence that names the parameter and what it may be.
    fn build(params: Self::Params) -> Result<Box<T>, String>;
}

/// What a variant cannot do. Combinations that need it are left out of a sweep, and the run says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// It depends on time, so that its counters differ from run to run: not for `counted` mode.
    NotDeterministic,
    /// What it holds is gone when the process ends: not for a store that is opened again.
    NotDurable,
    /// It gives up data by rule, so that a key that was written may not be found: only by its own rule can its
    /// answers be checked.
    DropsData,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotDeterministic => "depends on time, so its counters differ from run to run",
            Self::NotDurable => "keeps nothing when the process ends",
            Self::DropsData => "drops data by rule, so a key that was written may not be found",
        })
    }
}

/// One way to fill an axis: its name, what it is good for, its parameters, and how it is built.
pub struct Variant<T: ?Sized> {
    /// The name in TOML, results and charts.
    pub kind: &'static str,
    /// One line that says what it is and when it pays.
    pub summary: &'static str,
    /// Its parameters as commented TOML with their defaults; a law holds it to `Params::default()`.
    pub reference: &'static str,
    /// Whether it is a bound on the axis and no component one could ship.
    pub oracle: bool,
    /// Whether it picks among other variants of its axis for each call, so that no such variant can pick it.
    pub selector: bool,
    /// What it cannot do.
    pub limits: &'static [Limit],
    /// The crate that it comes from; `None` means the crate of its catalog.
    pub origin: Option<Origin>,
    build: fn(Table) -> Result<Box<T>, ChoiceError>,
    normalize: fn(Table) -> Result<Table, toml::de::Error>,
    defaults: fn() -> Table,
}

impl<T: ?Sized> Variant<T> {
    /// A variant built by `B`.
    pub const fn new<B: Build<T>>(
        kind: &'static str,
        summary: &'static str,
        reference: &'static str,
    ) -> Self {
        Self {
            kind,
            summary,
            reference,
            oracle: false,
            selector: false,
            limits: &[],
            origin: None,
            build: |params| {
                B::build(read_params(params).map_err(|error| params_error(&error))?)
                    .map_err(ChoiceError::whole)
            },
            normalize: |params| Ok(write_params(&read_params::<B::Params>(params)?)),
            defaults: || write_params(&B::Params::default()),
        }
    }

    /// Marks the variant as its axis' oracle.
    #[must_use]
    pub const fn oracle(mut self) -> Self {
        self.oracle = true;
        self
    }

    /// Marks the variant as one that picks among other variants of its axis.
    #[must_use]
    pub const fn selector(mut self) -> Self {
        self.selector = true;
        self
    }

    /// Declares what the variant cannot do.
    #[must_use]
    pub const fn limited(mut self, limits: &'static [Limit]) -> Self {
        self.limits = limits;
        self
    }

    /// Names the crate that the variant comes from: `origin!()` in that crate. A variant that is
    /// [added](crate::Catalog::add) from outside must have one, because manifests name crate and version.
    #[must_use]
    pub const fn from(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Reads the parameters of a choice on `axis`: missing ones take their defaults, and the
    /// component is built once, so that a choice that exists can be built. `others` are keys that the same
    /// table might have held; they only help to explain an unknown key.
    ///
    /// # Errors
    /// Unknown parameters, values of the wrong type, values that the variant rejects.
    pub fn choose(&self, axis: &'static str, given: Table, others: &[&str]) -> Result<Choice, ChoiceError> {
        let defaults = self.defaults();
        if let Some(key) = given.keys().find(|key| !defaults.contains_key(*key)) {
            return Err(self.unknown_parameter(axis, key, others));
        }
        // One value at a time, so that an error can name the key.
        for (key, value) in &given {
            let alone = |value| (self.normalize)(Table::from_iter([(key.clone(), value)]));
            read_value(value, alone).map_err(|message| {
                ChoiceError::at(key, format!("{axis}: {}: {key}: {message}", self.kind))
            })?;
        }
        let choice = Choice::new(self.kind, self.normalize(given)?, defaults);
        self.build_of(axis, &choice)?;
        Ok(choice)
    }

    fn unknown_parameter(&self, axis: &str, key: &str, others: &[&str]) -> ChoiceError {
        let defaults = self.defaults();
        let known: Vec<&str> = defaults.keys().map(String::as_str).chain(others.iter().copied()).collect();
        let list = if known.is_empty() {
            "it takes none".to_owned()
        } else {
            format!("it takes {}", known.join(", "))
        };
        let hint = suggestion(key, known.iter().copied().chain(["kind"]));
        ChoiceError::at(key, format!("{axis}: {} has no parameter \"{key}\"; {hint}{list}", self.kind))
    }

    /// Builds the component of a choice on `axis`.
    ///
    /// # Errors
    /// Values that the variant rejects.
    pub fn build_of(&self, axis: &str, choice: &Choice) -> Result<Box<T>, ChoiceError> {
        self.build(choice.params().clone()).map_err(|error| ChoiceError {
            message: format!("{axis}: {}: {}", self.kind, error.message),
            ..error
        })
    }

    /// Builds the component from `params`; missing parameters take their defaults.
    ///
    /// # Errors
    /// Unknown parameters, values of the wrong type, values that the variant rejects.
    pub fn build(&self, params: Table) -> Result<Box<T>, ChoiceError> {
        (self.build)(params)
    }

    /// The variant with its defaults.
    pub fn default_choice(&self) -> Choice {
        Choice::new(self.kind, self.defaults(), self.defaults())
    }

    /// The parameters with their defaults.
    pub fn defaults(&self) -> Table {
        (self.defaults)()
    }

    /// `params` in the one spelling in which they are stored and compared: missing ones take their
    /// defaults, `65536` becomes `"64KiB"` where a size is meant, `10` becomes `10.0` where a fraction is.
    ///
    /// # Errors
    /// Values of the wrong type.
    pub fn normalize(&self, params: Table) -> Result<Table, ChoiceError> {
        (self.normalize)(params).map_err(|error| params_error(&error))
    }
}

impl Choice {
    /// The variant with its defaults.
    pub fn default_of<T: ?Sized>(variant: &Variant<T>) -> Self {
        Self::new(variant.kind, variant.defaults(), variant.defaults())
    }
}

fn read_params<P: DeserializeOwned>(params: Table) -> Result<P, toml::de::Error> {
    Value::Table(params).try_into()
}

fn write_params<P: Serialize>(params: &P) -> Table {
    Table::try_from(params).expect("parameters are plain TOML values")
}

/// The message of a deserialisation error, with the key at fault where the message names one.
fn params_error(error: &toml::de::Error) -> ChoiceError {
    let message = error.message().replace('`', "\"");
    let key = message
        .strip_prefix("unknown field \"")
        .and_then(|rest| rest.split_once('"'))
        .map(|(key, _)| key.to_owned());
    ChoiceError { key, message }
}
