//! Formats numbers and claims in the same way for all pages of the report.

use std::fmt::Write as _;

use measure::FEWEST_BLOCKS;

use crate::{Claim, Compare, Judgement, RunNote, Statement};

/// Number of significant digits in printed numbers.
const DIGITS: i32 = 4;

/// Returns a number with four significant digits, such as `1,234`, `43.21`, `1.254 M` or `3.94e-13`.
pub(crate) fn number(value: f64) -> String {
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    if !(-4..15).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    for (least, sign) in [(9, "G"), (6, "M")] {
        if magnitude >= least {
            return format!("{} {sign}", number(value / 10_f64.powi(least)));
        }
    }
    let decimals = (DIGITS - 1 - magnitude).max(0) as usize;
    let step = 10_f64.powi((magnitude - DIGITS + 1).max(0));
    let rounded = if decimals == 0 { (value / step).round() * step } else { value };
    let text = format!("{rounded:.decimals$}");
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let part = part.trim_end_matches('0');
    let point = if part.is_empty() { "" } else { "." };
    format!("{}{point}{part}", grouped(whole))
}

/// Inserts commas between groups of three digits: `1250000` becomes `1,250,000`.
pub(crate) fn grouped(whole: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats the subject of a claim with its parameters, such as `Eytzinger, entries = 10000`.
pub(crate) fn about(claim: &Claim) -> String {
    let params = claim.params.iter().map(|(name, value)| format!("{name} = {value}"));
    let subject = (!claim.subject.is_empty()).then(|| claim.subject.clone());
    subject.into_iter().chain(params).collect::<Vec<_>>().join(", ")
}

/// Formats the subject of a claim with its parameters. If the measurement had another size than the claim, the text
/// also contains the measured size, such as `SkipList, inserts = 10000000 (measured at 1,250,000)`.
pub(crate) fn about_measured(claim: &Claim, judgement: &Judgement) -> String {
    match &judgement.measured_at {
        Some(size) => format!("{} (measured at {size})", about(claim)),
        None => about(claim),
    }
}

/// Formats the number that the document states, with its unit, such as `at least 2.5 x`.
pub(crate) fn stated(claim: &Claim) -> String {
    let standing = match claim.standing {
        Statement::Exact => "",
        Statement::About => "about ",
        Statement::AtLeast => "at least ",
        Statement::AtMost => "at most ",
        Statement::UpTo => "up to ",
        Statement::From => "from ",
        Statement::To => "to ",
    };
    format!("{standing}{} {}", number(claim.value), claim.unit)
}

/// Formats a number in the form of a comparison, such as `1.24 ×` for a ratio or `43.2 %` for a percentage.
pub(crate) fn formed(value: f64, compare: Option<Compare>, claim: &Claim) -> String {
    match compare {
        Some(Compare::Ratio | Compare::Factor) => format!("{} ×", number(value)),
        Some(Compare::Rank) => format!("place {}", number(value)),
        Some(Compare::PercentLess | Compare::PercentMore | Compare::PercentSlower | Compare::PercentOf) => {
            format!("{} %", number(value))
        }
        Some(Compare::Value | Compare::Amplification | Compare::Difference | Compare::Crossing) | None => {
            format!("{} {}", number(value), claim.unit)
        }
    }
}

/// Formats the claimed number with its unit. If the claim is compared in another form, such as a ratio, the text also
/// contains the number in this form.
pub(crate) fn claimed(claim: &Claim, judgement: &Judgement) -> String {
    let stated = stated(claim);
    match judgement.compare {
        Some(Compare::Ratio | Compare::Rank) => {
            format!("{stated} = {}", formed(judgement.claimed, judgement.compare, claim))
        }
        _ => stated,
    }
}

/// Formats the measured number of a claim with its confidence interval. Returns `None` without a measurement.
pub(crate) fn measured(claim: &Claim, judgement: &Judgement) -> Option<String> {
    let mut text = formed(judgement.measured?, judgement.compare, claim);
    if let Some(interval) = judgement.interval.filter(|interval| interval.low < interval.high) {
        let _ = write!(text, " [{} to {}]", number(interval.low), number(interval.high));
    }
    Some(text)
}

/// Formats the reason for a finding: the measured number, the claimed number, the accepted range, and the conclusion
/// `why`. For example: `measured 1.02 × (0.98 to 1.07), claimed 1.5 ×, accepted 1.225 to 1.875 ×: the opposite
/// direction`.
pub(crate) fn beside(claim: &Claim, judgement: &Judgement, (low, high): (f64, f64), why: &str) -> String {
    let said = |value| formed(value, judgement.compare, claim).trim_end().to_owned();
    let Some(measured) = judgement.measured else { return why.to_owned() };
    let interval = judgement.interval.filter(|interval| interval.low < interval.high);
    let interval = interval.map_or_else(String::new, |interval| {
        format!(" ({} to {})", number(interval.low), number(interval.high))
    });
    let enough = match (low.is_finite(), high.is_finite()) {
        _ if judgement.compare == Some(Compare::Rank) => String::new(),
        (true, true) => format!(", accepted {} to {}", number(low), said(high)),
        (true, false) => format!(", accepted {} or more", said(low)),
        (false, true) => format!(", accepted {} or less", said(high)),
        (false, false) => String::new(),
    };
    format!("measured {}{interval}, claimed {}{enough}: {why}", said(measured), said(judgement.claimed))
}

/// Formats facts about a run, such as `quick run 0192f3a1b2c3, timed mode, 6 trials, 2 cores`.
pub(crate) fn run_of(run: &RunNote) -> String {
    let RunNote { run_id, is_quick, trials, mode, cpu, cores, .. } = run;
    let kind = if *is_quick { "quick run" } else { "run" };
    let id: String = run_id.chars().take(12).collect();
    let plural = if *trials == 1 { "" } else { "s" };
    let mut text = format!("{kind} {id}, {mode} mode, {trials} trial{plural}");
    if mode == "timed" && *trials < FEWEST_BLOCKS as u64 {
        text.push_str(", too few for confidence intervals");
    }
    for machine in cpu.clone().into_iter().chain(cores.map(|cores| format!("{cores} cores"))) {
        let _ = write!(text, ", {machine}");
    }
    text
}

/// Formats the theoretical value that belongs to a claim, with its derivation.
pub(crate) fn theory(claim: &Claim, judgement: &Judgement) -> Option<String> {
    let formed = |value, unit: Option<&str>| match unit {
        Some(unit) => format!("{} {unit}", number(value)),
        None => formed(value, judgement.compare, claim),
    };
    judgement.theory.as_ref().map(|expected| expected.said(formed))
}

#[cfg(test)]
mod tests {
    use measure::Interval;

    use super::*;
    use crate::Finding;

    #[test]
    fn a_measurement_stands_beside_its_claim() {
        let row = "x-1,2,,a,speedup,,1.5,x,exact";
        let header = "id,section,figure,subject,metric,params,value,unit,bound";
        let text = format!("{header}\n{row}\n");
        let claim: Claim = csv::Reader::from_reader(text.as_bytes()).deserialize().next().unwrap().unwrap();
        let judgement = Judgement {
            id: "x-1".to_owned(),
            compare: Some(Compare::Factor),
            claimed: 1.5,
            measured: Some(1.02),
            interval: Some(Interval { low: 0.98, high: 1.07 }),
            measured_at: None,
            theory: None,
            finding: Finding::NotReproduced,
            reason: String::new(),
        };
        assert_eq!(
            beside(&claim, &judgement, (1.225, 1.875), "why"),
            "measured 1.02 × (0.98 to 1.07), claimed 1.5 ×, accepted 1.225 to 1.875 ×: why"
        );
        let one = Judgement { interval: None, compare: Some(Compare::Value), ..judgement.clone() };
        assert_eq!(
            beside(&claim, &one, (1.5, f64::INFINITY), "why"),
            "measured 1.02 x, claimed 1.5 x, accepted 1.5 x or more: why"
        );
        let place = Judgement { measured: Some(3.0), claimed: 2.0, compare: Some(Compare::Rank), ..one };
        assert_eq!(beside(&claim, &place, (1.5, 2.5), "why"), "measured place 3, claimed place 2: why");
    }

    #[test]
    fn a_run_says_where_it_has_too_few_trials_for_intervals() {
        let run = |mode: &str, trials| RunNote {
            experiment: "e".to_owned(),
            run_id: "0192f3a1b2c3d4e5".to_owned(),
            is_quick: true,
            trials,
            mode: mode.to_owned(),
            cpu: None,
            cores: Some(2),
            ..RunNote::default()
        };
        assert_eq!(run_of(&run("timed", 6)), "quick run 0192f3a1b2c3, timed mode, 6 trials, 2 cores");
        assert!(run_of(&run("timed", 1)).contains("1 trial, too few for confidence intervals"));
        assert!(!run_of(&run("counted", 1)).contains("too few"), "counters need one");
    }

    #[test]
    fn numbers_have_the_digits_that_count() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (43.2149, "43.21"),
            (1234.4, "1,234"),
            (123_456.0, "123,500"),
            (1_234_567.0, "1.235 M"),
            (12_690_000_000.0, "12.69 G"),
            (0.000_387_298, "0.0003873"),
            (3.94e-13, "3.94e-13"),
            (1e17, "1.00e17"),
            (999.96, "1,000"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
