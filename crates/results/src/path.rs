//! Dotted paths to the settings of a configuration, such as `design.bloom.bits_per_key`, `phase.load.threads` and
//! `engine.library`.

use crate::columns::ENGINE;

/// The first word of the paths into a design.
const DESIGN: &str = "design";

/// The first word of the paths into the phases of a workload.
const PHASE: &str = "phase";

/// The first word of the paths into the parameters of a component under test.
const COMPONENT: &str = "component";

/// A dotted path into a configuration, split at its dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigPath<'a> {
    text: &'a str,
    parts: Vec<&'a str>,
}

/// The part of a configuration to which a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// The engine.
    Engine,
    /// The design.
    Design,
    /// A phase of the workload, by its name.
    Phase,
    /// The parameters of a component under test.
    Component,
    /// Any other part of a configuration, such as the keys of the workload.
    Other,
}

impl<'a> ConfigPath<'a> {
    /// Splits a path at its dots.
    pub fn new(path: &'a str) -> Self {
        Self { text: path, parts: path.split('.').collect() }
    }

    /// Returns the path of an axis of the design, such as `design.bloom`. The value at this path is the selected
    /// variant.
    pub fn of_axis(axis: &str) -> String {
        format!("{DESIGN}.{axis}")
    }

    /// Returns the part of a configuration to which the path refers.
    pub fn root(&self) -> Root {
        match self.parts[0] {
            ENGINE => Root::Engine,
            DESIGN => Root::Design,
            PHASE => Root::Phase,
            COMPONENT => Root::Component,
            _ => Root::Other,
        }
    }

    /// Returns all parts of the path. A path has at least one part.
    pub fn parts(&self) -> &[&'a str] {
        &self.parts
    }

    /// Returns all parts after the first part.
    pub fn below(&self) -> &[&'a str] {
        &self.parts[1..]
    }

    /// Returns the axis, or the group of options, of a path into the design. Returns `None` for any other path.
    pub fn axis(&self) -> Option<&'a str> {
        self.below().first().copied().filter(|_| self.root() == Root::Design)
    }

    /// Returns the name of the phase in a path into a phase. Returns `None` for any other path.
    pub fn phase(&self) -> Option<&'a str> {
        self.below().first().copied().filter(|_| self.root() == Root::Phase)
    }

    /// Returns the path without its first word, if this word is `design` or `component`. Returns any other path
    /// unchanged.
    pub fn short(&self) -> &'a str {
        let below = self.text.split_once('.').map(|(_, below)| below);
        below.filter(|_| matches!(self.root(), Root::Design | Root::Component)).unwrap_or(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_into_one_part() {
        for (path, root, axis, phase, short) in [
            ("engine", Root::Engine, None, None, "engine"),
            ("design.bloom", Root::Design, Some("bloom"), None, "bloom"),
            ("design.bloom.bits_per_key", Root::Design, Some("bloom"), None, "bloom.bits_per_key"),
            ("design", Root::Design, None, None, "design"),
            ("phase.load.threads", Root::Phase, None, Some("load"), "phase.load.threads"),
            ("component.entries", Root::Component, None, None, "entries"),
            ("designs.bloom", Root::Other, None, None, "designs.bloom"),
        ] {
            let parsed = ConfigPath::new(path);
            assert_eq!((parsed.root(), parsed.axis(), parsed.phase()), (root, axis, phase), "{path}");
            assert_eq!(parsed.short(), short);
        }
        assert_eq!(ConfigPath::of_axis("bloom"), "design.bloom");
    }
}
