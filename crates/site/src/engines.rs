//! The pages that compare engines: the machines with a summary, and the tables of each machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use page::escape;
use results::columns as c;
use types::Outcome;
use verdict::EngineTables;

use crate::evidence::{Evidence, quoted};
use crate::file::SiteFile;
use crate::frame::framed;
use crate::kept::Kept;
use crate::machine::Machine;
use crate::markdown::Markdown;
use crate::sources::SiteSources;

/// The address of the page with all machines.
const PATH: &str = "engines.html";

/// Returns the page that lists all machines, and the page with the engine tables of each machine.
pub(crate) fn pages(sources: &SiteSources<'_>, kept: &Kept) -> Outcome<Vec<SiteFile>> {
    let mut body = format!(
        "<header>\n<h1>Engines compared</h1>\n<p class=\"facts\">{}. Anyone can contribute the results of a machine \
         (<a href=\"docs/how-to/publish-results.html\">how to publish results</a>).</p>\n</header>\n",
        match kept.machines.len() {
            1 => "Results of 1 machine".to_owned(),
            count => format!("Results of {count} machines"),
        }
    );
    for machine in &kept.machines {
        let _ = write!(
            body,
            "<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"facts\">{}</p>\n{}\
             <p class=\"doors\"><a href=\"{}\">Tables of all phases</a> <a href=\"{}\">Explore with any baseline</a></p>\n</section>\n",
            escape(&machine.name),
            escape(&machine.title()),
            escape(&machine.facts()),
            summary(sources.baseline, kept, machine),
            escape(&machine.tables()),
            escape(&machine.explore()),
        );
    }
    let mut files = vec![framed(PATH, PATH, "Engines compared", &body)];
    for machine in &kept.machines {
        files.push(tables(sources, machine)?);
    }
    Ok(files)
}

/// Returns the summary table of a machine: the range of the speedups over each engine in each experiment.
pub(crate) fn summary(baseline: &str, kept: &Kept, machine: &Machine) -> String {
    let explore = machine.explore();
    let is_own = |evidence: &&Evidence| {
        evidence.page.starts_with(&format!("{explore}#"))
            && evidence.compared.column == c::OPS_PER_SECOND.name
            && engine_of(&evidence.compared.baseline) == baseline
    };
    let mut engines: Vec<String> = Vec::new();
    let mut ranges: BTreeMap<(String, &str), (f64, f64)> = BTreeMap::new();
    for evidence in kept.evidence.iter().filter(is_own) {
        let Some(ratio) = evidence.compared.ratio.filter(|ratio| *ratio > 0.0) else { continue };
        let engine = engine_of(&evidence.compared.candidate).to_owned();
        if !engines.contains(&engine) {
            engines.push(engine.clone());
        }
        let range = ranges.entry((engine, evidence.experiment.as_str())).or_insert((f64::INFINITY, 0.0));
        *range = (range.0.min(1.0 / ratio), range.1.max(1.0 / ratio));
    }
    let experiments: Vec<&str> = machine.manifests.iter().map(|of| of.experiment.as_str()).collect();
    let mut text = format!(
        "<div class=\"scroll\"><table class=\"summary\">\n<caption>Smallest and largest speedup of {} over each engine, over all \
         phases of an experiment</caption>\n<thead><tr><th scope=\"col\">engine</th>",
        escape(&quoted(baseline))
    );
    for experiment in &experiments {
        let _ = write!(
            text,
            "<th scope=\"col\"><a href=\"{}#run={}\">{}</a></th>",
            escape(&explore),
            escape(experiment),
            escape(experiment)
        );
    }
    text += "</tr></thead>\n<tbody>\n";
    for engine in engines {
        let _ = write!(
            text,
            "<tr><th scope=\"row\"><a href=\"verdicts.html#words={}\">{}</a></th>",
            escape(&engine),
            escape(&engine)
        );
        for experiment in &experiments {
            let range = ranges.get(&(engine.clone(), *experiment));
            let (class, range) = range.map_or_else(Default::default, |(low, high)| {
                let class = if *low >= 1.0 { "improved" } else { "mixed" };
                (class, format!("{} to {}", factor(*low), factor(*high)))
            });
            let _ = write!(text, "<td class=\"number {class}\">{range}</td>");
        }
        text += "</tr>\n";
    }
    text + "</tbody>\n</table></div>\n"
}

/// Returns the name of the engine in a label such as `rocksdb + bytes=8`.
fn engine_of(label: &str) -> &str {
    label.split(" + ").next().unwrap_or(label)
}

/// Formats a speedup with two or three digits, such as `0.95`, `1.5` or `16.1`.
fn factor(factor: f64) -> String {
    if factor < 2.0 { format!("{factor:.2}") } else { format!("{factor:.1}") }
}

/// Returns the page with the engine tables of all experiments of a machine.
fn tables(sources: &SiteSources<'_>, machine: &Machine) -> Outcome<SiteFile> {
    let path = machine.tables();
    let mut text = String::new();
    for (folder, manifest) in machine.folders.iter().zip(&machine.manifests) {
        let tables = EngineTables::read(folder, sources.baseline)?;
        let _ = write!(
            text,
            "## {}\n\n{}\n\n{}\n",
            tables.name(),
            manifest.question,
            tables.markdown(&sources.targets)
        );
    }
    let warnings = machine
        .warnings()
        .iter()
        .fold(String::new(), |text, warning| text + "<li>" + &escape(warning) + "</li>\n");
    let warnings = match warnings.is_empty() {
        true => warnings,
        false => format!(
            "<details class=\"notes\"><summary>Notes about the machine</summary>\n<ul>\n{warnings}</ul>\n</details>\n"
        ),
    };
    let body = format!(
        "<header>\n<h1>{}</h1>\n<p class=\"facts\">{}</p>\n</header>\n{warnings}\
         <p class=\"doors\"><a href=\"../{}\">Explore with any baseline</a></p>\n<div class=\"document\">\n{}</div>\n",
        escape(&machine.title()),
        escape(&machine.facts()),
        escape(&machine.explore()),
        Markdown::of(&text, &|_| None).html,
    );
    Ok(framed(&path, PATH, &machine.title(), &body))
}
