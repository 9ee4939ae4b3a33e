//! All catalogs of variants: for the axes of a design, for workloads, engines, component experiments and charts.

use catalog::{Axis, Limit, VariantInfo};
use toml::Table;
use workload::reference::MIX;

use super::markdown::Entry;
use super::parameters::parameters;
use crate::workbench::AXES;

/// The name of the list of operation kinds, which are not variants of an axis.
pub(super) const MIX_NAME: &str = "mix";

/// A catalog with all its variants, as `lsmbench list` prints it.
pub(super) struct Listed {
    /// The name of the catalog as an argument of `lsmbench list`.
    pub(super) name: &'static str,
    /// The name of the catalog's axis in TOML.
    pub(super) axis: &'static str,
    pub(super) summary: String,
    pub(super) group: Group,
    pub(super) variants: Vec<ListedVariant>,
    source: Option<&'static dyn Axis>,
}

/// A variant of a catalog, as `lsmbench list` prints it.
pub(super) struct ListedVariant {
    pub(super) kind: &'static str,
    pub(super) summary: String,
    /// The parameters of the variant, as TOML with comments.
    pub(super) reference: &'static str,
    pub(super) defaults: Table,
    pub(super) oracle: bool,
    /// The crate that contains the variant.
    pub(super) origin: String,
    pub(super) limits: &'static [Limit],
    info: Option<VariantInfo>,
}

/// The part of an experiment in which the variants of a catalog are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Design,
    Workload,
    Engine,
    Component,
    Chart,
}

impl Group {
    pub(super) const ALL: [Self; 5] =
        [Self::Design, Self::Workload, Self::Engine, Self::Component, Self::Chart];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Design => "Design",
            Self::Workload => "Workload",
            Self::Engine => "Engines",
            Self::Component => "Component experiments",
            Self::Chart => "Charts",
        }
    }

    fn of(name: &str) -> Self {
        match name {
            "keys" | "value" | "range" | "key" | "trace" => Self::Workload,
            "engine" => Self::Engine,
            "subject" => Self::Component,
            "chart" => Self::Chart,
            _ => Self::Design,
        }
    }
}

impl Listed {
    fn of(name: &'static str, group: Group, axis: &'static dyn Axis) -> Self {
        let variant = |info: VariantInfo| ListedVariant {
            kind: info.kind,
            summary: info.summary.to_owned(),
            reference: info.reference,
            defaults: info.defaults.clone(),
            oracle: info.oracle,
            origin: info.origin.to_string(),
            limits: info.limits,
            info: Some(info),
        };
        let variants = axis.variants().into_iter().map(variant).collect();
        Self {
            name,
            axis: axis.name(),
            summary: axis.summary().to_owned(),
            group,
            variants,
            source: Some(axis),
        }
    }

    /// Returns the kinds of operation that a mix can contain, in the form of a catalog.
    fn mix() -> Self {
        let variant = |entry: &catalog::KeyEntry| ListedVariant {
            kind: entry.key,
            summary: in_a_list(entry.about),
            reference: "",
            defaults: Table::new(),
            oracle: false,
            origin: catalog::origin!().to_string(),
            limits: &[],
            info: None,
        };
        Self {
            name: MIX_NAME,
            axis: MIX_NAME,
            summary: "the kinds of operation of a phase, by weight".to_owned(),
            group: Group::Workload,
            variants: MIX.iter().map(variant).collect(),
            source: None,
        }
    }

    /// Returns one row of the reference page for each parameter of a variant of this catalog.
    pub(super) fn parameters(&self, variant: &ListedVariant) -> Vec<Entry> {
        match (self.source, &variant.info) {
            (Some(axis), Some(info)) => parameters(axis, info),
            _ => Vec::new(),
        }
    }
}

impl ListedVariant {
    /// Returns the remarks on the variant in brackets, such as ` [ideal bound]`. Returns an empty text for a variant
    /// without remarks.
    pub(super) fn remarks(&self) -> String {
        let oracle = self.oracle.then(|| "ideal bound".to_owned());
        let remarks: Vec<String> =
            oracle.into_iter().chain(self.limits.iter().map(ToString::to_string)).collect();
        if remarks.is_empty() { String::new() } else { format!(" [{}]", remarks.join("; ")) }
    }
}

/// Converts a sentence to an entry of a list: without an initial capital letter and without the full stop.
fn in_a_list(sentence: &str) -> String {
    let mut chars = sentence.trim_end_matches('.').chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().collect::<String>() + chars.as_str())
}

/// Returns all catalogs, in the order of their groups.
pub(super) fn catalogs() -> Vec<Listed> {
    let mut all: Vec<Listed> =
        AXES.iter().map(|(name, axis)| Listed::of(name, Group::of(name), *axis)).collect();
    all.extend(subject::PARAMETER_CATALOGS.map(|axis| Listed::of(axis.name(), Group::Component, axis)));
    all.push(Listed::mix());
    let place = |listed: &Listed| {
        let group = Group::ALL.iter().position(|group| *group == listed.group);
        (group, listed.name != MIX_NAME)
    };
    all.sort_by_key(place);
    all
}
