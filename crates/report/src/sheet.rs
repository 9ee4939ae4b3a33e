//! The tables of an experiment file that only the report reads: `[source]` for the figures that the experiment
//! reproduces, and `[[claim]]` for the claims about these figures.

use types::valid_names;

use crate::{Claim, Claims, FigureSource, ParamColumn, Rule, Scale, Statement, Way};

/// The `[source]` and `[[claim]]` tables of an experiment file: the figures of documents that the experiment
/// reproduces, and how the claims about these figures are tested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// The figures of published documents that the experiment reproduces.
    pub sources: Vec<FigureSource>,
    /// The `[[claim]]` tables of the experiment file, in order.
    pub rules: Vec<Rule>,
}

impl Sheet {
    /// Returns whether the experiment file reproduces no figure and tests no claim.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.rules.is_empty()
    }

    /// Counts the claims of the file that are decided in the way `way`: by a run, by a computation, or not at all.
    pub fn count(&self, way: Way) -> usize {
        self.rules.iter().filter(|rule| rule.way() == way).map(|rule| rule.ids.all().len()).sum()
    }

    /// Returns the figure that a `[[claim]]` table is about: the figure that the table names, or else the first figure
    /// of the file.
    pub fn source_of(&self, rule: &Rule) -> Option<&FigureSource> {
        match &rule.figure {
            None => self.sources.first(),
            Some(figure) => self.sources.iter().find(|source| source.figure == *figure),
        }
    }

    /// Checks the `[source]` and `[[claim]]` tables, but not whether their claims exist.
    ///
    /// # Errors
    /// Returns the first error: an invalid table, or a `[[claim]]` table whose figure is unknown.
    pub fn check(&self) -> Result<(), SheetFault> {
        for (number, source) in self.sources.iter().enumerate() {
            source.check().map_err(|(key, message)| SheetFault { table: "source", number, key, message })?;
        }
        for (number, rule) in self.rules.iter().enumerate() {
            let fault = |(key, message)| SheetFault { table: "claim", number, key, message };
            rule.check().map_err(fault)?;
            if self.source_of(rule).is_none() {
                let figures = self.sources.iter().map(|source| &source.figure);
                let message = match &rule.figure {
                    _ if self.sources.is_empty() => {
                        "the file has [[claim]] tables, but no [source] table; add one that names the figure of the \
                         claims"
                            .to_owned()
                    }
                    Some(figure) => format!("unknown figure \"{figure}\". {}", valid_names(figures)),
                    None => "\"figure\" is missing; name the figure of the claims".to_owned(),
                };
                return Err(fault(("figure", message)));
            }
        }
        Ok(())
    }

    /// Checks the `[source]` and `[[claim]]` tables, and whether their claims exist in `claims`.
    ///
    /// # Errors
    /// Returns the errors of [`check`](Self::check). A claim that does not exist, or that does not fit its `[[claim]]`
    /// table, is also an error.
    pub fn check_against(&self, claims: &Claims) -> Result<(), SheetFault> {
        for (number, rule) in self.rules.iter().enumerate() {
            let fault = |(key, message)| SheetFault { table: "claim", number, key, message };
            for id in rule.ids.all().iter().chain(&rule.against) {
                if claims.get(id).is_none() {
                    return Err(fault(("ids", format!("claims.csv has no claim {id}"))));
                }
            }
            for claim in rule.ids.all().iter().filter_map(|id| claims.get(id)) {
                fits(rule, claim).map_err(fault)?;
            }
        }
        Ok(())
    }
}

/// An error in the `[[source]]` or `[[claim]]` tables of an experiment file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetFault {
    /// The name of the table: `source` or `claim`.
    pub table: &'static str,
    /// The index of the invalid table among the tables with this name, starting from 0.
    pub number: usize,
    /// The key of the table that causes the error.
    pub key: &'static str,
    /// The error message, without the place of the error.
    pub message: String,
}

/// Checks that a claim fits the `[[claim]]` table that names it: its metric, its subject, its parameters, and the way
/// in which the document states it.
fn fits(rule: &Rule, claim: &Claim) -> Result<(), (&'static str, String)> {
    let id = &claim.id;
    if !rule.metric.is_empty() && !rule.metric.all().contains(&claim.metric) {
        return Err((
            "metric",
            format!(
                "claim {id} has the metric \"{}\", which the key \"metric\" does not contain",
                claim.metric
            ),
        ));
    }
    if !rule.subjects.is_empty() && !rule.subjects.contains_key(&claim.subject) {
        return Err((
            "subjects",
            format!(
                "claim {id} is about the subject \"{}\", but the table \"subjects\" has no entry for it",
                claim.subject
            ),
        ));
    }
    if !rule.sweep.is_empty() && claim.standing != Statement::UpTo {
        return Err((
            "sweep",
            format!("claim {id} is not an \"up to\" claim, but only such claims can have the key \"sweep\""),
        ));
    }
    for (param, column) in &rule.params {
        let Some(value) = claim.params.get(param) else {
            return Err(("params", format!("claim {id} has no parameter {param}")));
        };
        if let ParamColumn::Translated { values, .. } = column
            && !values.contains_key(value)
        {
            return Err((
                "params",
                format!(
                    "claim {id} has {param} = {value}, but the key \"params.{param}.values\" has no entry for {value}"
                ),
            ));
        }
    }
    match &rule.scale {
        Some(Scale::Param(param)) if !claim.params.contains_key(param) => {
            Err(("scale", format!("claim {id} has no parameter {param}")))
        }
        _ => Ok(()),
    }
}
