//! Parses additional options of the user, in the syntax of options files: `a=1;b={c=2;d=3}`.

/// Additional options of the user: pairs of a name and a value, in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Overrides(Vec<(String, String)>);

impl Overrides {
    /// Parses the options.
    ///
    /// # Errors
    /// A part is not of the form `name=value`, a brace has no counterpart, or a name occurs twice.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut options: Vec<(String, String)> = Vec::new();
        for part in parts(text)? {
            let (name, value) = part
                .split_once('=')
                .map(|(name, value)| (name.trim(), value.trim()))
                .filter(|(name, value)| is_name(name) && !value.is_empty())
                .ok_or_else(|| format!("options: \"{part}\" is not key=value; write a=1;b={{c=2;d=3}}"))?;
            if options.iter().any(|(known, _)| known == name) {
                return Err(format!("options: {name} has two values; give it one value"));
            }
            options.push((name.to_owned(), value.to_owned()));
        }
        Ok(Self(options))
    }

    /// Returns the user's value of the option `name`, in the form `name=value`. `None` if the user did not set the
    /// option.
    pub(super) fn of(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| known == name).map(|(name, value)| format!("{name}={value}"))
    }

    /// Returns the options of the user whose names are not in `known`, which is a list of options in the form
    /// `name=value`.
    pub(super) fn besides(&self, known: &[String]) -> Vec<String> {
        let is_known = |name: &str| known.iter().any(|option| name_of(option) == name);
        self.0
            .iter()
            .filter(|(name, _)| !is_known(name))
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }
}

/// Returns the name of an option in the form `name=value`.
pub(super) fn name_of(option: &str) -> &str {
    option.split_once('=').map_or(option, |(name, _)| name)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
}

/// Splits the text at the semicolons that are outside of braces.
///
/// # Errors
/// A brace has no counterpart.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.checked_sub(1).ok_or("options: a closing brace has no opening brace")?,
            b';' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err("options: an opening brace has no closing brace".to_owned());
    }
    parts.push(&text[start..]);
    Ok(parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_with_what_is_nested_in_them() {
        let overrides = Overrides::parse(" a=1; b={c=2;d={e=3}} ;").unwrap();
        assert_eq!(overrides.of("b").unwrap(), "b={c=2;d={e=3}}");
        assert_eq!(overrides.of("c"), None);
        assert_eq!(overrides.besides(&["a=7".to_owned()]), ["b={c=2;d={e=3}}"]);
        assert_eq!(Overrides::parse("").unwrap(), Overrides::default());
    }

    #[test]
    fn what_is_none_is_refused_with_words() {
        for (text, part) in [
            ("a", "\"a\" is not key=value"),
            ("a=", "\"a=\" is not key=value"),
            ("=1", "\"=1\" is not key=value"),
            ("a b=1", "\"a b=1\" is not key=value"),
            ("a={b=1", "has no closing brace"),
            ("a=1}", "has no opening brace"),
            ("a=1;a=2", "a has two values"),
        ] {
            let error = Overrides::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
