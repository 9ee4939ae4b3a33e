//! The catalog of an axis, which lists its variants. Other crates can add variants before the first lookup in the
//! catalog.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use toml::{Table, Value};

use crate::error::alternatives;
use crate::{AdditionError, Choice, ChoiceError, Origin, Variant, label};

/// Variants that only some builds contain, because they depend on many other packages: the axis, the name of the
/// variant, and the Cargo feature.
const OPTIONAL: &[(&str, &str, &str)] = &[("cache", "foyer", "foyer")];

/// All variants of one axis, in the order in which lists and charts show them: the baseline, the textbook variant, the
/// other variants, the ideal bounds.
///
/// Other crates [add](Self::add) variants before the first lookup, and these variants come before the ideal bounds. The
/// first lookup closes the catalog, so all lookups of a process return the same list.
pub struct Catalog<T: ?Sized + 'static> {
    /// The name of the axis in TOML, such as `bloom`.
    pub axis: &'static str,
    /// One line that describes the part of an LSM-tree to which this axis belongs.
    pub summary: &'static str,
    /// The crate of the built-in variants.
    origin: Origin,
    built_in: &'static [Variant<T>],
    added: Mutex<Vec<&'static Variant<T>>>,
    /// All variants in the order of lists and charts. The first lookup sets this field, and afterwards no variant can
    /// be added.
    closed: OnceLock<Box<[&'static Variant<T>]>>,
}

impl<T: ?Sized> Catalog<T> {
    /// Creates a catalog with the built-in variants of the crate `origin`.
    pub const fn new(
        origin: Origin,
        axis: &'static str,
        summary: &'static str,
        built_in: &'static [Variant<T>],
    ) -> Self {
        Self { axis, summary, origin, built_in, added: Mutex::new(Vec::new()), closed: OnceLock::new() }
    }

    /// Adds a variant from another crate to the catalog.
    ///
    /// # Errors
    /// The variant does not name its crate, another variant has the same name, or an earlier lookup has closed the
    /// catalog.
    pub fn add(&self, variant: &'static Variant<T>) -> Result<(), AdditionError> {
        let (axis, kind) = (self.axis, variant.kind);
        if variant.origin.is_none() {
            return Err(AdditionError::NoOrigin { axis, kind });
        }
        let mut added = self.added();
        if self.closed.get().is_some() {
            return Err(AdditionError::Closed { axis, kind });
        }
        let mut taken = self.built_in.iter().chain(added.iter().copied());
        if taken.any(|other| other.kind == kind) {
            return Err(AdditionError::Taken { axis, kind });
        }
        added.push(variant);
        Ok(())
    }

    /// Adds a variant of another crate. If the catalog already contains this variant, the call does nothing and
    /// succeeds, even after the catalog was closed.
    ///
    /// # Errors
    /// See [`add`](Self::add).
    pub fn add_once(&self, variant: &'static Variant<T>) -> Result<(), AdditionError> {
        let has = |other: &Variant<T>| {
            std::ptr::eq(other, variant)
                || other.kind == variant.kind && other.origin.is_some() && other.origin == variant.origin
        };
        match self.add(variant) {
            Err(_) if self.built_in.iter().any(has) => Ok(()),
            Err(AdditionError::Taken { .. } | AdditionError::Closed { .. })
                if self.added().iter().any(|own| has(own)) =>
            {
                Ok(())
            }
            added => added,
        }
    }

    /// Returns the variants that other crates have added, and locks their list.
    fn added(&self) -> MutexGuard<'_, Vec<&'static Variant<T>>> {
        // A thread that panicked while it held the lock left the list complete, because a push is the only operation
        // under the lock.
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all variants, in the order in which lists and charts show them. This call closes the catalog: no variant
    /// can be added afterwards.
    pub fn variants(&self) -> &[&'static Variant<T>] {
        if let Some(closed) = self.closed.get() {
            return closed;
        }
        // Held until the catalog is closed, so that no addition is lost in between.
        let added = self.added();
        self.closed.get_or_init(|| {
            let oracles = self.built_in.iter().rev().take_while(|variant| variant.oracle).count();
            // Where all built-in variants are ideal bounds, additions come last.
            let end = if oracles == self.built_in.len() { oracles } else { self.built_in.len() - oracles };
            let (first, last) = self.built_in.split_at(end);
            first.iter().chain(added.iter().copied()).chain(last).collect()
        })
    }

    /// Checks that no two variants of different crates have the same code, which is the number that identifies a
    /// variant in files. `code` returns the code of a component.
    ///
    /// Variants that cannot be built with their default parameters are not checked. This call closes the catalog: no
    /// variant can be added afterwards.
    ///
    /// # Errors
    /// Two variants of different crates have the same code.
    pub fn check_codes(&self, code: impl Fn(&T) -> Option<u8>) -> Result<(), AdditionError> {
        if self.added().is_empty() {
            return Ok(());
        }
        let code_of = |variant: &&'static Variant<T>| {
            let code = code(&*variant.build(variant.defaults()).ok()?)?;
            Some((*variant, code))
        };
        let codes: Vec<_> = self.variants().iter().filter_map(code_of).collect();
        for (place, (variant, code)) in codes.iter().enumerate() {
            let is_taken_by = |(other, taken): &&(&Variant<T>, u8)| {
                taken == code && self.origin_of(other).package != self.origin_of(variant).package
            };
            if let Some((other, _)) = codes[..place].iter().find(is_taken_by) {
                return Err(AdditionError::SameCode {
                    axis: self.axis,
                    kinds: [other.kind, variant.kind],
                    code: *code,
                });
            }
        }
        Ok(())
    }

    /// Returns the crate that defines a variant of this catalog.
    pub fn origin_of(&self, variant: &Variant<T>) -> Origin {
        variant.origin.unwrap_or(self.origin)
    }

    /// Returns the variant with this name.
    ///
    /// # Errors
    /// No variant has this name. The message contains the most similar name, and lists all variants.
    pub fn variant(&self, kind: &str) -> Result<&'static Variant<T>, ChoiceError> {
        let named = self.variants().iter().find(|variant| variant.kind == kind);
        named.copied().ok_or_else(|| {
            if let Some((axis, _, feature)) =
                OPTIONAL.iter().find(|(axis, name, _)| *axis == self.axis && *name == kind)
            {
                let message = format!(
                    "{axis}: this build of lsmbench does not contain {kind}; build with --features {feature}"
                );
                return ChoiceError::whole(message);
            }
            let (axis, end) = (self.axis, alternatives(kind, self.kinds().collect::<Vec<_>>()));
            ChoiceError::whole(format!("{axis}: unknown variant \"{kind}\"{end}"))
        })
    }

    /// Iterates over the names of all variants, in the order of lists and charts.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.variants().iter().map(|variant| variant.kind)
    }

    /// Reads a choice (a variant with its parameters) from TOML, such as `"blocked"`, `"blocked(bits_per_key=12)"` or
    /// `{ kind = "blocked", bits_per_key = 12 }`. A missing parameter gets its default value. The call builds the
    /// component once as a test, so every returned choice can be built.
    ///
    /// # Errors
    /// The variant or a parameter is unknown, a value has the wrong type, or the variant rejects a value.
    pub fn choose(&self, value: &Value) -> Result<Choice, ChoiceError> {
        self.choose_beside(value, &[])
    }

    /// Reads a choice (a variant with its parameters) from a TOML table that may also contain the keys `others`. Error
    /// messages list these keys among the valid keys.
    ///
    /// # Errors
    /// See [`choose`](Self::choose).
    pub fn choose_beside(&self, value: &Value, others: &[&str]) -> Result<Choice, ChoiceError> {
        let (kind, given) = match value {
            Value::String(text) => {
                label::parse(text).map_err(|e| ChoiceError::whole(format!("{}: {e}", self.axis)))?
            }
            Value::Table(table) => self.split_kind(table)?,
            other => {
                let message = format!(
                    "{}: expected a variant, not a value of type {}; write \"{kind}\" or {{ kind = \"{kind}\", … }}",
                    self.axis,
                    other.type_str(),
                    kind = self.baseline_variant().kind,
                );
                return Err(ChoiceError::whole(message));
            }
        };
        self.variant(&kind)?.choose(self.axis, given, others)
    }

    /// Builds the component of a choice.
    ///
    /// # Errors
    /// See [`choose`](Self::choose).
    pub fn build(&self, choice: &Choice) -> Result<Box<T>, ChoiceError> {
        self.variant(choice.kind())?.build_of(self.axis, choice)
    }

    fn baseline_variant(&self) -> &'static Variant<T> {
        self.variants().first().expect("the catalog of an axis must have at least one variant")
    }

    /// Returns the baseline of the axis: the first variant with its default parameters.
    pub fn baseline(&self) -> Choice {
        self.baseline_variant().default_choice()
    }

    /// Iterates over all variants, in the order of lists and charts. Each variant has its default parameters.
    pub fn all(&self) -> impl Iterator<Item = Choice> {
        self.variants().iter().map(|variant| variant.default_choice())
    }

    fn split_kind(&self, table: &Table) -> Result<(String, Table), ChoiceError> {
        let mut params = table.clone();
        match params.remove("kind") {
            Some(Value::String(kind)) => Ok((kind, params)),
            Some(_) => Err(ChoiceError::at("kind", format!("{}: kind must be a string", self.axis))),
            None => Err(ChoiceError::whole(format!(
                "{}: the table has no key kind; write {{ kind = \"{}\", … }}",
                self.axis,
                self.baseline_variant().kind
            ))),
        }
    }
}
