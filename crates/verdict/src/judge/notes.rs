//! The notes below a verdict. A note that applies to several configurations is printed once.

use measure::{Comparison, Doubt, Ranked, Verdict};

use super::judged::{Entry, Judged, is_confounded};
use super::price::ALIKE;
use crate::words::{and_more, counted, listed, percent, quoted};

/// The memory of two designs counts as equal if its relative difference is at most this fraction.
const MOST_UNEQUAL: f64 = 0.05;

impl Judged<'_> {
    /// Returns the notes about the comparison as a whole: the setting that differs, the noise, and the statistical
    /// test. Each note consists of one or more sentences.
    pub(super) fn facts(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.difference_note());
        notes.extend(self.noise.map(|noise| {
            format!(
                "Noise floor {floor} ({base} vs itself); smaller changes are ignored. Detected with 80% power: \
                 {change}.",
                floor = percent(noise.floor),
                base = quoted(&self.entries[0].sample.name),
                change = percent(noise.detectable)
            )
        }));
        notes.extend((self.resolution > 0.0).then(|| {
            format!(
                "The rate search has a precision of {limit}; smaller changes are ignored.",
                limit = percent(self.resolution)
            )
        }));
        notes.extend(self.test_note());
        notes.extend(self.looks_note());
        notes
    }

    /// Returns the notes about single configurations, such as outliers. Each note consists of one or more sentences.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.counters_note());
        notes.extend(self.few_note());
        notes.extend(self.cautions());
        notes.extend(self.doubts());
        let others = self.names(|other| !self.is_comparable(&other.name));
        if !others.is_empty() {
            let costs = self.prices.names();
            let differ = if costs.len() == 1 { "differs" } else { "differ" };
            notes.push(format!(
                "Configurations that are not comparable with {base}, because {costs} {differ} by more than \
                 {limit:.0}%: {names}.",
                base = quoted(&self.entries[0].sample.name),
                costs = costs.join(" and "),
                limit = ALIKE * 100.0,
                names = listed(&others)
            ));
        }
        notes
    }

    /// Returns the notes on values that readers should check before they trust the verdict.
    pub(super) fn cautions(&self) -> Vec<String> {
        let steadiness =
            self.entries.iter().filter_map(|entry| entry.steadiness.note(&quoted(&entry.sample.name)));
        let implausible = self.entries.iter().filter_map(|entry| {
            let name = &entry.sample.name;
            Some(format!("Implausible: {}: {}", quoted(name), self.implausible(name)?))
        });
        let causes = self.waits_note().into_iter().chain(self.cpu_notes());
        let trials = self.turned().into_iter().chain(self.outliers());
        causes.chain(trials).chain(steadiness).chain(implausible).chain(self.unequal_memory()).collect()
    }

    /// Names the candidates that the sentence of the verdict leaves out, each with the reason, such as ` Worse:
    /// l0-tiered. Inconclusive: xor.` Returns an empty text if there are none.
    pub(super) fn others(&self) -> String {
        let best = self.ranked.iter().find(|ranked| self.has_verdict(&ranked.name));
        let is_improved = best.is_some_and(|best| best.comparison.verdict == Verdict::Improved);
        let is_worse = |ranked: &Ranked| {
            is_improved && self.has_verdict(&ranked.name) && ranked.comparison.verdict == Verdict::Regressed
        };
        let has_reason = |ranked: &&Ranked| self.reason(&ranked.comparison).is_some();
        let undecided = self.doubtful().filter(has_reason).map(|ranked| &*ranked.name).collect();
        let apart = self.names(|ranked| !self.is_comparable(&ranked.name));
        let parts: [(&str, Vec<&str>); 3] =
            [("Worse", self.names(is_worse)), ("Inconclusive", undecided), ("Not comparable", apart)];
        let parts = parts.iter().filter(|(_, names)| !names.is_empty());
        let parts: Vec<String> = parts.map(|(word, names)| format!(" {word}: {}.", listed(names))).collect();
        parts.concat()
    }

    fn difference_note(&self) -> Option<String> {
        let first = self.entries.get(1)?;
        let common = self.common_factors().filter(|_| !is_confounded(&first.contrast))?;
        Some(match common.as_str() {
            "nothing" => "The settings of all configurations are equal.".to_owned(),
            setting => format!("Only {setting} differs."),
        })
    }

    /// Returns the note that names the statistical test of the p-values, and the correction of the p-values.
    fn test_note(&self) -> Option<String> {
        let has_p = self.ranked.iter().any(|ranked| ranked.comparison.p_value.is_some());
        (has_p && !self.is_exact()).then(|| match self.family {
            0 | 1 => "p-value: paired t-test.".to_owned(),
            family => format!("p-values: paired t-test, Holm-corrected for {family} comparisons."),
        })
    }

    /// Returns the reasons for the inconclusive comparisons. Candidates with the same reason share a sentence. Omits
    /// the best candidate, because the verdict itself contains its reason.
    fn doubts(&self) -> Vec<String> {
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for ranked in self.doubtful() {
            let Some(reason) = self.reason(&ranked.comparison) else { continue };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(&ranked.name),
                None => reasons.push((reason, vec![&ranked.name])),
            }
        }
        let reasons = reasons.into_iter();
        reasons
            .map(|(reason, names)| format!("Inconclusive: {}, because {reason}.", listed(&names)))
            .collect()
    }

    /// Returns the inconclusive comparisons. Omits the comparison of the best candidate, which the verdict describes.
    fn doubtful(&self) -> impl Iterator<Item = &Ranked> {
        let is_undecided = |ranked: &&Ranked| ranked.comparison.verdict == Verdict::Inconclusive;
        let with_verdict = || self.ranked.iter().filter(|ranked| self.has_verdict(&ranked.name));
        let skipped = usize::from(with_verdict().next().as_ref().is_some_and(is_undecided));
        with_verdict().skip(skipped).filter(is_undecided)
    }

    /// Returns a note that names the configurations for which two statistics have opposite directions: the median of
    /// the paired ratios, and the ratio of the medians. At least one of the two changes must exceed the threshold.
    fn turned(&self) -> Option<String> {
        let base = self.entries.first()?.sample.median()?;
        let is_turned = |ranked: &Ranked| {
            let median = self.both(&ranked.name).and_then(|(_, entry)| entry.sample.median());
            let logs =
                ranked.comparison.ratio.zip(median).map(|(ratio, own)| (ratio.ln(), (own / base).ln()));
            logs.is_some_and(|(trials, medians)| {
                trials * medians < 0.0 && trials.abs().max(medians.abs()) > ranked.comparison.delta
            })
        };
        let turned = self.names(is_turned);
        (!turned.is_empty()).then(|| {
            format!(
                "For {names}, the ratio of the medians and the median of the paired ratios have opposite \
                 directions; the verdict uses the median of the paired ratios.",
                names = listed(&turned)
            )
        })
    }

    /// Returns a note that names the configurations whose memory differs by more than 5 % from the memory of the
    /// baseline, although the experiment requests equal memory.
    fn unequal_memory(&self) -> Option<String> {
        let unequal = self.entries.iter().skip(1).filter_map(|entry| match self.has_equal_memory(entry)? {
            true => None,
            false => Some(entry.sample.name.as_str()),
        });
        let unequal: Vec<&str> = unequal.collect();
        (!unequal.is_empty()).then(|| {
            let verb = if unequal.len() == 1 { "differs" } else { "differ" };
            format!(
                "Unequal memory: {names} {verb} from {base} by more than {limit:.0}%, although memory = \"equal\".",
                names = listed(&unequal),
                base = quoted(&self.entries[0].sample.name),
                limit = MOST_UNEQUAL * 100.0
            )
        })
    }

    /// Returns whether the memory of a configuration differed by at most 5 % from the memory of the baseline. Returns
    /// `None` if equal memory was not requested, or if the memory is unknown.
    pub(super) fn has_equal_memory(&self, entry: &Entry<'_>) -> Option<bool> {
        if !self.experiment.has_equal_memory || !self.prices.are_memory() {
            return None;
        }
        let (base, own) = (*self.entries.first()?.prices.first()?, *entry.prices.first()?);
        let (base, own) = base.zip(own)?;
        Some((own - base).abs() <= MOST_UNEQUAL * base)
    }

    /// Returns a note that names the first trial that is an outlier among the trials of its configuration, and the
    /// number of further outliers. The verdicts include the values of outliers.
    fn outliers(&self) -> Option<String> {
        let outliers = self.entries.iter().flat_map(|entry| {
            let name = quoted(&entry.sample.name);
            let outliers = entry.sample.outliers().into_iter();
            outliers.map(move |(trial, _)| format!("{name} in trial {}", trial + 1))
        });
        let outliers: Vec<String> = outliers.collect();
        let (first, others) = outliers.split_first()?;
        Some(format!("Outliers (included): {first}{}.", and_more(others.len())))
    }

    /// Returns the reason why a comparison is inconclusive. Returns `None` if both configurations have values, but in
    /// too few trials, because the verdict itself states this reason.
    fn reason(&self, comparison: &Comparison) -> Option<String> {
        Some(match comparison.doubt? {
            Doubt::TooFewBlocks { blocks: 0 } => "no trial has values of both configurations".to_owned(),
            Doubt::TooFewBlocks { .. } => return None,
            Doubt::TooNoisy => "the 95% CI includes a change of 0%".to_owned(),
            Doubt::Chance => "p exceeds 0.05".to_owned(),
            Doubt::TooSmall => {
                let (limit, name) = (percent(comparison.delta), self.threshold_name(comparison));
                format!("the difference is below the {limit} {name}")
            }
            Doubt::OneOfMany { comparisons } => {
                format!(
                    "p exceeds 0.05 after correction for {comparisons}",
                    comparisons = counted(comparisons, "comparison")
                )
            }
            Doubt::SometimesZero => "the baseline or the candidate has the value 0 in some trials".to_owned(),
            Doubt::NoDirection => "neither higher nor lower is better".to_owned(),
            Doubt::NoRatio => "a value is negative, so the ratio is undefined".to_owned(),
            Doubt::Implausible => "one of the two values is implausible".to_owned(),
            Doubt::FewSessions => {
                "there are too few sessions to estimate the variation between sessions".to_owned()
            }
            Doubt::OneSeed => "one seed cannot distinguish the difference from chance".to_owned(),
            Doubt::OnlyOnce => "the first batch of trials did not show this change".to_owned(),
        })
    }
}
