//! Labels of configurations, such as `leveled(size_ratio=4) + theta=0.5`. A label contains the variants that the sweep
//! changes, with their parameters, and the names and values of all other swept settings.
//!
//! A variant in a label usually has only the parameters that differ from their defaults. A parameter that the sweep
//! sets has its value in the label even if this value is the default, because readers compare these values.

use std::collections::{BTreeMap, BTreeSet};

use catalog::{Choice, set_parameters};
use results::{ConfigPath, Root};
use tree::{Design, axis, own_keys};

use super::cell::Cell;
use super::engine::{ENGINE, engine, engine_label_with};
use super::resolved::Experiment;
use super::sweep::{Combine, Factor, Sweep};

/// The rules for the labels of a sweep.
pub(super) struct Labels<'a> {
    factors: &'a [Factor],
    /// The short name of each swept path, such as `theta`.
    names: Vec<String>,
    /// The name of the experiment, which is the label of the only configuration without a sweep.
    experiment: &'a str,
    /// The parameters that labels contain even with their default values, by axis. The key [`ENGINE`] contains the
    /// parameters of engines.
    kept: BTreeMap<&'a str, BTreeSet<String>>,
}

impl<'a> Labels<'a> {
    /// Returns the rules for the labels of a sweep. `experiment` is the name of the experiment.
    pub(super) fn new(sweep: &'a Sweep, experiment: &'a str) -> Self {
        let factors = &sweep.factors;
        Self { factors, names: short_names(factors), experiment, kept: kept_parameters(sweep) }
    }

    /// Returns the label of a configuration from its engine, its design and its swept values.
    pub(super) fn label(&self, engine: &Choice, design: &Design, swept: &[String]) -> String {
        let none = BTreeSet::new();
        let kept = |axis: &str| self.kept.get(axis).unwrap_or(&none);
        let mut parts: Vec<String> = Vec::new();
        for (at, factor) in self.factors.iter().enumerate() {
            let path = ConfigPath::new(&factor.path);
            let part = match (path.root(), path.below()) {
                (Root::Engine, _) => engine_label_with(engine, kept(ENGINE)),
                (Root::Design, _) if !reads_all(engine) && swept[at].is_empty() => continue,
                (Root::Design, [axis, key]) if is_own_key(axis, key) => {
                    format!("{}={}", self.names[at], swept[at])
                }
                (Root::Design, [axis_name, ..]) if axis(axis_name).is_some() => {
                    design.choice(axis_name).label_with(kept(axis_name))
                }
                _ if !swept[at].is_empty() => format!("{}={}", self.names[at], swept[at]),
                _ => continue,
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        if parts.is_empty() { self.experiment.to_owned() } else { parts.join(" + ") }
    }
}

impl Experiment {
    /// Returns the label of a configuration without parameters that have their default values, such as `leveled`. An
    /// experiment may name its baseline by this label, because earlier versions of lsmbench used it.
    pub(super) fn short_label(&self, cell: &Cell) -> String {
        if self.sweep.labels.is_some() {
            return cell.label.clone();
        }
        let labels = Labels { kept: BTreeMap::new(), ..Labels::new(&self.sweep, &self.name) };
        labels.label(&cell.engine, &cell.design, &cell.swept)
    }
}

/// Returns the parameters that labels contain even with their default values, by axis. The sweep changes these
/// parameters by their paths, or sets them in a variant such as `"leveled(size_ratio=10)"`.
///
/// A variant of an engine usually sets parameters such as the path of a library, for which a label has no space. For
/// engines, only the parameters that the sweep changes by their paths count.
fn kept_parameters(sweep: &Sweep) -> BTreeMap<&str, BTreeSet<String>> {
    let mut kept: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for factor in &sweep.factors {
        // An ablation also runs the value of the base design.
        let varies =
            sweep.combine == Combine::Ablate || factor.values.iter().any(|one| *one != factor.values[0]);
        let path = ConfigPath::new(&factor.path);
        match (path.root(), path.below()) {
            (Root::Engine, [parameter]) if varies => {
                kept.entry(ENGINE).or_default().insert((*parameter).to_owned());
            }
            (Root::Design, [axis, parameter, ..]) if varies => {
                kept.entry(*axis).or_default().insert((*parameter).to_owned());
            }
            (Root::Design, [axis]) => {
                kept.entry(*axis).or_default().extend(factor.values.iter().flat_map(set_parameters));
            }
            _ => {}
        }
    }
    kept
}

/// Returns a short name for each swept path: its last part, such as `theta`. If the last parts of two paths are equal,
/// the names contain more parts, such as `load.threads`.
fn short_names(factors: &[Factor]) -> Vec<String> {
    let paths: Vec<ConfigPath<'_>> = factors.iter().map(|factor| ConfigPath::new(&factor.path)).collect();
    let tail = |path: &[&str], length: usize| path[path.len() - length..].join(".");
    let name = |path: &ConfigPath<'_>| {
        let parts = path.parts();
        // The last part of the path of a design option is ambiguous, such as `size`.
        let least = if path.root() == Root::Design { parts.len().min(2) } else { 1 };
        let is_unique = |length: &usize| {
            let others = paths.iter().map(ConfigPath::parts).filter(|other| other.len() >= *length);
            others.filter(|other| tail(other, *length) == tail(parts, *length)).count() == 1
        };
        tail(parts, (least..parts.len()).find(is_unique).unwrap_or(parts.len()))
    };
    paths.iter().map(name).collect()
}

/// Returns whether an engine uses all settings of a design, as the tree of lsmbench does.
pub(super) fn reads_all(choice: &Choice) -> bool {
    engine(choice).reads_whole_design()
}

/// Returns whether every variant of the axis `axis` accepts the key `key`, such as `memtable.capacity`.
pub(super) fn is_own_key(axis: &str, key: &str) -> bool {
    own_keys(axis).any(|own| own == key)
}
