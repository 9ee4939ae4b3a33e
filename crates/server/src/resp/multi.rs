//! Implements Redis transactions: `MULTI` queues requests, and `EXEC` executes them as one batch.

use super::client::Context;
use super::command::{Command, Run};
use super::failure::Failure;
use super::pipeline::{Pipeline, Request, RequestLimits, Requests};
use super::queue::{Queue, Queued, Work};
use super::replies::Replies;
use super::transaction::Transaction;
use crate::connection::Next;
use crate::stripes::Access;

/// `MULTI`: begins a transaction. The following requests are queued until `EXEC` or `DISCARD`.
pub(crate) fn multi(
    context: &mut Context<'_>,
    _: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    if context.client.queue.is_some() {
        return Err(Failure::error("MULTI calls can not be nested"));
    }
    context.client.queue = Some(Queue::default());
    replies.ok();
    Ok(Next::Read)
}

/// `DISCARD`: ends a transaction without executing the queued requests.
pub(crate) fn discard(
    context: &mut Context<'_>,
    _: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    context.client.queue.take().ok_or_else(|| Failure::error("DISCARD without MULTI"))?;
    replies.ok();
    Ok(Next::Read)
}

/// Returns whether a command between `MULTI` and `EXEC` is executed immediately. All other commands are queued until
/// `EXEC`.
pub(crate) fn is_immediate(command: &Command) -> bool {
    matches!(command.name, "MULTI" | "EXEC" | "DISCARD" | "QUIT" | "RESET")
}

/// Queues a request for `EXEC`. If the request cannot be queued, it and the next `EXEC` are answered with errors.
pub(crate) fn queue(
    context: &mut Context<'_>,
    command: &Command,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let limit = context.shared.options.limits.request_bytes;
    let Some(queue) = &mut context.client.queue else { return Ok(()) };
    let work = match command.run {
        Run::Read(run) => Work::Read(run),
        Run::Write { run, .. } => Work::Write(run),
        _ => {
            queue.break_off();
            return Err(Failure::error(format!(
                "{} cannot be part of a transaction; a transaction can contain only writes, and reads of given names",
                command.name
            )));
        }
    };
    queue.add(request, Queued { names: command.names, work });
    if queue.bytes.len() > limit {
        queue.break_off();
        return Err(Failure::error(format!("the transaction has more than {limit} bytes; split it")));
    }
    replies.simple("QUEUED");
    Ok(())
}

/// `EXEC`: executes the queued requests as one batch of the tree. No other client can write to their names meanwhile.
pub(crate) fn exec(
    context: &mut Context<'_>,
    _: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    let queue = context.client.queue.take().ok_or_else(|| Failure::error("EXEC without MULTI"))?;
    if queue.is_broken {
        return Err(Failure::coded("EXECABORT Transaction discarded because of previous errors."));
    }
    let mut pipeline = Pipeline::default();
    let limits = RequestLimits { requests: usize::MAX, ..RequestLimits::of_client(queue.bytes.len()) };
    pipeline.read(&queue.bytes, &limits).map_err(Failure::error)?;
    let requests = Requests { pipeline: &pipeline, input: &queue.bytes };
    let queued = || queue.work.iter().enumerate().map(|(index, queued)| (queued, requests.at(index)));
    let keyspace = context.keyspace();
    let names = queued().flat_map(|(queued, request)| queued.names.of(request));
    let mut numbers: Vec<usize> = names.map(|name| keyspace.stripes().of(name)).collect();
    let held = keyspace.stripes().lock(&mut numbers, Access::Exclusive);
    let mut transaction = Transaction::new(keyspace, Access::Exclusive);
    replies.array(queue.work.len());
    for (queued, request) in queued() {
        let _ = replies.nested(|replies| match queued.work {
            Work::Read(run) => run(&transaction, request, replies),
            Work::Write(run) => run(&mut transaction, request, replies),
        });
        if !replies.has_room() {
            return Err(replies.too_long());
        }
    }
    context.shared.counters.batches.add(1);
    transaction.commit()?;
    drop(held);
    Ok(Next::Read)
}
