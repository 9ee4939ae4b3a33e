//! Parses Redis requests in the inline form: one line of words, as users type it in a terminal.

/// Splits a line into its arguments, which may be quoted. Returns `None` if a quote is not closed, or is followed by
/// other text.
///
/// Double quotes support the escapes `\n \r \t \a \b \xHH`. A backslash before any other byte stands for that byte.
/// Single quotes support only the escape `\'`.
pub(crate) fn split(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut rest = line;
    let mut words = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        let Some(first) = rest.first() else { return Some(words) };
        let mut word = Vec::new();
        rest = match first {
            b'"' => quoted(&rest[1..], &mut word)?,
            b'\'' => literal(&rest[1..], &mut word)?,
            _ => {
                let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
                word.extend_from_slice(&rest[..end]);
                &rest[end..]
            }
        };
        if rest.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            return None;
        }
        words.push(word);
    }
}

/// Appends the text up to the closing double quote to `word`, and returns the bytes after the quote.
fn quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [b'"', after @ ..] => return Some(after),
            [b'\\', b'x', high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                word.push(digit(*high) << 4 | digit(*low));
                after
            }
            [b'\\', escaped, after @ ..] => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'a' => 0x07,
                    b'b' => 0x08,
                    other => *other,
                });
                after
            }
            [byte, after @ ..] => {
                word.push(*byte);
                after
            }
            [] => return None,
        };
    }
}

/// Appends the text up to the closing single quote to `word`, and returns the bytes after the quote.
fn literal<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [b'\'', after @ ..] => return Some(after),
            [b'\\', b'\'', after @ ..] => {
                word.push(b'\'');
                after
            }
            [byte, after @ ..] => {
                word.push(*byte);
                after
            }
            [] => return None,
        };
    }
}

fn digit(byte: u8) -> u8 {
    char::from(byte).to_digit(16).unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_redis_splits_them() {
        let split = |line: &str| {
            split(line.as_bytes())
                .map(|words| words.iter().map(|word| word.escape_ascii().to_string()).collect::<Vec<_>>())
        };
        for (line, words) in [
            ("", Some(vec![])),
            ("  GET  a\t", Some(vec!["GET", "a"])),
            ("SET k \"a b\\n\\x00\\\"\"", Some(vec!["SET", "k", "a b\\n\\x00\\\""])),
            ("SET k 'a\\'b\\n'", Some(vec!["SET", "k", "a\\'b\\\\n"])),
            ("SET \"\" ''", Some(vec!["SET", "", ""])),
            ("a\"b", Some(vec!["a\\\"b"])),
            ("\"a", None),
            ("'a", None),
            ("\"a\"b", None),
        ] {
            let words = words.map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(split(line), words, "{line}");
        }
    }
}
