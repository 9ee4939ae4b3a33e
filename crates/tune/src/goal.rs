//! Objectives and limits: a metric, of an operation in a phase.

use experiment::{Experiment, TuneSpec};
use results::{Better, Metric, Unit, columns as c, reference};
use types::quantity::{parse_bytes, parse_nanoseconds};
use types::{Outcome, Problem};
use workload::Kind;

/// The number that a design is judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GoalMetric {
    /// A column of `runs.csv`.
    Column(&'static Metric),
    /// Bytes of two memtables, the filters, the fences and the capacity of the cache.
    Memory,
    /// Block reads and writes per operation of the phase, by the share of each kind.
    IoPerOp,
}

/// A metric of an operation in a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// The metric.
    pub metric: GoalMetric,
    /// The kind of operation, or `all`.
    pub operation: String,
    /// The phase.
    pub phase: String,
}

/// A limit of a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The metric that the limit restricts.
    pub goal: Goal,
    /// Whether the bound is the largest permitted value. Otherwise it is the smallest permitted value.
    pub is_most: bool,
    /// The bound.
    pub bound: f64,
    /// The limit as written.
    pub text: String,
}

/// The objective, the limits and the second axis of the Pareto set.
#[derive(Clone, Debug, PartialEq)]
pub struct Objectives {
    /// The number that is best at its least, or at its most.
    pub goal: Goal,
    /// Whether larger is better.
    pub is_maximised: bool,
    /// The second axis of the Pareto set; smaller is better.
    pub also: Goal,
    /// The limits.
    pub limits: Vec<Constraint>,
    /// The largest divergence of the mix, if the objective is robust.
    pub drift: f64,
}

impl GoalMetric {
    /// The name in TOML.
    pub fn name(self) -> &'static str {
        match self {
            Self::Column(metric) => metric.name,
            Self::Memory => "memory",
            Self::IoPerOp => "io_per_op",
        }
    }

    /// The unit of the metric.
    pub fn unit(self) -> Unit {
        match self {
            Self::Column(metric) => metric.unit,
            Self::Memory => Unit::Bytes,
            Self::IoPerOp => Unit::Ratio,
        }
    }

    /// Whether only timed runs measure this metric.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Column(metric) if !metric.is_exact())
    }
}

impl Goal {
    /// Reads `METRIC`, `METRIC of OPERATION`, `METRIC in PHASE`, or both.
    fn read(text: &str, phase: &str, phases: &[String]) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let Some((name, mut rest)) = words.split_first() else { return Err("expected a metric".to_owned()) };
        let metric = match *name {
            "memory" => GoalMetric::Memory,
            "io_per_op" => GoalMetric::IoPerOp,
            name => GoalMetric::Column(reference::metric(name).ok_or_else(|| {
                format!("unknown metric \"{name}\"; `lsmbench list --columns` lists all metrics except memory and io_per_op")
            })?),
        };
        let mut goal = Self { metric, operation: c::ALL.to_owned(), phase: phase.to_owned() };
        while let [word, value, others @ ..] = rest {
            match *word {
                "of" if *value == c::ALL || Kind::ALL.iter().any(|kind| kind.name() == *value) => {
                    (*value).clone_into(&mut goal.operation);
                }
                "of" => return Err(format!("unknown operation \"{value}\". Valid: all, get, put, range …")),
                "in" if phases.iter().any(|phase| phase == value) => (*value).clone_into(&mut goal.phase),
                "in" => return Err(format!("unknown phase \"{value}\". Valid: {}", phases.join(", "))),
                _ => return Err(format!("unexpected \"{word}\"; write METRIC of OPERATION in PHASE")),
            }
            rest = others;
        }
        match rest {
            [] => Ok(goal),
            _ => Err(format!("\"{text}\" is incomplete; write METRIC of OPERATION in PHASE")),
        }
    }
}

impl Constraint {
    /// Reads `GOAL <= VALUE` or `GOAL >= VALUE`.
    fn read(text: &str, phase: &str, phases: &[String]) -> Result<Self, String> {
        let parts = [("<=", true), (">=", false)];
        let found = parts.iter().find_map(|(sign, is_most)| Some((text.split_once(sign)?, *is_most)));
        let ((goal, value), is_most) =
            found.ok_or_else(|| format!("\"{text}\" is not a limit; write it as \"write_amp <= 8\""))?;
        let goal = Goal::read(goal, phase, phases)?;
        let value = value.trim();
        let bound = match goal.metric.unit() {
            Unit::Bytes => parse_bytes(value).map(|bytes| bytes as f64),
            Unit::Nanoseconds if value.ends_with('s') => parse_nanoseconds(value).map(|ns| ns as f64),
            _ => value.replace('_', "").parse().map_err(|_| format!("\"{value}\" is not a number")),
        }?;
        Ok(Self { goal, is_most, bound, text: text.to_owned() })
    }

    /// How far a value is beyond the bound, as a share of the bound; 0 if it is within it.
    pub fn excess(&self, value: f64) -> f64 {
        let over = if self.is_most { value - self.bound } else { self.bound - value };
        (over / self.bound.abs().max(f64::MIN_POSITIVE)).max(0.0)
    }
}

impl Objectives {
    /// Reads the objectives of an experiment.
    ///
    /// # Errors
    /// An unknown metric, operation, phase or limit; a missing objective, or two objectives.
    pub fn read(experiment: &Experiment, spec: &TuneSpec) -> Outcome<Self> {
        let phases = experiment.task.phases();
        let judged = experiment.facts().phase.unwrap_or_else(|| phases.last().cloned().unwrap_or_default());
        let at = |key: &str, message: String| {
            Problem::at(&experiment.file, None, format!("tune.{key}: {message}"))
        };
        let (key, text) = match (&spec.minimise, &spec.maximise) {
            (Some(text), None) => ("minimise", text),
            (None, Some(text)) => ("maximise", text),
            (None, None) => {
                return Err(at(
                    "minimise",
                    "the metric is missing; set it, such as \"write_amp\"".to_owned(),
                ));
            }
            (Some(_), Some(_)) => {
                return Err(at("maximise", "set only one of tune.maximise and tune.minimise".to_owned()));
            }
        };
        let goal = Goal::read(text, &judged, &phases).map_err(|message| at(key, message))?;
        let is_maximised = spec.maximise.is_some();
        let is_wrong =
            |better: Better| matches!(goal.metric, GoalMetric::Column(metric) if metric.better == better);
        if is_wrong(if is_maximised { Better::Lower } else { Better::Higher }) {
            let other = if is_maximised { "minimise" } else { "maximise" };
            return Err(at(
                key,
                format!("for {}, the other direction is better; use tune.{other}", goal.metric.name()),
            ));
        }
        let second = match (&spec.also, goal.metric) {
            (Some(text), _) => text.as_str(),
            (None, GoalMetric::Memory) => c::WRITE_AMP_SETTLED.name,
            (None, _) => "memory",
        };
        let also = Goal::read(second, &judged, &phases).map_err(|message| at("also", message))?;
        let limits = spec.subject_to.iter().map(|text| Constraint::read(text, &judged, &phases));
        let limits = limits.collect::<Result<Vec<_>, _>>().map_err(|message| at("subject_to", message))?;
        let drift = spec.drift.unwrap_or(0.0);
        if !(drift.is_finite() && drift >= 0.0) {
            return Err(at("drift", "expected a divergence of 0 or more, such as 0.5".to_owned()));
        }
        if drift > 0.0 && goal.metric != GoalMetric::IoPerOp {
            let message = "a robust objective needs a cost for each kind of operation; set tune.minimise = \"io_per_op\"";
            return Err(at("drift", message.to_owned()));
        }
        Ok(Self { goal, is_maximised, also, limits, drift })
    }

    /// The value to minimise.
    pub(crate) fn sign(&self, value: f64) -> f64 {
        if self.is_maximised { -value } else { value }
    }
}
