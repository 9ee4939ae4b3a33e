//! Merging sorted sources, newest first, into one sequence with the newest version of each key.
//!
//! A kernel knows nothing of tables: it is generic over what it merges and compiled for each. There are two: the loser
//! tree, which ranges run too, and a heap for merges of designs that ask for it.

mod heap;

use std::cmp::Ordering;

use types::Direction;

pub use heap::HeapMerge;

/// The first sixteen bytes of a key as a big-endian number, zero-padded on the right: the `u128` that a
/// [`Merge`] compares. Heads order like their keys, except that different keys may share one.
#[inline]
pub fn head(key: &[u8]) -> u128 {
    match key.first_chunk::<16>() {
        Some(chunk) => u128::from_be_bytes(*chunk),
        None => short_head(key),
    }
}

/// The head of a key of fewer than sixteen bytes.
#[inline]
fn short_head(key: &[u8]) -> u128 {
    let mut padded = [0u8; 16];
    padded[..key.len()].copy_from_slice(key);
    u128::from_be_bytes(padded)
}

/// One sorted source of a merge. It always stands at an entry; a source without entries is left out. Its keys
/// are distinct.
pub trait Source {
    /// What moving on needs beside the source itself.
    type Context: ?Sized;
    /// Why moving on can fail.
    type Error;

    /// The [`head`] of the current key.
    fn head(&self) -> u128;

    /// The current key.
    fn key(&self) -> &[u8];

    /// Moves to the next entry; `false` at the end, where it is asked nothing more.
    ///
    /// # Errors
    /// Whatever keeps the source from reading on.
    fn advance(&mut self, context: &Self::Context) -> Result<bool, Self::Error>;
}

/// What merges sorted sources into one sequence. Kernels differ in time alone.
pub trait Kernel<S: Source>: Sized {
    /// A merge of `sources`, the newest first, which stand at their first entries in `direction`.
    fn new(sources: Vec<S>, direction: Direction) -> Self;

    /// The source that stands at the current entry: of all the first key in direction, in its newest version.
    fn current(&self) -> Option<&S>;

    /// Moves to the next key; there is a current one.
    ///
    /// # Errors
    /// If a source cannot read on; the merge is then of no more use.
    fn advance(&mut self, context: &S::Context) -> Result<(), S::Error>;
}

/// A loser tree over sorted sources (Knuth, TAOCP 3, 5.4.1): each step costs one comparison of two 16-byte heads
/// per level of the tree, ⌈log₂ k⌉ of them, and who wins decides no branch. A source that wins again and again is
/// compared with the second best alone, so that runs that hardly overlap cost one comparison each.
///
/// Of equal keys the older one loses the match where the two meet, and is shadowed: once it wins, its key has been
/// given out, and it is passed over. They do meet before the newest is the winner of all, since whoever stands
/// behind an equal winner has lost to an equal key. So nothing must be remembered of keys that were given out.
pub struct Merge<S> {
    /// The sources, the newest first: of equal keys the first source's wins.
    sources: Vec<S>,
    direction: Direction,
    /// Sources at their end, and the places that nobody takes; none where there is one source or none, as with
    /// `shadowed` and `losers`.
    ended: Vec<bool>,
    /// The sources that are not at their end.
    standing: usize,
    /// Sources at a key that a newer one has too, and how many they are.
    shadowed: Vec<bool>,
    shadowed_count: usize,
    /// `losers[node]` lost the match at `node`. The leaves would be the nodes behind the last one: as many as
    /// the next power of two, so that every source has as many matches to win.
    losers: Vec<Contender>,
    winner: Contender,
    /// The wins of the winner's source in a row that took a replay of its matches.
    wins: u32,
    /// The head of the second best, while the winner's source [leads](WINS_TO_LEAD); else 0, which nothing is
    /// below.
    runner_up: u128,
}

/// Wins in a row after which a source leads: it is compared with the second best alone, until it loses to it.
const WINS_TO_LEAD: u32 = 4;

/// What a match is decided by: no source is touched for it, unless heads are equal.
#[derive(Clone, Copy, Debug)]
struct Contender {
    /// The head of the source's key, inverted going backward: the smaller one wins. Of an ended source the
    /// largest there is.
    head: u128,
    source: u32,
}

impl<S: Source> Merge<S> {
    /// A merge of `sources`, the newest first, which stand at their first entries in `direction`.
    pub fn new(sources: Vec<S>, direction: Direction) -> Self {
        let count = sources.len();
        // One source has no match to play, and needs no memory for any.
        let (players, places) = if count > 1 { (count, count.next_power_of_two()) } else { (0, 0) };
        let nobody = Contender { head: u128::MAX, source: 0 };
        let mut merge = Self {
            sources,
            direction,
            ended: (0..places).map(|place| place >= count).collect(),
            standing: count,
            shadowed: vec![false; players],
            shadowed_count: 0,
            losers: vec![nobody; places],
            winner: nobody,
            wins: 0,
            runner_up: 0,
        };
        merge.winner = match count {
            0 => nobody,
            1 => merge.contender(0),
            _ => merge.play_all(1),
        };
        merge
    }

    /// The source that stands at the current entry: of all the first key in direction, in its newest version.
    #[inline]
    pub fn current(&self) -> Option<&S> {
        if self.standing == 0 {
            return None;
        }
        self.sources.get(self.winner.source as usize)
    }

    /// The source, where there is one alone. It may be moved on as long as it is not moved to its end.
    #[inline]
    pub fn only_source(&mut self) -> Option<&mut S> {
        match &mut self.sources[..] {
            [source] => Some(source),
            _ => None,
        }
    }

    /// Moves to the next key.
    ///
    /// # Errors
    /// If a source cannot read on; the merge is then of no more use.
    #[inline]
    pub fn advance(&mut self, context: &S::Context) -> Result<(), S::Error> {
        if let [source] = &mut self.sources[..] {
            self.standing = usize::from(source.advance(context)?);
            return Ok(());
        }
        let source = self.winner.source;
        let current = self.moved(source, context)?;
        if current.head < self.runner_up {
            self.winner = current;
            return Ok(());
        }
        self.winner = self.replay(current);
        if self.shadowed_count > 0 {
            self.pass_over_shadowed(context)?;
        }
        self.wins = if self.winner.source == source { self.wins.saturating_add(1) } else { 0 };
        self.runner_up = if self.wins >= WINS_TO_LEAD { self.second_best() } else { 0 };
        Ok(())
    }

    /// The head of the best of those who have lost to the winner.
    #[cold]
    #[inline(never)]
    fn second_best(&self) -> u128 {
        let leaf = self.winner.source as usize + self.losers.len();
        let path = std::iter::successors(Some(leaf / 2), |node| Some(node / 2)).take_while(|node| *node > 0);
        path.map(|node| self.losers[node].head).min().unwrap_or(u128::MAX)
    }

    /// Moves sources on while the winner's key was given out from a newer source.
    #[cold]
    #[inline(never)]
    fn pass_over_shadowed(&mut self, context: &S::Context) -> Result<(), S::Error> {
        while self.standing > 0 && std::mem::take(&mut self.shadowed[self.winner.source as usize]) {
            self.shadowed_count -= 1;
            let current = self.moved(self.winner.source, context)?;
            self.winner = self.replay(current);
        }
        Ok(())
    }

    /// Plays the matches of a source that has moved; returns who wins them all.
    #[inline]
    fn replay(&mut self, mut current: Contender) -> Contender {
        let mut node = (current.source as usize + self.losers.len()) / 2;
        while node > 0 {
            let other = self.losers[node];
            if other.head == current.head {
                current = self.settle(node, current);
            } else {
                let wins = current.head < other.head;
                let (winner, loser) = (select(wins, current, other), select(wins, other, current));
                self.losers[node] = loser;
                current = winner;
            }
            node /= 2;
        }
        current
    }

    /// Moves a source to its next entry.
    #[inline]
    fn moved(&mut self, source: u32, context: &S::Context) -> Result<Contender, S::Error> {
        let at = source as usize;
        if self.sources[at].advance(context)? {
            return Ok(self.contender(source));
        }
        self.ended[at] = true;
        self.standing -= 1;
        Ok(Contender { head: u128::MAX, source })
    }

    #[inline]
    fn contender(&self, source: u32) -> Contender {
        let head = self.sources[source as usize].head();
        let head = if self.direction == Direction::Forward { head } else { !head };
        Contender { head, source }
    }

    /// Plays the match at `node` between the loser there and `current`, whose heads are equal, by their keys.
    #[cold]
    #[inline(never)]
    fn settle(&mut self, node: usize, current: Contender) -> Contender {
        let (winner, loser) = self.play(self.losers[node], current);
        self.losers[node] = loser;
        winner
    }

    /// Plays all matches at and under `node` and returns the winner.
    fn play_all(&mut self, node: usize) -> Contender {
        if let Some(leaf) = node.checked_sub(self.losers.len()) {
            let nobody = Contender { head: u128::MAX, source: leaf as u32 };
            return if self.ended[leaf] { nobody } else { self.contender(leaf as u32) };
        }
        let (left, right) = (self.play_all(2 * node), self.play_all(2 * node + 1));
        let (winner, loser) = self.play(left, right);
        self.losers[node] = loser;
        winner
    }

    /// Plays one match; returns winner and loser. Of equal keys the newer one wins and shadows the other.
    fn play(&mut self, a: Contender, b: Contender) -> (Contender, Contender) {
        let (newer, older) = if a.source < b.source { (a, b) } else { (b, a) };
        match self.compare(newer, older) {
            Ordering::Less => (newer, older),
            Ordering::Greater => (older, newer),
            Ordering::Equal => {
                let shadowed = &mut self.shadowed[older.source as usize];
                self.shadowed_count += usize::from(!*shadowed);
                *shadowed = true;
                (newer, older)
            }
        }
    }

    /// The order of two contenders; equal only where both stand at the same key.
    fn compare(&self, a: Contender, b: Contender) -> Ordering {
        let (a_at, b_at) = (a.source as usize, b.source as usize);
        a.head.cmp(&b.head).then_with(|| match (self.ended[a_at], self.ended[b_at]) {
            (_, true) => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, false) => {
                let order = self.sources[a_at].key().cmp(self.sources[b_at].key());
                if self.direction == Direction::Forward { order } else { order.reverse() }
            }
        })
    }
}

impl<S: Source> Kernel<S> for Merge<S> {
    fn new(sources: Vec<S>, direction: Direction) -> Self {
        Self::new(sources, direction)
    }

    #[inline]
    fn current(&self) -> Option<&S> {
        self.current()
    }

    #[inline]
    fn advance(&mut self, context: &S::Context) -> Result<(), S::Error> {
        self.advance(context)
    }
}

/// One of two contenders, without a branch.
#[inline]
fn select(first: bool, a: Contender, b: Contender) -> Contender {
    Contender {
        head: std::hint::select_unpredictable(first, a.head, b.head),
        source: std::hint::select_unpredictable(first, a.source, b.source),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// A run of keys with the number of the source they come from; it fails at some entry.
    #[derive(Clone)]
    struct Run {
        keys: Vec<Vec<u8>>,
        source: usize,
        at: usize,
        fails_at: usize,
    }

    impl Source for Run {
        type Context = ();
        type Error = usize;

        fn head(&self) -> u128 {
            head(self.key())
        }

        fn key(&self) -> &[u8] {
            &self.keys[self.at]
        }

        fn advance(&mut self, (): &()) -> Result<bool, usize> {
            self.at += 1;
            if self.at == self.fails_at { Err(self.source) } else { Ok(self.at < self.keys.len()) }
        }
    }

    /// Keys that are equal often, share heads often, and have the heads that ended sources have.
    fn key(random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
        let number: u8 = random.random_range(0..40);
        match random.random_range(0..4) {
            0 => vec![number],
            1 => vec![0xff; usize::from(number)],
            2 => vec![0; usize::from(number)],
            _ => [&b"sixteen bytes to"[..], &[number]].concat(),
        }
    }

    fn sources(random: &mut Xoshiro256PlusPlus, count: usize, direction: Direction) -> Vec<Run> {
        let source = |source| {
            let mut keys: Vec<Vec<u8>> = (0..random.random_range(1..60)).map(|_| key(random)).collect();
            keys.sort();
            keys.dedup();
            if direction == Direction::Backward {
                keys.reverse();
            }
            Run { keys, source, at: 0, fails_at: usize::MAX }
        };
        (0..count).map(source).collect()
    }

    /// Reads a merge to its end: keys with the numbers of their sources.
    fn read<K: Kernel<Run>>(sources: Vec<Run>, direction: Direction) -> Result<Vec<(Vec<u8>, usize)>, usize> {
        let mut merge = K::new(sources, direction);
        let mut seen = Vec::new();
        while let Some(source) = merge.current() {
            seen.push((source.key().to_vec(), source.source));
            merge.advance(&())?;
        }
        Ok(seen)
    }

    #[test]
    fn every_key_comes_once_in_order_and_from_its_newest_source() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        for round in 0..2000 {
            let direction = if round % 2 == 0 { Direction::Forward } else { Direction::Backward };
            let sources = sources(&mut random, round % 21, direction);
            let mut expected = BTreeMap::new();
            for source in sources.iter().rev() {
                expected.extend(source.keys.iter().map(|key| (key.clone(), source.source)));
            }
            let mut expected: Vec<(Vec<u8>, usize)> = expected.into_iter().collect();
            if direction == Direction::Backward {
                expected.reverse();
            }
            let by_heap = read::<HeapMerge<Run>>(sources.clone(), direction).unwrap();
            assert_eq!(by_heap, expected, "round {round}, by a heap");
            assert_eq!(read::<Merge<Run>>(sources, direction).unwrap(), expected, "round {round}");
        }
    }

    #[test]
    fn the_error_of_any_source_at_any_entry_is_handed_on() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
        for round in 0..500 {
            let mut sources = sources(&mut random, 1 + round % 9, Direction::Forward);
            let fails = random.random_range(0..sources.len());
            sources[fails].fails_at = 1 + random.random_range(0..sources[fails].keys.len());
            let by_heap = read::<HeapMerge<Run>>(sources.clone(), Direction::Forward);
            assert_eq!(by_heap, Err(fails), "round {round}, by a heap");
            assert_eq!(read::<Merge<Run>>(sources, Direction::Forward), Err(fails), "round {round}");
        }
    }

    #[test]
    fn heads_order_like_keys_or_tie() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for _ in 0..2000 {
            let (a, b) = (key(&mut random), key(&mut random));
            assert!(head(&a) == head(&b) || (head(&a) < head(&b)) == (a < b), "{a:?} {b:?}");
        }
    }
}
