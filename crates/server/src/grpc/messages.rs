//! Defines the messages of the gRPC service, as in `proto/lsmbench.proto`.

use bytes::Bytes;
use prost::{Message, Oneof};

/// The request to set the value of a key.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct PutRequest {
    /// The key whose value is set.
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    /// The new value of the key.
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
    /// The name of the column family. An empty name selects the first family, or the store if it has no families.
    #[prost(string, tag = "3")]
    pub family: String,
}

/// The response to a `PutRequest`, which is empty.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct PutResponse {}

/// The request to read the value of a key.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct GetRequest {
    /// The key whose value is read.
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    /// The name of the column family. An empty name selects the first family, or the store if it has no families.
    #[prost(string, tag = "2")]
    pub family: String,
}

/// The response to a `GetRequest`: the value of the key.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct GetResponse {
    /// The value of the key. `None` if the key does not exist.
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub value: Option<Bytes>,
}

/// The request to delete a key.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct DeleteRequest {
    /// The key to delete.
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    /// The name of the column family. An empty name selects the first family, or the store if it has no families.
    #[prost(string, tag = "2")]
    pub family: String,
}

/// The response to a `DeleteRequest`, which is empty.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct DeleteResponse {}

/// The request to delete all keys of a range.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct DeleteRangeRequest {
    /// The start of the deleted range (inclusive).
    #[prost(bytes = "bytes", tag = "1")]
    pub low: Bytes,
    /// The end of the deleted range (exclusive).
    #[prost(bytes = "bytes", tag = "2")]
    pub high: Bytes,
    /// The name of the column family. An empty name selects the first family, or the store if it has no families.
    #[prost(string, tag = "3")]
    pub family: String,
}

/// The request to merge an operand into the value of a key.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct MergeRequest {
    /// The key into whose value the operand is merged.
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    /// The operand that the merge operator of the store merges into the value.
    #[prost(bytes = "bytes", tag = "2")]
    pub operand: Bytes,
    /// The name of the column family. An empty name selects the first family, or the store if it has no families.
    #[prost(string, tag = "3")]
    pub family: String,
}

/// One write of a batch, such as a put.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Operation {
    /// The kind of the write, with its key and its other contents. The server rejects a write without a kind (`None`).
    #[prost(oneof = "OperationKind", tags = "1, 2, 3, 4")]
    pub kind: Option<OperationKind>,
}

/// The kinds of writes in a batch.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum OperationKind {
    /// Sets the value of a key.
    #[prost(message, tag = "1")]
    Put(PutRequest),
    /// Deletes a key.
    #[prost(message, tag = "2")]
    Delete(DeleteRequest),
    /// Deletes all keys of a range.
    #[prost(message, tag = "3")]
    DeleteRange(DeleteRangeRequest),
    /// Merges an operand into the value of a key.
    #[prost(message, tag = "4")]
    Merge(MergeRequest),
}

/// The request to execute several writes as one atomic batch.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct BatchRequest {
    /// The writes of the batch, in order.
    #[prost(message, repeated, tag = "1")]
    pub operations: Vec<Operation>,
}

/// The response to a `BatchRequest`, which is empty.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct BatchResponse {}

/// The response to a `Load` call, which is a stream of batches.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct LoadResponse {
    /// The number of batches that were written.
    #[prost(uint64, tag = "1")]
    pub batches: u64,
    /// The number of operations in all written batches.
    #[prost(uint64, tag = "2")]
    pub operations: u64,
}

/// The request to read the entries of a key range.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct RangeRequest {
    /// The start of the key range (inclusive).
    #[prost(bytes = "bytes", tag = "1")]
    pub low: Bytes,
    /// The end of the key range (exclusive). An empty `high` means that the range has no end.
    #[prost(bytes = "bytes", tag = "2")]
    pub high: Bytes,
    /// The maximum number of returned entries. 0 means no limit.
    #[prost(uint64, tag = "3")]
    pub limit: u64,
    /// Whether the entries are returned in descending order of keys.
    #[prost(bool, tag = "4")]
    pub backward: bool,
    /// The name of the column family. An empty name selects the first family, or the store if it has no families.
    #[prost(string, tag = "5")]
    pub family: String,
}

/// A response with the next entries of a range.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct RangeResponse {
    /// The entries, in ascending or descending order of keys as requested.
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<Entry>,
}

/// A key and its value.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Entry {
    /// The key of the entry.
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    /// The value of the key.
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
}
