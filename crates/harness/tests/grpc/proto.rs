//! The shipped `lsmbench.proto` against the messages of the server.

use std::path::Path;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, Value};
use server::grpc::messages::{
    BatchRequest, BatchResponse, DeleteRangeRequest, DeleteRequest, DeleteResponse, Entry, GetRequest,
    GetResponse, LoadResponse, MergeRequest, Operation, OperationKind, PutRequest, PutResponse, RangeRequest,
    RangeResponse,
};
use tonic::Code;

use crate::served::Place;

fn pool() -> DescriptorPool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/proto");
    let files = protox::compile(["lsmbench.proto"], [folder]).unwrap();
    DescriptorPool::from_file_descriptor_set(files).unwrap()
}

fn bytes(text: &str) -> Value {
    Value::Bytes(text.to_owned().into())
}

/// Checks that the bytes of a message are the given fields of a message of the proto, and that no field is missing.
#[track_caller]
fn check<M: Message + Default + PartialEq>(name: &str, message: &M, expected: &[(&str, Value)]) {
    let descriptor = pool().get_message_by_name(&format!("lsmbench.v1.{name}")).unwrap();
    let mut dynamic = DynamicMessage::new(descriptor.clone());
    expected.iter().for_each(|(field, value)| dynamic.set_field_by_name(field, value.clone()));
    assert_eq!(dynamic.encode_to_vec(), message.encode_to_vec(), "{name}");
    assert_eq!(&M::decode(&*dynamic.encode_to_vec()).unwrap(), message, "{name}");
    let fields: Vec<_> = descriptor.fields().collect();
    // Of a `oneof`, one field is set.
    let set = fields.iter().filter(|field| field.containing_oneof().is_none_or(|one| one.is_synthetic()));
    assert!(set.clone().all(|field| dynamic.has_field(field)), "{name}: a field of the proto is not set here");
    assert!(expected.len() >= set.count(), "{name}");
}

#[test]
fn messages_are_those_of_the_proto() {
    let inner = |name: &str, fields: &[(&str, Value)]| {
        let mut message =
            DynamicMessage::new(pool().get_message_by_name(&format!("lsmbench.v1.{name}")).unwrap());
        fields.iter().for_each(|(field, value)| message.set_field_by_name(field, value.clone()));
        Value::Message(message)
    };
    let pair = [("key", bytes("k")), ("value", bytes("v"))];
    let put = PutRequest { key: "k".into(), value: "v".into() };
    check("PutRequest", &put, &pair);
    check("PutResponse", &PutResponse {}, &[]);
    check("GetRequest", &GetRequest { key: "k".into() }, &pair[..1]);
    check("GetResponse", &GetResponse { value: Some("v".into()) }, &pair[1..]);
    check("GetResponse", &GetResponse { value: Some("".into()) }, &[("value", bytes(""))]);
    let delete = DeleteRequest { key: "k".into() };
    check("DeleteRequest", &delete, &pair[..1]);
    check("DeleteResponse", &DeleteResponse {}, &[]);
    let ends = [("low", bytes("a")), ("high", bytes("b"))];
    let delete_range = DeleteRangeRequest { low: "a".into(), high: "b".into() };
    check("DeleteRangeRequest", &delete_range, &ends);
    let operand = [("key", bytes("k")), ("operand", bytes("o"))];
    let merge = MergeRequest { key: "k".into(), operand: "o".into() };
    check("MergeRequest", &merge, &operand);
    let mut operations = Vec::new();
    for (kind, field, value) in [
        (OperationKind::Put(put), "put", inner("PutRequest", &pair)),
        (OperationKind::Delete(delete), "delete", inner("DeleteRequest", &pair[..1])),
        (OperationKind::DeleteRange(delete_range), "delete_range", inner("DeleteRangeRequest", &ends)),
        (OperationKind::Merge(merge), "merge", inner("MergeRequest", &operand)),
    ] {
        let operation = Operation { kind: Some(kind) };
        check("Operation", &operation, &[(field, value.clone())]);
        operations.push((operation, inner("Operation", &[(field, value)])));
    }
    let kinds = pool().get_message_by_name("lsmbench.v1.Operation").unwrap().fields().count();
    assert_eq!(kinds, operations.len());
    let (operations, values): (Vec<_>, Vec<_>) = operations.into_iter().unzip();
    check("BatchRequest", &BatchRequest { operations }, &[("operations", Value::List(values))]);
    check("BatchResponse", &BatchResponse {}, &[]);
    let numbers = [("batches", Value::U64(1)), ("operations", Value::U64(2))];
    check("LoadResponse", &LoadResponse { batches: 1, operations: 2 }, &numbers);
    let limits = [("limit", Value::U64(3)), ("backward", Value::Bool(true))];
    let range = RangeRequest { low: "a".into(), high: "b".into(), limit: 3, backward: true };
    check("RangeRequest", &range, &[&ends[..], &limits].concat());
    let entry = Entry { key: "k".into(), value: "v".into() };
    check("Entry", &entry, &pair);
    let entries = Value::List(vec![inner("Entry", &pair)]);
    check("RangeResponse", &RangeResponse { entries: vec![entry] }, &[("entries", entries)]);
    assert_eq!(pool().all_messages().count(), 16, "a message of the proto is not checked here");
}

/// The server has all methods of the proto, with streams where the proto has streams.
#[test]
fn methods_are_those_of_the_proto() {
    let place = Place::new();
    let served = place.serve(&[]);
    let mut client = served.client();
    let service = pool().get_service_by_name("lsmbench.v1.Store").unwrap();
    let mut methods = Vec::new();
    for method in service.methods() {
        let stream = |is_stream: bool| if is_stream { "stream " } else { "" };
        methods.push(format!(
            "{}({}{}) {}{}",
            method.name(),
            stream(method.is_client_streaming()),
            method.input().name(),
            stream(method.is_server_streaming()),
            method.output().name()
        ));
        let answer = client.call::<(), ()>(method.name(), ());
        assert!(answer.as_ref().err().is_none_or(|error| error.code() != Code::Unimplemented), "{answer:?}");
    }
    assert_eq!(
        methods,
        [
            "Put(PutRequest) PutResponse",
            "Get(GetRequest) GetResponse",
            "Delete(DeleteRequest) DeleteResponse",
            "Batch(BatchRequest) BatchResponse",
            "Load(stream BatchRequest) LoadResponse",
            "Range(RangeRequest) stream RangeResponse",
        ]
    );
}
