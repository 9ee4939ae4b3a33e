//! Reads the measurement of a claim from the result rows: one number per trial.

use std::collections::{BTreeMap, BTreeSet};

use measure::Sample;
use results::columns::{CELL, HARDWARE, IMPLAUSIBLE, PHASE, TRIAL, WRONG_ANSWERS};
use results::{Better, Row, Schema, Table};

use crate::lookup::Lookup;
use crate::select::ENGINE;
use crate::text::grouped;
use crate::{Quantity, Texts};

/// The engine of results without a column `engine`: lsmbench's own tree.
const OWN_ENGINE: &str = "lsmbench";

/// Reads the measurement of a claim: one number per trial, multiplied by `scale`. `lookup` selects the rows of one
/// configuration. If they contain several phases, the numbers of the phases are added.
///
/// # Errors
/// Returns a message in four cases. No row matches. The rows of several configurations match. A selected row has a
/// wrong answer. The column was not measured.
pub(crate) fn read(
    table: &Table,
    lookup: &Lookup,
    quantity: &Quantity,
    scale: f64,
) -> Result<Sample, String> {
    let rows = rows(table, lookup)?;
    let cells: BTreeSet<Option<u64>> = rows.iter().map(|row| row.get(&CELL).integer()).collect();
    if cells.len() > 1 {
        return Err(format!(
            "{} configurations match the [[claim]] table, but exactly one must match",
            cells.len()
        ));
    }
    let over = quantity.over.as_deref().map(|over| sums(&rows, over)).transpose()?;
    let mut numbers = sums(&rows, &quantity.column)?;
    for (trial, number) in &mut numbers {
        let below = over.as_ref().map_or(1.0, |over| over[trial]);
        *number *= scale / below;
        if !number.is_finite() {
            return Err(format!(
                "the denominator {} is 0 in trial {trial}, so the quotient of the two columns is undefined",
                quantity.over.as_deref().unwrap_or_default()
            ));
        }
    }
    Ok(Sample::new("", numbers))
}

/// Returns the points of a measured curve, in ascending order of x. Each point belongs to one configuration. Its
/// coordinates are the medians of the columns `x` and `y` over all trials.
pub(crate) fn points(table: &Table, lookup: &Lookup, x: &str, y: &str) -> Result<Vec<(f64, f64)>, String> {
    let rows = rows(table, lookup)?;
    let mut cells: BTreeMap<Option<u64>, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        cells.entry(row.get(&CELL).integer()).or_default().push(row);
    }
    let median = |rows: &[&Row], column: &str| {
        let sample = Sample::new("", sums(rows, column)?);
        sample.median().ok_or_else(|| format!("the column {column} was not measured"))
    };
    let point = |rows: &Vec<&Row>| Ok((median(rows, x)?, median(rows, y)?));
    let mut points = cells.values().map(point).collect::<Result<Vec<(f64, f64)>, String>>()?;
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    Ok(points)
}

/// Returns the points of a parameter sweep: each combination of values that the columns `columns` have in the selected
/// rows.
///
/// # Errors
/// Returns the errors of [`read`]. Also returns an error if the results lack one of the columns.
pub(crate) fn values(
    table: &Table,
    lookup: &Lookup,
    columns: &[String],
) -> Result<BTreeSet<Vec<String>>, String> {
    let at = |column: &String| {
        table.schema().position(column).ok_or_else(|| format!("not run: the results have no column {column}"))
    };
    let places = columns.iter().map(at).collect::<Result<Vec<_>, String>>()?;
    let of = |row: &&Row| places.iter().map(|at| row.cells()[*at].to_string()).collect();
    Ok(rows(table, lookup)?.iter().map(of).collect())
}

/// Returns the data sizes of a quick run, such as its number of entries, for the rows that `lookup` selects. Returns
/// `None` if the run is a full run, or has the sizes of a full run.
pub(crate) fn sizes(table: &Table, lookup: &Lookup) -> Option<Vec<String>> {
    let rows = rows(table, lookup).ok()?;
    let smaller = lookup.columns().filter_map(|(column, texts)| {
        let full: f64 = texts.all().first()?.parse().ok().filter(|_| texts.all().len() > 1)?;
        let at = table.schema().position(column)?;
        let size = rows.first()?.cells()[at].number()?;
        (size.total_cmp(&full).is_ne()).then(|| grouped(&size.to_string()))
    });
    Some(smaller.collect::<Vec<String>>()).filter(|sizes| !sizes.is_empty())
}

/// Returns the result rows that a lookup selects. Returns an error if no row matches, or if a row has a wrong answer or
/// an implausible value.
fn rows<'a>(table: &'a Table, lookup: &Lookup) -> Result<Vec<&'a Row>, String> {
    let mut places = Vec::new();
    for (column, texts) in lookup.columns() {
        match table.schema().position(column) {
            Some(at) => places.push((at, texts)),
            None if column == ENGINE && texts.hold(OWN_ENGINE) => {}
            None if column == ENGINE => {
                return Err(format!("not run: the run does not include the engine {}", said(texts)));
            }
            None => return Err(format!("not run: the results have no column {column}")),
        }
    }
    let agrees = |row: &&Row| places.iter().all(|(at, texts)| texts.hold(&row.cells()[*at].to_string()));
    let rows: Vec<&Row> = table.rows().iter().filter(agrees).collect();
    if rows.is_empty() {
        return Err(format!("not run: {}", missing(table, &places)));
    }
    if rows.iter().any(|row| row.get(&WRONG_ANSWERS).number().is_some_and(|wrong| wrong > 0.0)) {
        return Err("the selected rows have wrong answers, so the measurement is invalid".to_owned());
    }
    match doubted(table, &rows) {
        Some(words) => Err(format!("the measured values are implausible: {words}")),
        None => Ok(rows),
    }
}

/// Returns why one of the rows is implausible, from the column `implausible` of all rows of the same trial and phase.
/// Returns `None` if all rows are plausible.
fn doubted(table: &Table, rows: &[&Row]) -> Option<String> {
    let same = |one: &Row, other: &Row| {
        [&CELL, &TRIAL, &PHASE]
            .iter()
            .all(|column| one.get(column).to_string() == other.get(column).to_string())
    };
    let mut doubted = table.rows().iter().filter(|row| !row.get(&IMPLAUSIBLE).is_empty());
    let row = doubted.find(|row| rows.iter().any(|own| same(own, row)))?;
    Some(row.get(&IMPLAUSIBLE).to_string())
}

/// Describes why no result row matches. Lists the requested values that no row contains. If there are no such values,
/// lists all requested values, because no row contains them together.
fn missing(table: &Table, places: &[(usize, &Texts)]) -> String {
    let absent = |(at, texts): &&(usize, &Texts)| {
        !table.rows().iter().any(|row| texts.hold(&row.cells()[*at].to_string()))
    };
    let name =
        |(at, texts): &(usize, &Texts)| format!("{} = {}", table.schema().columns()[*at].name(), said(texts));
    let absent: Vec<String> = places.iter().filter(absent).map(name).collect();
    match absent.is_empty() {
        true => format!("no row with {}", places.iter().map(name).collect::<Vec<_>>().join(", ")),
        false => format!("no row with {}", absent.join(", ")),
    }
}

fn said(texts: &Texts) -> String {
    texts.all().join(" or ")
}

/// Returns the values of a column by trial number. The values of several phases are added.
fn sums(rows: &[&Row], column: &str) -> Result<BTreeMap<u64, f64>, String> {
    let mut sums = BTreeMap::new();
    for row in rows {
        let at = row.schema().position(column);
        let at = at.ok_or_else(|| uncounted(column, format!("the results have no column {column}")))?;
        let number = row.cells()[at].number();
        let number =
            number.ok_or_else(|| uncounted(column, format!("the column {column} was not measured")))?;
        *sums.entry(row.get(&TRIAL).integer().unwrap_or_default()).or_insert(0.0) += number;
    }
    Ok(sums)
}

/// Describes why a column has no value. A hardware counter has no value because the kernel does not provide it. For any
/// other column, returns the reason `usual`.
fn uncounted(column: &str, usual: String) -> String {
    match HARDWARE.iter().any(|metric| metric.name == column) {
        true => format!(
            "the kernel of this machine provided no hardware counters, so the run has no {} (lsmbench doctor reports \
             whether the kernel provides them)",
            column.replace('_', " ")
        ),
        false => usual,
    }
}

/// Returns whether higher or lower values of a quantity are better.
pub(crate) fn better(schema: &Schema, quantity: &Quantity) -> Better {
    let of = |name: &str| schema.position(name).map_or(Better::Neither, |at| schema.columns()[at].better());
    match (of(&quantity.column), quantity.over.as_deref().map(of)) {
        (Better::Neither, Some(Better::Lower)) => Better::Higher,
        (Better::Neither, Some(Better::Higher)) => Better::Lower,
        (own, _) => own,
    }
}
