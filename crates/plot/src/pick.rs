//! Selects the rows that a chart draws, and describes the selection.

use results::columns::{IMPLAUSIBLE, OPERATION, PHASE, SECOND, SECONDS, WRONG_ANSWERS};
use results::{Table, Value};
use types::valid_names;

use crate::{ChartSpec, Form, PlotError};

/// The smallest length of a timeline interval that a chart shows, as a fraction of a full interval. In a shorter
/// interval, the rate would be imprecise.
const LEAST_SHARE: f64 = 0.5;

/// The result rows that a chart draws, and the texts that describe the selection.
pub(crate) struct Picked {
    pub table: Table,
    pub facts: Vec<String>,
    pub notes: Vec<String>,
}

/// Selects the result rows that a chart draws: the rows that pass the filter of the chart.
///
/// If the filter, `x` and `series` do not name the column `phase`, only rows of the last phase are drawn. If they do
/// not name the column `operation`, only rows with the operation `all` are drawn. Rows with wrong answers are omitted.
pub(crate) fn pick(table: &Table, spec: &ChartSpec) -> Result<Picked, PlotError> {
    let mut table = table.clone();
    let (mut facts, mut notes) = (Vec::new(), Vec::new());
    for (column, choice) in &spec.filter {
        let at = table.schema().find(column)?;
        let wanted = choice.texts();
        let kept = table.filter(|row| wanted.contains(&row.cells()[at].to_string()));
        if kept.rows().is_empty() {
            return Err(no_such_value(&table, column, &wanted));
        }
        table = kept;
        facts.push(fact(column, &wanted));
    }
    let told_apart = |name: &str| {
        spec.filter.contains_key(name)
            || [&spec.x, &spec.series].into_iter().any(|c| c.as_deref() == Some(name))
    };
    if !told_apart(OPERATION.name) {
        table = only_value(&table, OPERATION.name, "all")?;
    }
    if !told_apart(PHASE.name)
        && let Some(last) = table.distinct(PHASE.name)?.last().map(Value::to_string)
    {
        table = table.only(PHASE.name, &last)?;
        facts.insert(0, fact(PHASE.name, &[last]));
    }
    let right = table.filter(|row| row.get(&WRONG_ANSWERS).number().is_none_or(|wrong| wrong == 0.0));
    let wrong = table.rows().len() - right.rows().len();
    if wrong > 0 {
        notes.push(format!("{} left out: wrong answers", count(wrong, "measurement")));
    }
    let marked: Vec<String> = right
        .rows()
        .iter()
        .map(|row| row.get(&IMPLAUSIBLE).to_string())
        .filter(|words| !words.is_empty())
        .collect();
    if let Some(first) = marked.first() {
        notes.push(format!("{} beyond a bound: {first}", count(marked.len(), "measurement")));
    }
    if right.rows().is_empty() {
        return Err(PlotError::Empty(
            "the filter of the chart leaves no row with correct answers; change the filter".to_owned(),
        ));
    }
    let right = if spec.form() == Form::Timeline { whole_intervals(&right, &mut notes) } else { right };
    facts.push(differing(&right, spec)?);
    facts.retain(|fact| !fact.is_empty());
    Ok(Picked { table: right, facts, notes })
}

/// Removes the last interval of each phase of a timeline if it is much shorter than a full interval, because its rate
/// would be imprecise.
fn whole_intervals(table: &Table, notes: &mut Vec<String>) -> Table {
    let lengths = table.rows().iter().filter_map(|row| row.get(&SECONDS).number());
    let least = LEAST_SHARE * lengths.fold(0.0, f64::max);
    let whole = table.filter(|row| {
        let number = |column| row.get(column).number();
        number(&SECOND) == Some(0.0) || number(&SECONDS).is_none_or(|seconds| seconds >= least)
    });
    if whole.rows().len() < table.rows().len() {
        notes.push("last intervals that are shorter than half of an interval left out".to_owned());
    }
    whole
}

/// Returns the rows that have the value `value` in the column `column`. If no row has this value, the error lists the
/// existing values.
fn only_value(table: &Table, column: &str, value: &str) -> Result<Table, PlotError> {
    let kept = table.only(column, value)?;
    if kept.rows().is_empty() && !table.rows().is_empty() {
        return Err(no_such_value(table, column, &[value.to_owned()]));
    }
    Ok(kept)
}

/// Describes a filter in the caption, such as `lookup phase`, `get operations` or `bloom.bits_per_key = 12`.
fn fact(column: &str, values: &[String]) -> String {
    let values = values.join(", ");
    match column {
        "phase" => format!("{values} phase"),
        "operation" => format!("{values} operations"),
        _ => format!("{} = {values}", results::Column::Swept(column.to_owned()).title()),
    }
}

/// Returns a text that names the settings in which the drawn rows differ, such as `only bloom differs` or
/// `bloom and fence differ`.
fn differing(table: &Table, spec: &ChartSpec) -> Result<String, PlotError> {
    let mut names = Vec::new();
    for path in table.schema().swept() {
        if !spec.measures(path) && table.distinct(path)?.len() > 1 {
            names.push(results::Column::Swept(path.to_owned()).title().to_owned());
        }
    }
    let last = names.pop();
    Ok(match (names.is_empty(), last) {
        (_, None) => String::new(),
        (true, Some(only)) => alone(&only),
        (false, Some(last)) => format!("{} and {last} differ", names.join(", ")),
    })
}

/// Returns the caption text for rows that differ in only one setting, such as `only bloom differs`.
pub(crate) fn alone(title: &str) -> String {
    format!("only {title} differs")
}

pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn no_such_value(table: &Table, column: &str, wanted: &[String]) -> PlotError {
    let there: Vec<String> = table
        .distinct(column)
        .map(|values| values.iter().map(Value::to_string).collect())
        .unwrap_or_default();
    let wanted = wanted.join("\", \"");
    PlotError::spec("filter", format!("no row has {column} = \"{wanted}\". {}", valid_names(there)))
}
