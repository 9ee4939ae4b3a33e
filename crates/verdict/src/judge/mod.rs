//! Who wins, by how much, and how sure that is.

mod counter;
mod few;
mod group;
mod judged;
mod price;
mod record;
mod resolution;
mod steadiness;
mod text;

use std::fmt::Write as _;

use measure::{Ranked, adjust};
use results::{Folder, Row, Table};
use types::Outcome;

use self::group::groups;
use self::judged::{Judged, metrics};
use crate::facts::ExperimentFacts;

pub use group::noisy_baselines;
pub(crate) use resolution::holds_found_rate;

/// The most lines of all tables of an experiment on a component; with more, only the last one is shown.
const MOST_LINES: usize = 80;

/// What the results in a folder come to, in a sentence for each group of cells and each metric.
pub fn sentences(experiment: &ExperimentFacts<'_>, folder: &Folder) -> Outcome<Vec<String>> {
    let runs = Table::read(&folder.runs())?;
    let noise = match folder.noise().exists() {
        true => Table::read(&folder.noise())?,
        false => Table::new(runs.schema().clone(), Vec::new()),
    };
    Ok(Verdicts::of(experiment, &runs, &noise)?.sentences())
}

/// What an experiment comes to.
pub struct Verdicts<'a> {
    experiment: &'a ExperimentFacts<'a>,
    /// Per group of cells, and per metric within it.
    judged: Vec<Judged<'a>>,
}

impl<'a> Verdicts<'a> {
    /// Judges an experiment by its rows, and by those of baselines that ran twice. Components are compared where
    /// all else is the same, so that there is a verdict for each of the other swept values. All comparisons are
    /// one family: chance has as many opportunities.
    pub fn of(experiment: &'a ExperimentFacts<'a>, runs: &Table, noise: &Table) -> Outcome<Self> {
        let (groups, metrics) = (groups(experiment), metrics(experiment, runs.schema()));
        let pairs = metrics.iter().flat_map(|metric| groups.iter().map(move |group| (group, metric)));
        let candidates: usize = groups.iter().map(|group| group.cells.len().saturating_sub(1)).sum();
        let comparisons = candidates * metrics.len();
        let judged =
            pairs.map(|(group, metric)| Judged::new(experiment, (runs, noise), group, metric, comparisons));
        let mut judged: Vec<Judged<'a>> = judged.collect::<Outcome<_>>()?;
        adjust(judged.iter_mut().flat_map(Judged::comparisons));
        Ok(Self { experiment, judged })
    }

    /// Whether the interval of every comparison is no wider than from a relative difference below its middle to one
    /// above.
    pub fn reach_no_further_than(&self, precision: f64) -> bool {
        let is_narrow = |ranked: &Ranked| {
            let interval = ranked.comparison.interval;
            interval.is_some_and(|interval| (interval.high / interval.low).ln() <= 2.0 * precision.ln_1p())
        };
        let mut comparisons = self.judged.iter().flat_map(|judged| &judged.ranked).peekable();
        comparisons.peek().is_some() && comparisons.all(is_narrow)
    }

    /// The outcome as a short text: the verdict first, then a table.
    pub fn text(&self) -> String {
        let lines: usize = self.judged.iter().map(|judged| judged.entries.len()).sum();
        let whole = self.experiment.component.is_none() || lines <= MOST_LINES;
        let (mut verdicts, mut tables) = (String::new(), String::new());
        for (number, judged) in self.judged.iter().enumerate() {
            let heading =
                if judged.within.is_empty() { String::new() } else { format!("{}: ", judged.within) };
            let _ = writeln!(verdicts, "{heading}{}", judged.sentence());
            if whole || number + 1 == self.judged.len() {
                if !judged.within.is_empty() {
                    let _ = writeln!(tables, "  {}", judged.within);
                }
                tables += &(judged.table() + &judged.notes());
            }
        }
        if !whole {
            let _ = writeln!(tables, "  the other {} tables are in verdicts.csv", self.judged.len() - 1);
        }
        verdicts + &tables
    }

    /// A sentence on each group of cells and each metric; where there is but one, and it names few of its cells, also the
    /// numbers of all.
    fn sentences(&self) -> Vec<String> {
        let sentences = self.judged.iter().map(|judged| match judged.within.as_str() {
            "" => judged.sentence(),
            within => format!("{within}: {}", judged.sentence()),
        });
        let values = match &self.judged[..] {
            [judged] if judged.entries.len() > 2 => judged.values(),
            _ => None,
        };
        sentences.chain(values).collect()
    }

    /// The rows of `verdicts.csv`.
    pub fn rows(&self) -> Vec<Row> {
        self.judged.iter().flat_map(|judged| judged.rows(&self.experiment.name)).collect()
    }
}
