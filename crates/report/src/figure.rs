//! All that the pages say: systems, their figures, and what answers each.

use std::collections::BTreeMap;

use crate::{Claim, FigureSource, Finding, Judgement};

/// A claim with what it came to.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The claim.
    pub claim: Claim,
    /// What it came to.
    pub judgement: Judgement,
}

/// A chart, ready to be shown.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The name of its file, without ending.
    pub name: String,
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// The chart.
    pub svg: String,
    /// The chart as narrow as a phone.
    pub phone: String,
}

/// The run that an answer stands on.
#[derive(Clone, Debug, Default)]
pub struct RunNote {
    /// The name of the experiment.
    pub experiment: String,
    /// The run.
    pub run_id: String,
    /// Whether it was a quick one: smaller than meant.
    pub is_quick: bool,
    /// Trials of each cell.
    pub trials: u64,
    /// `timed` or `counted`.
    pub mode: String,
    /// The processor, as far as it is known.
    pub cpu: Option<String>,
    /// The cores that it could use.
    pub cores: Option<u64>,
    /// The other engines that ran beside our own tree.
    pub engines: Vec<EngineNote>,
    /// What was not run, each with why.
    pub left_out: Vec<String>,
    /// What a reader of the numbers should know.
    pub warnings: Vec<String>,
}

/// Another engine of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineNote {
    /// What it is called in the results.
    pub name: String,
    /// Its version, as it tells it itself.
    pub version: Option<String>,
    /// The file of the shared library, where it is one.
    pub library: Option<String>,
    /// The terms of the design that could not be made equal.
    pub unequal: Vec<String>,
}

/// What one file says of one figure.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The figure.
    pub source: FigureSource,
    /// The file, as this repository names it.
    pub file: String,
    /// What the experiment asks; nothing where all is computed.
    pub question: Option<String>,
    /// The run; nothing where there is none.
    pub run: Option<RunNote>,
    /// What the run itself found, in a sentence.
    pub outcome: Option<String>,
    /// Its charts.
    pub charts: Vec<Picture>,
    /// The claims that it answers.
    pub judged: Vec<Judged>,
}

/// A figure, and all that answers it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// What the files say of it.
    pub answers: Vec<Answer>,
}

/// A document, figure by figure.
#[derive(Clone, Debug)]
pub struct System {
    /// The document, by its folder.
    pub document: String,
    /// Its figures, in the order of their names.
    pub figures: Vec<Figure>,
}

/// Number of claims per finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingCounts {
    counts: [usize; Finding::ALL.len()],
    by_arithmetic: usize,
}

impl FindingCounts {
    /// Counts findings.
    pub fn of<'a>(judged: impl IntoIterator<Item = &'a Judged>) -> Self {
        let mut tally = Self::default();
        for Judged { judgement, .. } in judged {
            tally.counts[judgement.finding as usize] += 1;
            tally.by_arithmetic += usize::from(judgement.is_by_arithmetic());
        }
        tally
    }

    /// How many of those that are reproduced nothing was measured for.
    pub fn by_arithmetic(&self) -> usize {
        self.by_arithmetic
    }

    /// How many came to this.
    pub fn count(&self, finding: Finding) -> usize {
        self.counts[finding as usize]
    }

    /// How many there are.
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    /// How many were looked at.
    pub fn tested(&self) -> usize {
        self.total() - self.count(Finding::NotTestable)
    }

    /// What most of those came to that were looked at; the better finding where as many came to each.
    pub fn prevailing(&self) -> Finding {
        let tested = Finding::ALL.into_iter().filter(|finding| *finding != Finding::NotTestable);
        let most = tested.rev().max_by_key(|finding| self.count(*finding));
        most.filter(|finding| self.count(*finding) > 0).unwrap_or(Finding::NotTestable)
    }
}

impl Figure {
    /// All claims about it, in the order of the files.
    pub fn judged(&self) -> impl Iterator<Item = &Judged> {
        self.answers.iter().flat_map(|answer| &answer.judged)
    }

    /// What the claims about it came to.
    pub fn tally(&self) -> FindingCounts {
        FindingCounts::of(self.judged())
    }

    /// What it shows.
    pub fn title(&self) -> &str {
        self.answers.first().map_or("", |answer| &answer.source.title)
    }
}

impl System {
    /// What its claims came to.
    pub fn tally(&self) -> FindingCounts {
        FindingCounts::of(self.figures.iter().flat_map(Figure::judged))
    }

    /// All its claims, in the order of their names.
    pub fn judged(&self) -> Vec<(&Figure, &Judged)> {
        let figures = self.figures.iter();
        let mut all: Vec<(&Figure, &Judged)> =
            figures.flat_map(|figure| figure.judged().map(move |judged| (figure, judged))).collect();
        all.sort_by(|(_, one), (_, other)| one.claim.id.cmp(&other.claim.id));
        all
    }
}

/// Puts answers together by system, in the order in which systems come, and by figure.
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
