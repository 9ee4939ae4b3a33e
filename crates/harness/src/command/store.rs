//! Opens the store that a command uses.

use catalog::Limit;
use experiment::{read_design, set_design};
use tree::{Design, OpenOptions, Tree};
use types::{Outcome, Problem};

use crate::cli::StoreArguments;
use crate::output::line;

/// Returns the design of a store. If the design is not durable, returns an error. `user` is the name of the command
/// in this error.
pub(crate) fn design_of(arguments: &StoreArguments, user: &str) -> Outcome<Design> {
    let mut design = match &arguments.design {
        Some(path) => read_design(path)?,
        None => Design::default(),
    };
    design = set_design(&design, &arguments.set)?;
    let limits = design.limits();
    match limits.into_iter().find(|(_, _, limit)| *limit == Limit::NotDurable) {
        Some((axis, choice, limit)) => Err(Problem::new(format!(
            "{user} needs a durable store, but {axis} = \"{choice}\" {limit}; choose another variant"
        ))),
        None => Ok(design),
    }
}

/// Opens a store, and prints the names of the files that were moved to the quarantine.
pub(crate) fn open_store(arguments: &StoreArguments, design: Design) -> Outcome<Tree> {
    let tree = OpenOptions::new(design).quarantine(arguments.quarantine).open(&arguments.directory)?;
    tree.recovery().quarantined_files.iter().for_each(|file| line(&format!("quarantined: {file}")));
    Ok(tree)
}
