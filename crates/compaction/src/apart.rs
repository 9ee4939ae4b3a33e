//! Jobs that leave what need not be merged as it is.

use crate::job::{Action, Job};
use crate::shape::{Run, Shape, TableShape};
use crate::tables::{overlapping, push_down};
use crate::whole;

/// Hands a level down to the one run of the level below. Tables without tombstones that share no keys with older ones are
/// moved, unread. Where there are none, tables whose keys meet, by way of tables below too, are merged, those of the
/// smallest keys first; others stay for later jobs. Tables that came in no order all meet: the job is then that of
/// [`whole::merge_into_next`].
pub(crate) fn hand_down(shape: &Shape, level: usize) -> Job {
    let below = match shape.runs_of(level + 1) {
        [] => None,
        [run] => Some(run),
        // Left by another policy.
        _ => return whole::merge_into_next(shape, level),
    };
    let runs = shape.runs_of(level);
    let moved: Vec<&TableShape> = (0..runs.len())
        .flat_map(|at| runs[at].tables.iter().filter(move |table| is_free(table, runs, at, below)))
        .collect();
    if moved.is_empty() {
        return push_down(shape, level, &first_that_meet(runs, below), false);
    }
    let inputs = moved.into_iter().map(|table| table.id).collect();
    Job { inputs, level: level + 1, run: below.map(|run| run.id), action: Action::Move }
}

/// Whether a table of the run at `at` can go down as it is. Where nothing lies below, newer tables may not share keys with
/// it either: of runs in no order the oldest would go alone, only to be merged with the next.
fn is_free(table: &TableShape, runs: &[Run<TableShape>], at: usize, below: Option<&Run<TableShape>>) -> bool {
    let newer = if below.is_none() { &runs[..at] } else { &[] };
    let mut others = newer.iter().chain(&runs[at + 1..]).chain(below);
    table.tombstones == 0 && others.all(|run| overlapping(run, &table.smallest, &table.largest).is_empty())
}

/// Of the tables of `runs` those that meet, directly or by way of others or of tables below, and have the smallest keys.
fn first_that_meet(runs: &[Run<TableShape>], below: Option<&Run<TableShape>>) -> Vec<TableShape> {
    let above = || runs.iter().flat_map(|run| &run.tables);
    let mut tables: Vec<&TableShape> = above().chain(below.iter().flat_map(|run| &run.tables)).collect();
    tables.sort_by(|one, other| one.smallest.cmp(&other.smallest));
    let Some(first) = above().map(|table| &table.smallest).min() else { return Vec::new() };
    // Tables that end before the first one above meet none of them.
    let mut largest = &**first;
    for table in tables.into_iter().filter(|table| table.largest >= *first) {
        if *table.smallest > *largest {
            break;
        }
        largest = largest.max(&*table.largest);
    }
    above().filter(|table| *table.smallest <= *largest).cloned().collect()
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
        // Where nothing lies below, runs in no order are merged together at once, and not one by one.
        assert_eq!(job(&level0), (vec![1, 2, 3], None, Action::Merge));
    }

    #[test]
    fn of_what_meets_the_smallest_goes_first_and_the_rest_stays() {
        // Two writers: a run begins a little before the end of the one before.
        let runs = [(0, 1, &[(18, 24), (25, 29), (30, 39)][..]), (0, 0, &[(0, 9), (10, 14), (15, 20)])];
        assert_eq!(job(&runs), (vec![2, 3, 4, 5], None, Action::Move));
        let rest = [(0, 1, &[(18, 24)][..]), (0, 0, &[(15, 20)])];
        let below = (1, 0, &[(0, 9), (10, 14), (25, 29), (30, 39)][..]);
        assert_eq!(job(&[rest[0], rest[1], below]), (vec![2], Some(200), Action::Move));
        let below = (1, 0, &[(0, 9), (10, 16), (25, 29), (30, 39)][..]);
        assert_eq!(job(&[rest[0], rest[1], below]), (vec![1, 2, 4], Some(200), Action::Merge));
        // By way of a table below, and not of one that lies apart.
        let below = (1, 0, &[(0, 9), (12, 16), (22, 29), (30, 39)][..]);
        let met = [(0, 0, &[(15, 18), (22, 24), (35, 36)][..]), below];
        assert_eq!(job(&met), (vec![1, 5], Some(200), Action::Merge));
        let below = (1, 0, &[(12, 22), (35, 36)][..]);
        assert_eq!(job(&[met[0], below]), (vec![1, 2, 4], Some(200), Action::Merge));
    }

    #[test]
    fn tombstones_are_merged_so_that_they_go() {
        let mut shape = cut_shape(&[(0, 0, &[(0, 9), (20, 29)])]);
        shape.levels.levels[0].runs[0].tables[1].tombstones = 1;
        let job = hand_down(&shape, 0);
        assert_eq!((job.inputs.as_slice(), job.action), (&[1][..], Action::Move));
        shape.levels.levels[0].runs[0].tables.remove(0);
        let job = hand_down(&shape, 0);
        assert_eq!((job.inputs.as_slice(), job.action), (&[2][..], Action::Merge));
    }

    /// Tables with gaps between them.
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
                    // As wide a table as a merge can write.
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
