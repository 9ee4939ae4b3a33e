//! A page with places for tables of engines, each of an experiment: from `<!-- league NAME -->` to `<!-- /league -->`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use types::{Outcome, Problem};

/// How a place begins, before the name of its experiment.
const BEGIN: &str = "<!-- league ";
/// What stands behind the name.
const NAMED: &str = " -->\n";
/// How a place ends.
const END: &str = "<!-- /league -->";

/// A page, with what stands in its places.
pub struct Page {
    path: PathBuf,
    text: String,
    places: Vec<Place>,
}

struct Place {
    /// The name of the experiment.
    name: String,
    /// Where its tables stand in the text of the page.
    content: Range<usize>,
}

impl Page {
    /// Reads a page.
    ///
    /// # Errors
    /// A file that cannot be read; a place that does not end, or stands there twice.
    pub fn read(path: &Path) -> Outcome<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Problem::doing(format!("read {}", path.display()), error))?;
        let places = places(&text).map_err(|(line, message)| Problem::at(path, Some(line), message))?;
        Ok(Self { path: path.to_owned(), text, places })
    }

    /// The names of the experiments that it has places for, in its order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|place| place.name.as_str())
    }

    /// What stands in the place of an experiment.
    pub fn content(&self, name: &str) -> Outcome<&str> {
        let place = self.places.iter().find(|place| place.name == name);
        let missing = || {
            let message =
                format!("it has no place for {name}: put {BEGIN}{name}{NAMED}{END} where its tables go");
            Problem::at(&self.path, None, message.replace('\n', " and, on a line below, "))
        };
        Ok(&self.text[place.ok_or_else(missing)?.content.clone()])
    }

    /// The text of the page with other tables in the places of some experiments.
    pub fn with(&self, tables: &[(String, String)]) -> String {
        let (mut text, mut at) = (String::new(), 0);
        for place in &self.places {
            let Some((_, table)) = tables.iter().find(|(name, _)| *name == place.name) else { continue };
            text += &self.text[at..place.content.start];
            text += table;
            at = place.content.end;
        }
        text + &self.text[at..]
    }
}

/// The places of a text, in its order; an error is a line with what is wrong there.
fn places(text: &str) -> Result<Vec<Place>, (usize, String)> {
    let mut places: Vec<Place> = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(BEGIN) {
        let begin = at + found;
        let wrong = |message: String| (text[..begin].lines().count() + 1, message);
        let unended = || wrong(format!("a place for tables is `{BEGIN}NAME -->`, and ends with `{END}`"));
        let behind = &text[begin + BEGIN.len()..];
        let (name, rest) =
            behind.split_once(NAMED).filter(|(name, _)| !name.contains('\n')).ok_or_else(unended)?;
        let (content, _) =
            rest.split_once(END).filter(|(content, _)| !content.contains(BEGIN)).ok_or_else(unended)?;
        if places.iter().any(|place| place.name == name) {
            return Err(wrong(format!("there is a second place for {name}; leave one")));
        }
        let start = begin + BEGIN.len() + name.len() + NAMED.len();
        let content = start..start + content.len();
        at = content.end;
        places.push(Place { name: name.to_owned(), content });
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page { path: "page.md".into(), text: text.to_owned(), places: places(text).unwrap() }
    }

    #[test]
    fn a_page_says_where_its_tables_stand() {
        let page =
            page("a\n<!-- league x -->\nold\n<!-- /league -->\nb\n<!-- league y-z -->\n<!-- /league -->\n");
        assert_eq!(page.names().collect::<Vec<_>>(), ["x", "y-z"]);
        assert_eq!(page.content("x"), Ok("old\n"));
        assert_eq!(page.content("y-z"), Ok(""));
        assert!(
            page.content("w").unwrap_err().to_string().contains("put <!-- league w --> and, on a line below")
        );
        let new = page.with(&[("y-z".to_owned(), "1\n".to_owned()), ("x".to_owned(), "2\n".to_owned())]);
        assert_eq!(
            new,
            "a\n<!-- league x -->\n2\n<!-- /league -->\nb\n<!-- league y-z -->\n1\n<!-- /league -->\n"
        );
    }

    #[test]
    fn a_place_that_is_none_is_told_with_its_line() {
        let wrong = |text| places(text).err().unwrap();
        assert_eq!(wrong("a\n<!-- league x -->\n").0, 2);
        assert_eq!(wrong("<!-- league x\n-->\n<!-- /league -->").0, 1);
        assert_eq!(wrong("<!-- league x -->\n<!-- league y -->\n<!-- /league -->").0, 1);
        let twice = "<!-- league x -->\n<!-- /league -->\n".repeat(2);
        assert_eq!(wrong(&twice), (3, "there is a second place for x; leave one".to_owned()));
    }
}
