//! Judges a claim, which is a number that a published document states. One of five findings follows from the claim, the
//! measurement and the theory.

use results::{Better, Table};

use crate::compute::{About, Force, run};
use crate::form::{Measured, crossing, lead};
use crate::judgement::{Finding, Judgement};
use crate::lookup::{Lookup, cores, scales};
use crate::reading::{better, points, read, sizes, values};
use crate::text::beside;
use crate::weigh::{Weighed, slack};
use crate::{At, Bound, Claim, Claims, Compare, Expected, Facts, Quantity, Rule, Statement, Theory, Way};

/// The evidence by which a claim is judged: the results of an experiment, and facts about the machine and the program.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// The result rows of the experiment, or the reason why the experiment did not run.
    pub runs: Result<&'a Table, &'a str>,
    /// The number of CPU cores of the machine that ran the experiment.
    pub cores: Option<u64>,
    /// The facts about the program and the experiment that computations may read.
    pub facts: &'a dyn Facts,
}

/// Judges one claim of a `[[claim]]` table. `place` is the index of the claim in the table's list of claims.
///
/// # Panics
/// Panics if the table was not checked with [`Sheet::check_against`](crate::Sheet::check_against) before.
pub fn judge(rule: &Rule, place: usize, claims: &Claims, evidence: &Evidence<'_>) -> Judgement {
    let claim = claims
        .get(&rule.ids.all()[place])
        .expect("every claim of a [[claim]] table must exist, as check_against() ensures");
    let case = Case { rule, place, claim, claims, evidence };
    let judged = match rule.way() {
        Way::Untestable => case.untested(rule.untestable.clone().unwrap_or_default()),
        Way::Run => case.run(),
        Way::Computed => case.computed(),
    };
    match &rule.theory {
        Some(theory) => Judgement { theory: Some(case.expected(theory)), ..judged },
        None => judged,
    }
}

/// Judges a claim by the computation that a `[[claim]]` table names, without a measurement.
pub(crate) fn compute(rule: &Rule, claim: &Claim, claims: &Claims, evidence: &Evidence<'_>) -> Judgement {
    Case { rule, place: 0, claim, claims, evidence }.computed()
}

/// A claim to judge, with its `[[claim]]` table and the evidence for the finding.
struct Case<'a> {
    rule: &'a Rule,
    place: usize,
    claim: &'a Claim,
    claims: &'a Claims,
    evidence: &'a Evidence<'a>,
}

/// The claimed number and the measured number, both in the form of the comparison, such as a ratio.
struct Beside {
    claimed: f64,
    measured: Measured,
}

impl Case<'_> {
    fn untested(&self, reason: String) -> Judgement {
        Judgement {
            id: self.claim.id.clone(),
            compare: self.rule.compare,
            claimed: self.claimed().unwrap_or(self.claim.value),
            measured: None,
            interval: None,
            measured_at: None,
            theory: None,
            finding: Finding::NotTestable,
            reason,
        }
    }

    fn run(&self) -> Judgement {
        let Beside { claimed, measured } = match self.measure() {
            Ok(beside) => beside,
            Err(reason) => return self.untested(reason),
        };
        let weighed = self.weighed(claimed);
        let (finding, why) = weighed.against(measured);
        let untested = self.untested(String::new());
        let judged = Judgement {
            claimed,
            measured: Some(measured.value),
            interval: measured.interval,
            measured_at: self.measured_at(),
            finding,
            ..untested
        };
        // The reason for a finding other than "reproduced" also states the numbers.
        let reason = match finding {
            Finding::DirectionOnly | Finding::NotReproduced => {
                beside(self.claim, &judged, weighed.band(), &why)
            }
            _ => why,
        };
        Judgement { reason, ..judged }
    }

    fn computed(&self) -> Judgement {
        let measured =
            self.rule.column.as_ref().and_then(|_| self.measure().ok()).map(|beside| beside.measured);
        let shown = Judgement {
            compare: self.rule.compare,
            claimed: self.claim.value,
            measured: measured.map(|measured| measured.value),
            interval: measured.and_then(|measured| measured.interval),
            measured_at: measured.and_then(|_| self.measured_at()),
            ..self.untested(String::new())
        };
        let name = self.rule.computed.as_deref().unwrap_or_default();
        match run(name, &self.rule.with, self.about()) {
            Err(reason) => Judgement { reason, ..shown },
            Ok((force, theory)) => {
                let (finding, derived) = self.held_to(theory, force);
                let reason = self.rule.reason.clone().unwrap_or_else(|| derived.to_owned());
                let bound = self.rule.bound;
                // The derivation is already in the reason, so it is empty here.
                let theory = Expected { value: Some(theory), bound, unit: None, says: String::new() };
                Judgement { theory: Some(theory), finding, reason, ..shown }
            }
        }
    }

    /// Returns the theoretical value that belongs to the claim, or the reason why it cannot be computed.
    fn expected(&self, theory: &Theory) -> Expected {
        let nothing = |says| Expected { value: None, bound: None, unit: None, says };
        theory.expected(self.about()).unwrap_or_else(nothing)
    }

    /// Returns the inputs of a computation that checks this claim.
    fn about(&self) -> About<'_> {
        About { claim: self.claim, place: self.place, claims: self.claims, facts: self.evidence.facts }
    }

    /// Compares the claimed number with the computed number `theory`. Returns the finding and the reason. If `theory`
    /// is only a bound, a claim within the bound but far from it gets the finding [`Finding::DirectionOnly`].
    fn held_to(&self, theory: f64, force: Force) -> (Finding, &'static str) {
        let value = self.claim.value;
        let slack = slack(Compare::Value, self.rule.tolerance, value);
        let (is_near, is_below, is_above) =
            ((value - theory).abs() <= slack, value < theory - slack, value > theory + slack);
        let otherwise = match force {
            Force::Given if is_near => {
                return (
                    Finding::NotTestable,
                    "the experiment uses this value of the document as a parameter",
                );
            }
            Force::Must => Finding::Impossible,
            Force::Should | Force::Given => Finding::NotReproduced,
        };
        match (self.rule.bound, self.claim.standing) {
            (Some(Bound::AtLeast), _) if is_below => {
                (otherwise, "the claimed value is below the smallest possible value")
            }
            (Some(Bound::AtMost), _) if is_above => {
                (otherwise, "the claimed value is above the largest possible value")
            }
            (Some(_), _) if is_near => {
                (Finding::Reproduced, "equal to the computed bound, within the tolerance")
            }
            (Some(_), _) => (
                Finding::DirectionOnly,
                "the claimed value meets the computed bound, but differs from it by more than the tolerance",
            ),
            (None, Statement::AtLeast) if is_below => {
                (Finding::Reproduced, "the computed number is larger than the claimed value")
            }
            (None, Statement::AtMost) if is_above => {
                (Finding::Reproduced, "the computed number is smaller than the claimed value")
            }
            (None, _) if is_near => {
                (Finding::Reproduced, "equal to the computed number, within the tolerance")
            }
            (None, Statement::UpTo) if is_above && theory > 0.0 && force == Force::Should => {
                (Finding::DirectionOnly, "the claimed maximum is above the computed number")
            }
            (None, _) => (otherwise, "different from the computed number by more than the tolerance"),
        }
    }

    /// Returns the claimed number with the tolerance of its `[[claim]]` table, for the comparison with a measurement.
    fn weighed(&self, claimed: f64) -> Weighed {
        let compare = self.rule.compare.unwrap_or(Compare::Value);
        // The form of the claim may be a ratio, so the other end of the range is converted to the same form.
        let form = self.other_claim().map_or(1.0, |other| 1.0 / other.value);
        let other_end = self.claims.other_end(self.claim).map(|other| other.value * form);
        let (standing, tolerance) = (self.claim.standing, self.rule.tolerance);
        Weighed { compare, standing, claimed, other_end, tolerance }
    }

    /// Reads the measurement of the claim from the results. Returns the claimed and the measured number in the form of
    /// the comparison, such as a ratio, or the reason why there is no measurement.
    fn measure(&self) -> Result<Beside, String> {
        let (Some(quantity), compare) = (&self.rule.column, self.rule.compare.unwrap_or(Compare::Value))
        else {
            return Err("the [[claim]] table has no key \"column\", so nothing is measured".to_owned());
        };
        if self.rule.way() == Way::Run {
            if self.other_claim().is_some_and(|other| other.id == self.claim.id) || self.is_own_other() {
                return Err("other claims are measured relative to this claim".to_owned());
            }
            let needed = cores(self.rule, self.claim);
            if let (Some(needed), Some(cores)) = (needed, self.evidence.cores)
                && needed > cores
            {
                return Err(format!("needs {needed} CPU cores, but this machine has {cores}"));
            }
        }
        let runs = self.evidence.runs.map_err(|why| format!("not run: {why}"))?;
        let claimed = self.claimed()?;
        let better = better(runs.schema(), quantity);
        let measured = match (compare, &self.rule.at) {
            (Compare::Rank, _) => self.rank(runs, quantity)?,
            (_, Some(at)) => self.crossed(runs, quantity, at, compare, better)?,
            (_, None) if self.rule.sweep.is_empty() => self.compared(runs, quantity, compare, better, &[])?,
            (_, None) => self.farthest(runs, quantity, compare, better)?,
        };
        Ok(Beside { claimed, measured })
    }

    /// Returns the data sizes at which the claim and the other side of its comparison were measured, such as `1,250,000
    /// against 125,000`. Returns `None` if they were measured at the sizes in the document.
    fn measured_at(&self) -> Option<String> {
        let runs = self.evidence.runs.ok()?;
        let of = |lookup: &Lookup| sizes(runs, lookup).map(|all| all.join(", "));
        let own = of(&Lookup::of(self.rule, self.claim))?;
        let other = Lookup::of_other(self.rule, self.claim).and_then(|lookup| of(&lookup));
        Some(match other.filter(|other| *other != own) {
            Some(other) => format!("{own} against {other}"),
            None => own,
        })
    }

    /// Returns the measured number to compare with the claim, such as a ratio of two measurements. `place` selects one
    /// combination of the swept parameters.
    fn compared(
        &self,
        runs: &Table,
        quantity: &Quantity,
        compare: Compare,
        better: Better,
        place: &[(&str, &str)],
    ) -> Result<Measured, String> {
        let (scale, scale_other) = scales(self.rule, self.claim);
        let own = read(runs, &Lookup::of(self.rule, self.claim).at(place), quantity, scale)?;
        let other = Lookup::of_other(self.rule, self.claim)
            .map(|lookup| {
                read(runs, &lookup.at(place), quantity, scale_other)
                    .map_err(|why| format!("the measurement with which the claim compares is missing: {why}"))
            })
            .transpose()?;
        compare.measured(better, &own, other.as_ref()).ok_or_else(|| {
            "the two compared measurements have no trial in common, or one of them is 0".to_owned()
        })
    }

    /// Returns the measured number to compare with an "up to" claim: the most extreme value over all combinations of
    /// the swept parameters. Combinations without a measurement are ignored.
    fn farthest(
        &self,
        runs: &Table,
        quantity: &Quantity,
        compare: Compare,
        better: Better,
    ) -> Result<Measured, String> {
        let places = values(runs, &Lookup::of(self.rule, self.claim), self.rule.sweep.all())?;
        let columns = self.rule.sweep.all().iter().map(String::as_str);
        let all = places.iter().map(|place| {
            let place: Vec<(&str, &str)> = columns.clone().zip(place.iter().map(String::as_str)).collect();
            self.compared(runs, quantity, compare, better, &place)
        });
        let mut all: Vec<Result<Measured, String>> = all.collect();
        let is_measured = |one: &Result<Measured, String>| one.is_ok();
        if all.iter().any(is_measured) {
            all.retain(is_measured);
        }
        let mut found = all.into_iter().collect::<Result<Vec<_>, _>>()?;
        let is_low = compare.neutral().is_some_and(|neutral| self.claim.value < neutral);
        found.sort_by(|one, other| one.value.total_cmp(&other.value));
        if is_low { found.first() } else { found.last() }
            .copied()
            .ok_or_else(|| "not run: the results contain no row with values of the swept columns".to_owned())
    }

    /// Returns the measured position of a crossing: a value on the x axis. The key `at` states its condition:
    ///
    /// * If `at` states a value, the curve of the claim's subject reaches this value. If the comparison has another
    ///   side, its curve reaches the value at another x, and the result combines both, for example as a ratio.
    /// * If `at` states a lead, the subject leads the other side by this fraction from the crossing on.
    fn crossed(
        &self,
        runs: &Table,
        quantity: &Quantity,
        at: &At,
        compare: Compare,
        better_x: Better,
    ) -> Result<Measured, String> {
        let curve =
            |lookup: Lookup| points(runs, &lookup.without(&quantity.column), &quantity.column, &at.column);
        let own = curve(Lookup::of(self.rule, self.claim))?;
        let other = Lookup::of_other(self.rule, self.claim).map(curve).transpose()?;
        let found = match (at.value, at.by, other) {
            (Some(value), _, None) => crossing(&own, value),
            (Some(value), _, Some(other)) => crossing(&own, value)
                .zip(crossing(&other, value))
                .and_then(|(m, r)| compare.apply(better_x, m, r)),
            (None, Some(by), Some(other)) => {
                let measured = Quantity { column: at.column.clone(), over: None };
                lead(&own, &other, better(runs.schema(), &measured), by)
            }
            (None, _, _) => None,
        };
        found
            .map(Measured::plain)
            .ok_or_else(|| "the measured curves do not cross, or do not reach the value in \"at\"".to_owned())
    }

    /// Returns the rank of the claim's measurement among the measurements of all claims in the `[[claim]]` table.
    fn rank(&self, runs: &Table, quantity: &Quantity) -> Result<Measured, String> {
        let median = |claim: &Claim| {
            let (scale, _) = scales(self.rule, claim);
            let sample = read(runs, &Lookup::of(self.rule, claim), quantity, scale)?;
            sample.median().ok_or_else(|| "not run".to_owned())
        };
        let own = median(self.claim)?;
        let all = self.siblings().map(|claim| median(claim).map_err(|why| format!("{}: {why}", claim.id)));
        let all = all.collect::<Result<Vec<f64>, String>>()?;
        Ok(Measured::plain(self.place_among(own, &all)))
    }

    /// Returns the rank of the number `own` among the numbers `all`, starting from 1 for the smallest. If several
    /// numbers equal `own`, returns the possible rank that is nearest to the claimed rank.
    fn place_among(&self, own: f64, all: &[f64]) -> f64 {
        let before = all.iter().filter(|one| **one < own).count();
        let alike = all.iter().filter(|one| one.total_cmp(&own).is_eq()).count();
        let (first, last) = (before as f64 + 1.0, (before + alike.max(1)) as f64);
        let claimed = self.claimed().unwrap_or(first);
        claimed.clamp(first, last)
    }

    /// Returns the number to compare with the measurement: the claimed number, or the ratio of two claims.
    fn claimed(&self) -> Result<f64, String> {
        match self.rule.compare {
            Some(Compare::Ratio) if self.rule.way() == Way::Run => {
                let other = self
                    .other_claim()
                    .ok_or("no claim states the value with which this claim forms a ratio")?;
                Ok(self.claim.value / other.value)
            }
            Some(Compare::Rank) => {
                let smaller = self.siblings().filter(|claim| claim.value < self.claim.value).count();
                Ok(smaller as f64 + 1.0)
            }
            _ => Ok(self.claim.value),
        }
    }

    fn siblings(&self) -> impl Iterator<Item = &Claim> {
        self.rule.ids.all().iter().filter_map(|id| self.claims.get(id))
    }

    /// Returns whether the claim would be compared with itself, because both sides of the comparison select the same
    /// rows.
    fn is_own_other(&self) -> bool {
        Lookup::of_other(self.rule, self.claim) == Some(Lookup::of(self.rule, self.claim))
            && self.rule.at.is_none()
    }

    /// Returns the claim that states the other value of a ratio: the claim in `against`, or else the claim about the
    /// other subject or the other parameters.
    fn other_claim(&self) -> Option<&Claim> {
        if self.rule.compare != Some(Compare::Ratio) {
            return None;
        }
        if let Some(id) = &self.rule.against {
            return self.claims.get(id);
        }
        let there = Lookup::of_other(self.rule, self.claim)?;
        let fits = || self.siblings().filter(|claim| Lookup::of(self.rule, claim) == there);
        let alike = |claim: &&Claim| claim.metric == self.claim.metric;
        fits().find(alike).or_else(|| fits().next())
    }
}
