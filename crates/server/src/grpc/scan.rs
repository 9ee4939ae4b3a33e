//! Reads the responses to a `Range` request: the entries of a snapshot, in parts of limited size.

use std::ops::Bound;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use tonic::Status;
use tree::Snapshot;

use super::call::Call;
use super::messages::{Entry, RangeRequest, RangeResponse};
use super::status::{of_ending, of_tree};
use super::work::space;

/// The maximum number of bytes of keys and values in one response to a `Range` request. Only a response with a single
/// entry may be larger.
const RESPONSE_BYTES: usize = 64 << 10;

/// A `Range` call whose entries the client has not received completely. Reads the next response only when the client
/// can receive it.
pub(super) struct Scan {
    call: Arc<Call>,
    /// The snapshot from which the scan reads. `None` after the scan has ended, because a snapshot keeps files of the
    /// store.
    snapshot: Option<Snapshot>,
    low: Bound<Bytes>,
    high: Bound<Bytes>,
    is_backward: bool,
    /// The number of entries that the scan may still return.
    left: u64,
}

impl Scan {
    /// Takes the snapshot of a scan.
    ///
    /// # Errors
    /// The store has no column family with the requested name.
    pub(super) fn new(call: Arc<Call>, request: RangeRequest) -> Result<Self, Status> {
        let RangeRequest { low, high, limit, backward, family } = request;
        Ok(Self {
            snapshot: Some(space(&call, &family)?.snapshot()),
            low: Bound::Included(low),
            high: if high.is_empty() { Bound::Unbounded } else { Bound::Excluded(high) },
            is_backward: backward,
            left: if limit == 0 { u64::MAX } else { limit },
            call,
        })
    }

    /// Reads the next response of the scan. Returns `None` at its end.
    pub(super) fn next(&mut self) -> Result<Option<RangeResponse>, Status> {
        let Some(snapshot) = self.snapshot.take() else { return Ok(None) };
        if self.call.shared.is_ending() {
            return Err(of_ending());
        }
        let Chunk { bytes, ends, is_last } = self.read(&snapshot)?;
        self.call.admit_response(bytes.len())?;
        let entries = entries(&bytes.into(), &ends);
        let Some(last) = entries.last() else { return Ok(None) };
        let rest = if self.is_backward { &mut self.high } else { &mut self.low };
        // Copies the key, because a slice of it would keep the memory of the whole response.
        *rest = Bound::Excluded(Bytes::copy_from_slice(&last.key));
        self.left -= entries.len() as u64;
        if !is_last && self.left > 0 {
            self.snapshot = Some(snapshot);
        }
        Ok(Some(RangeResponse { entries }))
    }

    /// Reads the entries of the next response from the snapshot.
    fn read(&self, snapshot: &Snapshot) -> Result<Chunk, Status> {
        let limit = RESPONSE_BYTES.min(self.call.shared.options.limits.reply_bytes);
        let mut chunk = Chunk { bytes: Vec::new(), ends: Vec::new(), is_last: false };
        let mut range =
            snapshot.range((bound(&self.low), bound(&self.high))).map_err(|error| of_tree(&error))?;
        while (chunk.ends.len() as u64) < self.left {
            let entry = if self.is_backward { range.next_back() } else { range.next() };
            let Some((key, value)) = entry.map_err(|error| of_tree(&error))? else {
                chunk.is_last = true;
                break;
            };
            // An entry that does not fit is the first entry of the next response.
            if !chunk.ends.is_empty() && chunk.bytes.len() + key.len() + value.len() > limit {
                break;
            }
            chunk.bytes.extend_from_slice(key);
            let key_end = chunk.bytes.len();
            chunk.bytes.extend_from_slice(value);
            chunk.ends.push((key_end, chunk.bytes.len()));
        }
        Ok(chunk)
    }
}

/// The entries of one response of a scan, with all keys and values in one buffer.
struct Chunk {
    bytes: Vec<u8>,
    /// For each entry, the end of its key and the end of its value, as positions in the buffer.
    ends: Vec<(usize, usize)>,
    /// Whether this is the last response of the scan.
    is_last: bool,
}

/// Splits a buffer with keys and values into entries. `ends` contains the end of each key and of each value, as
/// positions in the buffer.
fn entries(bytes: &Bytes, ends: &[(usize, usize)]) -> Vec<Entry> {
    let mut start = 0;
    let cut = |(key_end, end): &(usize, usize)| {
        let entry = Entry { key: bytes.slice(start..*key_end), value: bytes.slice(*key_end..*end) };
        start = *end;
        entry
    };
    ends.iter().map(cut).collect()
}

fn bound(bound: &Bound<Bytes>) -> Bound<&[u8]> {
    bound.as_ref().map(|key| &**key)
}

impl Stream for Scan {
    type Item = Result<RangeResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = tokio::task::block_in_place(|| self.next());
        if next.is_err() {
            self.call.shared.counters.errors.add(1);
        }
        Poll::Ready(next.transpose())
    }
}
