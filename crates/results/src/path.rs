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

/// The subject of a setting: the engine, the design, a phase or a component. The first word of the path names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// A setting of the storage engine.
    Engine,
    /// A setting of the design: the components and parameters of an LSM-tree.
    Design,
    /// A setting of a workload phase.
    Phase,
    /// A parameter of a component under test.
    Component,
    /// Any other setting, such as the keys of the workload.
    Other,
}

impl<'a> ConfigPath<'a> {
    /// Splits a path at its dots.
    pub fn new(path: &'a str) -> Self {
        Self { text: path, parts: path.split('.').collect() }
    }

    /// Returns the path of a component of the design, such as `design.bloom`. The value at this path is the variant of
    /// the component.
    pub fn of_axis(axis: &str) -> String {
        format!("{DESIGN}.{axis}")
    }

    /// Returns the subject of the setting at this path, such as the engine or a phase.
    pub fn root(&self) -> Root {
        match self.parts[0] {
            ENGINE => Root::Engine,
            DESIGN => Root::Design,
            PHASE => Root::Phase,
            COMPONENT => Root::Component,
            _ => Root::Other,
        }
    }

    /// Returns the words of the path between its dots. A path has at least one word.
    pub fn parts(&self) -> &[&'a str] {
        &self.parts
    }

    /// Returns the words of the path after its first word.
    pub fn below(&self) -> &[&'a str] {
        &self.parts[1..]
    }

    /// Returns the second word of a path into the design, such as `bloom`. Returns `None` for any other path.
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
