//! The groups of configurations that are compared with each other, and the names of the configurations in a comparison.
//! All configurations of a group have equal values on the swept paths that the verdict keeps fixed.

use results::{ConfigPath, Root};
use types::quantity;

use super::cell::Cell;
use super::engine::{ENGINE, default_engine, engine_label};
use super::resolved::Experiment;

impl Experiment {
    /// Returns the indexes of the swept paths that must have equal values in two compared configurations.
    /// * The key `within` of the table `[verdict]` can set these paths.
    /// * By default, a component experiment compares configurations that differ only in the kind of the component.
    /// * A comparison of engines compares configurations with equal workloads.
    /// * Any other experiment compares all configurations.
    pub(crate) fn compared_within(&self) -> Vec<usize> {
        let own = self.task.component().map(|component| ConfigPath::of_axis(component.axis()));
        let has_engines = self.sweep.factors.iter().any(|factor| factor.path == ENGINE);
        let is_of_workload =
            |path: &str| !matches!(ConfigPath::new(path).root(), Root::Engine | Root::Design);
        let agrees = |path: &String| match (&self.verdict.within, &own) {
            (Some(named), _) => named.contains(path),
            (None, Some(own)) => own != path,
            (None, None) => has_engines && is_of_workload(path),
        };
        let paths = self.sweep.factors.iter().map(|factor| &factor.path).enumerate();
        paths.filter(|(_, path)| agrees(path)).map(|(place, _)| place).collect()
    }

    /// Returns the name of a configuration in verdicts.
    /// * The name is usually the label of the configuration.
    /// * In a component experiment, the name is the variant with its parameters.
    /// * If comparisons keep all swept paths fixed except one, the name is the value at this path, such as `leveled`. A
    ///   number, a size or a time is not a name, so the label takes its place.
    pub(crate) fn name_within(&self, cell: &Cell) -> String {
        let within = self.compared_within();
        let compared: Vec<usize> = (0..cell.swept.len()).filter(|place| !within.contains(place)).collect();
        match (self.task.component(), &compared[..]) {
            (component, [place]) if component.is_some() || !within.is_empty() => {
                let value = &cell.swept[*place];
                if is_name(value) { value.clone() } else { cell.label.clone() }
            }
            (Some(component), _) => cell.design.choice(component.axis()).label(),
            (None, _) => cell.label.clone(),
        }
    }

    /// Returns all names by which the key `baseline` of the table `[verdict]` can select a configuration. Examples are
    /// its label and its engine. [`short_label`](Self::short_label) is one more name, which messages do not list.
    pub(crate) fn names_of(&self, cell: &Cell) -> Vec<String> {
        let choice = self.task.component().map(|component| cell.design.choice(component.axis()));
        let choice = choice.into_iter().flat_map(|choice| [choice.kind().to_owned(), choice.label()]);
        let has_engines = self.cells.iter().any(|cell| cell.engine != default_engine());
        let engine = has_engines.then(|| engine_label(&cell.engine));
        choice.chain([self.name_within(cell), cell.label.clone()]).chain(engine).collect()
    }
}

/// Returns whether a swept value can be the name of a configuration. An empty value, a number, a size and a time
/// cannot.
fn is_name(value: &str) -> bool {
    let is_quantity = [quantity::parse_count, quantity::parse_bytes, quantity::parse_nanoseconds]
        .iter()
        .any(|parse| parse(value).is_ok());
    !value.is_empty() && !is_quantity && value.parse::<f64>().is_err()
}
