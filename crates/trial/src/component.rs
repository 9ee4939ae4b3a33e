//! Runs a trial of a component experiment, and creates a row for every phase.

use results::columns as c;
use results::columns::ALL;
use subject::{Bench, Component, PhaseResult};

use super::failure::TrialResult;
use super::measured::identity;
use super::message::{Message, Step, TrialReport, TrialSpec};

/// Runs a trial of a component experiment, which measures one component without a tree. The function `tell` sends a
/// message to the parent process.
pub(super) fn run(spec: &TrialSpec, component: &Component, tell: fn(&Message)) -> TrialResult<TrialReport> {
    std::fs::create_dir_all(&spec.directory)?;
    let begin = |phase| tell(&Message::Progress(Step { phase, share: 0.0, checking: false }));
    let mut bench =
        Bench::new(&spec.configuration.design, (spec.seed, spec.mode), (&spec.base, &spec.directory), &begin);
    component.subject().run(&mut bench)?;
    Ok(report(bench.into_phases()))
}

/// Creates the report of a component trial from the results of its phases. If the component gave a wrong answer, the
/// report contains no measurements.
fn report(phases: Vec<PhaseResult>) -> TrialReport {
    let mut report = TrialReport::default();
    for phase in &phases {
        let examples = phase.answers.examples.iter();
        report.wrong.extend(examples.map(|example| format!("phase {}, {example}", phase.name)));
    }
    for phase in phases {
        let mut row = identity(phase.name, ALL, false);
        if report.wrong.is_empty() {
            row.extend(phase.cells);
        }
        row.set(&c::CHECKED_ANSWERS, phase.answers.checked).set(&c::WRONG_ANSWERS, phase.answers.wrong);
        report.rows.push(row);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(name: &'static str, is_right: bool) -> PhaseResult {
        let mut phase = PhaseResult { name, ..PhaseResult::default() };
        phase.cells.set(&c::OPS, 10_u64);
        phase.answers.expect(is_right, || "an answer".to_owned());
        phase
    }

    #[test]
    fn one_wrong_answer_takes_every_number_away() {
        let has_numbers = |report: &TrialReport| report.rows.iter().any(|row| !row.get(&c::OPS).is_empty());
        let right = report(vec![phase("a", true), phase("b", true)]);
        assert!(has_numbers(&right) && right.wrong.is_empty());
        let wrong = report(vec![phase("a", true), phase("b", false)]);
        assert!(!has_numbers(&wrong));
        assert_eq!((wrong.rows.len(), &wrong.wrong[..]), (2, &["phase b, an answer".to_owned()][..]));
    }
}
