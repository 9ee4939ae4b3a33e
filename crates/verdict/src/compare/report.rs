//! The report of a comparison of base results with new results. Each value that both results contain gets a verdict.
//! The report also lists the values that are missing from the base results or from the new results. In identifiers,
//! "sides" means the base results and the new results.

use measure::{
    Comparison, Criteria, Doubt, FEWEST_SESSIONS, Sample, Verdict, adjust, compare, compare_exact,
    compare_sessions, compare_unpaired,
};
use results::{Better, Manifest, Metric, RunMode};
use types::{Outcome, Problem};

use super::samples::{Key, Samples};
use super::settings::{DifferentSetting, DifferentSettings};
use crate::gate::{GateOutcome, GateRule, Tally};
use crate::words::{and_more, counted};

/// Maximum number of settings or values that a sentence names.
const MOST_NAMED: usize = 5;

/// How the trials of the base results and of the new results are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Trials with equal numbers form a pair, because they ran next to each other.
    Paired,
    /// The base results and the new results are separate sessions, so their trials are not paired.
    Unpaired,
    /// The base results are a golden file, which contains exact values. A change in either direction fails the check.
    Exact,
}

/// The difference between the base results and the new results in one value that both contain.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) key: Key,
    pub(crate) metric: &'static Metric,
    /// The median of the value over the trials of the base results.
    pub(crate) base: f64,
    pub(crate) new: f64,
    pub(crate) comparison: Comparison,
    /// Whether the base value and the new value are exact counters without noise, so that any difference is real.
    pub(super) is_exact: bool,
    /// Whether the trials of the base results and of the new results differ clearly. This is not a verdict, because a
    /// verdict compares the medians of several sessions.
    differs_within: bool,
}

impl Difference {
    /// Returns whether the value changed, although neither higher nor lower is better.
    pub(crate) fn is_changed(&self) -> bool {
        self.comparison.doubt == Some(Doubt::NoDirection)
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.comparison.verdict
    }

    /// Replaces the verdict by "inconclusive", because a row of the base results or of the new results is implausible.
    fn without_verdict(mut self) -> Self {
        self.comparison.verdict = Verdict::Inconclusive;
        self.comparison.doubt = Some(Doubt::Implausible);
        self
    }
}

/// The report of a comparison: all compared values, and notes on the limits of the comparison.
#[derive(Debug)]
pub struct ComparisonReport {
    pub(crate) differences: Vec<Difference>,
    /// Notes on the limits of the comparison, such as different settings or machines. Each note is one sentence.
    pub(crate) notes: Vec<String>,
    /// Configurations of the new results that returned wrong answers.
    pub(crate) wrong: Vec<String>,
    /// The number of values of the base results that the new results do not contain.
    pub(crate) gone: usize,
    pairing: Pairing,
    rule: GateRule,
    /// Whether the new values have replaced the values in the golden file.
    is_accepted: bool,
}

impl ComparisonReport {
    /// Compares base results with new results.
    ///
    /// # Errors
    /// The results have no experiment or no value in common, or an experiment has different modes. Separate sessions of
    /// an experiment have different settings of the workload or the conditions.
    pub fn of(base: &Samples, new: &Samples, pairing: Pairing) -> Outcome<Self> {
        let base = &base.with_labels_of(new);
        let mut notes = notes(base, new, pairing)?;
        let mut differences = Vec::new();
        for (key, sample) in &new.values {
            let Some(of_base) = base.values.get(key) else { continue };
            let timed = new.manifests.get(&key.experiment).is_some_and(is_timed);
            let is_implausible = [base, new].iter().any(|side| side.implausible(key).is_some());
            let delta = Criteria::default().delta.max(base.resolution(key)).max(new.resolution(key));
            let found = match (timed, pairing) {
                (true, Pairing::Unpaired) => of_sessions(key, (base, of_base), (new, sample), delta),
                (true, _) => paired(key, of_base, sample, delta),
                (false, _) => exact(key, of_base, sample, 0.0),
            };
            differences
                .extend(found.map(|found| if is_implausible { found.without_verdict() } else { found }));
        }
        if differences.is_empty() && new.wrong.is_empty() {
            let message = "the base results and the new results have no configuration and phase with a \
                           common metric, so nothing was compared";
            return Err(Problem::new(message));
        }
        adjust_by_metric(&mut differences);
        notes.extend(note_on_sessions(&differences));
        let missing = |ours: &Samples, theirs: &Samples| -> Vec<String> {
            let is_missing = |key: &&Key| {
                theirs.manifests.contains_key(&key.experiment) && !theirs.values.contains_key(*key)
            };
            let name = |key: &Key| {
                format!("{} of {}: {}, phase {}", key.metric, key.experiment, key.label, key.phase)
            };
            ours.values.keys().filter(is_missing).map(name).collect()
        };
        notes.extend(implausible(base, "the base results").chain(implausible(new, "the new results")));
        let (gone, added) = (missing(base, new), missing(new, base));
        for (numbers, side) in [(&gone, "the base results"), (&added, "the new results")] {
            if let Some((first, others)) = numbers.split_first() {
                notes.push(format!("only {side} have {first}{more}", more = and_more(others.len())));
            }
        }
        let wrong = new.wrong.iter().cloned().collect();
        Ok(Self {
            differences,
            notes,
            wrong,
            gone: gone.len(),
            pairing,
            rule: GateRule::default(),
            is_accepted: false,
        })
    }

    /// Marks the report as accepted, because the new values have replaced the values in the golden file.
    #[must_use]
    pub(crate) fn accepted(self) -> Self {
        Self { is_accepted: true, ..self }
    }

    /// Returns the first word of the report: `PASS` or `FAIL`, or `UPDATED` if the new values have replaced the values
    /// in the golden file.
    pub(super) fn word_of_result(&self) -> &'static str {
        match self.is_good() {
            true => "PASS",
            false if self.is_accepted => "UPDATED",
            false => "FAIL",
        }
    }

    /// Sets the rule that decides whether the report passes.
    #[must_use]
    pub fn gated(self, rule: GateRule) -> Self {
        Self { rule, ..self }
    }

    /// Returns the rule that decides whether the report passes.
    pub(super) fn rule(&self) -> &GateRule {
        &self.rule
    }

    /// Returns whether a difference passes the rule of the report. Returns `None` if neither higher nor lower is
    /// better.
    pub(super) fn outcome(&self, difference: &Difference) -> Option<GateOutcome> {
        self.rule.outcome(&difference.comparison, difference.metric.better)
    }

    /// Counts the differences that failed, that are undecided and that passed, by the rule of the report.
    pub(super) fn tally(&self) -> Tally {
        self.differences.iter().filter_map(|difference| self.outcome(difference)).collect()
    }

    /// Returns the differences whose verdict is `verdict`.
    pub(crate) fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |difference| difference.verdict() == verdict)
    }

    /// Keeps only the regressions that the earlier report `earlier` also contains. Any other regression becomes
    /// `inconclusive`.
    pub(crate) fn keep_confirmed(&mut self, earlier: &Self) {
        for difference in self.differences.iter_mut().filter(|d| d.verdict() == Verdict::Regressed) {
            if !earlier.with(Verdict::Regressed).any(|other| other.key == difference.key) {
                difference.comparison.verdict = Verdict::Inconclusive;
                difference.comparison.doubt = Some(Doubt::OnlyOnce);
            }
        }
    }

    /// Returns whether a difference failed by the rule of the report.
    pub(crate) fn has_failed(&self) -> bool {
        self.tally().failed > 0
    }

    /// Returns the number of values that have no verdict because they are implausible.
    pub(super) fn implausible(&self) -> usize {
        let doubts = self.differences.iter().map(|difference| difference.comparison.doubt);
        doubts.filter(|doubt| *doubt == Some(Doubt::Implausible)).count()
    }

    /// Returns the noun for the compared values in a sentence: `counters` or `numbers`.
    pub(super) fn noun(&self) -> &'static str {
        if self.pairing == Pairing::Exact { "counters" } else { "numbers" }
    }

    /// Returns whether new golden files would make a failed check pass. This is so if the check compares with golden
    /// files, and all answers were right.
    pub fn can_be_accepted(&self) -> bool {
        self.pairing == Pairing::Exact && self.wrong.is_empty() && !self.is_good()
    }

    /// Returns whether the check passes:
    ///
    /// * All compared values pass the rule of the report.
    /// * No value of the base results is missing.
    /// * No answer was wrong.
    /// * No golden value changed.
    pub fn is_good(&self) -> bool {
        let has_moved = |difference: &Difference| difference.verdict() != Verdict::Equivalent;
        let is_golden = self.pairing != Pairing::Exact || !self.differences.iter().any(has_moved);
        self.wrong.is_empty() && self.gone == 0 && self.rule.passes(self.tally()) && is_golden
    }
}

/// Returns one sentence for each phase of a configuration with implausible values. `name` is the name of the results in
/// the sentence, such as the base results.
fn implausible<'a>(side: &'a Samples, name: &'a str) -> impl Iterator<Item = String> + 'a {
    side.implausible.iter().map(move |([experiment, label, phase], words)| {
        format!("no verdict, because values of {name} are implausible: {experiment}: {label}, phase {phase} ({words})")
    })
}

/// Corrects the p-values of the differences for multiple comparisons, separately for each metric.
fn adjust_by_metric(differences: &mut [Difference]) {
    let mut metrics: Vec<&'static str> = differences.iter().map(|difference| difference.key.metric).collect();
    metrics.sort_unstable();
    metrics.dedup();
    for metric in metrics {
        let of_metric = differences.iter_mut().filter(|difference| difference.key.metric == metric);
        adjust(of_metric.map(|difference| &mut difference.comparison));
    }
}

/// Returns a note about the measured times that have no verdict because there are too few sessions. The note names the
/// times whose trials differ clearly. Returns `None` if there are no such times.
fn note_on_sessions(differences: &[Difference]) -> Option<String> {
    let is_undecided = |difference: &&Difference| difference.comparison.doubt == Some(Doubt::FewSessions);
    let undecided: Vec<&Difference> = differences.iter().filter(is_undecided).collect();
    if undecided.is_empty() {
        return None;
    }
    let times = counted(undecided.len(), "measured time");
    let apart: Vec<&&Difference> = undecided.iter().filter(|difference| difference.differs_within).collect();
    let named: Vec<String> = apart.iter().take(MOST_NAMED).map(|difference| difference.in_short()).collect();
    let more = and_more(apart.len() - named.len());
    let apart = match &named[..] {
        [] => String::new(),
        named => format!("; the trials differ clearly in {names}{more}", names = named.join(", ")),
    };
    Some(format!(
        "no verdict on {times}, because there are too few sessions. Times also differ between sessions of \
         one build, and lsmbench can estimate this variation only from at least {FEWEST_SESSIONS} \
         sessions{apart}. Put several results folders of each build into one folder, or run both builds in \
         one session (lsmbench check --against, or one sweep)"
    ))
}

fn is_timed(manifest: &Manifest) -> bool {
    manifest.mode == RunMode::Timed.name()
}

/// Compares exact values, which have no noise. A verdict finds a difference only if the relative difference exceeds
/// `delta`. Returns `None` if one of the samples has no value.
fn exact(key: &Key, base: &Sample, new: &Sample, delta: f64) -> Option<Difference> {
    let metric = results::reference::metric(key.metric)?;
    let (base, new) = (base.median()?, new.median()?);
    let comparison = compare_exact(base, new, metric.better, delta);
    Some(Difference {
        key: key.clone(),
        metric,
        base,
        new,
        comparison,
        is_exact: true,
        differs_within: false,
    })
}

/// Compares two samples whose trials are paired, because trials with equal numbers ran next to each other. Returns
/// `None` if one of the samples has no value.
fn paired(key: &Key, base: &Sample, new: &Sample, delta: f64) -> Option<Difference> {
    let metric = results::reference::metric(key.metric)?;
    let criteria = Criteria { delta, ..Criteria::default() };
    let comparison = compare(base, new, metric.better, &criteria);
    let (base, new) = (base.median()?, new.median()?);
    Some(Difference {
        key: key.clone(),
        metric,
        base,
        new,
        comparison,
        is_exact: false,
        differs_within: false,
    })
}

/// Compares a value between separate sessions by the medians of the sessions. Exact counters that are equal in all
/// trials need no statistics, because they have no noise. Returns `None` if one of the samples has no value.
fn of_sessions(
    key: &Key,
    (base_side, base): (&Samples, &Sample),
    (new_side, new): (&Samples, &Sample),
    delta: f64,
) -> Option<Difference> {
    let metric = results::reference::metric(key.metric)?;
    let is_constant =
        |sample: &Sample| sample.blocks.iter().all(|(_, value)| value.total_cmp(&sample.blocks[0].1).is_eq());
    let repeats = base.blocks.len().min(new.blocks.len()) > 1;
    if metric.is_exact() && repeats && is_constant(base) && is_constant(new) {
        return exact(key, base, new, delta);
    }
    let criteria = Criteria { delta, ..Criteria::default() };
    let [of_base, of_new] =
        [base_side, new_side].map(|side| side.sessions.get(key).map_or(&[][..], Vec::as_slice));
    let comparison = compare_sessions(of_base, of_new, metric.better, &criteria);
    let within = compare_unpaired(base, new, metric.better, &criteria).verdict;
    let differs_within = matches!(within, Verdict::Improved | Verdict::Regressed);
    let (base, new) = (base.median()?, new.median()?);
    Some(Difference { key: key.clone(), metric, base, new, comparison, is_exact: false, differs_within })
}

/// Formats the first few settings as a list for a sentence, and adds the number of the remaining settings.
fn listed(settings: &[DifferentSetting]) -> String {
    let named: Vec<String> = settings.iter().take(MOST_NAMED).map(DifferentSetting::shown).collect();
    format!("{}{}", named.join(", "), and_more(settings.len() - named.len()))
}

/// Returns notes about settings and machines that differ between the base results and the new results.
///
/// # Errors
/// The results have no experiment in common, or an experiment has different modes. Separate sessions of an experiment
/// did different work.
fn notes(base: &Samples, new: &Samples, pairing: Pairing) -> Outcome<Vec<String>> {
    let mut notes = Vec::new();
    let both = new.manifests.values().filter_map(|new| Some((base.manifests.get(&new.experiment)?, new)));
    let both: Vec<(&Manifest, &Manifest)> = both.collect();
    if both.is_empty() {
        let names = |side: &Samples| side.manifests.keys().cloned().collect::<Vec<_>>().join(", ");
        let message = format!(
            "the base results and the new results have no experiment in common: the base results have \
             {old}, the new results have {new}",
            old = names(base),
            new = names(new)
        );
        return Err(Problem::new(message));
    }
    for (base, new) in both {
        let name = &new.experiment;
        if base.mode != new.mode {
            let message = format!(
                "{name} ran in {old} mode in the base results and in {new} mode in the new results; \
                 compare runs of one mode",
                old = base.mode,
                new = new.mode
            );
            return Err(Problem::new(message));
        }
        let settings = DifferentSettings::between(base, new);
        if pairing == Pairing::Unpaired && !settings.of_question.is_empty() {
            let settings = listed(&settings.of_question);
            let message = format!(
                "the base run and the new run of {name} did different work, so their values are not comparable: \
                 {settings}; run both with equal settings"
            );
            return Err(Problem::new(message));
        }
        if base.config_hash != new.config_hash {
            let paths: Vec<&str> =
                settings.of_design.iter().take(MOST_NAMED).map(|setting| setting.path.as_str()).collect();
            let more = and_more(settings.of_design.len() - paths.len());
            let where_ =
                if paths.is_empty() { String::new() } else { format!(" in {}{more}", paths.join(", ")) };
            notes.push(format!(
                "{name}: the settings of the base run and the new run differ{where_}, which may explain changes"
            ));
        }
        let machine = |manifest: &Manifest| (manifest.machine.cpu.clone(), manifest.machine.cores);
        if is_timed(new) && machine(base) != machine(new) {
            notes.push(format!(
                "{name}: the base run and the new run used different machines, so only counters are comparable"
            ));
        }
    }
    Ok(notes)
}

/// Returns whether smaller values of a metric are better.
pub(super) fn is_smaller_better(metric: &Metric) -> bool {
    metric.better == Better::Lower
}
