//! One budget of memory for all cells of a sweep: `memory = "equal"`.
//!
//! The budget is `design.memory`. Of it two memtables are set aside, filters and fences take what they take, and the
//! cache gets the rest: so a larger filter is paid for with a smaller cache. What each side really held is measured,
//! and a comparison where that differs is flagged.

use toml::Value;

use super::cell::Cell;
use super::resolved::Experiment;

impl Experiment {
    /// Whether all cells are to use the same memory.
    pub(crate) fn has_equal_memory(&self) -> bool {
        self.sweep.equal_memory
    }
}

/// Refuses a capacity of the cache beside a budget, which gives the cache what the others leave: a sentence. `named` are
/// the values of the design that the experiment itself names, by their paths in it.
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
            Err("design.memory gives the cache the memory that memtables, filters and fences leave; remove design.memory \
                     or design.cache.capacity"
                .to_owned())
        }
        false => Ok(()),
    }
}

/// Refuses cells that do not share one budget: a sentence.
pub(super) fn check(cells: &[Cell]) -> Result<(), String> {
    let mut budget = None;
    for cell in cells {
        if cell.task.component().is_some() {
            return Err("an experiment with a subject has no tree to share memory; remove it".to_owned());
        }
        let design = &cell.design;
        let Some(own) = design.options.memory else {
            let message = "the budget is missing; set design.memory, as memory = \"64MiB\"";
            return Err(message.to_owned());
        };
        match budget {
            Some(other) if other != own => {
                return Err(format!(
                    "\"{}\" has a budget of {own}, others have {other}; set one for all",
                    cell.label
                ));
            }
            _ => budget = Some(own),
        }
    }
    Ok(())
}
