//! `lsmbench new` creates a crate with a component of your own. You can test and run the crate at once.

mod templates;

use std::fs;
use std::io;
use std::path::Path;

use catalog::alternatives;
use toml::Value;
use types::{Outcome, Problem};

use self::templates::{RESERVED, TEMPLATES, Template};
use crate::cli::NewArguments;
use crate::output::print;
use crate::workbench::AXES;

/// Writes the crate into a folder with the name of the crate, and prints the next commands.
///
/// # Errors
/// The axis is unknown, the name is invalid, the folder is not empty, or the checkout does not contain lsmbench.
pub(crate) fn new(arguments: &NewArguments) -> Outcome<()> {
    let NewArguments { axis, name, path } = arguments;
    let template = template(axis)?;
    check_name(template, name)?;
    let dependency = dependency(path.as_deref())?;
    let folder = Path::new(name);
    check_folder(folder)?;
    for (file, text) in template.files(name, &dependency) {
        write(&folder.join(file), &text)?;
    }
    print(&format!(
        "Wrote {name}. Next:\n  cd {name}\n  cargo test\n  cargo run --release -- run experiment.toml\n"
    ))
}

fn template(axis: &str) -> Outcome<&'static Template> {
    let all = || TEMPLATES.iter().map(|template| template.axis);
    TEMPLATES
        .iter()
        .find(|template| template.axis == axis)
        .ok_or_else(|| Problem::new(format!("unknown axis \"{axis}\"{}", alternatives(axis, all()))))
}

/// Checks that a name is valid for a crate and for a variant. A valid name consists of lower-case words with hyphens
/// between them.
fn check_name(template: &Template, name: &str) -> Outcome<()> {
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.split('-').all(is_word);
    if !is_name {
        let message = format!(
            "\"{name}\" is not a valid name for a component and its crate; use lower-case words \
             joined by hyphens"
        );
        return Err(Problem::new(message));
    }
    if RESERVED.split_whitespace().any(|word| word == name) {
        return Err(Problem::new(format!(
            "\"{name}\" is a reserved name of Rust or Cargo; choose another name"
        )));
    }
    let (_, catalog) = AXES
        .iter()
        .find(|(axis, _)| *axis == template.axis)
        .expect("AXES must contain the axis of each template of `lsmbench new`");
    if catalog.variants().iter().any(|variant| variant.kind == name) {
        let message =
            format!("{axis} already has a variant \"{name}\"; choose another name", axis = template.axis);
        return Err(Problem::new(message));
    }
    Ok(())
}

/// Returns the line of the crate's `Cargo.toml` that declares the dependency on lsmbench.
fn dependency(checkout: Option<&Path>) -> Outcome<String> {
    let Some(checkout) = checkout else { return Ok(Value::from(env!("CARGO_PKG_VERSION")).to_string()) };
    let harness = checkout.join("crates/harness");
    if !harness.join("Cargo.toml").is_file() {
        return Err(Problem::new(format!(
            "--path: \"{path}\" does not contain the source code of lsmbench",
            path = checkout.display()
        )));
    }
    // Does not resolve symbolic links, so that `Cargo.toml` contains the path that the user named.
    let harness = std::path::absolute(harness).map_err(|error| Problem::new(format!("--path: {error}")))?;
    Ok(format!("{{ path = {} }}", Value::from(harness.display().to_string())))
}

fn check_folder(folder: &Path) -> Outcome<()> {
    let problem = |message: String| Err(Problem::new(format!("{}: {message}", folder.display())));
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => problem("the folder is not empty; choose another name, or remove the folder".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => problem(format!("cannot read the folder: {error}")),
    }
}

fn write(file: &Path, text: &str) -> Outcome<()> {
    let written = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(file, text));
    written.map_err(|error| Problem::new(format!("cannot write {}: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_template_for_every_axis_of_the_workbench() {
        let templates: Vec<&str> = TEMPLATES.iter().map(|template| template.axis).collect();
        let axes: Vec<&str> = AXES.iter().map(|(axis, _)| *axis).collect();
        assert_eq!(templates, axes);
    }

    #[test]
    fn files_have_no_gaps_left() {
        for template in TEMPLATES {
            for (file, text) in template.files("my-own", "\"0.1\"") {
                assert!(!text.contains("{{"), "{}: {file}: {text}", template.axis);
                let names_it = text.contains("my-own") || text.contains("my_own");
                assert!(names_it || file == "accesses.csv", "{}: {file}", template.axis);
            }
        }
    }
}
