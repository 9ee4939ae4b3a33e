//! Finishes a run whose rows are complete: computes the verdicts, draws the charts and writes a page.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use experiment::{Experiment, absences, catalog_order};
use page::Page;
use plot::RATIO_SUFFIX;
use results::targets::create_folder;
use results::{Folder, Interleaving, Look, Manifest, Table};
use types::Outcome;
use verdict::{Charts, ExperimentFacts, TrialRows, Verdicts, slices_note, wrapped};

use super::console::Console;
use super::ending::Ending;
use super::summary::append;

/// The largest number of CPU profile comparisons that a run prints. The page of the results shows all of them.
const MOST_PROFILES: usize = 4;

/// The inputs of the last step of a run, which computes the verdicts and draws the charts.
pub(super) struct Conclusion<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) facts: &'a ExperimentFacts<'a>,
    /// The folder with the results of the run.
    pub(super) folder: &'a Folder,
    /// The folder to which the charts of this experiment are written.
    pub(super) plots: PathBuf,
    /// Whether to write a page of the results next to the charts.
    pub(super) has_page: bool,
    /// The file to which the verdicts are appended as Markdown. `None` if there is no such file.
    pub(super) markdown: Option<&'a Path>,
    pub(super) console: Console,
}

impl<'a> Conclusion<'a> {
    /// Computes the verdicts from the rows that the run has written so far. `looks` contains the earlier evaluations of
    /// the verdicts during the run, because repeated evaluations make the confidence intervals wider.
    pub(super) fn verdicts(&self, looks: &[Look]) -> Outcome<Verdicts<'a>> {
        Verdicts::of(
            self.facts,
            &Table::read(&self.folder.runs())?,
            &Table::read(&self.folder.noise())?,
            looks,
        )
    }

    /// Ends the run: draws the charts, writes the page, and prints the verdicts. `machines` contains sentences about
    /// the machines of the run, which are also printed. Returns how the run ended.
    pub(super) fn conclude(
        &self,
        manifest: &Manifest,
        verdicts: &Verdicts<'_>,
        machines: &[String],
    ) -> Outcome<Ending> {
        let folder = self.folder;
        let table = Table::read(&folder.runs())?;
        // The file must exist before the charts are drawn, because they show the verdicts.
        results::verdicts::write(&folder.verdicts(), &verdicts.rows())?;
        let style = self.experiment.style.clone();
        let charts = Charts { order: catalog_order(), style, tell: self.console.line };
        let mut charts = charts.draw_all(folder, &table, &self.experiment.charts, manifest, &self.plots)?;
        if self.has_page {
            create_folder(&self.plots)?;
            let path = self.plots.join(page::FILE_NAME);
            Page::of(&[folder.root().to_owned()])?.write(&path)?;
            charts.push(path);
        }
        let Experiment { name, question, .. } = self.experiment;
        let mut text = format!("\n{name}: {question}\n{}", verdicts.text(manifest.quick));
        if self.experiment.trials.interleaving() != Interleaving::Rounds {
            let note = slices_note(self.facts, &Table::read(&folder.slices())?);
            text.extend(note.map(|note| wrapped("  ", "    ", &note)));
        }
        for graph in manifest.flame_graphs.iter().take(MOST_PROFILES) {
            text += &wrapped("Profile: ", "         ", &graph.summary);
        }
        if !manifest.cpu_profiles.is_empty() && manifest.flame_graphs.is_empty() {
            let none = "No CPU profiles are compared, because no verdict about times is decided.";
            text += &wrapped("Profile: ", "         ", none);
        }
        let rule = self.experiment.gate.as_ref();
        let gated = rule.map(|rule| verdicts.gated(rule));
        text.extend(gated.as_ref().map(|gated| gated.text() + "\n"));
        if let Some(file) = self.markdown {
            append(file, &verdicts.markdown(rule))?;
        }
        for sentence in machines {
            text += &wrapped("Machines: ", "          ", sentence);
        }
        let _ = writeln!(
            text,
            "Results: {}",
            in_folder(folder.root(), &[folder.runs(), folder.verdicts(), folder.manifest()])
        );
        let profiles = manifest.cpu_profiles.iter().map(|profile| &profile.file);
        let profiles: Vec<PathBuf> = manifest
            .flame_graphs
            .iter()
            .map(|graph| &graph.file)
            .chain(profiles)
            .map(PathBuf::from)
            .collect();
        if !profiles.is_empty() {
            let _ = writeln!(text, "Profiles: {}", in_folder(&folder.profiles(), &profiles));
        }
        if !charts.is_empty() {
            let start = format!("Charts:  {}/  (", self.plots.display());
            text += &wrapped(&start, "         ", &(chart_names(&charts).join(", ") + ")"));
        }
        let absent = absences(&self.experiment.left_out);
        if !absent.is_empty() {
            let names: Vec<&str> = absent.iter().map(|absence| &*absence.engine).collect();
            let names = names.join(", ");
            let _ = writeln!(
                text,
                "Skipped: {names} (not installed; see the messages at the start of the run, or docs/how-to/compare-engines.md)"
            );
        }
        (self.console.print)(&text)?;
        let again = TrialRows::of(&Table::read(&folder.noise())?).wrong_cells();
        let is_right = TrialRows::of(&table).wrong_cells().is_empty() && again.is_empty();
        Ok(match gated {
            _ if !is_right => Ending::WrongAnswers,
            Some(gated) if !gated.passes() => Ending::Regressed,
            _ => Ending::Done,
        })
    }
}

/// Formats the path of a folder and the names of its files on one line, such as `results/x/ (runs.csv, manifest.json)`.
fn in_folder(folder: &Path, files: &[PathBuf]) -> String {
    format!("{}/  ({})", folder.display(), names(files).join(", "))
}

/// Returns the names of files without their folders.
fn names(files: &[PathBuf]) -> Vec<String> {
    let names = files.iter().filter_map(|file| file.file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Returns the names of charts. A chart and the chart of its ratios have one name, such as `throughput{,-ratio}.png`,
/// which a shell expands to both.
fn chart_names(files: &[PathBuf]) -> Vec<String> {
    let mut charts: Vec<String> = Vec::new();
    for name in names(files) {
        let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
        let chart = stem.strip_suffix(RATIO_SUFFIX);
        match charts.last_mut().zip(chart).filter(|(last, chart)| **last == format!("{chart}.{ending}")) {
            Some((last, chart)) => *last = format!("{chart}{{,{RATIO_SUFFIX}}}.{ending}"),
            None => charts.push(name),
        }
    }
    charts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_and_its_ratios_have_one_name() {
        let files = ["a.png", "a-ratio.png", "b-ratio.png", "page.html"].map(PathBuf::from);
        assert_eq!(chart_names(&files), ["a{,-ratio}.png", "b-ratio.png", "page.html"]);
    }
}
