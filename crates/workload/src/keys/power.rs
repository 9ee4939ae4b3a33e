//! Powers that are rounded down to an integer. The result is equal on every machine.

/// Returns scale · baseᵉˣᵖᵒⁿᵉⁿᵗ, rounded down.
///
/// The power function of the standard library is fast, but its last bit depends on the platform. If the result is near
/// an integer, this bit can change the rounded value. In that case, the function uses a slower power function that
/// gives equal results on all platforms.
#[inline]
pub(super) fn floor_of_power(scale: f64, base: f64, exponent: f64) -> u64 {
    // A hundred times the largest relative error of a library's power function.
    const DOUBT: f64 = 1e-13;
    let near = scale * base.powf(exponent);
    let floor = near as u64;
    let (beyond, doubt) = (near - floor as f64, near * DOUBT);
    if beyond > doubt && beyond < 1.0 - doubt { floor } else { (scale * libm::pow(base, exponent)) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_portable_power() {
        let mut random = crate::random::Random::new(1);
        for _ in 0..200_000 {
            let (base, exponent) = (0.8 + 0.2 * random.unit(), 99.0 + 2.0 * random.unit());
            assert_eq!(floor_of_power(1e10, base, exponent), (1e10 * libm::pow(base, exponent)) as u64);
        }
        assert_eq!(floor_of_power(1.0, 10.0, 3.0), 1000);
    }
}
