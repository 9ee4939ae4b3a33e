//! The share of one thread in the operations and the keys of its phase.

use crate::role::Role;

/// The share of one thread in the operations and the keys of its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadShare {
    /// The position of the thread among all threads that execute the same mix, from 0.
    pub(crate) place: u32,
    /// The number of all threads that execute the mix of this thread.
    pub(crate) of: u32,
    /// The keys that the thread may write. `None` if the thread only reads.
    pub(crate) owned: Option<Ownership>,
}

/// The keys that one thread may write, so that each key has only one writer. These are the keys of the set `range`
/// whose index has the remainder `rank` modulo `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ownership {
    pub(crate) rank: u32,
    pub(crate) of: u32,
    pub(crate) range: OwnedRange,
}

/// The set of keys that several writing threads divide among themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnedRange {
    All,
    /// The keys that exist at the start of the phase.
    Existing,
    /// The keys that the phase adds.
    Added,
}

impl Ownership {
    /// Returns whether the thread may write the key with the index `key`. `existing` is the number of keys at the start
    /// of the phase.
    pub(crate) fn has(self, key: u64, existing: u64) -> bool {
        let is_in_range = match self.range {
            OwnedRange::All => true,
            OwnedRange::Existing => key < existing,
            OwnedRange::Added => key >= existing,
        };
        is_in_range && key % u64::from(self.of) == u64::from(self.rank)
    }
}

impl ThreadShare {
    /// Returns the share of a thread in a phase without roles, in which all `threads` threads do the same work.
    pub(crate) fn equal(thread: u32, threads: u32) -> Self {
        let owned = Ownership { rank: thread, of: threads, range: OwnedRange::All };
        Self { place: thread, of: threads, owned: Some(owned) }
    }

    /// Returns the position of the thread's role in `roles`, and the share of the thread in the operations and keys.
    /// Returns `None` if the roles have fewer threads.
    ///
    /// The threads that add keys divide the new keys among themselves. The threads that overwrite or delete divide the
    /// existing keys. If a role both adds keys and overwrites or deletes keys, its threads divide all keys.
    pub(crate) fn of_role(roles: &[Role], thread: u32) -> Option<(usize, Self)> {
        let (number, place) = Role::of_thread(roles, thread)?;
        let role = &roles[number];
        let (range, shares): (_, fn(&Role) -> bool) = match (role.inserts(), role.updates()) {
            (false, false) => return Some((number, Self { place, of: role.threads, owned: None })),
            (true, true) => (OwnedRange::All, |_| true),
            (true, false) => (OwnedRange::Added, Role::inserts),
            (false, true) => (OwnedRange::Existing, Role::updates),
        };
        let threads = |roles: &[Role]| -> u32 {
            roles.iter().filter(|role| role.writes() && shares(role)).map(|role| role.threads).sum()
        };
        let owned = Ownership { rank: threads(&roles[..number]) + place, of: threads(roles), range };
        Some((number, Self { place, of: role.threads, owned: Some(owned) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Phase, Work};

    fn roles(mixes: &[(&str, u32)]) -> Vec<Role> {
        let role = |(number, (mix, threads)): (usize, &(&str, u32))| {
            format!("[[role]]\nname = \"r{number}\"\nmix = {mix}\nthreads = {threads}\noperations = 9\n")
        };
        let text: String = mixes.iter().enumerate().map(role).collect();
        match Phase::from_toml(&format!("name = \"p\"\n{text}").parse().unwrap()).unwrap().work {
            Work::Roles(roles) => roles,
            work => panic!("{work:?}"),
        }
    }

    /// Tests that exactly one thread may write each key that any thread may write, and that readers write nothing.
    #[test]
    fn every_written_key_has_one_writer() {
        for mixes in [
            &[("{ get = 1 }", 3), ("{ put = 1 }", 2)][..],
            &[("{ insert = 1, get = 1 }", 2), ("{ range = 1 }", 1), ("{ delete = 1 }", 3)],
            &[("{ insert = 1, put = 1 }", 2), ("{ insert = 2, delete = 1 }", 1)],
            &[("{ insert = 1 }", 1), ("{ insert = 1 }", 2)],
        ] {
            let roles = roles(mixes);
            let threads: u32 = roles.iter().map(|role| role.threads).sum();
            let shares: Vec<_> =
                (0..threads).map(|thread| ThreadShare::of_role(&roles, thread).unwrap()).collect();
            assert_eq!(ThreadShare::of_role(&roles, threads), None);
            for key in 0..40 {
                let owners =
                    shares.iter().filter(|(_, share)| share.owned.is_some_and(|owned| owned.has(key, 20)));
                let is_written = roles.iter().any(if key < 20 { Role::updates } else { Role::inserts });
                assert_eq!(owners.count(), usize::from(is_written), "{mixes:?}, key {key}");
            }
            for (number, share) in shares {
                assert_eq!(share.of, roles[number].threads);
                assert_eq!(share.owned.is_some(), roles[number].writes());
            }
        }
    }
}
