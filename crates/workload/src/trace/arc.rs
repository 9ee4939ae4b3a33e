//! Reader of the traces of the ARC papers. A line has four numbers: the first block, the number of blocks, an ignored
//! number, and the number of the request.

use catalog::Variant;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::lines::{LineFormat, LineRecords, Records, field, number, words};
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::plain(
    "arc",
    "requests for ranges of blocks, as text (first block, number of blocks, 0, number of the request)",
    || Box::new(Arc),
);

/// The maximum number of blocks of one request in the trace.
const MOST_BLOCKS: u64 = 1 << 16;

struct Arc;

impl TraceReader for Arc {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        head.all_lines(|line| {
            words(line).count() == 4 && words(line).all(|word| number::<u64>(word).is_some())
        })
    }

    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        Ok(Box::new(LineRecords::new(input, Self)))
    }

    fn width(&self) -> Option<usize> {
        Some(size_of::<u64>())
    }

    fn has_only_keys(&self) -> bool {
        true
    }
}

impl LineFormat for Arc {
    fn parse(&mut self, line: &[u8], records: &mut Records) -> Result<(), String> {
        let mut words = words(line);
        let (Some(first), Some(blocks)) = (words.next(), words.next()) else {
            return Err("expected a line FIRST_BLOCK BLOCKS 0 REQUEST".to_owned());
        };
        let (first, blocks): (u64, u64) = (field("first block", first)?, field("number of blocks", blocks)?);
        if blocks > MOST_BLOCKS {
            return Err(format!("a request has {blocks} blocks; the maximum is {MOST_BLOCKS}"));
        }
        for block in 0..blocks {
            let key = first.wrapping_add(block).to_be_bytes();
            records.push(TraceRecord::new(TraceOperation::Get, key));
        }
        Ok(())
    }
}
