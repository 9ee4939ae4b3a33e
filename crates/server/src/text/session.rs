//! Serves a client that uses the text language of `lsmbench shell`.

use tree::WriteBatch;
use workload::Command;

use super::answer::{TextStore, answer_command};
use crate::connection::{Next, Progress, Received, Session};
use crate::shared::Shared;
use crate::space::Space;

/// The number of bytes of unsent answers at which the session pauses, until the answers are sent.
const FULL_OUTPUT_BYTES: usize = 1 << 20;

/// The total size of collected writes at which they are written to the tree as one batch, in bytes.
const FULL_BATCH_BYTES: usize = 1 << 20;

/// A client that sends one command of the text language per line. Writes that arrive together form one batch.
///
/// A put or a delete has no answer, but the answer to a later command confirms it. The answer to an invalid line or a
/// failed command begins with `error: line`. The line `f NAME` selects a column family for the following lines.
pub(crate) struct TextSession<'s> {
    shared: &'s Shared,
    /// The number of the database that the client has selected. `None` after a selection failed, so that no write goes
    /// to another family.
    database: Option<usize>,
    /// The number of the last line that was executed.
    line: u64,
    /// The number of bytes at the start of the input that were already searched for a line end.
    searched: usize,
    is_too_long: bool,
}

/// The writes of a client that are not in the tree yet, with the line number of the first of them.
struct Writes {
    batch: WriteBatch,
    bytes: usize,
    first: u64,
}

impl<'s> TextSession<'s> {
    pub(crate) fn new(shared: &'s Shared) -> Self {
        shared.number_client();
        Self { shared, database: Some(0), line: 0, searched: 0, is_too_long: false }
    }

    /// Returns the tree or the column family that stores a database.
    fn space(&self, database: usize) -> &'s Space {
        self.shared.databases.keyspace(database).space()
    }

    /// Executes one line: adds a write to `writes`, or executes any other command and appends its answer to `output`.
    fn execute_line(&mut self, line: &[u8], writes: &mut Writes, output: &mut Vec<u8>) {
        if let Some(family) = selected_family(line) {
            self.commit(writes, output);
            self.shared.counters.requests.add(1);
            let selected = self.shared.databases.of_family(&family);
            self.database = selected.map_err(|error| self.fail(self.line, &error, output)).ok();
            return;
        }
        let command = match Command::parse(line) {
            Ok(None) => return,
            Ok(Some(command)) => command,
            Err(error) => {
                self.commit(writes, output);
                return self.fail(self.line, &error, output);
            }
        };
        self.shared.counters.requests.add(1);
        let Some(database) = self.database else {
            return self.fail(self.line, &"no family is selected; select a family with f NAME", output);
        };
        let space = self.space(database);
        let added = match &command {
            Command::Put { key, value } => writes.add(self.line, key, Some(value)),
            Command::Delete { key } => writes.add(self.line, key, None),
            Command::SingleDelete { key } => writes.add_single_delete(self.line, key),
            Command::DeleteRange { low, high } => writes.add_range(self.line, low, high),
            Command::Merge { key, operand } if merges(space) => writes.add_merge(self.line, key, operand),
            _ => {
                self.commit(writes, output);
                let limit = self.shared.options.limits.reply_bytes;
                let answer = |store: &dyn TextStore| answer_command(store, &command, limit, output);
                if let Err(error) = space.as_text_store(answer) {
                    self.fail(self.line, &error, output);
                }
                return;
            }
        };
        if let Err(error) = added {
            self.commit(writes, output);
            self.fail(self.line, &error, output);
        } else if writes.bytes >= FULL_BATCH_BYTES {
            self.commit(writes, output);
        }
    }

    /// Writes the collected writes to the tree. If this fails, appends an error with the line number of the first
    /// write.
    fn commit(&self, writes: &mut Writes, output: &mut Vec<u8>) {
        let Some(database) = self.database.filter(|_| !writes.batch.is_empty()) else { return };
        self.shared.counters.batches.add(1);
        if let Err(error) = self.space(database).write(&writes.batch) {
            self.fail(writes.first, &error, output);
        }
        writes.batch.clear();
        writes.bytes = 0;
    }

    fn fail(&self, line: u64, error: &dyn std::fmt::Display, output: &mut Vec<u8>) {
        self.shared.counters.errors.add(1);
        let text = error.to_string().replace(['\r', '\n'], " ");
        output.extend_from_slice(format!("error: line {line}: {text}\n").as_bytes());
    }
}

/// Returns whether a database has a merge operator. Without one, a merge would make a whole batch fail.
fn merges(space: &Space) -> bool {
    space.design().options.merge_operator.is_some()
}

/// Returns the name of the column family in the line `f NAME`. Returns `None` for any other line.
fn selected_family(line: &[u8]) -> Option<String> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    if words.next()? != b"f" {
        return None;
    }
    let (name, rest) = (words.next()?, words.next());
    rest.is_none().then(|| String::from_utf8_lossy(name).into_owned())
}

impl Writes {
    fn add(&mut self, line: u64, key: &[u8], value: Option<&[u8]>) -> tree::Result<()> {
        match value {
            Some(value) => self.batch.put(key, value)?,
            None => self.batch.delete(key)?,
        }
        self.count(line, key.len() + value.map_or(0, <[u8]>::len));
        Ok(())
    }

    fn add_single_delete(&mut self, line: u64, key: &[u8]) -> tree::Result<()> {
        self.batch.single_delete(key)?;
        self.count(line, key.len());
        Ok(())
    }

    fn add_range(&mut self, line: u64, low: &[u8], high: &[u8]) -> tree::Result<()> {
        self.batch.delete_range(low, high)?;
        self.count(line, low.len() + high.len());
        Ok(())
    }

    fn add_merge(&mut self, line: u64, key: &[u8], operand: &[u8]) -> tree::Result<()> {
        self.batch.merge(key, operand)?;
        self.count(line, key.len() + operand.len());
        Ok(())
    }

    fn count(&mut self, line: u64, bytes: usize) {
        if self.bytes == 0 {
            self.first = line;
        }
        self.bytes += bytes + 1;
    }
}

impl Session for TextSession<'_> {
    fn receive(&mut self, input: &[u8]) -> Received {
        if input[self.searched..].contains(&b'\n') {
            return Received::MayWait;
        }
        self.searched = input.len();
        self.is_too_long = input.len() > self.shared.options.limits.request_bytes;
        if self.is_too_long { Received::Quick } else { Received::Incomplete }
    }

    fn execute(&mut self, input: &[u8], output: &mut Vec<u8>) -> Progress {
        if self.is_too_long {
            self.shared.counters.disconnected.add(1);
            let limit = self.shared.options.limits.request_bytes;
            self.fail(self.line + 1, &format!("the line is longer than {limit} bytes"), output);
            return Progress { consumed: 0, next: Next::Close };
        }
        let mut writes = Writes { batch: WriteBatch::new(), bytes: 0, first: 0 };
        let (mut consumed, mut next) = (0, Next::Read);
        for line in input.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            if output.len() >= FULL_OUTPUT_BYTES {
                next = Next::Continue;
                break;
            }
            self.line += 1;
            self.execute_line(line, &mut writes, output);
            consumed += line.len();
        }
        self.commit(&mut writes, output);
        self.searched = 0;
        Progress { consumed, next }
    }

    fn refuse(&self, reason: &str, output: &mut Vec<u8>) {
        output.extend_from_slice(format!("error: {reason}\n").as_bytes());
    }

    fn memory_bytes(&self) -> usize {
        0
    }

    fn rest(&mut self) {}
}
