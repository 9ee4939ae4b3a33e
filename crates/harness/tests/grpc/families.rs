//! Tests of column families: each call names its family, and a batch writes to several families.

use rustix::process::Signal;
use server::grpc::messages::{GetRequest, GetResponse, PutRequest, PutResponse, RangeRequest};
use tonic::Code;

use crate::client::{put, put_into, range};
use crate::served::Place;

#[test]
fn calls_and_batches_name_their_family() {
    let place = Place::new();
    let families = ["--set", "families.index={}", "--set", "families.values={compression=\"zstd\"}"];
    let served = place.serve(&families);
    let mut client = served.client();
    let in_values = |low: &str| RangeRequest { family: "values".to_owned(), ..range(low, "") };
    client.put("a", "1").unwrap();
    let request = PutRequest { key: "a".into(), value: "one".into(), family: "values".to_owned() };
    client.call::<_, PutResponse>("Put", request).unwrap();
    client.batch(vec![put("b", "2"), put_into("values", "b", "two"), put_into("index", "c", "3")]).unwrap();
    assert_eq!(client.get("a").unwrap().as_deref(), Some("1"), "the first family is the default");
    assert_eq!(client.scan(range("", "")).unwrap(), ["a:1", "b:2", "c:3"]);
    assert_eq!(client.scan(in_values("")).unwrap(), ["a:one", "b:two"]);
    // A batch with a wrong family changes no family.
    let error = client.batch(vec![put("d", "4"), put_into("indx", "d", "4")]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(error.message(), "operation 2: unknown family \"indx\". Valid: \"index\", \"values\"");
    let request = GetRequest { key: "a".into(), family: "indx".to_owned() };
    let error = client.call::<_, GetResponse>("Get", request).unwrap_err();
    assert_eq!((error.code(), error.message().starts_with("unknown family")), (Code::InvalidArgument, true));
    let error = client.scan(RangeRequest { family: "x".repeat(2000), ..range("", "") }).unwrap_err();
    assert!(error.code() == Code::InvalidArgument && error.message().len() < 200, "{error}");
    assert_eq!(client.scan(range("", "")).unwrap().len(), 3);
    drop(client);
    served.signal(Signal::KILL);
    served.wait();
    place.verify();
    let (code, out, err) = place.run(&["shell", "db", "--family", "values"], "r a z\n");
    assert_eq!((code, &*out), (Some(0), "a:one b:two\n"), "{err}");
}

#[test]
fn a_store_without_families_has_no_other_family() {
    let place = Place::new();
    let served = place.serve(&[]);
    let mut client = served.client();
    let error = client.batch(vec![put_into("index", "a", "1")]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(error.message(), "operation 1: the store has no column families; leave the family out");
}
