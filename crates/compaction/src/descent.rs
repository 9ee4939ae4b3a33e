//! Compaction of a level into the next level. SSTables that overlap no other SSTable are moved instead of merged.

use crate::job::{Action, Job};
use crate::shape::{Run, Shape, TableShape};
use crate::tables::{overlapping, push_down};
use crate::whole;

/// Returns the next job that compacts a level into the single run of the next deeper level.
///
/// * An SSTable that overlaps no older SSTable is moved without being read, unless a merge would drop its tombstones.
/// * If no SSTable can be moved, the oldest SSTable is merged together with all SSTables of both levels that overlap
///   it, directly or through other SSTables.
///
/// Later jobs compact the remaining SSTables. If keys are written in random order, all SSTables overlap, so one job
/// takes all SSTables.
pub(crate) fn hand_down(shape: &Shape, level: usize) -> Job {
    let runs = shape.runs_of(level);
    let below = match (runs, shape.runs_of(level + 1)) {
        (_, [run]) => Some(run),
        (runs, []) if runs.len() > 1 => None,
        // The level has one run and the next level is empty, or another policy left several runs in the next level.
        _ => return whole::merge_into_next(shape, level),
    };
    let moved: Vec<&TableShape> = (0..runs.len())
        .flat_map(|at| runs[at].tables.iter().filter(move |table| is_free(table, runs, at, below)))
        .filter(|table| table.tombstones == 0 || hides_something(shape, level + 2, table))
        .collect();
    if moved.is_empty() {
        return push_down(shape, level, &those_that_meet_the_oldest(runs, below), false);
    }
    let inputs = moved.into_iter().map(|table| table.id).collect();
    Job { inputs, level: level + 1, run: below.map(|run| run.id), action: Action::Move }
}

/// Returns whether the SSTable `table` can be moved to the next level. It must overlap neither an older run of its
/// level nor the run `below` of the next level. `at` is the index in `runs` of the run of `table`.
///
/// If the next level is empty, the SSTable must also overlap no newer run. Otherwise, later jobs would have to merge
/// the moved SSTable with the newer runs.
fn is_free(table: &TableShape, runs: &[Run<TableShape>], at: usize, below: Option<&Run<TableShape>>) -> bool {
    let newer = if below.is_none() { &runs[..at] } else { &[] };
    let mut others = newer.iter().chain(&runs[at + 1..]).chain(below);
    others.all(|run| overlapping(run, &table.smallest, &table.largest).is_empty())
}

/// Returns whether `level` or a deeper level may contain keys in the key range of `table`. If so, a compaction must
/// keep the tombstones of the SSTable, because they may hide older data.
pub(crate) fn hides_something(shape: &Shape, level: usize, table: &TableShape) -> bool {
    let mut runs = shape.levels.runs().filter(|(at, _)| *at >= level).map(|(_, run)| run);
    runs.any(|run| !overlapping(run, &table.smallest, &table.largest).is_empty())
}

/// Returns the SSTables of a level that the next merge must include: the oldest SSTable of the oldest run, and all
/// SSTables that overlap it, directly or through other SSTables. The connecting SSTables may also be in `below`, the
/// run of the next level.
fn those_that_meet_the_oldest(runs: &[Run<TableShape>], below: Option<&Run<TableShape>>) -> Vec<TableShape> {
    let above = || runs.iter().flat_map(|run| &run.tables);
    let mut tables: Vec<&TableShape> = above().chain(below.iter().flat_map(|run| &run.tables)).collect();
    tables.sort_by(|one, other| one.smallest.cmp(&other.smallest));
    // The maximal key intervals that SSTables cover without a gap.
    let mut stretches: Vec<(&[u8], &[u8])> = Vec::new();
    for table in tables {
        match stretches.last_mut() {
            Some((_, end)) if *table.smallest <= **end => *end = (*end).max(&*table.largest),
            _ => stretches.push((&*table.smallest, &*table.largest)),
        }
    }
    let covers = |(start, end): (&[u8], &[u8]), table: &TableShape| {
        *start <= *table.smallest && *table.largest <= *end
    };
    let oldest = runs.last().and_then(|run| run.tables.iter().min_by_key(|table| table.id));
    let stretch = oldest.and_then(|oldest| stretches.into_iter().find(|stretch| covers(*stretch, oldest)));
    above().filter(|table| stretch.is_some_and(|stretch| covers(stretch, table))).cloned().collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::testing::{CutRun, cut_shape};

    fn job(tables: &[CutRun<'_>]) -> (Vec<u64>, Option<u64>, Action) {
        let shape = cut_shape(tables);
        let job = hand_down(&shape, 0);
        assert_eq!((job.level, job.validate(&shape.levels)), (1, Ok(())));
        (job.inputs, job.run, job.action)
    }

    #[test]
    fn what_shares_no_keys_is_moved() {
        let below = |below: &[(u8, u8)]| job(&[(0, 1, &[(30, 39)]), (0, 0, &[(20, 29)]), (1, 0, below)]);
        assert_eq!(below(&[(0, 9), (10, 19)]), (vec![1, 2], Some(200), Action::Move));
        assert_eq!(below(&[(0, 9), (50, 59)]), (vec![1, 2], Some(200), Action::Move));
        assert_eq!(below(&[(0, 9), (32, 33)]), (vec![2], Some(200), Action::Move));
        assert_eq!(below(&[(25, 26), (28, 29), (38, 39)]), (vec![2, 3, 4], Some(200), Action::Merge));
        assert_eq!(below(&[(0, 9), (29, 30)]), (vec![1, 2, 4], Some(200), Action::Merge));
        let gaps = [(0, 0, &[(0, 9), (30, 39)][..]), (1, 0, &[(10, 19), (50, 59)])];
        assert_eq!(job(&gaps), (vec![1, 2], Some(200), Action::Move));
        let runs = |newer, older| job(&[(0, 1, &[newer]), (0, 0, &[older])]);
        assert_eq!(runs((0, 9), (20, 29)), (vec![1, 2], None, Action::Move));
        assert_eq!(runs((0, 20), (20, 29)), (vec![1, 2], None, Action::Merge));
    }

    #[test]
    fn the_oldest_are_moved_from_under_what_overlaps_them() {
        let level0 = [(0, 2, &[(0, 99)][..]), (0, 1, &[(30, 39)]), (0, 0, &[(20, 29)])];
        assert_eq!(
            job(&[&level0[..], &[(1, 0, &[(0, 19)])]].concat()),
            (vec![2, 3], Some(200), Action::Move)
        );
        // If the next deeper level is empty, runs in random key order are merged in one job and not one after
        // another.
        assert_eq!(job(&level0), (vec![1, 2, 3], None, Action::Merge));
    }

    #[test]
    fn of_what_meets_the_oldest_goes_first_and_the_rest_stays() {
        // Two threads write in key order, so each run begins slightly before the end of the previous run.
        let runs = [(0, 1, &[(18, 24), (25, 29), (30, 39)][..]), (0, 0, &[(0, 9), (10, 14), (15, 20)])];
        assert_eq!(job(&runs), (vec![2, 3, 4, 5], None, Action::Move));
        let rest = [(0, 1, &[(18, 24)][..]), (0, 0, &[(15, 20)])];
        let below = (1, 0, &[(0, 9), (10, 14), (25, 29), (30, 39)][..]);
        assert_eq!(job(&[rest[0], rest[1], below]), (vec![2], Some(200), Action::Move));
        let below = (1, 0, &[(0, 9), (10, 16), (25, 29), (30, 39)][..]);
        assert_eq!(job(&[rest[0], rest[1], below]), (vec![1, 2, 4], Some(200), Action::Merge));
        // Two SSTables overlap through an SSTable of the next deeper level.
        let below = (1, 0, &[(0, 9), (12, 16), (22, 29), (30, 39)][..]);
        let met = [(0, 0, &[(15, 18), (22, 24), (35, 36)][..]), below];
        assert_eq!(job(&met), (vec![1, 5], Some(200), Action::Merge));
        let below = (1, 0, &[(12, 22), (35, 36)][..]);
        assert_eq!(job(&[met[0], below]), (vec![1, 2, 4], Some(200), Action::Merge));
    }

    #[test]
    fn tombstones_are_merged_so_that_they_go() {
        let jobs = |deeper: &[CutRun<'_>]| {
            let mut shape =
                cut_shape(&[&[(0, 0, &[(0, 9), (20, 29)][..]), (1, 0, &[(50, 59)])], deeper].concat());
            shape.levels.levels[0].runs[0].tables[1].tombstones = 1;
            let first = hand_down(&shape, 0);
            shape.levels.levels[0].runs[0].tables.remove(0);
            let second = hand_down(&shape, 0);
            ((first.inputs, first.action), (second.inputs, second.action))
        };
        assert_eq!(jobs(&[]), ((vec![1], Action::Move), (vec![2], Action::Merge)));
        // The tombstones hide entries, so a merge would drop no tombstone.
        let deeper = jobs(&[(2, 0, &[(25, 26)])]);
        assert_eq!(deeper, ((vec![1, 2], Action::Move), (vec![2], Action::Move)));
    }

    #[test]
    fn no_run_waits_for_ever_above_keys_that_come_all_the_time() {
        let high = [(0, 2, &[(80, 99)][..]), (0, 1, &[(80, 99)]), (0, 0, &[(80, 99)])];
        let below = (1, 0, &[(0, 20), (70, 90)][..]);
        let shape = [&[(0, 3, &[(0, 9)][..])], &high[..], &[below]].concat();
        assert_eq!(job(&shape), (vec![2, 3, 4, 6], Some(200), Action::Merge));
    }

    /// Returns a run of SSTables with gaps between their key ranges.
    fn random_run(random: &mut impl RngExt) -> Vec<(u8, u8)> {
        let mut tables = Vec::new();
        let mut at = random.random_range(0..40);
        while at < 200 {
            let largest = at + random.random_range(0..20);
            tables.push((at, largest));
            at = largest + random.random_range(1..30);
        }
        tables
    }

    #[test]
    fn every_job_is_valid_and_the_level_gets_empty() {
        for seed in 1..2000u64 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let count = random.random_range(2..6);
            let runs: Vec<Vec<(u8, u8)>> = (0..count).map(|_| random_run(&mut random)).collect();
            let level0 = runs.iter().skip(1).enumerate().map(|(at, run)| (0, 9 - at as u64, run.as_slice()));
            let below = (seed % 3 > 0).then(|| (1, 0, runs[0].as_slice()));
            let mut shape = cut_shape(&level0.chain(below).collect::<Vec<_>>());
            let count = shape.levels.tables().count();
            for step in 0.. {
                if shape.runs_of(0).is_empty() {
                    break;
                }
                assert!(step < count, "seed {seed}: every job takes a table of the level");
                let job = hand_down(&shape, 0);
                assert_eq!(job.validate(&shape.levels), Ok(()), "seed {seed}");
                let inputs = shape.levels.tables().map(|(_, table)| table.clone());
                let inputs: Vec<TableShape> = inputs.filter(|table| job.inputs.contains(&table.id)).collect();
                let added = match job.action {
                    Action::Move => inputs,
                    // An SSTable with the widest key range that a merge can write.
                    _ => vec![TableShape {
                        id: 1000 + step as u64,
                        smallest: inputs.iter().map(|table| table.smallest.clone()).min().unwrap(),
                        largest: inputs.iter().map(|table| table.largest.clone()).max().unwrap(),
                        ..inputs[0].clone()
                    }],
                };
                let place = job.place(10_000 + step as u64);
                shape.levels = shape.levels.edit(&job.inputs, place, &added).unwrap();
            }
        }
    }
}
