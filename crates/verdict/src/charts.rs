//! Draws the charts of an experiment from its results.

use std::path::{Path, PathBuf};

use plot::{Chart, ChartSpec, Context, FigureStyle, LabelOrder, PlotError, Width};
use results::columns::ENGINE;
use results::targets::{check_file, check_folder, check_name};
use results::{Folder, Manifest, Row, Table, columns as c};
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
    /// Charts without data are skipped, and the reason is printed. Charts omit configurations with wrong answers.
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
        for (spec, chart) in self.charts(results, table, specs, manifest, Width::Full)? {
            let mut paths = chart.write(folder, &spec.file_stem())?;
            chart.notes().iter().for_each(|note| (self.tell)(&format!("  {}: {note}", spec.file_stem())));
            let png = paths.iter().position(|path| path.extension().is_some_and(|ending| ending == "png"));
            drawn.push(paths.swap_remove(png.unwrap_or(0)));
        }
        Ok(drawn)
    }

    /// Checks that the folder for charts and the files of all charts can be written.
    ///
    /// # Errors
    /// A folder that cannot be written to; a directory or a link at the path of a chart file.
    pub fn check_targets(specs: &[ChartSpec], style: &FigureStyle, folder: &Path) -> Outcome<()> {
        check_folder(folder)?;
        let files = specs.iter().flat_map(|spec| {
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
        let brings = brought_by_engines(manifest);
        let style = self.style.clone();
        let context = Context { width, brings, style, ..Context::of(manifest, self.order.clone()) };
        let wrong = TrialRows::of(table).wrong_cells();
        let is_right = |row: &Row| row.get(&c::CELL).integer().is_none_or(|cell| !wrong.contains(&cell));
        if !wrong.is_empty() {
            (self.tell)("  charts omit configurations with wrong answers");
        }
        let mut drawn = Vec::new();
        for spec in specs {
            let path = spec.table(results);
            let chart = match path == results.runs() {
                true => table.filter(is_right),
                false => Table::read(&path)?.filter(is_right),
            };
            match Chart::of_table(&chart, results, spec, &context) {
                Ok(chart) => drawn.push((spec, chart)),
                Err(error @ PlotError::Write { .. }) => return Err(error.into()),
                Err(error) => (self.tell)(&format!("  no chart {}: {error}", spec.file_stem())),
            }
        }
        Ok(drawn)
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

/// Returns one note for the captions of charts if the run sweeps engines, and no notes otherwise. The note warns that
/// engines cannot match every setting of a design. Each note is a pair of a swept path and a text.
fn brought_by_engines(manifest: &Manifest) -> Vec<(String, String)> {
    let swept = manifest.swept.iter().filter(|path| *path == ENGINE);
    swept.map(|path| (path.clone(), "settings that the engines cannot match".to_owned())).collect()
}
