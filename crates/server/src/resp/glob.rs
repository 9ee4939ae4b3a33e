//! Matches names of Redis keys against patterns with the syntax of Redis: `*`, `?`, `[a-z]`, `[^a]`, and `\` before a
//! byte that is matched literally.

/// Returns whether a pattern with the syntax of Redis, such as `user:*`, matches a whole name. The time is at most
/// proportional to the product of both lengths.
pub(crate) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut pattern_at, mut name_at) = (0, 0);
    // The position after the last `*`, and the current end of the bytes that this `*` matches.
    let mut star: Option<(usize, usize)> = None;
    loop {
        if pattern.get(pattern_at) == Some(&b'*') {
            star = Some((pattern_at + 1, name_at));
            pattern_at += 1;
            continue;
        }
        let step = match name.get(name_at) {
            None if pattern_at == pattern.len() => return true,
            None => return false,
            Some(byte) => match_one(&pattern[pattern_at..], *byte),
        };
        match (step, star) {
            (Some(length), _) => {
                pattern_at += length;
                name_at += 1;
            }
            (None, Some((behind, matched))) => {
                pattern_at = behind;
                name_at = matched + 1;
                star = Some((behind, matched + 1));
            }
            (None, None) => return false,
        }
    }
}

/// Returns the length of the first element of a pattern if this element matches `byte`. Otherwise, returns `None`.
fn match_one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [] => None,
        [b'?', ..] => Some(1),
        [b'[', class @ ..] => match_class(class, byte).map(|length| length + 1),
        [b'\\', escaped, ..] => (*escaped == byte).then_some(2),
        [literal, ..] => (*literal == byte).then_some(1),
    }
}

/// Returns the length of a character class after its `[`, including the `]`, if the class contains `byte`. Otherwise,
/// returns `None`. A class without a `]` ends at the end of the pattern.
fn match_class(class: &[u8], byte: u8) -> Option<usize> {
    let is_negated = class.first() == Some(&b'^');
    let mut at = usize::from(is_negated);
    let mut is_found = false;
    loop {
        let (length, found) = match &class[at..] {
            [] => break,
            [b']', ..] => {
                at += 1;
                break;
            }
            [b'\\', escaped, ..] => (2, *escaped == byte),
            [low, b'-', high, ..] => (3, (*low.min(high)..=*low.max(high)).contains(&byte)),
            [literal, ..] => (1, *literal == byte),
        };
        at += length;
        is_found |= found;
    }
    (is_found != is_negated).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_those_of_redis() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("*b*", "abc", true),
            ("a*d", "abc", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("h[ae]llo", "hello", true),
            ("h[^e]llo", "hello", false),
            ("h[a-f]llo", "hello", true),
            ("h[f-a]llo", "hello", true),
            ("h\\*llo", "h*llo", true),
            ("h\\*llo", "hello", false),
            ("[\\]]", "]", true),
            ("[ab", "b", true),
            ("a*b*c", "aXXbYYc", true),
            ("key:*:1", "key:22:1", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
        let (pattern, name) = ("a*".repeat(2_000), "a".repeat(4_000));
        assert!(matches(pattern.as_bytes(), name.as_bytes()));
        assert!(!matches((pattern + "b").as_bytes(), name.as_bytes()), "it ends soon");
    }
}
