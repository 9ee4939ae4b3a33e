//! The names of the claims that one `[[claim]]` table tests.

use schemars::JsonSchema;
use serde::Deserialize;

/// A list of claim names, written like `cs265-020..cs265-021, cs265-204`. Ranges include both ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Ids(Vec<String>);

impl Ids {
    /// Returns the names of all claims in the list.
    pub fn all(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<String> for Ids {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut ids = Vec::new();
        for part in text.split(',').map(str::trim) {
            match part.split_once("..") {
                None => ids.push(id(part)?.name()),
                Some((first, last)) => ids.extend(between(&id(first)?, &id(last)?)?),
            }
        }
        for (at, id) in ids.iter().enumerate() {
            if ids[..at].contains(id) {
                return Err(format!("the list of claims contains {id} twice"));
            }
        }
        Ok(Self(ids))
    }
}

/// The parts of a claim name. For example, `cs265-020` consists of the document `cs265` and the number 20 with 3
/// digits.
struct Id<'a> {
    document: &'a str,
    number: u32,
    digits: usize,
}

impl Id<'_> {
    fn name(&self) -> String {
        format!("{}-{:0digits$}", self.document, self.number, digits = self.digits)
    }
}

fn id(text: &str) -> Result<Id<'_>, String> {
    let wrong =
        || format!("\"{text}\" is not the name of a claim; write it like cs265-001 or cs265-001..cs265-007");
    let (document, number) = text.rsplit_once('-').ok_or_else(wrong)?;
    let digits = number.len();
    let number = number.parse().map_err(|_| wrong())?;
    match document.is_empty() || digits > 6 {
        true => Err(wrong()),
        false => Ok(Id { document, number, digits }),
    }
}

fn between<'a>(first: &'a Id<'a>, last: &'a Id<'a>) -> Result<impl Iterator<Item = String> + 'a, String> {
    if first.document != last.document || first.digits != last.digits || first.number >= last.number {
        return Err(format!(
            "{}..{} is not a range of claims; write two claims of one document with equally many digits, the smaller \
             number first",
            first.name(),
            last.name()
        ));
    }
    Ok((first.number..=last.number).map(|number| Id { number, ..*first }.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Ids, String> {
        Ids::try_from(text.to_owned())
    }

    #[test]
    fn ranges_and_names_stand_in_order() {
        let ids = read("cs265-020..cs265-022, cs265-204").unwrap();
        assert_eq!(ids.all(), ["cs265-020", "cs265-021", "cs265-022", "cs265-204"]);
        assert_eq!(read("a-b-099..a-b-100").unwrap().all(), ["a-b-099", "a-b-100"]);
    }

    #[test]
    fn what_is_no_name_and_no_range_is_refused() {
        for wrong in [
            "",
            "x",
            "x-",
            "-1",
            "x-y",
            "x-1,",
            "x-2..x-1",
            "x-1..y-2",
            "x-1..x-20",
            "x-1, x-1",
            "x-1..x-3, x-2",
            "x-1..",
            "x-9999999",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
