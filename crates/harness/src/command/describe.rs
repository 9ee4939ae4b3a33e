//! `lsmbench describe` prints the resolved experiment.

mod residence;

use std::fmt::Write as _;
use std::path::Path;

use catalog::Time;
use experiment::{Cell, Estimate, Experiment, Overrides};
use plot::format_value;
use report::{FigureSource, Sheet, Way};
use results::Unit;
use run::{engine_info, introduction};
use types::Outcome;
use verdict::{counted, noisy_baselines};
use workload::{Extent, KeySource, Kind, Profile, Rate, Role, StoreStep, WorkloadPlan};

use self::residence::residence;
use crate::output::print;

/// Prints the resolved experiment in the file `config`, as TOML with comments.
pub(crate) fn describe(config: &Path, overrides: &Overrides) -> Outcome<()> {
    print(&described(&Experiment::load(config, overrides)?)?)
}

/// Returns the resolved experiment as TOML. Comments at the start list the configurations and the phases, and
/// estimate the cost.
pub(crate) fn described(experiment: &Experiment) -> Outcome<String> {
    let mut text = format!("# {}: {}\n", experiment.name, on_one_line(&experiment.question));
    text.push_str(&answers(&experiment.sheet));
    text.push_str("#\n# configurations\n");
    let mut seconds = 0.0;
    let mut worst = Estimate::default();
    for cell in &experiment.cells {
        let estimate = experiment.estimate(cell)?;
        seconds += estimate.seconds() * experiment.trials.count as f64;
        worst.storage_bytes = worst.storage_bytes.max(estimate.storage_bytes);
        worst.memory_bytes = worst.memory_bytes.max(estimate.memory_bytes);
        let _ = writeln!(text, "#   {} {}", cell.number, cell.label);
    }
    let twice = noisy_baselines(&experiment.facts());
    for place in &twice {
        let again = experiment.estimate(&experiment.cells[*place])?;
        seconds += again.seconds() * experiment.trials.count as f64;
    }
    for left in &experiment.left_out {
        let _ = writeln!(text, "#   skipped: {}: {}", left.label, left.reason);
    }
    for sentence in &experiment.warnings {
        let _ = writeln!(text, "#   warning: {sentence}");
    }
    experiment.inherited().iter().for_each(|sentence| _ = writeln!(text, "#   {sentence}"));
    let mut described = Vec::new();
    for engine in experiment.cells.iter().filter_map(engine_info) {
        if !described.contains(&engine) {
            introduction(&engine).iter().for_each(|line| _ = writeln!(text, "#   {line}"));
            described.push(engine);
        }
    }
    let first = &experiment.cells[0];
    let _ = writeln!(text, "#\n# phases of configuration {}", first.number);
    match experiment.plan(first)? {
        Some(plan) => text.push_str(&phases(experiment, first, &plan)),
        None => text.push_str(&component_phases(experiment, first)?),
    }
    experiment.assumptions.iter().for_each(|assumed| _ = writeln!(text, "#   {assumed}"));
    text.push_str(&residence(experiment)?);
    let _ = writeln!(
        text,
        "#\n# estimate: {configurations}{more} × {trials}, about {time}; at most {disk} of \
         disk and {memory} of memory\n",
        configurations = counted(experiment.cells.len(), "configuration"),
        more = if twice.is_empty() {
            String::new()
        } else {
            format!(" + {count} repeated to measure noise", count = twice.len())
        },
        trials = counted(experiment.trials.count as usize, "trial"),
        time = duration(seconds),
        disk = format_value(worst.storage_bytes, Unit::Bytes),
        memory = format_value(worst.memory_bytes, Unit::Bytes),
    );
    text.push_str(&experiment.runnable());
    Ok(text)
}

/// Returns comment lines about the published figures that the experiment reproduces: one line per figure, and one with
/// the number of claims.
fn answers(sheet: &Sheet) -> String {
    let mut text = String::new();
    for source in &sheet.sources {
        let FigureSource { document, figure, title, .. } = source;
        let _ = writeln!(text, "# reproduces {figure} of {document}: {title}");
    }
    let ways = [(Way::Run, "measured"), (Way::Computed, "computed"), (Way::Untestable, "untestable")];
    let counts = ways.map(|(way, name)| (sheet.count(way), name));
    if let claims @ 1.. = counts.iter().map(|(count, _)| count).sum::<usize>() {
        let parts =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
        let _ = writeln!(text, "# {claims} claims: {}", parts.collect::<Vec<_>>().join(", "));
    }
    text
}

/// Returns the estimated time of each phase of a component experiment, with one line per phase.
fn component_phases(experiment: &Experiment, cell: &Cell) -> Outcome<String> {
    let (phases, estimate) = (experiment.task.phases(), experiment.estimate(cell)?);
    let mut text = String::new();
    for (phase, seconds) in phases.iter().zip(estimate.phase_seconds) {
        let _ = writeln!(text, "#   {phase}: about {}", duration(seconds));
    }
    Ok(text)
}

/// Returns the operations that each phase of the workload executes, with one line per phase.
fn phases(experiment: &Experiment, cell: &Cell, plan: &WorkloadPlan) -> String {
    let mut text = String::new();
    let fixture = experiment.fixture_phases(&cell.task);
    let keys_before = Estimate::of(cell, plan, experiment.trials.mode).phase_keys;
    for (number, (phase, keys)) in plan.phases().iter().zip(keys_before).enumerate() {
        let from = Extent { keys: keys as u64, ..Extent::default() };
        let figures = match phase.step() {
            Some(StoreStep::Sleep(ns)) => format!("step sleep, {}", Time(ns)),
            Some(step) => format!("step {}", step.name()),
            None if !phase.phase().roles().is_empty() => {
                phase.phase().roles().iter().map(role).collect::<Vec<String>>().join("; ")
            }
            None => figures(&Profile::intended(phase, from)).join(", "),
        };
        let built =
            if number < fixture { "part of the fixture, which is built once and not measured: " } else { "" };
        let family = phase.phase().family.as_ref();
        let of = family.map_or_else(String::new, |family| format!("family {family}, "));
        let _ = writeln!(text, "#   {}: {built}{of}{figures}", phase.phase().name);
    }
    text
}

/// Describes a role, which is a group of threads of a phase with its own mix of operations. The text contains the
/// threads, the mix, the keys and the rate of the role, and when the role ends.
fn role(role: &Role) -> String {
    let Role { name, family, mixed, threads, rate } = role;
    let kinds = Kind::ALL.into_iter().filter(|kind| mixed.mix.has(*kind));
    let mut figures: Vec<String> =
        kinds.map(|kind| format!("{kind} {}", format_value(mixed.mix.share(kind), Unit::Share))).collect();
    if let KeySource::Drawn(law) = &mixed.keys {
        figures.push(format!("keys {}", law.label()));
    }
    if let Rate::Open { per_second } = rate {
        figures.push(format!("{per_second} operations per second"));
    }
    figures.extend(mixed.operations.map(|operations| format!("{operations} operations")));
    figures.extend(mixed.time_limit_ns.map(|ns| Time(ns).to_string()));
    if role.is_background() {
        figures.push("until the other roles end".to_owned());
    }
    let of = family.as_ref().map_or_else(String::new, |family| format!(", family {family}"));
    format!("role {name} of {threads} threads{of}: {facts}", facts = figures.join(", "))
}

fn figures(profile: &Profile) -> Vec<String> {
    let percent = |share: f64| format_value(share, Unit::Share);
    let mut figures = Vec::new();
    figures.extend(profile.operations.map(|operations| format!("{operations} operations")));
    figures.extend(profile.mix.iter().map(|(kind, share)| format!("{kind} {}", percent(*share))));
    let shares = [
        ("absent", profile.absent),
        ("hottest key", profile.hottest_key),
        ("hottest 1 % of keys", profile.hottest_1_percent),
        ("hottest 10 % of keys", profile.hottest_10_percent),
    ];
    figures
        .extend(shares.into_iter().filter_map(|(name, share)| Some(format!("{name} {}", percent(share?)))));
    figures.extend(profile.value_bytes.map(|bytes| format!("values of {bytes:.0} bytes")));
    figures.extend(profile.range_entries.map(|entries| format!("scans of {entries:.0} entries")));
    if figures.is_empty() {
        figures.push("recorded operations".to_owned());
    }
    figures
}

/// Formats a duration in whole seconds, whole minutes or tenths of an hour, whichever suits its size.
fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{:.0} s", seconds.max(1.0)),
        seconds if seconds < 5400.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

/// Returns a text for a TOML comment: without line breaks and other control characters.
fn on_one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::on_one_line;

    #[test]
    fn a_question_of_several_lines_stays_in_its_comment() {
        assert_eq!(on_one_line("Which layout,\n  and\r why\u{1}?"), "Which layout, and why ?");
    }
}
