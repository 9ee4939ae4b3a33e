//! The differences between two sides: a verdict on every number of both sides, and the numbers of only one side.

use measure::{
    Comparison, Criteria, Doubt, Sample, Verdict, adjust, compare, compare_exact, compare_unpaired,
    least_unpaired,
};
use results::{Better, Manifest, Metric, RunMode};
use types::{Outcome, Problem};

use super::samples::{Key, Samples};
use crate::words::and_more;

/// How the trials of the two sides are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Equal trials ran next to each other.
    Paired,
    /// The sides are two sessions.
    Unpaired,
    /// The base is a golden: a change in either direction fails.
    Exact,
}

/// One number on both sides.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) key: Key,
    pub(crate) metric: &'static Metric,
    /// The medians.
    pub(crate) base: f64,
    pub(crate) new: f64,
    pub(crate) comparison: Comparison,
    /// Whether it was judged by ranks.
    is_ranked: bool,
}

impl Difference {
    /// Whether an exact number differs of which neither direction is better.
    pub(crate) fn is_changed(&self) -> bool {
        self.comparison.doubt == Some(Doubt::NoDirection)
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.comparison.verdict
    }

    /// The difference without a verdict, because a row of one side is implausible.
    fn without_verdict(mut self) -> Self {
        self.comparison.verdict = Verdict::Inconclusive;
        self.comparison.doubt = Some(Doubt::Implausible);
        self
    }
}

/// All differences, and the limits of the comparison.
#[derive(Debug)]
pub struct Report {
    pub(crate) differences: Vec<Difference>,
    /// The limits of the comparison, a sentence each.
    pub(crate) notes: Vec<String>,
    /// Cells of the new side that gave wrong answers.
    pub(crate) wrong: Vec<String>,
    /// Numbers of the base that the new side does not have.
    pub(crate) gone: usize,
    pairing: Pairing,
}

impl Report {
    /// Compares two sides.
    ///
    /// # Errors
    /// If they have no experiment in common, or one ran with a clock on one side and without on the other.
    pub fn of(base: &Samples, new: &Samples, pairing: Pairing) -> Outcome<Self> {
        let mut notes = notes(base, new)?;
        if pairing == Pairing::Unpaired && new.manifests.values().any(is_timed) {
            notes.push(
                "the two sides ran in separate sessions, so differences between the sessions are part of the ratios"
                    .to_owned(),
            );
        }
        let mut differences = Vec::new();
        for (key, sample) in &new.values {
            let Some(of_base) = base.values.get(key) else { continue };
            let timed = new.manifests.get(&key.experiment).is_some_and(is_timed);
            let is_implausible = [base, new].iter().any(|side| side.implausible(key).is_some());
            let delta = Criteria::default().delta.max(base.resolution(key)).max(new.resolution(key));
            let found = difference(key, of_base, sample, timed.then_some(pairing), delta);
            differences
                .extend(found.map(|found| if is_implausible { found.without_verdict() } else { found }));
        }
        if differences.is_empty() && new.wrong.is_empty() {
            let message = "no number is on both sides, so nothing was compared";
            return Err(Problem::new(message));
        }
        notes.extend(adjust_by_metric(&mut differences));
        let missing = |ours: &Samples, theirs: &Samples| -> Vec<String> {
            let is_missing = |key: &&Key| {
                theirs.manifests.contains_key(&key.experiment) && !theirs.values.contains_key(*key)
            };
            let name = |key: &Key| {
                format!("{} of {}: {}, phase {}", key.metric, key.experiment, key.label, key.phase)
            };
            ours.values.keys().filter(is_missing).map(name).collect()
        };
        notes.extend(implausible(base, "the base").chain(implausible(new, "the new side")));
        let (gone, added) = (missing(base, new), missing(new, base));
        for (numbers, side) in [(&gone, "the base"), (&added, "the new side")] {
            if let Some((first, others)) = numbers.split_first() {
                notes.push(format!("only {side} has {first}{}", and_more(others.len())));
            }
        }
        let wrong = new.wrong.iter().cloned().collect();
        Ok(Self { differences, notes, wrong, gone: gone.len(), pairing })
    }

    /// The differences with this verdict.
    pub(crate) fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |difference| difference.verdict() == verdict)
    }

    /// Makes every regression inconclusive that an earlier report does not confirm.
    pub(crate) fn keep_confirmed(&mut self, earlier: &Self) {
        for difference in self.differences.iter_mut().filter(|d| d.verdict() == Verdict::Regressed) {
            if !earlier.with(Verdict::Regressed).any(|other| other.key == difference.key) {
                difference.comparison.verdict = Verdict::Inconclusive;
                difference.comparison.doubt = Some(Doubt::OnlyOnce);
            }
        }
    }

    /// How many numbers have no verdict because they are implausible.
    pub(super) fn implausible(&self) -> usize {
        let doubts = self.differences.iter().map(|difference| difference.comparison.doubt);
        doubts.filter(|doubt| *doubt == Some(Doubt::Implausible)).count()
    }

    /// The name of the numbers that are compared.
    pub(super) fn noun(&self) -> &'static str {
        if self.pairing == Pairing::Exact { "counters" } else { "numbers" }
    }

    /// Whether new golden values would make the check pass: numbers moved, and all answers were right.
    pub fn can_be_accepted(&self) -> bool {
        self.pairing == Pairing::Exact && self.wrong.is_empty() && !self.is_good()
    }

    /// Whether nothing regressed, nothing is missing, no answer was wrong, and no golden number moved.
    pub fn is_good(&self) -> bool {
        let has_moved = |difference: &Difference| difference.verdict() != Verdict::Equivalent;
        let is_golden = self.pairing != Pairing::Exact || !self.differences.iter().any(has_moved);
        self.wrong.is_empty() && self.gone == 0 && self.with(Verdict::Regressed).next().is_none() && is_golden
    }
}

/// The implausible numbers of one side: a sentence for each phase of a cell.
fn implausible<'a>(side: &'a Samples, name: &'a str) -> impl Iterator<Item = String> + 'a {
    side.implausible.iter().map(move |([experiment, label, phase], words)| {
        format!("implausible, so no verdict: {experiment}: {label}, phase {phase}, on {name} ({words})")
    })
}

/// Corrects the p-values of each metric. Returns a note for each metric whose trials are too few for its correction.
fn adjust_by_metric(differences: &mut [Difference]) -> Vec<String> {
    let mut metrics: Vec<&'static str> = differences.iter().map(|difference| difference.key.metric).collect();
    metrics.sort_unstable();
    metrics.dedup();
    let mut notes = Vec::new();
    for metric in metrics {
        let family = || differences.iter().filter(|difference| difference.key.metric == metric);
        let (count, trials) = (family().count(), family().map(|d| d.comparison.blocks).min().unwrap_or(0));
        let is_ranked = family().any(|difference| difference.is_ranked);
        if is_ranked && least_unpaired(trials, trials) * count as f64 > 0.05 {
            notes
                .push(format!("{trials} trials are too few for a correction over {count} numbers of {metric}; run more trials"));
        }
        let of_metric = differences.iter_mut().filter(|difference| difference.key.metric == metric);
        adjust(of_metric.map(|difference| &mut difference.comparison));
    }
    notes
}

fn is_timed(manifest: &Manifest) -> bool {
    manifest.mode == RunMode::Timed.name()
}

/// One number judged: exactly where nothing was timed, else when it differs by more than δ.
fn difference(
    key: &Key,
    base: &Sample,
    new: &Sample,
    timed: Option<Pairing>,
    delta: f64,
) -> Option<Difference> {
    let metric = results::reference::metric(key.metric)?;
    let (base_median, new_median) = (base.median()?, new.median()?);
    let criteria = Criteria { delta, ..Criteria::default() };
    let comparison = match timed {
        None => compare_exact(base_median, new_median, metric.better, 0.0),
        Some(Pairing::Paired) => compare(base, new, metric.better, &criteria),
        Some(Pairing::Unpaired | Pairing::Exact) => compare_unpaired(base, new, metric.better, &criteria),
    };
    let is_ranked = timed == Some(Pairing::Unpaired);
    Some(Difference { key: key.clone(), metric, base: base_median, new: new_median, comparison, is_ranked })
}

/// Notes on differences between the two sides other than their numbers.
fn notes(base: &Samples, new: &Samples) -> Outcome<Vec<String>> {
    let mut notes = Vec::new();
    let both = new.manifests.values().filter_map(|new| Some((base.manifests.get(&new.experiment)?, new)));
    let both: Vec<(&Manifest, &Manifest)> = both.collect();
    if both.is_empty() {
        let names = |side: &Samples| side.manifests.keys().cloned().collect::<Vec<_>>().join(", ");
        let message = format!(
            "no experiment is on both sides: the base has {}, the new side has {}",
            names(base),
            names(new)
        );
        return Err(Problem::new(message));
    }
    for (base, new) in both {
        let name = &new.experiment;
        if base.mode != new.mode {
            let message = format!(
                "{name} ran in {} mode and in {} mode; compare runs of one mode",
                base.mode, new.mode
            );
            return Err(Problem::new(message));
        }
        if base.config_hash != new.config_hash {
            notes.push(format!("{name}: the experiments of the two sides differ, which may explain changes"));
        }
        let machine = |manifest: &Manifest| (manifest.machine.cpu.clone(), manifest.machine.cores);
        if is_timed(new) && machine(base) != machine(new) {
            notes.push(format!(
                "{name}: the sides ran on different machines, so only counters are comparable"
            ));
        }
    }
    Ok(notes)
}

/// Whether a smaller number of a metric is the better one.
pub(super) fn is_smaller_better(metric: &Metric) -> bool {
    metric.better == Better::Lower
}
