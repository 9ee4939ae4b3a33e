//! Charts of results: CSV in, SVG and PNG out.
//!
//! A chart is a pure function of the CSV files of a results folder, verdicts included, the chart's description and the order of
//! labels: the same input gives the same bytes. Medians over trials are drawn as points, lines or bars, with
//! the least and the largest trial as whiskers or a band; the subtitle says so. A label has the same colour in
//! every chart.

mod axes;
mod bars;
mod cdf;
mod data;
mod describe;
mod error;
mod font;
mod format;
mod heatmap;
mod kind;
mod lines;
mod naming;
mod night;
mod order;
mod page;
mod painted;
mod painter;
mod palette;
mod pick;
mod quantity;
mod render;
mod scale;
mod scene;
mod spec;
mod verdict;

use std::path::{Path, PathBuf};

use results::{Column, Folder, Manifest, Table, Unit};

pub use error::PlotError;
pub use kind::{ChartKind, Form, KINDS};
pub use night::night;
pub use order::Order;
pub use page::Width;
pub use painter::{Align, Canvas, Curve, Dot, Ink, Painter, Picture};
pub use spec::{ChartFile, ChartSpec, Choice, Scalar};

use data::{Data, trials};
use page::Captions;
use scene::Scene;

/// A number with its unit as charts write it, with three digits: `1.30 M`, `350 ns`, `4.00 KiB`.
pub fn format_value(number: f64, unit: Unit) -> String {
    format::alike(number, unit)
}

/// What a chart says besides its data.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The name of the experiment.
    pub experiment: String,
    /// Its question, which is the title of charts that have none.
    pub question: String,
    /// The run that the numbers are of; its first characters stand at the foot.
    pub run_id: String,
    /// Whether the run was a quick one, which the foot says too.
    pub is_quick: bool,
    /// The order and the looks of labels.
    pub order: Order,
    /// How wide the page is.
    pub width: Width,
    /// What a point is of, where it is not what its trials say: the subtitle says this in place of their number.
    pub points: Option<String>,
    /// Swept paths that bring other differences with them, each with what those are: charts do not say that such a
    /// path differs alone.
    pub brings: Vec<(String, String)>,
}

impl Context {
    /// What a manifest says of its run, with the order of the catalogs. Labels of no catalog keep the order and
    /// the looks of the run's cells in every chart.
    pub fn of(manifest: &Manifest, order: Order) -> Self {
        let labels = manifest.cells.iter().map(|cell| cell.label.clone());
        let mut order = order.with_cells("label", labels);
        for (at, path) in manifest.swept.iter().enumerate() {
            let values = manifest.cells.iter().filter_map(|cell| cell.swept.get(at).cloned());
            order = order.with_cells(path, values);
        }
        let (experiment, question) = (manifest.experiment.clone(), manifest.question.clone());
        Self {
            experiment,
            question,
            run_id: manifest.run_id.clone(),
            is_quick: manifest.quick,
            order,
            width: Width::Full,
            points: None,
            brings: Vec::new(),
        }
    }
}

/// A chart, ready to be written.
#[derive(Clone, Debug)]
pub struct Chart {
    scene: Scene,
    title: String,
    notes: Vec<String>,
}

impl Chart {
    /// Draws the chart that `spec` describes from the results in `folder`. It reads `runs.csv`, `timeline.csv` for a
    /// timeline or `levels.csv` where the chart says so, and the histograms for a distribution of latencies; and
    /// `verdicts.csv` for what it says of the numbers.
    ///
    /// # Errors
    /// Results that cannot be read; a column or value that is not there; nothing left to draw.
    pub fn draw(folder: &Folder, spec: &ChartSpec, context: &Context) -> Result<Self, PlotError> {
        Self::of_table(&Table::read(&spec.table(folder))?, folder, spec, context)
    }

    /// As [`draw`](Self::draw), from a table that was read before; `folder` is where its histograms lie.
    ///
    /// # Errors
    /// As [`draw`](Self::draw).
    pub fn of_table(
        table: &Table,
        folder: &Folder,
        spec: &ChartSpec,
        context: &Context,
    ) -> Result<Self, PlotError> {
        let title = spec.title.clone().unwrap_or_else(|| context.question.clone());
        let captions = |facts: &[String], spread: String| Captions {
            width: context.width,
            title: title.clone(),
            subtitle: subtitle(facts, context, &spread),
            origin: origin(context),
            ..Captions::default()
        };
        let torn = table.torn().map(|_| "the last, torn line of the table is left out".to_owned());
        if spec.form() == Form::Cdf {
            let drawn = cdf::draw(table, folder, spec, &context.order, |facts, trials| {
                let mut captions = captions(facts, trials_merged(trials));
                captions.notes.extend(torn);
                captions
            })?;
            return Ok(Self { scene: drawn.scene, title, notes: drawn.captions.notes });
        }
        let verdicts = results::verdicts::read(&folder.verdicts());
        let data = data::prepare(table, spec, &context.order, verdicts.as_deref().unwrap_or_default())?;
        let spread = context.points.clone().unwrap_or_else(|| trials_drawn(&data, spec.form()));
        let mut captions = captions(&data.facts, spread);
        captions.verdict = data.verdict.clone().unwrap_or_default();
        captions.notes.extend(torn);
        captions.notes.extend(verdicts.err().map(|error| format!("no verdict: {error}")));
        captions.notes.extend(data.notes.iter().cloned());
        let kind = spec.component();
        let scene = match (kind.painter(), kind.form()) {
            (Some(painter), _) => painted::draw(painter, &data, &mut captions),
            (None, Form::Bar | Form::GroupedBar) => bars::draw(&data, spec, &mut captions)?,
            (None, Form::Heatmap) => heatmap::draw(&data, spec, &mut captions)?,
            (None, _) => lines::draw(&data, spec, &mut captions)?,
        };
        Ok(Self { scene, title, notes: captions.notes })
    }

    /// The chart as SVG.
    pub fn svg(&self) -> String {
        render::svg(&self.scene, &self.title)
    }

    /// Writes the chart as PNG, at twice the size of the SVG.
    ///
    /// # Errors
    /// A file system that refuses. The name must end in `.png`.
    pub fn write_png(&self, path: &Path) -> Result<(), PlotError> {
        render::png(&self.scene, path)
    }

    /// Writes `<stem>.svg` and `<stem>.png` into a folder, which is created if need be, and returns their
    /// paths.
    ///
    /// # Errors
    /// A file system that refuses.
    pub fn write(&self, folder: &Path, stem: &str) -> Result<[PathBuf; 2], PlotError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error: std::io::Error| PlotError::Write { path, message: error.to_string() }
        };
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
        let [svg, png] = ["svg", "png"].map(|ending| folder.join(format!("{stem}.{ending}")));
        std::fs::write(&svg, self.svg()).map_err(failed(&svg))?;
        self.write_png(&png)?;
        Ok([svg, png])
    }

    /// What a printer would send back: text that leaves the page or lies over other text. Charts have none; a
    /// test holds them to it.
    pub fn flaws(&self) -> Vec<String> {
        self.scene.flaws()
    }

    /// What a reader of the chart is told at its foot: what was left out and why.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// `lookup phase · only bloom differs · median of 5 trials`; of what brings other differences with it
/// `engine differs, and terms that cannot be made equal`.
fn subtitle(facts: &[String], context: &Context, spread: &str) -> String {
    let told = |fact: &String| {
        let mut brings = context.brings.iter();
        let others = brings.find(|(path, _)| *fact == pick::alone(Column::Swept(path.clone()).title()));
        others.map_or_else(|| fact.clone(), |(path, others)| format!("{path} differs, and {others}"))
    };
    let parts: Vec<String> = facts.iter().map(told).chain([spread.to_owned()]).collect();
    parts.join(" · ")
}

/// Which trials stand behind a point, and how their spread is drawn.
fn trials_drawn(data: &Data, form: Form) -> String {
    let (least, most) = trials(&data.series);
    let wide = data.series.iter().flat_map(|series| &series.points).any(|p| p.y.is_wide() || p.x.is_wide());
    let trials = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    match (most, form) {
        (0 | 1, _) => "1 trial".to_owned(),
        (_, Form::Heatmap) => format!("median of {trials} trials"),
        (..) if wide => {
            format!("median of {trials} trials, {} from least to largest", lines::spread_phrase(data))
        }
        _ => format!("{trials} trials, the same in each"),
    }
}

fn trials_merged(trials: usize) -> String {
    if trials == 1 { "1 trial".to_owned() } else { format!("{trials} trials merged, each one shown light") }
}

/// The foot of the page: where the numbers are from.
fn origin(context: &Context) -> String {
    let run: String = context.run_id.chars().take(12).collect();
    let kind = if context.is_quick { "quick run" } else { "run" };
    let parts = [context.experiment.clone(), if run.is_empty() { run } else { format!("{kind} {run}") }];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_brings_other_differences_never_differs_alone() {
        let facts = ["mixed phase", "only engine differs"].map(str::to_owned);
        let told = |context: &Context| subtitle(&facts, context, "1 trial");
        assert_eq!(told(&Context::default()), "mixed phase · only engine differs · 1 trial");
        let brings = vec![("engine".to_owned(), "terms that cannot be made equal".to_owned())];
        let told = told(&Context { brings, ..Context::default() });
        assert_eq!(told, "mixed phase · engine differs, and terms that cannot be made equal · 1 trial");
    }
}
