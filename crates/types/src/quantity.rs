//! Quantities in text: sizes such as `4MiB`, counts such as `10M`, and times such as `30s`.
//!
//! Formatting is exact, because it uses the largest unit that divides the number. Parsing the text therefore returns
//! the same number.

/// Units of sizes in bytes: first the powers of two, then all other units.
const BYTE_UNITS: &[(&str, u64)] = &[
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("KB", 1_000),
    ("B", 1),
];

/// Units of counts, largest first.
const COUNT_UNITS: &[(&str, u64)] = &[("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000), ("K", 1_000)];

/// Units of time in nanoseconds. The unit `s` is last, because the names of other units also end with `s`.
const TIME_UNITS: &[(&str, u64)] = &[
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("s", 1_000_000_000),
];

/// Parses a size in bytes, such as `4MiB`, `1.5GiB`, `64 kB` or `4096`.
///
/// # Errors
/// The text has another format. The message contains the text and the valid formats.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    parse(text, BYTE_UNITS)
        .ok_or_else(|| format!("\"{text}\" is not a size; write it as \"4MiB\", \"64KiB\" or 4096"))
}

/// Parses a size in bytes that has a unit, such as `4MiB`. Returns `None` for any other text, such as `4096`.
pub fn parse_size(text: &str) -> Option<u64> {
    parse_bytes(text).ok().filter(|_| text.trim_end().ends_with('B'))
}

/// Parses a count, such as `10M`, `500k` or `1_000_000`.
///
/// # Errors
/// The text has another format. The message contains the text and the valid formats.
pub fn parse_count(text: &str) -> Result<u64, String> {
    parse(text, COUNT_UNITS)
        .ok_or_else(|| format!("\"{text}\" is not a count; write it as \"10M\", \"500k\" or 1_000_000"))
}

/// Parses a time, such as `30s`, `100ms`, `5us` or `2min`. Returns nanoseconds. A text without a unit is an error.
///
/// # Errors
/// The text has another format. The message contains the text and the valid formats.
pub fn parse_nanoseconds(text: &str) -> Result<u64, String> {
    let has_unit = text.trim_end().ends_with(|c: char| c.is_ascii_alphabetic());
    parse(text, TIME_UNITS)
        .filter(|_| has_unit)
        .ok_or_else(|| format!("\"{text}\" is not a time; write it as \"30s\", \"100ms\" or \"5us\""))
}

/// Formats a number of bytes with the largest unit that divides it, such as `4MiB` or `5MB`.
pub fn format_bytes(bytes: u64) -> String {
    let dividing = BYTE_UNITS.iter().filter(|(_, size)| bytes != 0 && bytes.is_multiple_of(*size));
    // `kB` and `KB` have the same size. The reversed order selects `kB`, which is first in the list.
    let (unit, size) = dividing.rev().max_by_key(|(_, size)| *size).copied().unwrap_or(("B", 1));
    format!("{}{unit}", bytes / size)
}

/// Formats a time with the largest unit that divides it, such as `30s` or `1500ms`.
pub fn format_nanoseconds(nanoseconds: u64) -> String {
    let (unit, size) = TIME_UNITS
        .iter()
        .filter(|(_, size)| nanoseconds != 0 && nanoseconds.is_multiple_of(*size))
        .max_by_key(|(_, size)| *size)
        .unwrap_or(&("ns", 1));
    format!("{}{unit}", nanoseconds / size)
}

/// Parses a number with an optional unit, such as `4MiB`. A decimal fraction is valid if the result is an integer.
fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let (digits, size) = units
        .iter()
        .find_map(|(name, size)| text.strip_suffix(name).map(|digits| (digits.trim_end(), *size)))
        .unwrap_or((text, 1));
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    if !digits.starts_with(|c: char| c.is_ascii_digit())
        || !digits.chars().all(|c| c.is_ascii_digit() || c == '.')
    {
        return None;
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let whole: u64 = whole.parse().ok()?;
    let scale = 10u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let fraction: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let parts = u128::from(whole) * u128::from(scale) + u128::from(fraction);
    let number = parts * u128::from(size);
    if !number.is_multiple_of(u128::from(scale)) {
        return None;
    }
    u64::try_from(number / u128::from(scale)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        assert_eq!(parse_bytes("4MiB"), Ok(4 << 20));
        assert_eq!(parse_bytes("1.5GiB"), Ok(3 << 29));
        assert_eq!(parse_bytes("64 kB"), Ok(64_000));
        assert_eq!(parse_bytes("4_096"), Ok(4096));
        assert_eq!(parse_bytes("10B"), Ok(10));
        for bad in ["", "MiB", "-1", "4 parsecs", "0.3B", "1e9", "99999999999TiB", "."] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_a_text_with_a_unit_is_certainly_a_size() {
        assert_eq!(parse_size("4MiB"), Some(4 << 20));
        assert_eq!(parse_size("0 B"), Some(0));
        for other in ["4096", "10M", "30s", "lru(capacity=4MiB)", "B", ""] {
            assert_eq!(parse_size(other), None, "{other}");
        }
    }

    #[test]
    fn counts_and_times_have_their_units() {
        assert_eq!(parse_count("10M"), Ok(10_000_000));
        assert_eq!(parse_count("2.5k"), Ok(2500));
        assert_eq!(parse_nanoseconds("30s"), Ok(30_000_000_000));
        assert_eq!(parse_nanoseconds("100ms"), Ok(100_000_000));
        assert_eq!(parse_nanoseconds("2min"), Ok(120_000_000_000));
        assert!(parse_nanoseconds("30").is_err());
    }

    #[test]
    fn formatting_is_the_inverse_of_parsing() {
        for (bytes, text) in [
            (0, "0B"),
            (1, "1B"),
            (999, "999B"),
            (1000, "1kB"),
            (1024, "1KiB"),
            (512_000, "500KiB"),
            (5_000_000, "5MB"),
            (4 << 20, "4MiB"),
        ] {
            assert_eq!(format_bytes(bytes), text);
        }
        for number in [0, 1, 999, 1000, 1024, 4 << 20, (4 << 20) + 1, 64 << 30, u64::MAX] {
            assert_eq!(parse_bytes(&format_bytes(number)), Ok(number));
            assert_eq!(parse_nanoseconds(&format_nanoseconds(number)), Ok(number));
        }
        assert_eq!(format_nanoseconds(30_000_000_000), "30s");
        assert_eq!(format_nanoseconds(1_500_000_000), "1500ms");
    }
}
