//! The invariants of key distributions. Each invariant is a function that checks one distribution.

use catalog::laws::Invariant;

use crate::{KeyDistribution, KeySampler, PopularKeys, Random, Scope};

/// The key distribution that an invariant checks.
pub(crate) struct Subject(pub(crate) Box<dyn KeyDistribution>);

/// All invariants of key distributions, each with its name.
pub(crate) const INVARIANTS: &[Invariant<Subject>] = &[
    ("the index of a drawn key must be below the number of existing keys", stays_below),
    ("the drawn keys must be equal whether one call or several calls draw them", repeats_in_pieces),
    (
        "the share of draws that select the most popular keys must equal the result of `share`",
        keeps_its_share,
    ),
    (
        "`standing` must return whether popular keys are adjacent, scattered or drawn in sequence",
        stands_where_it_says,
    ),
];

/// Returns the properties of a phase for a test: `keys` keys exist at its start, and `planned` keys are expected at its
/// end.
pub(crate) fn scope(keys: u64, planned: u64) -> Scope {
    Scope { keys, planned, inserts: 0, popularity: 77, thread: 0, threads: 1 }
}

/// Draws `count` key indexes. The number of existing keys is `existing`.
pub(crate) fn draw(sampler: &mut dyn KeySampler, seed: u64, existing: u64, count: usize) -> Vec<u64> {
    let mut keys = vec![0; count];
    sampler.fill(&mut Random::new(seed), existing, &mut keys);
    keys
}

/// Checks that every drawn index is below the number of existing keys, even while keys are added.
fn stays_below(Subject(distribution): &Subject) -> Result<(), String> {
    for (keys, planned) in
        [(1, 1), (2, 2), (3, 3), (100, 100), (1000, 1000), (1, 500), (100, 150), (100, 5000)]
    {
        let mut sampler = distribution.sampler(&scope(keys, planned));
        for (call, existing) in (keys..=planned.max(keys + 20)).step_by(7).enumerate() {
            let drawn = draw(&mut *sampler, call as u64, existing, 50);
            if let Some(key) = drawn.iter().find(|key| **key >= existing) {
                return Err(format!("key {key} was drawn, but only {existing} keys exist"));
            }
        }
    }
    Ok(())
}

/// Checks that equal random numbers give equal indexes, whether one call or several calls draw the indexes.
fn repeats_in_pieces(Subject(distribution): &Subject) -> Result<(), String> {
    for keys in [1, 10, 777] {
        let whole = draw(&mut *distribution.sampler(&scope(keys, keys)), 5, keys, 500);
        let mut sampler = distribution.sampler(&scope(keys, keys));
        let (mut random, mut pieces) = (Random::new(5), vec![0; 500]);
        let mut rest = &mut pieces[..];
        for size in (1..).take_while(|size| size * (size - 1) / 2 < 500) {
            let (piece, behind) = rest.split_at_mut(size.min(rest.len()));
            sampler.fill(&mut random, keys, piece);
            rest = behind;
        }
        if whole != pieces {
            return Err(format!(
                "with {keys} keys and the same random numbers, one call and several calls must draw the \
                 same keys, but the drawn keys differ"
            ));
        }
    }
    Ok(())
}

/// Checks the announced popularity of keys. The share of draws that select the most popular keys may differ by at most
/// 0.015 from the result of [`share`](KeyDistribution::share). [`shares`](KeyDistribution::shares) must return the same
/// shares as `share`.
fn keeps_its_share(Subject(distribution): &Subject) -> Result<(), String> {
    const KEYS: u64 = 500;
    const DRAWS: usize = 500_000;
    let mut counts = vec![0u32; KEYS as usize];
    for key in draw(&mut *distribution.sampler(&scope(KEYS, KEYS)), 9, KEYS, DRAWS) {
        counts[key as usize] += 1;
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    for hottest in [1, 5, 50, 250, 500] {
        let Some(announced) = distribution.share(KEYS, hottest) else { continue };
        let drawn: u32 = counts[..hottest as usize].iter().sum();
        let share = f64::from(drawn) / DRAWS as f64;
        // Sorting by the drawn counts selects keys that were drawn too often by chance. The tolerance is therefore a
        // few standard deviations of the least popular key.
        if (share - announced).abs() > 0.015 {
            return Err(format!(
                "`share` returns {announced} for the {hottest} hottest keys, but {share} of the draws \
                 selected these keys; the maximum difference is 0.015"
            ));
        }
        let several = distribution.shares(KEYS, &[1, hottest]).and_then(|mut shares| shares.pop());
        if several.is_none_or(|several| (several - announced).abs() > 1e-9) {
            let several = several.map_or("missing".to_owned(), |share| share.to_string());
            return Err(format!(
                "for the {hottest} hottest of {KEYS} keys, `share` returns {announced}, but the last element \
                 of `shares` is {several}"
            ));
        }
    }
    Ok(())
}

/// Checks that the most frequently drawn keys are scattered, adjacent or drawn in sequence, as
/// [`standing`](KeyDistribution::standing) announces.
fn stands_where_it_says(Subject(distribution): &Subject) -> Result<(), String> {
    const KEYS: u64 = 500;
    const HOTTEST: usize = 50;
    let drawn = draw(&mut *distribution.sampler(&scope(KEYS, KEYS)), 10, KEYS, 200_000);
    let in_turn = drawn.windows(2).filter(|pair| pair[1] == (pair[0] + 1) % KEYS).count() + 1 == drawn.len();
    let mut counts: Vec<(usize, u64)> = (0..KEYS).map(|key| (0, key)).collect();
    drawn.iter().for_each(|key| counts[*key as usize].0 += 1);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let hottest = counts[..HOTTEST].iter().map(|(_, key)| *key);
    let span = hottest.clone().max().unwrap_or(0) - hottest.min().unwrap_or(0);
    // A uniform distribution has no popular keys, so the most frequently drawn keys can be anywhere.
    let is_skewed = distribution.share(KEYS, HOTTEST as u64).is_some_and(|share| share > 0.15);
    let standing = distribution.standing();
    let is_right = match standing {
        PopularKeys::InTurn => in_turn,
        PopularKeys::Together => !in_turn && span < KEYS / 2,
        PopularKeys::Scattered => !in_turn && (!is_skewed || span > KEYS / 2),
    };
    if is_right {
        Ok(())
    } else {
        Err(format!(
            "`standing` returns {standing:?}, but the indexes of the {HOTTEST} hottest of {KEYS} keys span \
             {span} keys (drawn in sequence: {in_turn})"
        ))
    }
}
