//! The arguments of a computation that checks one claim, as numbers, lists of numbers and words.

use std::collections::BTreeMap;

use super::about::{About, Facts};
use crate::texts::same;
use crate::{Argument, Claims, Ids};

/// The value of one argument of a computation.
#[derive(Clone, Debug, PartialEq)]
enum ArgumentValue {
    Number(f64),
    Numbers(Vec<f64>),
    Flag(bool),
    Word(String),
    Lists(Vec<ArgumentValue>),
}

/// The arguments of a computation that checks one claim, such as `probes = 7`.
pub(crate) struct Arguments<'a> {
    found: BTreeMap<&'a str, ArgumentValue>,
    /// The facts about the experiment and the program that a computation may read.
    pub(super) facts: &'a dyn Facts,
}

/// Returns the value of each argument of a computation for the claim in `about`. If the value of an argument is a list,
/// each claim gets its own element of the list. If `lists` contains the name of the argument, each claim gets the whole
/// list. Returns an error if an argument has no value for this claim.
pub(super) fn resolve<'a>(
    with: &'a BTreeMap<String, Argument>,
    about: About<'a>,
    lists: &[&str],
) -> Result<Arguments<'a>, String> {
    let mut found = BTreeMap::new();
    for (name, argument) in with {
        let one = look_up(argument, about, lists.contains(&name.as_str()));
        found.insert(name.as_str(), one.map_err(|message| format!("{name}: {message}"))?);
    }
    Ok(Arguments { found, facts: about.facts })
}

fn look_up(argument: &Argument, about: About<'_>, whole: bool) -> Result<ArgumentValue, String> {
    let About { claim, place, claims, .. } = about;
    match argument {
        Argument::Number(number) => Ok(ArgumentValue::Number(*number)),
        Argument::Flag(flag) => Ok(ArgumentValue::Flag(*flag)),
        Argument::Text(text) => Ok(named(text, claims)),
        Argument::List(items) if whole => {
            let all = items.iter().map(|item| look_up(item, about, true));
            all.collect::<Result<Vec<_>, _>>().map(ArgumentValue::Lists)
        }
        Argument::List(items) => match items.get(place) {
            Some(item) => look_up(item, about, whole),
            None => Err(format!(
                "the list has {} elements, but the [[claim]] table has more claims; list one element per claim",
                items.len()
            )),
        },
        Argument::Table(table) => {
            let of =
                |key: &String| *key == claim.subject || claim.params.values().any(|value| same(key, value));
            match table.iter().find(|(key, _)| of(key)) {
                Some((_, item)) => look_up(item, about, whole),
                None => Err(format!(
                    "the argument is a table without a value for the subject \"{}\" of the claim, or for one of its \
                     parameters",
                    claim.subject
                )),
            }
        }
    }
}

/// Returns the numbers of the claims that `text` names, such as `cs265-001..cs265-003`. If `text` names no claims,
/// returns `text` as a word.
fn named(text: &str, claims: &Claims) -> ArgumentValue {
    if let Some(claim) = claims.get(text) {
        return ArgumentValue::Number(claim.value);
    }
    let values = |ids: &Ids| ids.all().iter().map(|id| claims.get(id).map(|claim| claim.value)).collect();
    let several: Option<Vec<f64>> = Ids::try_from(text.to_owned()).ok().as_ref().and_then(values);
    several.map_or_else(|| ArgumentValue::Word(text.to_owned()), ArgumentValue::Numbers)
}

impl Arguments<'_> {
    /// Returns the argument `name` of the computation as a number.
    pub(super) fn number(&self, name: &str) -> Result<f64, String> {
        match self.found.get(name) {
            Some(ArgumentValue::Number(number)) => Ok(*number),
            other => Err(wanted(name, "a number", other)),
        }
    }

    /// Returns the argument `name` of the computation as a number, or `default` if the argument is missing.
    pub(super) fn number_or(&self, name: &str, default: f64) -> Result<f64, String> {
        if self.found.contains_key(name) { self.number(name) } else { Ok(default) }
    }

    /// Returns the argument `name` of the computation as an integer from 0 to 1e9. The limit keeps loops of this length
    /// short.
    pub(super) fn count(&self, name: &str) -> Result<u64, String> {
        let number = self.number(name)?;
        match number.fract() == 0.0 && (0.0..=1e9).contains(&number) {
            true => Ok(number as u64),
            false => Err(format!(
                "the argument {name} is {number}; it must be a whole number from 0 to 1000000000"
            )),
        }
    }

    /// Returns the argument `name` of the computation as a list of numbers.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        match self.found.get(name) {
            Some(ArgumentValue::Numbers(numbers)) => Ok(numbers.clone()),
            Some(ArgumentValue::Lists(items)) => items.iter().map(|item| as_number(name, item)).collect(),
            other => Err(wanted(name, "a list of numbers", other)),
        }
    }

    /// Returns the argument `name` of the computation as a list of lists of numbers.
    pub(super) fn lists(&self, name: &str) -> Result<Vec<Vec<f64>>, String> {
        let Some(ArgumentValue::Lists(items)) = self.found.get(name) else {
            return Err(wanted(name, "lists of numbers", self.found.get(name)));
        };
        let numbers = |item: &ArgumentValue| match item {
            ArgumentValue::Numbers(numbers) => Ok(numbers.clone()),
            ArgumentValue::Lists(inner) => inner.iter().map(|item| as_number(name, item)).collect(),
            other => as_number(name, other).map(|number| vec![number]),
        };
        items.iter().map(numbers).collect()
    }

    /// Returns the argument `name` of the computation as a word.
    pub(super) fn word(&self, name: &str) -> Result<&str, String> {
        match self.found.get(name) {
            Some(ArgumentValue::Word(word)) => Ok(word),
            other => Err(wanted(name, "a word", other)),
        }
    }

    /// Returns whether the argument `name` of the computation is true. Returns false if the argument is missing.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.found.get(name) == Some(&ArgumentValue::Flag(true))
    }
}

fn as_number(name: &str, found: &ArgumentValue) -> Result<f64, String> {
    match found {
        ArgumentValue::Number(number) => Ok(*number),
        other => Err(wanted(name, "numbers", Some(other))),
    }
}

fn wanted(name: &str, what: &str, found: Option<&ArgumentValue>) -> String {
    match found {
        None => format!("with: the argument {name} is missing; it must be {what}"),
        Some(_) => format!("the argument {name} must be {what}"),
    }
}
