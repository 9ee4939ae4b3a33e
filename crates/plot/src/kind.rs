//! The kinds of chart. A kind defines how the rows of results are converted to points, and how these points are drawn.

use catalog::{Catalog, Choice, Variant};

use crate::painter::Painter;

/// A kind of chart, such as a bar chart.
///
/// Contract: for equal points, the painter draws the same picture.
pub trait ChartKind: Send + Sync {
    /// Returns the built-in conversion of result rows to points, which this kind uses.
    fn form(&self) -> Form;

    /// Returns the painter that draws the points of this kind of chart. `None` selects the painter of the built-in
    /// form. A [`Form::Cdf`] always uses the built-in painter.
    fn painter(&self) -> Option<&dyn Painter> {
        None
    }
}

/// Declares the built-in kinds of chart. Each kind has a value of `Form` and a variant in the catalog of chart kinds.
macro_rules! kinds {
    ($($(#[$doc:meta])+ $form:ident = $kind:literal, $summary:literal;)+) => {
        /// The built-in conversions of result rows to points, one per built-in kind of chart.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Form {
            $($(#[$doc])+ $form,)+
        }

        impl Form {
            /// Returns the name of the built-in kind in experiment files.
            fn kind(self) -> &'static str {
                match self {
                    $(Self::$form => $kind,)+
                }
            }
        }

        /// All kinds of chart.
        pub static KINDS: Catalog<dyn ChartKind> = Catalog::new(
            catalog::origin!(),
            "chart",
            "the kind of a chart",
            &[$(Variant::plain($kind, $summary, || Box::new($form))),+],
        );

        $(
            struct $form;

            impl ChartKind for $form {
                fn form(&self) -> Form {
                    Form::$form
                }
            }
        )+
    };
}

kinds! {
    /// A line per series over `x`.
    Line = "line", "one line per series: values of y over x";
    /// A bar per value of `x`.
    Bar = "bar", "one bar per value of x, with the height y";
    /// A group of bars per value of `x`, one bar per series.
    GroupedBar = "grouped-bar", "one group of bars per value of x, with one bar per series";
    /// One point per configuration, with a measured column on each axis.
    Scatter = "scatter", "one point per configuration: one measured column on the y axis, another on the x \
                          axis";
    /// The distribution of latencies, from the histogram files next to the CSV.
    Cdf = "cdf", "the distribution of latencies, read from the histogram files next to the CSV file";
    /// A line per series over the time of a phase, from `timeline.csv`.
    Timeline = "timeline", "one line per series over the time of a phase";
    /// A color for each combination of a value of `x` and a series.
    Heatmap = "heatmap", "one colored field per combination of x and series";
    /// The ratio of each candidate to its baseline, in each round and over all rounds, with the noise floor.
    Ratio = "ratio", "the ratio to the baseline in each round of trials, with the 95 % CI and the noise floor";
}

impl Form {
    /// Returns this built-in kind as a value of the key `kind` of a `[[chart]]` table.
    ///
    /// # Panics
    /// Panics if the catalog of chart kinds lacks this kind.
    pub fn choice(self) -> Choice {
        KINDS
            .variant(self.kind())
            .expect("the catalog of chart kinds must contain every built-in kind")
            .default_choice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_keeps_its_contract_and_every_form_has_a_kind() {
        catalog::laws::check(&KINDS).unwrap();
        assert_eq!(KINDS.build(&Form::GroupedBar.choice()).unwrap().form(), Form::GroupedBar);
    }
}
