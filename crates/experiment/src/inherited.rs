//! The settings that swept variants inherit from the base design. If the base design changes a setting, every swept
//! variant with such a setting uses the changed value instead of its own default. All variants then have equal settings
//! in the comparison. A run prints the inherited settings, because a reader may expect the defaults.

use catalog::Axis;
use results::ConfigPath;
use tree::axis;

use super::cell::Cell;
use super::resolved::Experiment;

impl Experiment {
    /// Returns one sentence for each swept axis whose variants use settings of the base design instead of their own
    /// defaults.
    pub fn inherited(&self) -> Vec<String> {
        let swept = self.sweep.factors.iter().filter_map(|factor| {
            let path = ConfigPath::new(&factor.path);
            path.axis().filter(|_| path.below().len() == 1).and_then(axis)
        });
        swept.filter_map(|axis| self.inherited_on(axis)).collect()
    }

    fn inherited_on(&self, axis: &dyn Axis) -> Option<String> {
        let base = self.design.choice(axis.name());
        let defaults = axis.variants().iter().find(|variant| variant.kind == base.kind())?.defaults.clone();
        let changed = base.params().iter().filter(|(key, value)| defaults.get(*key) != Some(*value));
        let has = |cell: &Cell, key: &str, value| {
            let choice = cell.design.choice(axis.name());
            choice.kind() != base.kind() && choice.params().get(key) == Some(value)
        };
        let taken = changed.filter(|(key, value)| self.cells.iter().any(|cell| has(cell, key, value)));
        let taken: Vec<String> = taken.map(|(key, value)| format!("{key} = {value}")).collect();
        let name = axis.name();
        (!taken.is_empty()).then(|| {
            format!(
                "{name}: the base design sets {values}; swept variants with a parameter of this name use this \
                 value instead of their own default",
                values = taken.join(", ")
            )
        })
    }
}
