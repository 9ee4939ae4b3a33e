//! The wording of errors, in the form `KEY: error; did you mean "x"? Valid: "a", "b"`.

use catalog::suggestion;
use types::valid_names;

/// The largest number of names in the list of valid names that an error message shows.
const MOST_NAMES: usize = 20;

/// Puts the key in front of a message, as in `phase.load.insert: insert is 0`. Parts of the key at the start of the
/// message are removed, so that no name occurs twice.
pub(crate) fn keyed(key: &str, message: &str) -> String {
    let rest = without_key(key, message);
    if key.is_empty() { rest.to_owned() } else { format!("{key}: {rest}") }
}

/// Removes parts of a key from the beginning of a message. For example, the function removes `bloom: ` if the key is
/// `design.bloom`, and `phase "load": ` if the key is `phase.load.insert`.
pub(crate) fn without_key<'a>(key: &str, message: &'a str) -> &'a str {
    let Some((start, rest)) = message.split_once(": ") else { return message };
    let part = start.replace(" \"", ".").replace('"', "");
    match !part.is_empty() && format!(".{key}.").contains(&format!(".{part}.")) {
        true => without_key(key, rest),
        false => message,
    }
}

/// Returns the message for an unknown name, such as
/// `unknown key "optoin"; did you mean "option"? Valid: "option", "other"`.
pub(crate) fn unknown<'a, I>(noun: &str, name: &str, names: I) -> String
where
    I: IntoIterator<Item = &'a str, IntoIter: Clone>,
{
    let names = names.into_iter();
    let suggestion = suggestion(name, names.clone());
    let end = if suggestion.is_empty() { ". " } else { "; " };
    format!("unknown {noun} \"{name}\"{end}{suggestion}{}", valid(names))
}

/// Returns the list of valid names, such as `Valid: "a", "b"`.
pub(crate) fn valid<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let shown = valid_names(names.iter().take(MOST_NAMES));
    match names.len().checked_sub(MOST_NAMES) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_said_once() {
        for (key, message, expected) in [
            ("design.bloom", "bloom: unknown variant", "design.bloom: unknown variant"),
            ("phase.load.insert", "phase \"load\": insert is 0", "phase.load.insert: insert is 0"),
            ("trials.count", "trials.count: expected a number", "trials.count: expected a number"),
            ("design.cache", "blocks: too many", "design.cache: blocks: too many"),
            ("", "cannot read: no", "cannot read: no"),
        ] {
            assert_eq!(keyed(key, message), expected);
        }
    }

    #[test]
    fn names_are_quoted_and_not_too_many() {
        assert_eq!(
            unknown("key", "cuont", ["count", "seed"]),
            "unknown key \"cuont\"; did you mean \"count\"? Valid: \"count\", \"seed\""
        );
        assert_eq!(unknown("key", "zzz", ["count"]), "unknown key \"zzz\". Valid: \"count\"");
        let names = vec!["x"; MOST_NAMES + 3];
        assert!(valid(names).ends_with("\"x\" and 3 more"));
    }
}
