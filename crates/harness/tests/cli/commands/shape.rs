//! The shape of printed text: the text without numbers. A run of other size or at another time prints other numbers.

/// The units that can follow a number and a space.
const UNITS: [&str; 9] = ["ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "M"];

/// Compares a quoted output with the real output. Returns the first quoted statement that the real output lacks.
///
/// A statement is a line, or a sentence of the paragraph that begins with `Verdict:`. The real output must contain the
/// quoted statements in this order, with any numbers. It may contain more lines, because notes depend on the machine. A
/// quoted `…` at the end of a line stands for the rest of the line or for the lines that follow.
pub(crate) fn missing(quoted: &str, real: &str) -> Option<String> {
    let real = statements(real);
    let mut rest = real.iter();
    statements(quoted).into_iter().find(|statement| match statement.strip_suffix('…').map(str::trim_end) {
        Some("") => false,
        Some(beginning) => !rest.any(|line| line.starts_with(beginning)),
        None => !rest.any(|line| line == statement),
    })
}

/// Returns the shapes of the lines of a text, and of the sentences of its verdict.
fn statements(text: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut verdict: Option<String> = None;
    for line in text.lines() {
        let line = shape(line);
        if line.starts_with("Verdict:") {
            verdict = Some(String::new());
        } else if line.starts_with("Results:")
            && let Some(verdict) = verdict.take()
        {
            statements
                .extend(verdict.split(". ").map(|sentence| sentence.trim_end_matches(['.', ' ']).to_owned()));
        }
        match &mut verdict {
            Some(verdict) => verdict.extend([&*line, " "]),
            None if line.is_empty() => {}
            None => statements.push(line),
        }
    }
    statements.extend(verdict);
    statements
}

/// Replaces each number with its sign and its unit by `#`, the result of a gate by `PASS`, and spaces by one space.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    let mut rest = line.trim();
    while let Some(first) = rest.chars().next() {
        let is_inside_word = shape.ends_with(|last: char| last.is_alphanumeric() || "_-".contains(last));
        if let Some(length) = number(rest).filter(|_| !is_inside_word) {
            shape.push('#');
            rest = &rest[length..];
        } else if first.is_whitespace() {
            shape.push(' ');
            rest = rest.trim_start();
        } else {
            shape.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    match shape.strip_prefix("FAIL ") {
        Some(counts) => format!("PASS {counts}"),
        None => shape,
    }
}

/// Returns the length of the number at the start of a text, with its sign and its unit; `None` if no number is there.
fn number(text: &str) -> Option<usize> {
    let digits = text.trim_start_matches(['+', '-', '<']);
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let end =
        digits.find(|next: char| !next.is_alphanumeric() && !".,%".contains(next)).unwrap_or(digits.len());
    let end = digits[..end].trim_end_matches(['.', ',']).len();
    let after = &digits[end..];
    let unit = after
        .strip_prefix(' ')
        .map(|after| after.split(|next: char| !next.is_alphanumeric()).next().unwrap());
    let unit = unit.filter(|unit| UNITS.contains(unit)).map_or(0, |unit| unit.len() + 1);
    Some(text.len() - digits.len() + end + unit)
}

#[test]
fn shapes_have_no_numbers() {
    assert_eq!(shape("  standard  0.832% ±  <1%   19.7 MiB"), "standard # ± # #");
    assert_eq!(
        shape("tiered is +3.24x l0-tiered (95% CI 3.22x to 3.25x)."),
        "tiered is # l0-tiered (# CI # to #)."
    );
    assert_eq!(shape("FAIL  1 of 20 counters, 21034 -> 21035"), "PASS # of # counters, # -> #");
}

#[test]
fn quoted_statements_are_compared_in_their_order() {
    let real = "title 1\n  a  2\nVerdict: a is 5% faster. Only b differs.\n  A note.\nResults: c\nlast\n";
    assert_eq!(
        missing("title 3\n  a   4\nVerdict: a is 7% faster. Only b\n    differs.\nResults: c\n", real),
        None
    );
    assert_eq!(missing("title …\n…\nlast\n", real), None);
    assert_eq!(missing("title 3\nb 4\n", real).as_deref(), Some("b #"));
    assert_eq!(missing("a 2\ntitle 1\n", real).as_deref(), Some("title #"));
    assert_eq!(
        missing("Verdict: a is 5% slower. Only b differs.\nResults: c\n", real).as_deref(),
        Some("Verdict: a is # slower")
    );
}
