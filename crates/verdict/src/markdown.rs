//! Escapes text for Markdown.

/// Converts a text to one line that is safe inside and outside of a Markdown table. Line breaks and other control
/// characters become spaces.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // Inside a word, an underscore is not emphasis, and names have many of them.
        let is_inside = |after: &char| after.is_alphanumeric() && before.is_alphanumeric();
        match c {
            '_' if rest.peek().is_some_and(is_inside) => plain.push(c),
            '\\' | '|' | '`' | '*' | '_' | '<' | '[' | ']' | '&' | '~' => plain.extend(['\\', c]),
            c if c.is_control() => plain.push(' '),
            c => plain.push(c),
        }
        before = c;
    }
    plain
}

/// Formats a row of a Markdown table.
pub(crate) fn row<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.into_iter().map(plain).collect();
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_read_as_it_is() {
        assert_eq!(plain("bits_per_key=10, +3.1 % (a-b)"), "bits_per_key=10, +3.1 % (a-b)");
        assert_eq!(plain("a|b"), "a\\|b");
        assert_eq!(plain("_x_ *y* `z` <b> [l](m) \\| &lt; ~~s~~"), {
            "\\_x\\_ \\*y\\* \\`z\\` \\<b> \\[l\\](m) \\\\\\| \\&lt; \\~\\~s\\~\\~"
        });
        assert_eq!(plain("two\nlines"), "two lines");
        assert_eq!(row(["a|b", "c"]), "| a\\|b | c |\n");
    }
}
