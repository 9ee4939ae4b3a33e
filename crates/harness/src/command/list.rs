//! `lsmbench list` prints all catalogs, the variants of one catalog, or the columns of results. The command also
//! writes the reference pages.

mod catalogs;
mod command_line;
mod markdown;
mod pages;
mod parameters;
mod schema;

use std::fmt::Write as _;
use std::path::Path;

use catalog::alternatives;
use serde_json::json;
use types::{Outcome, Problem};

use crate::cli::ListArguments;
use crate::output::print;
use catalogs::{Group, Listed, ListedVariant, catalogs};

/// Prints all catalogs, the variants of one catalog, or a page of the reference.
pub(crate) fn list(arguments: &ListArguments) -> Outcome<()> {
    if let Some(folder) = &arguments.reference {
        return write_pages(folder);
    }
    if arguments.columns {
        return print(&results::reference::markdown());
    }
    let all = catalogs();
    let one = arguments.name.as_ref().map(|name| find(&all, name)).transpose()?;
    let chosen: Vec<&Listed> = one.map_or_else(|| all.iter().collect(), |listed| vec![listed]);
    let text = match (arguments.json, one) {
        (true, _) => as_json(&chosen),
        _ if arguments.markdown => pages::variants(&chosen),
        (_, Some(listed)) => variants_as_text(listed),
        _ => overview(&chosen),
    };
    print(&text)
}

/// Writes all pages of the reference into a folder. Creates the folder if it does not exist.
fn write_pages(folder: &Path) -> Outcome<()> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Problem::doing(format!("create {}", folder.display()), error))?;
    for (name, text) in pages::all() {
        let path = folder.join(name);
        std::fs::write(&path, text)
            .map_err(|error| Problem::doing(format!("write {}", path.display()), error))?;
    }
    Ok(())
}

/// Returns the catalog with the name `name`.
fn find<'a>(all: &'a [Listed], name: &str) -> Outcome<&'a Listed> {
    all.iter().find(|listed| listed.name == name).ok_or_else(|| {
        let end = alternatives(name, all.iter().map(|listed| listed.name));
        Problem::new(format!("unknown catalog \"{name}\"{end}"))
    })
}

/// Returns an overview of all catalogs, with one line for each catalog.
fn overview(all: &[&Listed]) -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let _ = writeln!(text, "{}", group.title());
        for listed in all.iter().filter(|listed| listed.group == group) {
            let _ = writeln!(text, "  {}: {} ({})", listed.name, listed.summary, listed.variants.len());
        }
        text.push('\n');
    }
    text + "Run `lsmbench list NAME` for the variants of a catalog with their parameters.\n"
}

/// Returns the variants of a catalog. Each variant has its parameters as TOML with comments.
fn variants_as_text(listed: &Listed) -> String {
    let mut text = format!("{}: {}\n", listed.name, listed.summary);
    let width = listed.variants.iter().map(|variant| variant.kind.len()).max().unwrap_or(0);
    for variant in &listed.variants {
        let _ = writeln!(text, "  {:<width$}  {}{}", variant.kind, variant.summary, variant.remarks());
        for line in variant.reference.lines() {
            let _ = writeln!(text, "  {:width$}    {line}", "");
        }
    }
    text
}

fn as_json(all: &[&Listed]) -> String {
    let variant = |variant: &ListedVariant| {
        json!({
            "kind": variant.kind,
            "summary": variant.summary,
            "parameters": variant.defaults,
            "oracle": variant.oracle,
            "crate": variant.origin,
            "limits": variant.limits.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    };
    let catalog = |listed: &&Listed| {
        let variants: Vec<_> = listed.variants.iter().map(variant).collect();
        json!({ "axis": listed.axis, "summary": listed.summary, "variants": variants })
    };
    format!("{:#}\n", json!(all.iter().map(catalog).collect::<Vec<_>>()))
}
