//! The execution of one command of the text language.

use std::ops::Bound;

use thiserror::Error;
use tree::Tree;
use workload::Command;

/// Executes a command and appends its answer to `answer`. Some commands produce no answer. Each answer is one line,
/// but the answer with statistics has several lines. A command that fails appends nothing. `limit_bytes` is the size
/// limit for one answer.
///
/// The tree fails, or the answer is longer than the limit. The command `l` is an error, because the server does not
/// read files.
/// read files.
pub fn answer_command(
    tree: &Tree,
    command: &Command,
    limit_bytes: usize,
    answer: &mut Vec<u8>,
) -> Result<(), TextError> {
    let start = answer.len();
    let written = match command {
        Command::Put { key, value } => return Ok(tree.put(key, value)?),
        Command::Delete { key } => return Ok(tree.delete(key)?),
        Command::Merge { key, operand } => return Ok(tree.merge(key, operand)?),
        Command::SingleDelete { key } => return Ok(tree.single_delete(key)?),
        Command::DeleteRange { low, high } => return Ok(tree.delete_range(low, high)?),
        Command::Get { key } => tree.get_into(key, answer).map(|_| ()).map_err(TextError::from),
        Command::Range { low, high } => range(tree, (low, high), limit_bytes, answer),
        Command::Statistics => {
            statistics(tree, answer);
            Ok(())
        }
        Command::Load { .. } => Err(TextError::Load),
    };
    match written {
        Ok(()) => answer.push(b'\n'),
        Err(_) => answer.truncate(start),
    }
    written
}

/// The reason why a command fails.
#[derive(Debug, Error)]
pub enum TextError {
    /// The store returned an error.
    #[error(transparent)]
    Tree(#[from] tree::Error),
    /// The answer is longer than the limit.
    #[error("the answer has more than {0} bytes; request a shorter range")]
    TooLong(usize),
    /// The command `l`, because the server does not load files.
    #[error("a server reads no files; send the pairs as `p KEY VALUE`")]
    Load,
}

/// Appends the keys from `low` (included) to `high` (excluded) with their values, as `key:value` with blanks in
/// between.
fn range(
    tree: &Tree,
    (low, high): (&[u8], &[u8]),
    limit_bytes: usize,
    answer: &mut Vec<u8>,
) -> Result<(), TextError> {
    let start = answer.len();
    let mut range = tree.range((Bound::Included(low), Bound::Excluded(high)))?;
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

/// Appends the sizes and the counters of the tree.
fn statistics(tree: &Tree, answer: &mut Vec<u8>) {
    let stats = tree.stats();
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
