//! The description of a chart, which is a table `[[chart]]` of an experiment file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use results::Folder;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::kind::{ChartKind, Form, KINDS};

/// Files of results that a chart may draw instead of `runs.csv`. A `timeline` always draws `timeline.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChartFile {
    /// `levels.csv`: one row per level of the tree.
    Levels,
}

/// The description of a chart, from one table `[[chart]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChartSpec {
    /// Name of a chart kind.
    #[serde(serialize_with = "write_kind", deserialize_with = "read_kind")]
    #[schemars(with = "String")]
    pub kind: catalog::Choice,
    /// File of results that the chart draws. Default: `timeline.csv` for a `timeline`, else `runs.csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<ChartFile>,
    /// Name of the chart files, without the extension. Default: the column names, such as `fpr-by-bits_per_key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Title of the chart. Default: the titles of the columns, such as `Throughput by compaction`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Title of the horizontal axis. Default: the title of the column, such as `bloom bits per key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_title: Option<String>,
    /// Title of the vertical axis, or of the colors in a `heatmap`. Default: the title of the column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_title: Option<String>,
    /// Column on the horizontal axis. A `timeline` always uses `second`. For a `cdf`, `service` or `response` selects
    /// the kind of latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Column on the vertical axis, or the color in a `heatmap`. A `cdf` has no `y`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// Column whose values distinguish the series. Each value has one color. If other swept columns also vary, they
    /// also distinguish the series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Rows to draw: one value or a list of values per column. Default: `operation` is `all` and `phase` is the last
    /// phase, unless `x` or `series` names the column.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub filter: BTreeMap<String, SelectedValues>,
    /// Whether the horizontal axis is logarithmic.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log_x: bool,
    /// Whether the vertical axis (in a `heatmap`, the color) is logarithmic. In a `cdf`, the steps from 0 to 90 %, 90
    /// to 99 % and 99 to 99.9 % then have the same height. The default is `true` for a `cdf`, else `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_y: Option<bool>,
    /// Whether the chart also shows the theoretical values and the ideal bounds of `y`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub theory: bool,
    /// Whether a second chart `<name>-ratio` shows the ratios to the baseline, as the kind `ratio`. Only a chart of a
    /// time or a rate can have this chart. It needs 6 trials of two configurations. Default: `style.ratio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<bool>,
}

/// The selected values of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SelectedValues {
    /// Selects the rows that have this value.
    One(Scalar),
    /// Selects the rows that have any of these values.
    Any(Vec<Scalar>),
}

/// A single value in TOML.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Scalar {
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A boolean value.
    Flag(bool),
    /// A word.
    Text(String),
}

impl Scalar {
    /// Returns the value in the notation of the CSV.
    fn text(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Number(number) => format!("{number:?}"),
            Self::Flag(flag) => flag.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

impl SelectedValues {
    /// Returns the values in the notation of the CSV.
    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::One(value) => vec![value.text()],
            Self::Any(values) => values.iter().map(Scalar::text).collect(),
        }
    }
}

impl ChartSpec {
    /// Creates the description of a chart of the kind `form`. All other keys of the description have their defaults.
    pub fn new(form: Form) -> Self {
        Self {
            kind: form.choice(),
            file: None,
            name: None,
            title: None,
            x_title: None,
            y_title: None,
            x: None,
            y: None,
            series: None,
            filter: BTreeMap::new(),
            log_x: false,
            log_y: None,
            theory: false,
            ratio: None,
        }
    }

    /// Returns the built-in form of this kind of chart, which converts the rows of the results to points.
    pub fn form(&self) -> Form {
        self.component().form()
    }

    /// Returns whether the vertical axis of the chart is logarithmic.
    pub fn is_log_y(&self) -> bool {
        self.log_y.unwrap_or(self.form() == Form::Cdf)
    }

    /// Returns whether the chart draws a column as a measured value: the column of `y`, and also of `x` in a scatter
    /// plot. Such a column does not distinguish configurations.
    pub(crate) fn measures(&self, column: &str) -> bool {
        let is = |other: &Option<String>| other.as_deref() == Some(column);
        is(&self.y) || self.form() == Form::Scatter && is(&self.x)
    }

    /// Creates the object that implements this kind of chart.
    pub(crate) fn component(&self) -> Box<dyn ChartKind> {
        KINDS
            .build(&self.kind)
            .expect("the parser of `[[chart]]` tables must reject a kind of chart that it cannot build")
    }

    /// Returns the path of the results file that this chart draws.
    pub fn table(&self, folder: &Folder) -> PathBuf {
        match (self.form(), self.file) {
            (Form::Timeline, _) => folder.timeline(),
            (_, Some(ChartFile::Levels)) => folder.levels(),
            (_, None) => folder.runs(),
        }
    }

    /// Returns the name of the chart's files without extension: `name`, or else the column names, such as
    /// `fpr-by-bits_per_key`. The name contains only letters, digits, `-` and `_`, so that the file stays in its
    /// folder.
    pub fn file_stem(&self) -> String {
        let last = |column: &Option<String>| {
            column.as_deref().map(|name| name.rsplit('.').next().unwrap_or(name).to_owned())
        };
        let stem = self.name.clone().unwrap_or_else(|| match (last(&self.y), last(&self.x)) {
            (Some(y), Some(x)) => format!("{y}-by-{x}"),
            (Some(y), None) if self.form() == Form::Ratio => format!("{y}-ratio"),
            (Some(y), None) => format!("{y}-over-time"),
            (None, Some(x)) => format!("{x}-cdf"),
            (None, None) => "latency-cdf".to_owned(),
        });
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
        stem.chars().map(plain).collect()
    }
}

/// Serializes a kind of chart as its label, which the parser can read again.
fn write_kind<S: Serializer>(kind: &catalog::Choice, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&kind.label())
}

fn read_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<catalog::Choice, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    KINDS.choose(&value).map_err(|error| D::Error::custom(error.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_read_as_the_design_writes_them() {
        let spec: ChartSpec = toml::from_str(
            r#"kind = "line"
               x = "design.bloom.bits_per_key"
               y = "fpr"
               series = "design.bloom"
               filter = { phase = ["load", "lookup"], trial = 3, "design.x" = 0.5 }
               log_y = true
               theory = true"#,
        )
        .unwrap();
        assert_eq!(spec.file_stem(), "fpr-by-bits_per_key");
        assert_eq!(spec.filter["phase"].texts(), ["load", "lookup"]);
        assert_eq!(spec.filter["trial"].texts(), ["3"]);
        assert_eq!(spec.filter["design.x"].texts(), ["0.5"]);
        assert_eq!(toml::from_str::<ChartSpec>(&toml::to_string(&spec).unwrap()).unwrap(), spec);
        let error = toml::from_str::<ChartSpec>("kind = \"line\"\nxx = \"a\"").unwrap_err();
        assert!(error.message().contains("unknown field `xx`, expected one of `kind`"));
        assert!(toml::from_str::<ChartSpec>("kind = \"pie\"").unwrap_err().message().contains("grouped-bar"));
    }

    #[test]
    fn names_of_files_stay_in_their_folder() {
        let named =
            |name: &str| ChartSpec { name: Some(name.to_owned()), ..ChartSpec::new(Form::Cdf) }.file_stem();
        assert_eq!(named("../../etc/passwd"), "------etc-passwd");
        assert_eq!(ChartSpec::new(Form::Cdf).file_stem(), "latency-cdf");
    }
}
