//! Lists all Redis commands of the server.

use super::client::{self, Context};
use super::command::{Command, Run};
use super::failure::Failure;
use super::pipeline::Request;
use super::replies::Replies;
use super::strings::{self, access_of_set, blind, exclusive};
use super::work::{Names, Reading, Writing};
use super::{generic, hashes, multi};
use crate::connection::Next;
use crate::keyspace::Keyspace;
use crate::stripes::Access;

type Scanning = fn(&Keyspace, Request<'_>, &mut Replies<'_>) -> Result<(), Failure>;
type Speaking = fn(&mut Context<'_>, Request<'_>, &mut Replies<'_>) -> Result<Next, Failure>;

const fn read(name: &'static str, arity: i32, names: Names, run: Reading) -> Command {
    Command { name, arity, names, run: Run::Read(run) }
}

const fn scan(name: &'static str, arity: i32, names: Names, run: Scanning) -> Command {
    Command { name, arity, names, run: Run::Scan(run) }
}

const fn write(
    name: &'static str,
    arity: i32,
    names: Names,
    access: fn(Request<'_>) -> Access,
    run: Writing,
) -> Command {
    Command { name, arity, names, run: Run::Write { access, run } }
}

const fn speak(name: &'static str, arity: i32, run: Speaking) -> Command {
    Command { name, arity, names: Names::NONE, run: Run::Client(run) }
}

const fn serve(name: &'static str, arity: i32, run: Speaking) -> Command {
    Command { name, arity, names: Names::NONE, run: Run::Server(run) }
}

/// All Redis commands of the server. The most frequent commands come first, because they are found by a linear search.
pub(crate) static COMMANDS: [Command; 50] = [
    read("GET", 2, Names::ONE, strings::get),
    write("SET", -3, Names::ONE, access_of_set, strings::set),
    write("DEL", -2, Names::ALL, exclusive, generic::del),
    read("MGET", -2, Names::ALL, strings::mget),
    write("MSET", -3, Names::PAIRS, blind, strings::mset),
    read("EXISTS", -2, Names::ALL, generic::exists),
    write("INCR", 2, Names::ONE, exclusive, strings::incr),
    write("INCRBY", 3, Names::ONE, exclusive, strings::incrby),
    write("DECR", 2, Names::ONE, exclusive, strings::decr),
    write("DECRBY", 3, Names::ONE, exclusive, strings::decrby),
    read("HGET", 3, Names::ONE, hashes::hget),
    write("HSET", -4, Names::ONE, exclusive, hashes::hset),
    read("HMGET", -3, Names::ONE, hashes::hmget),
    scan("HGETALL", 2, Names::ONE, hashes::hgetall),
    write("HDEL", -3, Names::ONE, exclusive, hashes::hdel),
    write("HMSET", -4, Names::ONE, exclusive, hashes::hmset),
    write("HSETNX", 4, Names::ONE, exclusive, hashes::hsetnx),
    write("HINCRBY", 4, Names::ONE, exclusive, hashes::hincrby),
    read("HLEN", 2, Names::ONE, hashes::hlen),
    read("HEXISTS", 3, Names::ONE, hashes::hexists),
    scan("HKEYS", 2, Names::ONE, hashes::hkeys),
    scan("HVALS", 2, Names::ONE, hashes::hvals),
    scan("RANGE", -3, Names::NONE, strings::range),
    scan("SCAN", -2, Names::NONE, generic::scan),
    scan("DBSIZE", 1, Names::NONE, generic::dbsize),
    read("TYPE", 2, Names::ONE, generic::kind),
    read("STRLEN", 2, Names::ONE, strings::strlen),
    write("SETNX", 3, Names::ONE, exclusive, strings::setnx),
    write("GETSET", 3, Names::ONE, exclusive, strings::getset),
    write("GETDEL", 2, Names::ONE, exclusive, strings::getdel),
    write("APPEND", 3, Names::ONE, exclusive, strings::append),
    write("UNLINK", -2, Names::ALL, exclusive, generic::del),
    speak("PING", -1, client::ping),
    speak("ECHO", 2, client::echo),
    speak("SELECT", 2, client::select),
    speak("HELLO", -1, client::hello),
    speak("AUTH", -2, client::auth),
    speak("CLIENT", -2, client::client),
    speak("CONFIG", -2, client::config),
    speak("COMMAND", -1, command),
    serve("INFO", -1, client::info),
    serve("FLUSHDB", -1, client::flushdb),
    serve("FLUSHALL", -1, client::flushall),
    speak("MULTI", 1, multi::multi),
    serve("EXEC", 1, multi::exec),
    speak("DISCARD", 1, multi::discard),
    serve("TREE", 2, client::tree),
    speak("QUIT", -1, client::quit),
    speak("SHUTDOWN", -1, client::shutdown),
    speak("RESET", 1, reset),
];

/// Returns the command with this name in any case. `None` if there is no such command.
pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name.as_bytes().eq_ignore_ascii_case(name))
}

/// `COMMAND [COUNT | LIST | DOCS … | INFO name…]`: describes the commands of the server.
fn command(_: &mut Context<'_>, request: Request<'_>, replies: &mut Replies<'_>) -> Result<Next, Failure> {
    match request.arguments(1).next().map(<[u8]>::to_ascii_uppercase).as_deref() {
        None => {
            replies.array(COMMANDS.len());
            COMMANDS.iter().for_each(|command| describe(command, replies));
        }
        Some(b"COUNT") => replies.count(COMMANDS.len() as u64),
        Some(b"LIST") => {
            replies.array(COMMANDS.len());
            COMMANDS.iter().for_each(|command| replies.bulk(command.name.to_ascii_lowercase().as_bytes()));
        }
        // The reply is empty, because the documentation of the server describes its commands.
        Some(b"DOCS") => replies.map(0),
        Some(b"INFO") => {
            replies.array(request.len() - 2);
            for name in request.arguments(2) {
                match find(name) {
                    Some(command) => describe(command, replies),
                    None => replies.null(),
                }
            }
        }
        _ => return Err(Failure::error("unknown COMMAND subcommand. Valid: COUNT, LIST, DOCS, INFO name")),
    }
    Ok(Next::Read)
}

/// Writes the description of a command: its name, its number of arguments, its flags, and the positions of names.
fn describe(command: &Command, replies: &mut Replies<'_>) {
    let (first, last, step) = match command.names {
        names if names.is_none() => (0, 0, 0),
        Names { first, last, step } => {
            (first, last.map_or(-1, |last| i64::try_from(last).unwrap_or(i64::MAX)), step)
        }
    };
    replies.array(6);
    replies.bulk(command.name.to_ascii_lowercase().as_bytes());
    replies.integer(i64::from(command.arity));
    replies.array(1);
    replies.simple(match command.run {
        Run::Client(_) | Run::Server(_) => "admin",
        Run::Read(_) | Run::Scan(_) => "readonly",
        Run::Write { .. } => "write",
    });
    replies.count(first as u64);
    replies.integer(last);
    replies.count(step as u64);
}

/// `RESET`: returns the connection to the state of a new connection.
#[allow(clippy::unnecessary_wraps)] // all commands have one signature
fn reset(context: &mut Context<'_>, _: Request<'_>, replies: &mut Replies<'_>) -> Result<Next, Failure> {
    context.client.name.clear();
    context.client.queue = None;
    context.client.database = 0;
    context.client.is_let_in = context.shared.options.password.is_none();
    replies.version = super::replies::Version::Resp2;
    replies.simple("RESET");
    Ok(Next::Read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_found_by_its_name_in_any_case() {
        for command in &COMMANDS {
            let found = find(command.name.to_ascii_lowercase().as_bytes()).unwrap();
            assert!(std::ptr::eq(found, command), "{} is twice in the table", command.name);
            assert_eq!(command.name, command.name.to_ascii_uppercase());
            let writes = matches!(command.run, Run::Write { .. });
            assert!(!writes || !command.names.is_none(), "{} locks no name", command.name);
        }
        assert!(find(b"GETS").is_none() && find(b"").is_none());
    }
}
