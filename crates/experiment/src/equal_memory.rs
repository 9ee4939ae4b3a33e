//! Sweeps with `memory = "equal"`: all configurations have the same memory budget.
//!
//! The budget is `design.memory`. Two memtables, the filters and the fence pointers get their memory first, and the
//! cache gets the rest of the budget. A configuration with larger filters therefore has a smaller cache. lsmbench
//! measures the memory of each configuration, and marks comparisons of configurations with different memory.

use toml::Value;

use super::cell::Cell;
use super::resolved::Experiment;

impl Experiment {
    /// Returns whether the sweep has `memory = "equal"`, so that all configurations have the same memory budget.
    pub(crate) fn has_equal_memory(&self) -> bool {
        self.sweep.equal_memory
    }
}

/// Checks that an experiment does not set both a memory budget and the capacity of the cache, because the budget
/// already determines this capacity. `named` contains the paths below `design` that the experiment sets, with their
/// values. The error is a sentence.
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
    match cells.iter().any(|cell| cell.design.has_budget()) && named.any(sets_capacity) {
        true => {
            Err("design.memory gives the cache all memory that memtables, filters and fence pointers do not \
                use, so design.cache.capacity has no effect; remove design.memory or design.cache.capacity"
                .to_owned())
        }
        false => Ok(()),
    }
}

/// Checks that all configurations of a sweep with `memory = "equal"` have the same memory budget. The error is a
/// sentence. A component experiment is an error, because it has no tree.
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
            let message =
                "the memory budget is missing; set design.memory, such as design.memory = \"64MiB\"";
            return Err(message.to_owned());
        };
        match budget {
            Some(other) if other != own => {
                return Err(format!(
                    "configuration \"{}\" has a memory budget of {own}, but other configurations have \
                     {other}; set one budget for all configurations",
                    cell.label
                ));
            }
            _ => budget = Some(own),
        }
    }
    Ok(())
}
