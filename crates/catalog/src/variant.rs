//! Variants and the catalog that lists them.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::error::suggestion;
use crate::reading::read_value;
use crate::{Choice, ChoiceError, label};

/// How a variant comes to be from its parameters.
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
    /// What it cannot do.
    pub limits: &'static [Limit],
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
            limits: &[],
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

    /// Declares what the variant cannot do.
    #[must_use]
    pub const fn limited(mut self, limits: &'static [Limit]) -> Self {
        self.limits = limits;
        self
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

/// Variants that are in a build only if a feature of the package is asked for, since they take many other packages:
/// their axis, their name, and the feature.
const OPTIONAL: &[(&str, &str, &str)] = &[("cache", "foyer", "foyer")];

/// All variants of one axis. Order has meaning: the baseline first, the textbook next, then the rest.
pub struct Catalog<T: ?Sized + 'static> {
    /// The name of the axis in TOML: `bloom`.
    pub axis: &'static str,
    /// One line that says what the axis decides.
    pub summary: &'static str,
    /// The variants, in the order in which lists and charts show them.
    pub variants: &'static [Variant<T>],
}

impl<T: ?Sized> Catalog<T> {
    /// The variant of this name.
    ///
    /// # Errors
    /// Names the closest variant and all there are.
    pub fn variant(&self, kind: &str) -> Result<&'static Variant<T>, ChoiceError> {
        self.variants.iter().find(|variant| variant.kind == kind).ok_or_else(|| {
            if let Some((axis, _, feature)) =
                OPTIONAL.iter().find(|(axis, name, _)| *axis == self.axis && *name == kind)
            {
                let message = format!("{axis}: {kind} is not in this build; build with --features {feature}");
                return ChoiceError::whole(message);
            }
            ChoiceError::whole(format!(
                "{}: no variant \"{kind}\"; {}there are {}",
                self.axis,
                suggestion(kind, self.kinds()),
                self.kinds().collect::<Vec<_>>().join(", ")
            ))
        })
    }

    /// The names of all variants, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.variants.iter().map(|variant| variant.kind)
    }

    /// Reads a choice from TOML: `"blocked"`, `"blocked(bits_per_key=12)"` or
    /// `{ kind = "blocked", bits_per_key = 12 }`. The parameters are completed with their defaults and
    /// the component is built once on trial, so that a choice that exists can be built.
    ///
    /// # Errors
    /// Unknown variants and parameters, values of the wrong type, values the variant refuses.
    pub fn choose(&self, value: &Value) -> Result<Choice, ChoiceError> {
        self.choose_beside(value, &[])
    }

    /// As [`choose`](Self::choose), from a table that might have held `others` too, which are told of where a key is
    /// none that there is.
    ///
    /// # Errors
    /// As there.
    pub fn choose_beside(&self, value: &Value, others: &[&str]) -> Result<Choice, ChoiceError> {
        let (kind, given) = match value {
            Value::String(text) => {
                label::parse(text).map_err(|e| ChoiceError::whole(format!("{}: {e}", self.axis)))?
            }
            Value::Table(table) => self.split_kind(table)?,
            other => {
                let message = format!(
                    "{}: a value of type {} is no choice; write \"{kind}\" or {{ kind = \"{kind}\", … }}",
                    self.axis,
                    other.type_str(),
                    kind = self.variants[0].kind,
                );
                return Err(ChoiceError::whole(message));
            }
        };
        let variant = self.variant(&kind)?;
        let defaults = variant.defaults();
        if let Some(key) = given.keys().find(|key| !defaults.contains_key(*key)) {
            return Err(self.unknown_parameter(variant, key, others));
        }
        // One value at a time, so that an error can say which.
        for (key, value) in &given {
            let alone = |value| (variant.normalize)(Table::from_iter([(key.clone(), value)]));
            read_value(value, alone).map_err(|message| {
                ChoiceError::at(key, format!("{}: {}: {key}: {message}", self.axis, variant.kind))
            })?;
        }
        let choice = Choice::new(variant.kind, variant.normalize(given)?, defaults);
        self.build(&choice)?;
        Ok(choice)
    }

    /// Builds the component that `choice` names.
    ///
    /// # Errors
    /// As [`choose`](Self::choose).
    pub fn build(&self, choice: &Choice) -> Result<Box<T>, ChoiceError> {
        let variant = self.variant(choice.kind())?;
        (variant.build)(choice.params().clone()).map_err(|error| ChoiceError {
            message: format!("{}: {}: {}", self.axis, variant.kind, error.message),
            ..error
        })
    }

    /// The baseline: the first variant with its defaults.
    pub fn baseline(&self) -> Choice {
        Choice::default_of(&self.variants[0])
    }

    /// Every variant with its defaults, in order.
    pub fn all(&self) -> impl Iterator<Item = Choice> {
        self.variants.iter().map(Choice::default_of)
    }

    fn split_kind(&self, table: &Table) -> Result<(String, Table), ChoiceError> {
        let mut params = table.clone();
        match params.remove("kind") {
            Some(Value::String(kind)) => Ok((kind, params)),
            Some(_) => Err(ChoiceError::at("kind", format!("{}: kind must be a string", self.axis))),
            None => Err(ChoiceError::whole(format!(
                "{}: the table has no kind; write {{ kind = \"{}\", … }}",
                self.axis, self.variants[0].kind
            ))),
        }
    }

    fn unknown_parameter(&self, variant: &Variant<T>, key: &str, others: &[&str]) -> ChoiceError {
        let defaults = variant.defaults();
        let known: Vec<&str> = defaults.keys().map(String::as_str).chain(others.iter().copied()).collect();
        let list = if known.is_empty() {
            "it takes none".to_owned()
        } else {
            format!("it takes {}", known.join(", "))
        };
        let hint = suggestion(key, known.iter().copied().chain(["kind"]));
        ChoiceError::at(
            key,
            format!("{}: {} has no parameter \"{key}\"; {hint}{list}", self.axis, variant.kind),
        )
    }
}
