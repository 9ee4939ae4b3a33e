//! `lsmbench gallery`: the questions of the README, each with a chart and what came out.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use results::Folder;

use super::report::{files_below, missing_run};
use crate::charts;
use crate::cli::GalleryArguments;
use crate::experiment::{Experiment, Overrides};
use crate::interrupt;
use crate::output::print;
use crate::problem::{Outcome, Problem};
use crate::run::{refuse_link, sentences};

/// Where the gallery begins and ends on its page.
const BEGIN: &str = "<!-- gallery -->\n";
const END: &str = "<!-- end of the gallery -->";

/// Runs what is missing, draws the charts, and writes what came out where the page has a place for it.
pub(crate) fn gallery(arguments: &GalleryArguments) -> Outcome<bool> {
    rewritten(&arguments.page, "")?;
    let cannot = |error| Problem::doing(format!("write into {}", arguments.out.display()), error);
    std::fs::create_dir_all(&arguments.out).map_err(cannot)?;
    let files = files(&arguments.paths)?;
    if files.is_empty() {
        return Err(Problem::new("there is no experiment to show; name files, or a folder that has some"));
    }
    let mut shown = String::new();
    for path in files {
        let experiment = Experiment::load(&path, &Overrides::default())?;
        if let Some(why) =
            missing_run(&path, &experiment, &arguments.results, arguments.allow_debug, &Overrides::default())?
        {
            return Err(Problem::new(format!("{}: not run: {why}", experiment.name)));
        }
        if interrupt::is_requested() {
            return Ok(true);
        }
        shown += &show(&experiment, arguments)?;
    }
    // The page may have been changed meanwhile, but for its gallery.
    let text = rewritten(&arguments.page, &shown)?;
    let write = |error| Problem::doing(format!("write {}", arguments.page.display()), error);
    refuse_link(&arguments.page)?;
    let aside = arguments.page.with_extension("md.new");
    std::fs::write(&aside, text).and_then(|()| std::fs::rename(&aside, &arguments.page)).map_err(write)?;
    print(&format!("gallery  {}\n", arguments.page.display()))?;
    Ok(true)
}

/// The text of a page with another gallery.
fn rewritten(page: &Path, shown: &str) -> Outcome<String> {
    let read = |error| Problem::doing(format!("read {}", page.display()), error);
    let text = std::fs::read_to_string(page).map_err(read)?;
    let (before, after) = place(&text).map_err(|message| Problem::at(page, None, message))?;
    Ok(format!("{before}{BEGIN}{shown}{END}{after}"))
}

/// The files in the order given; of a folder by name.
fn files(paths: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(if path.is_dir() { files_below(path)? } else { vec![path.clone()] });
    }
    Ok(files)
}

/// Draws the first chart of an experiment, and says what came out.
fn show(experiment: &Experiment, arguments: &GalleryArguments) -> Outcome<String> {
    let folder = Folder::new(arguments.results.join(&experiment.name));
    let table = results::Table::read(&folder.runs())?;
    let manifest = results::Manifest::read(&folder.manifest())?;
    let first = experiment.charts.get(..1).unwrap_or_default();
    let charts = charts::charts(&folder, &table, first, &manifest, plot::Width::Full)?;
    let (spec, chart) =
        charts.first().ok_or_else(|| Problem::new(format!("{} has no chart to show", experiment.name)))?;
    let cannot = |error| Problem::doing(format!("write into {}", arguments.out.display()), error);
    let path = arguments.out.join(format!("{}.svg", experiment.name));
    refuse_link(&path)?;
    std::fs::write(&path, chart.svg()).map_err(cannot)?;
    let mut text = format!("**{}** ", experiment.question);
    text.push_str(&sentences(experiment, &folder)?.join(" "));
    let from = arguments.page.parent().unwrap_or(Path::new(""));
    let link = path.strip_prefix(from).unwrap_or(&path).display().to_string();
    let title = spec.title.as_deref().unwrap_or(&experiment.question);
    let _ = writeln!(text, "\n\n![{title}]({link})\n");
    Ok(text)
}

/// What stands before and behind the gallery on its page.
fn place(page: &str) -> Result<(&str, &str), String> {
    let missing = || format!("it has no place for the gallery, from `{}` to `{END}`", BEGIN.trim());
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
}
