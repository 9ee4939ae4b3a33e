//! The order of labels in charts. The order also determines the style of each label, so that a label has the same style
//! in all charts.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use crate::palette::{Color, DASHES, HUES, MARKS, Style, USUAL_HUES};

/// The known labels of each column, in order, such as the names of variants. A chart may also have other labels.
#[derive(Clone, Debug, Default)]
pub struct LabelOrder {
    /// The labels that a catalog contains, by column name.
    columns: BTreeMap<String, Vec<Known>>,
    /// The labels of the configurations of a run, by column name. A chart uses these labels for columns without a
    /// catalog.
    cells: BTreeMap<String, Vec<String>>,
}

/// A label in a catalog, such as the name of a variant, and whether its component is an ideal bound.
#[derive(Clone, Debug)]
struct Known {
    kind: String,
    oracle: bool,
}

impl LabelOrder {
    /// Adds the labels that a catalog has for a column, in order. The flag is `true` for an ideal bound, which no real
    /// component can exceed. A label with parameters, such as `blocked(bits_per_key=12)`, has the position of its
    /// variant `blocked`.
    #[must_use]
    pub fn with<'a>(
        mut self,
        column: impl Into<String>,
        labels: impl IntoIterator<Item = (&'a str, bool)>,
    ) -> Self {
        let known = |(kind, oracle): (&str, bool)| Known { kind: kind.to_owned(), oracle };
        self.columns.insert(column.into(), labels.into_iter().map(known).collect());
        self
    }

    /// Adds the labels that the configurations of a run have in a column, in order. A column with a catalog ignores
    /// these labels.
    ///
    /// The position of a label determines its style. If you add all labels of a run, a label has the same style in
    /// every chart.
    #[must_use]
    pub fn with_cells(mut self, column: impl Into<String>, labels: impl IntoIterator<Item = String>) -> Self {
        let cells = self.cells.entry(column.into()).or_default();
        for label in labels {
            if !cells.contains(&label) {
                cells.push(label);
            }
        }
        self
    }

    /// Returns the index of a label among the known labels of its column, and whether the label is an ideal bound.
    fn find(&self, column: &str, label: &str) -> Option<(usize, bool)> {
        match self.columns.get(column) {
            Some(known) => {
                let kind = label.split('(').next().unwrap_or(label).trim();
                let at = known.iter().position(|known| known.kind == kind)?;
                Some((at, known[at].oracle))
            }
            None => Some((self.cells.get(column)?.iter().position(|known| known == label)?, false)),
        }
    }

    /// Returns whether a catalog contains the label.
    pub(crate) fn knows(&self, column: &str, label: &str) -> bool {
        self.columns.contains_key(column) && self.find(column, label).is_some()
    }

    /// Compares two labels of a column by their order in charts. An unknown label comes after all known labels. Returns
    /// `None` if both labels are unknown.
    pub(crate) fn compare(&self, column: &str, a: &str, b: &str) -> Option<Ordering> {
        match (self.find(column, a), self.find(column, b)) {
            (None, None) => None,
            (Some(_), None) => Some(Ordering::Less),
            (None, Some(_)) => Some(Ordering::Greater),
            (Some((a, _)), Some((b, _))) => Some(a.cmp(&b)),
        }
    }

    /// Returns the styles of the labels of one chart, in the order of the labels.
    ///
    /// The position of a label in the catalog determines its style. If an earlier label of the chart already has this
    /// color or mark, the label gets the next free one. Labels of one variant with different parameters share a color,
    /// and differ in dashes and marks.
    pub(crate) fn styles(&self, column: &str, labels: &[String]) -> Vec<Style> {
        let known = self.columns.get(column).map(Vec::len).or_else(|| self.cells.get(column).map(Vec::len));
        let known = known.unwrap_or(0);
        let (mut repeats, mut unknown) = (HashMap::new(), known);
        let styles: Vec<Style> = labels
            .iter()
            .map(|label| {
                let (place, oracle) = self.find(column, label).unwrap_or_else(|| {
                    unknown += 1;
                    (unknown - 1, false)
                });
                // All ideal bounds are gray, so their repeats are counted together. All other repeats are counted per
                // position.
                let repeat = repeats.entry((oracle, if oracle { 0 } else { place })).or_insert(0);
                *repeat += 1;
                if oracle { Style::bound(*repeat - 1) } else { Style::new(place, *repeat - 1) }
            })
            .collect();
        without_repeats(styles)
    }
}

/// Changes the styles of labels so that no two labels have the same color or the same mark, as long as free colors and
/// marks remain. Labels of one variant keep one color, and differ in their dashes. If more labels than colors exist,
/// labels with the same color also differ in their dashes.
fn without_repeats(mut styles: Vec<Style>) -> Vec<Style> {
    for at in 1..styles.len() {
        let (before, own) = (&styles[..at], styles[at]);
        let kin: Vec<&Style> = before.iter().filter(|style| style.kind == own.kind).collect();
        let color = match kin.first() {
            Some(first) => Some(first.color),
            None if before.iter().any(|style| style.color == own.color) => {
                free_color(before, &styles[at + 1..])
            }
            None => None,
        };
        let repeats = kin.len();
        if let Some(color) = color.filter(|color| *color != own.color && !own.is_bound()) {
            styles[at] = own.recolored(color, repeats);
            if repeats == 0 && HUES[USUAL_HUES..].contains(&color) {
                styles[at].dashes = DASHES[1];
            }
        }
        let is_drawn = |dashes: &[f64]| {
            styles[..at].iter().any(|style| (style.color, style.dashes) == (styles[at].color, dashes))
        };
        if is_drawn(styles[at].dashes)
            && let Some(free) = DASHES.into_iter().find(|dashes| !is_drawn(dashes))
        {
            styles[at].dashes = free;
        }
        let is_marked = |mark| styles[..at].iter().any(|style| style.mark == mark);
        if is_marked(styles[at].mark)
            && let Some(free) = MARKS.into_iter().find(|mark| !is_marked(*mark))
        {
            styles[at].mark = free;
        }
    }
    styles
}

/// Returns a color that no earlier label of a chart has. A color that no later label needs is preferred. Returns `None`
/// if the earlier labels have all colors.
fn free_color(before: &[Style], later: &[Style]) -> Option<Color> {
    let has = |styles: &[Style], color: Color| styles.iter().any(|style| style.color == color);
    let free = || HUES.into_iter().filter(|color| !has(before, *color));
    free().find(|color| !has(later, *color)).or_else(|| free().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> LabelOrder {
        LabelOrder::default().with(
            "design.bloom",
            [("none", false), ("standard", false), ("blocked", false), ("perfect", true)],
        )
    }

    fn styles(labels: &[&str]) -> Vec<Style> {
        order().styles("design.bloom", &labels.iter().map(|&l| l.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_label_looks_the_same_in_every_chart() {
        assert_eq!(styles(&["blocked"])[0], styles(&["none", "standard", "blocked"])[2]);
        assert_eq!(styles(&["blocked(bits_per_key=12)"])[0], styles(&["blocked"])[0]);
        let same_kind = styles(&["blocked", "blocked(bits_per_key=12)"]);
        assert_eq!(same_kind[0].color, same_kind[1].color);
        assert_ne!(same_kind[0].dashes, same_kind[1].dashes);
        assert_eq!(styles(&["perfect"])[0].color, crate::palette::BOUND);
        let strange = styles(&["x", "none", "y"]);
        assert!(strange[0].color != strange[1].color && strange[0].color != strange[2].color);
    }

    #[test]
    fn the_series_of_a_chart_have_different_marks() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let order = LabelOrder::default().with("design.cache", names.map(|name| (name, false)));
        let [a, f] = order.styles("design.cache", &["a", "f"].map(str::to_owned))[..] else { panic!() };
        assert_eq!(a.mark, Style::new(0, 0).mark, "the first label keeps its mark");
        assert_ne!(a.mark, f.mark, "marks repeat after five places of the catalog");
    }

    #[test]
    fn labels_of_no_catalog_go_by_their_cells() {
        let labels = ["fast", "slow(x=1)", "slow(x=2)"].map(str::to_owned);
        let order = order().with_cells("label", labels.clone()).with_cells("design.bloom", ["x".to_owned()]);
        let all = order.styles("label", &labels);
        assert_eq!(order.styles("label", &labels[2..]), all[2..]);
        assert!(all[1].color != all[2].color);
        assert!(!order.knows("label", "fast") && order.knows("design.bloom", "none"));
    }

    #[test]
    fn known_labels_stand_in_catalog_order_and_before_others() {
        let compare = |a, b| order().compare("design.bloom", a, b);
        assert_eq!(compare("standard(bits_per_key=4)", "none"), Some(Ordering::Greater));
        assert_eq!(compare("perfect", "strange"), Some(Ordering::Less));
        assert_eq!(compare("strange", "other"), None);
        assert_eq!(order().compare("design.fence", "a", "b"), None);
    }
}
