//! `lsmbench gallery` updates the gallery in the README. The gallery shows a question, a chart and a verdict for each
//! of its experiments.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use experiment::{Experiment, Overrides};
use results::Folder;
use results::targets::{check_file, check_folder};
use run::interrupt;
use types::{Outcome, Problem};
use verdict::{keep, screen, sentences};

use super::report::{files_below, missing_run};
use crate::charts::charts;
use crate::cli::GalleryArguments;
use crate::output::print;

/// The line of a Markdown page that marks the beginning of the gallery.
const BEGIN: &str = "<!-- gallery -->\n";
/// The text of a Markdown page that marks the end of the gallery.
const END: &str = "<!-- end of the gallery -->";

/// Runs the experiments whose results are missing, draws the charts, and writes the gallery into its Markdown page.
/// After an interrupt by the user, the function stops and changes no page.
pub(crate) fn gallery(arguments: &GalleryArguments) -> Outcome<()> {
    rewritten(&arguments.page, "")?;
    [&arguments.page, &aside(&arguments.page)].into_iter().try_for_each(|path| check_file(path))?;
    check_folder(&arguments.out)?;
    let files = files(&arguments.paths)?;
    if files.is_empty() {
        return Err(Problem::new(
            "no experiment was found; name experiment files, or folders that contain experiment files",
        ));
    }
    let load = |path: &PathBuf| Experiment::load(path, &Overrides::default());
    let experiments = files.iter().map(load).collect::<Outcome<Vec<_>>>()?;
    experiments.iter().try_for_each(|experiment| check_file(&chart_file(experiment, arguments)))?;
    let mut shown = String::new();
    for (path, experiment) in files.iter().zip(&experiments) {
        if let Some(why) =
            missing_run(path, experiment, &arguments.results, arguments.allow_debug, &Overrides::default())?
        {
            return Err(Problem::new(format!("{}: not run: {why}", experiment.name)));
        }
        if interrupt::is_requested() {
            return Ok(());
        }
        shown += &show(experiment, arguments)?;
        if let Some(below) = &arguments.keep {
            keep(&arguments.results.join(&experiment.name), below)?;
        }
    }
    // Reads the page only now, because its text outside the gallery may have changed during the runs.
    let text = rewritten(&arguments.page, &shown)?;
    let write = |error| Problem::doing(format!("write {}", arguments.page.display()), error);
    check_file(&arguments.page)?;
    let aside = aside(&arguments.page);
    std::fs::write(&aside, text).and_then(|()| std::fs::rename(&aside, &arguments.page)).map_err(write)?;
    print(&format!("Updated: {}\n", arguments.page.display()))
}

/// Returns the text of the page `page`, in which `shown` replaces the text of the gallery.
fn rewritten(page: &Path, shown: &str) -> Outcome<String> {
    let read = |error| Problem::doing(format!("read {}", page.display()), error);
    let text = std::fs::read_to_string(page).map_err(read)?;
    let (before, after) = place(&text).map_err(|message| Problem::at(page, None, message))?;
    Ok(format!("{before}{BEGIN}{shown}{END}{after}"))
}

/// Returns the experiment files in the order of the paths. A folder stands for all its experiment files, sorted by
/// name.
fn files(paths: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(if path.is_dir() { files_below(path)? } else { vec![path.clone()] });
    }
    Ok(files)
}

/// Draws the first chart of an experiment, and returns the section of the gallery about this experiment.
fn show(experiment: &Experiment, arguments: &GalleryArguments) -> Outcome<String> {
    let folder = Folder::new(arguments.results.join(&experiment.name));
    let table = results::Table::read(&folder.runs())?;
    let manifest = results::Manifest::read(&folder.manifest())?;
    let first = experiment.charts.get(..1).unwrap_or_default();
    let charts = charts().charts(&folder, &table, first, &manifest, plot::Width::Full)?;
    let (spec, chart) =
        charts.first().ok_or_else(|| Problem::new(format!("{} has no chart", experiment.name)))?;
    let cannot = |error| Problem::doing(format!("write into {}", arguments.out.display()), error);
    let path = chart_file(experiment, arguments);
    check_file(&path)?;
    std::fs::create_dir_all(&arguments.out).map_err(cannot)?;
    std::fs::write(&path, chart.svg()).map_err(cannot)?;
    let mut text = if arguments.tables {
        let screen = screen(&experiment.facts(), &folder)?;
        format!("```text\n{}: {}\n{screen}```", experiment.name, experiment.question)
    } else {
        let verdicts = sentences(&experiment.facts(), &folder)?;
        format!("**{}** {}", experiment.question, verdicts.join(" "))
    };
    let link = link(&arguments.page, &path)?;
    let title = spec.title.as_deref().unwrap_or(&experiment.question);
    let _ = writeln!(text, "\n\n![{title}]({link})\n");
    Ok(text)
}

/// Returns the path of the chart of an experiment.
fn chart_file(experiment: &Experiment, arguments: &GalleryArguments) -> PathBuf {
    arguments.out.join(format!("{}.svg", experiment.name))
}

/// Returns the path of the temporary file that replaces the page with the gallery.
fn aside(page: &Path) -> PathBuf {
    page.with_extension("md.new")
}

/// Returns the link from a page to an existing file, relative to the folder of the page. The function resolves
/// symbolic links.
fn link(page: &Path, file: &Path) -> Outcome<String> {
    let cannot = |path: &Path, error| Problem::doing(format!("find {}", path.display()), error);
    let whole = |path: &Path| path.canonicalize().map_err(|error| cannot(path, error));
    let (page, file) = (whole(page)?, whole(file)?);
    let from: Vec<Component<'_>> = page.parent().unwrap_or(Path::new("/")).components().collect();
    let to: Vec<Component<'_>> = file.components().collect();
    let common = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - common);
    let down = to[common..].iter().map(|part| destination(&part.as_os_str().to_string_lossy()));
    Ok(up.chain(down).collect::<Vec<_>>().join("/"))
}

/// Encodes a part of a path for the target of a link. Special characters are percent-encoded.
fn destination(part: &str) -> String {
    let mut text = String::new();
    for c in part.chars() {
        match c {
            ' ' | '%' | '(' | ')' | '<' | '>' | '?' | '#' | '\\' => {
                let _ = write!(text, "%{:02X}", c as u32);
            }
            c => text.push(c),
        }
    }
    text
}

/// Splits a page into the text before the gallery and the text after the gallery.
fn place(page: &str) -> Result<(&str, &str), String> {
    let missing = || {
        format!(
            "the page does not contain the markers of the gallery; add the lines `{begin}` and `{END}`",
            begin = BEGIN.trim()
        )
    };
    let (before, rest) = page.split_once(BEGIN).ok_or_else(missing)?;
    let (_, after) = rest.split_once(END).ok_or_else(missing)?;
    Ok((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_where_its_gallery_stands() {
        let page = format!("a\n{BEGIN}old\n{END}\nb");
        assert_eq!(place(&page), Ok(("a\n", "\nb")));
        assert!(place("a").unwrap_err().contains("<!-- gallery -->"));
        assert!(place(BEGIN).is_err());
    }

    #[test]
    fn a_page_finds_its_charts_wherever_both_lie() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for file in ["README.md", "docs/page.md", "plots/gallery/a.svg", "plots/of (b)/#1.svg"] {
            std::fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            std::fs::write(at(file), "").unwrap();
        }
        let linked = |page, chart| link(&at(page), &at(chart)).unwrap();
        assert_eq!(linked("README.md", "plots/gallery/a.svg"), "plots/gallery/a.svg");
        assert_eq!(linked("docs/page.md", "plots/gallery/a.svg"), "../plots/gallery/a.svg");
        assert_eq!(linked("docs/page.md", "docs/../plots/gallery/a.svg"), "../plots/gallery/a.svg");
        assert_eq!(linked("README.md", "plots/of (b)/#1.svg"), "plots/of%20%28b%29/%231.svg");
        assert!(link(&at("README.md"), &at("plots/none.svg")).is_err());
    }
}
