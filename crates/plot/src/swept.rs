//! The texts of swept values in charts. A row contains a size as a number of bytes, but a chart shows the size as in
//! the experiment file. If some swept variants set a parameter, such as `adaptive(remembered=0.1)`, a chart also shows
//! the default value of this parameter in the other variants.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use results::columns::ENGINE;
use results::{ConfigPath, Root, Table};
use toml::Value;
use types::quantity;

use crate::{ChartSpec, Scalar, SelectedValues};

/// The texts of swept values in charts, by column and by the text of the value in a row.
#[derive(Clone, Debug, Default)]
pub struct SweptTexts {
    columns: BTreeMap<String, BTreeMap<String, String>>,
}

impl SweptTexts {
    /// Collects the texts of all swept values. `swept` contains the swept paths. `cells` contains the label of each
    /// configuration and its swept values, as texts of the experiment file in the order of the paths.
    pub fn of(swept: &[String], cells: &[(&str, &[String])]) -> Self {
        let mut columns = BTreeMap::new();
        for (at, path) in swept.iter().enumerate().filter(|(_, path)| *path != ENGINE) {
            let cells: Vec<(&str, &str)> =
                cells.iter().filter_map(|(label, values)| Some((*label, values.get(at)?.as_str()))).collect();
            let parsed = ConfigPath::new(path);
            let is_axis = parsed.root() == Root::Design && parsed.below().len() == 1;
            let mut texts = sizes(&cells);
            texts.extend(is_axis.then(|| variants(&cells)).into_iter().flatten());
            if !texts.is_empty() {
                columns.insert(path.clone(), texts);
            }
        }
        Self { columns }
    }

    /// Returns the text of a swept value in charts. `text` is the value as in a row or as in the experiment file.
    pub(crate) fn shown<'t>(&'t self, column: &str, text: &'t str) -> &'t str {
        let Some(texts) = self.columns.get(column) else { return text };
        let bytes = quantity::parse_size(text).map(|bytes| bytes.to_string());
        texts.get(bytes.as_deref().unwrap_or(text)).map_or(text, String::as_str)
    }

    /// Returns a table whose swept values have the texts of charts.
    pub(crate) fn in_table<'t>(&self, table: &'t Table) -> Cow<'t, Table> {
        match self.columns.is_empty() {
            true => Cow::Borrowed(table),
            false => Cow::Owned(table.with_swept(|column, text| self.shown(column, text).to_owned())),
        }
    }

    /// Returns the description of a chart whose filter has the texts of charts.
    pub(crate) fn in_spec(&self, spec: &ChartSpec) -> ChartSpec {
        let mut spec = spec.clone();
        for (column, values) in
            spec.filter.iter_mut().filter(|(column, _)| self.columns.contains_key(*column))
        {
            let texts = values.texts();
            let shown = texts.iter().map(|text| Scalar::Text(self.shown(column, text).to_owned()));
            *values = SelectedValues::Any(shown.collect());
        }
        spec
    }
}

/// Returns the text of each size, by its number of bytes. Returns no texts if the values are not sizes. A number
/// without a unit is a size if another value has a unit.
fn sizes(cells: &[(&str, &str)]) -> BTreeMap<String, String> {
    let values = || cells.iter().map(|(_, value)| *value);
    if !values().any(|value| quantity::parse_size(value).is_some()) {
        return BTreeMap::new();
    }
    let text = |value: &str| match quantity::parse_size(value) {
        Some(bytes) => Some((bytes.to_string(), value.to_owned())),
        None => value.parse().ok().map(|bytes| (value.to_owned(), quantity::format_bytes(bytes))),
    };
    values().filter_map(text).collect()
}

/// Returns the text of each variant that lacks a parameter which another swept variant sets. The label of a
/// configuration contains the value of this parameter. If several configurations have different values, the sweep
/// changes the parameter by its own path, so the text of the variant lacks the parameter. In the results of earlier
/// versions, labels lack default values, so the texts are unchanged.
fn variants(cells: &[(&str, &str)]) -> BTreeMap<String, String> {
    let kind = |text: &str| text.split('(').next().map(str::to_owned);
    let parameters = |value: &str| catalog::set_parameters(&Value::from(value));
    let set: BTreeSet<String> = cells.iter().flat_map(|(_, value)| parameters(value)).collect();
    let mut names: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (label, value) in cells {
        let mut parts = label.split(" + ").filter(|part| kind(part) == kind(value));
        let name = parts.next().filter(|_| parts.next().is_none());
        let name = name.and_then(|part| catalog::label_with_only(part, &set));
        names.entry(*value).or_default().insert(name.unwrap_or_else(|| (*value).to_owned()));
    }
    let name = |(value, names): (&str, BTreeSet<String>)| {
        let has_more = |name: &str| {
            let (more, own) = (parameters(name), parameters(value));
            more.is_superset(&own) && more != own
        };
        let name = names.first().filter(|name| names.len() == 1 && has_more(name))?;
        Some((value.to_owned(), name.clone()))
    };
    names.into_iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, cells: &[(&str, &str)]) -> SweptTexts {
        let values: Vec<[String; 1]> = cells.iter().map(|(_, value)| [(*value).to_owned()]).collect();
        let cells: Vec<(&str, &[String])> =
            cells.iter().zip(&values).map(|((label, _), values)| (*label, &values[..])).collect();
        SweptTexts::of(&[path.to_owned()], &cells)
    }

    #[test]
    fn a_number_of_bytes_has_the_text_of_the_experiment_file() {
        let path = "design.memory";
        let shown = texts(path, &[("memory=2MiB", "2MiB"), ("memory=0 B", "0 B"), ("memory=512", "512")]);
        for (row, text) in
            [("2097152", "2MiB"), ("2MiB", "2MiB"), ("2048KiB", "2MiB"), ("0", "0 B"), ("512", "512B")]
        {
            assert_eq!(shown.shown(path, row), text);
        }
        assert_eq!(shown.shown("cell", "0"), "0");
        let counts = texts(path, &[("entries=1000", "1000"), ("entries=10k", "10k")]);
        assert_eq!(counts.shown(path, "1000"), "1000");
    }

    #[test]
    fn a_variant_has_the_default_that_another_variant_changes() {
        let path = "design.compaction";
        let cells = [
            ("leveled(size_ratio=4)", "leveled(size_ratio=4)"),
            ("leveled(size_ratio=10, level0_runs=2) + theta=0.5", "leveled"),
            ("none + theta=0.5", "none"),
        ];
        let shown = texts(path, &cells);
        assert_eq!(shown.shown(path, "leveled"), "leveled(size_ratio=10)");
        assert_eq!(shown.shown(path, "leveled(size_ratio=4)"), "leveled(size_ratio=4)");
        assert_eq!(shown.shown(path, "none"), "none");
        let by_path = [
            ("leveled(size_ratio=4)", "leveled"),
            ("leveled(size_ratio=10)", "leveled"),
            ("tiered(size_ratio=6)", "tiered(size_ratio=6)"),
        ];
        assert_eq!(texts(path, &by_path).shown(path, "leveled"), "leveled");
        assert_eq!(texts("engine", &cells).shown("engine", "leveled"), "leveled");
        let earlier =
            [("leveled", "leveled"), ("tiered(size_ratio=4)", "tiered(size_ratio=4, level0_runs=1)")];
        for (_, value) in earlier {
            assert_eq!(texts(path, &earlier).shown(path, value), value);
        }
    }
}
