//! Reads and checks the tables `[verdict]` and `[[chart]]` of an experiment.

use plot::{ChartFile, ChartSpec, Form};
use results::columns::ALL;
use results::{Schema, columns as c};
use subject::Task;
use toml::Value;
use types::Outcome;
use workload::{Kind, Phase, StoreStep};

use super::deprecations::new_name;
use super::file::SourceFile;
use super::fixture::check_measured;
use super::reading;
use super::resolved::Experiment;
use super::verdict_spec::{THRESHOLDS, VerdictSpec};
use super::wording;

/// The valid keys of a table `[[chart]]`.
pub(super) const CHART_KEYS: [&str; 14] = [
    "kind", "file", "name", "title", "x_title", "y_title", "x", "y", "series", "filter", "log_x", "log_y",
    "theory", "ratio",
];

impl VerdictSpec {
    /// Checks the names in the table `[verdict]`. The error consists of the key whose value is wrong, and a sentence.
    pub(super) fn check(
        &self,
        schema: &Schema,
        experiment: &Experiment,
    ) -> Result<(), (&'static str, String)> {
        if let Some(metric) = &self.metric {
            schema.find(metric).map_err(|error| ("metric", error.to_string()))?;
        }
        for metric in &self.also {
            schema.find(metric).map_err(|error| ("also", error.to_string()))?;
        }
        let (task, swept) = (&experiment.task, experiment.swept());
        known("phase", self.phase.as_deref(), &task.phases()).map_err(|message| ("phase", message))?;
        known("operation", self.operation.as_deref(), &operations(task))
            .map_err(|message| ("operation", message))?;
        for path in self.within.iter().flatten() {
            known("swept path", Some(path), &swept).map_err(|message| ("within", message))?;
        }
        if self.within.is_some() && !swept.is_empty() && experiment.compared_within().len() == swept.len() {
            let message = "`within` contains all swept paths, so lsmbench would compare each configuration \
                           only with itself; remove a path from `within`";
            return Err(("within", message.to_owned()));
        }
        if let Some(threshold) = self.threshold.filter(|value| !THRESHOLDS.contains(value)) {
            let (least, most) = (THRESHOLDS.start(), THRESHOLDS.end());
            let message = format!(
                "the threshold {threshold} is out of range; use {least} to {most}, such as 0.01 for 1 %"
            );
            return Err(("threshold", message));
        }
        let has_short_label = |cell| Some(experiment.short_label(cell)) == self.baseline;
        if experiment.cells.iter().any(has_short_label) {
            return Ok(());
        }
        let mut baselines: Vec<String> =
            experiment.cells.iter().flat_map(|cell| experiment.names_of(cell)).collect();
        let mut seen = std::collections::HashSet::new();
        baselines.retain(|name| seen.insert(name.clone()));
        known("configuration", self.baseline.as_deref(), &baselines).map_err(|message| ("baseline", message))
    }
}

/// Reads the charts of an experiment, and checks their columns and filters.
pub(super) fn read_charts(
    file: &SourceFile,
    schema: &Schema,
    task: &Task,
    fixture: Option<&str>,
) -> Outcome<Vec<ChartSpec>> {
    let tables = match file.table.get("chart") {
        None => return Ok(Vec::new()),
        Some(Value::Array(tables)) => tables,
        Some(_) => return Err(file.problem(&["chart"], "expected tables: [[chart]]")),
    };
    let mut charts: Vec<ChartSpec> = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let at = |key: &str, message: String| {
            let number = number.to_string();
            let key: Vec<&str> = ["chart", &number].into_iter().chain(key.split('.')).collect();
            file.problem(&key, message)
        };
        let mut chart =
            read_chart(table).map_err(|error| at(&error.key.unwrap_or_default(), error.message))?;
        for column in [&mut chart.x, &mut chart.y, &mut chart.series].into_iter().flatten() {
            *column = new_name(column).into_owned();
        }
        if charts.iter().any(|other| other.file_stem() == chart.file_stem()) {
            let message = format!(
                "two charts would have the name \"{}\"; set `name` in one of them",
                chart.file_stem()
            );
            return Err(at("name", message));
        }
        check_chart(&chart, schema, task, fixture).map_err(|(key, message)| at(key, message))?;
        charts.push(chart);
    }
    Ok(charts)
}

fn read_chart(table: &Value) -> Result<ChartSpec, reading::ReadingError> {
    let whole = |message: &str| reading::ReadingError { key: None, message: message.to_owned() };
    let table = table.as_table().ok_or_else(|| whole("expected tables: [[chart]]"))?;
    if !table.contains_key("kind") {
        return Err(whole("the kind of the chart is missing; add it, such as kind = \"line\""));
    }
    reading::read("chart", table, &CHART_KEYS, &["kind"])
}

/// Checks the columns, the phases and the operations in a chart. The error consists of the wrong key, and a sentence.
fn check_chart(
    chart: &ChartSpec,
    schema: &Schema,
    task: &Task,
    fixture: Option<&str>,
) -> Result<(), (&'static str, String)> {
    if task.component().is_some() && is_own_table(chart.form()) {
        let message = "a component experiment records no timeline and no latency distribution; use another \
                       kind of chart";
        return Err(("kind", message.to_owned()));
    }
    if chart.file.is_some() && (task.component().is_some() || is_own_table(chart.form())) {
        let message = "file = \"levels\" is valid only with a workload, and not with kind = \"timeline\" or \
                       \"cdf\"";
        return Err(("file", message.to_owned()));
    }
    if chart.ratio == Some(true) && !chart.can_have_ratios() {
        let message = "chart.ratio: only a line, bar, grouped-bar, scatter or heatmap chart of a time or a rate has a \
                       second chart with ratios; remove ratio = true";
        return Err(("ratio", message.to_owned()));
    }
    let of_levels = Schema::levels(&schema.swept().collect::<Vec<_>>());
    let of_levels = of_levels.map_err(|error| ("file", error.to_string()))?;
    let schema = if chart.file == Some(ChartFile::Levels) { &of_levels } else { schema };
    if let (Form::Cdf, Some(y)) = (chart.form(), &chart.y) {
        return Err(("y", format!("a cdf has no y column; remove y = \"{y}\"")));
    }
    let phases = task.phases();
    let (none, timeline) = ([], [c::SECOND.name]);
    // The valid columns that `runs.csv` does not contain.
    let own: &[&str] = match chart.form() {
        Form::Timeline => &timeline,
        Form::Cdf => &["service", "response"],
        _ => &none,
    };
    let columns = [("x", &chart.x), ("y", &chart.y), ("series", &chart.series)];
    for (key, column) in columns {
        if let Some(column) = column.as_deref().filter(|column| !own.contains(column)) {
            schema.find(column).map_err(|error| (key, format!("chart.{key}: {error}")))?;
        }
    }
    for (column, values) in &chart.filter {
        schema.find(column).map_err(|error| ("filter", format!("chart.filter: {error}")))?;
        for value in values.texts() {
            let checked = match column.as_str() {
                "phase" => {
                    known("phase", Some(&value), &phases).and_then(|()| check_measured(&value, fixture, task))
                }
                "operation" => known("operation", Some(&value), &operations(task)),
                _ => Ok(()),
            };
            checked.map_err(|message| ("filter", format!("chart.filter: {message}")))?;
        }
    }
    Ok(())
}

/// Returns whether charts of the form `form`, such as `timeline`, read a result file of their own instead of
/// `runs.csv`.
fn is_own_table(form: Form) -> bool {
    matches!(form, Form::Timeline | Form::Cdf)
}

/// Returns the possible values of the column `operation` in the results of a task: kinds of operations, steps, and
/// operations of roles.
pub(super) fn operations(task: &Task) -> Vec<String> {
    let Task::Workload(workload) = task else { return vec![ALL.to_owned()] };
    let kinds = || [ALL].into_iter().chain(Kind::ALL.map(Kind::name));
    let steps = workload.phases.iter().filter_map(|phase| phase.step().map(StoreStep::name));
    let roles = workload.phases.iter().flat_map(Phase::roles);
    let of_roles = roles.flat_map(|role| kinds().map(move |kind| format!("{}/{kind}", role.name)));
    kinds().chain(steps).map(str::to_owned).chain(of_roles).collect()
}

/// Checks that `name` is one of `names`, or `None`. In the error, `noun` describes the unknown name, such as "swept
/// path".
fn known(noun: &str, name: Option<&str>, names: &[impl AsRef<str>]) -> Result<(), String> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let Some(name) = name.filter(|name| !names.contains(name)) else { return Ok(()) };
    Err(wording::unknown(noun, name, names))
}
