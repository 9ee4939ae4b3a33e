//! Executes single commands of the text language of `lsmbench shell`.

use std::ops::Bound;

use thiserror::Error;
use tree::{Family, Range, Stats, Tree};
use workload::Command;

/// Executes a command of the text language, and appends its answer to `answer`. A write has no answer.
///
/// # Errors
/// The tree fails, the answer is longer than `limit_bytes`, or the command is `l`, which reads a file. The answer is
/// unchanged after an error.
pub fn answer_command(
    store: &dyn TextStore,
    command: &Command,
    limit_bytes: usize,
    answer: &mut Vec<u8>,
) -> Result<(), TextError> {
    let start = answer.len();
    if let Some(written) = store.write_command(command) {
        return Ok(written?);
    }
    let written = match command {
        Command::Get { key } => store.get_into(key, answer).map(|_| ()).map_err(TextError::from),
        Command::Range { low, high } => range(store, (low, high), limit_bytes, answer),
        Command::Statistics => {
            statistics(store, answer);
            Ok(())
        }
        _ => Err(TextError::Load),
    };
    match written {
        Ok(()) => answer.push(b'\n'),
        Err(_) => answer.truncate(start),
    }
    written
}

/// The reason why a command of the text language fails.
#[derive(Debug, Error)]
pub enum TextError {
    /// The store returned an error.
    #[error(transparent)]
    Tree(#[from] tree::Error),
    /// The answer would be longer than the limit.
    #[error("the answer has more than {0} bytes; request a shorter range")]
    TooLong(usize),
    /// The command is `l`, which the server does not support, because it reads no files.
    #[error("a server reads no files; send the pairs as `p KEY VALUE`")]
    Load,
}

/// A store or a column family on which the text language executes commands.
pub trait TextStore {
    /// Applies one write command of the text language to the store. Returns `None` for a command that writes nothing.
    fn write_command(&self, command: &Command) -> Option<tree::Result<()>>;

    /// Appends the value of a key to `value`. Returns whether the key exists.
    ///
    /// # Errors
    /// The tree cannot be read.
    fn get_into(&self, key: &[u8], value: &mut Vec<u8>) -> tree::Result<bool>;

    /// Opens a scan of the keys from `low` (inclusive) to `high` (exclusive).
    ///
    /// # Errors
    /// The tree cannot be read.
    fn scan(&self, low: &[u8], high: &[u8]) -> tree::Result<Range<'_>>;

    /// Returns the statistics of the store.
    fn stats(&self) -> Stats;
}

/// Implements [`TextStore`] for a type that has the methods of a tree.
macro_rules! text_store {
    ($store:ty) => {
        impl TextStore for $store {
            fn write_command(&self, command: &Command) -> Option<tree::Result<()>> {
                Some(match command {
                    Command::Put { key, value } => self.put(key, value),
                    Command::Delete { key } => self.delete(key),
                    Command::Merge { key, operand } => self.merge(key, operand),
                    Command::SingleDelete { key } => self.single_delete(key),
                    Command::DeleteRange { low, high } => self.delete_range(low, high),
                    Command::Get { .. }
                    | Command::Range { .. }
                    | Command::Load { .. }
                    | Command::Statistics => {
                        return None;
                    }
                })
            }

            fn get_into(&self, key: &[u8], value: &mut Vec<u8>) -> tree::Result<bool> {
                <$store>::get_into(self, key, value)
            }

            fn scan(&self, low: &[u8], high: &[u8]) -> tree::Result<Range<'_>> {
                self.range((Bound::Included(low), Bound::Excluded(high)))
            }

            fn stats(&self) -> Stats {
                <$store>::stats(self)
            }
        }
    };
}

text_store!(Tree);
text_store!(Family<'_>);

/// Appends the entries from `low` (inclusive) to `high` (exclusive) as `key:value`, separated by blanks.
///
/// # Errors
/// The tree cannot be read, or the answer would be longer than the limit.
fn range(
    store: &dyn TextStore,
    (low, high): (&[u8], &[u8]),
    limit_bytes: usize,
    answer: &mut Vec<u8>,
) -> Result<(), TextError> {
    let start = answer.len();
    let mut range = store.scan(low, high)?;
    while let Some((key, value)) = range.next()? {
        if answer.len() > start {
            answer.push(b' ');
        }
        answer.extend_from_slice(key);
        answer.push(b':');
        answer.extend_from_slice(value);
        if answer.len() - start > limit_bytes {
            return Err(TextError::TooLong(limit_bytes));
        }
    }
    Ok(())
}

/// Appends the statistics of the tree as text.
fn statistics(store: &dyn TextStore, answer: &mut Vec<u8>) {
    let stats = store.stats();
    let mut lines: Vec<String> = Vec::new();
    for (number, level) in stats.levels.iter().enumerate() {
        lines.push(format!(
            "level {number}: {} runs, {} tables, {} entries, {} tombstones, {} bytes",
            level.runs, level.tables, level.entries, level.tombstones, level.file_bytes
        ));
    }
    lines.push(format!(
        "memory: memtables {} bytes, filters {} bytes, fences {} bytes, cache {} bytes",
        stats.memtable_bytes, stats.filter_bytes, stats.fence_bytes, stats.cache_bytes
    ));
    let counts = stats.counts.iter().filter(|(_, count)| *count > 0);
    lines.extend(counts.map(|(name, count)| format!("{name}: {count}")));
    answer.extend_from_slice(lines.join("\n").as_bytes());
}
