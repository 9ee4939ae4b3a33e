//! The codec of batches, which decodes a request directly into a batch of the tree.

use std::marker::PhantomData;

use bytes::Buf;
use prost::Message;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::ProstEncoder;
use tree::WriteBatch;

use super::messages::{Operation, OperationKind};
use super::status;

/// The field number of `operations` in a `BatchRequest`.
const OPERATIONS: u32 = 1;

/// The codec of a method that receives a `BatchRequest` and responds with an `A`. The codec decodes only one operation
/// at a time, so a request with many short operations needs no more memory than its bytes and its batch.
pub(super) struct BatchCodec<A>(PhantomData<A>);

impl<A> BatchCodec<A> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<A: Message + Send + 'static> Codec for BatchCodec<A> {
    type Encode = A;
    type Decode = WriteBatch;
    type Encoder = ProstEncoder<A>;
    type Decoder = BatchDecoder;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::default()
    }

    fn decoder(&mut self) -> Self::Decoder {
        BatchDecoder
    }
}

/// Decodes a `BatchRequest`.
pub(super) struct BatchDecoder;

impl Decoder for BatchDecoder {
    type Item = WriteBatch;
    type Error = Status;

    fn decode(&mut self, request: &mut DecodeBuf<'_>) -> Result<Option<WriteBatch>, Status> {
        decode(request).map(Some)
    }
}

/// Decodes all operations of a `BatchRequest`.
fn decode(request: &mut impl Buf) -> Result<WriteBatch, Status> {
    let mut batch = WriteBatch::new();
    let mut number = 0u64;
    while request.has_remaining() {
        let (tag, wire_type) = decode_key(request).map_err(|error| malformed(&error))?;
        if (tag, wire_type) != (OPERATIONS, WireType::LengthDelimited) {
            let context = DecodeContext::default();
            skip_field(wire_type, tag, request, context).map_err(|error| malformed(&error))?;
            continue;
        }
        number += 1;
        let length = decode_varint(request).map_err(|error| malformed(&error))?;
        let Some(length) = usize::try_from(length).ok().filter(|length| *length <= request.remaining())
        else {
            return Err(malformed(&format_args!("operation {number} is truncated")));
        };
        let operation =
            Operation::decode(Buf::take(&mut *request, length)).map_err(|error| malformed(&error))?;
        add(&mut batch, number, operation)?;
    }
    Ok(batch)
}

/// Adds an operation to a batch. `number` is the position of the operation in the request, starting at 1.
fn add(batch: &mut WriteBatch, number: u64, operation: Operation) -> Result<(), Status> {
    let added = match operation.kind {
        None => {
            let message =
                format!("operation {number}: no write is set; set put, delete, delete_range or merge");
            return Err(Status::invalid_argument(message));
        }
        Some(OperationKind::Put(put)) => batch.put(&put.key, &put.value),
        Some(OperationKind::Delete(delete)) => batch.delete(&delete.key),
        Some(OperationKind::DeleteRange(range)) => batch.delete_range(&range.low, &range.high),
        Some(OperationKind::Merge(merge)) => batch.merge(&merge.key, &merge.operand),
    };
    added.map_err(|error| {
        let status = status::of_tree(&error);
        Status::new(status.code(), format!("operation {number}: {}", status.message()))
    })
}

/// Returns the status for bytes that are not a valid `BatchRequest`. The status code is the code of every message that
/// cannot be decoded.
fn malformed(error: &dyn std::fmt::Display) -> Status {
    Status::internal(format!("the request is not a BatchRequest: {error}"))
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::super::messages::{BatchRequest, DeleteRangeRequest, DeleteRequest, MergeRequest, PutRequest};
    use super::*;

    fn request(kinds: Vec<OperationKind>) -> Vec<u8> {
        let operations = kinds.into_iter().map(|kind| Operation { kind: Some(kind) }).collect();
        BatchRequest { operations }.encode_to_vec()
    }

    fn put(key: impl Into<Vec<u8>>, value: &'static str) -> OperationKind {
        OperationKind::Put(PutRequest { key: key.into().into(), value: value.into() })
    }

    #[test]
    fn operations_come_in_their_order() {
        let bytes = request(vec![
            put("a", "1"),
            OperationKind::Delete(DeleteRequest { key: "b".into() }),
            OperationKind::DeleteRange(DeleteRangeRequest { low: "c".into(), high: "d".into() }),
            OperationKind::Merge(MergeRequest { key: "e".into(), operand: "2".into() }),
            put("a", "3"),
        ]);
        let batch = decode(&mut &*bytes).unwrap();
        assert_eq!(batch.len(), 5);
        let entries: Vec<_> = batch.entries().map(|entry| (entry.key, entry.value)).collect();
        let expected: [(&[u8], Option<&[u8]>); 3] = [(b"a", Some(b"1")), (b"b", None), (b"a", Some(b"3"))];
        assert_eq!(entries, expected);
        // A field of a later version of the service is skipped.
        let later = [&bytes[..], &[0x7a, 2, 8, 8]].concat();
        assert_eq!(decode(&mut &*later).unwrap().len(), 5);
        assert!(decode(&mut &[][..]).unwrap().is_empty());
    }

    #[test]
    fn wrong_operations_are_named_by_their_number() {
        let nothing = [request(vec![put("a", "1")]), vec![0x0a, 0]].concat();
        let long = request(vec![put("a", "1"), put(vec![b'k'; 70_000], "")]);
        let backward = request(vec![OperationKind::DeleteRange(DeleteRangeRequest {
            low: "d".into(),
            high: "c".into(),
        })]);
        let cut = &request(vec![put("abcdef", "1")])[..8];
        for (bytes, code, message) in [
            (&nothing[..], Code::InvalidArgument, "operation 2: no write is set; set put"),
            (&long, Code::InvalidArgument, "operation 2: the key has 70000 bytes; the limit is 65536"),
            (&backward, Code::InvalidArgument, "operation 1: "),
            (cut, Code::Internal, "the request is not a BatchRequest: operation 1 is truncated"),
            (&[0x0a], Code::Internal, "the request is not a BatchRequest: "),
            (&[0xff; 12], Code::Internal, "the request is not a BatchRequest: "),
        ] {
            let status = decode(&mut &*bytes).err().unwrap();
            assert_eq!(status.code(), code, "{status}");
            assert!(status.message().starts_with(message), "{status}");
        }
    }
}
