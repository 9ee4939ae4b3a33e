//! Decodes a gRPC batch request directly into write batches of the trees.

use std::marker::PhantomData;
use std::sync::Arc;

use bytes::Buf;
use prost::Message;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::ProstEncoder;
use tree::WriteBatch;

use super::call::Call;
use super::messages::{
    DeleteRangeRequest, DeleteRequest, MergeRequest, Operation, OperationKind, PutRequest,
};
use super::status;
use crate::databases::Databases;

/// The number of the field `operations` in the Protocol Buffers message `BatchRequest`.
const OPERATIONS: u32 = 1;

/// The codec of a method that receives a `BatchRequest` and responds with `A`. It decodes one operation at a time to
/// save memory.
pub(super) struct BatchCodec<A> {
    call: Arc<Call>,
    response: PhantomData<A>,
}

impl<A> BatchCodec<A> {
    pub(super) fn new(call: &Arc<Call>) -> Self {
        Self { call: Arc::clone(call), response: PhantomData }
    }
}

/// The operations of one `BatchRequest`, as one write batch per database.
#[derive(Default)]
pub(super) struct Batch {
    /// One write batch per database, indexed by the number of the database. Databases with a number after the last
    /// index have no writes.
    parts: Vec<WriteBatch>,
}

impl Batch {
    /// Returns one write batch per database, indexed by the number of the database. Databases with a number after the
    /// last index have no writes.
    pub(super) fn parts(&self) -> &[WriteBatch] {
        &self.parts
    }

    /// Returns the number of operations in all batches of the request.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(WriteBatch::len).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.iter().all(WriteBatch::is_empty)
    }

    /// Returns the write batch of the database with this number. Creates the batch if it is missing.
    fn of(&mut self, database: usize) -> &mut WriteBatch {
        if self.parts.len() <= database {
            self.parts.resize_with(database + 1, WriteBatch::new);
        }
        &mut self.parts[database]
    }
}

impl<A: Message + Send + 'static> Codec for BatchCodec<A> {
    type Encode = A;
    type Decode = Batch;
    type Encoder = ProstEncoder<A>;
    type Decoder = BatchDecoder;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::default()
    }

    fn decoder(&mut self) -> Self::Decoder {
        BatchDecoder(Arc::clone(&self.call))
    }
}

/// The decoder of the request of a `Batch` or `Load` call.
pub(super) struct BatchDecoder(Arc<Call>);

impl Decoder for BatchDecoder {
    type Item = Batch;
    type Error = Status;

    fn decode(&mut self, request: &mut DecodeBuf<'_>) -> Result<Option<Batch>, Status> {
        decode(request, &self.0.shared.databases).map(Some)
    }
}

/// Decodes all operations of a `BatchRequest`.
///
/// # Errors
/// The bytes are not a `BatchRequest`, an operation has no kind or an invalid key, or names an unknown column family.
pub(super) fn decode(request: &mut impl Buf, databases: &Databases) -> Result<Batch, Status> {
    let mut batch = Batch::default();
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
            return Err(malformed(&format_args!("operation {number} of the batch is truncated")));
        };
        let operation =
            Operation::decode(Buf::take(&mut *request, length)).map_err(|error| malformed(&error))?;
        add(&mut batch, databases, operation).map_err(|status| {
            Status::new(status.code(), format!("operation {number}: {}", status.message()))
        })?;
    }
    Ok(batch)
}

/// Adds an operation of a request to the write batch of its database.
///
/// # Errors
/// The operation has no kind, or names an unknown column family, or is rejected by the tree.
fn add(batch: &mut Batch, databases: &Databases, operation: Operation) -> Result<(), Status> {
    let number = |family: &str| databases.of_family(family).map_err(Status::invalid_argument);
    let added = match operation.kind {
        None => {
            return Err(Status::invalid_argument("no write is set; set put, delete, delete_range or merge"));
        }
        Some(OperationKind::Put(PutRequest { key, value, family })) => {
            batch.of(number(&family)?).put(&key, &value)
        }
        Some(OperationKind::Delete(DeleteRequest { key, family })) => batch.of(number(&family)?).delete(&key),
        Some(OperationKind::DeleteRange(DeleteRangeRequest { low, high, family })) => {
            batch.of(number(&family)?).delete_range(&low, &high)
        }
        Some(OperationKind::Merge(MergeRequest { key, operand, family })) => {
            batch.of(number(&family)?).merge(&key, &operand)
        }
    };
    added.map_err(|error| status::of_tree(&error))
}

/// Returns the gRPC status for bytes that are not a valid `BatchRequest`.
fn malformed(error: &dyn std::fmt::Display) -> Status {
    Status::internal(format!("the request is not a BatchRequest: {error}"))
}

#[cfg(test)]
mod tests {
    use tonic::Code;
    use tree::{Design, Families, OpenOptions};

    use super::super::messages::BatchRequest;
    use super::*;

    /// A store with two families.
    fn databases() -> Databases {
        let design = "storage = \"memory\"\nfamilies = { index = {}, values = {} }".parse().unwrap();
        let options = OpenOptions::new(Design::default().with(&design).unwrap());
        Databases::new(Families::open(options, "db").unwrap().into()).unwrap()
    }

    fn request(kinds: Vec<OperationKind>) -> Vec<u8> {
        let operations = kinds.into_iter().map(|kind| Operation { kind: Some(kind) }).collect();
        BatchRequest { operations }.encode_to_vec()
    }

    fn put(key: impl Into<Vec<u8>>, value: &'static str) -> OperationKind {
        OperationKind::Put(PutRequest {
            key: key.into().into(),
            value: value.into(),
            ..PutRequest::default()
        })
    }

    fn delete_range(low: &'static str, high: &'static str) -> OperationKind {
        let ends = DeleteRangeRequest { low: low.into(), high: high.into(), ..DeleteRangeRequest::default() };
        OperationKind::DeleteRange(ends)
    }

    #[test]
    fn operations_come_in_their_order() {
        let bytes = request(vec![
            put("a", "1"),
            OperationKind::Delete(DeleteRequest { key: "b".into(), ..DeleteRequest::default() }),
            delete_range("c", "d"),
            OperationKind::Merge(MergeRequest {
                key: "e".into(),
                operand: "2".into(),
                ..MergeRequest::default()
            }),
            put("a", "3"),
            OperationKind::Delete(DeleteRequest { key: "x".into(), family: "values".into() }),
        ]);
        let databases = databases();
        let batch = decode(&mut &*bytes, &databases).unwrap();
        assert_eq!((batch.len(), batch.parts()[0].len(), batch.parts()[1].len()), (6, 5, 1));
        let entries: Vec<_> = batch.parts()[0].entries().map(|entry| (entry.key, entry.value)).collect();
        let expected: [(&[u8], Option<&[u8]>); 3] = [(b"a", Some(b"1")), (b"b", None), (b"a", Some(b"3"))];
        assert_eq!(entries, expected);
        // A field of a later version of the service is skipped.
        let later = [&bytes[..], &[0x7a, 2, 8, 8]].concat();
        assert_eq!(decode(&mut &*later, &databases).unwrap().len(), 6);
        assert!(decode(&mut &[][..], &databases).unwrap().is_empty());
    }

    #[test]
    fn wrong_operations_are_named_by_their_number() {
        let nothing = [request(vec![put("a", "1")]), vec![0x0a, 0]].concat();
        let long = request(vec![put("a", "1"), put(vec![b'k'; 70_000], "")]);
        let backward = request(vec![delete_range("d", "c")]);
        let elsewhere = PutRequest { family: "indx".to_owned(), ..PutRequest::default() };
        let elsewhere = request(vec![put("a", "1"), OperationKind::Put(elsewhere)]);
        let databases = databases();
        let cut = &request(vec![put("abcdef", "1")])[..8];
        for (bytes, code, message) in [
            (&nothing[..], Code::InvalidArgument, "operation 2: no write is set; set put"),
            (&long, Code::InvalidArgument, "operation 2: the key has 70000 bytes; the limit is 65536"),
            (&backward, Code::InvalidArgument, "operation 1: "),
            (
                &elsewhere,
                Code::InvalidArgument,
                "operation 2: unknown family \"indx\". Valid: \"index\", \"values\"",
            ),
            (cut, Code::Internal, "the request is not a BatchRequest: operation 1 of the batch is truncated"),
            (&[0x0a], Code::Internal, "the request is not a BatchRequest: "),
            (&[0xff; 12], Code::Internal, "the request is not a BatchRequest: "),
        ] {
            let status = decode(&mut &*bytes, &databases).err().unwrap();
            assert_eq!(status.code(), code, "{status}");
            assert!(status.message().starts_with(message), "{status}");
        }
    }
}
