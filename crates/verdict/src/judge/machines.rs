//! Verdicts on rounds that ran on several machines. Each machine is a stratum: a ratio always compares values from the
//! same machine, and the ratios of all machines are then pooled.

use std::collections::{BTreeMap, BTreeSet};

use measure::{Criteria, MachineSpread, Pooled, Sample, Verdict, compare_unpaired, is_outlying, pool};
use results::Better;

use super::Verdicts;
use super::judged::{Entry, Judged};
use crate::change::Change;
use crate::words::{and_more, counted, listed, percent, quoted};

/// A sentence names a machine whose values differ by more than this fraction from the values of the other machines.
const OUTLYING: f64 = 0.1;

/// The largest number of configurations whose comparison over all machines gets a sentence.
const MOST_SENTENCES: usize = 8;

/// The largest number of machines whose ratios one sentence contains.
const MOST_MACHINES: usize = 8;

/// The machines on which the rounds of a run ran.
#[derive(Clone, Debug, Default)]
pub struct Machines {
    /// The machine of each round.
    pub of_rounds: BTreeMap<u64, String>,
    /// The findings of `lsmbench doctor` on each machine, by the name of the machine.
    pub findings: BTreeMap<String, Vec<String>>,
}

/// The logarithms of a value or ratio in each round, grouped by machine.
type Strata<'a> = BTreeMap<&'a str, Vec<f64>>;

impl Verdicts<'_> {
    /// Returns sentences about the machines of a run: the results pooled over all machines, the differences between
    /// machines, and outlying machines. Returns no sentences for exact values, or if all rounds ran on one machine.
    pub fn of_machines(&self, machines: &Machines) -> Vec<String> {
        let names: BTreeSet<&String> = machines.of_rounds.values().collect();
        if names.len() < 2 {
            return Vec::new();
        }
        let judged = self.judged.iter().filter(|judged| !judged.is_exact());
        judged.flat_map(|judged| judged.of_machines(machines)).collect()
    }
}

impl Machines {
    /// Returns the logarithms of the values of a sample, grouped by the machine of their round.
    fn logs<'a>(&'a self, sample: &Sample) -> Strata<'a> {
        let mut logs = Strata::new();
        for (round, value) in &sample.blocks {
            if let Some(machine) = self.of_rounds.get(round) {
                logs.entry(machine).or_default().push(value.ln());
            }
        }
        logs
    }

    /// Formats the findings of `lsmbench doctor` on a machine: `; doctor: cpu governor, powersave: …`. Returns an empty
    /// text if there are no findings.
    fn known(&self, machine: &str) -> String {
        let findings = self.findings.get(machine).filter(|findings| !findings.is_empty());
        findings.map_or_else(String::new, |findings| format!("; doctor: {}", findings.join("; ")))
    }
}

impl Judged<'_> {
    fn of_machines(&self, machines: &Machines) -> Vec<String> {
        let Some((baseline, others)) = self.entries.split_first() else { return Vec::new() };
        let comparable = others.iter().filter(|other| self.is_comparable(&other.sample.name));
        let strata: Vec<(&Entry<'_>, Strata<'_>)> =
            comparable.map(|other| (other, strata(machines, &baseline.sample, &other.sample))).collect();
        let mut said: Vec<String> = strata
            .iter()
            .take(MOST_SENTENCES)
            .filter_map(|(other, strata)| Self::pooled(baseline, other, strata))
            .map(|text| format!("{}: {text}", self.what()))
            .collect();
        if strata.len() > MOST_SENTENCES {
            let others = counted(strata.len() - MOST_SENTENCES, "other configuration");
            said.push(format!("{}: {others} omitted here.", self.what()));
        }
        said.extend(self.best_of_each(baseline, &strata).map(|text| format!("{}: {text}", self.what())));
        said.extend(self.outlying(machines, baseline, &strata));
        match self.within.as_str() {
            "" => said,
            within => said.into_iter().map(|text| format!("{within}: {text}")).collect(),
        }
    }

    /// Formats the comparison of a configuration with the baseline, pooled over all machines: `tiered vs leveled: 20.1%
    /// higher, pooled over 3 machines (95% CI 18.0% to 22.0%; a 19.0% higher, …)`. Returns `None` if the ratios cannot
    /// be pooled.
    fn pooled(baseline: &Entry<'_>, other: &Entry<'_>, strata: &Strata<'_>) -> Option<String> {
        let logs: Vec<Vec<f64>> = strata.values().cloned().collect();
        let Pooled { ratio, interval, spread } = pool(&logs, &Criteria::default())?;
        let each = strata.iter().take(MOST_MACHINES).filter_map(|(machine, logs)| {
            Some(format!("{machine} {}", shown(measure::median(logs.iter().copied())?.exp())))
        });
        let change = Change::of_ratio(ratio, Some(interval));
        let more = and_more(strata.len().saturating_sub(MOST_MACHINES));
        let mut text = format!(
            "{name} vs {base}: {change}, pooled over {count} machines (95% CI {interval}; {each}{more}); ",
            name = quoted(&other.sample.name),
            base = quoted(&baseline.sample.name),
            change = directed(&change),
            count = strata.len(),
            interval = change.interval().unwrap_or_else(|| "no width".to_owned()),
            each = each.collect::<Vec<_>>().join(", "),
        );
        let between = match spread {
            Some(MachineSpread { relative, interval }) => format!(
                "standard deviation between machines {spread} (95% CI {low} to {high}).",
                spread = percent(relative),
                low = percent(interval.low),
                high = percent(interval.high)
            ),
            None => {
                "the standard deviation between machines is unknown, because each machine ran only one round."
                    .to_owned()
            }
        };
        text += &between;
        if interval.low < 1.0 && interval.high > 1.0 {
            text += " The difference may have the opposite sign on other machines.";
        }
        Some(text)
    }

    /// Returns a sentence that states whether the best configuration is the same on each machine. Returns `None` if
    /// neither higher nor lower is better.
    fn best_of_each(&self, baseline: &Entry<'_>, strata: &[(&Entry<'_>, Strata<'_>)]) -> Option<String> {
        let sign = match self.column.better() {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
            Better::Neither => return None,
        };
        let mut best: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for machine in strata.first()?.1.keys() {
            let candidates = strata.iter().filter_map(|(other, strata)| {
                let logs = strata.get(machine)?.iter().copied();
                Some((sign * measure::median(logs)?, other.sample.name.as_str()))
            });
            let own = (0.0, baseline.sample.name.as_str());
            let (_, name) = candidates.chain([own]).max_by(|a, b| a.0.total_cmp(&b.0))?;
            best.entry(name).or_default().push(machine);
        }
        if let (1, Some((name, _))) = (best.len(), best.first_key_value()) {
            return Some(format!("{name} is best on each machine.", name = quoted(name)));
        }
        let each = best.iter().map(|(name, on)| format!("{} on {}", quoted(name), listed(on)));
        Some(format!(
            "the best configuration differs between machines: {names}.",
            names = each.collect::<Vec<_>>().join(", ")
        ))
    }

    /// Describes the machines that are outliers: the value of the baseline, or the ratio of another configuration to
    /// the baseline, differs from the other machines by more than [`OUTLYING`].
    fn outlying(
        &self,
        machines: &Machines,
        baseline: &Entry<'_>,
        strata: &[(&Entry<'_>, Strata<'_>)],
    ) -> Vec<String> {
        let (title, base) = (self.title(), quoted(&baseline.sample.name));
        let levels = machines.logs(&baseline.sample);
        let mut said = Vec::new();
        for machine in levels.keys() {
            let known = machines.known(machine);
            if let Some(ratio) = against_others(&levels, machine) {
                said.push(format!(
                    "{machine} is an outlier: {title} of {base} is {change} than on the other machines{known}.",
                    change = shown(ratio)
                ));
            }
            let mut apart = strata.iter().filter_map(|(other, strata)| {
                Some((quoted(&other.sample.name), against_others(strata, machine)?))
            });
            if let Some((name, ratio)) = apart.next() {
                said.push(format!(
                    "{machine} is an outlier: {title} of {name}{more} relative to {base} is {change} than on the \
                     other machines{known}.",
                    change = shown(ratio),
                    more = and_more(apart.count())
                ));
            }
        }
        said
    }
}

/// Returns the value on one machine divided by the value on the other machines. Returns `None` if the machine is not an
/// outlier.
fn against_others(logs: &Strata<'_>, machine: &str) -> Option<f64> {
    let criteria = Criteria { delta: OUTLYING, ..Criteria::default() };
    let sample = |is_kept: &dyn Fn(&str) -> bool| {
        let logs = logs.iter().filter(|(name, _)| is_kept(name)).flat_map(|(_, logs)| logs);
        Sample::new("", (0..).zip(logs.map(|log| log.exp())))
    };
    let (others, own) = (sample(&|name| name != machine), sample(&|name| name == machine));
    let comparison = compare_unpaired(&others, &own, Better::Higher, &criteria);
    let ratio = comparison.ratio?;
    let is_apart = || {
        let center = |logs: &Vec<f64>| measure::median(logs.iter().copied());
        let centers = logs.iter().filter(|(name, _)| **name != machine).filter_map(|(_, logs)| center(logs));
        let own = logs.get(machine).and_then(center);
        let is_large = ratio.ln().abs() > OUTLYING.ln_1p();
        is_large && own.is_some_and(|own| is_outlying(own, &centers.collect::<Vec<f64>>(), &criteria))
    };
    (matches!(comparison.verdict, Verdict::Improved | Verdict::Regressed) || is_apart()).then_some(ratio)
}

/// Returns the logarithm of the ratio candidate / baseline in each round, grouped by machine. `other` is the sample of
/// the candidate.
fn strata<'a>(machines: &'a Machines, baseline: &Sample, other: &Sample) -> Strata<'a> {
    let mut strata = Strata::new();
    for (round, base) in &baseline.blocks {
        let own = other.blocks.iter().find(|(of, _)| of == round).map(|(_, own)| *own);
        if let (Some(own), Some(machine)) = (own, machines.of_rounds.get(round)) {
            strata.entry(machine).or_default().push((own / base).ln());
        }
    }
    strata
}

/// Formats a ratio as a change: `12.0% higher`, `2.28x lower`.
fn shown(ratio: f64) -> String {
    directed(&Change::of_ratio(ratio, None))
}

/// Formats a change with its direction: `12.0% higher`, `2.28x lower`.
fn directed(change: &Change) -> String {
    format!("{} {}", change.size(), if change.is_up() { "higher" } else { "lower" })
}
