//! Fuzz target for the calls of gRPC clients.

use std::collections::BTreeMap;

use prost::Message;
use server::grpc::LocalService;
use server::grpc::messages::{
    BatchRequest, DeleteRangeRequest, DeleteRequest, Entry, GetRequest, GetResponse, Operation,
    OperationKind, PutRequest, RangeRequest, RangeResponse,
};
use server::{Protocol, ServerOptions};
use tree::{Design, Families, Mode, OpenOptions};

use crate::bounds::bounded;
use crate::target::{FuzzTarget, InputForm};

/// The fuzz target for calls of the gRPC service on a store with two column families. An input is a list of calls: one
/// byte for the method, two bytes for the length, and the request.
///
/// A valid call must have the effect that the file `lsmbench.proto` describes, only in its family. A failed call must
/// change nothing.
pub(super) const GRPC: FuzzTarget = FuzzTarget {
    name: "grpc",
    about: "calls of the gRPC service on a store with column families",
    form: InputForm::Bytes,
    seeds,
    run,
};

/// The methods of the service. The index of a method is its number in an input.
const METHODS: [&str; 6] = ["Put", "Get", "Delete", "Batch", "Load", "Range"];

/// The families of the store. Calls without the name of a family use the first family.
const FAMILIES: [&str; 2] = ["index", "values"];

/// Maximum number of executed calls of an input.
const MOST_CALLS: usize = 64;

/// The number of bytes of memory that a target may use in addition to 64 bytes per byte of input. The memtables, the
/// cache and the SSTable buffers of the store need this memory.
const STORE_BYTES: usize = 16 << 20;

/// A function that executes a method on an encoded request, and returns the encoded responses. Returns `None` if the
/// call fails.
type Service<'s> = &'s dyn Fn(&str, &[u8]) -> Option<Vec<Vec<u8>>>;

/// The expected content of the store, as one map per column family.
type Model = [BTreeMap<Vec<u8>, Vec<u8>>; 2];

fn run(input: &[u8]) -> bool {
    bounded(input.len(), STORE_BYTES, || {
        let service = service();
        check(&|method, message| service.call(method, message).ok(), input)
    })
}

/// Returns the service on a new store in memory. The memtables are small, so that calls cause flushes.
fn service() -> LocalService {
    let design = "storage = \"memory\"\nmemtable = { capacity = \"4KiB\" }\ncache = { capacity = \"16KiB\" }\n\
                  families = { index = {}, values = {} }";
    let design = Design::default()
        .with(&design.parse().expect("the design of the gRPC target's store must be TOML"))
        .expect("the design of the gRPC target's store must be valid");
    let store = Families::open(OpenOptions::new(design).mode(Mode::Counted), "store")
        .expect("the in-memory store of the gRPC target must open");
    let options = ServerOptions::new(([127, 0, 0, 1], 0).into(), Protocol::Grpc);
    LocalService::new(store, options).expect("the in-memory store of the gRPC target must be readable")
}

/// Splits an input into calls of the service. A call is the name of a method and an encoded request.
fn calls(mut input: &[u8]) -> Vec<(&'static str, &[u8])> {
    let mut calls = Vec::new();
    while let ([method, low, high, rest @ ..], true) = (input, calls.len() < MOST_CALLS) {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        calls.push((METHODS[usize::from(*method) % METHODS.len()], &rest[..length]));
        input = &rest[length..];
    }
    calls
}

/// Executes the calls of an input on the service, and compares its responses and its contents with a model after each
/// call. Returns whether at least one write succeeded.
fn check(service: Service<'_>, input: &[u8]) -> bool {
    let (mut model, mut has_written) = (Model::default(), false);
    for (method, message) in calls(input) {
        let answer = service(method, message);
        match method {
            "Get" => check_get(&model, message, answer.as_deref()),
            "Range" => check_range(&model, message, answer.as_deref()),
            _ => {
                has_written |= answer.is_some();
                let expected = written(&model, method, message);
                let found = content(service);
                match (answer, expected) {
                    (None, None) => {
                        assert!(found == model, "a call of {method} failed, but changed the store");
                    }
                    (None, Some(_)) => panic!("a call of {method} with a valid request failed"),
                    (Some(_), Some(expected)) => {
                        assert!(
                            found == expected,
                            "the store after a call of {method} differs from the model"
                        );
                    }
                    // The service skips all fields of a batch except the operations, even if a field is corrupt.
                    (Some(_), None) => {
                        let is_batch = method == "Batch" || method == "Load";
                        let is_corrupt = BatchRequest::decode(message).is_err();
                        assert!(
                            is_batch && is_corrupt,
                            "a call of {method} with an invalid request succeeded"
                        );
                    }
                }
                model = found;
            }
        }
    }
    has_written
}

/// Returns the index of the family `name` in [`FAMILIES`]. Returns `None` if the family does not exist.
fn family(name: &str) -> Option<usize> {
    if name.is_empty() { Some(0) } else { FAMILIES.iter().position(|family| *family == name) }
}

/// Returns the content that the store must have after a write. Returns `None` if the request is invalid.
fn written(model: &Model, method: &str, message: &[u8]) -> Option<Model> {
    let kinds: Vec<OperationKind> = match method {
        "Put" => vec![OperationKind::Put(PutRequest::decode(message).ok()?)],
        "Delete" => vec![OperationKind::Delete(DeleteRequest::decode(message).ok()?)],
        _ => {
            let operations = BatchRequest::decode(message).ok()?.operations;
            operations.into_iter().map(|operation| operation.kind).collect::<Option<_>>()?
        }
    };
    let mut model = model.clone();
    for kind in kinds {
        match kind {
            OperationKind::Put(put) => {
                model[family(&put.family)?].insert(put.key.to_vec(), put.value.to_vec());
            }
            OperationKind::Delete(delete) => {
                model[family(&delete.family)?].remove(&delete.key[..]);
            }
            OperationKind::DeleteRange(range) if range.low <= range.high => {
                let keys = &mut model[family(&range.family)?];
                keys.retain(|key, _| key[..] < range.low[..] || key[..] >= range.high[..]);
            }
            // The design has no merge operator.
            OperationKind::DeleteRange(_) | OperationKind::Merge(_) => return None,
        }
    }
    Some(model)
}

fn check_get(model: &Model, message: &[u8], answer: Option<&[Vec<u8>]>) {
    let request = GetRequest::decode(message).ok();
    let expected = request.and_then(|get| Some(model[family(&get.family)?].get(&get.key[..]).cloned()));
    let found = answer.map(|responses| {
        let response = GetResponse::decode(&*responses[0])
            .expect("a response of the service must be a message of its method");
        response.value.map(|value| value.to_vec())
    });
    assert!(found == expected, "Get returns {found:?}, expected {expected:?}");
}

fn check_range(model: &Model, message: &[u8], answer: Option<&[Vec<u8>]>) {
    let request = RangeRequest::decode(message).ok();
    let expected = request.and_then(|request| {
        let high = (!request.high.is_empty()).then_some(&request.high[..]);
        let keys = model[family(&request.family)?].iter();
        let inside =
            keys.filter(|(key, _)| key[..] >= request.low[..] && high.is_none_or(|high| key[..] < *high));
        let mut entries: Vec<_> = inside.map(|(key, value)| (key.clone(), value.clone())).collect();
        if request.backward {
            entries.reverse();
        }
        if request.limit > 0 {
            entries.truncate(usize::try_from(request.limit).unwrap_or(usize::MAX));
        }
        Some(entries)
    });
    let found = answer.map(entries);
    assert!(found == expected, "Range returns {found:?}, expected {expected:?}");
}

/// Returns the entries in all responses to a `Range` call.
fn entries(responses: &[Vec<u8>]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let decode = |response: &Vec<u8>| {
        RangeResponse::decode(&**response)
            .expect("a response of the service must be a message of its method")
            .entries
    };
    responses.iter().flat_map(decode).map(|Entry { key, value }| (key.to_vec(), value.to_vec())).collect()
}

/// Returns the content of each column family of the store, read with `Range` calls.
fn content(service: Service<'_>) -> Model {
    FAMILIES.map(|family| {
        let request = RangeRequest { family: family.to_owned(), ..RangeRequest::default() };
        let responses = service("Range", &request.encode_to_vec())
            .expect("a Range call on a column family of the store must succeed");
        entries(&responses).into_iter().collect()
    })
}

fn seeds() -> Vec<Vec<u8>> {
    let put = |family: &str, key: &'static str, value: &'static str| PutRequest {
        key: key.into(),
        value: value.into(),
        family: family.to_owned(),
    };
    let delete = DeleteRequest { key: "a".into(), family: "values".to_owned() };
    let ends = DeleteRangeRequest { low: "b".into(), high: "d".into(), family: "index".to_owned() };
    let kinds = vec![
        OperationKind::Put(put("index", "a", "1")),
        OperationKind::Put(put("values", "a", "one")),
        OperationKind::Put(put("", "c", "3")),
        OperationKind::DeleteRange(ends),
        OperationKind::Delete(delete.clone()),
    ];
    let operations = kinds.into_iter().map(|kind| Operation { kind: Some(kind) }).collect();
    let batch = BatchRequest { operations }.encode_to_vec();
    let wrong = vec![Operation { kind: Some(OperationKind::Put(put("indx", "a", "1"))) }];
    let wrong = BatchRequest { operations: wrong }.encode_to_vec();
    let get = GetRequest { key: "a".into(), family: "values".to_owned() }.encode_to_vec();
    let range = RangeRequest { low: "a".into(), limit: 2, backward: true, ..RangeRequest::default() };
    let range = range.encode_to_vec();
    let puts = [put("", "a", "1"), put("values", "a", "2"), put("", "b", "2")];
    let [first, second, third] = puts.map(|put| put.encode_to_vec());
    [
        vec![(0, &first), (0, &second), (0, &third), (1, &get), (5, &range)],
        vec![(3, &batch), (1, &get), (2, &delete.encode_to_vec()), (5, &range)],
        vec![(4, &batch), (0, &second), (5, &range)],
        vec![(0, &first), (3, &wrong), (5, &range)],
    ]
    .map(|calls| {
        let encode = |(method, message): (u8, &Vec<u8>)| {
            let length = (message.len() as u16).to_le_bytes();
            [&[method][..], &length, message].concat()
        };
        calls.into_iter().flat_map(encode).collect()
    })
    .to_vec()
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// Returns the message of the invariant that a service breaks on the corpus.
    fn broken(change: fn(&str, &[u8]) -> Vec<u8>) -> String {
        let mut panics = seeds().into_iter().map(|seed| {
            catch_unwind(|| {
                let service = service();
                check(&|method, message| service.call(method, &change(method, message)).ok(), &seed);
            })
        });
        let panic = panics.find_map(Result::err).expect("the fault is found");
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap()
    }

    #[test]
    fn services_with_a_fault_are_found() {
        let ignores_families = |method: &str, message: &[u8]| match method {
            "Put" => {
                PutRequest { family: String::new(), ..PutRequest::decode(message).unwrap() }.encode_to_vec()
            }
            _ => message.to_vec(),
        };
        assert!(broken(ignores_families).contains("after a call of Put differs"));
        let drops_last = |method: &str, message: &[u8]| match method {
            "Batch" => {
                let mut batch = BatchRequest::decode(message).unwrap();
                batch.operations.pop();
                batch.operations.pop();
                batch.encode_to_vec()
            }
            _ => message.to_vec(),
        };
        assert!(broken(drops_last).contains("after a call of Batch differs"));
        let ascends = |method: &str, message: &[u8]| match method {
            "Range" => {
                RangeRequest { backward: false, ..RangeRequest::decode(message).unwrap() }.encode_to_vec()
            }
            _ => message.to_vec(),
        };
        assert!(broken(ascends).contains("Range returns"));
        let accepts_any_family = |method: &str, message: &[u8]| match method {
            "Batch" => {
                let mut batch = BatchRequest::decode(message).unwrap();
                for operation in &mut batch.operations {
                    if let Some(OperationKind::Put(put)) = &mut operation.kind
                        && family(&put.family).is_none()
                    {
                        put.family.clear();
                    }
                }
                batch.encode_to_vec()
            }
            _ => message.to_vec(),
        };
        assert!(broken(accepts_any_family).contains("a call of Batch with an invalid request succeeded"));
    }
}
