//! A variant of an axis: its name, its parameters and its constructor.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use types::valid_names;

use crate::error::suggestion;
use crate::reading::read_value;
use crate::{Choice, ChoiceError, Origin};

/// Builds the components of a variant from its parameters.
pub trait Build<T: ?Sized> {
    /// The type of the parameters, with their defaults. This type must have `#[serde(deny_unknown_fields, default)]`.
    type Params: Serialize + DeserializeOwned + Default;

    /// Builds the component from its parameters.
    ///
    /// # Errors
    /// A value is invalid. The message names the parameter and its valid values.
    fn build(params: Self::Params) -> Result<Box<T>, String>;
}

/// A limitation of a variant, such as data loss at the end of the process. A sweep skips configurations that cannot run
/// with this limitation, and reports the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Some counters of the variant depend on time, so they differ from run to run.
    NotDeterministic,
    /// The variant loses data when the process ends.
    NotDurable,
    /// The variant drops data by design, so a get may not find a key that was written.
    DropsData,
    /// The variant needs a part of the operating system that this system lacks.
    NotOnPlatform,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotDeterministic => "depends on time, so its counters differ from run to run",
            Self::NotDurable => "loses its data when the process ends",
            Self::DropsData => "deletes data on purpose, so a get may not find a written key",
            Self::NotOnPlatform => "is not supported on this system",
        })
    }
}

/// The function that builds the component of a variant.
#[derive(Clone, Copy)]
enum Constructor<T: ?Sized> {
    /// The function of a variant without parameters.
    Plain(fn() -> Box<T>),
    /// The function of a variant with parameters, which receives the parameters as TOML.
    FromParameters(fn(Table) -> Result<Box<T>, ChoiceError>),
}

/// The parameter type of a variant without parameters. It rejects every key.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParams {}

/// A variant of an axis, with its name, its parameters and its constructor.
pub struct Variant<T: ?Sized> {
    /// The name of the variant in TOML, results and charts.
    pub kind: &'static str,
    /// One line that describes the variant and its use.
    pub summary: &'static str,
    /// The parameters with their defaults, as TOML with comments. `laws::check` checks that these defaults equal
    /// `Params::default()`.
    pub reference: &'static str,
    /// Whether the variant is an ideal bound of the axis. No real component can have better results.
    pub oracle: bool,
    /// Whether the variant is a selector, which chooses another variant of its axis for each call.
    pub selector: bool,
    /// Limitations that the variant has with its default parameters.
    pub limits: &'static [Limit],
    /// Returns whether a choice with these parameters is free of the limitations of the variant.
    lifted: fn(&Table) -> bool,
    /// The crate that defines the variant. `None` means the crate of the catalog.
    pub origin: Option<Origin>,
    build: Constructor<T>,
    normalize: fn(Table) -> Result<Table, toml::de::Error>,
    defaults: fn() -> Table,
}

impl<T: ?Sized> Variant<T> {
    /// Creates a variant with parameters. The type `B` builds the component from the parameters.
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

    /// Creates a variant without parameters. `build` cannot fail. The catalog rejects any parameter.
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

    /// Marks the variant as a selector, which chooses another variant of its axis for each call.
    #[must_use]
    pub const fn selector(mut self) -> Self {
        self.selector = true;
        self
    }

    /// Declares the limitations that the variant has, such as data loss at the end of the process.
    #[must_use]
    pub const fn limited(mut self, limits: &'static [Limit]) -> Self {
        self.limits = limits;
        self
    }

    /// Declares for which parameters the limitations of the variant do not apply: those for which `lifted` returns
    /// true.
    #[must_use]
    pub const fn unless(mut self, lifted: fn(&Table) -> bool) -> Self {
        self.lifted = lifted;
        self
    }

    /// Returns the limitations of the variant with the parameters of a choice.
    pub fn limits_of(&self, choice: &Choice) -> &'static [Limit] {
        if (self.lifted)(choice.params()) { &[] } else { self.limits }
    }

    /// Sets the crate that defines the variant. The macro `origin!()` returns the `origin` of the crate that calls it.
    /// Manifests contain the origin of each variant that another crate [adds](crate::Catalog::add).
    #[must_use]
    pub const fn from(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Reads the parameters of this variant from `given`, for the axis `axis`. A missing parameter gets its default
    /// value. The call builds the component once as a test, so every returned choice can be built.
    ///
    /// The table may also contain the keys `others`. Error messages list these keys among the valid keys.
    ///
    /// # Errors
    /// A parameter is unknown, a value has the wrong type, or the variant rejects a value.
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
        let list =
            if known.is_empty() { "this variant has no parameters".to_owned() } else { valid_names(&known) };
        let hint = suggestion(key, known.iter().copied().chain(["kind"]));
        ChoiceError::at(key, format!("{axis}: {} has no parameter \"{key}\"; {hint}{list}", self.kind))
    }

    /// Builds the component of a choice of this variant on `axis`.
    ///
    /// # Errors
    /// The variant rejects a value.
    pub fn build_of(&self, axis: &str, choice: &Choice) -> Result<Box<T>, ChoiceError> {
        self.build(choice.params().clone()).map_err(|error| ChoiceError {
            message: format!("{axis}: {}: {}", self.kind, error.message),
            ..error
        })
    }

    /// Builds the component from `params`. A missing parameter gets its default value.
    ///
    /// # Errors
    /// A parameter is unknown, a value has the wrong type, or the variant rejects a value.
    pub fn build(&self, params: Table) -> Result<Box<T>, ChoiceError> {
        match self.build {
            Constructor::Plain(build) => {
                self.normalize(params)?;
                Ok(build())
            }
            Constructor::FromParameters(build) => build(params),
        }
    }

    /// Returns the choice of this variant with its default parameters.
    pub fn default_choice(&self) -> Choice {
        Choice::new(self.kind, self.defaults(), self.defaults())
    }

    /// Returns the parameters with their defaults.
    pub fn defaults(&self) -> Table {
        (self.defaults)()
    }

    /// Returns the parameters in the notation in which lsmbench stores and compares them, with default values for
    /// missing parameters. For example, the size `65536` becomes `"64KiB"`, and the fraction `10` becomes `10.0`.
    ///
    /// # Errors
    /// A value has the wrong type.
    pub fn normalize(&self, params: Table) -> Result<Table, ChoiceError> {
        (self.normalize)(params).map_err(|error| params_error(&error))
    }
}

fn read_params<P: DeserializeOwned>(params: Table) -> Result<P, toml::de::Error> {
    Value::Table(params).try_into()
}

fn write_params<P: Serialize>(params: &P) -> Table {
    Table::try_from(params).expect("the parameters of a variant must serialize to a TOML table")
}

/// Converts an error of serde in the parameters of a variant. If the message contains the key of a parameter, the
/// result also contains this key.
fn params_error(error: &toml::de::Error) -> ChoiceError {
    let message = error.message().replace('`', "\"");
    let key = message
        .strip_prefix("unknown field \"")
        .and_then(|rest| rest.split_once('"'))
        .map(|(key, _)| key.to_owned());
    ChoiceError { key, message }
}
