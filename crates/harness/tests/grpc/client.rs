//! A client of the gRPC service, based on the client of the crate tonic.

use std::net::SocketAddr;

use hyper::http::uri::PathAndQuery;
use server::grpc::messages::{
    BatchRequest, BatchResponse, DeleteRequest, DeleteResponse, Entry, GetRequest, GetResponse, LoadResponse,
    Operation, OperationKind, PutRequest, PutResponse, RangeRequest, RangeResponse,
};
use tokio::runtime::{Builder, Runtime};
use tonic::client::{Grpc, GrpcService as _};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::served::PATIENCE;

/// The flow-control window in bytes. The client receives this number of bytes of a stream before the test reads from
/// the stream.
const WINDOW_BYTES: u32 = 65_535;

/// One connection to a server.
pub(crate) struct Client {
    runtime: Runtime,
    channel: Channel,
    password: Option<String>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        let endpoint = endpoint
            .timeout(PATIENCE)
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES);
        let channel = runtime.block_on(endpoint.connect()).unwrap();
        Self { runtime, channel, password: None }
    }

    /// Sets the password that the client sends in each call.
    pub(crate) fn with_password(self, password: &str) -> Self {
        Self { password: Some(password.to_owned()), ..self }
    }

    fn request<Q>(&self, message: Q) -> Request<Q> {
        let mut request = Request::new(message);
        if let Some(password) = &self.password {
            request.metadata_mut().insert("authorization", format!("Bearer {password}").parse().unwrap());
        }
        request
    }

    fn grpc(&mut self) -> Grpc<Channel> {
        Grpc::new(self.channel.clone()).max_decoding_message_size(usize::MAX)
    }

    /// Calls a method with one request and one response.
    pub(crate) fn call<Q, A>(&mut self, method: &str, message: Q) -> Result<A, Status>
    where
        Q: prost::Message + 'static,
        A: prost::Message + Default + 'static,
    {
        let (request, mut grpc) = (self.request(message), self.grpc());
        self.runtime.block_on(async {
            grpc.ready().await.map_err(|error| Status::unknown(error.to_string()))?;
            let response = grpc.unary(request, path(method), ProstCodec::<Q, A>::new()).await?;
            Ok(response.into_inner())
        })
    }

    pub(crate) fn put(
        &mut self,
        key: impl Into<Vec<u8>>,
        value: impl Into<Vec<u8>>,
    ) -> Result<PutResponse, Status> {
        let (key, value) = (key.into().into(), value.into().into());
        self.call("Put", PutRequest { key, value, ..PutRequest::default() })
    }

    pub(crate) fn get(&mut self, key: impl Into<Vec<u8>>) -> Result<Option<String>, Status> {
        let response: GetResponse =
            self.call("Get", GetRequest { key: key.into().into(), ..GetRequest::default() })?;
        Ok(response.value.map(|value| String::from_utf8_lossy(&value).into_owned()))
    }

    pub(crate) fn delete(&mut self, key: &str) -> Result<DeleteResponse, Status> {
        self.call("Delete", DeleteRequest { key: key.to_owned().into(), ..DeleteRequest::default() })
    }

    pub(crate) fn batch(&mut self, kinds: Vec<OperationKind>) -> Result<BatchResponse, Status> {
        self.call("Batch", batch(kinds))
    }

    /// Sends a stream of batches.
    pub(crate) fn load(
        &mut self,
        batches: impl tokio_stream::Stream<Item = BatchRequest> + Send + 'static,
    ) -> Result<LoadResponse, Status> {
        let (request, mut grpc) = (self.request(batches), self.grpc());
        self.runtime.block_on(async {
            grpc.ready().await.map_err(|error| Status::unknown(error.to_string()))?;
            let codec = ProstCodec::<BatchRequest, LoadResponse>::new();
            Ok(grpc.client_streaming(request, path("Load"), codec).await?.into_inner())
        })
    }

    /// Begins a call whose response is a stream. The function does not read any response.
    pub(crate) fn stream<Q, A>(&mut self, method: &str, message: Q) -> Result<Responses<'_, A>, Status>
    where
        Q: prost::Message + 'static,
        A: prost::Message + Default + 'static,
    {
        let (request, mut grpc) = (self.request(message), self.grpc());
        let stream = self.runtime.block_on(async {
            grpc.ready().await.map_err(|error| Status::unknown(error.to_string()))?;
            grpc.server_streaming(request, path(method), ProstCodec::<Q, A>::new()).await
        });
        Ok(Responses { stream: stream?.into_inner(), runtime: &self.runtime })
    }

    /// Begins a scan, and does not read its responses.
    pub(crate) fn range(&mut self, request: RangeRequest) -> Result<Responses<'_, RangeResponse>, Status> {
        self.stream("Range", request)
    }

    /// Executes a scan, and returns its entries as `key:value`.
    pub(crate) fn scan(&mut self, request: RangeRequest) -> Result<Vec<String>, Status> {
        let mut responses = self.range(request)?;
        let mut found = Vec::new();
        while let Some(response) = responses.next()? {
            found.extend(response.entries.iter().map(shown));
        }
        Ok(found)
    }

    /// Sends an HTTP request. Returns the status of HTTP, and the status of gRPC if the response headers contain it.
    pub(crate) fn send(&mut self, path: &str, content_type: &str, body: &str) -> (u16, Option<Status>) {
        let request = hyper::Request::post(path)
            .header("content-type", content_type)
            .body(tonic::body::Body::new(body.to_owned()))
            .unwrap();
        let mut channel = self.channel.clone();
        let response = self.runtime.block_on(async {
            std::future::poll_fn(|context| channel.poll_ready(context)).await.unwrap();
            channel.call(request).await.unwrap()
        });
        (response.status().as_u16(), Status::from_header_map(response.headers()))
    }
}

/// The stream of responses to a call.
pub(crate) struct Responses<'c, A> {
    stream: Streaming<A>,
    runtime: &'c Runtime,
}

impl<A> Responses<'_, A> {
    /// Returns the next response; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Result<Option<A>, Status> {
        self.runtime.block_on(self.stream.message())
    }
}

fn path(method: &str) -> PathAndQuery {
    format!("/lsmbench.v1.Store/{method}").parse().unwrap()
}

/// Returns a batch of operations.
pub(crate) fn batch(kinds: Vec<OperationKind>) -> BatchRequest {
    BatchRequest { operations: kinds.into_iter().map(|kind| Operation { kind: Some(kind) }).collect() }
}

/// Returns a put for a batch.
pub(crate) fn put(key: impl Into<String>, value: impl Into<String>) -> OperationKind {
    put_into("", key, value)
}

/// A put in a batch, into a column family.
pub(crate) fn put_into(family: &str, key: impl Into<String>, value: impl Into<String>) -> OperationKind {
    let (key, value) = (key.into().into(), value.into().into());
    OperationKind::Put(PutRequest { key, value, family: family.to_owned() })
}

/// Returns a request to scan all keys from `low` (included) to `high` (excluded).
pub(crate) fn range(low: &str, high: &str) -> RangeRequest {
    RangeRequest { low: low.to_owned().into(), high: high.to_owned().into(), ..RangeRequest::default() }
}

/// Formats an entry as text.
pub(crate) fn shown(entry: &Entry) -> String {
    format!("{}:{}", entry.key.escape_ascii(), entry.value.escape_ascii())
}
