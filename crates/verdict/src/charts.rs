//! Draws the charts of an experiment from its results.

use std::path::{Path, PathBuf};

use plot::{Chart, ChartSpec, Context, FigureStyle, LabelOrder, PlotError, Width, ratio_charts};
use results::columns::ENGINE;
use results::targets::{check_file, check_folder, check_name};
use results::{Folder, Manifest, Row, RunMode, Table, columns as c};
use types::{Outcome, Problem};

use crate::trial_rows::TrialRows;

/// A renderer that draws the charts of experiments from their results.
#[derive(Clone, Debug)]
pub struct Charts {
    /// The order of variants in charts, for each column that contains the names of variants.
    pub order: LabelOrder,
    /// The style of the charts. When an experiment is drawn again, these keys override the `style` keys of the
    /// experiment.
    pub style: FigureStyle,
    /// The function that prints a line, such as a note on a chart or the reason why a chart was skipped.
    pub tell: fn(&str),
}

impl Charts {
    /// Draws charts into a folder and returns one path per chart: the PNG file, or the first format if there is no PNG.
    /// Charts without data are skipped, and the reason is printed. Charts omit configurations with wrong answers. A
    /// chart of times or rates is followed by the chart of its ratios if the run has enough trials for verdicts.
    pub fn draw_all(
        &self,
        results: &Folder,
        table: &Table,
        specs: &[ChartSpec],
        manifest: &Manifest,
        folder: &Path,
    ) -> Outcome<Vec<PathBuf>> {
        let mut drawn = Vec::new();
        Self::check_targets(specs, &self.style, folder)?;
        let mut write = |spec: &ChartSpec, chart: &Chart| -> Outcome<()> {
            let mut paths = chart.write(folder, &spec.file_stem())?;
            chart.notes().iter().for_each(|note| (self.tell)(&format!("  {}: {note}", spec.file_stem())));
            let png = paths.iter().position(|path| path.extension().is_some_and(|ending| ending == "png"));
            drawn.push(paths.swap_remove(png.unwrap_or(0)));
            Ok(())
        };
        let charts = self.charts(results, table, specs, manifest, Width::Full)?;
        // A quick run and a run in `counted` mode have no verdicts on times.
        let has_verdicts = manifest.mode == RunMode::Timed.name() && !manifest.quick;
        let ratios = if has_verdicts { ratio_charts(specs, &self.style) } else { Vec::new() };
        let (right, context) = (right_rows(table), self.context(manifest, Width::Full));
        for (spec, chart) in charts {
            write(spec, &chart)?;
            let at = specs.iter().position(|other| std::ptr::eq(other, spec));
            let Some(spec) = at.and_then(|at| ratios.get(at)?.as_ref()) else { continue };
            match Chart::of_ratios(&right, results, spec, &context) {
                Ok(chart) => chart.map_or(Ok(()), |chart| write(spec, &chart))?,
                Err(error) => self.skip(spec, error)?,
            }
        }
        Ok(drawn)
    }

    /// Checks that the folder for charts and the files of all charts can be written.
    ///
    /// # Errors
    /// A folder that cannot be written to; a directory or a link at the path of a chart file.
    pub fn check_targets(specs: &[ChartSpec], style: &FigureStyle, folder: &Path) -> Outcome<()> {
        check_folder(folder)?;
        let ratios = ratio_charts(specs, style);
        let files = specs.iter().chain(ratios.iter().flatten()).flat_map(|spec| {
            let stem = spec.file_stem();
            style.endings().map(move |ending| format!("{stem}.{ending}"))
        });
        files.map(|file| folder.join(file)).try_for_each(|path| check_file(&path))
    }

    /// Returns the charts that have data. Prints a line for each skipped chart.
    pub fn charts<'a>(
        &self,
        results: &Folder,
        table: &Table,
        specs: &'a [ChartSpec],
        manifest: &Manifest,
        width: Width,
    ) -> Outcome<Vec<(&'a ChartSpec, Chart)>> {
        let context = self.context(manifest, width);
        if !TrialRows::of(table).wrong_cells().is_empty() {
            (self.tell)("  charts omit configurations with wrong answers");
        }
        let mut drawn = Vec::new();
        for spec in specs {
            let path = spec.table(results);
            let chart = match path == results.runs() {
                true => right_rows(table),
                false => of_right_cells(&Table::read(&path)?, table),
            };
            match Chart::of_table(&chart, results, spec, &context) {
                Ok(chart) => drawn.push((spec, chart)),
                Err(error) => self.skip(spec, error)?,
            }
        }
        Ok(drawn)
    }

    /// Returns the texts and the style of the charts of a run.
    fn context(&self, manifest: &Manifest, width: Width) -> Context {
        let brings = brought_by_engines(manifest);
        Context { width, brings, style: self.style.clone(), ..Context::of(manifest, self.order.clone()) }
    }

    /// Prints the reason why a chart is skipped.
    ///
    /// # Errors
    /// The chart was drawn, but its file cannot be written.
    fn skip(&self, spec: &ChartSpec, error: PlotError) -> Outcome<()> {
        if matches!(error, PlotError::Write { .. }) {
            return Err(error.into());
        }
        (self.tell)(&format!("  no chart {}: {error}", spec.file_stem()));
        Ok(())
    }

    /// Draws the charts of an experiment again from the files of its results folder. `change` may first edit the
    /// experiment that the manifest contains, for example its keys `chart` and `style`.
    ///
    /// # Errors
    /// A folder without results; results or charts that cannot be read; a file that cannot be written.
    pub fn redraw(
        &self,
        results: &Path,
        out: Option<&Path>,
        change: &dyn Fn(&Manifest, &mut toml::Table) -> Outcome<()>,
    ) -> Outcome<Vec<PathBuf>> {
        let folder = Folder::new(results);
        if !folder.manifest().exists() {
            return Err(Problem::new(format!(
                "{folder} is not a results folder: it has no manifest.json",
                folder = results.display()
            )));
        }
        let mut manifest = Manifest::read(&folder.manifest())?;
        check_name(&manifest.experiment)
            .map_err(|problem| Problem::at(&folder.manifest(), None, problem.to_string()))?;
        let unread = |part: &str, error: &toml::de::Error| {
            Problem::at(&folder.manifest(), None, format!("cannot parse {part}: {}", error.message()))
        };
        let resolved: Result<toml::Table, _> = manifest.resolved.parse();
        let mut resolved = resolved.map_err(|error| unread("the resolved experiment", &error))?;
        change(&manifest, &mut resolved)?;
        let charts = resolved.remove("chart").unwrap_or_else(|| toml::Value::Array(Vec::new()));
        let specs: Vec<ChartSpec> = charts.try_into().map_err(|error| unread("the charts", &error))?;
        let style = resolved.remove("style").unwrap_or_else(|| toml::Value::Table(toml::Table::new()));
        let style: FigureStyle = style.try_into().map_err(|error| unread("the style", &error))?;
        if let Some(question) = resolved.get("question").and_then(toml::Value::as_str) {
            question.clone_into(&mut manifest.question);
        }
        let table = Table::read(&folder.runs())?;
        manifest.check_rows(&folder)?;
        let target = match out {
            Some(out) => out.join(&manifest.experiment),
            None => Path::new("plots").join(&manifest.experiment),
        };
        let charts = Self { style: self.style.clone().over(style), ..self.clone() };
        charts.draw_all(&folder, &table, &specs, &manifest, &target)
    }
}

/// Returns the rows of `runs.csv` without configurations with wrong answers.
fn right_rows(runs: &Table) -> Table {
    of_right_cells(runs, runs)
}

/// Returns the rows of a table without the configurations that have wrong answers in `runs.csv`.
fn of_right_cells(table: &Table, runs: &Table) -> Table {
    let wrong = TrialRows::of(runs).wrong_cells();
    let is_right = |row: &Row| row.get(&c::CELL).integer().is_none_or(|cell| !wrong.contains(&cell));
    table.filter(is_right)
}

/// Returns one note for the captions of charts if the run sweeps engines, and no notes otherwise. The note warns that
/// engines cannot match every setting of a design. Each note is a pair of a swept path and a text.
fn brought_by_engines(manifest: &Manifest) -> Vec<(String, String)> {
    let swept = manifest.swept.iter().filter(|path| *path == ENGINE);
    swept.map(|path| (path.clone(), "settings that the engines cannot match".to_owned())).collect()
}
