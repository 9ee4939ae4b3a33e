//! One budget of memory for all cells of a sweep: `memory = "equal"`.
//!
//! The budget is `design.memory`. Of it two memtables are set aside, filters and fences take what they take, and the
//! cache gets the rest: so a larger filter is paid for with a smaller cache. What each side really held is measured,
//! and a comparison where that differs is flagged.

use super::cell::Cell;
use super::resolved::Experiment;

impl Experiment {
    /// Whether all cells are to use the same memory.
    pub(crate) fn has_equal_memory(&self) -> bool {
        self.sweep.equal_memory
    }
}

/// Refuses cells that do not share one budget: a sentence.
pub(super) fn check(cells: &[Cell]) -> Result<(), String> {
    let mut budget = None;
    for cell in cells {
        if cell.task.component().is_some() {
            return Err("it is about trees; components are compared by what they hold themselves".to_owned());
        }
        let design = &cell.design;
        let Some(own) = design.options.memory else {
            let message =
                "it shares out a budget: say how large it is in design.memory, as memory = \"64MiB\"";
            return Err(message.to_owned());
        };
        match budget {
            Some(other) if other != own => {
                return Err(format!("{} has a budget of {own}, others have {other}", cell.label));
            }
            _ => budget = Some(own),
        }
    }
    Ok(())
}
