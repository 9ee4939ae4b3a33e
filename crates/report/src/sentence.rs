//! Generates sentences that summarize the claims about a figure.

use std::collections::BTreeMap;

use crate::text::{about_measured, formed};
use crate::{Figure, Finding, FindingCounts, Judged};

/// Summarizes a figure in sentences: the outcomes of its runs, the findings about its claims, and the claim that
/// differs most from its measurement.
pub(crate) fn sentence(figure: &Figure) -> String {
    let measured = figure.answers.iter().filter_map(|answer| answer.outcome.clone());
    measured.chain([sentence_on(&figure.judged().collect::<Vec<_>>())]).collect::<Vec<String>>().join(" ")
}

/// Summarizes claims in sentences: their findings, and the claim that differs most from its measurement.
pub(crate) fn sentence_on(all: &[&Judged]) -> String {
    let tally = FindingCounts::of(all.iter().copied());
    if tally.total() == 0 {
        return "The document states no number here.".to_owned();
    }
    if tally.tested() == 0 {
        return untested(all);
    }
    let counted = |finding: Finding, one: &str, several: &str| match tally.count(finding) {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {several}")),
    };
    let parts = [
        counted(Finding::Reproduced, "is reproduced", "are reproduced").map(|said| {
            match tally.by_arithmetic() {
                0 => said,
                all if all == tally.count(Finding::Reproduced) => format!("{said} by arithmetic"),
                some => format!("{said} ({some} by arithmetic)"),
            }
        }),
        counted(Finding::DirectionOnly, "holds in direction only", "hold in direction only"),
        counted(Finding::NotReproduced, "is not reproduced", "are not reproduced"),
        counted(Finding::Impossible, "is impossible", "are impossible"),
        counted(Finding::NotTestable, "cannot be tested here", "cannot be tested here"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let claims = if tally.total() == 1 { "1 claim".to_owned() } else { format!("{} claims", tally.total()) };
    let far = farthest(all).map_or_else(String::new, |judged| {
        let (claim, judgement) = (&judged.claim, &judged.judgement);
        let said = |value| formed(value, judgement.compare, claim);
        let measured = said(judgement.measured.unwrap_or_default());
        format!(
            ". Largest deviation: {}, {} claimed, {measured} measured",
            about_measured(claim, judgement),
            said(judgement.claimed)
        )
    });
    format!("Of {claims}, {}{far}.", parts.join(", "))
}

/// Returns a sentence with the most frequent reason why claims were not tested.
fn untested(all: &[&Judged]) -> String {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for judged in all {
        *reasons.entry(&judged.judgement.reason).or_default() += 1;
    }
    let most = reasons.iter().max_by_key(|(_, count)| **count).map_or("", |(reason, _)| reason);
    format!("None of these claims can be tested here: {most}.")
}

/// Returns the claim that differs from its measurement by the largest factor, among the claims that were not
/// reproduced.
fn farthest<'a>(all: &[&'a Judged]) -> Option<&'a Judged> {
    let distance = |judged: &&Judged| {
        let judgement = &judged.judgement;
        let missed = matches!(judgement.finding, Finding::DirectionOnly | Finding::NotReproduced);
        let factor = judgement.measured? / judgement.claimed;
        (missed && factor > 0.0 && factor.is_finite()).then(|| factor.ln().abs())
    };
    let off = all.iter().filter_map(|judged| Some((distance(judged)?, *judged)));
    off.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, judged)| judged)
}
