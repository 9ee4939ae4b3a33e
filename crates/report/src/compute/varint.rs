//! Computations about the lengths of varints. Each byte of a varint stores 7 bits of the number.

use super::Arguments;

/// Computes the length of a varint in bytes: one byte for up to 7 bits, and one more byte for every 7 further bits.
pub(super) fn length(with: &Arguments<'_>) -> Result<f64, String> {
    let number = with.number("number")?;
    let least = |bytes: i32| 2_f64.powi(7 * (bytes - 1));
    match (0.0..=2_f64.powi(63)).contains(&number) {
        true => Ok(1.0 + f64::from((2..=10).filter(|bytes| number >= least(*bytes)).count() as u32)),
        false => Err(format!("`number` is {number}; it must be from 0 to 2^63")),
    }
}

/// Computes the mean length in bytes of a varint of b random bits: 1 + Σ P(N ≥ 2^(7(k-1))) over k ≥ 2, with P = 1 -
/// 2^(7(k-1) - b).
pub(super) fn uniform(with: &Arguments<'_>) -> Result<f64, String> {
    let bits = with.number("bits")?;
    let more = (1..10).map(|seven| 7.0 * f64::from(seven)).filter(|below| *below < bits);
    Ok(1.0 + more.map(|below| 1.0 - (below - bits).exp2()).sum::<f64>())
}

/// Computes the mean length in bytes of a varint of a random number with a geometric distribution: 1 + Σ (1 -
/// p)^(2^(7(k-1))) over k ≥ 2. The number is n with probability p (1 - p)^n.
pub(super) fn geometric(with: &Arguments<'_>) -> Result<f64, String> {
    let p = with.number("p")?;
    Ok(1.0 + (1..10).map(|seven| (1.0 - p).powf(2_f64.powi(7 * seven))).sum::<f64>())
}

/// Computes the probability that a random number with a geometric distribution is at least n: (1 - p)^n. The number is
/// n with probability p (1 - p)^n.
pub(super) fn geometric_tail(with: &Arguments<'_>) -> Result<f64, String> {
    Ok((1.0 - with.number("p")?).powf(with.number("n")?))
}
