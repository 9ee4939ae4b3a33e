//! Resumes interrupted runs: checks their results, and finds the trials that have already finished.

use std::collections::BTreeSet;
use std::path::Path;

use results::{Group, Manifest, RunMode, Schema, Table};
use types::{Outcome, Problem};
use verdict::{TrialRows, noisy_baselines};

use super::Run;
use crate::closed_rounds::late_baseline;
use crate::ending::Ending;
use crate::manifest;
use crate::part::{Part, node_name};

impl Run<'_> {
    /// Checks that the results folder can be resumed, if the user passed `--resume`: it must be readable, and belong to
    /// the same experiment and the same part as this run.
    pub(super) fn check_resume(&self) -> Outcome<()> {
        let Some(earlier) = self.home.earlier().filter(|_| self.options.resume) else { return Ok(()) };
        if let Some(part) = self.options.part {
            let info = part.info()?;
            let is_same = earlier.part.as_ref().is_some_and(|earlier| earlier.is_same(&info));
            if !is_same || earlier.config_hash != self.experiment.config_hash() {
                return Err(Problem::new(format!(
                    "{} has results that do not belong to part {part} of this experiment in this version of the \
                     program; remove the folder, or choose another folder with --out",
                    self.home.folder().root().display()
                )));
            }
        } else if let Some(earlier) = &earlier.part {
            return Err(Problem::new(format!(
                "{} contains the results of part {} of {}, which you cannot resume without the option --part",
                self.home.folder().root().display(),
                earlier.number,
                earlier.count
            )));
        }
        if earlier.config_hash != self.experiment.config_hash() {
            return Err(Problem::new(format!(
                "{} cannot be resumed, because the experiment, its overrides or its seed have changed; run the experiment without --resume",
                self.home.folder().root().display()
            )));
        }
        let mut both = self.experiment.cells.iter().zip(&earlier.cells);
        if both.any(|(cell, earlier)| cell.label != earlier.label) {
            return Err(Problem::new(format!(
                "{} cannot be resumed, because another version of lsmbench gave the configurations other labels; run \
                 the experiment without --resume",
                self.home.folder().root().display()
            )));
        }
        let folder = self.home.folder();
        if self.experiment.trials.budget.is_some() {
            return Err(Problem::new(format!(
                "{} cannot be resumed, because a part of the time in trials.budget is already used; run the \
                 experiment without --resume",
                folder.root().display()
            )));
        }
        check_table(&folder.runs(), &self.schema)?;
        check_table(&folder.noise(), &self.schema)?;
        check_table(&folder.timeline(), &self.timeline_schema)?;
        check_table(&folder.levels(), &self.levels_schema)?;
        check_table(&folder.slices(), &self.slices_schema)?;
        earlier.check_rows(folder)?;
        self.check_baselines()
    }

    /// Checks that no baseline has missed its second trial in a complete round. The second trial measures noise, and
    /// cannot run later.
    fn check_baselines(&self) -> Outcome<()> {
        let cells = &self.experiment.cells;
        let numbers: Vec<u64> =
            noisy_baselines(&self.facts).into_iter().map(|place| cells[place].number).collect();
        let folder = self.home.folder();
        let (finished, twice) = (self.finished(&folder.runs())?, self.finished(&folder.noise())?);
        let Some(late) = late_baseline(&numbers, &finished, &twice) else { return Ok(()) };
        let label = cells.iter().find(|cell| cell.number == late).map_or("", |cell| cell.label.as_str());
        Err(Problem::new(format!(
            "{} cannot be resumed with the baseline \"{label}\", because another baseline ran twice in the \
             finished rounds to measure noise. Keep the old baseline, ignore noise with --set \
            trials.noise=false, or run without --resume",
            folder.root().display()
        )))
    }

    /// Reads which trials of an interrupted run have finished: those with rows in the file `path`.
    pub(super) fn finished(&self, path: &Path) -> Outcome<BTreeSet<Group>> {
        let phases = self.experiment.task.phases();
        let last_phase = phases.last().map_or("", |phase| phase);
        match self.options.resume && path.exists() {
            true => Ok(Table::read(path)?.finished(last_phase)),
            false => Ok(BTreeSet::new()),
        }
    }

    /// Adds this machine to the list of machines that ran the part, in the manifest.
    pub(super) fn enter(&self, part: Part, resumed: &mut Manifest) -> Outcome<()> {
        let machine = match resumed.part {
            None => resumed.machine.clone(),
            Some(_) => manifest::examined_machine(&self.options.out),
        };
        resumed.part.get_or_insert(part.info()?).enter(&node_name(), || machine);
        Ok(())
    }

    /// If this machine resumes a part, removes the trials of rounds that another machine has not completed from
    /// `finished`. This machine runs these rounds again, because all trials of a round must run on one machine.
    pub(super) fn leave_begun_round(&self, manifest: &Manifest, finished: [&mut BTreeSet<Group>; 2]) {
        let is_timed = self.experiment.trials.mode == RunMode::Timed;
        let Some(part) = manifest.part.as_ref().filter(|_| is_timed) else { return };
        let [once, twice] = finished;
        let open: BTreeSet<u64> = self.remaining(once, twice).iter().map(|turn| turn.group.trial).collect();
        for groups in [once, twice] {
            groups.retain(|group| part.is_own(group.trial) || !open.contains(&group.trial));
        }
    }

    /// Returns how the run of a finished part ended: [`Ending::Done`] if all answers were correct, and
    /// [`Ending::WrongAnswers`] otherwise.
    pub(super) fn ending_of_part(&self) -> Outcome<Ending> {
        let folder = self.home.folder();
        let mut is_right = true;
        for path in [folder.runs(), folder.noise()] {
            is_right &= TrialRows::of(&Table::read(&path)?).wrong_cells().is_empty();
        }
        Ok(if is_right { Ending::Done } else { Ending::WrongAnswers })
    }
}

/// Checks that the run can append its rows to an existing CSV file.
///
/// # Errors
/// Returns an error if the file is corrupt, or if it has other columns than this version of lsmbench writes.
fn check_table(path: &Path, schema: &Schema) -> Outcome<()> {
    let is_begun = std::fs::read(path).is_ok_and(|bytes| bytes.contains(&b'\n'));
    if !is_begun {
        return Ok(());
    }
    let names = |schema: &Schema| schema.columns().iter().map(|column| column.name().to_owned()).collect();
    let (ours, theirs): (Vec<String>, Vec<String>) = (names(schema), names(Table::read(path)?.schema()));
    if ours == theirs {
        return Ok(());
    }
    let message = "another version of lsmbench wrote this file, so its columns differ from those of this \
                   version; run without --resume";
    Err(Problem::at(path, Some(1), message))
}
