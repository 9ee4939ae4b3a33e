//! Parses the numbers in a results table, in all notations of an experiment file: `12`, `0.5`, `"4MiB"`, `"30s"`.

use results::{Unit, Value};
use types::quantity::{parse_bytes, parse_count, parse_nanoseconds};

/// Parses a value as a number with its unit. Returns `None` if the value is not a number. `unit` is the unit of a
/// number without its own unit.
pub(crate) fn of(value: &Value, unit: Unit) -> Option<(f64, Unit)> {
    let text = match value {
        Value::Empty => return None,
        Value::Integer(_) | Value::Number(_) => return Some((value.number()?, unit)),
        Value::Text(text) => text,
    };
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let with = |unit| move |number: u64| (number as f64, unit);
    match text.chars().last()? {
        'B' => parse_bytes(text).ok().map(with(Unit::Bytes)),
        'k' | 'K' | 'M' | 'G' => parse_count(text).ok().map(with(Unit::Count)),
        's' | 'n' | 'h' => parse_nanoseconds(text).ok().map(with(Unit::Nanoseconds)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_numbers_and_names_are_not() {
        let of = |text: &str| of(&Value::infer(text), Unit::Plain);
        assert_eq!(of("4MiB"), Some((4_194_304.0, Unit::Bytes)));
        assert_eq!(of("30s"), Some((3e10, Unit::Nanoseconds)));
        assert_eq!(of("10M"), Some((1e7, Unit::Count)));
        assert_eq!(of("0.5"), Some((0.5, Unit::Plain)));
        for name in ["blocked", "", "4 parsecs", "lru(capacity=4MiB)", "B"] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
