//! Opens the store that a command such as `shell` or `serve` uses.

use catalog::Limit;
use experiment::{read_design, set_design};
use toml::{Table, Value};
use tree::{Design, Families, OpenOptions, Recovery, Tree, family_names};
use types::{Outcome, Problem};

use crate::cli::StoreArguments;
use crate::output::line;

/// Returns the design of a store. `user` is the name of the command, for error messages.
///
/// # Errors
/// The design is invalid, or does not make writes durable.
pub(crate) fn design_of(arguments: &StoreArguments, user: &str) -> Outcome<Design> {
    let mut design = match &arguments.design {
        Some(path) => read_design(path)?,
        None => Design::default(),
    };
    design = set_design(&design, &families_of_store(arguments, &design)?, &arguments.set)?;
    let limits = design.limits();
    match limits.into_iter().find(|(_, _, limit)| *limit == Limit::NotDurable) {
        Some((axis, choice, limit)) => Err(Problem::new(format!(
            "{user} needs a durable store, but {axis} = \"{choice}\" {limit}; choose another variant"
        ))),
        None => Ok(design),
    }
}

/// Opens a store of one tree, and prints the names of the files that were moved to the quarantine.
///
/// # Errors
/// The store cannot be opened.
pub(crate) fn open_tree(arguments: &StoreArguments, design: Design) -> Outcome<Tree> {
    let tree = OpenOptions::new(design).quarantine(arguments.quarantine).open(&arguments.directory)?;
    print_quarantined(tree.recovery());
    Ok(tree)
}

/// Opens a store with column families. `names` are the families of the store and of the design. A family that
/// `design` does not describe has the design of the store itself.
///
/// # Errors
/// The store cannot be opened.
pub(crate) fn open_families(
    arguments: &StoreArguments,
    design: &Design,
    names: Vec<String>,
) -> Outcome<Families> {
    let empty = || Value::Table(Table::new());
    let families: Table = names.into_iter().map(|name| (name, empty())).collect();
    let families = Table::from_iter([("families".to_owned(), Value::Table(families))]);
    let design = design.with(&families).map_err(tree::Error::from)?;
    let options = OpenOptions::new(design).quarantine(arguments.quarantine);
    let families = Families::open(options, &arguments.directory)?;
    print_quarantined(families.recovery());
    Ok(families)
}

/// Returns the names of the column families in the directory of the store. Returns an empty list if the store cannot
/// be read.
fn families_of_store(arguments: &StoreArguments, design: &Design) -> Outcome<Vec<String>> {
    let storage = storage::CATALOG.build(design.choice("storage"));
    let storage = storage.map_err(|error| Problem::new(error.message))?;
    // If the store is unreadable, opening it later returns the error.
    Ok(family_names(&*storage, &arguments.directory).unwrap_or_default())
}

/// Returns the names of all column families that exist in a store or in its design, each name once. The result omits
/// the families of the design if the design stores them as key prefixes in a single tree.
pub(crate) fn family_names_of(arguments: &StoreArguments, design: &Design) -> Outcome<Vec<String>> {
    let mut names = families_of_store(arguments, design)?;
    let of_design = design.families().filter(|_| design.has_family_trees()).map(str::to_owned);
    names.extend(of_design.filter(|name| !names.contains(name)).collect::<Vec<_>>());
    Ok(names)
}

fn print_quarantined(recovery: &Recovery) {
    recovery.quarantined_files.iter().for_each(|file| line(&format!("quarantined: {file}")));
}
