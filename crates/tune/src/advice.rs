//! The result of a search: the best design, the Pareto set, and a text that explains the choice of the best design.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use experiment::ENGINE;
use plot::format_value;
use results::targets::create_folder;
use theory::robust_cost;
use toml::{Table, Value};
use tree::Design;
use types::{Outcome, Problem};

use crate::candidate::{Candidate, Layer, pareto, ranked};
use crate::confirmation::Confirmation;
use crate::goal::Objectives;
use crate::space::Space;

/// A value that meets its limit counts as close to the limit if it reaches at least this fraction of the limit. The
/// advice reports such values.
const BINDS: f64 = 0.9;

/// The largest drift of the operation mix for which the advice tests whether the best design stays the best. The drift
/// is the Kullback-Leibler divergence of a mix from the mix of the experiment. The paper on Endure (VLDB 2022) tests
/// drifts up to the same maximum.
const LARGEST_TESTED_DRIFT: f64 = 4.0;

/// The maximum number of designs that the advice lists after the best design.
const LISTED: usize = 5;

/// The result of a search: the best design, and the scores of all designs.
pub struct Advice {
    /// The last layer (method of evaluating designs) that has finished. The scores of this layer determine the advice.
    pub layer: Layer,
    /// The index of the best design in `candidates`.
    pub winner: usize,
    /// All designs of the search, with their scores.
    pub candidates: Vec<Candidate>,
    /// The objective of the search, and the limits that a design must meet.
    pub objectives: Objectives,
    /// The label of the design that textbook formulas recommend. `None` if the formulas do not apply to the workload.
    pub textbook: Option<String>,
    /// The run that compares the best design with the default design and the textbook design; `None` if there was no
    /// such run.
    pub confirmed: Option<Confirmation>,
    /// The name and the duration of each layer of the search.
    pub times: Vec<(&'static str, Duration)>,
    /// Whether the user interrupted the search. The advice is then the best design so far.
    pub is_interrupted: bool,
    /// The folder that contains the results of the search.
    pub folder: PathBuf,
}

impl Advice {
    /// Returns the best design.
    pub fn design(&self) -> &Candidate {
        &self.candidates[self.winner]
    }

    /// Writes the files of the result: the best design, the scores of all designs, the Pareto set with its chart, and
    /// the text of the advice.
    pub(crate) fn write(&self, experiment: &str) -> Outcome<()> {
        create_folder(&self.folder)?;
        let write = |name: &str, text: String| {
            let path = self.folder.join(name);
            std::fs::write(&path, text)
                .map_err(|error| Problem::doing(format!("write {}", path.display()), error))
        };
        let mut design = Table::new();
        let about = format!("Advised for {experiment}: {}", self.design().label);
        design.insert("about".to_owned(), Value::from(about));
        let mut advised = self.design().design().to_toml();
        if self.design().design().has_budget() {
            advised = Design::without_cache_capacity(advised);
        }
        design.insert("design".to_owned(), Value::Table(advised));
        write("design.toml", design.to_string())?;
        let engine = Table::from_iter([(ENGINE.to_owned(), self.design().setup.engine.to_toml())]);
        write("engine.toml", engine.to_string())?;
        write("candidates.csv", self.csv(&(0..self.candidates.len()).collect::<Vec<_>>())?)?;
        write("pareto.csv", self.csv(&pareto(&self.candidates, self.layer))?)?;
        write("advice.txt", self.text())?;
        let confirmed = self.confirmed.as_ref().map_or(&[][..], |run| &run.designs);
        let space = Space {
            experiment,
            candidates: &self.candidates,
            objectives: &self.objectives,
            layer: self.layer,
        };
        space.draw_front(confirmed, &self.folder)?;
        space.draw_maps(&self.folder)
    }

    /// Returns the scores of some candidates as CSV, with one row per design. `of` contains the indexes of the
    /// candidates.
    fn csv(&self, of: &[usize]) -> Outcome<String> {
        let failed = |error: csv::Error| Problem::doing("write CSV", error);
        let mut writer = csv::Writer::from_writer(Vec::new());
        let also = self.objectives.also.metric.name();
        let mut head = vec!["label".to_owned(), "within_limits".to_owned()];
        for layer in Layer::ALL {
            let goal = self.objectives.of(layer).goal.metric.name();
            head.extend([format!("{goal}_{}", layer.name()), format!("{also}_{}", layer.name())]);
        }
        writer.write_record(&head).map_err(failed)?;
        for candidate in of.iter().map(|at| &self.candidates[*at]) {
            let within = candidate.last().map(|(_, score)| (score.excess <= 0.0).to_string());
            let mut cells = vec![candidate.label.clone(), within.unwrap_or_default()];
            for layer in Layer::ALL {
                let score = candidate.score(layer);
                let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
                cells.push(number(score.map(|score| self.objectives.of(layer).sign(score.objective))));
                cells.push(number(score.and_then(|score| score.also)));
            }
            writer.write_record(&cells).map_err(failed)?;
        }
        let bytes = writer.into_inner().map_err(|error| Problem::doing("write CSV", error.error()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the advice as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let winner = self.design();
        let part = if self.is_interrupted { " (interrupted; best so far)" } else { "" };
        let _ = writeln!(text, "Advice{part}: {}", winner.label);
        let goal = &self.objectives.goal;
        let _ = write!(text, "  {} in phase {}:", goal.metric.name(), goal.phase);
        let said = Layer::ALL.into_iter().filter_map(|layer| Some((layer, winner.score(layer)?)));
        let said: Vec<String> = said
            .map(|(layer, score)| format!(" {} {}", layer.name(), self.value(layer, score.objective)))
            .collect();
        let _ = writeln!(text, "{}", said.join(","));
        let has_predictions =
            Layer::ALL.into_iter().any(|layer| layer != Layer::Measured && winner.score(layer).is_some());
        if goal.metric.is_timed() && has_predictions {
            let _ = writeln!(
                text,
                "  (theory, simulation and counted runs compare device time per operation instead of {})",
                goal.metric.name()
            );
        }
        self.limits(&mut text);
        self.others(&mut text);
        if let Some(drift) = self.best_until() {
            let _ = match drift < LARGEST_TESTED_DRIFT {
                true => {
                    writeln!(
                        text,
                        "  This design stays the best if the mix of operations drifts by a KL divergence \
                         of at most {drift:.2}."
                    )
                }
                false => writeln!(
                    text,
                    "  This design stays the best if the mix of operations drifts by a KL divergence of at \
                     most {LARGEST_TESTED_DRIFT}, the largest drift that tune tried."
                ),
            };
        }
        if let Some(label) = &self.textbook {
            let _ = writeln!(text, "  Textbook formulas recommend {label}.");
        }
        for sentence in self.confirmed.iter().flat_map(|run| &run.verdicts) {
            let _ = writeln!(text, "  {sentence}");
        }
        let times: Vec<String> =
            self.times.iter().map(|(layer, time)| format!("{layer} {:.1} s", time.as_secs_f64())).collect();
        let _ = writeln!(text, "  Time: {}", times.join(", "));
        text
    }

    /// Formats a value of the objective from a layer of the search, with its unit.
    fn value(&self, layer: Layer, objective: f64) -> String {
        let objectives = self.objectives.of(layer);
        format_value(objectives.sign(objective), objectives.goal.metric.unit())
    }

    /// Appends one line per limit to `text`: the value of the best design, and whether the design meets the limit.
    fn limits(&self, text: &mut String) {
        let Some(score) = self.design().score(self.layer) else { return };
        for (limit, value) in self.objectives.limits.iter().zip(&score.limited) {
            let Some(value) = value else {
                let _ = writeln!(
                    text,
                    "  limit {}: not checked, because the layer \"{}\" cannot compute the metric",
                    limit.text,
                    self.layer.name()
                );
                continue;
            };
            let near = if limit.is_most { value / limit.bound } else { limit.bound / value };
            let state = match (limit.excess(*value) > 0.0, near >= BINDS) {
                (true, _) => "not met by any tried design",
                (false, true) => "met, but close to the limit",
                (false, false) => "met",
            };
            let value = format_value(*value, limit.goal.metric.unit());
            let _ = writeln!(text, "  limit {}: {value}, {state}", limit.text);
        }
    }

    /// Appends one line for each of the next best designs to `text`, with the difference to the best design in percent.
    fn others(&self, text: &mut String) {
        let Some(own) = self.design().score(self.layer) else { return };
        let best = ranked(&self.candidates, self.layer);
        for at in best.into_iter().filter(|at| *at != self.winner).take(LISTED) {
            let Some(score) = self.candidates[at].score(self.layer) else { continue };
            let more = (score.objective - own.objective) / own.objective.abs().max(f64::MIN_POSITIVE) * 100.0;
            let beyond = if score.excess > 0.0 { ", exceeds a limit" } else { "" };
            let label = &self.candidates[at].label;
            let _ = writeln!(
                text,
                "  next best design: {label}: {} ({more:+.1} %){beyond}",
                self.value(self.layer, score.objective)
            );
        }
    }

    /// Returns the largest tested drift of the mix of operations at which the best design is still the best. A design
    /// is judged by its highest cost over all mixes within the drift. Returns `None` if the costs are unknown.
    fn best_until(&self) -> Option<f64> {
        let of = |at: usize| self.candidates[at].score(self.layer)?.costs.as_ref();
        of(self.winner)?;
        let rivals: Vec<usize> = ranked(&self.candidates, self.layer)
            .into_iter()
            .filter(|at| self.candidates[*at].score(self.layer).is_some_and(|score| score.excess <= 0.0))
            .collect();
        let steps = (0..=80u32).map(|step| LARGEST_TESTED_DRIFT * f64::from(step) / 80.0);
        let is_best = |drift: f64| {
            let cost = |at: usize| of(at).map(|(weights, costs)| robust_cost(drift, weights, costs));
            let own = cost(self.winner).unwrap_or(f64::INFINITY);
            rivals.iter().filter_map(|at| cost(*at)).all(|other| own <= other * (1.0 + 1e-9))
        };
        steps.skip_while(|drift| *drift < self.objectives.drift).take_while(|drift| is_best(*drift)).last()
    }
}
