//! Applies overrides to a design. The overrides come from a `[design]` table, from `extends` or from a sweep.

use std::collections::BTreeSet;

use catalog::{Axis, ByteSize, Choice, alternatives, read_value, set_parameters};
use toml::{Table, Value};

use super::assembly::LEAST_MEMTABLE_BYTES;
use super::axes::{self, AXES};
use super::deprecated::renamed;
use super::families::{FamilyDesigns, FamilyLayout};
use super::family_changes::FAMILIES;
use super::own_keys::{self, CAPACITY, FILTER, own_keys};
use super::{Design, DesignError, Options};
use crate::table::FORMATS;

/// The names of the option groups in TOML.
const GROUPS: [&str; 8] =
    ["block", "table", "range", "merge", "stall", "threads", "memory", "merge_operator"];

/// The axes that may also be set in the TOML table of another axis or option group. The first element of each pair
/// names this table and the second element names the axis, as in `bloom.allocation`.
pub const SECOND_NAMES: [(&str, &str); 2] = [(axes::BLOOM, axes::ALLOCATION), (axes::BLOCK, axes::FORMAT)];

impl Design {
    /// Returns whether the design has a memory budget (`memory`), which determines the capacity of the cache.
    pub fn has_budget(&self) -> bool {
        self.options.memory.is_some()
    }

    /// Removes the capacity of the cache from a design in TOML. An experiment with a memory budget must not set the
    /// capacity, because the budget determines it.
    #[must_use]
    pub fn without_cache_capacity(mut design: Table) -> Table {
        if let Some(Value::Table(cache)) = design.get_mut(axes::CACHE) {
            cache.remove(CAPACITY);
        }
        design
    }

    /// Returns the design as TOML, with every choice and option.
    pub fn to_toml(&self) -> Table {
        let mut table = Table::new();
        for (axis, choice) in self.choices() {
            let mut value = choice.to_toml();
            if let (axes::MEMTABLE, Value::Table(memtable)) = (axis, &mut value) {
                own_keys::put(self, memtable);
            }
            table.insert(axis.to_owned(), value);
        }
        table.extend(self.options.to_toml());
        if !self.families.is_empty() {
            table.insert(FAMILIES.to_owned(), Value::Table(self.families.to_toml()));
        }
        table
    }

    /// Returns this design with the values of `overrides`.
    ///
    /// - A string (`"blocked"`, `"blocked(bits_per_key=12)"`) changes the variant of an axis. The new variant takes
    ///   over the parameters that the old variant also has, such as `bits_per_key`, if their values were changed from
    ///   the default and the string does not set them.
    /// - A table with a `kind` replaces the variant and its parameters. Missing keys take their defaults.
    /// - A table without a `kind` changes parameters of the existing variant.
    /// - If a key belongs to the axis itself ([`own_keys()`]), such as `memtable.capacity`, the key keeps its value
    ///   unless `overrides` names the key. The keys `bloom.allocation` and `block.format` also keep their values,
    ///   because these keys are second names of the axes `allocation` and `format`.
    /// - In the table `families`, each inner table contains the changes of one column family, by the same rules.
    /// - A deprecated name has the effect of the name that replaces it. See [`DEPRECATIONS`](super::DEPRECATIONS).
    ///
    /// # Errors
    /// If a key or variant is unknown, a type is wrong or a value is out of range. The error names the key.
    pub fn with(&self, overrides: &Table) -> Result<Self, DesignError> {
        self.with_all(std::slice::from_ref(overrides))
    }

    /// Returns this design with the values of several tables of overrides. Values of later tables replace values of
    /// earlier tables. The function checks combinations of values only after the last table.
    ///
    /// # Errors
    /// See [`with`](Self::with).
    pub fn with_all(&self, tables: &[Table]) -> Result<Self, DesignError> {
        let tables: Vec<_> = tables.iter().map(renamed).collect();
        let mut next = self.clone();
        for table in &tables {
            next.overlay(table)?;
        }
        next.check()?;
        next.check_families()?;
        // The changes of the families apply to the complete design of the store.
        tables.iter().filter_map(|table| table.get(FAMILIES)).try_fold(next, Self::with_families)
    }

    /// Sets the values of `overrides` in this design, except for the table `families`. Does not check combinations of
    /// values.
    fn overlay(&mut self, overrides: &Table) -> Result<(), DesignError> {
        check_names(overrides)?;
        let mut options = self.options.to_toml();
        for (key, value) in overrides {
            if let Some(index) = axes::index(key) {
                self.override_choice(index, value)?;
            } else if GROUPS.contains(&key.as_str()) {
                let value = self.override_format(key, value)?;
                merge_group(&mut options, key, &value)?;
            } else if key != FAMILIES {
                return Err(unknown_key(key));
            }
        }
        self.options = read_options(&options)?;
        Ok(())
    }

    /// Returns an error if an option of the design is out of range, or if a combination of values is invalid.
    fn check(&self) -> Result<(), DesignError> {
        self.options.validate().map_err(|(group, key, message)| {
            DesignError::at(group, Some(key.to_owned()), format!("{group}.{key}: {message}"))
        })?;
        if self.memtable_capacity.0 < LEAST_MEMTABLE_BYTES {
            let message =
                format!("memtable.capacity: must be at least 1 KiB, not {}", self.memtable_capacity);
            return Err(DesignError::at(axes::MEMTABLE, Some(CAPACITY.to_owned()), message));
        }
        if let Some(filter) = self.memtable_filter.filter(|filter| *filter > self.memtable_capacity) {
            let capacity = self.memtable_capacity;
            let message =
                format!("memtable.filter: must be at most {capacity} (memtable.capacity), not {filter}");
            return Err(DesignError::at(axes::MEMTABLE, Some(FILTER.to_owned()), message));
        }
        self.check_pages()?;
        self.check_arbiter()?;
        self.check_manifest()?;
        let memtables = self.memtable_capacity.0.saturating_mul(2);
        match self.options.memory {
            Some(memory) if memory.0 <= memtables => Err(DesignError::at(
                "memory",
                None,
                format!(
                    "memory: must be larger than two memtables of {} each, not {memory}, because filters and \
                     cache need memory too",
                    self.memtable_capacity
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Returns an error if the block size is not a valid page size of the block format.
    fn check_pages(&self) -> Result<(), DesignError> {
        let (format, size) = (self.choice(axes::FORMAT), self.options.block.size);
        let built =
            FORMATS.build(format).map_err(|error| DesignError::at(axes::FORMAT, None, error.message))?;
        if built.is_page_aligned() && !size.0.is_power_of_two() {
            let message =
                format!("block.size: must be a power of two, not {size}, because {format} takes whole pages");
            return Err(DesignError::at(axes::BLOCK, Some("size".to_owned()), message));
        }
        Ok(())
    }

    /// Returns an error if an arbiter changes the capacity of a cache that cannot be resized, or of a cache that
    /// several trees share.
    pub(super) fn check_arbiter(&self) -> Result<(), DesignError> {
        let (arbiter, cache) = (self.choice(axes::ARBITER), self.choice(axes::CACHE));
        if self.moves_memory() && !self.families.is_empty() && self.families.layout == FamilyLayout::Trees {
            let message = format!(
                "arbiter: \"{arbiter}\" cannot divide the memory between several trees; use arbiter = \"static\", or \
                 families.layout = \"prefixed\""
            );
            return Err(DesignError::at(axes::ARBITER, None, message));
        }
        if !self.moves_memory() || cache::CATALOG.build(cache).is_ok_and(|cache| cache.is_resizable()) {
            return Ok(());
        }
        let message = format!(
            "arbiter: \"{arbiter}\" resizes the cache, but the cache \"{cache}\" cannot be resized; use another \
             cache, such as cache = \"lru\", or arbiter = \"static\""
        );
        Err(DesignError::at(axes::ARBITER, None, message))
    }

    /// Sets the block format of the design if `group` is `block` and `value` has the key `format`. Returns `value`
    /// without this key.
    fn override_format(&mut self, group: &str, value: &Value) -> Result<Value, DesignError> {
        let mut value = value.clone();
        if group == axes::BLOCK
            && let Value::Table(table) = &mut value
            && let Some(format) = table.remove(axes::FORMAT)
        {
            let index = axes::index(axes::FORMAT).expect("a design must have the axis \"format\"");
            self.override_choice(index, &format).map_err(|error| error.inside(group))?;
        }
        Ok(value)
    }

    fn override_choice(&mut self, index: usize, value: &Value) -> Result<(), DesignError> {
        let axis = AXES[index];
        let mut value = value.clone();
        if axis.name() == axes::MEMTABLE
            && let Value::Table(table) = &mut value
        {
            own_keys::take(self, table)?;
            if table.is_empty() {
                return Ok(());
            }
        }
        if axis.name() == axes::BLOOM
            && let Value::Table(table) = &mut value
        {
            if let Some(allocation) = table.remove(axes::ALLOCATION) {
                let index =
                    axes::index(axes::ALLOCATION).expect("a design must have the axis \"allocation\"");
                self.override_choice(index, &allocation).map_err(|error| error.inside(axes::BLOOM))?;
            }
            if table.is_empty() {
                return Ok(());
            }
        }
        let locate = |error: catalog::ChoiceError| DesignError::at(axis.name(), error.key, error.message);
        let value = match value {
            Value::Table(table) if !table.contains_key("kind") => changed_params(&self.choices[index], table),
            other => other,
        };
        let carries = value.is_str();
        // A string cannot set keys that belong to the axis itself, such as `memtable.capacity`.
        let others: Vec<&str> = if carries { Vec::new() } else { keys_beside(axis.name()).collect() };
        let mut choice = axis.choose_beside(&value, &others).map_err(locate)?;
        if carries {
            let set = set_parameters(&value);
            choice = axis.choose(&carried_over(axis, &self.choices[index], &choice, &set)).map_err(locate)?;
        }
        self.choices[index] = choice;
        Ok(())
    }
}

impl Default for Design {
    /// Returns the default design, which suits general workloads.
    fn default() -> Self {
        let baseline = Self {
            choices: AXES.iter().map(|axis| axis.baseline()).collect(),
            memtable_capacity: ByteSize(16 << 20),
            memtable_entries: None,
            memtable_filter: None,
            memtable_key_range: false,
            options: Options::default(),
            families: FamilyDesigns::default(),
        };
        let text = include_str!("default.toml");
        let table: Table = text.parse().expect("the file `default.toml` must be valid TOML");
        baseline.with(&table).expect("the file `default.toml` must contain a valid design")
    }
}

/// Returns the keys in the TOML table `table` that are neither parameters of a variant nor options of an option group,
/// such as `memtable.capacity` and the second names of axes.
fn keys_beside(table: &str) -> impl Iterator<Item = &'static str> {
    let second_names = SECOND_NAMES.into_iter().filter(move |(group, _)| *group == table);
    own_keys(table).chain(second_names.map(|(_, key)| key))
}

/// Returns an error if `overrides` sets an axis under both of its names.
fn check_names(overrides: &Table) -> Result<(), DesignError> {
    let is_named = |(group, key): &&(&str, &str)| {
        let group = overrides.get(*group).and_then(Value::as_table);
        overrides.contains_key(*key) && group.is_some_and(|group| group.contains_key(*key))
    };
    match SECOND_NAMES.iter().find(is_named) {
        None => Ok(()),
        Some((group, key)) => {
            let message = format!("{key} and {group}.{key} are names of one axis; use only one name");
            Err(DesignError::at(key, None, message))
        }
    }
}

/// Returns the current variant of an axis, with the new parameter values in `changes`.
fn changed_params(current: &Choice, changes: Table) -> Value {
    let mut value = current.to_toml();
    if let Value::Table(table) = &mut value {
        table.extend(changes);
    }
    value
}

/// Returns the new variant of an axis with some parameter values of the old variant, such as `bits_per_key`. A
/// parameter keeps its old value if the old value differs from its default, and if `set` does not contain the
/// parameter. `set` contains the parameters that the user sets in the new variant.
fn carried_over(axis: &dyn Axis, old: &Choice, new: &Choice, set: &BTreeSet<String>) -> Value {
    let variants = axis.variants();
    let old_defaults = variants.iter().find(|variant| variant.kind == old.kind());
    let old_defaults = old_defaults.map(|variant| variant.defaults.clone()).unwrap_or_default();
    let mut table = Table::new();
    table.insert("kind".to_owned(), Value::String(new.kind().to_owned()));
    for (key, value) in new.params() {
        let set_by_old = old.params().get(key).filter(|old_value| old_defaults.get(key) != Some(old_value));
        let set_by_old = set_by_old.filter(|_| !set.contains(key));
        let value = set_by_old.map_or(value.clone(), |old| spelt_like(old, value));
        table.insert(key.clone(), value);
    }
    Value::Table(table)
}

/// Converts a parameter value to the type of `like`, the value of this parameter in another variant. Only whole numbers
/// are converted, from floats to integers: `3.0` becomes `3`.
fn spelt_like(value: &Value, like: &Value) -> Value {
    match (value, like) {
        (Value::Float(number), Value::Integer(_)) if number.fract() == 0.0 => Value::Integer(*number as i64),
        _ => value.clone(),
    }
}

fn merge_group(options: &mut Table, key: &str, value: &Value) -> Result<(), DesignError> {
    match (options.get_mut(key), value) {
        (Some(Value::Table(group)), Value::Table(changes)) => {
            for (name, change) in changes {
                if !group.contains_key(name) {
                    let beside = keys_beside(key).map(str::to_owned);
                    let known: Vec<String> = group.keys().cloned().chain(beside).collect();
                    let end = alternatives(name, known.iter().map(String::as_str));
                    let message = format!("{key} has no option \"{name}\"{end}");
                    return Err(DesignError::at(key, Some(name.clone()), message));
                }
                group.insert(name.clone(), change.clone());
            }
        }
        (Some(Value::Table(_)), _) => {
            return Err(DesignError::at(key, None, format!("{key} must be a table: {key} = {{ … }}")));
        }
        _ => {
            options.insert(key.to_owned(), value.clone());
        }
    }
    Ok(())
}

/// Reads the options of a design. The function reads each option separately, so that an error names the option.
fn read_options(table: &Table) -> Result<Options, DesignError> {
    let groups = Options::default().to_toml();
    for (key, value) in table {
        let read = |value| Value::Table(Table::from_iter([(key.clone(), value)])).try_into::<Options>();
        let Some(group) = value.as_table().filter(|_| groups.contains_key(key)) else {
            read_value(value, read)
                .map_err(|message| DesignError::at(key, None, format!("{key}: {message}")))?;
            continue;
        };
        for (name, option) in group {
            let alone = |option| read(Value::Table(Table::from_iter([(name.clone(), option)])));
            read_value(option, alone).map_err(|message| {
                DesignError::at(key, Some(name.clone()), format!("{key}.{name}: {message}"))
            })?;
        }
    }
    Ok(Value::Table(table.clone())
        .try_into()
        .expect("options must be valid together if each of them is valid"))
}

fn unknown_key(key: &str) -> DesignError {
    let known: Vec<&str> = AXES.iter().map(|axis| axis.name()).chain(GROUPS).chain([FAMILIES]).collect();
    DesignError::at(key, None, format!("a design has no key \"{key}\"{}", alternatives(key, known)))
}
