//! Merging sorted sources, newest first, into one sequence with the newest version of each key.

use std::cmp::Ordering;

use types::{Direction, Entry};

use crate::error::Result;
use crate::memory::MemtableCursor;
use crate::stats::AllCounters;
use crate::table::RunCursor;

/// One sorted source of a merge. It always stands at an entry; a source without entries is left out.
pub(crate) enum Source {
    /// A memtable.
    Memtable(MemtableCursor),
    /// A sorted run.
    Run(RunCursor),
}

impl Source {
    #[inline]
    fn head(&self) -> u64 {
        match self {
            Self::Memtable(cursor) => cursor.head(),
            Self::Run(cursor) => cursor.head(),
        }
    }

    #[inline]
    fn key(&self) -> &[u8] {
        match self {
            Self::Memtable(cursor) => cursor.entry().key,
            Self::Run(cursor) => cursor.key(),
        }
    }

    #[inline]
    fn entry(&self) -> Entry<'_> {
        match self {
            Self::Memtable(cursor) => cursor.entry(),
            Self::Run(cursor) => cursor.entry(),
        }
    }

    #[inline]
    fn advance(&mut self, counters: &AllCounters) -> Result<bool> {
        match self {
            Self::Memtable(cursor) => Ok(cursor.advance()),
            Self::Run(cursor) => cursor.advance(counters),
        }
    }
}

/// A loser tree over sorted sources (Knuth, TAOCP 3, 5.4.1): each step costs one comparison per level, and
/// nearly every comparison is of two 8-byte heads.
pub(crate) struct Merge {
    /// The sources, the newest first: of equal keys the first source's wins.
    sources: Vec<Source>,
    direction: Direction,
    /// The head of each source's key, so that comparing touches no source.
    heads: Vec<u64>,
    /// Sources at their end.
    ended: Vec<bool>,
    /// `losers[node]` lost the match at `node`; `losers[0]` is the winner of all.
    losers: Vec<usize>,
    /// The key given out last, to pass over its older versions.
    last_key: Vec<u8>,
}

impl Merge {
    /// A merge of `sources`, which stand at their first entries in `direction`.
    pub(crate) fn new(sources: Vec<Source>, direction: Direction) -> Self {
        let count = sources.len();
        let heads = sources.iter().map(Source::head).collect();
        let mut merge = Self {
            sources,
            direction,
            heads,
            ended: vec![false; count],
            losers: vec![0; count.max(1)],
            last_key: Vec::new(),
        };
        if count > 0 {
            merge.losers[0] = merge.play(1);
        }
        merge
    }

    /// The current entry: of all sources the first key in direction, in its newest version.
    #[inline]
    pub(crate) fn entry(&self) -> Option<Entry<'_>> {
        let winner = self.losers[0];
        match self.ended.get(winner) {
            Some(false) => Some(self.sources[winner].entry()),
            _ => None,
        }
    }

    /// Moves to the next key.
    #[inline]
    pub(crate) fn advance(&mut self, counters: &AllCounters) -> Result<()> {
        if self.sources.len() == 1 {
            self.ended[0] = !self.sources[0].advance(counters)?;
            return Ok(());
        }
        let winner = self.losers[0];
        let last_head = self.heads[winner];
        self.last_key.clear();
        self.last_key.extend_from_slice(self.sources[winner].key());
        self.step(winner, counters)?;
        loop {
            let winner = self.losers[0];
            let older = !self.ended[winner]
                && self.heads[winner] == last_head
                && self.sources[winner].key() == self.last_key;
            if !older {
                return Ok(());
            }
            self.step(winner, counters)?;
        }
    }

    /// Moves one source and replays its matches.
    #[inline]
    fn step(&mut self, source: usize, counters: &AllCounters) -> Result<()> {
        if self.sources[source].advance(counters)? {
            self.heads[source] = self.sources[source].head();
        } else {
            self.ended[source] = true;
        }
        let mut winner = source;
        let mut node = (source + self.sources.len()) / 2;
        while node > 0 {
            if self.beats(self.losers[node], winner) {
                std::mem::swap(&mut self.losers[node], &mut winner);
            }
            node /= 2;
        }
        self.losers[0] = winner;
        Ok(())
    }

    /// Plays all matches under `node` and returns the winner. Leaves are the nodes from the number of
    /// sources on.
    fn play(&mut self, node: usize) -> usize {
        let count = self.sources.len();
        if node >= count {
            return node - count;
        }
        let (left, right) = (self.play(2 * node), self.play(2 * node + 1));
        let (winner, loser) = if self.beats(left, right) { (left, right) } else { (right, left) };
        self.losers[node] = loser;
        winner
    }

    /// Whether source `a` comes before source `b`.
    #[inline]
    fn beats(&self, a: usize, b: usize) -> bool {
        if self.ended[a] || self.ended[b] {
            return self.ended[b] && (!self.ended[a] || a < b);
        }
        let order =
            self.heads[a].cmp(&self.heads[b]).then_with(|| self.sources[a].key().cmp(self.sources[b].key()));
        match (order, self.direction) {
            (Ordering::Equal, _) => a < b,
            (order, Direction::Forward) => order == Ordering::Less,
            (order, Direction::Backward) => order == Ordering::Greater,
        }
    }
}
