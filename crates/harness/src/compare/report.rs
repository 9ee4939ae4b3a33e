//! What differs between two sides: every number that both have, judged, and what only one of them has.

use measure::{
    Comparison, Criteria, Doubt, Sample, Verdict, adjust, compare, compare_exact, compare_unpaired,
};
use results::{Better, Manifest, Metric, columns as c};

use super::samples::{Key, Samples};
use crate::experiment::RunMode;
use crate::problem::{Outcome, Problem};

/// How the trials of the two sides belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// Equal trials ran next to each other.
    Paired,
    /// The sides are two sessions.
    Unpaired,
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
}

impl Difference {
    /// Whether an exact number differs of which neither direction is better: another tree did other work.
    pub(crate) fn is_changed(&self) -> bool {
        self.comparison.doubt == Some(Doubt::NoDirection)
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.comparison.verdict
    }
}

/// All differences, and what cannot be compared.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) differences: Vec<Difference>,
    /// What limits the comparison.
    pub(crate) notes: Vec<String>,
    /// Cells of the new side that gave wrong answers.
    pub(crate) wrong: Vec<String>,
}

impl Report {
    /// Compares two sides.
    ///
    /// # Errors
    /// If they have no experiment in common, or one ran with a clock on one side and without on the other.
    pub(crate) fn of(base: &Samples, new: &Samples, pairing: Pairing) -> Outcome<Self> {
        let mut notes = notes(base, new)?;
        if pairing == Pairing::Unpaired && new.manifests.values().any(is_timed) {
            notes.push(
                "the sides were not run in turn: what differed between the sessions is in the ratios"
                    .to_owned(),
            );
        }
        let mut differences = Vec::new();
        for (key, sample) in &new.values {
            let Some(of_base) = base.values.get(key) else { continue };
            let timed = new.manifests.get(&key.experiment).is_some_and(is_timed);
            differences.extend(difference(key, of_base, sample, timed.then_some(pairing)));
        }
        adjust(differences.iter_mut().map(|difference| &mut difference.comparison));
        let missing = |ours: &Samples, theirs: &Samples| {
            let mut cells: Vec<String> = ours
                .values
                .keys()
                .filter(|key| {
                    theirs.manifests.contains_key(&key.experiment) && !theirs.values.contains_key(*key)
                })
                .map(|key| format!("{}: {}", key.experiment, key.label))
                .collect();
            cells.dedup();
            cells
        };
        for (cells, side) in [(missing(base, new), "the base"), (missing(new, base), "the new side")] {
            if let Some((first, others)) = cells.split_first() {
                let more =
                    if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
                notes.push(format!("only {side} has numbers of {first}{more}"));
            }
        }
        Ok(Self { differences, notes, wrong: new.wrong.iter().cloned().collect() })
    }

    /// The differences with this verdict.
    pub(crate) fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |difference| difference.verdict() == verdict)
    }

    /// Takes back every regression that an earlier report did not show as well.
    pub(crate) fn keep_confirmed(&mut self, earlier: &Self) {
        for difference in self.differences.iter_mut().filter(|d| d.verdict() == Verdict::Regressed) {
            if !earlier.with(Verdict::Regressed).any(|other| other.key == difference.key) {
                difference.comparison.verdict = Verdict::Inconclusive;
                difference.comparison.doubt = Some(Doubt::OnlyOnce);
            }
        }
    }

    /// Whether an exact number differs, in whatever direction.
    pub(crate) fn has_changed(&self) -> bool {
        self.differences.iter().any(|difference| difference.verdict() != Verdict::Equivalent)
    }

    /// Whether nothing got worse and no answer was wrong.
    pub(crate) fn is_good(&self) -> bool {
        self.wrong.is_empty() && self.with(Verdict::Regressed).next().is_none()
    }
}

fn is_timed(manifest: &Manifest) -> bool {
    manifest.mode == RunMode::Timed.name()
}

/// One number judged: exactly where nothing was timed.
fn difference(key: &Key, base: &Sample, new: &Sample, timed: Option<Pairing>) -> Option<Difference> {
    let metric = c::metric(key.metric)?;
    let (base_median, new_median) = (base.median()?, new.median()?);
    let criteria = Criteria::default();
    let comparison = match timed {
        None => compare_exact(base_median, new_median, metric.better, 0.0),
        Some(Pairing::Paired) => compare(base, new, metric.better, &criteria),
        Some(Pairing::Unpaired) => compare_unpaired(base, new, metric.better, &criteria),
    };
    Some(Difference { key: key.clone(), metric, base: base_median, new: new_median, comparison })
}

/// What must be known of the two sides besides their numbers.
fn notes(base: &Samples, new: &Samples) -> Outcome<Vec<String>> {
    let mut notes = Vec::new();
    let both = new.manifests.values().filter_map(|new| Some((base.manifests.get(&new.experiment)?, new)));
    let both: Vec<(&Manifest, &Manifest)> = both.collect();
    if both.is_empty() {
        let names = |side: &Samples| side.manifests.keys().cloned().collect::<Vec<_>>().join(", ");
        let message = format!("no experiment is on both sides: {} and {}", names(base), names(new));
        return Err(Problem::new(message));
    }
    for (base, new) in both {
        let name = &new.experiment;
        if base.mode != new.mode {
            let message =
                format!("{name} ran in {} mode and in {} mode; compare like with like", base.mode, new.mode);
            return Err(Problem::new(message));
        }
        if base.config_hash != new.config_hash {
            notes.push(format!(
                "{name}: the experiment is not the same on both sides: a change may be its own"
            ));
        }
        let machine = |manifest: &Manifest| (manifest.machine.cpu.clone(), manifest.machine.cores);
        if is_timed(new) && machine(base) != machine(new) {
            notes.push(format!("{name}: the sides ran on different machines: only counters can be compared"));
        }
    }
    Ok(notes)
}

/// Whether a smaller number of a metric is the better one.
pub(crate) fn is_smaller_better(metric: &Metric) -> bool {
    metric.better == Better::Lower
}
