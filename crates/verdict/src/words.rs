//! Parts of sentences that reports share: names, lists, values and wrapped lines.

use results::Unit;

/// The width of wrapped text, in terminal columns.
const WIDTH: usize = 100;

/// The non-breaking space, which keeps the words of a quoted name on one line.
const FIXED_SPACE: char = '\u{a0}';

/// Formats the end of a list that names only its first items, such as ` and 3 more`. Returns an empty text if `others`
/// is 0.
pub fn and_more(others: usize) -> String {
    if others == 0 { String::new() } else { format!(" and {others} more") }
}

/// Formats the name of a variant or a configuration for a sentence. Quotes the name `none`, which could be read as an
/// ordinary word, and names with spaces or commas. Replaces spaces by non-breaking spaces.
pub(crate) fn quoted(name: &str) -> String {
    match name == "none" || name.contains([' ', ',']) {
        true => format!("\"{}\"", name.replace(' ', "\u{a0}")),
        false => name.to_owned(),
    }
}

/// Formats names as a list in a sentence, such as `a, b and c`.
pub(crate) fn listed(names: &[&str]) -> String {
    joined(&names.iter().map(|name| quoted(name)).collect::<Vec<String>>())
}

/// Joins the items of a list for a sentence, such as `a, b and c`.
pub(crate) fn joined(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        parts => parts.concat(),
    }
}

/// Formats a count with its noun, such as `1 trial` or `6 trials`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Formats a value with three digits and its unit for a terminal, such as `755k`, `10.1 MiB` or `0.810%`.
pub(crate) fn shown(value: f64, unit: Unit) -> String {
    let space = if matches!(unit, Unit::Bytes | Unit::Nanoseconds | Unit::Seconds | Unit::MegabytesPerSecond)
    {
        " "
    } else {
        ""
    };
    plot::format_value(value, unit).replace(FIXED_SPACE, space).replace('−', "-")
}

/// Formats a fraction of 1 in percent, with one digit after the decimal point, such as `3.1%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Wraps a text into lines of at most `WIDTH` columns. The first line starts with `first`, and all other lines start
/// with `rest`.
pub fn wrapped(first: &str, rest: &str, text: &str) -> String {
    let (mut lines, mut line, mut is_empty) = (String::new(), first.to_owned(), true);
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &(line + "\n");
            (line, is_empty) = (rest.to_owned(), true);
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    on_one_line(&(lines + &line + "\n"))
}

/// Replaces the non-breaking spaces of a text by plain spaces.
pub(crate) fn on_one_line(text: &str) -> String {
    text.replace(FIXED_SPACE, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_they_read_as_words() {
        assert_eq!(listed(&["none"]), "\"none\"");
        assert_eq!(listed(&["none", "leveled", "xor"]), "\"none\", leveled and xor");
        assert_eq!(on_one_line(&quoted("xor + leveled")), "\"xor + leveled\"");
        assert_eq!(and_more(0) + &and_more(2), " and 2 more");
        assert_eq!([counted(1, "trial"), counted(2, "trial")], ["1 trial", "2 trials"]);
    }

    #[test]
    fn values_have_their_unit() {
        assert_eq!(shown(755_000.0, Unit::OperationsPerSecond), "755k");
        assert_eq!(shown(10.1 * 1_048_576.0, Unit::Bytes), "10.1 MiB");
        assert_eq!(shown(0.0081, Unit::Share), "0.810%");
        assert_eq!(percent(0.031), "3.1%");
    }

    #[test]
    fn long_lines_break_between_words_and_never_in_a_name() {
        let text = format!("{} {}", "word ".repeat(18), quoted("a name of words"));
        let lines = wrapped("Verdict: ", "         ", &text);
        assert_eq!(lines.lines().count(), 2, "{lines}");
        assert_eq!(lines.lines().nth(1), Some("         \"a name of words\""));
        assert!(lines.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(wrapped("  ", "    ", "short"), "  short\n");
    }
}
