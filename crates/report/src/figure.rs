//! The contents of the report pages: the documented systems, their figures, and the results of experiments for each
//! figure.

use std::collections::BTreeMap;

use crate::{Claim, FigureSource, Finding, Judgement};

/// A claim, which is a number that a published document states, with the judgement of this claim.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The claim: a number that a document states.
    pub claim: Claim,
    /// The judgement of the claim, such as "reproduced".
    pub judgement: Judgement,
}

/// A chart of the report as SVG text, in two widths.
#[derive(Clone, Debug)]
pub struct SvgChart {
    /// The file name of the chart, without its extension.
    pub name: String,
    /// The text alternative of the chart.
    pub title: String,
    /// The chart as SVG text, in the width of a desktop page.
    pub svg: String,
    /// The chart as SVG text, in the width of a phone screen.
    pub phone: String,
}

/// Facts about the run that measured the claims of a figure: its machine, size, engines and warnings.
#[derive(Clone, Debug, Default)]
pub struct RunNote {
    /// The name of the experiment that was run.
    pub experiment: String,
    /// The identifier of the run, as in its manifest.
    pub run_id: String,
    /// Whether the run was a quick run, which is smaller than a full run.
    pub is_quick: bool,
    /// The number of trials per configuration.
    pub trials: u64,
    /// The mode of the trials: `timed` or `counted`.
    pub mode: String,
    /// The model of the CPU on which the run executed, if known.
    pub cpu: Option<String>,
    /// The number of cores available to the run.
    pub cores: Option<u64>,
    /// The other engines that the run measured, such as RocksDB.
    pub engines: Vec<EngineNote>,
    /// Parts of the experiment that did not run, each with the reason.
    pub left_out: Vec<String>,
    /// The warnings about doubtful measurements in the run.
    pub warnings: Vec<String>,
}

/// An engine other than lsmbench, such as RocksDB, that the run measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineNote {
    /// The name of the engine in the results, such as `rocksdb`.
    pub name: String,
    /// The version that the engine reports. `None` if it reports none.
    pub version: Option<String>,
    /// The file name of the shared library, if the engine is a shared library.
    pub library: Option<String>,
    /// The design settings that this engine cannot match.
    pub unequal: Vec<String>,
}

/// The results of one experiment file for one figure of a published document.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The figure of the published document that the experiment reproduces.
    pub source: FigureSource,
    /// The path of the experiment file in this repository.
    pub file: String,
    /// The question of the experiment. `None` if the file contains no experiment, because computations decide all of
    /// its claims.
    pub question: Option<String>,
    /// Facts about the run of the experiment. `None` if the experiment has not run on this machine.
    pub run: Option<RunNote>,
    /// A sentence about the outcome of the run, generated from its verdicts. `None` for a run without verdicts.
    pub outcome: Option<String>,
    /// The charts that the run of the experiment drew.
    pub charts: Vec<SvgChart>,
    /// The claims that the experiment file tests, with their judgements.
    pub judged: Vec<Judged>,
}

/// A figure of a published document, with the results of all experiments that reproduce the figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of the figure in this repository, such as `E07`.
    pub name: String,
    /// The results for the figure, one per experiment file.
    pub answers: Vec<Answer>,
}

/// A system that a published document describes, with the figures of the document.
#[derive(Clone, Debug)]
pub struct System {
    /// The folder name of the document that describes the system.
    pub document: String,
    /// The figures of the document, sorted by name.
    pub figures: Vec<Figure>,
}

/// The number of claims with each finding, such as "reproduced" or "impossible".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingCounts {
    counts: [usize; Finding::ALL.len()],
    by_arithmetic: usize,
}

impl FindingCounts {
    /// Counts how many of the claims in `judged` have each finding.
    pub fn of<'a>(judged: impl IntoIterator<Item = &'a Judged>) -> Self {
        let mut tally = Self::default();
        for Judged { judgement, .. } in judged {
            tally.counts[judgement.finding as usize] += 1;
            tally.by_arithmetic += usize::from(judgement.is_by_arithmetic());
        }
        tally
    }

    /// Returns the number of claims that are reproduced by a computation without a measurement.
    pub fn by_arithmetic(&self) -> usize {
        self.by_arithmetic
    }

    /// Returns the number of claims with the finding `finding`.
    pub fn count(&self, finding: Finding) -> usize {
        self.counts[finding as usize]
    }

    /// Returns the number of all claims that were counted.
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Returns the number of claims that were tested, which are all claims except those with the finding "not testable
    /// here".
    pub fn tested(&self) -> usize {
        self.total() - self.count(Finding::NotTestable)
    }

    /// Returns the most frequent finding about the tested claims. In a tie, returns the better finding. Returns
    /// [`Finding::NotTestable`] if no claim was tested.
    pub fn prevailing(&self) -> Finding {
        let tested = Finding::ALL.into_iter().filter(|finding| *finding != Finding::NotTestable);
        let most = tested.rev().max_by_key(|finding| self.count(*finding));
        most.filter(|finding| self.count(*finding) > 0).unwrap_or(Finding::NotTestable)
    }
}

impl Figure {
    /// Returns all judged claims about the figure, in the order of the experiment files.
    pub fn judged(&self) -> impl Iterator<Item = &Judged> {
        self.answers.iter().flat_map(|answer| &answer.judged)
    }

    /// Counts the findings of all claims about the figure.
    pub fn tally(&self) -> FindingCounts {
        FindingCounts::of(self.judged())
    }

    /// Returns the title of the figure in the published document.
    pub fn title(&self) -> &str {
        self.answers.first().map_or("", |answer| &answer.source.title)
    }
}

impl System {
    /// Counts the findings of all claims of the system.
    pub fn tally(&self) -> FindingCounts {
        FindingCounts::of(self.figures.iter().flat_map(Figure::judged))
    }

    /// Returns all judged claims of the system with their figures, sorted by the names of the claims.
    pub fn judged(&self) -> Vec<(&Figure, &Judged)> {
        let figures = self.figures.iter();
        let mut all: Vec<(&Figure, &Judged)> =
            figures.flat_map(|figure| figure.judged().map(move |judged| (figure, judged))).collect();
        all.sort_by(|(_, one), (_, other)| one.claim.id.cmp(&other.claim.id));
        all
    }
}

/// Groups the results of experiment files by the system, and then by the figure that they reproduce. The systems keep
/// the order of their first results.
pub fn assemble(answers: Vec<Answer>) -> Vec<System> {
    let mut documents: Vec<String> = Vec::new();
    let mut figures: BTreeMap<(String, String), Vec<Answer>> = BTreeMap::new();
    for answer in answers {
        if !documents.contains(&answer.source.document) {
            documents.push(answer.source.document.clone());
        }
        figures
            .entry((answer.source.document.clone(), answer.source.figure.clone()))
            .or_default()
            .push(answer);
    }
    let figures_of = |document: &String| {
        let own = figures.iter().filter(|((of, _), _)| of == document);
        own.map(|((_, name), answers)| Figure { name: name.clone(), answers: answers.clone() }).collect()
    };
    documents
        .iter()
        .map(|document| System { document: document.clone(), figures: figures_of(document) })
        .collect()
}
