//! Writes the operations of a phase as lines of the DSL.

use std::io::{self, Write};
use std::sync::Arc;

use super::command::Command;
use crate::batch::Batch;
use crate::extents::Extent;
use crate::format::KeyFormat;
use crate::operation::{KeyId, Kind};
use crate::order::KeyOrder;
use crate::plan::PhasePlan;
use crate::prefix;
use crate::stream::Stream;

/// Writes the first `limit` operations of a phase to `out` as lines of the text language (DSL), and returns their
/// number. The function takes one operation of each thread in turn.
///
/// Each member of a batch or a multi-get becomes one line. A read-modify-write becomes a get and a put. A scan becomes
/// `r LOW HIGH` without its direction. An operation without a text form, such as a conditional put, becomes a comment.
/// To print a phase that replays recorded operations, use the requests of the [`Replay`](crate::Replay) instead.
///
/// # Errors
/// Returns an error if writing to `out` fails. Also returns an error if more than about 3.4 billion keys must be sorted
/// to find the bounds of a scan.
pub fn write_operations(
    phase: &Arc<PhasePlan>,
    from: Extent,
    limit: u64,
    out: &mut dyn Write,
) -> io::Result<u64> {
    let mut printer = Printer { format: &*phase.format, order: None, out };
    let mut streams = phase.streams(from);
    let mut batch = Batch::default();
    let mut written = 0;
    loop {
        let before = written;
        for stream in &mut streams {
            if written < limit && stream.fill(&mut batch, 1) == 1 {
                for at in 0..batch.operations().len() {
                    printer.print(stream, &batch, at)?;
                }
                written += 1;
            }
        }
        if written == before {
            return Ok(written);
        }
    }
}

struct Printer<'a> {
    format: &'a dyn KeyFormat,
    order: Option<KeyOrder>,
    out: &'a mut dyn Write,
}

impl Printer<'_> {
    fn print(&mut self, stream: &Stream, batch: &Batch, at: usize) -> io::Result<()> {
        let operation = &batch.operations()[at];
        let key = || batch.key(at).to_vec();
        let put = || Command::Put { key: key(), value: batch.value(at).to_vec() };
        let command = match operation.kind {
            Kind::Get => Command::Get { key: key() },
            Kind::Put | Kind::Insert => put(),
            Kind::Delete => Command::Delete { key: key() },
            Kind::SingleDelete => Command::SingleDelete { key: key() },
            Kind::ReadModifyWrite => {
                writeln!(self.out, "{}", Command::Get { key: key() })?;
                put()
            }
            Kind::DeleteRange => {
                let high = batch.end(at).map(<[u8]>::to_vec).unwrap_or_default();
                Command::DeleteRange { low: key(), high }
            }
            Kind::Range => {
                let (index, count) = (operation.key.index(), u64::from(operation.count));
                let (low, high) = match batch.end(at) {
                    Some(high) => (key(), high.to_vec()),
                    None => self.bounds(stream.extent().keys, index, count, operation.backward)?,
                };
                Command::Range { low, high }
            }
            Kind::Prefix => {
                let (low, mut high) = (prefix::of(batch.key(at), operation.count).to_vec(), Vec::new());
                if !prefix::end_of(&low, &mut high) {
                    high = vec![0xff; self.format.max_bytes() + 1];
                }
                Command::Range { low, high }
            }
            Kind::Merge => Command::Merge { key: key(), operand: batch.value(at).to_vec() },
            Kind::First | Kind::Last | Kind::PutIfAbsent => {
                return writeln!(self.out, "# {}", operation.kind);
            }
            // Each member is printed on its own line.
            Kind::Batch | Kind::MultiGet => return Ok(()),
        };
        writeln!(self.out, "{command}")
    }

    /// Returns the bounds of a scan of `count` keys that starts at the key with the index `index`. The bounds are the
    /// smallest key and the exclusive end key.
    fn bounds(
        &mut self,
        keys: u64,
        index: u64,
        count: u64,
        backward: bool,
    ) -> io::Result<(Vec<u8>, Vec<u8>)> {
        if !self.order.as_ref().is_some_and(|order| order.covers(keys)) {
            self.order = KeyOrder::new(self.format, keys + keys / 4);
        }
        let order = self.order.as_ref().ok_or_else(|| {
            io::Error::other(format!(
                "a scan needs the sorted order of {keys} keys, but lsmbench can sort at most about 3.4 billion \
                 keys; use a key format that sorts keys by their indexes"
            ))
        })?;
        let start = order.place(index);
        let places = order.places(keys);
        // The order may contain keys that do not exist yet. A scan does not count such keys.
        let exists = |place: &u64| order.index(*place, keys).is_some_and(|index| index < keys);
        let last = usize::try_from(count.saturating_sub(1)).unwrap_or(usize::MAX);
        let (first, behind) = if backward {
            ((0..=start).rev().filter(exists).nth(last).unwrap_or(0), start + 1)
        } else {
            (start, (start..places).filter(exists).nth(last).map_or(places, |place| place + 1))
        };
        let at = |place| order.index(place, keys).map(|index| self.key(index));
        let low = at(first).unwrap_or_else(|| self.key(index));
        // An upper bound of all keys: longer than any key, and made of the largest byte.
        let high = at(behind).unwrap_or_else(|| vec![0xff; self.format.max_bytes() + 1]);
        Ok((low, high))
    }

    fn key(&self, index: u64) -> Vec<u8> {
        let mut key = Vec::new();
        self.format.append(KeyId::present(index), &mut key);
        key
    }
}
