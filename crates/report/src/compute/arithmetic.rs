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

/// By how many percent a is more than b: 100 (a / b - 1).
pub(super) fn percent_more(with: &Arguments<'_>) -> Result<f64, String> {
    quotient(with).map(|quotient| 100.0 * (quotient - 1.0))
}

/// (a / b) / (c / d).
pub(super) fn ratio_of_ratios(with: &Arguments<'_>) -> Result<f64, String> {
    let other = with.number("other_numerator")? / with.number("other_denominator")?;
    quotient(with).map(|quotient| quotient / other)
}

/// By how many percent steps that each take some percent off a time take it down: 100 (1 - Π (1 - s/100)).
pub(super) fn compound_percent_less(with: &Arguments<'_>) -> Result<f64, String> {
    let left = |steps: Vec<f64>| steps.iter().map(|step| 1.0 - step / 100.0).product::<f64>();
    with.numbers("steps").map(|steps| 100.0 * (1.0 - left(steps)))
}

/// The same as the rate that it leaves: by how many percent more is done in the time, 100 (1 / Π (1 - s/100) - 1).
pub(super) fn compound_percent_more(with: &Arguments<'_>) -> Result<f64, String> {
    compound_percent_less(with).map(|less| 100.0 * (1.0 / (1.0 - less / 100.0) - 1.0))
}

/// The largest of some numbers.
pub(super) fn greatest(with: &Arguments<'_>) -> Result<f64, String> {
    with.numbers("of").map(|numbers| numbers.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

/// The smallest of some numbers.
pub(super) fn least(with: &Arguments<'_>) -> Result<f64, String> {
    with.numbers("of").map(|numbers| numbers.into_iter().fold(f64::INFINITY, f64::min))
}

/// The one of some numbers that is nearest to another.
pub(super) fn nearest(with: &Arguments<'_>) -> Result<f64, String> {
    let to = with.number("to")?;
    let nearer = |best: f64, one: f64| if (one - to).abs() < (best - to).abs() { one } else { best };
    with.numbers("of").map(|numbers| numbers.into_iter().fold(f64::INFINITY, nearer))
}

/// Operations that take turns with others of another rate, half and half: 2 / (1/a + 1/b).
pub(super) fn harmonic_mean(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(2.0 / (with.number("one")?.recip() + with.number("other")?.recip()))
}

/// Operations per second of a run whose time has a load in it that is none of them.
pub(super) fn net_rate(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(with.number("operations")? / (with.number("seconds")? - with.number("load")?))
}

/// How many times as long an operation takes in the last run as in the first, without the load that both begin with.
pub(super) fn cost_growth(with: &Arguments<'_>) -> Result<f64, String> {
    let load = with.number("load")?;
    let each = |seconds: &str, operations: &str| -> Result<f64, String> {
        Ok((with.number(seconds)? - load) / with.number(operations)?)
    };
    Ok(each("last_seconds", "last_operations")? / each("first_seconds", "first_operations")?)
}

/// By how many percent the rate of the last run is less than that of the first.
pub(super) fn rate_drop_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let rate = |operations: &str, seconds: &str| -> Result<f64, String> {
        Ok(with.number(operations)? / with.number(seconds)?)
    };
    let (first, last) =
        (rate("first_operations", "first_seconds")?, rate("last_operations", "last_seconds")?);
    Ok(100.0 * (1.0 - last / first))
}

/// How many more operations are done in a second if each takes so many nanoseconds less: 1/(t - s) - 1/t.
pub(super) fn rate_gain(with: &Arguments<'_>) -> Result<f64, String> {
    let (taken, saved) = (with.number("operation_ns")?, with.number("saved_ns")?);
    Ok(1e9 / (taken - saved) - 1e9 / taken)
}

/// The values that some bits have, without those that are reserved.
pub(super) fn codes_left(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(with.number("bits")?.exp2() - with.number("reserved")?)
}

/// How far the mean of n times is from what it stands for, in percent, where times spread as much as their mean:
/// 100 / sqrt(n).
pub(super) fn relative_error_pct(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("samples").map(|samples| 100.0 / samples.sqrt())
}

/// The sum of some numbers.
pub(super) fn sum(with: &Arguments<'_>) -> Result<f64, String> {
    with.numbers("of").map(|numbers| numbers.iter().sum())
}

/// The places at which two lists have the same number.
pub(super) fn agreeing(with: &Arguments<'_>) -> Result<f64, String> {
    let (one, other) = (with.numbers("one")?, with.numbers("other")?);
    Ok(one.iter().zip(&other).filter(|(one, other)| one.total_cmp(other).is_eq()).count() as f64)
}

/// Where returns diminish: the place of a curve after which it rises less steeply than before by the largest factor.
///
/// # Errors
/// A curve that rises as steeply, or more so, after every place of it.
pub(super) fn knee(with: &Arguments<'_>) -> Result<f64, String> {
    let points: Vec<(f64, f64)> = with.numbers("x")?.into_iter().zip(with.numbers("y")?).collect();
    let slopes: Vec<f64> = points
        .iter()
        .zip(points.iter().skip(1))
        .map(|(one, next)| (next.1 - one.1) / (next.0 - one.0))
        .collect();
    let bends = points.iter().skip(1).zip(slopes.iter().zip(slopes.iter().skip(1)));
    let bends = bends.map(|((x, _), (before, after))| (*x, before / after.max(0.0)));
    let sharpest = bends.filter(|(_, bend)| *bend > 1.0).max_by(|one, other| one.1.total_cmp(&other.1));
    sharpest.map(|(x, _)| x).ok_or_else(|| "returns diminish nowhere on the curve".to_owned())
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
