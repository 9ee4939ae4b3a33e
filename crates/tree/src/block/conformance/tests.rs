//! Tests that the conformance check detects a block format that breaks an invariant.

use types::Entry;

use super::{INVARIANTS, Subject};
use crate::BlockOptions;
use crate::block::{BlockFooter, BlockFormat, CATALOG, Draft, EntryWriter, Layout};

/// The fault that a test injects into a block format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The format has a code that no format of the catalog has.
    HasAnUnknownCode,
    /// The last entry of a block is not written.
    ForgetsTheLastEntry,
    /// Every value is written as a tombstone.
    ForgetsValues,
}

/// The format `delta` with an injected fault.
struct Canary(Fault, Box<dyn BlockFormat>);

impl BlockFormat for Canary {
    fn code(&self) -> u8 {
        if self.0 == Fault::HasAnUnknownCode { 15 } else { self.1.code() }
    }

    fn layout(&self, block: &[u8], footer: &BlockFooter) -> Option<Layout> {
        self.1.layout(block, footer)
    }

    fn writer(&self, options: &BlockOptions) -> Box<dyn EntryWriter> {
        Box::new(Writer { fault: self.0, sound: self.1.writer(options), held: None })
    }
}

struct Writer {
    fault: Fault,
    sound: Box<dyn EntryWriter>,
    /// The entry that is held back and written together with the next entry.
    held: Option<(Vec<u8>, Option<Vec<u8>>)>,
}

impl EntryWriter for Writer {
    fn add(&mut self, draft: &mut Draft, entry: &Entry<'_>) {
        match self.fault {
            Fault::ForgetsTheLastEntry => {
                let next = (entry.key.to_vec(), entry.value.map(<[u8]>::to_vec));
                if let Some((key, value)) = self.held.replace(next) {
                    self.sound.add(draft, &Entry { key: &key, value: value.as_deref() });
                }
            }
            Fault::ForgetsValues => self.sound.add(draft, &Entry { value: None, ..*entry }),
            Fault::HasAnUnknownCode => self.sound.add(draft, entry),
        }
    }

    fn bytes_with(&self, draft: &Draft, entry: &Entry<'_>) -> usize {
        self.sound.bytes_with(draft, entry)
    }

    fn finish(&mut self, draft: &mut Draft) {
        self.held = None;
        self.sound.finish(draft);
    }
}

#[test]
fn every_canary_is_caught_by_its_invariant() {
    let cases = [
        (Fault::HasAnUnknownCode, "all block formats of the catalog must have different codes"),
        (Fault::ForgetsTheLastEntry, "an iterator over a block must return all entries in key order"),
        (Fault::ForgetsValues, "an iterator over a block must return all entries in key order"),
        (Fault::ForgetsValues, "a lookup in a block must find every key of the block, and no other key"),
    ];
    for (fault, name) in cases {
        let canary = Subject(Box::new(Canary(fault, CATALOG.build(&CATALOG.baseline()).unwrap())));
        let (_, check) =
            INVARIANTS.iter().find(|(other, _)| *other == name).expect("the name must be an invariant");
        assert!(check(&canary).is_err(), "the invariant \"{name}\" does not catch {fault:?}");
    }
}
