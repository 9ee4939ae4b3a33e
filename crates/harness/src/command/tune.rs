//! `lsmbench tune` searches for the best design for a workload.

use experiment::{Experiment, Overrides};
use results::targets::check_folder;
use run::RunOptions;
use types::{Outcome, Problem};

use crate::build_info::build_info;
use crate::cli::TuneArguments;
use crate::output::{CONSOLE, line, print};

/// The default sweep of `lsmbench tune`, for an experiment file without a sweep: compaction policies with several
/// parameters. No policy in this sweep drops data.
const SPACE: [&str; 1] = [r#"sweep."design.compaction" = [
    "leveled(size_ratio=2)", "leveled(size_ratio=4)", "leveled(size_ratio=6)", "leveled(size_ratio=10)",
    "tiered(size_ratio=2)", "tiered(size_ratio=4)", "tiered(size_ratio=6)", "tiered(size_ratio=10)",
    "lazy-leveled(size_ratio=2)", "lazy-leveled(size_ratio=4)", "lazy-leveled(size_ratio=6)",
    "lazy-leveled(size_ratio=10)", "horizontal(runs=2)", "horizontal(runs=3)", "horizontal(runs=4)",
    "horizontal(runs=6)", "horizontal(runs=9)"]"#];

/// Searches for the best design of an experiment, and prints the result.
pub(crate) fn tune(arguments: &TuneArguments, mut overrides: Overrides) -> Outcome<()> {
    let mut experiment = Experiment::load(&arguments.config, &overrides)?;
    if experiment.swept().is_empty() {
        overrides.set.extend(SPACE.map(on_one_line));
        experiment = Experiment::load(&arguments.config, &overrides)?;
    }
    let spec = experiment.tune.clone().ok_or_else(|| {
        let message =
            "the file has no table [tune]; add it with an objective, such as minimise = \"write_amp\"";
        Problem::at(&arguments.config, None, message)
    })?;
    check_folder(&arguments.out)?;
    let run = RunOptions {
        out: arguments.out.clone(),
        plots: arguments.out.join("charts"),
        has_page: false,
        resume: arguments.resume,
        part: None,
        allow_debug: arguments.allow_debug,
        has_profile: false,
        verbose: false,
        markdown: None,
        overrides,
        console: CONSOLE,
        build: build_info(),
    };
    let settings = tune::Settings { experiment: &experiment, spec: &spec, device: &arguments.device, run };
    let advice = tune::tune(&settings)?;
    print(&advice.text())?;
    line(&format!("Design: {}", advice.folder.join("design.toml").display()));
    line(&format!(
        "Folder with all candidates and the Pareto set: {folder}",
        folder = advice.folder.display()
    ));
    Ok(())
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_space_is_one_override_of_toml() {
        let text = on_one_line(SPACE[0]);
        let (path, value) = text.split_once(" = ").unwrap();
        assert_eq!(path, "sweep.\"design.compaction\"");
        let list: toml::Table = format!("x = {value}").parse().unwrap();
        assert!(matches!(&list["x"], toml::Value::Array(items) if items.len() == 17));
    }
}
