//! Finds baselines whose second trial can no longer run in a resumed run. A baseline runs twice in a round to measure
//! the noise, and both trials must run shortly after each other. If a round is complete except for such a second trial,
//! the resumed run cannot add this trial.

use std::collections::BTreeSet;

use results::Group;

/// Returns a baseline that lacks its second trial in a complete round, although another baseline ran twice in this
/// round. Returns `None` if there is no such baseline.
///
/// `baselines` contains the numbers of the configurations that must run twice in each round to measure the noise.
pub(super) fn late_baseline(
    baselines: &[u64],
    finished: &BTreeSet<Group>,
    finished_noise: &BTreeSet<Group>,
) -> Option<u64> {
    let last = finished.iter().map(|group| group.trial).max()?;
    let others_ran_twice = |trial: u64| {
        finished_noise.iter().any(|group| group.trial == trial && !baselines.contains(&group.cell))
    };
    let is_late = |cell: u64| {
        (0..=last).any(|trial| {
            let group = Group { cell, trial };
            let is_closed = trial < last || others_ran_twice(trial);
            let ran_once = finished.contains(&group) && !finished_noise.contains(&group);
            is_closed && ran_once && finished_noise.iter().any(|group| group.trial == trial)
        })
    };
    baselines.iter().copied().find(|cell| is_late(*cell))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_that_did_not_run_twice_in_a_closed_round_is_late() {
        let groups = |all: &[(u64, u64)]| -> BTreeSet<Group> {
            all.iter().map(|(cell, trial)| Group { cell: *cell, trial: *trial }).collect()
        };
        let finished = groups(&[(0, 0), (1, 0), (0, 1), (1, 1)]);
        let twice = groups(&[(0, 0), (0, 1)]);
        assert_eq!(late_baseline(&[0], &finished, &twice), None);
        assert_eq!(late_baseline(&[1], &finished, &twice), Some(1));
        assert_eq!(late_baseline(&[0, 1], &finished, &twice), Some(1));
        // The last round was interrupted before the second trial.
        assert_eq!(late_baseline(&[0], &finished, &groups(&[(0, 0)])), None);
        // Rounds in which nothing ran twice, as of a run that had too few.
        assert_eq!(late_baseline(&[0], &finished, &groups(&[])), None);
        assert_eq!(late_baseline(&[1], &groups(&[]), &groups(&[])), None);
        // A configuration that failed in a round is not late in it.
        assert_eq!(late_baseline(&[1], &groups(&[(0, 0), (0, 1)]), &twice), None);
    }
}
