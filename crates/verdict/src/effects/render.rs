//! Formats effects, rankings and the Pareto front as text for a terminal.

use std::fmt::Write as _;

use measure::{Effect, FEWEST_BLOCKS, LevelEffect};
use results::columns::ALL;

use super::measured::{Effects, RankedMetric};
use crate::words::{and_more, counted, listed, on_one_line, quoted, shown, wrapped};

/// The largest number of levels of an interaction that the text shows. Such a level is a combination of one value of
/// each factor. The text shows the levels with the largest effects.
const MOST_LEVELS: usize = 4;

/// The largest number of configurations that one cell of a table names.
const MOST_NAMED: usize = 3;

/// The largest corrected p-value at which an effect counts as significant.
const SIGNIFICANCE: f64 = 0.05;

impl Effects {
    /// Renders the ranking and the effects of each metric. If there are several metrics, also renders the Pareto
    /// front.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for of in &self.metrics {
            let operation =
                if self.operation == ALL { String::new() } else { format!(" of {}", self.operation) };
            let better = of.metric.better.phrase().unwrap_or_default();
            let trials = of.samples.iter().map(|sample| sample.blocks.len()).max().unwrap_or(0);
            let trials = if self.is_counted { "counted".to_owned() } else { counted(trials, "round") };
            let what = format!("{}: {}{operation} in phase {}", self.experiment, of.title(), self.phase);
            text += &wrapped("", "  ", &format!("{what} ({better}), {trials}"));
            text.push('\n');
            text += &self.ranking(of);
            text.push('\n');
            text += &self.effects(of);
            text.push('\n');
        }
        if self.metrics.len() > 1 {
            text += &self.front();
        }
        text.trim_end().to_owned() + "\n"
    }

    fn ranking(&self, of: &RankedMetric) -> String {
        let names = |variants: &[usize]| {
            let named: Vec<&str> = variants.iter().take(MOST_NAMED).map(|at| &*self.labels[*at]).collect();
            on_one_line(&(listed(&named) + &and_more(variants.len() - named.len())))
        };
        let heads =
            ["rank", "configuration", "median", "beaten by", "not distinguished from"].map(str::to_owned);
        let rows = of.standings.iter().map(|standing| {
            let median = of.samples[standing.variant].median().unwrap_or(f64::NAN);
            [
                standing.rank.to_string(),
                on_one_line(&quoted(&self.labels[standing.variant])),
                shown(median, of.metric.unit),
                names(&standing.beaten_by),
                names(&standing.tied_with),
            ]
        });
        let mut text = columns(&[heads].into_iter().chain(rows).collect::<Vec<_>>());
        let trials = of.samples.iter().map(|sample| sample.blocks.len()).min().unwrap_or(0);
        if !self.is_counted && trials < FEWEST_BLOCKS {
            let trials = counted(trials, "round");
            let note = format!(
                "{trials} cannot distinguish configurations; run at least {FEWEST_BLOCKS} rounds (--trials \
                 {FEWEST_BLOCKS})."
            );
            text += &wrapped("  ", "    ", &note);
        }
        text
    }

    fn effects(&self, of: &RankedMetric) -> String {
        if let Some(reason) = &self.hindrance {
            return wrapped("", "  ", &format!("No effects: {reason}."));
        }
        if of.effects.is_empty() {
            let reason = "in every round, at least one configuration has no value above 0, so ratios to \
                          this configuration are undefined";
            return wrapped("", "  ", &format!("No effects: {reason}."));
        }
        let heads = ["factor", "level", "vs mean", "95% CI", "variation", "p"].map(str::to_owned);
        let mut rows = vec![heads];
        for effect in &of.effects {
            for (at, level) in most_apart(effect).into_iter().enumerate() {
                let first = |text: String| if at == 0 { text } else { String::new() };
                rows.push([
                    first(self.factor_name(&effect.factors)),
                    self.level_name(&effect.factors, &level.levels),
                    change(level.ratio),
                    level.interval.map_or_else(String::new, |ends| {
                        format!("{} .. {}", change(ends.low), change(ends.high))
                    }),
                    first(format!("{:.0}%", effect.share * 100.0)),
                    first(effect.p_value.map_or_else(String::new, p_value)),
                ]);
            }
        }
        let mut text = columns(&rows);
        text += &wrapped("  ", "    ", &self.statement(of));
        text
    }

    /// Returns a sentence that names the factors with a significant effect on the metric, and the significant
    /// interactions.
    fn statement(&self, of: &RankedMetric) -> String {
        let is_found =
            |effect: &&Effect| effect.p_value.is_none_or(|p| p <= SIGNIFICANCE) && effect.share > 0.0;
        let found = |interactions: bool| {
            let of_kind = of.effects.iter().filter(|effect| (effect.factors.len() > 1) == interactions);
            of_kind.filter(is_found).map(|effect| self.factor_name(&effect.factors)).collect::<Vec<String>>()
        };
        let how = if of.rounds > 1 {
            format!(
                "p-values over {rounds}, corrected for the number of effects",
                rounds = counted(of.rounds, "round")
            )
        } else {
            "exact".to_owned()
        };
        let mains = match &found(false)[..] {
            [] => "No factor has a significant effect".to_owned(),
            mains => format!("Factors with an effect: {factors}", factors = mains.join(", ")),
        };
        let interactions = match &found(true)[..] {
            [] if self.factors.len() < 2 => String::new(),
            [] => "; no interaction is significant".to_owned(),
            found => {
                format!("; factors whose effects depend on each other: {factors}", factors = found.join(", "))
            }
        };
        format!("{mains}{interactions} ({how}).")
    }

    /// Renders the configurations on the Pareto front, and the configurations that are dominated.
    fn front(&self) -> String {
        let titles: Vec<&str> = self.metrics.iter().map(RankedMetric::title).collect();
        let on_front = self.dominated.iter().enumerate().filter(|(_, by)| by.is_none());
        let on_front: Vec<&str> = on_front.map(|(at, _)| &*self.labels[at]).collect();
        let over = titles.join(", ");
        let mut text =
            wrapped("", "  ", &format!("Pareto front over {over}: {names}.", names = listed(&on_front)));
        for (at, by) in self.dominated.iter().enumerate() {
            if let Some(by) = by {
                let [name, by] = [at, *by].map(|at| quoted(&self.labels[at]));
                text += &wrapped("  ", "    ", &format!("{name} is dominated by {by}."));
            }
        }
        text
    }
}

/// Returns the levels of an effect. For an interaction, returns only the [`MOST_LEVELS`] levels whose ratios deviate
/// most from 1.
fn most_apart(effect: &Effect) -> Vec<&LevelEffect> {
    let mut levels: Vec<&LevelEffect> = effect.levels.iter().collect();
    if effect.factors.len() > 1 {
        levels.sort_by(|a, b| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
        levels.truncate(MOST_LEVELS);
    }
    levels
}

/// Formats a ratio as a change: `+12.3%`, or `2.28x` for ratios of at least 2.
fn change(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 2.0 => format!("{ratio:.2}x"),
        ratio => format!("{:+.1}%", (ratio - 1.0) * 100.0),
    }
}

fn p_value(p: f64) -> String {
    if p < 0.0005 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

/// Formats rows as aligned columns.
fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] =
        std::array::from_fn(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "  {cell:<width$}");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
