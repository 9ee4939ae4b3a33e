//! A variant of an axis: its name, its parameters and its constructor.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::error::suggestion;
use crate::reading::read_value;
use crate::{Choice, ChoiceError, Origin};

/// A constructor of a component from its parameters.
pub trait Build<T: ?Sized> {
    /// The parameters with their defaults. The type must have `#[serde(deny_unknown_fields, default)]`.
    type Params: Serialize + DeserializeOwned + Default;

    /// Builds the component.
    ///
    /// # Errors
    /// An invalid value. The message names the parameter and its valid values.
    fn build(params: Self::Params) -> Result<Box<T>, String>;
}

/// A limitation of a variant. Sweeps skip combinations that need the missing ability, and report that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Counters of the variant depend on time and differ from run to run.
    NotDeterministic,
    /// Data of the variant is lost when the process ends.
    NotDurable,
    /// The variant drops data on purpose, so a get may miss a key that was written.
    DropsData,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotDeterministic => "depends on time, so its counters differ from run to run",
            Self::NotDurable => "loses its data when the process ends",
            Self::DropsData => "deletes data on purpose, so a get may not find a written key",
        })
    }
}

/// The function that builds the component of a variant.
#[derive(Clone, Copy)]
enum Constructor<T: ?Sized> {
    /// For a variant without parameters.
    Plain(fn() -> Box<T>),
    /// For a variant with parameters, which arrive as TOML.
    FromParameters(fn(Table) -> Result<Box<T>, ChoiceError>),
}

/// The empty set of parameters, for a variant without parameters. An unknown key is an error, as for every variant.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParams {}

/// A named alternative on an axis: its summary, its parameters and its constructor.
pub struct Variant<T: ?Sized> {
    /// The name in TOML, results and charts.
    pub kind: &'static str,
    /// One line that describes the variant and when it is useful.
    pub summary: &'static str,
    /// Parameters as commented TOML with their defaults. `laws::check` compares them with `Params::default()`.
    pub reference: &'static str,
    /// Whether the variant is an ideal bound of the axis, which no real component reaches.
    pub oracle: bool,
    /// Whether the variant selects among other variants of its axis for each call.
    pub selector: bool,
    /// Limitations of the variant with its default parameters.
    pub limits: &'static [Limit],
    /// Whether parameters lift all limitations.
    lifted: fn(&Table) -> bool,
    /// Crate of the variant; `None` means the crate of the catalog.
    pub origin: Option<Origin>,
    build: Constructor<T>,
    normalize: fn(Table) -> Result<Table, toml::de::Error>,
    defaults: fn() -> Table,
}

impl<T: ?Sized> Variant<T> {
    /// Creates a variant with parameters, built by `B`.
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
            lifted: |_| false,
            origin: None,
            build: Constructor::FromParameters(|params| {
                B::build(read_params(params).map_err(|error| params_error(&error))?)
                    .map_err(ChoiceError::whole)
            }),
            normalize: |params| Ok(write_params(&read_params::<B::Params>(params)?)),
            defaults: || write_params(&B::Params::default()),
        }
    }

    /// Creates a variant without parameters. `build` cannot fail. A choice with a parameter is rejected.
    pub const fn plain(kind: &'static str, summary: &'static str, build: fn() -> Box<T>) -> Self {
        Self {
            kind,
            summary,
            reference: "",
            oracle: false,
            selector: false,
            limits: &[],
            lifted: |_| false,
            origin: None,
            build: Constructor::Plain(build),
            normalize: |params| Ok(write_params(&read_params::<NoParams>(params)?)),
            defaults: Table::new,
        }
    }

    /// Marks the variant as an ideal bound of its axis.
    #[must_use]
    pub const fn oracle(mut self) -> Self {
        self.oracle = true;
        self
    }

    /// Marks the variant as a selector among other variants of its axis.
    #[must_use]
    pub const fn selector(mut self) -> Self {
        self.selector = true;
        self
    }

    /// Declares the limitations of the variant.
    #[must_use]
    pub const fn limited(mut self, limits: &'static [Limit]) -> Self {
        self.limits = limits;
        self
    }

    /// Declares that the limitations do not apply to parameters that fulfil `lifted`.
    #[must_use]
    pub const fn unless(mut self, lifted: fn(&Table) -> bool) -> Self {
        self.lifted = lifted;
        self
    }

    /// Returns the limitations of the variant with the parameters of a choice.
    pub fn limits_of(&self, choice: &Choice) -> &'static [Limit] {
        if (self.lifted)(choice.params()) { &[] } else { self.limits }
    }

    /// Sets the crate of the variant: `origin!()` in that crate. A variant that is [added](crate::Catalog::add) from
    /// outside must have an origin, because manifests name its crate and version.
    #[must_use]
    pub const fn from(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Reads the parameters of a choice on `axis`. Missing parameters take their defaults. The component is built once
    /// as a test, so that every existing choice can be built. `others` are keys that the table may also have. The
    /// message about an unknown key lists them.
    ///
    /// # Errors
    /// Unknown parameters, values of the wrong type, values that the variant rejects.
    pub fn choose(&self, axis: &'static str, given: Table, others: &[&str]) -> Result<Choice, ChoiceError> {
        let defaults = self.defaults();
        if let Some(key) = given.keys().find(|key| !defaults.contains_key(*key)) {
            return Err(self.unknown_parameter(axis, key, others));
        }
        // One value is checked at a time, so that the error can name its key.
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
            "it has no parameters".to_owned()
        } else {
            format!("Valid: {}", known.join(", "))
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

    /// Builds the component from `params`. Missing parameters take their defaults.
    ///
    /// # Errors
    /// Unknown parameters, values of the wrong type, values that the variant rejects.
    pub fn build(&self, params: Table) -> Result<Box<T>, ChoiceError> {
        match self.build {
            Constructor::Plain(build) => {
                self.normalize(params)?;
                Ok(build())
            }
            Constructor::FromParameters(build) => build(params),
        }
    }

    /// The variant with its defaults.
    pub fn default_choice(&self) -> Choice {
        Choice::new(self.kind, self.defaults(), self.defaults())
    }

    /// The parameters with their defaults.
    pub fn defaults(&self) -> Table {
        (self.defaults)()
    }

    /// Returns `params` in canonical form, in which they are stored and compared. Missing parameters take their
    /// defaults, a size `65536` becomes `"64KiB"`, and a fraction `10` becomes `10.0`.
    ///
    /// # Errors
    /// Values of the wrong type.
    pub fn normalize(&self, params: Table) -> Result<Table, ChoiceError> {
        (self.normalize)(params).map_err(|error| params_error(&error))
    }
}

fn read_params<P: DeserializeOwned>(params: Table) -> Result<P, toml::de::Error> {
    Value::Table(params).try_into()
}

fn write_params<P: Serialize>(params: &P) -> Table {
    Table::try_from(params).expect("parameters are plain TOML values")
}

/// Converts a deserialisation error. The result has the key that the message names, if any.
fn params_error(error: &toml::de::Error) -> ChoiceError {
    let message = error.message().replace('`', "\"");
    let key = message
        .strip_prefix("unknown field \"")
        .and_then(|rest| rest.split_once('"'))
        .map(|(key, _)| key.to_owned());
    ChoiceError { key, message }
}
