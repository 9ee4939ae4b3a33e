//! Formats numbers for readers: three digits and a suitable unit.

use results::Unit;

/// The non-breaking space.
pub(crate) const SPACE: char = '\u{a0}';

/// The narrow non-breaking space, which separates thousands.
const NARROW_SPACE: char = '\u{202f}';

/// The larger units that replace a base unit, such as KiB and MiB for bytes. Each element is the name of a unit and its
/// size in base units.
type Steps = &'static [(&'static str, f64)];

const COUNTS: Steps = &[("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
const BYTES: Steps = &[
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];
const NANOSECONDS: Steps = &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
const SECONDS: Steps = &[("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
const MEGABYTES_PER_SECOND: Steps = &[("kB/s", 1e-3), ("MB/s", 1.0), ("GB/s", 1e3), ("TB/s", 1e6)];
const SHARES: Steps = &[("%", 0.01)];
const PLAIN: Steps = &[("", 1.0)];

fn steps(unit: Unit) -> Steps {
    match unit {
        Unit::Count | Unit::OperationsPerSecond | Unit::Plain => COUNTS,
        Unit::Bytes => BYTES,
        Unit::Nanoseconds => NANOSECONDS,
        Unit::Seconds => SECONDS,
        Unit::MegabytesPerSecond => MEGABYTES_PER_SECOND,
        Unit::Share => SHARES,
        Unit::Ratio => PLAIN,
    }
}

/// Returns the unit that suits a number, such as MiB for 3,000,000 bytes, and the size of this unit in base units.
fn step(number: f64, unit: Unit) -> (&'static str, f64) {
    let steps = steps(unit);
    // 999.9 kB would be rounded to 1000 kB, so the next multiple begins a little earlier.
    let fits = |(_, size): &&(&str, f64)| number.abs() >= size * 0.9995;
    *steps.iter().rev().find(fits).unwrap_or(&steps[0])
}

/// Formats a single number with its unit, such as `1.2 M`, `350 ns`, `4 KiB` or `0.81 %`.
pub(crate) fn value(number: f64, unit: Unit) -> String {
    if number == 0.0 {
        return match unit {
            Unit::Share => format!("0{SPACE}%"),
            _ => "0".to_owned(),
        };
    }
    let (name, size) = step(number, unit);
    with_unit(&digits(number / size), name)
}

/// Formats a value like [`value`], but always with three digits, such as `2.00` or `1.30 M`. Integer counts have no
/// decimals.
pub(crate) fn alike(number: f64, unit: Unit) -> String {
    let (name, size) = step(number, unit);
    let scaled = number / size;
    let whole = matches!(unit, Unit::Count | Unit::Bytes | Unit::Plain) && scaled.fract() == 0.0;
    if number == 0.0 || whole || !(0.01..1000.0).contains(&scaled.abs()) {
        return value(number, unit);
    }
    let decimals = (2 - scaled.abs().log10().floor() as i32).max(0) as usize;
    with_unit(&fixed(scaled, decimals), name)
}

/// Formats the value of a setting. An integer is not rounded: `4 096`, `10 M`, `0.99`.
pub(crate) fn chosen(number: f64, unit: Unit) -> String {
    let (name, size) = step(number, unit);
    let scaled = number / size;
    let short = digits(scaled);
    if short.replace('−', "-").parse() == Ok(scaled) {
        return with_unit(&short, name);
    }
    if number.fract() == 0.0 && number.abs() < 1e15 && matches!(unit, Unit::Plain | Unit::Count) {
        return minus(&grouped(&format!("{number:.0}")));
    }
    if unit == Unit::Plain { minus(&number.to_string()) } else { value(number, unit) }
}

fn with_unit(digits: &str, name: &str) -> String {
    if name.is_empty() { digits.to_owned() } else { format!("{digits}{SPACE}{name}") }
}

/// The unit of all numbers on a linear axis, such as ms, and its size in base units.
pub(crate) struct AxisUnit {
    /// The name of the unit for the description of the axis; empty for numbers without a unit.
    pub name: &'static str,
    pub size: f64,
}

/// Returns the unit for a linear axis whose largest number is `largest`.
pub(crate) fn axis_unit(largest: f64, unit: Unit) -> AxisUnit {
    let (step, size) = step(largest, unit);
    let name = match (unit, step) {
        (Unit::OperationsPerSecond, "") => "operations/s",
        (Unit::OperationsPerSecond, "k") => "thousand operations/s",
        (Unit::OperationsPerSecond, "M") => "million operations/s",
        (Unit::OperationsPerSecond, "G") => "billion operations/s",
        (Unit::OperationsPerSecond, _) => "trillion operations/s",
        (Unit::Count | Unit::Plain, "k") => "thousand",
        (Unit::Count | Unit::Plain, "M") => "million",
        (Unit::Count | Unit::Plain, "G") => "billion",
        (Unit::Count | Unit::Plain, "T") => "trillion",
        (_, step) => step,
    };
    AxisUnit { name, size }
}

/// Formats a number with three significant digits and without trailing zeros. Very large and very small numbers use a
/// power of ten.
pub(crate) fn digits(number: f64) -> String {
    let magnitude = number.abs();
    if number == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&magnitude) {
        return scientific(number);
    }
    let decimals = (2 - magnitude.log10().floor() as i32).clamp(0, 6) as usize;
    minus(&grouped(&trim(&format!("{number:.decimals$}"))))
}

/// Separates the thousands of a number that has five or more digits before the decimal point.
fn grouped(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let digits = whole.trim_start_matches('-');
    if digits.len() < 5 {
        return text.to_owned();
    }
    let mut out = whole[..whole.len() - digits.len()].to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(NARROW_SPACE);
        }
        out.push(digit);
    }
    out + rest
}

/// Formats a number with a power of ten: `1.2×10⁻⁷`, and `10⁶` for a pure power.
fn scientific(number: f64) -> String {
    let text = format!("{number:.2e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power: String = exponent.chars().map(superscript).collect();
    match trim(mantissa).as_str() {
        "1" => format!("10{power}"),
        mantissa => format!("{}×10{power}", minus(mantissa)),
    }
}

fn superscript(c: char) -> char {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize])
}

/// Removes the zeros at the end of the decimals of a number.
fn trim(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

/// Replaces the hyphen of a negative number with the minus sign, which is as wide as a digit.
fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// Formats a number with a fixed number of decimals.
pub(crate) fn fixed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    // A tiny negative number that is rounded to zero must not be printed as `-0.00`.
    let is_zero = text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { minus(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(number: f64, unit: Unit) -> String {
        value(number, unit).replace(SPACE, " ")
    }

    #[test]
    fn numbers_beside_each_other_are_given_alike() {
        let alike = |number, unit| alike(number, unit).replace(SPACE, " ");
        assert_eq!(alike(1_300_000.0, Unit::OperationsPerSecond), "1.30 M");
        assert_eq!(alike(2.0, Unit::Ratio), "2.00");
        assert_eq!(alike(12.0, Unit::Ratio), "12.0");
        assert_eq!(alike(12.0, Unit::Count), "12");
        assert_eq!(alike(0.0, Unit::Nanoseconds), "0");
        assert_eq!(alike(0.000_01, Unit::Share), "0.001 %");
    }

    #[test]
    fn chosen_numbers_keep_every_digit() {
        let chosen = |number, unit| chosen(number, unit).replace([SPACE, NARROW_SPACE], " ");
        assert_eq!(chosen(4096.0, Unit::Plain), "4096");
        assert_eq!(chosen(65536.0, Unit::Plain), "65 536");
        assert_eq!(chosen(1e7, Unit::Plain), "10 M");
        assert_eq!(chosen(0.99, Unit::Plain), "0.99");
        assert_eq!(chosen(0.123_456_7, Unit::Plain), "0.1234567");
        assert_eq!(chosen(4_194_304.0, Unit::Bytes), "4 MiB");
        assert_eq!(chosen(-5.0, Unit::Plain), "−5");
    }

    #[test]
    fn numbers_read_as_people_say_them() {
        for (number, unit, text) in [
            (1_234_567.0, Unit::OperationsPerSecond, "1.23 M"),
            (999_999.0, Unit::Count, "1 M"),
            (350.0, Unit::Nanoseconds, "350 ns"),
            (1_500.0, Unit::Nanoseconds, "1.5 µs"),
            (2.5e9, Unit::Nanoseconds, "2.5 s"),
            (4096.0, Unit::Bytes, "4 KiB"),
            (1_500_000.0, Unit::Bytes, "1.43 MiB"),
            (0.0081, Unit::Share, "0.81 %"),
            (1.0, Unit::Share, "100 %"),
            (0.0, Unit::Share, "0 %"),
            (0.25, Unit::Seconds, "250 ms"),
            (90.0, Unit::Seconds, "90 s"),
            (12.345, Unit::Ratio, "12.3"),
            (12_345.6, Unit::Ratio, "12\u{202f}346"),
            (1.2e-7, Unit::Ratio, "1.2×10⁻⁷"),
            (1e30, Unit::Ratio, "10³⁰"),
            (-5.0, Unit::Plain, "−5"),
            (0.0, Unit::Nanoseconds, "0"),
            (f64::MAX, Unit::Plain, "1.8×10²⁹⁶ T"),
        ] {
            assert_eq!(plain(number, unit), text);
        }
    }

    #[test]
    fn fixed_numbers_have_no_negative_zero() {
        assert_eq!(fixed(-0.001, 1), "0.0");
        assert_eq!(fixed(-2.0, 1), "−2.0");
        assert_eq!(axis_unit(2e6, Unit::OperationsPerSecond).name, "million operations/s");
        assert_eq!(axis_unit(2e6, Unit::Bytes).name, "MiB");
    }
}
