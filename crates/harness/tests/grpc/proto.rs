//! Tests that the file `lsmbench.proto` of this repository matches the messages and methods of the server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use server::grpc::messages::{
    BatchRequest, BatchResponse, DeleteRangeRequest, DeleteRequest, DeleteResponse, Entry, GetRequest,
    GetResponse, LoadResponse, MergeRequest, Operation, OperationKind, PutRequest, PutResponse, RangeRequest,
    RangeResponse,
};
use tonic::Code;

use crate::served::Place;

/// The declarations in `lsmbench.proto`.
struct Proto {
    /// The fields of each message: name, type and number.
    messages: BTreeMap<String, Vec<(String, String, u32)>>,
    /// The methods, such as `Get(GetRequest) returns (GetResponse)`.
    methods: Vec<String>,
}

impl Proto {
    /// Reads `lsmbench.proto`, which has one declaration per line.
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/proto/lsmbench.proto");
        let (mut messages, mut methods) = (BTreeMap::<String, Vec<_>>::new(), Vec::new());
        let mut last = String::new();
        for line in std::fs::read_to_string(path).unwrap().lines().map(str::trim) {
            let words: Vec<&str> = line.trim_end_matches(['{', '}', ';', ' ']).split(' ').collect();
            match words[..] {
                ["message", name] => {
                    name.clone_into(&mut last);
                    messages.insert(last.clone(), Vec::new());
                }
                ["rpc", ..] => methods.push(words[1..].join(" ")),
                ["optional" | "repeated", kind, name, "=", number] | [kind, name, "=", number] => {
                    let field = (name.to_owned(), kind.to_owned(), number.parse().unwrap());
                    messages.get_mut(&last).unwrap().push(field);
                }
                _ => {}
            }
        }
        Self { messages, methods }
    }

    /// Encodes the given fields of a message according to `lsmbench.proto`.
    fn encode(&self, message: &str, values: &[(&str, Value)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, value) in values {
            let field = self.messages[message].iter().find(|(field, ..)| field == name);
            let (_, kind, number) = field.unwrap_or_else(|| panic!("{message} has no field {name}"));
            match value {
                Value::Bytes(text) => {
                    assert_eq!(kind, "bytes", "{message}.{name}");
                    add(&mut bytes, *number, text.as_bytes());
                }
                Value::Text(text) => {
                    assert_eq!(kind, "string", "{message}.{name}");
                    add(&mut bytes, *number, text.as_bytes());
                }
                Value::Number(value, kind_of_number) => {
                    assert_eq!(kind, kind_of_number, "{message}.{name}");
                    encode_key(*number, WireType::Varint, &mut bytes);
                    encode_varint(*value, &mut bytes);
                }
                Value::Message(kind_of_message, message) => {
                    assert_eq!(kind, kind_of_message, "{name}");
                    add(&mut bytes, *number, message);
                }
            }
        }
        bytes
    }
}

/// Appends a field with its length and its bytes.
fn add(bytes: &mut Vec<u8>, number: u32, value: &[u8]) {
    encode_key(number, WireType::LengthDelimited, bytes);
    encode_varint(value.len() as u64, bytes);
    bytes.extend_from_slice(value);
}

/// The value of a field. The variant determines the type of the field.
#[derive(Clone)]
enum Value {
    Bytes(&'static str),
    Text(&'static str),
    Number(u64, &'static str),
    Message(&'static str, Vec<u8>),
}

/// Checks messages of the server against `lsmbench.proto`, and records the checked fields.
struct Checked {
    proto: Proto,
    /// The checked fields of each message.
    fields: BTreeMap<String, BTreeSet<String>>,
}

impl Checked {
    /// Checks that the server's encoding of a message equals the encoding of these fields by `lsmbench.proto`. Returns
    /// the encoded bytes.
    #[track_caller]
    fn check(&mut self, name: &str, message: &impl Message, values: &[(&str, Value)]) -> Vec<u8> {
        let bytes = self.proto.encode(name, values);
        assert_eq!(message.encode_to_vec(), bytes, "{name}");
        let fields = self.fields.entry(name.to_owned()).or_default();
        fields.extend(values.iter().map(|(field, _)| (*field).to_owned()));
        bytes
    }
}

#[test]
fn messages_are_those_of_the_proto() {
    let mut checked = Checked { proto: Proto::read(), fields: BTreeMap::new() };
    let pair = [("key", Value::Bytes("k")), ("value", Value::Bytes("v"))];
    let family = || ("family", Value::Text("f"));
    let key_of_family = [pair[0].clone(), family()];
    let put = PutRequest { key: "k".into(), value: "v".into(), family: "f".to_owned() };
    let put_bytes = checked.check("PutRequest", &put, &[&pair[..], &[family()]].concat());
    // Without a family, a message has the bytes of a client that knows no families.
    checked.check("PutRequest", &PutRequest { family: String::new(), ..put.clone() }, &pair);
    checked.check("PutResponse", &PutResponse {}, &[]);
    checked.check("GetRequest", &GetRequest { key: "k".into(), family: "f".to_owned() }, &key_of_family);
    checked.check("GetResponse", &GetResponse { value: Some("v".into()) }, &pair[1..]);
    // An empty value differs from no value.
    checked.check("GetResponse", &GetResponse { value: Some("".into()) }, &[("value", Value::Bytes(""))]);
    checked.check("GetResponse", &GetResponse { value: None }, &[]);
    let delete = DeleteRequest { key: "k".into(), family: "f".to_owned() };
    let delete_bytes = checked.check("DeleteRequest", &delete, &key_of_family);
    checked.check("DeleteResponse", &DeleteResponse {}, &[]);
    let ends = [("low", Value::Bytes("a")), ("high", Value::Bytes("b"))];
    let delete_range = DeleteRangeRequest { low: "a".into(), high: "b".into(), family: "f".to_owned() };
    let ends_of_family = [&ends[..], &[family()]].concat();
    let delete_range_bytes = checked.check("DeleteRangeRequest", &delete_range, &ends_of_family);
    let merge = MergeRequest { key: "k".into(), operand: "o".into(), family: "f".to_owned() };
    let operand = [("key", Value::Bytes("k")), ("operand", Value::Bytes("o")), family()];
    let merge_bytes = checked.check("MergeRequest", &merge, &operand);
    let (mut operations, mut values) = (Vec::new(), Vec::new());
    for (kind, field, value) in [
        (OperationKind::Put(put), "put", Value::Message("PutRequest", put_bytes)),
        (OperationKind::Delete(delete), "delete", Value::Message("DeleteRequest", delete_bytes)),
        (
            OperationKind::DeleteRange(delete_range),
            "delete_range",
            Value::Message("DeleteRangeRequest", delete_range_bytes),
        ),
        (OperationKind::Merge(merge), "merge", Value::Message("MergeRequest", merge_bytes)),
    ] {
        let operation = Operation { kind: Some(kind) };
        let bytes = checked.check("Operation", &operation, &[(field, value)]);
        values.push(("operations", Value::Message("Operation", bytes)));
        operations.push(operation);
    }
    checked.check("BatchRequest", &BatchRequest { operations }, &values);
    checked.check("BatchResponse", &BatchResponse {}, &[]);
    let numbers = [("batches", Value::Number(1, "uint64")), ("operations", Value::Number(2, "uint64"))];
    checked.check("LoadResponse", &LoadResponse { batches: 1, operations: 2 }, &numbers);
    let [low, high] = ends;
    let (low_key, high_key, family_name) = ("a".into(), "b".into(), "f".to_owned());
    let range =
        RangeRequest { low: low_key, high: high_key, limit: 300, backward: true, family: family_name };
    let (limit, backward) = (("limit", Value::Number(300, "uint64")), ("backward", Value::Number(1, "bool")));
    checked.check("RangeRequest", &range, &[low, high, limit, backward, family()]);
    let entry = Entry { key: "k".into(), value: "v".into() };
    let entry_bytes = checked.check("Entry", &entry, &pair);
    let entries = [("entries", Value::Message("Entry", entry_bytes))];
    checked.check("RangeResponse", &RangeResponse { entries: vec![entry] }, &entries);

    let names = |fields: &Vec<(String, String, u32)>| fields.iter().map(|(name, ..)| name.clone()).collect();
    let declared: BTreeMap<String, BTreeSet<String>> =
        checked.proto.messages.iter().map(|(message, fields)| (message.clone(), names(fields))).collect();
    assert_eq!(declared, checked.fields, "each field of the proto is checked");
}

/// Tests that the server has all methods of `lsmbench.proto`, and streams wherever `lsmbench.proto` has streams.
#[test]
fn methods_are_those_of_the_proto() {
    let place = Place::new();
    let served = place.serve(&[]);
    let mut client = served.client();
    let methods = Proto::read().methods;
    assert_eq!(
        methods,
        [
            "Put(PutRequest) returns (PutResponse)",
            "Get(GetRequest) returns (GetResponse)",
            "Delete(DeleteRequest) returns (DeleteResponse)",
            "Batch(BatchRequest) returns (BatchResponse)",
            "Load(stream BatchRequest) returns (LoadResponse)",
            "Range(RangeRequest) returns (stream RangeResponse)",
        ]
    );
    for method in methods {
        let name = method.split('(').next().unwrap();
        let answer = client.call::<(), ()>(name, ());
        assert!(answer.as_ref().err().is_none_or(|error| error.code() != Code::Unimplemented), "{answer:?}");
    }
}
