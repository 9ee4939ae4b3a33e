//! Implements the bodies of gRPC requests and responses, which count the memory of their messages.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};
use tonic::Status;

use super::call::Call;
use super::prefix::MessageReader;

/// The number of copies of a request in memory: the received bytes, and the write batch into which they are decoded.
const COPIES: usize = 2;

/// The maximum size of one frame of a gRPC response, in bytes.
const FRAME_BYTES: usize = 64 << 10;

/// The body of a gRPC request. Returns an error for a message that is longer than the limit, before it reads the
/// message.
pub(super) struct RequestBody {
    body: Incoming,
    messages: MessageReader,
    call: Arc<Call>,
}

impl RequestBody {
    pub(super) fn new(body: Incoming, call: Arc<Call>) -> Self {
        Self { body, messages: MessageReader::default(), call }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Self { body, messages, call } = &mut *self;
        let frame = match ready!(Pin::new(body).poll_frame(context)) {
            None => return Poll::Ready(None),
            Some(Err(error)) => return Poll::Ready(Some(Err(Status::cancelled(error.to_string())))),
            Some(Ok(frame)) => frame,
        };
        let limit = call.shared.options.limits.request_bytes;
        let admit = |length: usize| {
            if length > limit {
                let message = format!("the request has {length} bytes; the limit is {limit} bytes");
                return Err(Status::resource_exhausted(message));
            }
            call.set_memory(COPIES * length)
        };
        let read = frame.data_ref().map_or(Ok(()), |bytes| messages.read(bytes, admit));
        Poll::Ready(Some(read.map(|()| frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

/// The body of a gRPC response, split into short frames.
///
/// HTTP/2 takes the next frame only after most earlier frames are sent, so the rest of a long response stays in this
/// value. The memory of the response is counted until HTTP/2 has taken the last frame.
pub(super) struct ResponseBody {
    body: tonic::body::Body,
    /// The rest of the current frame of the response, which HTTP/2 has not taken yet.
    rest: Bytes,
    _call: Arc<Call>,
}

impl ResponseBody {
    pub(super) fn new(body: tonic::body::Body, call: Arc<Call>) -> Self {
        Self { body, rest: Bytes::new(), _call: call }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                end => return Poll::Ready(end),
            }
        }
        let length = self.rest.len().min(FRAME_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }
}
