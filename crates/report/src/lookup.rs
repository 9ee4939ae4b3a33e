//! The lookup of a claim: the conditions that select its rows in the results. A claim that compares two variants has a
//! second lookup, for the other side of the comparison.

use std::collections::BTreeMap;

use crate::texts::same;
use crate::{Claim, Cores, Other, ParamColumn, Rule, Scale, Texts};

/// The value of the column `operation` in result rows that include all kinds of operations.
const ALL: &str = "all";

/// The conditions that select the result rows for one side of a claim. A condition is a column with its accepted
/// values. A row is selected if it meets all conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lookup {
    columns: BTreeMap<String, Texts>,
}

impl Lookup {
    /// Returns the conditions for the result rows of a claim, as the `[[claim]]` table of the claim defines them.
    pub(crate) fn of(rule: &Rule, claim: &Claim) -> Self {
        Self::with(rule, &claim.subject, &claim.params)
    }

    /// Returns the conditions for the result rows with which a claim is compared. Returns `None` if the claim is
    /// compared with no other rows.
    pub(crate) fn of_other(rule: &Rule, claim: &Claim) -> Option<Self> {
        match rule.to.as_ref()? {
            Other::Subject(subject) => Some(Self::with(rule, subject, &claim.params)),
            Other::Differing(_) => {
                let params = params_of_other(rule, claim);
                let mut lookup = Self::with(rule, &claim.subject, &params);
                for (column, texts) in rule.differing().filter(|(name, _)| !rule.params.contains_key(*name)) {
                    lookup.columns.insert(column.to_owned(), texts.clone());
                }
                Some(lookup)
            }
        }
    }

    fn with(rule: &Rule, subject: &str, params: &BTreeMap<String, String>) -> Self {
        let operation = rule.operation.as_deref().unwrap_or(ALL);
        let mut columns = BTreeMap::from([("operation".to_owned(), Texts::from([operation]))]);
        if !rule.phase.is_empty() {
            columns.insert("phase".to_owned(), rule.phase.clone());
        }
        columns.extend(rule.filter.clone());
        columns.extend(rule.subjects.get(subject).cloned().unwrap_or_default());
        for (param, column) in &rule.params {
            let Some(value) = params.get(param) else { continue };
            let texts = match column {
                ParamColumn::Same(_) => Some(Texts::from([value.as_str()])),
                ParamColumn::Translated { values, .. } => {
                    values.iter().find(|(theirs, _)| same(theirs, value)).map(|(_, ours)| ours.clone())
                }
            };
            // If no column value corresponds to the document's value, no row matches.
            columns.insert(column.column().to_owned(), texts.unwrap_or_default());
        }
        Self { columns }
    }

    /// Returns the columns that have conditions, each with the accepted values.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&str, &Texts)> {
        self.columns.iter().map(|(column, texts)| (column.as_str(), texts))
    }

    /// Adds a condition for each swept column. `place` contains the columns and their values.
    pub(crate) fn at(mut self, place: &[(&str, &str)]) -> Self {
        for (column, text) in place {
            self.columns.insert((*column).to_owned(), Texts::from([*text]));
        }
        self
    }

    /// Returns these conditions without the condition on the column `column`.
    pub(crate) fn without(&self, column: &str) -> Self {
        let mut lookup = self.clone();
        lookup.columns.remove(column);
        lookup
    }
}

/// Returns the parameters of the other side of a comparison: the parameters of the claim, with the replacements in the
/// key `to`.
fn params_of_other(rule: &Rule, claim: &Claim) -> BTreeMap<String, String> {
    let mut params = claim.params.clone();
    for (name, texts) in rule.differing() {
        if let Some(text) = texts.all().first() {
            params.insert(name.to_owned(), text.clone());
        }
    }
    params
}

/// Returns the factor of the claim's own measurement, and the factor of the other measurement with which it is
/// compared. If the key `scale` is a number, it applies only to the claim's own measurement. If `scale` names a
/// parameter, the factor of each measurement is its value of this parameter.
pub(crate) fn scales(rule: &Rule, claim: &Claim) -> (f64, f64) {
    match &rule.scale {
        None => (1.0, 1.0),
        Some(Scale::Number(number)) => (*number, 1.0),
        Some(Scale::Param(param)) => {
            let number = |params: &BTreeMap<String, String>| {
                params.get(param).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
            };
            (number(&claim.params), number(&params_of_other(rule, claim)))
        }
    }
}

/// Returns the number of CPU cores that the measurement of a claim needs. Returns `None` if the `[[claim]]` table
/// states no number.
pub(crate) fn cores(rule: &Rule, claim: &Claim) -> Option<u64> {
    match rule.cores.as_ref()? {
        Cores::Number(number) => Some(*number),
        Cores::Param(param) => claim.params.get(param)?.parse().ok(),
    }
}
