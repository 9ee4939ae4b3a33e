//! `lsmbench effects` analyzes the results of a sweep: effects of factors, ranking and Pareto front.

use results::Folder;
use results::targets::{check_folder, create_folder};
use types::Outcome;
use verdict::{Effects, Selection};

use crate::cli::EffectsArguments;
use crate::output::{line, print};

/// Prints the effects of the swept factors, the ranking of the configurations and the Pareto front.
pub(crate) fn effects(arguments: &EffectsArguments) -> Outcome<()> {
    let EffectsArguments { results, metric, phase, operation, csv, plots } = arguments;
    for folder in [csv, plots].into_iter().flatten() {
        check_folder(folder)?;
    }
    let selection = Selection { metrics: metric.clone(), phase: phase.clone(), operation: operation.clone() };
    let found = Effects::of(&Folder::new(results), &selection)?;
    print(&found.text())?;
    if let Some(folder) = csv {
        create_folder(folder)?;
        let (effects, ranking) = found.rows();
        results::effects::write(folder, &effects, &ranking)?;
    }
    if let Some(folder) = plots {
        found.draw(folder)?.iter().for_each(|path| line(&format!("Chart: {}", path.display())));
    }
    Ok(())
}
