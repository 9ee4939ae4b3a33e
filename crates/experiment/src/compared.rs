//! The groups of configurations that are compared with each other, and the names of the configurations in a comparison.
//! All configurations of a group have equal values on the swept paths that the verdict keeps fixed.

use results::{ConfigPath, Root};
use types::quantity;

use super::cell::Cell;
use super::engine::{ENGINE, default_engine, engine_label};
use super::resolved::Experiment;

impl Experiment {
    /// Returns the positions of the swept paths that a comparison keeps fixed: only configurations with equal values at
    /// these paths are compared.
    /// * The key `within` of the table `[verdict]` can name these paths.
    /// * Without this key, a component experiment fixes every path except the kind of the component.
    /// * An experiment with several engines fixes the paths of the workload.
    /// * Any other experiment fixes no path.
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

    /// Returns the name of a configuration in a comparison.
    /// * If the compared configurations differ in one swept path, the name is the value at this path. A value that is a
    ///   number, a size or a time is no name, so the label of the configuration takes its place.
    /// * If they differ in several paths, the name is the label of the configuration, or the variant with its
    ///   parameters in a component experiment.
    /// * If a workload experiment keeps no path fixed, the name is always the label.
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

    /// Returns all names by which the key `baseline` of the table `[verdict]` can select this configuration. A
    /// component can also be named by its kind, with or without parameters. In a comparison of engines, a configuration
    /// can also be named by its engine.
    pub(crate) fn names_of(&self, cell: &Cell) -> Vec<String> {
        let choice = self.task.component().map(|component| cell.design.choice(component.axis()));
        let choice = choice.into_iter().flat_map(|choice| [choice.kind().to_owned(), choice.label()]);
        let has_engines = self.cells.iter().any(|cell| cell.engine != default_engine());
        let engine = has_engines.then(|| engine_label(&cell.engine));
        choice.chain([self.name_within(cell), cell.label.clone()]).chain(engine).collect()
    }
}

/// Returns whether a swept value is distinctive enough to be the name of a configuration. An empty value, a number, a
/// size and a time are not.
fn is_name(value: &str) -> bool {
    let is_quantity = [quantity::parse_count, quantity::parse_bytes, quantity::parse_nanoseconds]
        .iter()
        .any(|parse| parse(value).is_ok());
    !value.is_empty() && !is_quantity && value.parse::<f64>().is_err()
}
