//! Formats errors for the terminal. The first line is the problem. The suggestion and the valid values follow on
//! separate lines.

use types::Problem;

/// Returns the lines of an error without a line break at the end, such as:
///
/// ```text
/// error: x.toml:3: bloom: unknown variant "standart"
///   help: did you mean "standard"?
///   valid: "none", "standard", "blocked"
/// ```
pub(crate) fn error_text(problem: &Problem) -> String {
    let text = problem.to_string();
    let (text, valid) = match text.rsplit_once("Valid: ") {
        Some((before, valid)) => (before.trim_end_matches([' ', ';', '.']), Some(valid)),
        None => (text.as_str(), None),
    };
    let (text, help) = match text.split_once("; did you mean ") {
        Some((before, suggestion)) => (before, Some(suggestion)),
        None => (text, None),
    };
    let mut lines = format!("error: {text}");
    if let Some(suggestion) = help {
        lines.extend(["\n  help: did you mean ", suggestion]);
    }
    if let Some(valid) = valid {
        lines.extend(["\n  valid: ", valid]);
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn text(message: &str) -> String {
        error_text(&Problem::at(Path::new("x.toml"), Some(3), message))
    }

    #[test]
    fn a_suggestion_and_the_valid_values_have_lines_of_their_own() {
        assert_eq!(text("no room"), "error: x.toml:3: no room");
        let unknown = "bloom: unknown variant \"standart\"";
        let valid = "Valid: \"none\", \"standard\"";
        let help = "\n  help: did you mean \"standard\"?";
        let list = "\n  valid: \"none\", \"standard\"";
        let begin = format!("error: x.toml:3: {unknown}");
        assert_eq!(
            text(&format!("{unknown}; did you mean \"standard\"? {valid}")),
            format!("{begin}{help}{list}")
        );
        assert_eq!(text(&format!("{unknown}; did you mean \"standard\"?")), format!("{begin}{help}"));
        assert_eq!(text(&format!("{unknown}. {valid}")), format!("{begin}{list}"));
        assert_eq!(text(&format!("{unknown}; {valid}")), format!("{begin}{list}"));
    }

    #[test]
    fn a_very_long_word_is_shortened() {
        let long = "x".repeat(300_000);
        let text = text(&format!("unknown variant \"{long}\"; did you mean \"xor\"?"));
        assert!(text.chars().count() < 200, "{text}");
        assert!(text.contains("xxx… (300000 characters)\"\n  help: "), "{text}");
    }
}
