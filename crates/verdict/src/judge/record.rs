//! Converts verdicts to the rows of `verdicts.csv`, which other programs can read.

use measure::{Ranked, Verdict};
use results::{Row, verdicts as v};

use super::judged::{Entry, Judged};

impl Judged<'_> {
    /// Returns the verdict on a candidate, and the reason if the verdict is inconclusive. Implausible values make a
    /// verdict inconclusive, and so does a candidate that is not comparable with the baseline.
    fn verdict(&self, ranked: &Ranked) -> (Verdict, Option<String>) {
        if let Some(words) = self.implausible(&ranked.name) {
            return (Verdict::Inconclusive, Some(format!("implausible: {words}")));
        }
        if !self.is_comparable(&ranked.name) {
            let differences = self.other_prices(&ranked.name);
            return (Verdict::Inconclusive, Some(format!("{}{differences}", v::NO_RIVAL)));
        }
        (ranked.comparison.verdict, ranked.comparison.reason(self.threshold_name(&ranked.comparison)))
    }

    /// Returns the rows of `verdicts.csv`: one row per candidate, best candidate first.
    pub(super) fn rows(&self, experiment: &str) -> Vec<Row> {
        let Some(baseline) = self.entries.first() else { return Vec::new() };
        let candidate = |ranked: &Ranked| self.entries.iter().find(|entry| entry.sample.name == ranked.name);
        let rows = self.ranked.iter().filter_map(|ranked| Some((ranked, candidate(ranked)?)));
        rows.map(|(ranked, candidate)| self.row(experiment, baseline, candidate, ranked)).collect()
    }

    fn row(&self, experiment: &str, baseline: &Entry<'_>, candidate: &Entry<'_>, ranked: &Ranked) -> Row {
        let (mut row, comparison) = (v::row(), &ranked.comparison);
        let (verdict, doubt) = self.verdict(ranked);
        row.set(&v::EXPERIMENT, experiment)
            .set(&v::WITHIN, self.within.as_str())
            .set(&v::PHASE, self.phase.as_str())
            .set(&v::OPERATION, self.operation.as_str())
            .set(&v::METRIC, self.column.name())
            .set(&v::BASELINE, baseline.sample.name.as_str())
            .set(&v::CANDIDATE, ranked.name.as_str())
            .set(&v::VERDICT, verdict.to_string())
            .set(&v::TRIALS, comparison.blocks as u64)
            .set(&v::DELTA, comparison.delta);
        if let Some(doubt) = doubt {
            row.set(&v::DOUBT, doubt.as_str());
        }
        let mut number = |column, value: Option<f64>| {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                row.set(column, value);
            }
        };
        number(&v::BASELINE_MEDIAN, baseline.sample.median());
        number(&v::CANDIDATE_MEDIAN, candidate.sample.median());
        number(&v::RATIO, comparison.ratio);
        number(&v::RATIO_LOW, comparison.interval.map(|interval| interval.low));
        number(&v::RATIO_HIGH, comparison.interval.map(|interval| interval.high));
        number(&v::P_VALUE, comparison.p_value);
        number(&v::EFFECT_SIZE, comparison.effect_size);
        number(&v::NOISE_FLOOR, self.noise.map(|noise| noise.floor));
        number(&v::DETECTABLE, self.noise.map(|noise| noise.detectable));
        if self.prices.are_memory() {
            number(&v::BASELINE_MEMORY_BYTES, baseline.prices[0]);
            number(&v::CANDIDATE_MEMORY_BYTES, candidate.prices[0]);
        }
        if let Some(is_equal) = self.has_equal_memory(candidate) {
            row.set(&v::MEMORY, if is_equal { "equal" } else { "unequal" });
        }
        for (column, entry) in
            [(&v::BASELINE_UNSTEADY_TRIALS, baseline), (&v::CANDIDATE_UNSTEADY_TRIALS, candidate)]
        {
            if let Some(trials) = entry.steadiness.unsteady_trials() {
                row.set(column, trials);
            }
        }
        let mut differences = candidate.contrast.settings.clone();
        let terms = candidate.contrast.unequal_terms;
        row.set(&v::FACTORS, (differences.len() + terms) as u64);
        differences.extend((terms > 0).then(|| format!("mismatched settings: {terms}")));
        row.set(&v::DIFFERS_IN, differences.join(", "));
        row
    }
}
