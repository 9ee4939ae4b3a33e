//! The recorded keys of a replayed trace. The keys are big-endian numbers with the width of the trace. Key i is the
//! i-th smallest number, so keys sort by their indexes.
//!
//! Every number of this width can be a key of the trace. An absent key is therefore the bytes of a present key,
//! followed by a zero byte. The absent key sorts directly after the present key.

use std::sync::Arc;

use catalog::Variant;

use super::policy::{KeyFormat, KeyFormatPolicy};
use crate::operation::KeyId;
use crate::trace::Recording;

pub(crate) const VARIANT: Variant<dyn KeyFormatPolicy> =
    Variant::plain("trace", "the key numbers of the replayed trace, as they were recorded", || {
        Box::new(Policy)
    });

struct Policy;

impl KeyFormatPolicy for Policy {
    fn open(&self, recording: Option<&Arc<Recording>>) -> Result<Arc<dyn KeyFormat>, String> {
        match recording {
            Some(recording) => Ok(Arc::new(Recorded(Arc::clone(recording)))),
            None => {
                Err("this format needs the keys of a trace, but no phase replays a raw trace; add such a \
                     phase, or choose another format, such as \"u64\""
                    .to_owned())
            }
        }
    }
}

struct Recorded(Arc<Recording>);

impl KeyFormat for Recorded {
    fn append(&self, key: KeyId, out: &mut Vec<u8>) {
        let number = self.0.numbers()[key.index() as usize].to_be_bytes();
        out.extend_from_slice(&number[8 - self.0.width()..]);
        if key.is_absent() {
            out.push(0);
        }
    }

    fn capacity(&self) -> u64 {
        self.0.numbers().len() as u64
    }

    fn ordered(&self) -> bool {
        true
    }

    fn max_bytes(&self) -> usize {
        self.0.width() + 1
    }
}
