//! What follows from other numbers by arithmetic alone.

use super::Arguments;

/// A number that is known.
pub(super) fn constant(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("value")
}

/// A parameter of the document, taken over: the value of the experiment at `path`, times `scale`, and `plus`.
pub(super) fn setting(with: &Arguments<'_>) -> Result<f64, String> {
    let path = with.word("path")?;
    let value = with.facts.setting(path).ok_or_else(|| format!("{path} is no number in this experiment"))?;
    Ok(value * with.number_or("scale", 1.0)? + with.number_or("plus", 0.0)?)
}

/// Another claim about the same thing.
pub(super) fn claim(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("of")
}

/// a / b.
pub(super) fn quotient(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(with.number("numerator")? / with.number("denominator")?)
}

/// How many whole times b is in a.
pub(super) fn floor_quotient(with: &Arguments<'_>) -> Result<f64, String> {
    quotient(with).map(f64::floor)
}

/// By how many percent a is less than b: 100 (1 - a / b).
pub(super) fn percent_less(with: &Arguments<'_>) -> Result<f64, String> {
    quotient(with).map(|quotient| 100.0 * (1.0 - quotient))
}

/// 100 a / b.
pub(super) fn percent_of_target(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(100.0 * with.number("throughput")? / with.number("target")?)
}

/// The product of all factors.
pub(super) fn product(with: &Arguments<'_>) -> Result<f64, String> {
    with.numbers("factors").map(|factors| factors.iter().product())
}

/// base ^ exponent.
pub(super) fn power(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(with.number("base")?.powf(with.number("exponent")?))
}

/// How many times the smallest of some numbers is in the largest, of the list where that is most.
pub(super) fn largest_spread(with: &Arguments<'_>) -> Result<f64, String> {
    let spread = |numbers: &Vec<f64>| {
        let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest / numbers.iter().copied().fold(f64::INFINITY, f64::min)
    };
    with.lists("of").map(|lists| lists.iter().map(spread).fold(f64::NAN, f64::max))
}

/// The most threads that each still do `efficiency` of what one does alone: X(t) / (t · X(1)) is that and more.
pub(super) fn linear_threads(with: &Arguments<'_>) -> Result<f64, String> {
    let (throughput, threads) = (with.numbers("throughput")?, with.numbers("threads")?);
    let efficiency = with.number("efficiency")?;
    let pairs = || threads.iter().copied().zip(throughput.iter().copied());
    let (_, alone) = pairs()
        .find(|(threads, _)| threads.total_cmp(&1.0).is_eq())
        .ok_or("throughput of one thread is missing")?;
    let linear = pairs().filter(|(threads, rate)| rate / (threads * alone) >= efficiency);
    Ok(linear.map(|(threads, _)| threads).fold(1.0, f64::max))
}

/// Acknowledged writes that are missing after a process was killed, as `lsmbench torture kill` finds them.
pub(super) fn torture_kill(with: &Arguments<'_>) -> Result<f64, String> {
    let (design, wal) = (with.word("design")?, with.word("wal")?);
    with.facts.lost_writes(design, wal).ok_or_else(|| {
        format!("a run of `lsmbench torture kill --design {design} --wal {wal}` decides, and is no part of the report")
    })
}
