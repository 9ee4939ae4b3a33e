//! The names of series and categories, their order and their styles.

use std::cmp::Ordering;
use std::collections::HashMap;

use results::columns::{CELL, ENGINE, LABEL};
use results::{Column, Row, Table, Unit, Value};

use crate::describe::axis_title;
use crate::format::SPACE;
use crate::palette::{BOUND, Style};
use crate::{ChartSpec, Form, LabelOrder, PlotError, format, quantity};

/// The largest number of series that readers can distinguish.
const MOST_SERIES: usize = 32;

/// Returns the indexes of the columns that distinguish the series of a chart: the requested column, and further columns
/// if one series would otherwise mix several configurations. `x_at` is the index of the column on the horizontal axis.
pub(crate) fn tell_apart(
    table: &Table,
    spec: &ChartSpec,
    x_at: Option<usize>,
) -> Result<Vec<usize>, PlotError> {
    let schema = table.schema();
    let by_label = matches!(spec.form(), Form::Scatter | Form::Timeline | Form::Cdf);
    let asked = spec.series.as_deref().or(by_label.then_some("label"));
    let mut columns: Vec<usize> = match asked {
        Some(name) => vec![schema.find(name)?],
        None => Vec::new(),
    };
    if spec.form() == Form::Scatter {
        return Ok(columns);
    }
    for name in schema.swept().chain(["phase", "operation", "mode", "loop", "label"]) {
        let at = schema.find(name)?;
        if Some(at) == x_at || columns.contains(&at) || spec.measures(name) {
            continue;
        }
        let mut found: HashMap<Vec<String>, String> = HashMap::new();
        let varies = table.rows().iter().any(|row| {
            let text = |at: usize| row.cells()[at].to_string();
            let place = columns.iter().chain(&x_at).map(|at| text(*at)).collect();
            *found.entry(place).or_insert_with(|| text(at)) != text(at)
        });
        if varies {
            columns.push(at);
        }
    }
    Ok(columns)
}

/// The series of a table: the names of all series, and the series of each row.
pub(crate) struct NamedSeries {
    /// The heading of the legend, which is the title of the column that names the series.
    pub heading: String,
    /// The name and style of each series, in order.
    pub series: Vec<(String, Style)>,
    /// The index of the series to which each row of the table belongs.
    pub of_rows: Vec<usize>,
}

/// Assigns each row of a table to a series.
pub(crate) fn series_of(
    table: &Table,
    spec: &ChartSpec,
    order: &LabelOrder,
) -> Result<NamedSeries, PlotError> {
    let at = tell_apart(table, spec, None)?;
    let columns: Vec<&Column> = at.iter().map(|at| &table.schema().columns()[*at]).collect();
    let key = |row: &Row| -> Vec<Value> { at.iter().map(|at| row.cells()[*at].clone()).collect() };
    let mut keys: Vec<(Vec<Value>, u64, String)> = Vec::new();
    for row in table.rows() {
        let number = row.get(&CELL).integer().unwrap_or(0);
        match keys.iter_mut().find(|(known, ..)| *known == key(row)) {
            Some((_, least, _)) => *least = (*least).min(number),
            None => keys.push((key(row), number, own_name(row))),
        }
    }
    sort_series(&mut keys, &columns, order, |(key, number, _)| (key, *number))?;
    let styles = styles_of(&columns, order, keys.iter().map(|(key, ..)| key));
    let place = |row: &Row| keys.iter().position(|(known, ..)| *known == key(row)).unwrap_or(0);
    let labels = keys.iter().map(|(key, _, own)| series_label(&columns, key, own));
    Ok(NamedSeries {
        heading: columns.first().copied().map_or(String::new(), axis_title),
        of_rows: table.rows().iter().map(place).collect(),
        series: labels.zip(styles).collect(),
    })
}

/// Sorts series by the values of the column that determines the color, and then by the values of further columns.
///
/// # Errors
/// There are more series than readers can distinguish.
pub(crate) fn sort_series<T>(
    series: &mut [T],
    columns: &[&Column],
    order: &LabelOrder,
    key: impl Fn(&T) -> (&Vec<Value>, u64),
) -> Result<(), PlotError> {
    if series.len() > MOST_SERIES {
        let message =
            format!("a chart cannot distinguish {} series; use `filter` to keep fewer series", series.len());
        return Err(PlotError::spec("series", message));
    }
    series.sort_by(|a, b| {
        let ((a, a_cell), (b, b_cell)) = (key(a), key(b));
        let by_column = columns
            .iter()
            .enumerate()
            .map(|(at, column)| compare(order, column, (&a[at], a_cell), (&b[at], b_cell)));
        by_column.fold(Ordering::Equal, Ordering::then)
    });
    Ok(())
}

/// Returns the style of each series. The first value in the name of a series determines its color.
pub(crate) fn styles_of<'a>(
    columns: &[&Column],
    order: &LabelOrder,
    keys: impl Iterator<Item = &'a Vec<Value>>,
) -> Vec<Style> {
    let firsts: Vec<String> = keys.map(|key| key.first().map_or(String::new(), Value::to_string)).collect();
    order.styles(columns.first().map_or("", |column| column.name()), &firsts)
}

/// Returns the text of a name in the legend. ` (bound)` follows the name of an ideal bound.
pub(crate) fn bound_label(name: String, style: Style) -> String {
    if style.color == BOUND { name + " (bound)" } else { name }
}

/// Returns the label of a series, such as `blocked · size_ratio=4`, which consists of the values of `columns`.
///
/// A number has the name of its setting in front, except in the first column. If no setting applies to the
/// configuration, the label is `own`, the [name without settings](own_name).
pub(crate) fn series_label(columns: &[&Column], key: &[Value], own: &str) -> String {
    let part = |(at, (column, value)): (usize, (&&Column, &Value))| {
        let name = column.name().rsplit('.').next().unwrap_or_default();
        let is_number = quantity::of(value, Unit::Plain).is_some();
        match value {
            Value::Empty => None,
            value if at > 0 && is_number => Some(format!("{name}={}", text_of(value))),
            value => Some(text_of(value)),
        }
    };
    let parts: Vec<String> = columns.iter().zip(key).enumerate().filter_map(part).collect();
    if parts.is_empty() && !key.is_empty() { own.to_owned() } else { parts.join(" · ") }
}

/// Returns the engine of a configuration. If the row names no engine, returns the label of the configuration.
pub(crate) fn own_name(row: &Row) -> String {
    let engine = row.schema().position(ENGINE).map(|at| row.cells()[at].to_string());
    engine.filter(|engine| !engine.is_empty()).unwrap_or_else(|| row.get(&LABEL).to_string())
}

/// Formats the value of a swept parameter for readers. A unit has a space before it.
pub(crate) fn text_of(value: &Value) -> String {
    let text = value.to_string();
    let unit = text.find(|c: char| c.is_ascii_alphabetic());
    match (quantity::of(value, Unit::Plain), value, unit) {
        (Some(_), Value::Text(_), Some(at)) => format!("{}{SPACE}{}", text[..at].trim_end(), &text[at..]),
        (Some((number, unit)), ..) => format::chosen(number, unit),
        _ => text,
    }
}

/// Returns the styles of the bars in a chart with a single series. All bars have the same style if all their names are
/// numbers, or if there are more than eight bars and no name is in a catalog. Otherwise, the bars have different
/// styles.
pub(crate) fn looks(order: &LabelOrder, column: &Column, names: &[(&Value, u64)]) -> Vec<Style> {
    const HUES: usize = 8;
    let labels: Vec<String> = names.iter().map(|(name, _)| name.to_string()).collect();
    let known = labels.iter().any(|label| order.knows(column.name(), label));
    let numbers = names.iter().all(|(name, _)| quantity::of(name, Unit::Plain).is_some());
    if !numbers && (known || labels.len() <= HUES) {
        // A name is next to its bar, so bars of one variant do not need lighter fills to be distinguished.
        let plain =
            |style: Style| if style.color == BOUND { style } else { Style { fill: style.color, ..style } };
        order.styles(column.name(), &labels).into_iter().map(plain).collect()
    } else {
        vec![Style::new(0, 0); labels.len()]
    }
}

/// Returns the column whose values label the points of a scatter plot. This is the swept parameter that is neither on
/// an axis nor part of the series. Returns `None` if there is no such parameter, or more than one.
pub(crate) fn tag_of(
    table: &Table,
    spec: &ChartSpec,
    series_at: &[usize],
) -> Result<Option<usize>, PlotError> {
    if spec.form() != Form::Scatter || spec.series.is_none() {
        return Ok(None);
    }
    let mut varying = Vec::new();
    for path in table.schema().swept() {
        let at = table.schema().find(path)?;
        if !series_at.contains(&at) && !spec.measures(path) && table.distinct(path)?.len() > 1 {
            varying.push(at);
        }
    }
    Ok(if varying.len() == 1 { varying.pop() } else { None })
}

/// Compares two names on an axis or in a legend: by their order in the catalog, then as numbers, then by the order of
/// their configurations.
pub(crate) fn compare(order: &LabelOrder, column: &Column, a: (&Value, u64), b: (&Value, u64)) -> Ordering {
    let by_catalog = order.compare(column.name(), &a.0.to_string(), &b.0.to_string());
    let by_number = || {
        let (a, b) = (quantity::of(a.0, Unit::Plain)?, quantity::of(b.0, Unit::Plain)?);
        Some(a.0.total_cmp(&b.0))
    };
    let settled = by_catalog.filter(|order| order.is_ne()).or_else(by_number);
    let by_cell = if a.0 == b.0 { Ordering::Equal } else { a.1.cmp(&b.1) };
    settled.filter(|order| order.is_ne()).unwrap_or(by_cell)
}
