//! Receives the gRPC calls of a connection, and answers them.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode};
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{Codec, Streaming};
use tonic::server::{ClientStreamingService, Grpc, ServerStreamingService, UnaryService};
use tonic_prost::ProstCodec;

use super::batch::{Batch, BatchCodec};
use super::body::{RequestBody, ResponseBody};
use super::call::Call;
use super::messages::{LoadResponse, RangeRequest, RangeResponse};
use super::method::Method;
use super::scan::Scan;
use super::{status, work};
use crate::connection::until_end;
use crate::password;
use crate::shared::Shared;

/// The start of the content type of a gRPC request. The rest names the encoding of the messages.
const GRPC: &[u8] = b"application/grpc";

/// The word before the password in the `authorization` metadata of a call.
const BEARER: &[u8] = b"Bearer ";

/// Answers one call. If the server ends before the request is complete, the call fails and changes nothing. Only the
/// complete batches of a `Load` call stay written.
pub(super) async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<ResponseBody>, Infallible> {
    let call = Arc::new(Call::new(&shared));
    shared.counters.requests.add(1);
    let response = if is_grpc(request.headers()) {
        match check_password(&shared, request.headers()) {
            Ok(()) => {
                let mut ending = shared.watch_end();
                let answered = until_end(&mut ending, execute(&call, request)).await;
                answered.unwrap_or_else(|| status::of_ending().into_http())
            }
            Err(status) => status.into_http(),
        }
    } else {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        response
    };
    // A status in the headers is an error. A successful call sends its status in the trailers, after the response.
    if response.status() != StatusCode::OK || Status::from_header_map(response.headers()).is_some() {
        shared.counters.errors.add(1);
    }
    Ok(response.map(|body| ResponseBody::new(body, call)))
}

/// Returns whether the content type of an HTTP request is gRPC with Protocol Buffers messages.
fn is_grpc(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let value = value.and_then(|value| value.split(|byte| *byte == b';').next());
    value.and_then(|value| value.strip_prefix(GRPC)).is_some_and(|suffix| matches!(suffix, b"" | b"+proto"))
}

/// Checks that the call contains the password of the server, if the server has one.
fn check_password(shared: &Shared, headers: &HeaderMap) -> Result<(), Status> {
    let Some(expected) = &shared.options.password else { return Ok(()) };
    let given = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    match given.and_then(|given| given.strip_prefix(BEARER)) {
        Some(given) if password::is_same(given, expected.as_bytes()) => Ok(()),
        Some(_) => Err(Status::unauthenticated("the password is wrong")),
        None => Err(Status::unauthenticated(
            "the server has a password; send the metadata `authorization: Bearer PASSWORD`",
        )),
    }
}

/// Executes the method of a call.
async fn execute(call: &Arc<Call>, request: Request<Incoming>) -> Response<Body> {
    let Some(method) = Method::of(request.uri().path()) else {
        let path = request.uri().path();
        return Status::unimplemented(format!("there is no method {path}; the service is lsmbench.v1.Store"))
            .into_http();
    };
    let request = request.map(|body| RequestBody::new(body, Arc::clone(call)));
    match method {
        Method::Put => unary(call, ProstCodec::new(), work::put, request).await,
        Method::Get => unary(call, ProstCodec::new(), work::get, request).await,
        Method::Delete => unary(call, ProstCodec::new(), work::delete, request).await,
        Method::Batch => unary(call, BatchCodec::new(call), work::batch, request).await,
        Method::Load => {
            handler(call, BatchCodec::new(call)).client_streaming(Load(Arc::clone(call)), request).await
        }
        Method::Range => {
            handler(call, ProstCodec::new()).server_streaming(Range(Arc::clone(call)), request).await
        }
    }
}

/// Returns the gRPC handler of a call. The handler encodes messages with `codec`, and limits the size of requests.
fn handler<C: Codec>(call: &Call, codec: C) -> Grpc<C> {
    Grpc::new(codec).max_decoding_message_size(call.shared.options.limits.request_bytes)
}

/// A function that executes a gRPC method with one request and one response.
type Work<Q, A> = fn(&Call, &Q) -> Result<A, Status>;

/// Executes a gRPC call with one request and one response.
async fn unary<C: Codec>(
    call: &Arc<Call>,
    codec: C,
    work: Work<C::Decode, C::Encode>,
    request: Request<RequestBody>,
) -> Response<Body> {
    handler(call, codec).unary(Unary { call: Arc::clone(call), work }, request).await
}

/// The service (in the library tonic) of a gRPC method with one request and one response.
struct Unary<Q, A> {
    call: Arc<Call>,
    work: Work<Q, A>,
}

impl<Q, A> UnaryService<Q> for Unary<Q, A> {
    type Response = A;
    type Future = Ready<Result<tonic::Response<A>, Status>>;

    /// Executes the method at once, and not when the returned future is polled. A client can therefore not cancel a
    /// call between its execution and its response.
    fn call(&mut self, request: tonic::Request<Q>) -> Self::Future {
        let response = tokio::task::block_in_place(|| (self.work)(&self.call, request.get_ref()));
        ready(response.map(tonic::Response::new))
    }
}

/// The service (in the library tonic) of the gRPC method `Load`.
struct Load(Arc<Call>);

impl ClientStreamingService<Batch> for Load {
    type Response = LoadResponse;
    type Future = Pin<Box<dyn Future<Output = Result<tonic::Response<LoadResponse>, Status>> + Send>>;

    fn call(&mut self, request: tonic::Request<Streaming<Batch>>) -> Self::Future {
        let call = Arc::clone(&self.0);
        Box::pin(async move { work::load(&call, request.into_inner()).await.map(tonic::Response::new) })
    }
}

/// The service (in the library tonic) of the gRPC method `Range`.
struct Range(Arc<Call>);

impl ServerStreamingService<RangeRequest> for Range {
    type Response = RangeResponse;
    type ResponseStream = Scan;
    type Future = Ready<Result<tonic::Response<Scan>, Status>>;

    fn call(&mut self, request: tonic::Request<RangeRequest>) -> Self::Future {
        ready(Scan::new(Arc::clone(&self.0), request.into_inner()).map(tonic::Response::new))
    }
}

/// Returns the response for a client that connects while the limit of connections is reached.
pub(super) fn refuse() -> Response<Body> {
    Status::resource_exhausted("max number of clients reached").into_http()
}
