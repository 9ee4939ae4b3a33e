//! Catalogs of different components behind one face, for everything that walks the axes of a design.

use toml::{Table, Value};

use crate::{Catalog, Choice, ChoiceError, Limit, Origin};

/// What lists, sweeps and error texts need of a catalog, whatever it builds.
pub trait Axis: Sync {
    /// The name of the axis in TOML.
    fn name(&self) -> &'static str;

    /// One line that says what the axis decides.
    fn summary(&self) -> &'static str;

    /// What there is to say of each variant, in catalog order.
    fn variants(&self) -> Vec<VariantInfo>;

    /// The baseline: the first variant with its defaults.
    fn baseline(&self) -> Choice;

    /// Reads a choice from TOML, as [`Catalog::choose`] does.
    ///
    /// # Errors
    /// As there.
    fn choose(&self, value: &Value) -> Result<Choice, ChoiceError> {
        self.choose_beside(value, &[])
    }

    /// As [`choose`](Self::choose), from a table that might have held `others` too, which are told of where a key is
    /// none that there is.
    ///
    /// # Errors
    /// As there.
    fn choose_beside(&self, value: &Value, others: &[&str]) -> Result<Choice, ChoiceError>;
}

/// What there is to say of a variant.
#[derive(Clone, Debug)]
pub struct VariantInfo {
    /// Its name.
    pub kind: &'static str,
    /// One line that says what it is and when it pays.
    pub summary: &'static str,
    /// Its parameters as commented TOML with their defaults.
    pub reference: &'static str,
    /// Its parameters with their defaults.
    pub defaults: Table,
    /// Whether it bounds its axis instead of being a component one could ship.
    pub oracle: bool,
    /// What it cannot do.
    pub limits: &'static [Limit],
    /// The crate that it comes from.
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

    fn choose_beside(&self, value: &Value, others: &[&str]) -> Result<Choice, ChoiceError> {
        self.choose_beside(value, others)
    }
}
