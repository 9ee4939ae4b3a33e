//! Common interface to the catalogs of all axes, for components of any type.

use toml::{Table, Value};

use crate::{Catalog, Choice, ChoiceError, Limit, Origin};

/// The part of a catalog that does not depend on the component type: names, summaries and choices.
pub trait Axis: Sync {
    /// The name of the axis in TOML.
    fn name(&self) -> &'static str;

    /// One line about the decision that this axis represents.
    fn summary(&self) -> &'static str;

    /// Names, summaries, parameters and limits of all variants, in catalog order.
    fn variants(&self) -> Vec<VariantInfo>;

    /// The baseline: the first variant with its defaults.
    fn baseline(&self) -> Choice;

    /// Returns the limitations of a choice. The list is empty if no variant has the kind of the choice.
    fn limits(&self, choice: &Choice) -> &'static [Limit];

    /// Reads a choice from TOML.
    ///
    /// # Errors
    /// See [`Catalog::choose`].
    fn choose(&self, value: &Value) -> Result<Choice, ChoiceError> {
        self.choose_beside(value, &[])
    }

    /// Reads a choice from a TOML table that may also contain the keys `others`. The error message about an unknown key
    /// lists `others`, too.
    ///
    /// # Errors
    /// See [`Catalog::choose`].
    fn choose_beside(&self, value: &Value, others: &[&str]) -> Result<Choice, ChoiceError>;
}

/// The description of a variant, without the means to build it.
#[derive(Clone, Debug)]
pub struct VariantInfo {
    /// Name of the variant.
    pub kind: &'static str,
    /// One line that describes the variant and when it is useful.
    pub summary: &'static str,
    /// Parameters as commented TOML with their defaults.
    pub reference: &'static str,
    /// Parameters with their defaults.
    pub defaults: Table,
    /// Whether the variant is an ideal bound of the axis, which no real component reaches.
    pub oracle: bool,
    /// Limitations of the variant with its default parameters.
    pub limits: &'static [Limit],
    /// Crate of the variant.
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
