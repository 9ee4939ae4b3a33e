//! Notes about possible causes of a difference. The notes name three kinds of causes: the counters that differ most,
//! the time in which threads waited for a CPU, and the CPU time, if the verdict on the CPU time disagrees with the
//! verdict on the judged metric.

use measure::{Comparison, Criteria, Ranked, Verdict, compare};
use results::{Better, Interleaving, Unit, columns as c};

use super::causes::in_words;
use super::judged::{Entry, Judged};
use crate::words::{percent, quoted};

/// A note mentions waits for a CPU only if threads spent at least this share of their time in these waits.
const LEAST_WAITS: f64 = 0.05;

/// The largest number of counters that a note names.
const MOST_NAMED: usize = 3;

impl Judged<'_> {
    /// Returns whether the metric of the verdict is a time or a rate. Only for such metrics, notes name counters and
    /// CPU time as possible causes.
    pub(super) fn is_of_time(&self) -> bool {
        let unit = self.column.unit();
        let is_time = matches!(unit, Unit::Nanoseconds | Unit::Seconds | Unit::OperationsPerSecond);
        is_time && !self.is_exact() && self.column.name() != c::CPU_SECONDS.name
    }

    /// Returns a note on the counters per operation that differ most from the baseline. The note is about the best
    /// candidate whose verdict found a difference. Returns `None` if no verdict found a difference, or if no counter
    /// differs clearly.
    pub(super) fn counters_note(&self) -> Option<String> {
        let is_decided =
            |ranked: &&Ranked| matches!(ranked.comparison.verdict, Verdict::Improved | Verdict::Regressed);
        let first = self.ranked.iter().filter(|_| self.is_of_time()).find(is_decided)?;
        let (baseline, entry) = self.both(&first.name)?;
        let factors = entry.causes.factors(&baseline.causes);
        let named: Vec<String> =
            factors.iter().take(MOST_NAMED).map(|(of, factor)| in_words(of, *factor)).collect();
        (!named.is_empty()).then(|| {
            let [own, base] = [entry, baseline].map(|of| quoted(&of.sample.name));
            format!(
                "Counters per operation of {own}, compared with {base}: {counters}.",
                counters = named.join(", ")
            )
        })
    }

    /// Describes the largest share of time in which the threads of a configuration waited for a CPU. Returns `None` if
    /// this share is below [`LEAST_WAITS`].
    pub(super) fn waits_note(&self) -> Option<String> {
        let shares = self.entries.iter().filter_map(|entry| entry.causes.waits.median());
        let most = shares.fold(0.0, f64::max);
        let is_told = self.is_of_time() && self.column.name() != c::BUSY_NS.name && most >= LEAST_WAITS;
        let is_apart =
            self.experiment.interleaving == Interleaving::Rounds && self.experiment.component.is_none();
        let plan = if is_apart { " Reduce noise: --set trials.plan=slices." } else { "" };
        is_told.then(|| {
            format!(
                "Threads waited for a CPU for up to {share} of their time. Exclude waits: --set \
                 verdict.metric=busy_ns.{plan}",
                share = percent(most)
            )
        })
    }

    /// Returns notes on the candidates whose CPU time disagrees with the metric. Candidates with the same reason share
    /// a note.
    pub(super) fn cpu_notes(&self) -> Vec<String> {
        let of = |ranked: &Ranked| {
            let (baseline, entry) = self.both(&ranked.name).filter(|_| self.is_of_time())?;
            cpu_change(baseline, entry, &ranked.comparison)
        };
        let mut by_reason: Vec<(&str, Vec<[String; 2]>)> = Vec::new();
        for (change, reason) in self.ranked.iter().filter_map(of) {
            match by_reason.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, changes)) => changes.push(change),
                None => by_reason.push((reason, vec![change])),
            }
        }
        let note = |(reason, changes): (&str, Vec<[String; 2]>)| {
            // For several candidates, the intervals are omitted, because they would make the note hard to read.
            let changes = match &changes[..] {
                [[change, interval]] => format!("{change} ({interval})"),
                changes => changes.iter().map(|[change, _]| change.as_str()).collect::<Vec<_>>().join(", "),
            };
            format!("CPU time per operation: {changes}, {reason}.")
        };
        by_reason.into_iter().map(note).collect()
    }
}

/// Compares the verdict on the CPU time of a candidate with the verdict on its measured time. If they disagree, returns
/// the change of the CPU time with its confidence interval, and words about the cause, such as waits. Returns `None` if
/// they agree.
fn cpu_change(
    baseline: &Entry<'_>,
    entry: &Entry<'_>,
    wall: &Comparison,
) -> Option<([String; 2], &'static str)> {
    let criteria = Criteria { delta: wall.delta, confidence: wall.confidence, ..Criteria::default() };
    let cpu = compare(&baseline.causes.cpu, &entry.causes.cpu, Better::Lower, &criteria);
    let is_decided =
        |comparison: &Comparison| matches!(comparison.verdict, Verdict::Improved | Verdict::Regressed);
    let is_same = cpu.verdict == wall.verdict || !(is_decided(&cpu) || is_decided(wall));
    // An inconclusive verdict on the CPU time disagrees with no other verdict, because it may only be due to noise.
    let is_open = cpu.verdict == Verdict::Inconclusive;
    if is_same || is_open {
        return None;
    }
    let interval = cpu.interval?;
    let change = |ratio: f64| format!("{:+.1}%", (ratio - 1.0) * 100.0);
    let reason = match wall.verdict {
        Verdict::Inconclusive => "which waits and noise hide",
        _ if cpu.verdict == Verdict::Equivalent => "so waits cause the difference of the measured times",
        _ => "so one configuration also waits more, or uses more threads",
    };
    let own = format!("{} {}", quoted(&entry.sample.name), change(cpu.ratio?));
    let interval = format!("95% CI {} to {}", change(interval.low), change(interval.high));
    Some(([own, interval], reason))
}
