//! The style of figures: the `[style]` table of an experiment, and the options of `lsmbench plot`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use types::valid_names;

use crate::PlotError;
use crate::font::Typeface;

/// File formats, size, font and texts of the charts of an experiment: its `[style]` table. Absent keys have their
/// default values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FigureStyle {
    /// File formats, such as `"svg,png"` or a list. Default: `"svg,png"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub format: Option<Formats>,
    /// Width in print: a length such as `"3.3in"`, `"84mm"` or `"240pt"`, or `"column"` (3.33 in) or `"page"` (7 in).
    /// In print, text is 8 pt high. Default: 800 pixels, for a screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub width: Option<Length>,
    /// Typeface: the name of an installed family, or a font file. Default: the embedded DejaVu Sans Condensed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font: Option<String>,
    /// Title of every chart. With an empty title, charts have no title. Default: the title of each `[[chart]]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Text below the chart. Default: `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub caption: Option<Caption>,
    /// Interval that whiskers and bands show. Default: `ci`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub whiskers: Option<Whiskers>,
    /// Whether a second chart shows the ratios to the baseline, for every chart of a time or a rate. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<bool>,
}

impl FigureStyle {
    /// The keys of a `[style]` table.
    pub const KEYS: [&'static str; 7] = ["format", "width", "font", "title", "caption", "whiskers", "ratio"];

    /// Returns this style, completed by the style `below`: a key that this style does not set gets its value from
    /// `below`.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        Self {
            format: self.format.or(below.format),
            width: self.width.or(below.width),
            font: self.font.or(below.font),
            title: self.title.or(below.title),
            caption: self.caption.or(below.caption),
            whiskers: self.whiskers.or(below.whiskers),
            ratio: self.ratio.or(below.ratio),
        }
    }

    /// Checks that the typeface exists and can be read.
    ///
    /// # Errors
    /// A font file cannot be read, or a family is not installed.
    pub fn check(&self) -> Result<(), PlotError> {
        Typeface::find(self.font.as_deref()).map(drop)
    }

    /// Returns the file formats of the charts. The default is SVG and PNG.
    pub fn formats(&self) -> &[Format] {
        self.format.as_ref().map_or(&[Format::Svg, Format::Png], |formats| &formats.0)
    }

    /// Returns the file extensions of a chart: one per format, and `csv` for the drawn values.
    pub fn endings(&self) -> impl Iterator<Item = &'static str> {
        self.formats().iter().map(|format| format.ending()).chain([DATA_ENDING])
    }
}

/// The extension of the CSV file with the drawn values of a chart.
pub(crate) const DATA_ENDING: &str = "csv";

/// Declares an enumeration of option values, which have names in TOML and on the command line.
macro_rules! named {
    ($(#[$doc:meta])+ $type:ident, $noun:literal: $($(#[$value_doc:meta])+ $value:ident = $name:literal;)+) => {
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[$value_doc])+ $value,)+
        }

        impl $type {
            /// All values of the option, in order.
            pub const ALL: &'static [Self] = &[$(Self::$value),+];

            /// Returns the name of the value in TOML.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let valid = || valid_names(Self::ALL.iter().map(|value| value.name()));
                let found = Self::ALL.iter().copied().find(|value| value.name() == text);
                found.ok_or_else(|| format!("unknown {} \"{text}\". {}", $noun, valid()))
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    };
}

named! {
    /// A file format of figures.
    Format, "format":
    /// SVG.
    Svg = "svg";
    /// PNG, at twice the size of the page, or at 432 pixels per inch in print.
    Png = "png";
    /// PDF with embedded fonts.
    Pdf = "pdf";
    /// LaTeX code for `pgfplots`.
    Pgf = "pgf";
    /// A gnuplot script with its data.
    Gnuplot = "gnuplot";
}

impl Format {
    /// Returns the file extension of the format.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
            Self::Pgf => "tex",
            Self::Gnuplot => "gp",
        }
    }
}

named! {
    /// The text below a chart.
    Caption, "caption":
    /// The question, the conditions of the values, the verdict, the notes, and a line that names the experiment and the
    /// run.
    All = "all";
    /// The conditions of the values, the notes, and a line that names the experiment and the run.
    Facts = "facts";
    /// Only the verdict.
    Verdict = "verdict";
    /// No text. Use this value if the paper has its own caption.
    None = "none";
}

named! {
    /// The interval over trials that whiskers and bands show around a median.
    Whiskers, "interval":
    /// The 95 % confidence interval of the median, from order statistics. With fewer than 6 trials, the chart shows the
    /// range instead.
    Ci = "ci";
    /// From the smallest to the largest value of all trials.
    Range = "range";
    /// From the first to the third quartile of all trials.
    Iqr = "iqr";
}

/// The file formats of a figure, without repetitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formats(Vec<Format>);

impl FromStr for Formats {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::of(text.split(',').map(str::trim))
    }
}

impl Formats {
    fn of<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut formats = Vec::new();
        for name in names {
            let format = if name == "tex" { Format::Pgf } else { name.parse()? };
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        if formats.is_empty() {
            Err("the list of formats is empty; name at least one format, such as \"svg\"".to_owned())
        } else {
            Ok(Self(formats))
        }
    }
}

impl Serialize for Formats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

impl<'de> Deserialize<'de> for Formats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            List(Vec<String>),
        }
        let formats = match Written::deserialize(deserializer)? {
            Written::Text(text) => text.parse(),
            Written::List(names) => Self::of(names.iter().map(String::as_str)),
        };
        formats.map_err(D::Error::custom)
    }
}

/// A length on paper, such as 3.3 inches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    inches: f64,
}

impl Length {
    /// The smallest and the largest width of a figure in print, in inches.
    const BOUNDS: [f64; 2] = [2.5, 20.0];
    /// The named widths in inches: a column of a two-column paper (ACM, USENIX), and the whole width of the page.
    const NAMED: [(&'static str, f64); 2] = [("column", 3.33), ("page", 7.0)];
    const UNITS: [(&'static str, f64); 4] =
        [("in", 1.0), ("mm", 1.0 / 25.4), ("cm", 1.0 / 2.54), ("pt", 1.0 / 72.27)];

    /// Returns the length in inches.
    pub fn inches(self) -> f64 {
        self.inches
    }
}

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::NAMED.into_iter().find(|(name, _)| *name == text).map(|(_, inches)| inches);
        let measured = || {
            let mut units = Self::UNITS.into_iter();
            let (number, size) = units.find_map(|(unit, size)| Some((text.strip_suffix(unit)?, size)))?;
            Some(number.trim().parse::<f64>().ok()? * size)
        };
        let inches = named.or_else(measured).ok_or_else(|| {
            format!(
                "\"{text}\" is not a width; write a length such as \"3.3in\", \"84mm\" or \"240pt\", or \"column\" or \
                 \"page\""
            )
        })?;
        let [least, most] = Self::BOUNDS;
        if !(least..=most).contains(&inches) {
            return Err(format!("a width of \"{text}\" is out of range; it must be {least}in to {most}in"));
        }
        Ok(Self { inches })
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}in", (self.inches * 1e4).round() / 1e4)
    }
}

impl Serialize for Length {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_read_and_write_alike() {
        let text = "format = \"svg, tex,svg\"\nwidth = \"84mm\"\ncaption = \"none\"\nwhiskers = \"iqr\"";
        let style: FigureStyle = toml::from_str(text).unwrap();
        assert_eq!(style.formats(), [Format::Svg, Format::Pgf]);
        assert_eq!(style.endings().collect::<Vec<_>>(), ["svg", "tex", "csv"]);
        let again: FigureStyle = toml::from_str(&toml::to_string(&style).unwrap()).unwrap();
        assert_eq!(
            (again.format, again.caption, again.whiskers),
            (style.format, style.caption, style.whiskers)
        );
        assert!((again.width.unwrap().inches() - 84.0 / 25.4).abs() < 1e-4);
        assert_eq!(FigureStyle::default().formats(), [Format::Svg, Format::Png]);
        let above = FigureStyle { caption: Some(Caption::Facts), ..FigureStyle::default() };
        assert_eq!(above.over(toml::from_str(text).unwrap()).caption, Some(Caption::Facts));
    }

    #[test]
    fn errors_name_the_valid_values() {
        for (text, message) in [
            (
                "format = \"jpg\"",
                "unknown format \"jpg\". Valid: \"svg\", \"png\", \"pdf\", \"pgf\", \"gnuplot\"",
            ),
            ("caption = \"no\"", "unknown caption \"no\". Valid: \"all\", \"facts\", \"verdict\", \"none\""),
            ("whiskers = \"sd\"", "unknown interval \"sd\". Valid: \"ci\", \"range\", \"iqr\""),
            ("width = \"3\"", "\"3\" is not a width; write a length such as \"3.3in\""),
            ("width = \"1in\"", "out of range; it must be 2.5in to 20in"),
            ("width = \"NaNin\"", "out of range"),
        ] {
            let error = toml::from_str::<FigureStyle>(text).unwrap_err();
            assert!(error.message().contains(message), "{error}");
        }
        assert_eq!("column".parse::<Length>().unwrap().to_string(), "3.33in");
    }
}
