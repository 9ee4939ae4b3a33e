//! Computations that only need arithmetic, such as quotients and means.

use super::Arguments;

/// Returns a constant: the argument `value`.
pub(super) fn constant(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("value")
}

/// Returns a number from the experiment file: the number at `path`, times `scale`, plus `plus`.
pub(super) fn setting(with: &Arguments<'_>) -> Result<f64, String> {
    let path = with.word("path")?;
    let value = with
        .facts
        .setting(path)
        .ok_or_else(|| format!("the experiment file has no number at the path {path}"))?;
    Ok(value * with.number_or("scale", 1.0)? + with.number_or("plus", 0.0)?)
}

/// Returns the number of another claim. The argument `of` names this claim.
pub(super) fn claim(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("of")
}

/// Computes the quotient a / b.
pub(super) fn quotient(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(with.number("numerator")? / with.number("denominator")?)
}

/// Computes the integer part of a / b.
pub(super) fn floor_quotient(with: &Arguments<'_>) -> Result<f64, String> {
    quotient(with).map(f64::floor)
}

/// Computes the percentage by which a is less than b: 100 (1 - a / b).
pub(super) fn percent_less(with: &Arguments<'_>) -> Result<f64, String> {
    quotient(with).map(|quotient| 100.0 * (1.0 - quotient))
}

/// Computes a as a percentage of b: 100 a / b.
pub(super) fn percent_of_target(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(100.0 * with.number("throughput")? / with.number("target")?)
}

/// Computes the product of all numbers in the argument `factors`.
pub(super) fn product(with: &Arguments<'_>) -> Result<f64, String> {
    with.numbers("factors").map(|factors| factors.iter().product())
}

/// Computes the power base ^ exponent.
pub(super) fn power(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(with.number("base")?.powf(with.number("exponent")?))
}

/// Computes the largest spread of several lists of numbers. The spread of a list is its maximum divided by its minimum.
pub(super) fn largest_spread(with: &Arguments<'_>) -> Result<f64, String> {
    let spread = |numbers: &Vec<f64>| {
        let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest / numbers.iter().copied().fold(f64::INFINITY, f64::min)
    };
    with.lists("of").map(|lists| lists.iter().map(spread).fold(f64::NAN, f64::max))
}

/// Computes the percentage by which a is greater than b: 100 (a / b - 1).
pub(super) fn percent_more(with: &Arguments<'_>) -> Result<f64, String> {
    quotient(with).map(|quotient| 100.0 * (quotient - 1.0))
}

/// Computes the ratio of two ratios: (a / b) / (c / d).
pub(super) fn ratio_of_ratios(with: &Arguments<'_>) -> Result<f64, String> {
    let other = with.number("other_numerator")? / with.number("other_denominator")?;
    quotient(with).map(|quotient| quotient / other)
}

/// Computes the percentage by which several steps together reduce a time: 100 (1 - Π (1 - s/100)). Each step reduces
/// the time by s percent.
pub(super) fn compound_percent_less(with: &Arguments<'_>) -> Result<f64, String> {
    let left = |steps: Vec<f64>| steps.iter().map(|step| 1.0 - step / 100.0).product::<f64>();
    with.numbers("steps").map(|steps| 100.0 * (1.0 - left(steps)))
}

/// Computes the percentage by which the rate of operations rises if several steps reduce the time of an operation. With
/// a reduction of s percent per step, the result is 100 (1 / Π (1 - s/100) - 1).
pub(super) fn compound_percent_more(with: &Arguments<'_>) -> Result<f64, String> {
    compound_percent_less(with).map(|less| 100.0 * (1.0 / (1.0 - less / 100.0) - 1.0))
}

/// Returns the largest number of a list.
pub(super) fn greatest(with: &Arguments<'_>) -> Result<f64, String> {
    with.numbers("of").map(|numbers| numbers.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

/// Returns the smallest number of a list.
pub(super) fn least(with: &Arguments<'_>) -> Result<f64, String> {
    with.numbers("of").map(|numbers| numbers.into_iter().fold(f64::INFINITY, f64::min))
}

/// Returns the number in the list that is nearest to the number `to`.
pub(super) fn nearest(with: &Arguments<'_>) -> Result<f64, String> {
    let to = with.number("to")?;
    let nearer = |best: f64, one: f64| if (one - to).abs() < (best - to).abs() { one } else { best };
    with.numbers("of").map(|numbers| numbers.into_iter().fold(f64::INFINITY, nearer))
}

/// Computes the rate of a workload that mixes two kinds of operations in equal parts: 2 / (1/a + 1/b). Here, a and b
/// are the rates of workloads with only one kind.
pub(super) fn harmonic_mean(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(2.0 / (with.number("one")?.recip() + with.number("other")?.recip()))
}

/// Computes the operations per second of a run without its load phase: operations / (seconds - load).
pub(super) fn net_rate(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(with.number("operations")? / (with.number("seconds")? - with.number("load")?))
}

/// Computes how many times longer an operation takes in the last run than in the first run. The time of the load phase
/// is subtracted from both runs.
pub(super) fn cost_growth(with: &Arguments<'_>) -> Result<f64, String> {
    let load = with.number("load")?;
    let each = |seconds: &str, operations: &str| -> Result<f64, String> {
        Ok((with.number(seconds)? - load) / with.number(operations)?)
    };
    Ok(each("last_seconds", "last_operations")? / each("first_seconds", "first_operations")?)
}

/// Computes the percentage by which the rate of the last run is below the rate of the first run. A rate is the number
/// of operations divided by the time.
pub(super) fn rate_drop_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let rate = |operations: &str, seconds: &str| -> Result<f64, String> {
        Ok(with.number(operations)? / with.number(seconds)?)
    };
    let (first, last) =
        (rate("first_operations", "first_seconds")?, rate("last_operations", "last_seconds")?);
    Ok(100.0 * (1.0 - last / first))
}

/// Computes how many more operations per second a thread executes if each operation takes s nanoseconds less: 1/(t - s)
/// - 1/t.
pub(super) fn rate_gain(with: &Arguments<'_>) -> Result<f64, String> {
    let (taken, saved) = (with.number("operation_ns")?, with.number("saved_ns")?);
    Ok(1e9 / (taken - saved) - 1e9 / taken)
}

/// Computes how many values of a bit field are free: all values minus the reserved values.
pub(super) fn codes_left(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(with.number("bits")?.exp2() - with.number("reserved")?)
}

/// Computes the relative error of the mean of n times, in percent: 100 / sqrt(n). The formula assumes that the standard
/// deviation of the times equals their mean.
pub(super) fn relative_error_pct(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("samples").map(|samples| 100.0 / samples.sqrt())
}

/// Computes the sum of a list of numbers.
pub(super) fn sum(with: &Arguments<'_>) -> Result<f64, String> {
    with.numbers("of").map(|numbers| numbers.iter().sum())
}

/// Counts the positions at which two lists of numbers have equal elements.
pub(super) fn agreeing(with: &Arguments<'_>) -> Result<f64, String> {
    let (one, other) = (with.numbers("one")?, with.numbers("other")?);
    Ok(one.iter().zip(&other).filter(|(one, other)| one.total_cmp(other).is_eq()).count() as f64)
}

/// Returns the x coordinate of the knee of a curve, which is the point after which the slope decreases by the largest
/// factor.
///
/// # Errors
/// Returns an error if the slope of the curve does not decrease at any point.
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
    sharpest.map(|(x, _)| x).ok_or_else(|| {
        "the slope of the curve with the coordinates x and y never decreases, so the curve has no knee"
            .to_owned()
    })
}

/// Returns the largest number of threads up to which the throughput scales. With t threads and throughput X, the
/// efficiency X(t) / (t · X(1)) must be at least `efficiency`.
pub(super) fn linear_threads(with: &Arguments<'_>) -> Result<f64, String> {
    let (throughput, threads) = (with.numbers("throughput")?, with.numbers("threads")?);
    let efficiency = with.number("efficiency")?;
    let pairs = || threads.iter().copied().zip(throughput.iter().copied());
    let (_, alone) = pairs()
        .find(|(threads, _)| threads.total_cmp(&1.0).is_eq())
        .ok_or("the list of throughputs must contain the throughput of one thread")?;
    let linear = pairs().filter(|(threads, rate)| rate / (threads * alone) >= efficiency);
    Ok(linear.map(|(threads, _)| threads).fold(1.0, f64::max))
}

/// Returns how many acknowledged writes a store lost when `lsmbench torture kill` killed its process.
pub(super) fn torture_kill(with: &Arguments<'_>) -> Result<f64, String> {
    let (design, wal) = (with.word("design")?, with.word("wal")?);
    with.facts.lost_writes(design, wal).ok_or_else(|| {
        format!(
            "only a run of `lsmbench torture kill --design {design} --wal {wal}` can decide this claim; the report has \
             no such run"
        )
    })
}
