//! Drawing the charts of an experiment from its results.

use std::path::{Path, PathBuf};

use plot::{Chart, ChartSpec, Context, Order, PlotError, Width};
use results::columns::ENGINE;
use results::targets::{check_file, check_folder, check_name};
use results::{Folder, Manifest, Row, Table, columns as c};
use types::{Outcome, Problem};

use crate::trial_rows::TrialRows;

/// The extensions of the files of a chart.
const ENDINGS: [&str; 2] = ["svg", "png"];

/// Draws the charts of experiments from their results.
#[derive(Clone, Debug)]
pub struct Charts {
    /// The order of the variants of each axis, for every column that an axis fills.
    pub order: Order,
    /// Prints a line, such as a note on a chart or the reason why a chart was skipped.
    pub tell: fn(&str),
}

impl Charts {
    /// Draws charts into a folder and returns the paths of the PNG files. Skips a chart without data and prints the reason.
    /// Leaves out every cell that returned a wrong answer in any trial.
    pub fn draw_all(
        &self,
        results: &Folder,
        table: &Table,
        specs: &[ChartSpec],
        manifest: &Manifest,
        folder: &Path,
    ) -> Outcome<Vec<PathBuf>> {
        let mut drawn = Vec::new();
        Self::check_targets(specs, folder)?;
        for (spec, chart) in self.charts(results, table, specs, manifest, Width::Full)? {
            let [_, png] = chart.write(folder, &spec.file_stem())?;
            chart.notes().iter().for_each(|note| (self.tell)(&format!("  {}: {note}", spec.file_stem())));
            drawn.push(png);
        }
        Ok(drawn)
    }

    /// Rejects a folder for charts that is not writable, or in which a chart would replace a folder.
    pub fn check_targets(specs: &[ChartSpec], folder: &Path) -> Outcome<()> {
        check_folder(folder)?;
        let files =
            specs.iter().flat_map(|spec| ENDINGS.map(|ending| format!("{}.{ending}", spec.file_stem())));
        files.map(|file| folder.join(file)).try_for_each(|path| check_file(&path))
    }

    /// The charts that have data. Prints a line for each skipped chart.
    pub fn charts<'a>(
        &self,
        results: &Folder,
        table: &Table,
        specs: &'a [ChartSpec],
        manifest: &Manifest,
        width: Width,
    ) -> Outcome<Vec<(&'a ChartSpec, Chart)>> {
        let brings = brought_by_engines(manifest);
        let context = Context { width, brings, ..Context::of(manifest, self.order.clone()) };
        let wrong = TrialRows::of(table).wrong_cells();
        let is_right = |row: &Row| row.get(&c::CELL).integer().is_none_or(|cell| !wrong.contains(&cell));
        if !wrong.is_empty() {
            (self.tell)("  charts leave out configurations with wrong answers");
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

    /// Draws the charts that the experiment of a results folder asks for, from its files alone.
    pub fn redraw(&self, results: &Path, out: Option<&Path>) -> Outcome<Vec<PathBuf>> {
        let folder = Folder::new(results);
        if !folder.manifest().exists() {
            return Err(Problem::new(format!(
                "{} is not a results folder: it has no manifest.json",
                results.display()
            )));
        }
        let manifest = Manifest::read(&folder.manifest())?;
        check_name(&manifest.experiment)
            .map_err(|problem| Problem::at(&folder.manifest(), None, problem.to_string()))?;
        let resolved: toml::Table = manifest.resolved.parse().map_err(|error: toml::de::Error| {
            Problem::at(
                &folder.manifest(),
                None,
                format!("the resolved experiment cannot be read: {}", error.message()),
            )
        })?;
        let charts = resolved.get("chart").cloned().unwrap_or_else(|| toml::Value::Array(Vec::new()));
        let specs: Vec<ChartSpec> = charts.try_into().map_err(|error: toml::de::Error| {
            Problem::at(&folder.manifest(), None, format!("the charts cannot be read: {}", error.message()))
        })?;
        let table = Table::read(&folder.runs())?;
        manifest.check_rows(&folder)?;
        let target = match out {
            Some(out) => out.join(&manifest.experiment),
            None => Path::new("plots").join(&manifest.experiment),
        };
        self.draw_all(&folder, &table, &specs, &manifest, &target)
    }
}

/// The mismatches of engines: no engine supports an equal of every setting of a design.
fn brought_by_engines(manifest: &Manifest) -> Vec<(String, String)> {
    let swept = manifest.swept.iter().filter(|path| *path == ENGINE);
    swept.map(|path| (path.clone(), "settings without an equal".to_owned())).collect()
}
