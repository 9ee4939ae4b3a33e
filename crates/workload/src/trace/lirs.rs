//! Reader of the traces of the LIRS papers. Each line contains one block number. A line `*` separates two passes over
//! the blocks.

use catalog::Variant;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::lines::{LineFormat, LineRecords, Records, field, number};
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};

pub(super) const VARIANT: Variant<dyn TraceReader> =
    Variant::plain("lirs", "block numbers as text, one number per line", || Box::new(Lirs));

struct Lirs;

impl TraceReader for Lirs {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        head.all_lines(|line| line == b"*" || number::<u64>(line).is_some())
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

impl LineFormat for Lirs {
    fn parse(&mut self, line: &[u8], records: &mut Records) -> Result<(), String> {
        let line = line.trim_ascii();
        if line != b"*" && !line.is_empty() {
            let block: u64 = field("block", line)?;
            records.push(TraceRecord::new(TraceOperation::Get, block.to_be_bytes()));
        }
        Ok(())
    }
}
