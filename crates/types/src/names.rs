//! Lists of valid names in error messages.

/// Returns the list of valid names at the end of an error message, such as `Valid: "leveled", "tiered"`.
pub fn valid_names<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let names = names.into_iter().map(|name| format!("\"{}\"", name.as_ref()));
    format!("Valid: {}", names.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_names_are_quoted() {
        assert_eq!(valid_names(["leveled", "none"]), "Valid: \"leveled\", \"none\"");
    }
}
