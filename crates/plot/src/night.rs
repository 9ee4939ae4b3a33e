//! Generates style sheet rules that give charts dark colors. The SVG files keep their light colors, because they are
//! also shown without a style sheet.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::palette::Color;

/// The SVG attributes that contain colors.
const ATTRIBUTES: [&str; 2] = ["fill", "stroke"];

/// Returns style sheet rules that give SVG charts dark colors, for a page in dark mode. The rules apply inside the
/// elements that the selector `within` selects, and replace each color in `charts`. The background of the page must be
/// the color that replaces white.
pub fn night<'a>(charts: impl IntoIterator<Item = &'a str>, within: &str) -> String {
    let mut used = BTreeSet::new();
    for chart in charts {
        for attribute in ATTRIBUTES {
            let begin = format!(" {attribute}=\"#");
            let colors = chart.split(&begin).skip(1).filter_map(|rest| color(rest.get(..6)?));
            used.extend(colors.map(|color| (attribute, color)));
        }
    }
    let mut rules = String::new();
    for (attribute, color) in used {
        let (day, night) = (hexadecimal(color), hexadecimal(color.at_night()));
        let _ = writeln!(rules, "{within} [{attribute}=\"{day}\"] {{ {attribute}: {night}; }}");
    }
    rules
}

fn color(digits: &str) -> Option<Color> {
    let channel = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    Some(Color(channel(0)?, channel(2)?, channel(4)?))
}

fn hexadecimal(color: Color) -> String {
    format!("#{:02X}{:02X}{:02X}", color.0, color.1, color.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_colour_has_a_rule_once() {
        let charts = [
            "<rect fill=\"#FFFFFF\" stroke=\"none\"/><path stroke=\"#0072B2\" fill=\"none\"/>",
            "<rect fill=\"#FFFFFF\"/>",
        ];
        let rules = night(charts, ".charts");
        assert_eq!(
            rules,
            ".charts [fill=\"#FFFFFF\"] { fill: #1E2125; }\n.charts [stroke=\"#0072B2\"] { stroke: #1E84C8; }\n"
        );
        assert_eq!(night([], ".charts"), "");
    }
}
