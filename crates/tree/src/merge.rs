//! Merges sorted sources into one sequence with the newest version of each key.
//!
//! A merge kernel is generic over its sources, so the compiler generates code for each type of source. Compactions
//! and scans use a loser tree. A design can select a binary heap for its compactions.

mod heap;

use std::cmp::Ordering;

use types::Direction;

pub use heap::HeapMerge;

/// Returns the prefix of a key: its first 16 bytes as a big-endian number, padded with zeros on the right.
///
/// A [`Merge`] first compares these prefixes. Different prefixes have the same order as their keys. Different keys may
/// have equal prefixes.
#[inline]
pub fn head(key: &[u8]) -> u128 {
    match key.first_chunk::<16>() {
        Some(chunk) => u128::from_be_bytes(*chunk),
        None => short_head(key),
    }
}

/// Returns the prefix (the first 16 bytes as a number) of a key that is shorter than 16 bytes.
#[inline]
fn short_head(key: &[u8]) -> u128 {
    let mut padded = [0u8; 16];
    padded[..key.len()].copy_from_slice(key);
    u128::from_be_bytes(padded)
}

/// A sorted source of a merge. The keys of one source are distinct.
///
/// A source is always positioned at an entry. The caller must not pass sources without entries to a merge.
pub trait Source {
    /// The data that [`advance`](Self::advance) needs in addition to the source, such as counters.
    type Context: ?Sized;
    /// The error of [`advance`](Self::advance).
    type Error;

    /// Returns the prefix (the first 16 bytes as a number) of the current key, as [`head`] computes it.
    fn head(&self) -> u128;

    /// Returns the current key.
    fn key(&self) -> &[u8];

    /// Moves to the next entry. Returns `false` at the end of the source. The source must not be used after its end.
    ///
    /// # Errors
    /// If the source cannot read its next entry.
    fn advance(&mut self, context: &Self::Context) -> Result<bool, Self::Error>;
}

/// An algorithm that merges sorted sources into one sequence. All kernels return the same sequence of entries.
pub trait Kernel<S: Source>: Sized {
    /// Creates a merge of `sources`, which are in order from the newest to the oldest source. Each source must be at
    /// its first entry in `direction`.
    fn new(sources: Vec<S>, direction: Direction) -> Self;

    /// Returns the source with the current entry of the merge: the newest version of the next key in the merge
    /// direction. Returns `None` at the end of the merge.
    fn current(&self) -> Option<&S>;

    /// Returns the sources that have an older version of the current key, from the newest to the oldest version.
    fn superseded<'m>(&'m self) -> impl Iterator<Item = &'m S>
    where
        S: 'm;

    /// Moves to the next key. The merge must have a current entry.
    ///
    /// # Errors
    /// If a source cannot read its next entry. The merge must not be used after such an error.
    fn advance(&mut self, context: &S::Context) -> Result<(), S::Error>;
}

/// A loser tree over sorted sources (Knuth, TAOCP 3, 5.4.1).
///
/// For k sources, each step costs ⌈log₂ k⌉ comparisons of 16-byte key prefixes, which is one comparison per level of
/// the loser tree. No branch depends on the results. A source that wins repeatedly is compared only with the second
/// best source. Runs with little overlap therefore cost one comparison per entry.
///
/// If two keys are equal, the older entry loses its comparison and is marked as superseded. When the older entry wins
/// later, the merge has already returned its key, so the merge skips the older entry. An entry can only lose to a
/// smaller or an equal key. Two entries with equal keys are therefore always compared before one of them wins the whole
/// loser tree. The mark is sufficient, so the merge keeps no copy of returned keys.
pub struct Merge<S> {
    /// The sorted sources of the merge, from the newest to the oldest. If several sources have the same key, the merge
    /// returns the entry of the newest source.
    sources: Vec<S>,
    direction: Direction,
    /// Whether each source is at its end. The elements of unused leaves of the loser tree are `true`. With fewer than
    /// two sources, this list, `shadowed` and `losers` are empty.
    ended: Vec<bool>,
    /// The number of sources that still have entries.
    standing: usize,
    /// Whether each source has a superseded current entry, because a newer source has an entry with the same key.
    shadowed: Vec<bool>,
    shadowed_count: usize,
    /// The loser tree. `losers[node]` is the source that lost the comparison at `node`. The leaves are virtual nodes
    /// after the last node, and their number is a power of two.
    losers: Vec<Contender>,
    winner: Contender,
    /// The number of consecutive keys for which the same source won all its comparisons in the loser tree.
    wins: u32,
    /// The key prefix of the second best source, while one source [leads](WINS_TO_LEAD) because it won several times in
    /// a row. 0 if no source leads, because no prefix is below 0.
    runner_up: u128,
    /// The number of comparisons of two keys or prefixes so far.
    comparisons: u64,
}

/// The number of consecutive wins after which a source leads. A leading source is compared only with the second best
/// source, so a merge of sources that overlap little needs fewer comparisons.
const WINS_TO_LEAD: u32 = 4;

/// An element of the loser tree: the index of a source, and the prefix of its current key. The prefixes decide most
/// comparisons. A comparison accesses the sources themselves only if two prefixes are equal.
#[derive(Clone, Copy, Debug)]
struct Contender {
    /// The prefix of the source's key. Backward merges invert the prefix, so that the smaller number always wins. A
    /// source at its end has the largest number.
    head: u128,
    source: u32,
}

impl<S: Source> Merge<S> {
    /// Creates a merge of `sources`, which are in order from the newest to the oldest source. Each source must be at
    /// its first entry in `direction`.
    pub fn new(sources: Vec<S>, direction: Direction) -> Self {
        let count = sources.len();
        // A merge of a single source needs no comparisons and no memory for comparisons.
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
            comparisons: players.saturating_sub(1) as u64,
        };
        merge.winner = match count {
            0 => nobody,
            1 => merge.contender(0),
            _ => merge.play_all(1),
        };
        merge
    }

    /// Returns the source with the current entry of the merge: the newest version of the next key in the merge
    /// direction. Returns `None` at the end of the merge.
    #[inline]
    pub fn current(&self) -> Option<&S> {
        if self.standing == 0 {
            return None;
        }
        self.sources.get(self.winner.source as usize)
    }

    /// Returns the sources that have an older version of the current key, from the newest to the oldest version.
    pub fn superseded(&self) -> impl Iterator<Item = &S> {
        let current = self.current();
        let older = self.sources.iter().zip(&self.shadowed).skip(self.winner.source as usize + 1);
        let superseded = older.filter(|(_, shadowed)| **shadowed).map(|(source, _)| source);
        superseded.filter(move |source| current.is_some_and(|current| current.key() == source.key()))
    }

    /// Returns the only source of the merge, or `None` if the merge has another number of sources. The caller may
    /// advance this source, but must stop before its end.
    #[inline]
    pub fn only_source(&mut self) -> Option<&mut S> {
        match &mut self.sources[..] {
            [source] => Some(source),
            _ => None,
        }
    }

    /// Returns the number of comparisons of two keys or prefixes so far. A step of the merge costs one comparison per
    /// level of the loser tree, and as many again for each superseded entry that it skips. If a source has won several
    /// times and wins again, the step costs only one comparison.
    pub fn comparisons(&self) -> u64 {
        self.comparisons
    }

    /// Moves to the next key.
    ///
    /// # Errors
    /// If a source cannot read its next entry. The merge must not be used after such an error.
    #[inline]
    pub fn advance(&mut self, context: &S::Context) -> Result<(), S::Error> {
        if let [source] = &mut self.sources[..] {
            self.standing = usize::from(source.advance(context)?);
            return Ok(());
        }
        let source = self.winner.source;
        let current = self.moved(source, context)?;
        if current.head < self.runner_up {
            self.comparisons += 1;
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

    /// Returns the smallest prefix among the sources that have lost to the winner of the loser tree.
    #[cold]
    #[inline(never)]
    fn second_best(&self) -> u128 {
        let leaf = self.winner.source as usize + self.losers.len();
        let path = std::iter::successors(Some(leaf / 2), |node| Some(node / 2)).take_while(|node| *node > 0);
        path.map(|node| self.losers[node].head).min().unwrap_or(u128::MAX)
    }

    /// Skips superseded entries: while the entry of the winning source is superseded, moves this source to its next
    /// entry. The merge has already returned the key of a superseded entry, with the value of a newer source.
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

    /// After a source has advanced, repeats the comparisons on the path from the leaf of this source to the root of the
    /// loser tree. Returns the winner of the whole loser tree.
    #[inline]
    fn replay(&mut self, mut current: Contender) -> Contender {
        self.comparisons += u64::from(self.losers.len().trailing_zeros());
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

    /// Advances a source to its next entry. Returns the source with the prefix of its new key.
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

    /// Compares the full keys of `current` and of the loser at `node` of the loser tree, because their prefixes are
    /// equal. Returns the winner.
    #[cold]
    #[inline(never)]
    fn settle(&mut self, node: usize, current: Contender) -> Contender {
        let (winner, loser) = self.play(self.losers[node], current);
        self.losers[node] = loser;
        winner
    }

    /// Builds the loser tree below `node`: runs all comparisons at this node and below, and returns the winner.
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

    /// Compares two sources by their current keys, and returns the winner and the loser. If their keys are equal, the
    /// newer entry wins, and the older entry is marked as superseded.
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

    /// Compares the current keys of two sources. The result is `Equal` only if both sources are at entries of the same
    /// key.
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

    fn superseded<'m>(&'m self) -> impl Iterator<Item = &'m S>
    where
        S: 'm,
    {
        self.superseded()
    }

    #[inline]
    fn advance(&mut self, context: &S::Context) -> Result<(), S::Error> {
        self.advance(context)
    }
}

/// Returns `a` if `first` is `true`, else `b`. The code has no branch, which the CPU could predict wrongly.
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

    /// A run of keys with the number of its source. Reading fails at a given entry of the run.
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

    /// Returns a random key. The keys are often equal, often share prefixes, and sometimes have the prefix that stands
    /// for a source at its end.
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

    /// Reads a merge to its end. Returns each key with the number of its source.
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
