//! Formats notes about the runs on which a report is based: the other engines, the parts that did not run, the
//! warnings, and the numbers of trials.

use std::collections::{BTreeMap, BTreeSet};

use measure::FEWEST_BLOCKS;

use crate::{EngineNote, Report, RunNote};

/// Returns the notes about a run, one per line: its engines with the design settings that they cannot match, the parts
/// that did not run, and the warnings.
pub(super) fn lines(run: &RunNote) -> Vec<String> {
    let engines = run.engines.iter().map(engine);
    let left_out = run.left_out.iter().map(|what| format!("not run: {what}"));
    let warnings = run.warnings.iter().map(|what| format!("warning: {what}"));
    engines.chain(left_out).chain(warnings).collect()
}

fn engine(engine: &EngineNote) -> String {
    let EngineNote { name, version, library, unequal } = engine;
    let version = version.as_deref().unwrap_or("of unknown version");
    let library = library.as_ref().map_or_else(String::new, |library| format!(" ({library})"));
    let terms = match unequal.is_empty() {
        true => "all design settings of this engine equal those of lsmbench".to_owned(),
        false => format!("mismatches: {}", unequal.join("; ")),
    };
    format!("engine {name} {version}{library}; {terms}")
}

/// Returns a sentence about the numbers of trials of the experiments in a report. Returns `None` if no experiment ran.
/// For example:
/// `45 timed experiments have 6 trials; 2 have 1 trial, too few for confidence intervals (e32-peers-write, e34-peers-space); 6 counted experiments need only 1 trial`.
pub(super) fn trials(report: &Report) -> Option<String> {
    let figures = report.systems.iter().flat_map(|system| &system.figures);
    let runs = figures.flat_map(|figure| &figure.answers).filter_map(|answer| answer.run.as_ref());
    let (mut timed, mut counted) = (BTreeMap::<u64, BTreeSet<&str>>::new(), BTreeSet::new());
    for run in runs {
        match run.mode == "timed" {
            true => timed.entry(run.trials).or_default().insert(&run.experiment),
            false => counted.insert(run.experiment.as_str()),
        };
    }
    let of_trials = |(at, (trials, names)): (usize, (&u64, &BTreeSet<&str>))| {
        let what = match (at, names.len()) {
            (0, 1) => "1 timed experiment has".to_owned(),
            (0, count) => format!("{count} timed experiments have"),
            (_, 1) => "1 has".to_owned(),
            (_, count) => format!("{count} have"),
        };
        let plural = if *trials == 1 { "" } else { "s" };
        let few = match *trials < FEWEST_BLOCKS as u64 {
            true => {
                let names: Vec<&str> = names.iter().copied().collect();
                format!(", too few for confidence intervals ({})", names.join(", "))
            }
            false => String::new(),
        };
        format!("{what} {trials} trial{plural}{few}")
    };
    let counters = match counted.len() {
        0 => None,
        1 => Some("1 counted experiment needs only 1 trial".to_owned()),
        count => Some(format!("{count} counted experiments need only 1 trial")),
    };
    let said: Vec<String> = timed.iter().rev().enumerate().map(of_trials).chain(counters).collect();
    (!said.is_empty()).then(|| format!("{}.", said.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Figure, System};

    fn run(experiment: &str, mode: &str, trials: u64) -> Answer {
        let (experiment, mode) = (experiment.to_owned(), mode.to_owned());
        Answer { run: Some(RunNote { experiment, trials, mode, ..RunNote::default() }), ..Answer::default() }
    }

    fn report(answers: Vec<Answer>) -> Report {
        let figure = Figure { name: "E1".to_owned(), answers };
        let system = System { document: "d".to_owned(), figures: vec![figure] };
        Report { systems: vec![system], ..Report::default() }
    }

    #[test]
    fn each_count_of_trials_is_told_and_those_that_are_too_few_are_named() {
        let all = vec![
            run("a", "timed", 6),
            run("b", "timed", 6),
            run("b", "timed", 6),
            run("e", "timed", 1),
            run("d", "timed", 1),
            run("c", "counted", 1),
            Answer::default(),
        ];
        assert_eq!(
            trials(&report(all)).as_deref(),
            Some(
                "2 timed experiments have 6 trials; 2 have 1 trial, too few for confidence intervals (d, e); 1 counted experiment \
                 needs only 1 trial."
            )
        );
        assert_eq!(trials(&report(vec![Answer::default()])), None);
    }

    #[test]
    fn an_engine_has_its_version_and_what_is_not_equal() {
        let engine = |unequal: &[&str]| EngineNote {
            name: "rocksdb".to_owned(),
            version: Some("11.8.1".to_owned()),
            library: Some("librocksdb.so".to_owned()),
            unequal: unequal.iter().map(ToString::to_string).collect(),
        };
        let run = RunNote {
            engines: vec![
                engine(&["a", "b"]),
                EngineNote { name: "lmdb".to_owned(), ..EngineNote::default() },
            ],
            left_out: vec!["speedb: cannot find libspeedb.so".to_owned()],
            warnings: vec!["slow".to_owned()],
            ..RunNote::default()
        };
        assert_eq!(
            lines(&run),
            [
                "engine rocksdb 11.8.1 (librocksdb.so); mismatches: a; b",
                "engine lmdb of unknown version; all design settings of this engine equal those of lsmbench",
                "not run: speedb: cannot find libspeedb.so",
                "warning: slow",
            ]
        );
    }
}
