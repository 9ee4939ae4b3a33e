//! A fence that selects a layout for each SSTable when the SSTable is written. There are three layouts: binary search
//! for few separators, the Eytzinger layout for many separators, and prefix compression to save memory.
//!
//! Source: the fence-pointer factory of the document cs265, section 2.3.2, with two corrections. First, the document
//! tests for little memory only after two other tests. One of the two earlier tests always succeeds, so the design in
//! the document never compresses a fence. In lsmbench, the test for little memory comes first. Second, all SSTables
//! in deep levels get the Eytzinger layout in the document. In lsmbench, SSTables in levels above
//! `eytzinger_min_level` never get this layout, and the number of separators decides for all other SSTables.
//!
//! The time of a search and the memory depend on the selected layout. In the stored bytes, the byte after the tag
//! identifies the layout.

use std::ops::Range;

use catalog::{Build, Count, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, common_prefix};

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableReadError, TableView};
use crate::stored::{self, corrupt, take};
use crate::{binary, compressed, eytzinger};

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::new::<Adaptive>(
    "adaptive",
    "\"binary\" for small SSTables, \"eytzinger\" for large SSTables, and optionally \"compressed\" to save memory",
    "# Minimum number of separators with which an SSTable gets the layout \"eytzinger\". Smaller SSTables\n\
     # get the layout \"binary\".\n\
     eytzinger_threshold = 5000\n\
     # Smallest level number whose SSTables get the layout \"eytzinger\"; 0 means all levels. SSTables that\n\
     # move to another level without a rewrite keep their layout.\n\
     eytzinger_min_level = 0\n\
     # Whether SSTables of any size get the layout \"compressed\" if their separators share a prefix.\n\
     memory_constrained = false\n",
);

const TAG: stored::Tag = *b"fada";

/// Number of bytes before the bytes of the selected fence: four bytes for the tag of the variant, and one byte for the
/// number of the layout.
const HEAD_BYTES: u64 = 5;

/// The policy of the variant "adaptive", which selects a layout for each SSTable and builds the fence in this layout.
struct Adaptive {
    eytzinger_threshold: u64,
    eytzinger_min_level: u64,
    memory_constrained: bool,
    /// The policies that build the three layouts, in this order: the layout for few separators, the layout for many
    /// separators, and the compressed layout.
    policies: [Box<dyn FencePolicy>; 3],
}

const SMALL: u8 = 0;
const LARGE: u8 = 1;
const COMPRESSED: u8 = 2;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    eytzinger_threshold: Count,
    eytzinger_min_level: u64,
    memory_constrained: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { eytzinger_threshold: Count(5000), eytzinger_min_level: 0, memory_constrained: false }
    }
}

impl Build<dyn FencePolicy> for Adaptive {
    type Params = Params;

    fn build(
        Params { eytzinger_threshold, eytzinger_min_level, memory_constrained }: Params,
    ) -> Result<Box<dyn FencePolicy>, String> {
        let policies = [binary::policy(), eytzinger::policy(), compressed::policy()];
        let eytzinger_threshold = eytzinger_threshold.0;
        Ok(Box::new(Self { eytzinger_threshold, eytzinger_min_level, memory_constrained, policies }))
    }
}

impl Adaptive {
    fn choose(&self, input: &FenceInput<'_>) -> u8 {
        let separators = input.separators;
        let count = separators.len();
        // The first separator may be shortened to the empty string. The empty string shares no prefix with other
        // separators, so it is left out.
        let shares_prefix = count > 2 && common_prefix(separators.get(1), separators.get(count - 1)) > 0;
        match () {
            () if self.memory_constrained && shares_prefix => COMPRESSED,
            () if (input.level as u64) < self.eytzinger_min_level => SMALL,
            () if count as u64 >= self.eytzinger_threshold => LARGE,
            () => SMALL,
        }
    }
}

impl FencePolicy for Adaptive {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        let chosen = self.choose(input);
        let stored = self.policies[usize::from(chosen)].build(input);
        [&TAG[..], &[chosen], &stored].concat()
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        let head = table.read_stored(0..table.stored_bytes().min(HEAD_BYTES))?;
        let mut head = &*head;
        if take(&mut head, TAG.len())? != TAG {
            return Err(corrupt("another variant than \"adaptive\" wrote the stored fence"));
        }
        let chosen = take(&mut head, 1)?[0];
        let policy = self.policies.get(usize::from(chosen));
        policy
            .ok_or_else(|| {
                corrupt(format!(
                    "the stored fence has the layout number {chosen}; the number must be 0, 1 or 2"
                ))
            })?
            .open(&Behind(table))
    }
}

/// A view of an SSTable for the fence with the selected layout. The view hides the tag and the number of the layout, so
/// that the stored bytes begin with this fence.
struct Behind<'a>(&'a dyn TableView);

impl TableView for Behind<'_> {
    fn block_count(&self) -> u32 {
        self.0.block_count()
    }

    fn stored_bytes(&self) -> u64 {
        self.0.stored_bytes().saturating_sub(HEAD_BYTES)
    }

    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        self.0.read_stored(behind(range)?)
    }

    fn page(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        self.0.page(behind(range)?)
    }

    fn first_key(&self, block: u32) -> Result<Bytes, TableReadError> {
        self.0.first_key(block)
    }
}

fn behind(range: Range<u64>) -> Result<Range<u64>, TableReadError> {
    let end = range
        .end
        .checked_add(HEAD_BYTES)
        .ok_or("the end of the byte range that the stored fence requests does not fit into 64 bits")?;
    Ok(range.start.saturating_add(HEAD_BYTES)..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::separators::Separators;

    fn chosen(params: Params, separators: &Separators) -> u8 {
        chosen_in(0, params, separators)
    }

    fn chosen_in(level: usize, params: Params, separators: &Separators) -> u8 {
        let policy = <Adaptive as Build<_>>::build(params).ok().unwrap();
        policy.build(&FenceInput { separators, hashes: &[], block_starts: &[], level, bounds: None })
            [TAG.len()]
    }

    #[test]
    fn size_and_memory_decide() {
        let alike: Separators = [&b""[..], b"user1", b"user2", b"user3"].into_iter().collect();
        let unlike: Separators = [&b""[..], b"a", b"b", b"c"].into_iter().collect();
        let params = |threshold, memory_constrained| Params {
            eytzinger_threshold: Count(threshold),
            memory_constrained,
            ..Params::default()
        };
        assert_eq!(chosen(Params::default(), &alike), SMALL);
        assert_eq!(chosen(params(4, false), &alike), LARGE);
        assert_eq!(chosen(params(5, false), &alike), SMALL);
        assert_eq!(chosen(params(4, true), &alike), COMPRESSED);
        assert_eq!(chosen(params(5, true), &alike), COMPRESSED);
        assert_eq!(chosen(params(4, true), &unlike), LARGE);
    }

    #[test]
    fn upper_levels_are_never_large() {
        let separators: Separators = [&b""[..], b"a", b"b", b"c"].into_iter().collect();
        for (level, expected) in [(0, SMALL), (1, SMALL), (2, LARGE), (7, LARGE)] {
            let params =
                Params { eytzinger_threshold: Count(1), eytzinger_min_level: 2, ..Params::default() };
            assert_eq!(chosen_in(level, params, &separators), expected, "level {level}");
        }
    }
}
