//! What stands behind an experiment: the figures that it answers, and how.

use crate::{Claim, Claims, FigureSource, ParamColumn, Rule, Scale, Standing, Way};

/// The figures that a file answers, and how each claim about them is answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// The figures.
    pub sources: Vec<FigureSource>,
    /// The rules, in the order of the file.
    pub rules: Vec<Rule>,
}

impl Sheet {
    /// Whether the file answers nothing.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.rules.is_empty()
    }

    /// How many claims it answers in a way.
    pub fn count(&self, way: Way) -> usize {
        self.rules.iter().filter(|rule| rule.way() == way).map(|rule| rule.ids.all().len()).sum()
    }

    /// The figure that the claims of a rule belong to; the first one where the rule does not say.
    pub fn source_of(&self, rule: &Rule) -> Option<&FigureSource> {
        match &rule.figure {
            None => self.sources.first(),
            Some(figure) => self.sources.iter().find(|source| source.figure == *figure),
        }
    }

    /// Holds the sources and rules to each other and to what each of them needs: which table, by its name and
    /// its number from 0, the key at fault, and a sentence.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), SheetFault> {
        for (number, source) in self.sources.iter().enumerate() {
            source.check().map_err(|(key, message)| SheetFault { table: "source", number, key, message })?;
        }
        for (number, rule) in self.rules.iter().enumerate() {
            let fault = |(key, message)| SheetFault { table: "claim", number, key, message };
            rule.check().map_err(fault)?;
            if self.source_of(rule).is_none() {
                let figures: Vec<&str> = self.sources.iter().map(|source| source.figure.as_str()).collect();
                let message = match &rule.figure {
                    _ if figures.is_empty() => "claims of what? say so in [source]".to_owned(),
                    Some(figure) => format!("there is no figure {figure}; there are {}", figures.join(", ")),
                    None => "the claims belong to no figure".to_owned(),
                };
                return Err(fault(("figure", message)));
            }
        }
        Ok(())
    }

    /// Holds the rules to the claims that they are for.
    ///
    /// # Errors
    /// As [`check`](Self::check): a claim that there is not, or that a rule does not fit.
    pub fn check_against(&self, claims: &Claims) -> Result<(), SheetFault> {
        for (number, rule) in self.rules.iter().enumerate() {
            let fault = |(key, message)| SheetFault { table: "claim", number, key, message };
            for id in rule.ids.all().iter().chain(&rule.against) {
                if claims.get(id).is_none() {
                    return Err(fault(("ids", format!("claims.csv has no {id}"))));
                }
            }
            for claim in rule.ids.all().iter().filter_map(|id| claims.get(id)) {
                fits(rule, claim).map_err(fault)?;
            }
        }
        Ok(())
    }
}

/// What is wrong with a sheet, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetFault {
    /// `source` or `claim`.
    pub table: &'static str,
    /// Which of them, from 0.
    pub number: usize,
    /// The key at fault.
    pub key: &'static str,
    /// A sentence.
    pub message: String,
}

/// Refuses a rule that cannot say where a claim is looked up.
fn fits(rule: &Rule, claim: &Claim) -> Result<(), (&'static str, String)> {
    let id = &claim.id;
    if !rule.metric.is_empty() && !rule.metric.all().contains(&claim.metric) {
        return Err(("metric", format!("{id} is about {}", claim.metric)));
    }
    if !rule.subjects.is_empty() && !rule.subjects.contains_key(&claim.subject) {
        return Err((
            "subjects",
            format!("{id} is about \"{}\", which subjects does not have", claim.subject),
        ));
    }
    if !rule.sweep.is_empty() && claim.standing != Standing::UpTo {
        return Err(("sweep", format!("{id} is no claim of \"up to\", and stands for one place of a sweep")));
    }
    for (param, column) in &rule.params {
        let Some(value) = claim.params.get(param) else {
            return Err(("params", format!("{id} has no parameter {param}")));
        };
        if let ParamColumn::Translated { values, .. } = column
            && !values.contains_key(value)
        {
            return Err(("params", format!("{id} has {param} = {value}, for which values has nothing")));
        }
    }
    match &rule.scale {
        Some(Scale::Param(param)) if !claim.params.contains_key(param) => {
            Err(("scale", format!("{id} has no parameter {param}")))
        }
        _ => Ok(()),
    }
}
