//! Implements the Redis commands that concern the connection or the whole server.

use std::fmt::Write as _;

use super::failure::Failure;
use super::glob;
use super::info;
use super::pipeline::Request;
use super::queue::Queue;
use super::replies::{Replies, Version};
use super::strings::integer;
use crate::connection::Next;
use crate::keyspace::Keyspace;
use crate::limits::{MAX_ARGUMENT_BYTES, MAX_NAME_BYTES};
use crate::password;
use crate::shared::Shared;

/// The state of one client of the Redis protocol.
pub(crate) struct Client {
    /// The number of the client, which `CLIENT ID` returns.
    pub(crate) number: u64,
    /// The name of the client, which the client sets with `CLIENT SETNAME`.
    pub(crate) name: Vec<u8>,
    /// Whether the client may execute all commands: it has sent the password, or the server has none.
    pub(crate) is_let_in: bool,
    pub(crate) version: Version,
    /// The number of the database that the client has selected.
    pub(crate) database: usize,
    /// The requests between `MULTI` and `EXEC`; `None` outside of a transaction.
    pub(crate) queue: Option<Queue>,
}

/// The state of a client that executes a command, with the state that all clients share.
pub(crate) struct Context<'a> {
    pub(crate) client: &'a mut Client,
    pub(crate) shared: &'a Shared,
}

impl<'a> Context<'a> {
    /// Returns the database that the client has selected.
    pub(crate) fn keyspace(&self) -> &'a Keyspace {
        self.shared.databases.keyspace(self.client.database)
    }

    /// Checks the password of a client. If it is correct, the client may execute all commands.
    fn let_in(&mut self, user: &[u8], password: &[u8]) -> Result<(), Failure> {
        let Some(expected) = &self.shared.options.password else {
            return Err(Failure::error("AUTH called without any password configured for the default user."));
        };
        self.client.is_let_in = user == b"default" && password::is_same(password, expected.as_bytes());
        if self.client.is_let_in { Ok(()) } else { Err(Failure::WRONG_PASSWORD) }
    }
}

/// `PING [message]`: replies with `PONG`, or with the message.
pub(crate) fn ping(
    _: &mut Context<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    match request.len() {
        1 => replies.simple("PONG"),
        2 => replies.bulk(request.argument(1)),
        _ => return Err(Failure::arguments("ping")),
    }
    Ok(Next::Read)
}

/// `ECHO message`: replies with the message.
#[allow(clippy::unnecessary_wraps)] // all commands have one signature
pub(crate) fn echo(
    _: &mut Context<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    replies.bulk(request.argument(1));
    Ok(Next::Read)
}

/// `SELECT number | family`: selects the database with this number, or the database of this column family. A store
/// without families has only database 0.
pub(crate) fn select(
    context: &mut Context<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    let (databases, name) = (&context.shared.databases, request.argument(1));
    let last = databases.keyspaces().len() - 1;
    context.client.database = match integer(name).map(usize::try_from) {
        Ok(Ok(number)) if number <= last => number,
        Ok(_) if last == 0 => {
            return Err(Failure::error("DB index is out of range; the server has database 0 only"));
        }
        // A family can have a number as its name.
        Ok(_) => databases.of_family(&String::from_utf8_lossy(name)).map_err(|_| {
            Failure::error(format!("DB index is out of range; the server has the databases 0 to {last}"))
        })?,
        Err(_) if databases.families().is_empty() || name.is_empty() => {
            return Err(Failure::error("invalid DB index"));
        }
        Err(_) => databases.of_family(&String::from_utf8_lossy(name)).map_err(Failure::error)?,
    };
    replies.ok();
    Ok(Next::Read)
}

/// `AUTH [user] password`: checks the password. If it is correct, the client may execute all commands.
pub(crate) fn auth(
    context: &mut Context<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    match request.len() {
        2 => context.let_in(b"default", request.argument(1))?,
        3 => context.let_in(request.argument(1), request.argument(2))?,
        _ => return Err(Failure::SYNTAX),
    }
    replies.ok();
    Ok(Next::Read)
}

/// `HELLO [2 | 3 [AUTH user password] [SETNAME name]]`: selects the version of the protocol, and replies with a
/// description of the server.
pub(crate) fn hello(
    context: &mut Context<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    let mut version = replies.version;
    let mut arguments = request.arguments(1);
    if let Some(wanted) = arguments.next() {
        version = match wanted {
            b"2" => Version::Resp2,
            b"3" => Version::Resp3,
            _ if integer(wanted).is_err() => {
                return Err(Failure::error("Protocol version is not an integer or out of range"));
            }
            _ => return Err(Failure::coded("NOPROTO unsupported protocol version. Valid: 2, 3")),
        };
    }
    while let Some(option) = arguments.next() {
        match &*option.to_ascii_uppercase() {
            b"AUTH" => match (arguments.next(), arguments.next()) {
                (Some(user), Some(password)) => context.let_in(user, password)?,
                _ => return Err(Failure::SYNTAX),
            },
            b"SETNAME" => set_name(context, arguments.next().ok_or(Failure::SYNTAX)?)?,
            _ => return Err(Failure::SYNTAX),
        }
    }
    if !context.client.is_let_in {
        return Err(Failure::coded(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH \
             <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the \
             same time",
        ));
    }
    replies.version = version;
    replies.map(7);
    let texts = [("server", "lsmbench"), ("version", env!("CARGO_PKG_VERSION"))];
    for (key, value) in texts {
        replies.bulk(key.as_bytes());
        replies.bulk(value.as_bytes());
    }
    replies.bulk(b"proto");
    replies.integer(if version == Version::Resp3 { 3 } else { 2 });
    replies.bulk(b"id");
    replies.count(context.client.number);
    for (key, value) in [("mode", "standalone"), ("role", "master")] {
        replies.bulk(key.as_bytes());
        replies.bulk(value.as_bytes());
    }
    replies.bulk(b"modules");
    replies.array(0);
    Ok(Next::Read)
}

fn set_name(context: &mut Context<'_>, name: &[u8]) -> Result<(), Failure> {
    if !name.iter().all(u8::is_ascii_graphic) {
        return Err(Failure::error("Client names cannot contain spaces, newlines or special characters."));
    }
    context.client.name = name.to_vec();
    Ok(())
}

/// `CLIENT ID | GETNAME | SETNAME name | SETINFO option value | NO-EVICT … | NO-TOUCH …`: returns or sets properties
/// of the client. `SETINFO`, `NO-EVICT` and `NO-TOUCH` have no effect.
pub(crate) fn client(
    context: &mut Context<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    match (&*request.argument(1).to_ascii_uppercase(), request.len()) {
        (b"ID", 2) => replies.count(context.client.number),
        (b"GETNAME", 2) => replies.bulk(&context.client.name),
        (b"SETNAME", 3) => {
            set_name(context, request.argument(2))?;
            replies.ok();
        }
        (b"SETINFO", 4) | (b"NO-EVICT" | b"NO-TOUCH", 3) => replies.ok(),
        _ => {
            return Err(Failure::error(
                "unknown CLIENT subcommand. Valid: ID, GETNAME, SETNAME name, SETINFO option value",
            ));
        }
    }
    Ok(Next::Read)
}

/// `CONFIG GET pattern… | RESETSTAT`: returns the options of the server whose names match a pattern, or sets the
/// counters of the server to 0.
pub(crate) fn config(
    context: &mut Context<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    match (&*request.argument(1).to_ascii_uppercase(), request.len()) {
        (b"GET", 3..) => {
            let parameters = parameters(context.shared);
            let is_wanted = |name: &str| {
                request
                    .arguments(2)
                    .any(|pattern| glob::matches(&pattern.to_ascii_lowercase(), name.as_bytes()))
            };
            let wanted: Vec<_> = parameters.iter().filter(|(name, _)| is_wanted(name)).collect();
            replies.map(wanted.len());
            for (name, value) in wanted {
                replies.bulk(name.as_bytes());
                replies.bulk(value.as_bytes());
            }
        }
        (b"RESETSTAT", 2) => {
            context.shared.counters.reset();
            replies.ok();
        }
        (b"SET", _) => {
            return Err(Failure::error(
                "a running server keeps its options; start `lsmbench serve` with other options or another design",
            ));
        }
        _ => return Err(Failure::error("unknown CONFIG subcommand. Valid: GET pattern, RESETSTAT")),
    }
    Ok(Next::Read)
}

/// Returns the options of the server, with the names of the corresponding options of Redis if such options exist.
fn parameters(shared: &Shared) -> Vec<(&'static str, String)> {
    let (options, databases) = (&shared.options, &shared.databases);
    let design = databases.design();
    let wal = design.choice("wal");
    let yes_or_no = |is_true: bool| if is_true { "yes" } else { "no" }.to_owned();
    vec![
        // Redis saves snapshots at these times. A tree has none.
        ("save", String::new()),
        ("appendonly", yes_or_no(wal.kind() != "none")),
        ("appendfsync", if matches!(wal.kind(), "sync" | "group") { "always" } else { "no" }.to_owned()),
        ("databases", databases.keyspaces().len().to_string()),
        ("bind", options.listen.ip().to_string()),
        ("port", shared.port.to_string()),
        ("maxclients", options.limits.connections.to_string()),
        ("maxmemory", "0".to_owned()),
        ("maxmemory-clients", options.limits.client_memory_bytes.to_string()),
        ("proto-max-bulk-len", MAX_ARGUMENT_BYTES.min(options.limits.request_bytes).to_string()),
        ("lsmbench-max-name-len", MAX_NAME_BYTES.to_string()),
        ("lsmbench-max-request-len", options.limits.request_bytes.to_string()),
        ("lsmbench-max-reply-len", options.limits.reply_bytes.to_string()),
        ("lsmbench-wal", wal.label()),
        ("lsmbench-families", databases.families().join(",")),
        ("dir", databases.directory().display().to_string()),
    ]
}

/// `INFO [section…]`: returns sections of text about the state of the server and the tree.
pub(crate) fn info(
    context: &mut Context<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    let sections: Vec<String> =
        request.arguments(1).map(|name| String::from_utf8_lossy(name).to_ascii_lowercase()).collect();
    let mut text = String::new();
    for (name, lines) in info::sections(context.shared, &sections)? {
        let separator = if text.is_empty() { "" } else { "\r\n" };
        let _ = write!(text, "{separator}# {name}\r\n");
        for (key, value) in lines {
            let _ = write!(text, "{key}:{value}\r\n");
        }
    }
    replies.bulk(text.as_bytes());
    Ok(Next::Read)
}

/// `FLUSHDB [ASYNC | SYNC]`: deletes all names (Redis keys) of the selected database.
pub(crate) fn flushdb(
    context: &mut Context<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    check_flush(request)?;
    context.keyspace().clear()?;
    replies.ok();
    Ok(Next::Read)
}

/// `FLUSHALL [ASYNC | SYNC]`: deletes all names (Redis keys) of all databases.
pub(crate) fn flushall(
    context: &mut Context<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    check_flush(request)?;
    context.shared.databases.keyspaces().iter().try_for_each(Keyspace::clear)?;
    replies.ok();
    Ok(Next::Read)
}

/// Checks the optional argument of `FLUSHDB` and `FLUSHALL`: `ASYNC` or `SYNC`, which have no effect.
fn check_flush(request: Request<'_>) -> Result<(), Failure> {
    match request.arguments(1).next().map(<[u8]>::to_ascii_uppercase).as_deref() {
        None | Some(b"ASYNC" | b"SYNC") if request.len() <= 2 => Ok(()),
        _ => Err(Failure::SYNTAX),
    }
}

/// `TREE FLUSH | COMPACT | SETTLE | SYNC`: flushes, compacts or syncs the whole store, or waits until all compactions
/// have finished. Experiments send this command to the server between phases.
pub(crate) fn tree(
    context: &mut Context<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<Next, Failure> {
    let databases = &context.shared.databases;
    match &*request.argument(1).to_ascii_uppercase() {
        b"FLUSH" => databases.flush()?,
        b"COMPACT" => databases.compact()?,
        b"SETTLE" => databases.settle()?,
        b"SYNC" => databases.sync()?,
        _ => return Err(Failure::error("unknown TREE subcommand. Valid: FLUSH, COMPACT, SETTLE, SYNC")),
    }
    replies.ok();
    Ok(Next::Read)
}

/// `QUIT`: disconnects the client after the reply.
#[allow(clippy::unnecessary_wraps)] // all commands have one signature
pub(crate) fn quit(_: &mut Context<'_>, _: Request<'_>, replies: &mut Replies<'_>) -> Result<Next, Failure> {
    replies.ok();
    Ok(Next::Close)
}

/// `SHUTDOWN [SAVE | NOSAVE]`: ends the server without losing data. The client receives no reply to this command.
#[allow(clippy::unnecessary_wraps)] // all commands have one signature
pub(crate) fn shutdown(
    context: &mut Context<'_>,
    _: Request<'_>,
    _: &mut Replies<'_>,
) -> Result<Next, Failure> {
    context.shared.end();
    Ok(Next::Close)
}
