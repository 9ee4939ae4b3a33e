//! Inserts the tables of experiments into a Markdown page. The tables of the experiment NAME are inserted between the
//! comments `<!-- engines NAME -->` and `<!-- /engines -->`. The text between two such comments is called a place.

use std::ops::Range;
use std::path::{Path, PathBuf};

use types::{Outcome, Problem};

/// The start of the comment before the tables of an experiment. The name of the experiment follows.
const BEGIN: &str = "<!-- engines ";
/// The end of the comment before the tables. This text follows directly after the name of the experiment.
const NAMED: &str = " -->\n";
/// The comment after the tables of an experiment.
const END: &str = "<!-- /engines -->";

/// A Markdown page that contains places for tables. A place for tables is the text between two HTML comments.
pub struct MarkdownPage {
    path: PathBuf,
    text: String,
    places: Vec<Place>,
}

struct Place {
    /// The name of the experiment to which the tables belong.
    name: String,
    /// The byte range of the tables in the text of the page, between the two comments.
    content: Range<usize>,
}

impl MarkdownPage {
    /// Reads a Markdown page, and finds the pairs of comments that enclose engine tables.
    ///
    /// # Errors
    /// The file cannot be read, a start comment has no end comment, or the page has two start comments for one
    /// experiment.
    pub fn read(path: &Path) -> Outcome<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Problem::doing(format!("read {}", path.display()), error))?;
        let places = places(&text).map_err(|(line, message)| Problem::at(path, Some(line), message))?;
        Ok(Self { path: path.to_owned(), text, places })
    }

    /// Returns the names of the experiments whose tables the page contains or should contain, in the order of the page.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|place| place.name.as_str())
    }

    /// Returns the tables of an experiment that the page contains now. Returns an error if the page has no place for
    /// them.
    pub fn content(&self, name: &str) -> Outcome<&str> {
        let place = self.places.iter().find(|place| place.name == name);
        let missing = || {
            let message = format!(
                "the page has no place for the tables of {name}; add {BEGIN}{name}{NAMED}{END} to the page"
            );
            Problem::at(&self.path, None, message.replace('\n', " and, on a line below, "))
        };
        Ok(&self.text[place.ok_or_else(missing)?.content.clone()])
    }

    /// Returns the text of the page with new tables. Each element of `tables` is the name of an experiment and its
    /// tables.
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

/// Finds the places for tables in the text of a page, in order. An error consists of a line number and a message.
fn places(text: &str) -> Result<Vec<Place>, (usize, String)> {
    let mut places: Vec<Place> = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(BEGIN) {
        let begin = at + found;
        let wrong = |message: String| (text[..begin].lines().count() + 1, message);
        let unended =
            || wrong(format!("a place for tables begins with `{BEGIN}NAME -->` and ends with `{END}`"));
        let after = &text[begin + BEGIN.len()..];
        let (name, rest) =
            after.split_once(NAMED).filter(|(name, _)| !name.contains('\n')).ok_or_else(unended)?;
        let (content, _) =
            rest.split_once(END).filter(|(content, _)| !content.contains(BEGIN)).ok_or_else(unended)?;
        if places.iter().any(|place| place.name == name) {
            return Err(wrong(format!(
                "the page has a second place for the tables of {name}; remove one of the two places"
            )));
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

    fn page(text: &str) -> MarkdownPage {
        MarkdownPage { path: "page.md".into(), text: text.to_owned(), places: places(text).unwrap() }
    }

    #[test]
    fn a_page_says_where_its_tables_stand() {
        let page = page(
            "a\n<!-- engines x -->\nold\n<!-- /engines -->\nb\n<!-- engines y-z -->\n<!-- /engines -->\n",
        );
        assert_eq!(page.names().collect::<Vec<_>>(), ["x", "y-z"]);
        assert_eq!(page.content("x"), Ok("old\n"));
        assert_eq!(page.content("y-z"), Ok(""));
        assert!(
            page.content("w")
                .unwrap_err()
                .to_string()
                .contains("add <!-- engines w --> and, on a line below")
        );
        let new = page.with(&[("y-z".to_owned(), "1\n".to_owned()), ("x".to_owned(), "2\n".to_owned())]);
        assert_eq!(
            new,
            "a\n<!-- engines x -->\n2\n<!-- /engines -->\nb\n<!-- engines y-z -->\n1\n<!-- /engines -->\n"
        );
    }

    #[test]
    fn a_place_that_is_none_is_told_with_its_line() {
        let wrong = |text| places(text).err().unwrap();
        assert_eq!(wrong("a\n<!-- engines x -->\n").0, 2);
        assert_eq!(wrong("<!-- engines x\n-->\n<!-- /engines -->").0, 1);
        assert_eq!(wrong("<!-- engines x -->\n<!-- engines y -->\n<!-- /engines -->").0, 1);
        let twice = "<!-- engines x -->\n<!-- /engines -->\n".repeat(2);
        let message = "the page has a second place for the tables of x; remove one of the two places";
        assert_eq!(wrong(&twice), (3, message.to_owned()));
    }
}
