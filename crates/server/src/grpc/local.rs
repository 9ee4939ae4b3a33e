//! Executes gRPC calls without a socket, for tests.

use std::sync::Arc;

use prost::Message;
use tonic::Status;

use super::batch::decode;
use super::call::Call;
use super::messages::LoadResponse;
use super::method::Method;
use super::scan::Scan;
use super::work;
use crate::databases::{Databases, ServedStore};
use crate::options::ServerOptions;
use crate::shared::Shared;

/// The gRPC service of a store without a socket, for fuzz tests. Callers pass the encoded messages that a client would
/// send.
pub struct LocalService {
    shared: Arc<Shared>,
}

impl LocalService {
    /// Creates the gRPC service of a store, with the limits of `options`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn new(store: impl Into<ServedStore>, options: ServerOptions) -> tree::Result<Self> {
        Ok(Self { shared: Arc::new(Shared::new(Databases::new(store.into())?, options, 0)) })
    }

    /// Executes one call of the method with the name `method`. `message` is the encoded request. Returns the encoded
    /// responses.
    ///
    /// # Errors
    /// The status that a client would receive.
    pub fn call(&self, method: &str, message: &[u8]) -> Result<Vec<Vec<u8>>, Status> {
        let call = Arc::new(Call::new(&self.shared));
        let limit = self.shared.options.limits.request_bytes;
        if message.len() > limit {
            let bytes = message.len();
            let message = format!("the request has {bytes} bytes; the limit is {limit} bytes");
            return Err(Status::resource_exhausted(message));
        }
        let method =
            Method::named(method).ok_or_else(|| Status::unimplemented(format!("no method {method}")))?;
        let databases = &self.shared.databases;
        Ok(match method {
            Method::Put => one(&work::put(&call, &read(message)?)?),
            Method::Get => one(&work::get(&call, &read(message)?)?),
            Method::Delete => one(&work::delete(&call, &read(message)?)?),
            Method::Batch => one(&work::batch(&call, &decode(&mut &*message, databases)?)?),
            Method::Load => {
                let batch = decode(&mut &*message, databases)?;
                work::batch(&call, &batch)?;
                one(&LoadResponse { batches: 1, operations: batch.len() as u64 })
            }
            Method::Range => {
                let mut scan = Scan::new(call, read(message)?)?;
                let mut responses = Vec::new();
                while let Some(response) = scan.next()? {
                    responses.push(response.encode_to_vec());
                }
                responses
            }
        })
    }
}

/// Decodes the message of a request.
///
/// # Errors
/// The bytes are not such a message. The status is the one that a client would receive.
fn read<M: Message + Default>(message: &[u8]) -> Result<M, Status> {
    M::decode(message).map_err(|error| Status::internal(error.to_string()))
}

fn one(response: &impl Message) -> Vec<Vec<u8>> {
    vec![response.encode_to_vec()]
}
