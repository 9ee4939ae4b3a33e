//! The candidates of a search: designs with their scores in each layer.

use std::cmp::Ordering;

use catalog::Choice;
use tree::Design;

/// A layer of the search, which is one method of evaluating designs, such as a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The search evaluates designs with closed formulas.
    Theory,
    /// The search simulates designs without data.
    Simulated,
    /// The search runs designs in counted mode, which measures counters.
    Counted,
    /// The search runs designs in timed mode, which measures times.
    Measured,
}

impl Layer {
    /// All layers, from the cheapest to the most expensive.
    pub const ALL: [Self; 4] = [Self::Theory, Self::Simulated, Self::Counted, Self::Measured];

    /// Returns the name of the layer of the search in results, such as `counted`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Theory => "theory",
            Self::Simulated => "simulated",
            Self::Counted => "counted",
            Self::Measured => "measured",
        }
    }
}

/// The score of a design in one layer of the search. A layer is one method of evaluating designs.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignScore {
    /// The value of the objective. If the search maximizes the metric, the sign of the value is changed, so a smaller
    /// value is always better.
    pub objective: f64,
    /// The second metric of the Pareto set, for which smaller values are better. `None` if the layer cannot compute the
    /// metric.
    pub also: Option<f64>,
    /// The value of each metric that has a limit, in the order of the limits. `None` if the layer cannot compute the
    /// metric.
    pub limited: Vec<Option<f64>>,
    /// The sum of the amounts by which the design exceeds its limits, each as a fraction of the limit. The sum is 0 if
    /// the design meets all limits.
    pub excess: f64,
    /// The fraction of each kind of operation, and its cost in blocks. Only with the objective `io_per_op`.
    pub costs: Option<(Vec<f64>, Vec<f64>)>,
    /// The objective and the second metric of each trial. Empty in layers without trials.
    pub trials: Vec<(f64, Option<f64>)>,
}

/// An engine and a design. The engine `lsmbench` runs the design, and every other engine takes its settings from the
/// design.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineDesign {
    /// The choice of the engine, with its parameters.
    pub engine: Choice,
    /// The design.
    pub design: Design,
}

/// A design of the search, with its scores.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The label of the configuration that has this design.
    pub label: String,
    /// The engine and the design of the candidate.
    pub setup: EngineDesign,
    /// The score of the candidate in each layer of the search, in the order of [`Layer::ALL`]. `None` for layers that
    /// have not evaluated the candidate.
    pub scores: [Option<DesignScore>; 4],
}

impl Candidate {
    /// Creates a candidate without scores.
    pub fn new(label: String, setup: EngineDesign) -> Self {
        Self { label, setup, scores: [None, None, None, None] }
    }

    /// Returns the design of the candidate.
    pub fn design(&self) -> &Design {
        &self.setup.design
    }

    /// Returns the score in a layer of the search. Returns `None` if this layer has not evaluated the candidate.
    pub fn score(&self, layer: Layer) -> Option<&DesignScore> {
        self.scores[layer as usize].as_ref()
    }

    /// Returns the last layer of the search that has evaluated the candidate, and the score in this layer.
    pub fn last(&self) -> Option<(Layer, &DesignScore)> {
        Layer::ALL.into_iter().rev().find_map(|layer| Some((layer, self.score(layer)?)))
    }
}

impl DesignScore {
    /// Compares two scores of one layer. Designs that meet their limits come first, sorted by the objective. Other
    /// designs follow, sorted by the amount by which they exceed their limits.
    pub fn order(&self, other: &Self) -> Ordering {
        let (own, others) = (self.excess > 0.0, other.excess > 0.0);
        own.cmp(&others)
            .then(if own { self.excess.total_cmp(&other.excess) } else { Ordering::Equal })
            .then(self.objective.total_cmp(&other.objective))
            .then(self.second().total_cmp(&other.second()))
    }

    /// Returns whether this score dominates `other`: it is at least as good in both metrics of the Pareto set, and
    /// better in at least one.
    fn dominates(&self, other: &Self) -> bool {
        let is_no_worse = self.objective <= other.objective && self.second() <= other.second();
        is_no_worse && (self.objective < other.objective || self.second() < other.second())
    }

    /// Returns the value of the second metric of the Pareto set. Returns infinity if the design has no such value, so
    /// that the design counts as worse than all others.
    fn second(&self) -> f64 {
        self.also.unwrap_or(f64::INFINITY)
    }
}

/// Returns the indexes of the candidates with a score in this layer of the search, best candidate first.
pub(crate) fn ranked(candidates: &[Candidate], layer: Layer) -> Vec<usize> {
    let mut ranked: Vec<(usize, &DesignScore)> =
        candidates.iter().enumerate().filter_map(|(at, of)| Some((at, of.score(layer)?))).collect();
    ranked.sort_by(|(_, one), (_, other)| one.order(other));
    ranked.into_iter().map(|(at, _)| at).collect()
}

/// Returns the indexes of the candidates in the Pareto set, sorted by the objective. A candidate in the Pareto set
/// meets its limits, and no other such candidate is at least as good in both metrics and better in one.
pub(crate) fn pareto(candidates: &[Candidate], layer: Layer) -> Vec<usize> {
    let within: Vec<usize> = ranked(candidates, layer)
        .into_iter()
        .filter(|at| candidates[*at].score(layer).is_some_and(|score| score.excess <= 0.0))
        .collect();
    let score = |at: usize| candidates[at].score(layer);
    within
        .iter()
        .copied()
        .filter(|at| {
            !within
                .iter()
                .any(|other| score(*other).zip(score(*at)).is_some_and(|(one, own)| one.dominates(own)))
        })
        .collect()
}

/// Returns the indexes of at most `most` candidates for the next layer of the search. Half of them have the best
/// scores. The others are designs of the Pareto set, and then the next best designs.
pub(crate) fn survivors(candidates: &[Candidate], layer: Layer, most: usize) -> Vec<usize> {
    let best = ranked(candidates, layer);
    let mut kept: Vec<usize> = best.iter().copied().take(most.div_ceil(2)).collect();
    let front = pareto(candidates, layer);
    for at in front.into_iter().chain(best) {
        if kept.len() < most && !kept.contains(&at) {
            kept.push(at);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(label: &str, objective: f64, also: impl Into<Option<f64>>, excess: f64) -> Candidate {
        let also = also.into();
        let engine = experiment::read_engine(&toml::Value::from("lsmbench")).unwrap();
        let setup = EngineDesign { engine, design: Design::default() };
        let mut candidate = Candidate::new(label.to_owned(), setup);
        candidate.scores[0] = Some(DesignScore {
            objective,
            also,
            limited: Vec::new(),
            excess,
            costs: None,
            trials: Vec::new(),
        });
        candidate
    }

    #[test]
    fn designs_beyond_their_limits_come_last_and_are_on_no_front() {
        let all = [
            candidate("beyond", 1.0, 1.0, 0.2),
            candidate("slow", 9.0, 2.0, 0.0),
            candidate("good", 3.0, 5.0, 0.0),
            candidate("dominated", 4.0, 6.0, 0.0),
            candidate("far beyond", 0.5, 1.0, 3.0),
            candidate("unknown", 9.5, None, 0.0),
        ];
        assert_eq!(ranked(&all, Layer::Theory), [2, 3, 1, 5, 0, 4]);
        assert_eq!(pareto(&all, Layer::Theory), [2, 1]);
        assert_eq!(survivors(&all, Layer::Theory, 2), [2, 1]);
        assert_eq!(survivors(&all, Layer::Theory, 4), [2, 3, 1, 5]);
        assert!(ranked(&all, Layer::Counted).is_empty());
    }
}
