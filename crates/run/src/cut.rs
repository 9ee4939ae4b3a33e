//! Divides an experiment into parts, so that each trial belongs to one part.

use experiment::Experiment;
use results::{Interleaving, RunMode};
use types::{Outcome, Problem};
use verdict::{ExperimentFacts, baselines};

use super::part::Part;

/// The division of an experiment into parts that can run on different machines.
///
/// A timed experiment is divided by rounds, because its verdicts compare trials of the same round. With more parts than
/// rounds, each round is divided into groups of configurations, and each group includes all baselines. A counted
/// experiment is divided by configurations, because its counters are equal on all machines.
pub(super) struct Cut {
    mode: RunMode,
    rounds: u64,
    /// Whether the experiment cannot be divided into parts, because its trials run side by side or share a time budget.
    is_whole: bool,
    /// The index of each configuration in the list of the configurations that are not baselines. `None` for a baseline.
    ranks: Vec<Option<u64>>,
}

impl Cut {
    pub(super) fn of(experiment: &Experiment, facts: &ExperimentFacts<'_>) -> Self {
        let baselines = baselines(facts);
        let mut others = 0..;
        let rank = |place: usize| if baselines.contains(&place) { None } else { others.next() };
        let ranks = (0..experiment.cells.len()).map(rank).collect();
        let trials = &experiment.trials;
        let is_whole = trials.interleaving() != Interleaving::Rounds || trials.budget.is_some();
        Self { mode: trials.mode, rounds: trials.count.max(1), is_whole, ranks }
    }

    /// Checks that the experiment can be divided into as many parts as `part` states, such as 4 for the part `2/4`.
    ///
    /// # Errors
    /// The trials run side by side or share a time budget, or the number of parts is not possible. For example, if a
    /// timed experiment has more parts than rounds, the number of parts must be a multiple of the number of rounds.
    pub(super) fn check(&self, part: Part) -> Outcome<()> {
        if self.is_whole {
            return Err(Problem::new(
                "an experiment with trials.plan = \"slices\" or \"duet\", or with trials.budget, cannot run \
                 in parts; remove this key or --part",
            ));
        }
        let (count, rounds) = (part.count(), self.rounds);
        if self.mode == RunMode::Counted || count <= rounds {
            return Ok(());
        }
        let slices = count / rounds;
        let others = self.ranks.iter().flatten().count() as u64;
        if count % rounds == 0 && slices <= others {
            return Ok(());
        }
        let most = rounds * others.max(1);
        Err(Problem::new(format!(
            "{count} parts are not possible. A timed experiment of {rounds} rounds can have up to {rounds} \
             parts, or a multiple of {rounds} up to {most}. If the number of parts is above {rounds}, each \
             part runs only some of the configurations"
        )))
    }

    /// Returns the number of groups of configurations into which each round is divided, if the experiment has `count`
    /// parts. The number is 1 if the rounds are not divided.
    fn slices(&self, count: u64) -> u64 {
        match self.mode {
            RunMode::Timed => count.div_ceil(self.rounds).max(1),
            RunMode::Counted => 1,
        }
    }

    /// Returns whether a trial belongs to a part of the experiment. `place` is the index of the trial's configuration,
    /// and `trial` is the number of its round.
    pub(super) fn holds(&self, part: Part, place: usize, trial: u64) -> bool {
        let (at, count) = (part.number() - 1, part.count());
        let slices = self.slices(count);
        match self.mode {
            RunMode::Counted => place as u64 % count == at,
            RunMode::Timed if slices == 1 => trial % count == at,
            RunMode::Timed => {
                let is_own = |rank: u64| rank % slices == at % slices;
                at / slices == trial && self.ranks.get(place).is_some_and(|rank| rank.is_none_or(is_own))
            }
        }
    }

    /// Returns the number of rounds in the merged results, if the experiment is divided into `count` parts.
    pub(super) fn merged_rounds(&self, count: u64) -> u64 {
        self.rounds * self.slices(count)
    }

    /// Returns the round numbers that the trials of round `trial` get in the merged results. There are several if the
    /// round is divided into groups of configurations.
    pub(super) fn merged(&self, count: u64, trial: u64) -> std::ops::Range<u64> {
        let slices = self.slices(count);
        trial * slices..(trial + 1) * slices
    }

    /// Returns the round number that the trials of one part in round `trial` get in the merged results. Each group of
    /// configurations gets its own number.
    pub(super) fn merged_round(&self, part: Part, trial: u64) -> u64 {
        let slices = self.slices(part.count());
        trial * slices + (part.number() - 1) % slices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(mode: RunMode, rounds: u64) -> Cut {
        Cut { mode, rounds, is_whole: false, ranks: vec![None, Some(0), Some(1), None, Some(2)] }
    }

    fn parts(count: u64) -> Vec<Part> {
        (1..=count).map(|number| Part::new(number, count).unwrap()).collect()
    }

    #[test]
    fn every_trial_is_in_one_part_and_pairs_stay_together() {
        for (mode, count) in [(RunMode::Timed, 3), (RunMode::Counted, 3), (RunMode::Timed, 14)] {
            let cut = cut(mode, 7);
            for (place, trial) in (0..5).flat_map(|place| (0..7).map(move |trial| (place, trial))) {
                let own = parts(count).into_iter().filter(|part| cut.holds(*part, place, trial)).count();
                let is_baseline = cut.ranks[place].is_none();
                assert_eq!(own, if count == 14 && is_baseline { 2 } else { 1 }, "{place} {trial} {count}");
            }
        }
        let cut = cut(RunMode::Timed, 7);
        let part = Part::new(2, 3).unwrap();
        assert!((0..5).all(|place| cut.holds(part, place, 4)));
    }

    #[test]
    fn a_slice_of_a_round_is_a_merged_round() {
        let cut = cut(RunMode::Timed, 2);
        let places = |part: &Part| (0..5).filter(|place| cut.holds(*part, *place, 1)).collect::<Vec<usize>>();
        let held: Vec<Vec<usize>> = parts(4).iter().map(places).collect();
        assert_eq!(held, [vec![], vec![], vec![0, 1, 3, 4], vec![0, 2, 3]]);
        let rounds: Vec<u64> = parts(4).iter().map(|part| cut.merged_round(*part, 1)).collect();
        assert_eq!((rounds[2], rounds[3], cut.merged_rounds(4)), (2, 3, 4));
        assert_eq!(cut.merged(4, 1), 2..4);
        assert_eq!(cut.merged_round(Part::new(2, 2).unwrap(), 1), 1);
        for (count, is_good) in [(1, true), (2, true), (3, false), (4, true), (6, true), (8, false)] {
            assert_eq!(cut.check(Part::new(1, count).unwrap()).is_ok(), is_good, "{count}");
        }
    }
}
