//! A common trait for the catalogs of all axes, which does not depend on the type of the components.

use toml::{Table, Value};

use crate::{Catalog, Choice, ChoiceError, Limit, Origin};

/// An axis: a list of variants that have the same task. The trait hides the type of the components, so that code can
/// work on all axes.
pub trait Axis: Sync {
    /// Returns the name of the axis in TOML, such as `bloom`.
    fn name(&self) -> &'static str;

    /// Returns one line that describes the part of an LSM-tree to which this axis belongs.
    fn summary(&self) -> &'static str;

    /// Returns the descriptions of all variants of the axis, in the order of the catalog.
    fn variants(&self) -> Vec<VariantInfo>;

    /// Returns the baseline of the axis: the first variant with its default parameters.
    fn baseline(&self) -> Choice;

    /// Returns the limitations of a choice (a variant with its parameters). The list is empty if the axis does not
    /// contain the variant.
    fn limits(&self, choice: &Choice) -> &'static [Limit];

    /// Reads a choice (a variant with its parameters) from TOML.
    ///
    /// # Errors
    /// See [`Catalog::choose`].
    fn choose(&self, value: &Value) -> Result<Choice, ChoiceError> {
        self.choose_beside(value, &[])
    }

    /// Reads a choice (a variant with its parameters) from a TOML table that may also contain the keys `others`. Error
    /// messages list these keys among the valid keys.
    ///
    /// # Errors
    /// See [`Catalog::choose`].
    fn choose_beside(&self, value: &Value, others: &[&str]) -> Result<Choice, ChoiceError>;
}

/// The description of a variant, without the code that builds its component.
#[derive(Clone, Debug)]
pub struct VariantInfo {
    /// The name of the variant, such as `blocked`.
    pub kind: &'static str,
    /// One line that describes the variant and its use.
    pub summary: &'static str,
    /// The parameters with their defaults, as TOML with comments.
    pub reference: &'static str,
    /// The parameters with their defaults.
    pub defaults: Table,
    /// Whether the variant is an ideal bound of the axis. No real component can have better results.
    pub oracle: bool,
    /// The limitations that the variant has with its default parameters.
    pub limits: &'static [Limit],
    /// The crate that defines the variant.
    pub origin: Origin,
}

impl<T: ?Sized> Axis for Catalog<T> {
    fn name(&self) -> &'static str {
        self.axis
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn variants(&self) -> Vec<VariantInfo> {
        let info = |variant: &&'static crate::Variant<T>| VariantInfo {
            kind: variant.kind,
            summary: variant.summary,
            reference: variant.reference,
            defaults: variant.defaults(),
            oracle: variant.oracle,
            limits: variant.limits,
            origin: self.origin_of(variant),
        };
        Self::variants(self).iter().map(info).collect()
    }

    fn baseline(&self) -> Choice {
        self.baseline()
    }

    fn limits(&self, choice: &Choice) -> &'static [Limit] {
        self.variant(choice.kind()).map_or(&[], |variant| variant.limits_of(choice))
    }

    fn choose_beside(&self, value: &Value, others: &[&str]) -> Result<Choice, ChoiceError> {
        self.choose_beside(value, others)
    }
}
