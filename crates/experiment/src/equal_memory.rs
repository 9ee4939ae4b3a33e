//! Gives all configurations of a sweep one memory budget: `memory = "equal"`.
//!
//! The budget is `design.memory`. Two memtables are set aside, filters and fence pointers take the memory that they
//! need, and the cache gets the rest. A configuration with a larger filter therefore has a smaller cache. The memory
//! of each configuration is measured, and comparisons of configurations with different memory are marked.

use toml::Value;

use super::cell::Cell;
use super::resolved::Experiment;

impl Experiment {
    /// Returns whether all configurations have the same memory budget.
    pub(crate) fn has_equal_memory(&self) -> bool {
        self.sweep.equal_memory
    }
}

/// Returns an error if an experiment sets the capacity of the cache and also a memory budget, because the budget
/// determines the capacity. The error is a sentence. `named` are the values of the design that the experiment itself
/// sets, by their paths in the design.
pub(super) fn check_capacity<'a>(
    mut named: impl Iterator<Item = (Vec<&'a str>, &'a Value)>,
    cells: &[Cell],
) -> Result<(), String> {
    let sets_capacity = |(path, value): (Vec<&str>, &Value)| match path[..] {
        ["cache", "capacity"] => true,
        ["cache"] => {
            value.get("capacity").is_some() || value.as_str().is_some_and(|label| label.contains("capacity="))
        }
        _ => false,
    };
    let has_budget = cells.iter().any(|cell| cell.design.options.memory.is_some());
    match has_budget && named.any(sets_capacity) {
        true => {
            Err("design.memory gives the cache all memory that memtables, filters and fence pointers do not \
            use; remove design.memory or design.cache.capacity"
                .to_owned())
        }
        false => Ok(()),
    }
}

/// Returns an error if configurations have different budgets. The error is a sentence.
pub(super) fn check(cells: &[Cell]) -> Result<(), String> {
    let mut budget = None;
    for cell in cells {
        if cell.task.component().is_some() {
            return Err(
                "a component experiment has no tree, so design.memory has no effect; remove it".to_owned()
            );
        }
        let design = &cell.design;
        let Some(own) = design.options.memory else {
            let message = "the memory budget is missing; set design.memory, such as memory = \"64MiB\"";
            return Err(message.to_owned());
        };
        match budget {
            Some(other) if other != own => {
                return Err(format!(
                    "\"{}\" has a memory budget of {own}, but others have {other}; set one budget for all",
                    cell.label
                ));
            }
            _ => budget = Some(own),
        }
    }
    Ok(())
}
