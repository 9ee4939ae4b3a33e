//! Converts Markdown to HTML: headings with anchors like those of GitHub, links to pages of the site, and charts inside
//! the page.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use page::escape;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// A Markdown text, converted to HTML.
pub(crate) struct Markdown {
    pub(crate) html: String,
    /// The text of the first heading. Empty if there is no heading.
    pub(crate) title: String,
    /// The charts in the text, as SVG text.
    pub(crate) charts: Vec<String>,
}

/// The target of a link: a page or a chart of the site.
pub(crate) enum Target {
    /// A page at this address.
    Page(String),
    /// A chart as SVG.
    Chart(String),
}

impl Markdown {
    /// Converts a Markdown text to HTML. `target` returns the page or chart for an address in the text. A link for
    /// which `target` returns `None` becomes plain text.
    pub(crate) fn of(text: &str, target: &dyn Fn(&str) -> Option<Target>) -> Self {
        let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
        let mut rendered = Self { html: String::new(), title: String::new(), charts: Vec::new() };
        let (mut events, mut anchors) = (Vec::new(), BTreeSet::new());
        let mut heading: Option<(usize, String)> = None;
        let mut image: Option<(Option<String>, String)> = None;
        let mut has_address = Vec::new();
        for event in parser {
            if let Event::Text(part) | Event::Code(part) = &event {
                if let Some((_, text)) = &mut heading {
                    text.push_str(part);
                }
                if let Some((_, text)) = &mut image {
                    text.push_str(part);
                    continue;
                }
            }
            match event {
                Event::Start(Tag::Heading { .. }) => {
                    heading = Some((events.len(), String::new()));
                    events.push(event);
                }
                Event::End(TagEnd::Heading(_)) => {
                    events.push(event);
                    let Some((at, text)) = heading.take() else { continue };
                    if let Some(Event::Start(Tag::Heading { id, .. })) = events.get_mut(at) {
                        *id = Some(CowStr::from(anchor(&text, &mut anchors)));
                    }
                    if rendered.title.is_empty() {
                        rendered.title = text;
                    }
                }
                Event::Start(Tag::Link { dest_url, link_type, title, id }) => {
                    let address = match is_local(&dest_url) {
                        false => Some(dest_url.to_string()),
                        true => match target(&dest_url) {
                            Some(Target::Page(address)) => Some(address),
                            _ => None,
                        },
                    };
                    has_address.push(address.is_some());
                    if let Some(address) = address {
                        events.push(Event::Start(Tag::Link {
                            link_type,
                            dest_url: address.into(),
                            title,
                            id,
                        }));
                    }
                }
                Event::End(TagEnd::Link) => {
                    if has_address.pop() == Some(true) {
                        events.push(event);
                    }
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    let chart = match target(&dest_url) {
                        Some(Target::Chart(svg)) => Some(svg),
                        _ => None,
                    };
                    image = Some((chart, String::new()));
                }
                Event::End(TagEnd::Image) => {
                    let Some((chart, text)) = image.take() else { continue };
                    events.push(Event::InlineHtml(figure(chart.as_deref(), &text).into()));
                    rendered.charts.extend(chart);
                }
                Event::Start(Tag::Table(_)) => {
                    events.push(Event::Html("<div class=\"scroll\">".into()));
                    events.push(event);
                }
                Event::End(TagEnd::Table) => {
                    events.push(event);
                    events.push(Event::Html("</div>\n".into()));
                }
                _ => events.push(event),
            }
        }
        html::push_html(&mut rendered.html, events.into_iter());
        rendered
    }
}

/// Returns whether a link leads to a file of the repository, and not to another site.
fn is_local(address: &str) -> bool {
    !address.contains("://") && !address.starts_with("mailto:")
}

/// Returns the HTML of a chart with its description. Without a chart, returns only the description.
fn figure(chart: Option<&str>, text: &str) -> String {
    match chart {
        Some(svg) => {
            format!("<span class=\"charts\" role=\"img\" aria-label=\"{}\">{svg}</span>", escape(text))
        }
        None => format!("<em>{}</em>", escape(text)),
    }
}

/// Returns the anchor of a heading, like those of GitHub: lower case, without punctuation, and with hyphens for spaces.
/// If a heading occurs again, its anchor ends with a number. `known` contains the earlier anchors of the page.
fn anchor(text: &str, known: &mut BTreeSet<String>) -> String {
    let lower = text.trim().to_lowercase();
    let kept: String = lower.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect();
    let plain = kept.replace(' ', "-");
    let mut anchor = plain.clone();
    let mut number = 0;
    while !known.insert(anchor.clone()) {
        number += 1;
        anchor.clone_from(&plain);
        let _ = write!(anchor, "-{number}");
    }
    anchor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_anchors_and_links_lead_to_pages() {
        let text = "# What's `new`?\n\n[a](b.md#c) [d](none.toml) [e](https://f) ![g](h.svg)\n\n## Again\n\n## Again\n\n|x|\n|-|\n|1|\n";
        let target = |address: &str| match address {
            "b.md#c" => Some(Target::Page("b.html#c".to_owned())),
            "h.svg" => Some(Target::Chart("<svg/>".to_owned())),
            _ => None,
        };
        let rendered = Markdown::of(text, &target);
        assert_eq!(rendered.title, "What's new?");
        assert_eq!(rendered.charts, ["<svg/>"]);
        for expected in [
            "<h1 id=\"whats-new\">",
            "<a href=\"b.html#c\">a</a> d <a href=\"https://f\">e</a>",
            "aria-label=\"g\"><svg/></span>",
            "<h2 id=\"again\">",
            "<h2 id=\"again-1\">",
            "<div class=\"scroll\"><table>",
        ] {
            assert!(rendered.html.contains(expected), "{expected}: {}", rendered.html);
        }
    }
}
