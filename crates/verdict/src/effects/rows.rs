//! Converts effects and rankings to the rows of CSV files.

use measure::RankedVariant;
use results::{Row, effects as e};

use super::measured::{Effects, RankedMetric};

impl Effects {
    /// Returns the rows of `effects.csv` and of `ranking.csv`.
    pub fn rows(&self) -> (Vec<Row>, Vec<Row>) {
        let effects = self.metrics.iter().flat_map(|of| self.effect_rows(of)).collect();
        let ranking =
            self.metrics.iter().flat_map(|of| of.standings.iter().map(|one| self.ranking_row(of, one)));
        (effects, ranking.collect())
    }

    fn effect_rows(&self, of: &RankedMetric) -> Vec<Row> {
        let mut rows = Vec::new();
        for effect in &of.effects {
            for level in &effect.levels {
                let mut row = e::effect_row();
                row.set(&e::METRIC, of.metric.name).set(&e::PHASE, self.phase.as_str());
                row.set(&e::FACTOR, self.factor_name(&effect.factors));
                row.set(&e::LEVEL, self.level_name(&effect.factors, &level.levels));
                row.set(&e::RATIO, level.ratio).set(&e::SHARE, effect.share);
                if let Some(interval) = level.interval {
                    row.set(&e::RATIO_LOW, interval.low).set(&e::RATIO_HIGH, interval.high);
                }
                if let Some(p_value) = effect.p_value {
                    row.set(&e::P_VALUE, p_value);
                }
                rows.push(row);
            }
        }
        rows
    }

    fn ranking_row(&self, of: &RankedMetric, standing: &RankedVariant) -> Row {
        let listed =
            |variants: &[usize]| variants.iter().map(|at| &*self.labels[*at]).collect::<Vec<_>>().join("; ");
        let mut row = e::ranking_row();
        row.set(&e::RANKED_METRIC, of.metric.name).set(&e::RANKED_PHASE, self.phase.as_str());
        row.set(&e::CONFIGURATION, self.labels[standing.variant].as_str())
            .set(&e::RANK, standing.rank as u64);
        row.set(&e::MEDIAN, of.samples[standing.variant].median().unwrap_or(f64::NAN));
        row.set(&e::BEATEN_BY, listed(&standing.beaten_by)).set(&e::TIED_WITH, listed(&standing.tied_with));
        if let Some(by) = self.dominated[standing.variant] {
            row.set(&e::DOMINATED_BY, self.labels[by].as_str());
        }
        row
    }

    /// Formats the name of an effect: `design.bloom`, or `design.bloom × design.cache` for an interaction.
    pub(super) fn factor_name(&self, factors: &[usize]) -> String {
        factors.iter().map(|factor| &*self.factors[*factor].path).collect::<Vec<_>>().join(" × ")
    }

    /// Formats the factor values of a level of an effect: `standard`, or `standard × lru` for an interaction.
    pub(super) fn level_name(&self, factors: &[usize], levels: &[usize]) -> String {
        let names = factors.iter().zip(levels).map(|(factor, level)| &*self.factors[*factor].levels[*level]);
        names.collect::<Vec<_>>().join(" × ")
    }
}
