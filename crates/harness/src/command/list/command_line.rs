//! Generates the reference page of the command line from the definition of the command line.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use super::markdown::{code, table};
use crate::cli::Cli;

/// Returns the page with all commands that are not hidden.
pub(super) fn page() -> String {
    let mut page = String::from(
        "# The command line\n\nThe commands of `lsmbench` with their arguments and options. Every command also takes \
         `--help`. [Exit codes](exit-codes.md) are the same for all commands.\n",
    );
    let mut root = Cli::command().disable_help_subcommand(true).term_width(0);
    root.build();
    add(&mut page, &root);
    page
}

fn add(page: &mut String, command: &Command) {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        let name = inner.get_bin_name().unwrap_or(inner.get_name());
        let about = inner.get_long_about().or(inner.get_about()).map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, "\n## {name}\n\n{}\n\n```text\n{}\n```", sentence(&about), usage(inner));
        let arguments: Vec<&Arg> = inner.get_arguments().filter(|argument| is_shown(argument)).collect();
        if !arguments.is_empty() {
            page.push('\n');
            let rows = arguments.into_iter().map(row);
            table(page, &["Argument", "Default", "Meaning"], rows);
        }
        add(page, inner);
    }
}

/// Returns the usage line of a command, without the word "Usage".
fn usage(command: &Command) -> String {
    let text = command.clone().render_usage().to_string();
    let text = text.strip_prefix("Usage: ").unwrap_or(&text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_shown(argument: &Arg) -> bool {
    !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
}

fn row(argument: &Arg) -> Vec<String> {
    let takes_value = argument.get_action().takes_values();
    let values: Vec<&str> = match takes_value {
        true => {
            argument.get_value_names().unwrap_or_default().iter().map(clap::builder::Str::as_str).collect()
        }
        false => Vec::new(),
    };
    let has_optional_value =
        takes_value && argument.get_num_args().is_some_and(|range| range.min_values() == 0);
    let name = match (argument.get_long(), argument.get_short()) {
        (Some(long), _) if has_optional_value => vec![format!("--{long}[={}]", values.join(" "))],
        (Some(long), _) => {
            std::iter::once(format!("--{long}")).chain(values.iter().map(|v| (*v).to_owned())).collect()
        }
        (None, Some(short)) => vec![format!("-{short}")],
        (None, None) => values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>(),
    };
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut about = sentence(&help);
    let possible: Vec<String> = match takes_value {
        true => argument
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| code(value.get_name()))
            .collect(),
        false => Vec::new(),
    };
    if !possible.is_empty() {
        let _ = write!(about, " Values: {}.", possible.join(", "));
    }
    let default: Vec<String> = match takes_value {
        true => {
            argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect()
        }
        false => Vec::new(),
    };
    vec![code(&name.join(" ")), code(&default.join(",")), about]
}

/// Converts a help text to one line of Markdown. A paragraph that does not end with a full stop or a colon gets a
/// full stop.
fn sentence(help: &str) -> String {
    let paragraphs = help.split("\n\n").map(|paragraph| {
        let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ").replace('<', "&lt;");
        if line.is_empty() || line.ends_with(['.', ':']) { line } else { format!("{line}.") }
    });
    paragraphs.collect::<Vec<_>>().join(" ")
}
