//! Generates scripts: seeded sequences of actions on a store, with the expected content after each commit.

use std::collections::BTreeMap;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::Xxh3;

/// The content of a store: each key with its value.
pub type Content = BTreeMap<Vec<u8>, Vec<u8>>;

/// The number of different keys that a script of actions writes.
const KEYS: u32 = 40;

/// A write in a script of actions. With a `value`, it is a put. With an `end`, it is a range delete from `key` to
/// `end`. Otherwise, it is a delete of `key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptWrite {
    /// The key that is written, or the first key of a range delete.
    pub key: Vec<u8>,
    /// The value of a put. `None` for a delete.
    pub value: Option<Vec<u8>>,
    /// The end of a range delete (exclusive). `None` for any other write.
    pub end: Option<Vec<u8>>,
}

/// The limits of a store for the commits that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitLimits {
    /// Whether a commit may contain several writes, or a range delete. Otherwise, each commit is one put or one delete.
    pub has_batches: bool,
    /// The maximum size of a value in bytes, at least 16. Longer values are truncated.
    pub value_bytes: usize,
}

impl Default for CommitLimits {
    /// Returns limits that allow all commits.
    fn default() -> Self {
        Self { has_batches: true, value_bytes: usize::MAX }
    }
}

impl CommitLimits {
    /// Changes a commit so that the store accepts it. If the store has no atomic batches, only the first write stays,
    /// and a range delete becomes a delete of one key. Truncates long values.
    fn reduce(&self, commit: &mut Vec<ScriptWrite>) {
        if !self.has_batches {
            commit.truncate(1);
        }
        for write in commit {
            if !self.has_batches {
                write.end = None;
            }
            if let Some(value) = &mut write.value {
                value.truncate(self.value_bytes);
            }
        }
    }
}

/// An action on a store in a script, such as a commit or a flush.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAction {
    /// An atomic batch of puts and deletes.
    Commit(Vec<ScriptWrite>),
    /// A get of one key.
    Get(Vec<u8>),
    /// A scan from the first key (inclusive) to the second (exclusive).
    Range(Vec<u8>, Vec<u8>),
    /// A flush of the memtable.
    Flush,
    /// A compaction of all data into one sorted run.
    Compact,
    /// A sync of all acknowledged writes.
    Sync,
    /// A checkpoint in a new directory.
    Checkpoint,
    /// The store is closed and opened again.
    Reopen,
}

/// A list of actions on a store, with the expected content after each commit.
///
/// Every value contains the number of its commit, so each commit changes the content, except for deletes of absent
/// keys.
pub struct Script {
    /// The actions of the script, in order.
    pub actions: Vec<StoreAction>,
    commits: Vec<Vec<ScriptWrite>>,
    /// The digests of the expected content after 0, 1, 2 … commits of the script.
    digests: Vec<u128>,
}

impl Script {
    /// Creates the script that a seed determines, with `length` actions.
    pub fn new(seed: u64, length: usize) -> Self {
        Self::within(seed, length, CommitLimits::default())
    }

    /// Creates the script that a seed determines, with `length` actions. Only contains commits that a store with these
    /// limits accepts.
    pub fn within(seed: u64, length: usize, limits: CommitLimits) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut actions, mut commits) = (Vec::new(), 0);
        for _ in 0..length {
            let mut action = action(&mut random, commits + 1);
            if let StoreAction::Commit(commit) = &mut action {
                limits.reduce(commit);
            }
            commits += usize::from(matches!(action, StoreAction::Commit(_)));
            actions.push(action);
        }
        Self::of(actions)
    }

    fn of(actions: Vec<StoreAction>) -> Self {
        let commits = actions.iter().filter_map(|action| match action {
            StoreAction::Commit(writes) => Some(writes.clone()),
            _ => None,
        });
        let commits: Vec<Vec<ScriptWrite>> = commits.collect();
        let (mut content, mut digests) = (Content::new(), vec![digest(&Content::new())]);
        for commit in &commits {
            apply(&mut content, commit);
            digests.push(digest(&content));
        }
        Self { actions, commits, digests }
    }

    /// Returns the commits of the script, in order.
    pub fn commits(&self) -> &[Vec<ScriptWrite>] {
        &self.commits
    }

    /// Returns all keys that a script can write.
    pub fn keys() -> impl Iterator<Item = Vec<u8>> {
        (0..KEYS).map(key)
    }

    /// Returns the content of a store after the first `commits` commits.
    pub fn content(&self, commits: usize) -> Content {
        let mut content = Content::new();
        self.commits[..commits].iter().for_each(|commit| apply(&mut content, commit));
        content
    }

    /// Returns a number of commits of the script after which the content has the digest `digest`. If there are several,
    /// returns the number nearest to the range `near`. Returns `None` if there is none.
    pub(crate) fn commits_with(&self, digest: u128, near: std::ops::RangeInclusive<usize>) -> Option<usize> {
        let same = (0..self.digests.len()).filter(|commits| self.digests[*commits] == digest);
        same.min_by_key(|commits| {
            let distance = near.start().saturating_sub(*commits).max(commits.saturating_sub(*near.end()));
            (commits > near.end(), distance)
        })
    }

    /// Returns the smallest and the largest number of commits in the range `bounds` after which the content has the
    /// digest `digest`. They differ if commits change nothing. Returns `None` if there is none.
    pub(crate) fn fewest_and_most(
        &self,
        digest: u128,
        bounds: std::ops::RangeInclusive<usize>,
    ) -> Option<(usize, usize)> {
        let mut same = bounds.filter(|commits| self.digests[*commits] == digest);
        let fewest = same.next()?;
        Some((fewest, same.next_back().unwrap_or(fewest)))
    }
}

/// Applies the writes of a commit to `content`, the content of a store.
pub(crate) fn apply(content: &mut Content, commit: &[ScriptWrite]) {
    for ScriptWrite { key, value, end } in commit {
        match (value, end) {
            (Some(value), _) => drop(content.insert(key.clone(), value.clone())),
            (None, None) => drop(content.remove(key)),
            (None, Some(end)) => content.retain(|other, _| other < key || other >= end),
        }
    }
}

/// Returns a digest of the content of a store, which is a hash of all its entries.
pub(crate) fn digest(content: &Content) -> u128 {
    let mut hash = Xxh3::new();
    for (key, value) in content {
        for part in [key, value] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.digest128()
}

/// Returns a random action of a script. `commit` is the number of the next commit.
fn action(random: &mut impl Rng, commit: usize) -> StoreAction {
    match random.random_range(0..1000) {
        0..600 => StoreAction::Commit(vec![put(random, commit, 0)]),
        600..680 => StoreAction::Commit(vec![delete(random)]),
        680..700 => StoreAction::Commit(vec![delete_range(random)]),
        700..850 => {
            let count = random.random_range(2..7);
            let one = |part| match random.random_range(0..20) {
                0..15 => put(random, commit, part),
                15..19 => delete(random),
                _ => delete_range(random),
            };
            StoreAction::Commit((0..count).map(one).collect())
        }
        850..890 => StoreAction::Get(any_key(random)),
        890..930 => StoreAction::Range(any_key(random), any_key(random)),
        930..960 => StoreAction::Sync,
        960..978 => StoreAction::Flush,
        978..986 => StoreAction::Compact,
        986..993 => StoreAction::Checkpoint,
        _ => StoreAction::Reopen,
    }
}

fn put(random: &mut impl Rng, commit: usize, part: usize) -> ScriptWrite {
    let filler = match random.random_range(0..100) {
        // Values that span several sectors, and one that spans several pages.
        0..4 => random.random_range(500..1600),
        4 => random.random_range(4000..9000),
        _ => random.random_range(0..60),
    };
    let mut value = format!("{commit}.{part} ").into_bytes();
    let letter = random.random_range(b'a'..=b'z');
    value.resize(value.len() + filler, letter);
    ScriptWrite { key: any_key(random), value: Some(value), end: None }
}

fn delete(random: &mut impl Rng) -> ScriptWrite {
    ScriptWrite { key: any_key(random), value: None, end: None }
}

/// Returns a random range delete. Half of them delete a few adjacent keys, and the others have two random keys as
/// bounds.
fn delete_range(random: &mut impl Rng) -> ScriptWrite {
    let (one, other) = (any_key(random), any_key(random));
    let (low, mut high) = if one < other { (one, other) } else { (other, one) };
    if low == high || random.random_bool(0.5) {
        high = [&*low, b"\xff"].concat();
    }
    ScriptWrite { key: low, value: None, end: Some(high) }
}

fn any_key(random: &mut impl Rng) -> Vec<u8> {
    key(random.random_range(0..KEYS))
}

/// Returns the bytes of the key with this number. Keys share prefixes of several lengths, and one key is empty.
fn key(number: u32) -> Vec<u8> {
    match number {
        0 => Vec::new(),
        1..10 => format!("{number}").into_bytes(),
        _ => format!("key/{:02}/{number:04}", number % 7).into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_script_and_has_everything_in_it() {
        let script = Script::new(7, 1000);
        assert_eq!(script.actions, Script::new(7, 1000).actions);
        let all =
            |wanted: fn(&StoreAction) -> bool| script.actions.iter().filter(|action| wanted(action)).count();
        for count in [
            all(|action| matches!(action, StoreAction::Flush)),
            all(|action| matches!(action, StoreAction::Compact)),
            all(|action| matches!(action, StoreAction::Sync)),
            all(|action| matches!(action, StoreAction::Checkpoint)),
            all(|action| matches!(action, StoreAction::Reopen)),
            all(|action| matches!(action, StoreAction::Range(..))),
            all(|action| matches!(action, StoreAction::Commit(writes) if writes.len() > 1)),
            all(|action| matches!(action, StoreAction::Commit(writes) if writes[0].value.is_none())),
            all(|action| matches!(action, StoreAction::Commit(writes) if writes[0].end.is_some())),
        ] {
            assert!(count > 0);
        }
        let keys: std::collections::BTreeSet<_> = Script::keys().collect();
        assert_eq!(keys.len(), KEYS as usize);
    }

    #[test]
    fn a_script_stays_within_the_limits_of_a_store() {
        let limits = CommitLimits { has_batches: false, value_bytes: 100 };
        let script = Script::within(7, 1000, limits);
        let whole = Script::new(7, 1000);
        assert_eq!(script.commits().len(), whole.commits().len());
        for commit in script.commits() {
            let [ScriptWrite { value, end: None, .. }] = &commit[..] else { panic!("{commit:?}") };
            assert!(value.as_ref().is_none_or(|value| value.len() <= 100));
        }
        let longest = |script: &Script| {
            let values = script.commits().iter().flatten().filter_map(|write| write.value.as_ref());
            values.map(Vec::len).max()
        };
        assert_eq!(longest(&script), Some(100));
        assert!(longest(&whole) > Some(1000));
    }

    #[test]
    fn commits_that_change_nothing_leave_open_how_many_there_are() {
        let script = Script::new(3, 1000);
        let same = |commits: &usize| script.content(*commits) == script.content(commits + 1);
        let before = (0..script.commits().len()).find(same).expect("a key that is not there is deleted");
        let both = script.fewest_and_most(digest(&script.content(before)), before..=before + 1);
        assert_eq!(both, Some((before, before + 1)));
    }

    #[test]
    fn content_is_known_by_its_digest() {
        let script = Script::new(3, 200);
        let last = script.commits().len();
        for commits in 0..=last {
            let content = script.content(commits);
            let found = script.commits_with(digest(&content), commits..=commits).unwrap();
            assert_eq!(script.content(found), content);
        }
        assert_eq!(script.commits_with(1, 0..=last), None);
        assert_eq!(script.fewest_and_most(1, 0..=last), None);
    }
}
