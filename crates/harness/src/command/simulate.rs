//! `lsmbench simulate` computes the counters of an experiment without storing its data.

mod residual;

use std::path::{Path, PathBuf};

use experiment::{Cell, Experiment, Overrides, catalog_order, engine, row_text};
use plot::{Chart, ChartSpec, Context, Form, SweptTexts, format_value};
use results::targets::{check_folder, create_folder};
use results::{Folder, Row, RowWriter, Schema, Table, columns as c};
use simulation::{Picture, Simulation, added_keys, scaled, simulate as run};
use tune::predicted_rows;
use types::{Outcome, Problem};
use workload::Workload;

use self::residual::Residual;
use crate::cli::{PictureArgument, SimulateArguments};
use crate::output::{aligned, line, print};

/// The name of the column with the number of keys in the results of a simulation.
const ENTRIES: &str = "entries";

/// The columns of results that `lsmbench simulate` prints and draws as charts.
const SHOWN: [&results::Metric; 6] = [
    &c::WRITE_AMP_SETTLED,
    &c::SPACE_AMP_SETTLED,
    &c::RUNS_SETTLED,
    &c::LEVELS_SETTLED,
    &c::BLOCKS_PER_GET,
    &c::DEVICE_SECONDS,
];

/// Simulates all configurations, writes their rows, prints a table, and draws charts over the number of keys.
pub(crate) fn simulate(arguments: &SimulateArguments, overrides: &Overrides) -> Outcome<()> {
    let experiment = Experiment::load(&arguments.config, overrides)?;
    for cell in &experiment.cells {
        if let Some(workload) = simulated_workload(cell) {
            simulation::check(&cell.design, workload)
                .map_err(|problem| Problem::new(format!("{}: {problem}", cell.label)))?;
        }
    }
    check_folder(&arguments.out)?;
    let mut swept = experiment.swept();
    swept.push(ENTRIES.to_owned());
    let schema = Schema::runs(&swept)?;
    let (mut rows, mut residuals) = (Vec::new(), Vec::new());
    for cell in &experiment.cells {
        match of_cell(&experiment, cell, arguments, &schema, &mut residuals)? {
            Some(simulated) => rows.extend(simulated),
            None => {
                line(&format!(
                    "skipped: {name}: the simulator supports only the tree of lsmbench with a workload",
                    name = cell.label
                ));
            }
        }
    }
    if rows.is_empty() {
        return Err(Problem::new(
            "no configuration can be simulated; use engine = \"lsmbench\" and a workload with phases",
        ));
    }
    let folder = Folder::new(arguments.out.join(format!("{}-simulated", experiment.name)));
    write(&folder, &schema, &rows)?;
    print(&table(&rows))?;
    if arguments.residuals {
        print(&residual::table(&residuals))?;
    }
    line(&format!("Rows: {}", folder.runs().display()));
    let own = experiment.charts.iter().filter(|spec| is_of_counters(spec));
    let mut specs: Vec<ChartSpec> = own.cloned().collect();
    if arguments.entries.len() > 1 {
        let names: Vec<String> = specs.iter().map(ChartSpec::file_stem).collect();
        specs.extend(curves().filter(|curve| !names.contains(&curve.file_stem())));
    }
    let plots = arguments.plots.join(format!("{}-simulated", experiment.name));
    for chart in draw(&experiment, &specs, &Table::new(schema, rows), &plots)? {
        line(&format!("Chart: {}", chart.display()));
    }
    Ok(())
}

/// Simulates one configuration with each number of keys that the user requests, and returns one row per phase and
/// number of keys. Returns `None` for engines other than lsmbench, and for component experiments.
fn of_cell(
    experiment: &Experiment,
    cell: &Cell,
    arguments: &SimulateArguments,
    schema: &Schema,
    residuals: &mut Vec<Residual>,
) -> Outcome<Option<Vec<Row>>> {
    let Some(workload) = simulated_workload(cell) else {
        return Ok(None);
    };
    let keys = added_keys(workload);
    if keys <= 0.0 {
        return Err(Problem::new(
            "the workload inserts no keys; add a first phase with the key \"insert\", such as \
             insert = 1_000_000",
        ));
    }
    let policy = compaction::CATALOG.build(cell.design.choice("compaction"));
    let scans =
        policy.is_ok_and(|policy| policy.seek_price() > 0) && workload.phases.iter().any(simulation::scans);
    if scans {
        line(&format!(
            "{name}: the simulation does not include read-triggered compactions",
            name = cell.label
        ));
    }
    let sizes = if arguments.entries.is_empty() { vec![keys] } else { arguments.entries.clone() };
    let mut rows = Vec::new();
    for size in sizes {
        let picture = match arguments.picture {
            PictureArgument::Auto => Picture::Automatic,
            PictureArgument::Exact => Picture::Exact,
            PictureArgument::Expected => Picture::Expected,
        };
        let workload = scaled(workload, size / keys);
        let simulation = Simulation {
            design: &cell.design,
            workload: &workload,
            seed: experiment.trials.seed,
            base: &experiment.base,
            picture,
            device: &arguments.device,
            costs: None,
        };
        let named = |problem: Problem| Problem::new(format!("{}: {problem}", cell.label));
        let (phases, costs) = run(&simulation).map_err(named)?;
        if arguments.residuals {
            let predicted = predicted_rows(&cell.design, &workload, &costs).map_err(named)?;
            residuals.extend(residual::compare(&cell.label, size, &predicted, &phases));
        }
        for phase in phases {
            let mut row = Row::new(schema);
            row.fill(&phase.row).set(&c::EXPERIMENT, experiment.name.as_str()).set(&c::CELL, cell.number);
            row.set(&c::LABEL, cell.label.as_str()).set(&c::TRIAL, 0_u64);
            row.set(&c::SEED, experiment.trials.seed);
            for (path, value) in experiment.swept().iter().zip(&cell.swept) {
                row.set_swept(path, &row_text(path, value))?;
            }
            row.set_swept(ENTRIES, &format!("{size:.0}"))?;
            rows.push(row);
        }
    }
    Ok(Some(rows))
}

/// Returns the workload of a configuration that can be simulated. Returns `None` for engines other than lsmbench, and
/// for component experiments.
fn simulated_workload(cell: &Cell) -> Option<&Workload> {
    cell.task.workload().filter(|_| engine(&cell.engine).reads_whole_design())
}

/// Writes the rows of a simulation to `runs.csv`, and replaces the file of an earlier simulation.
fn write(folder: &Folder, schema: &Schema, rows: &[Row]) -> Outcome<()> {
    create_folder(folder.root())?;
    match std::fs::remove_file(folder.runs()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Problem::doing(format!("replace {}", folder.runs().display()), error));
        }
        _ => {}
    }
    let mut writer = RowWriter::create(&folder.runs(), schema)?;
    Ok(writer.append(rows)?)
}

/// Returns a table with the main columns of the rows of a simulation.
fn table(rows: &[Row]) -> String {
    let mut head = vec!["design".to_owned(), ENTRIES.to_owned(), "phase".to_owned()];
    head.extend(SHOWN.iter().map(|metric| metric.name.to_owned()));
    let mut lines = vec![head];
    for row in rows {
        let entries = row.schema().find(ENTRIES).ok().map(|at| row.cells()[at].to_string());
        let mut cells =
            vec![row.get(&c::LABEL).to_string(), entries.unwrap_or_default(), row.get(&c::PHASE).to_string()];
        let shown = |metric: &&results::Metric| {
            row.get(metric).number().map_or_else(String::new, |value| format_value(value, metric.unit))
        };
        cells.extend(SHOWN.iter().map(shown));
        lines.push(cells);
    }
    aligned(&lines)
}

/// Returns whether the simulated rows contain the data of a chart. This is false for charts of times, latencies,
/// timelines, levels and slices.
fn is_of_counters(spec: &ChartSpec) -> bool {
    let is_timed = matches!(spec.form(), Form::Cdf | Form::Timeline | Form::Ratio);
    let column = spec.y.as_deref().and_then(results::reference::metric);
    !is_timed && spec.file.is_none() && column.is_none_or(results::Metric::is_exact)
}

/// Returns a chart for each of the columns [`SHOWN`]. The chart shows the value at the end of the last phase over the
/// number of keys.
fn curves() -> impl Iterator<Item = ChartSpec> {
    SHOWN.into_iter().map(|metric| ChartSpec {
        x: Some(ENTRIES.to_owned()),
        y: Some(metric.name.to_owned()),
        series: Some(c::LABEL.name.to_owned()),
        log_x: true,
        name: Some(metric.name.to_owned()),
        ..ChartSpec::new(Form::Line)
    })
}

/// Draws charts of the simulated rows, and returns the paths of their files. A chart without data is skipped, and its
/// reason is printed.
fn draw(experiment: &Experiment, specs: &[ChartSpec], table: &Table, folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut drawn = Vec::new();
    let cells: Vec<(&str, &[String])> =
        experiment.cells.iter().map(|cell| (cell.label.as_str(), &cell.swept[..])).collect();
    for spec in specs {
        let context = Context {
            experiment: experiment.name.clone(),
            question: experiment.question.clone(),
            points: Some("each point is one simulated tree".to_owned()),
            order: catalog_order(),
            swept: SweptTexts::of(&experiment.swept(), &cells),
            ..Context::default()
        };
        match Chart::of_table(table, &Folder::new(""), spec, &context) {
            Ok(chart) => drawn.extend(chart.write(folder, &spec.file_stem())?),
            Err(error) => line(&format!("no chart {}: {error}", spec.file_stem())),
        }
    }
    Ok(drawn)
}
