//! Compares many variants with one baseline, and sorts the variants, best variant first.

use results::Better;

use crate::{Comparison, Criteria, Sample, compare};

/// The name of a variant, with its comparison with the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The name of the variant.
    pub name: String,
    /// The comparison of the variant with the baseline.
    pub comparison: Comparison,
}

/// Compares every candidate with the baseline, and sorts the candidates by median ratio, best first. Candidates without
/// a ratio come last. If neither higher nor lower is better, the candidates keep their order.
///
/// `criteria` returns the criteria for each candidate, because a candidate that stopped early has its own significance
/// level.
pub fn rank(
    baseline: &Sample,
    candidates: &[Sample],
    better: Better,
    criteria: impl Fn(&Sample) -> Criteria,
) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = candidates
        .iter()
        .map(|candidate| Ranked {
            name: candidate.name.clone(),
            comparison: compare(baseline, candidate, better, &criteria(candidate)),
        })
        .collect();
    let badness = |ranked: &Ranked| match (ranked.comparison.ratio, better) {
        (None, _) => f64::INFINITY,
        (Some(_), Better::Neither) => 0.0,
        (Some(ratio), Better::Lower) => ratio.ln(),
        (Some(ratio), Better::Higher) => -ratio.ln(),
    };
    ranked.sort_by(|a, b| badness(a).total_cmp(&badness(b)));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn the_best_comes_first() {
        let sample =
            |name: &str, factor: f64| Sample::new(name, (0..6).map(|i| (i, factor * (100 + i) as f64)));
        let base = sample("none", 1.0);
        let candidates =
            [sample("slow", 1.5), sample("fast", 0.5), sample("same", 1.0), Sample::new("absent", [])];
        let order = |better| {
            let ranked = rank(&base, &candidates, better, |_| Criteria::default());
            ranked.into_iter().map(|r| (r.name, r.comparison.verdict)).collect::<Vec<_>>()
        };
        let lower = order(Better::Lower);
        assert_eq!(lower[0], ("fast".to_owned(), Verdict::Improved));
        assert_eq!(lower[1], ("same".to_owned(), Verdict::Equivalent));
        assert_eq!(lower[2], ("slow".to_owned(), Verdict::Regressed));
        assert_eq!(lower[3], ("absent".to_owned(), Verdict::Inconclusive));
        assert_eq!(order(Better::Higher)[0].0, "slow");
    }
}
