//! Executes the methods of the gRPC service: reads and writes of the store.

use tonic::Status;
use tonic::codec::Streaming;

use super::batch::Batch;
use super::call::Call;
use super::messages::{
    BatchResponse, DeleteRequest, DeleteResponse, GetRequest, GetResponse, LoadResponse, PutRequest,
    PutResponse,
};
use super::status::of_tree;
use crate::space::Space;

pub(super) fn put(call: &Call, request: &PutRequest) -> Result<PutResponse, Status> {
    let space = space(call, &request.family)?;
    call.shared.counters.batches.add(1);
    space.put(&request.key, &request.value).map_err(|error| of_tree(&error))?;
    Ok(PutResponse {})
}

pub(super) fn get(call: &Call, request: &GetRequest) -> Result<GetResponse, Status> {
    let value = space(call, &request.family)?.get(&request.key).map_err(|error| of_tree(&error))?;
    call.admit_response(value.as_ref().map_or(0, Vec::len))?;
    Ok(GetResponse { value: value.map(Into::into) })
}

pub(super) fn delete(call: &Call, request: &DeleteRequest) -> Result<DeleteResponse, Status> {
    let space = space(call, &request.family)?;
    call.shared.counters.batches.add(1);
    space.delete(&request.key).map_err(|error| of_tree(&error))?;
    Ok(DeleteResponse {})
}

/// Returns the tree or the column family with the name `family`. An empty name selects the first family.
///
/// # Errors
/// The store has no such family.
pub(super) fn space<'c>(call: &'c Call, family: &str) -> Result<&'c Space, Status> {
    let databases = &call.shared.databases;
    let database = databases.of_family(family).map_err(Status::invalid_argument)?;
    Ok(databases.keyspace(database).space())
}

pub(super) fn batch(call: &Call, batch: &Batch) -> Result<BatchResponse, Status> {
    write(call, batch)?;
    Ok(BatchResponse {})
}

/// Writes the batches of a stream one after the other. Reads the next batch only after the current one is written, so a
/// client cannot send faster than the tree writes.
///
/// # Errors
/// A batch is invalid or cannot be written. The message contains the number of batches that were written.
pub(super) async fn load(call: &Call, mut batches: Streaming<Batch>) -> Result<LoadResponse, Status> {
    let mut written = LoadResponse::default();
    let at = |done: u64, status: &Status| {
        let message = format!("batch {}: {}; {done} batches are written", done + 1, status.message());
        Status::new(status.code(), message)
    };
    while let Some(batch) = batches.message().await.map_err(|status| at(written.batches, &status))? {
        tokio::task::block_in_place(|| write(call, &batch)).map_err(|status| at(written.batches, &status))?;
        written.batches += 1;
        written.operations += batch.len() as u64;
    }
    Ok(written)
}

fn write(call: &Call, batch: &Batch) -> Result<(), Status> {
    if batch.is_empty() {
        return Ok(());
    }
    call.shared.counters.batches.add(1);
    call.shared.databases.write(batch.parts()).map_err(|error| of_tree(&error))
}
