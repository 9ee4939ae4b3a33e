//! The HTML of a page: the content that needs no script, the data, the script and the style.

use std::fmt::Write as _;

use results::{Better, Unit};
use serde::Serialize;

use crate::data::{PageData, RunData};
use crate::escape::escape;
use crate::history::HistoryData;
use crate::rows::{TableRow, better, rows, unit};
use crate::script::{Contents, script};

/// The style sheet of all pages.
pub(crate) const STYLE: &str = include_str!("assets/style.css");

/// The maximum number of rows of a table in the HTML. The script shows all rows.
const MOST_ROWS: usize = 400;

/// The maximum number of sentences about verdicts that the page shows at first. The others are folded.
const MOST_CONCLUSIONS: usize = 8;

/// The parts of a page that come from a site: the links between pages, the shared style sheet and the shared script.
#[derive(Clone, Debug, Default)]
pub struct SiteFrame {
    /// The HTML before the content, which links to other pages.
    pub navigation: String,
    /// The HTML in the head that loads the style sheet of the site.
    pub head: String,
    /// The address of the file that contains [`page_script`](crate::page_script).
    pub script: String,
}

/// Returns the complete HTML of a page. On a site, `frame` contains the links to the shared style sheet and script.
pub(crate) fn page(data: &PageData, history: Option<&HistoryData>, frame: Option<&SiteFrame>) -> String {
    let title = match (&data.runs[..], history) {
        ([], _) => "History".to_owned(),
        ([run], None) => run.name.clone(),
        (runs, _) => format!("{} experiments", runs.len()),
    };
    let mut body = String::new();
    for (number, run) in data.runs.iter().enumerate() {
        body += &section(run, number);
    }
    body += &history.map_or_else(String::new, HistoryData::html);
    let contents = Contents { has_runs: !data.runs.is_empty(), has_history: history.is_some() };
    let mut json = String::new();
    if contents.has_runs {
        json += &embedded("data", data);
    }
    if let Some(history) = history {
        json += &embedded("history", history);
    }
    let (style, navigation, script) = match frame {
        None => {
            (format!("<style>\n{STYLE}</style>\n"), "", format!("<script>\n{}</script>\n", script(contents)))
        }
        Some(frame) => (
            frame.head.clone(),
            frame.navigation.as_str(),
            format!("<script src=\"{}\"></script>\n", escape(&frame.script)),
        ),
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{} · lsmbench</title>\n{style}</head>\n<body>\n{navigation}<main>\n{body}</main>\n\
         {json}{script}</body>\n</html>\n",
        escape(&title),
    )
}

/// Embeds data in the page as JSON, in a script element that browsers do not execute.
fn embedded(id: &str, data: &impl Serialize) -> String {
    let json = serde_json::to_string(data).unwrap_or_default();
    let json = json.replace("</", "<\\/").replace("<!--", "<\\u0021--");
    format!("<script type=\"application/json\" id=\"{id}\">{json}</script>\n")
}

/// Renders a run as a part of the page that browsers show without scripts.
fn section(run: &RunData, number: usize) -> String {
    let mut text = format!(
        "<article class=\"run\" id=\"run-{number}\">\n<header>\n<h1>{}</h1>\n<p class=\"question\">{}</p>\n\
         <p class=\"facts\">{}</p>\n</header>\n",
        escape(&run.name),
        escape(&run.question),
        escape(&facts(run)),
    );
    text += "<section class=\"verdicts\" aria-label=\"Verdicts\">\n<h2>Verdicts</h2>\n";
    text += &conclusions(run);
    text += &flame_graphs(run);
    text += "</section>\n";
    text += &warnings(run);
    text += "<div class=\"live\"></div>\n";
    text += &table(run);
    text += &mismatches(run);
    text + "</article>\n"
}

/// Describes a run in a line, such as `timed, 6 trials of 3 configurations, seed 42; AMD EPYC, 4 cores; lsmbench 0.1.0
/// (1a2b3c4), 2026-01-01`.
fn facts(run: &RunData) -> String {
    let manifest = &run.manifest;
    let mode = if run.is_counted { "counted (exact)" } else { "timed" };
    let trials = if run.trials == 1 { "1 trial" } else { &format!("{} trials", run.trials) };
    let cpu = manifest.machine.cpu.as_deref().unwrap_or("unknown CPU");
    let cores = manifest.machine.cores.map_or_else(String::new, |cores| format!(", {cores} cores"));
    let commit = manifest
        .build
        .git_commit
        .as_deref()
        .map_or_else(String::new, |commit| format!(" ({})", commit.chars().take(9).collect::<String>()));
    let day = run.started.split('T').next().unwrap_or_default();
    format!(
        "{mode} · {trials} of {} configurations · seed {} · {cpu}{cores} · lsmbench {}{commit} · {day}",
        run.cells.len(),
        manifest.seed,
        manifest.build.version,
    )
}

fn conclusions(run: &RunData) -> String {
    let item = |sentence: &String| format!("<li>{}</li>\n", escape(&capital(sentence)));
    let items: Vec<String> = run.conclusions.iter().map(item).collect();
    match items.len() {
        0 if run.cells.len() > 1 => {
            "<p>The results contain no sentence about a verdict. Compare the configurations in the table.</p>\n"
                .to_owned()
        }
        0 => "<p>No verdict, because the run has only one configuration.</p>\n".to_owned(),
        count if count > MOST_CONCLUSIONS => {
            let (shown, others) = items.split_at(MOST_CONCLUSIONS);
            format!(
                "<ul>\n{}</ul>\n<details><summary>{} more verdicts</summary>\n<ul>\n{}</ul>\n</details>\n",
                shown.concat(),
                others.len(),
                others.concat()
            )
        }
        _ => format!("<ul>\n{}</ul>\n", items.concat()),
    }
}

/// Renders the flame graphs, each in a collapsed section. A sandboxed frame contains each graph, so a graph cannot run
/// scripts.
fn flame_graphs(run: &RunData) -> String {
    let folded = run.flame_graphs.iter().map(|graph| {
        format!(
            "<details class=\"flame\"><summary>{0}</summary>\n<p>{1}</p>\n<iframe sandbox title=\"{0}\" \
             srcdoc=\"{2}\"></iframe>\n</details>\n",
            escape(&graph.title),
            escape(&graph.summary),
            escape(&graph.svg),
        )
    });
    folded.collect()
}

fn warnings(run: &RunData) -> String {
    let left_out = run.left_out.iter().map(|left| format!("skipped: {}: {}", left.label, left.reason));
    let all: Vec<String> = run.warnings.iter().cloned().chain(left_out).collect();
    if all.is_empty() {
        return String::new();
    }
    let items: Vec<String> = all.iter().map(|warning| format!("<li>{}</li>\n", escape(warning))).collect();
    let items = items.concat();
    let count = if all.len() == 1 {
        "1 note about this run".to_owned()
    } else {
        format!("{} notes about this run", all.len())
    };
    let has_debug_times = !run.is_counted && run.manifest.build.debug_assertions;
    let open = if has_debug_times || all.iter().any(|note| is_disturbance(note)) { " open" } else { "" };
    format!("<details class=\"notes\"{open}><summary>{count}</summary>\n<ul>\n{items}</ul>\n</details>\n")
}

/// Returns whether a note reports a problem that affects all times of a run: a load by other programs, or a debug
/// build. In merged results, the name of the machine precedes the note.
fn is_disturbance(note: &str) -> bool {
    note.split(": ").any(|part| ["load, ", "build, debug"].iter().any(|start| part.starts_with(start)))
}

/// Renders the settings of engines that differ from the design, in a collapsed section.
fn mismatches(run: &RunData) -> String {
    if run.mismatches.is_empty() {
        return String::new();
    }
    let count: usize = run.mismatches.iter().map(|of| of.lines.len()).sum();
    let mut text = format!(
        "<details class=\"notes mismatches\"><summary>Settings that differ, by engine ({count})</summary>\n<ul>\n"
    );
    for of in &run.mismatches {
        let _ = writeln!(text, "<li><strong>{}</strong>\n<ul>", escape(&of.engine));
        for line in &of.lines {
            let _ = writeln!(text, "<li>{}</li>", escape(line));
        }
        text += "</ul>\n</li>\n";
    }
    text + "</ul>\n</details>\n"
}

fn table(run: &RunData) -> String {
    let of = run.first;
    let (Some(metric), Some(phase)) = (run.metrics.get(of.metric), run.phases.get(of.phase)) else {
        return "<p class=\"plain\">No configuration has a value of this metric.</p>\n".to_owned();
    };
    let operation = match run.operations[of.operation].as_str() {
        results::columns::ALL => String::new(),
        operation => format!(" of {operation}"),
    };
    let mut all = rows(run, of);
    for group in all.chunk_by_mut(|one, next| one.heading == next.heading) {
        best_first(group, better(metric));
    }
    let mut text = format!(
        "<div class=\"plain\">\n<table>\n<caption>{}{} in phase {}, {}</caption>\n<thead><tr><th scope=\"col\">configuration</th>\
         <th scope=\"col\">value{}</th><th scope=\"col\">vs baseline</th><th scope=\"col\">95 % CI</th>\
         <th scope=\"col\">trials</th><th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n",
        escape(&capital(metric.title)),
        escape(&operation),
        escape(phase),
        match metric.better.as_str() {
            "neither" => "neither higher nor lower is better".to_owned(),
            better => format!("{better} is better"),
        },
        // Values in any other unit already contain the unit.
        if unit(metric) == Unit::OperationsPerSecond { " (ops/s)" } else { "" },
    );
    let mut heading = "";
    for row in all.iter().take(MOST_ROWS) {
        if row.heading != heading {
            heading = row.heading;
            let _ = writeln!(text, "<tr><th colspan=\"6\" scope=\"colgroup\">{}</th></tr>", escape(heading));
        }
        text += &line(row, run);
    }
    text += "</tbody>\n</table>\n";
    if all.len() > MOST_ROWS {
        let _ = writeln!(
            text,
            "<p>The table shows {MOST_ROWS} of {} rows. To see all rows, enable JavaScript.</p>",
            all.len()
        );
    }
    text + "</div>\n"
}

/// Sorts the table rows of a group by value, best first. Rows without a value are last.
fn best_first(rows: &mut [TableRow<'_>], better: Better) {
    let by_value = |one: &TableRow<'_>, next: &TableRow<'_>| match (one.median, next.median, better) {
        (Some(one), Some(next), Better::Higher) => next.total_cmp(&one),
        (Some(one), Some(next), Better::Lower) => one.total_cmp(&next),
        (one, next, _) => next.is_some().cmp(&one.is_some()),
    };
    rows.sort_by(by_value);
}

fn line(row: &TableRow<'_>, run: &RunData) -> String {
    let metric = &run.metrics[run.first.metric];
    let value = row.median.map_or_else(String::new, |median| plot::format_value(median, unit(metric)));
    let (change, interval) = row.change(metric);
    let change = if row.comparison.is_none() { "(baseline)".to_owned() } else { change };
    let doubt = row.doubt();
    let doubt = if doubt.is_empty() { String::new() } else { format!(": {doubt}") };
    format!(
        "<tr class=\"{}\"><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}{}</td></tr>\n",
        row.verdict_word(),
        escape(row.name),
        escape(&value),
        escape(&change),
        if run.is_counted { "exact".to_owned() } else { escape(&interval) },
        row.trials,
        row.verdict_text(),
        escape(&doubt),
    )
}

/// Returns the text with its first letter in upper case. A text that starts with the path of a setting, such as
/// `design.bloom`, stays unchanged.
fn capital(text: &str) -> String {
    let is_path = |word: &str| {
        // The title `p99.9 service time` is not a path.
        word.contains('.') && word.split('.').all(|part| part.starts_with(char::is_alphabetic))
    };
    if text.split(' ').next().is_some_and(is_path) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
