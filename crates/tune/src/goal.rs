//! The objectives and limits of a search. An objective or a limit is about a metric of an operation in a phase.

use experiment::{Experiment, TuneSpec, engine};
use results::{Better, Metric, Unit, columns as c, reference};
use types::quantity::{parse_bytes, parse_nanoseconds};
use types::{Outcome, Problem, valid_names};
use workload::Kind;

use crate::candidate::Layer;

/// A metric by which the search judges designs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GoalMetric {
    /// The metric is a column of `runs.csv`.
    Column(&'static Metric),
    /// The memory budget of the design, in bytes. Without a budget, the total size of two memtables, the filters and
    /// the fence pointers, plus the capacity of the cache.
    Memory,
    /// The number of blocks that are read and written per operation of the phase. Each kind of operation is weighted by
    /// its fraction.
    IoPerOp,
}

/// A value by which the search judges designs: a metric of one kind of operation in one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// The metric of the goal.
    pub metric: GoalMetric,
    /// The kind of operation, or `all` for all kinds together.
    pub operation: String,
    /// The name of the phase in which the metric is measured.
    pub phase: String,
}

/// A limit that a design must meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The metric that the limit restricts.
    pub goal: Goal,
    /// Whether `bound` is the largest permitted value. If not, `bound` is the smallest permitted value.
    pub is_most: bool,
    /// The largest or smallest permitted value of the metric.
    pub bound: f64,
    /// The limit as the user wrote it.
    pub text: String,
}

/// The goals of a search: its objective, the second metric of its Pareto set, and its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Objectives {
    /// The objective: the metric that the search minimizes or maximizes.
    pub goal: Goal,
    /// Whether the search maximizes the objective. If not, the search minimizes the objective.
    pub is_maximised: bool,
    /// The second metric of the Pareto set, for which smaller values are better.
    pub also: Goal,
    /// The limits that a design must meet.
    pub limits: Vec<Constraint>,
    /// The drift of the mix of operations for which a design must be good, as a Kullback-Leibler divergence. The search
    /// judges a design by the worst objective over all mixes within this divergence. With 0, only the mix of the phase
    /// counts.
    pub drift: f64,
}

/// Returns whether the layers theory and simulation can evaluate all configurations, because all of them use the engine
/// `lsmbench`.
pub(crate) fn has_models(experiment: &Experiment) -> bool {
    experiment.cells.iter().all(|cell| engine(&cell.engine).reads_whole_design())
}

impl GoalMetric {
    /// Returns the name of the metric in TOML.
    pub fn name(self) -> &'static str {
        match self {
            Self::Column(metric) => metric.name,
            Self::Memory => "memory",
            Self::IoPerOp => "io_per_op",
        }
    }

    /// Returns the title of the metric in charts.
    pub fn title(self) -> &'static str {
        match self {
            Self::Column(metric) => metric.title,
            Self::Memory => "memory",
            Self::IoPerOp => "blocks read and written per operation",
        }
    }

    /// Returns the unit of the metric.
    pub fn unit(self) -> Unit {
        match self {
            Self::Column(metric) => metric.unit,
            Self::Memory => Unit::Bytes,
            Self::IoPerOp => Unit::Ratio,
        }
    }

    /// Returns whether this metric has values only in timed runs.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Column(metric) if !metric.is_exact())
    }
}

impl Goal {
    /// Parses a goal: `METRIC`, `METRIC of OPERATION`, `METRIC in PHASE`, or `METRIC of OPERATION in PHASE`.
    fn read(text: &str, phase: &str, phases: &[String]) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let Some((name, mut rest)) = words.split_first() else { return Err("expected a metric".to_owned()) };
        let metric = match *name {
            "memory" => GoalMetric::Memory,
            "io_per_op" => GoalMetric::IoPerOp,
            name => GoalMetric::Column(reference::metric(name).ok_or_else(|| {
                format!("unknown metric \"{name}\"; `lsmbench list --columns` lists all metrics except `memory` and `io_per_op`")
            })?),
        };
        let mut goal = Self { metric, operation: c::ALL.to_owned(), phase: phase.to_owned() };
        while let [word, value, others @ ..] = rest {
            match *word {
                "of" if *value == c::ALL || Kind::ALL.iter().any(|kind| kind.name() == *value) => {
                    (*value).clone_into(&mut goal.operation);
                }
                "of" => {
                    let names = [c::ALL].into_iter().chain(Kind::ALL.iter().map(|kind| kind.name()));
                    return Err(format!("unknown operation \"{value}\". {}", valid_names(names)));
                }
                "in" if phases.iter().any(|phase| phase == value) => (*value).clone_into(&mut goal.phase),
                "in" => return Err(format!("unknown phase \"{value}\". {}", valid_names(phases))),
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

impl Goal {
    /// Returns whether the metric exists only for the engine `lsmbench`, and is not a column of `runs.csv`.
    fn is_modelled(&self) -> bool {
        !matches!(self.metric, GoalMetric::Column(_))
    }
}

impl Constraint {
    /// Parses a limit: `GOAL <= VALUE` or `GOAL >= VALUE`.
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

    /// Returns the amount by which `value` exceeds the limit, as a fraction of the limit. Returns 0 if the value meets
    /// the limit.
    pub fn excess(&self, value: f64) -> f64 {
        let over = if self.is_most { value - self.bound } else { self.bound - value };
        (over / self.bound.abs().max(f64::MIN_POSITIVE)).max(0.0)
    }
}

impl Objectives {
    /// Reads the objectives of an experiment.
    ///
    /// # Errors
    /// A metric, operation, phase or limit is unknown. The objective is missing, or there are two objectives. The
    /// metric `memory` or `io_per_op`, which only the engine `lsmbench` has, is used with another engine.
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
                    "the name of the metric is missing; write a metric such as \"write_amp\"".to_owned(),
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
            let (other, better) = if is_maximised { ("minimise", "smaller") } else { ("maximise", "larger") };
            return Err(at(
                key,
                format!(
                    "this key searches for the worst design, because {better} values of {} are better; use \
                     tune.{other} instead",
                    goal.metric.name()
                ),
            ));
        }
        let has_models = has_models(experiment);
        let second = match (&spec.also, goal.metric) {
            (Some(text), _) => text.as_str(),
            (None, _) if !has_models => c::DISK_BYTES.name,
            (None, GoalMetric::Memory) => c::WRITE_AMP_SETTLED.name,
            (None, _) => GoalMetric::Memory.name(),
        };
        let also = Goal::read(second, &judged, &phases).map_err(|message| at("also", message))?;
        let limits = spec.subject_to.iter().map(|text| Constraint::read(text, &judged, &phases));
        let limits = limits.collect::<Result<Vec<_>, _>>().map_err(|message| at("subject_to", message))?;
        let keyed = limits.iter().map(|limit: &Constraint| ("subject_to", &limit.goal));
        let modelled =
            [(key, &goal), ("also", &also)].into_iter().chain(keyed).find(|(_, goal)| goal.is_modelled());
        if let Some((key, goal)) = modelled.filter(|_| !has_models) {
            let message = format!(
                "{} exists only for the engine \"lsmbench\"; for other engines, use a column such as rss_peak_bytes",
                goal.metric.name()
            );
            return Err(at(key, message));
        }
        let drift = spec.drift.unwrap_or(0.0);
        if !(drift.is_finite() && drift >= 0.0) {
            return Err(at("drift", "expected a KL divergence of 0 or more, such as 0.5".to_owned()));
        }
        if drift > 0.0 && goal.metric != GoalMetric::IoPerOp {
            let message = "a robust objective needs a cost for each kind of operation; set tune.minimise = \"io_per_op\"";
            return Err(at("drift", message.to_owned()));
        }
        Ok(Self { goal, is_maximised, also, limits, drift })
    }

    /// Returns the objectives by which a layer judges designs. A layer that measures no time uses the device time per
    /// operation instead of an objective that is a time.
    pub(crate) fn of(&self, layer: Layer) -> Self {
        let mut objectives = self.clone();
        if layer != Layer::Measured && objectives.goal.metric.is_timed() {
            objectives.goal.metric = GoalMetric::Column(&c::DEVICE_NS_PER_OP);
            c::ALL.clone_into(&mut objectives.goal.operation);
            objectives.is_maximised = false;
        }
        objectives
    }

    /// Returns the value of the objective, with its sign changed if the search maximizes the objective. A smaller
    /// result is always better.
    pub(crate) fn sign(&self, value: f64) -> f64 {
        if self.is_maximised { -value } else { value }
    }
}
