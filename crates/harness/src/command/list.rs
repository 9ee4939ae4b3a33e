//! `lsmbench list`: what there is to choose from.

use std::fmt::Write as _;

use catalog::{Axis, VariantInfo, suggestion};
use serde_json::json;
use types::{Outcome, Problem};

use crate::cli::ListArguments;
use crate::output::print;
use crate::workbench::AXES;

/// Prints the variants of one axis or of all.
pub(crate) fn list(arguments: &ListArguments) -> Outcome<()> {
    if arguments.columns {
        return print(&results::reference::markdown());
    }
    let axes = match &arguments.axis {
        None => AXES.iter().map(|(_, axis)| *axis).collect(),
        Some(name) => vec![axis(name)?],
    };
    let text = match (arguments.json, arguments.markdown) {
        (true, _) => as_json(&axes),
        (_, true) => as_markdown(&axes),
        _ => as_text(&axes, arguments.axis.is_some()),
    };
    print(&text)
}

/// The axis of this name.
fn axis(name: &str) -> Outcome<&'static dyn Axis> {
    let found = AXES.iter().find(|(axis, _)| *axis == name).map(|(_, axis)| *axis);
    found.ok_or_else(|| {
        let names: Vec<&str> = AXES.iter().map(|(axis, _)| *axis).collect();
        let hint = suggestion(name, names.iter().copied());
        Problem::new(format!("there is no axis \"{name}\"; {hint}there are {}", names.join(", ")))
    })
}

fn as_text(axes: &[&dyn Axis], with_reference: bool) -> String {
    let mut text = String::new();
    for axis in axes {
        let _ = writeln!(text, "{}: {}", axis.name(), axis.summary());
        let variants = axis.variants();
        let width = variants.iter().map(|variant| variant.kind.len()).max().unwrap_or(0);
        for variant in &variants {
            let _ = writeln!(text, "  {:<width$}  {}{}", variant.kind, variant.summary, remarks(variant));
            if with_reference {
                variant.reference.lines().for_each(|line| {
                    let _ = writeln!(text, "  {:width$}    {line}", "");
                });
            }
        }
        text.push('\n');
    }
    text
}

/// What sets a variant apart, in brackets.
fn remarks(variant: &VariantInfo) -> String {
    let oracle = variant.oracle.then(|| "oracle".to_owned());
    let remarks: Vec<String> =
        oracle.into_iter().chain(variant.limits.iter().map(ToString::to_string)).collect();
    if remarks.is_empty() { String::new() } else { format!(" [{}]", remarks.join("; ")) }
}

fn as_json(axes: &[&dyn Axis]) -> String {
    let variant = |variant: &VariantInfo| {
        json!({
            "kind": variant.kind,
            "summary": variant.summary,
            "parameters": variant.defaults,
            "oracle": variant.oracle,
            "crate": variant.origin.to_string(),
            "limits": variant.limits.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    };
    let axes: Vec<_> = axes
        .iter()
        .map(|axis| {
            let variants: Vec<_> = axis.variants().iter().map(variant).collect();
            json!({ "axis": axis.name(), "summary": axis.summary(), "variants": variants })
        })
        .collect();
    format!("{:#}\n", json!(axes))
}

fn as_markdown(axes: &[&dyn Axis]) -> String {
    let mut text = String::from(
        "# Variants\n\nWhat there is to choose from on each axis, in catalog order, as \
         `lsmbench list --markdown` prints it.\n",
    );
    for axis in axes {
        let _ = writeln!(text, "\n## {}\n\n{}.\n", axis.name(), capitalised(axis.summary()));
        text.push_str("| variant | what it is | parameters |\n| --- | --- | --- |\n");
        for variant in axis.variants() {
            let parameters: Vec<String> =
                variant.defaults.iter().map(|(key, value)| format!("`{key} = {value}`")).collect();
            let _ = writeln!(
                text,
                "| `{}` | {}{} | {} |",
                variant.kind,
                variant.summary,
                remarks(&variant),
                parameters.join("<br>")
            );
        }
    }
    text
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}
