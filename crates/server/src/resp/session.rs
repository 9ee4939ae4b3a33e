//! Executes the Redis requests of a client.

use std::ops::Range;

use super::client::{Client, Context};
use super::command::{Command, Run};
use super::failure::Failure;
use super::multi;
use super::pipeline::{Pipeline, ProtocolError, Request, RequestLimits, Requests};
use super::replies::{Replies, Version};
use super::table;
use super::transaction::Transaction;
use crate::connection::{Next, Progress, Received, Session};
use crate::keyspace::Keyspace;
use crate::limits::MAX_NAME_BYTES;
use crate::shared::Shared;
use crate::stripes::{Access, Held};
use crate::view::View;

/// The number of bytes of unsent replies at which the session pauses, until the replies are sent.
const FULL_OUTPUT_BYTES: usize = 1 << 20;

/// The maximum number of bytes of an argument that an error message shows.
const SHOWN_BYTES: usize = 128;

/// The session of a client that uses the Redis protocol.
pub(crate) struct RespSession<'s> {
    shared: &'s Shared,
    client: Client,
    pipeline: Pipeline,
    error: Option<ProtocolError>,
}

impl<'s> RespSession<'s> {
    pub(crate) fn new(shared: &'s Shared) -> Self {
        let client = Client {
            number: shared.number_client(),
            name: Vec::new(),
            is_let_in: shared.options.password.is_none(),
            version: Version::default(),
            database: 0,
            queue: None,
        };
        Self { shared, client, pipeline: Pipeline::default(), error: None }
    }

    /// Returns the database that the client has selected.
    fn keyspace(&self) -> &'s Keyspace {
        self.shared.databases.keyspace(self.client.database)
    }

    /// Returns the command that a request names.
    ///
    /// # Errors
    /// The command is unknown, the client may not execute it yet, or the request has a wrong number of arguments or a
    /// name that is too long.
    fn command(&self, request: Request<'_>) -> Result<&'static Command, Failure> {
        let Some(command) = table::find(request.argument(0)) else {
            let name = shown(request.argument(0));
            return Err(Failure::error(format!("unknown command '{name}'; COMMAND LIST lists all commands")));
        };
        command.check(request)?;
        if !self.client.is_let_in && !matches!(command.name, "AUTH" | "HELLO" | "QUIT" | "RESET") {
            return Err(Failure::NO_PASSWORD);
        }
        match command.names.of(request).map(<[u8]>::len).find(|length| *length > MAX_NAME_BYTES) {
            Some(length) => {
                Err(Failure::error(format!("the key has {length} bytes; the limit is {MAX_NAME_BYTES}")))
            }
            None => Ok(command),
        }
    }

    /// Returns the index after the last of the successive writes that begin at request `first`. Returns `first` if this
    /// request is not a write.
    fn end_of_writes(&self, requests: Requests<'_>, first: usize) -> usize {
        if self.client.queue.is_some() {
            return first;
        }
        let is_write = |index: &usize| {
            let command = self.command(requests.at(*index));
            command.is_ok_and(|command| matches!(command.run, Run::Write { .. }))
        };
        (first..requests.len()).find(|index| !is_write(index)).unwrap_or(requests.len())
    }

    /// Locks all names (Redis keys) that the requests in the range `run` write. Returns the locks, and whether the
    /// requests also read names.
    fn lock(&self, requests: Requests<'_>, run: Range<usize>) -> (Held<'s>, Access) {
        let stripes = self.keyspace().stripes();
        let (mut numbers, mut access) = (Vec::new(), Access::Blind);
        for index in run {
            let request = requests.at(index);
            if let Some(command) = table::find(request.argument(0))
                && let Run::Write { access: access_of, .. } = command.run
            {
                numbers.extend(command.names.of(request).map(|name| stripes.of(name)));
                access = if access_of(request) == Access::Exclusive { Access::Exclusive } else { access };
            }
        }
        let held = stripes.lock(&mut numbers, access);
        // A string that replaces a hash also removes the fields of the hash, which needs exclusive locks. Another
        // client may create hashes until the locks are held, so the check follows the lock.
        if access == Access::Exclusive || !self.keyspace().may_have_hashes() {
            return (held, access);
        }
        drop(held);
        (stripes.lock(&mut numbers, Access::Exclusive), Access::Exclusive)
    }

    /// Executes the writes in the range `run` as one batch, or as several batches if they are very large.
    fn write(&self, requests: Requests<'_>, run: Range<usize>, replies: &mut Replies<'_>) {
        let (held, access) = self.lock(requests, run.clone());
        let mut transaction = Transaction::new(self.keyspace(), access);
        let (mut start, mut first) = (replies.bytes(), run.start);
        for index in run.clone() {
            let request = requests.at(index);
            // The error of a request is its reply.
            let _ = replies.reply(|replies| match self.command(request)?.run {
                Run::Write { run, .. } => run(&mut transaction, request, replies),
                _ => Ok(()),
            });
            if transaction.is_full() || index + 1 == run.end {
                self.shared.counters.batches.add(1);
                if let Err(failure) = transaction.commit() {
                    // The writes of the batch, and the writes that would follow, are not acknowledged.
                    replies.replace(start, run.end - first, &failure);
                    break;
                }
                (start, first) = (replies.bytes(), index + 1);
            }
        }
        drop(held);
    }

    /// Executes a request that is not a write.
    fn execute_one(&mut self, request: Request<'_>, replies: &mut Replies<'_>) -> Next {
        let command = match self.command(request) {
            Ok(command) => command,
            Err(failure) => {
                if let Some(queue) = &mut self.client.queue {
                    queue.break_off();
                }
                replies.error(&failure);
                return Next::Read;
            }
        };
        let (shared, keyspace) = (self.shared, self.keyspace());
        let mut context = Context { client: &mut self.client, shared };
        let executed = replies.reply(|replies| match command.run {
            _ if context.client.queue.is_some() && !multi::is_immediate(command) => {
                multi::queue(&mut context, command, request, replies).map(|()| Next::Read)
            }
            Run::Client(run) | Run::Server(run) => run(&mut context, request, replies),
            Run::Read(run) => run(keyspace, request, replies).map(|()| Next::Read),
            Run::Scan(run) => run(keyspace, request, replies).map(|()| Next::Read),
            Run::Write { .. } => Ok(Next::Read),
        });
        executed.unwrap_or(Next::Read)
    }
}

impl Session for RespSession<'_> {
    fn receive(&mut self, input: &[u8]) -> Received {
        let limits = match self.client.is_let_in {
            true => RequestLimits::of_client(self.shared.options.limits.request_bytes),
            false => RequestLimits::of_stranger(),
        };
        self.error = self.pipeline.read(input, &limits).err();
        if self.error.is_some() {
            return Received::Quick;
        }
        let commands = (0..self.pipeline.len()).map(|index| self.pipeline.request(input, index).argument(0));
        match self.pipeline.is_empty() {
            true => Received::Incomplete,
            false if commands.filter_map(table::find).any(Command::may_wait) => Received::MayWait,
            false => Received::Quick,
        }
    }

    fn execute(&mut self, input: &[u8], output: &mut Vec<u8>) -> Progress {
        let mut replies = Replies::new(output, self.client.version, self.shared.options.limits.reply_bytes);
        if let Some(error) = self.error.take() {
            self.shared.counters.disconnected.add(1);
            replies.error(&Failure::error(format!("Protocol error: {error}")));
            return Progress { consumed: 0, next: Next::Close };
        }
        let mut pipeline = std::mem::take(&mut self.pipeline);
        let requests = Requests { pipeline: &pipeline, input };
        let (mut at, mut next) = (0, Next::Read);
        while at < requests.len() && next == Next::Read {
            if replies.bytes() >= FULL_OUTPUT_BYTES {
                next = Next::Continue;
                break;
            }
            let end = self.end_of_writes(requests, at);
            if end > at {
                self.write(requests, at..end, &mut replies);
                at = end;
            } else {
                next = self.execute_one(requests.at(at), &mut replies);
                at += 1;
            }
        }
        self.client.version = replies.version;
        self.shared.counters.requests.add(at as u64);
        self.shared.counters.errors.add(replies.errors());
        let consumed = pipeline.remove(at);
        self.pipeline = pipeline;
        Progress { consumed, next }
    }

    fn refuse(&self, reason: &str, output: &mut Vec<u8>) {
        output.extend_from_slice(format!("-ERR {reason}\r\n").as_bytes());
    }

    fn memory_bytes(&self) -> usize {
        self.pipeline.memory_bytes() + self.client.queue.as_ref().map_or(0, |queue| queue.bytes.capacity())
    }

    fn rest(&mut self) {
        self.pipeline.shrink();
    }
}

/// Returns the first bytes of an argument as text, for an error message.
fn shown(argument: &[u8]) -> String {
    argument[..argument.len().min(SHOWN_BYTES)].escape_ascii().to_string()
}
