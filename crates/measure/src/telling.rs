//! The text of a change, with the ratio and its confidence interval in one unit.

use std::fmt;

use crate::{Comparison, Interval};

/// The unit in which a change is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Terms {
    /// As a ratio: in percent, or as a factor where the change or an end of its interval is large.
    Ratio,
    /// As percentage points, for a share: a percentage of a share could be mistaken for them.
    Points {
        /// The baseline share, 0 to 1, to which the ratio refers.
        baseline: f64,
    },
}

/// The ratio from which on, and down to its inverse, a change is given as a factor.
const LARGE: f64 = 2.0;

/// The format of all numbers of one change.
#[derive(Clone, Copy)]
enum Manner {
    Percent,
    Factor,
    Points(f64),
}

impl Manner {
    /// The format of ratios that are printed together.
    fn of(terms: Terms, ratios: &[f64]) -> Self {
        let is_large = |ratio: &f64| ratio.is_finite() && *ratio > 0.0 && ratio.ln().abs() >= LARGE.ln();
        match terms {
            Terms::Points { baseline } => Self::Points(baseline * 100.0),
            Terms::Ratio if ratios.iter().any(is_large) => Self::Factor,
            Terms::Ratio => Self::Percent,
        }
    }
}

/// A ratio in a format.
struct Change(f64, Manner);

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signed = |f: &mut fmt::Formatter<'_>, change: f64, unit: &str| {
            let sign = if change < 0.0 { '−' } else { '+' };
            write!(f, "{sign}{:.1} {unit}", change.abs())
        };
        match *self {
            Self(ratio, _) if ratio.is_infinite() => f.write_str("from 0"),
            Self(ratio, Manner::Points(base)) => signed(f, (ratio - 1.0) * base, "points"),
            Self(0.0, _) => f.write_str("to 0"),
            Self(1.0, Manner::Percent) => f.write_str("no change"),
            Self(ratio, Manner::Percent) => signed(f, (ratio - 1.0) * 100.0, "%"),
            Self(ratio, Manner::Factor) if ratio >= 100.0 => write!(f, "×{ratio:.0}"),
            Self(ratio, Manner::Factor) if ratio >= 1.0 => write!(f, "×{ratio:.2}"),
            Self(ratio, Manner::Factor) => write!(f, "×{ratio:.3}"),
        }
    }
}

impl Interval {
    pub(crate) fn has_width(&self) -> bool {
        self.low.total_cmp(&self.high).is_ne()
    }

    /// Both ends in the same unit: `−14.0 % to −10.2 %`.
    pub fn told(&self, terms: Terms) -> String {
        self.beside(Manner::of(terms, &[self.low, self.high]))
    }

    fn beside(&self, manner: Manner) -> String {
        format!("{} to {}", Change(self.low, manner), Change(self.high, manner))
    }
}

impl Comparison {
    /// The format of the change and of the interval that is printed with it.
    fn manner(&self, terms: Terms) -> Manner {
        let interval = self.interval.map(|interval| [interval.low, interval.high]);
        let ratios: Vec<f64> = interval.into_iter().flatten().chain(self.ratio).collect();
        Manner::of(terms, &ratios)
    }

    /// The verdict, or another word in its place, and the change with its interval, such as
    /// `improved, −12.3 % (−14.0 % to −10.2 %)`.
    pub fn brief(&self, word: impl fmt::Display, terms: Terms) -> String {
        match self.short_change(terms) {
            change if change.is_empty() => word.to_string(),
            change => format!("{word}, {change}"),
        }
    }

    /// The change with its interval, without the confidence and the number of trials: `−12.3 % (−14.0 % to −10.2 %)`;
    /// empty where there is none.
    pub fn short_change(&self, terms: Terms) -> String {
        let Some(ratio) = self.ratio else { return String::new() };
        let manner = self.manner(terms);
        let interval = self.interval.filter(Interval::has_width);
        let interval =
            interval.map_or_else(String::new, |interval| format!(" ({})", interval.beside(manner)));
        format!("{}{interval}", Change(ratio, manner))
    }

    /// The change with its interval, confidence and number of trials, such as
    /// `−12.3 % (95 % interval −14.0 % to −10.2 %, 10 trials)`; empty where there is none.
    pub fn change(&self, terms: Terms) -> String {
        let Some(ratio) = self.ratio else { return String::new() };
        let (percent, manner) = (self.confidence * 100.0, self.manner(terms));
        let change = Change(ratio, manner);
        match self.interval {
            Some(interval) if interval.has_width() => {
                format!("{change} ({percent} % interval {}, {} trials)", interval.beside(manner), self.blocks)
            }
            Some(_) if self.blocks > 1 => format!("{change} (the same in every trial)"),
            _ => change.to_string(),
        }
    }
}

/// Prints `improved, −12.3 % (95 % interval −14.0 % to −10.2 %, 10 trials)`, and the reason where it is inconclusive.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.verdict)?;
        if self.ratio.is_some() {
            write!(f, ", {}", self.change(Terms::Ratio))?;
        }
        self.doubt.map_or(Ok(()), |doubt| write!(f, ": {doubt}"))
    }
}

#[cfg(test)]
mod tests {
    use results::Better;

    use super::*;
    use crate::{Criteria, Sample, compare, compare_exact};

    fn sample(values: &[f64]) -> Sample {
        Sample::new("", (0..).zip(values.iter().copied()))
    }

    #[test]
    fn sentences_read_well() {
        let base = [100.0, 104.0, 98.0, 101.0, 99.0, 102.0];
        let faster = [88.0, 90.0, 87.0, 88.0, 86.0, 91.0];
        let found = compare(&sample(&base), &sample(&faster), Better::Lower, &Criteria::default());
        let text = found.to_string();
        assert!(text.starts_with("improved, −12.") && text.ends_with("6 trials)"), "{text}");
        assert!(text.contains(" (95 % interval −"), "{text}");
        let brief = found.brief(found.verdict, Terms::Ratio);
        assert_eq!(brief, text.replace("95 % interval ", "").replace(", 6 trials", ""));
        let text = compare_exact(1.0, 12.0, Better::Lower, 0.0).to_string();
        assert_eq!(text, "regressed, ×12.00");
        let text = compare_exact(0.0, 12.0, Better::Lower, 0.0).to_string();
        assert_eq!(text, "regressed, from 0");
        let twice = |value| Sample::new("", [(0, value), (1, value)]);
        let counters = Criteria { exact: true, ..Criteria::default() };
        let comparison = compare(&twice(1.0), &twice(0.75), Better::Lower, &counters);
        assert_eq!(comparison.to_string(), "improved, −25.0 % (the same in every trial)");
        assert_eq!(comparison.brief("no rival", Terms::Ratio), "no rival, −25.0 %");
    }

    #[test]
    fn a_change_and_its_interval_are_in_one_unit() {
        let told = |ratio, low, high, terms| {
            let comparison = compare_exact(1.0, 2.0, Better::Lower, 0.0);
            let interval = Some(Interval { low, high });
            Comparison { ratio: Some(ratio), interval, blocks: 6, ..comparison }.change(terms)
        };
        assert_eq!(
            told(0.34, 0.282, 0.598, Terms::Ratio),
            "×0.340 (95 % interval ×0.282 to ×0.598, 6 trials)"
        );
        assert_eq!(told(1.2, 0.9, 2.4, Terms::Ratio), "×1.20 (95 % interval ×0.900 to ×2.40, 6 trials)");
        assert_eq!(
            told(1.2, 1.0, 1.5, Terms::Ratio),
            "+20.0 % (95 % interval no change to +50.0 %, 6 trials)"
        );
        let points = Terms::Points { baseline: 0.4 };
        assert_eq!(
            told(1.25, 0.9, 1.5, points),
            "+10.0 points (95 % interval −4.0 points to +20.0 points, 6 trials)"
        );
        assert_eq!(Interval { low: 0.5, high: 1.5 }.told(Terms::Ratio), "×0.500 to ×1.50");
        assert_eq!(compare_exact(0.0, 0.5, Better::Higher, 0.0).change(points), "from 0");
    }
}
