//! Implements the Redis commands for names of both kinds, strings and hashes.

use super::failure::Failure;
use super::glob;
use super::pipeline::Request;
use super::replies::Replies;
use super::strings::integer;
use super::transaction::Transaction;
use crate::keyspace::Keyspace;
use crate::names::Kind;
use crate::view::{View, kind_of};

/// The number of names that one call of `SCAN` examines if the request has no `COUNT`.
const DEFAULT_COUNT: usize = 10;

/// The total size of examined names after which a call of `SCAN` ends, in bytes, regardless of its `COUNT`.
const SCAN_BYTES: usize = 1 << 20;

/// `EXISTS name…`: returns how many of the names (Redis keys) exist.
pub(crate) fn exists(
    view: &dyn View,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let mut count = 0;
    for name in request.arguments(1) {
        count += i64::from(kind_of(view, name)?.is_some());
    }
    replies.integer(count);
    Ok(())
}

/// `TYPE name`: returns the kind of a name: `string`, `hash` or `none`.
pub(crate) fn kind(view: &dyn View, request: Request<'_>, replies: &mut Replies<'_>) -> Result<(), Failure> {
    replies.simple(kind_of(view, request.argument(1))?.map_or("none", Kind::name));
    Ok(())
}

/// `DBSIZE`: returns the number of names (Redis keys) in the selected database.
pub(crate) fn dbsize(keyspace: &Keyspace, _: Request<'_>, replies: &mut Replies<'_>) -> Result<(), Failure> {
    replies.count(keyspace.count_names()?);
    Ok(())
}

/// `DEL name…`: removes names (Redis keys) with their values, and returns how many of the names existed.
pub(crate) fn del(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let mut removed = 0;
    for name in request.arguments(1) {
        removed += i64::from(transaction.remove(name)?);
    }
    replies.integer(removed);
    Ok(())
}

/// `SCAN cursor [MATCH pattern] [COUNT count] [TYPE kind]`: returns the next names (Redis keys), and the cursor for the
/// next call.
///
/// A scan returns each name exactly once, in the order of the tree. It may miss a name that is written during the scan.
pub(crate) fn scan(
    keyspace: &Keyspace,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let options = ScanOptions::read(request)?;
    let cursor = integer(request.argument(1)).map_err(|_| Failure::error("invalid cursor"))?;
    let start = match cursor {
        0 => Vec::new(),
        cursor => {
            let cursors = keyspace.cursors().lock();
            let position = u64::try_from(cursor).ok().and_then(|cursor| cursors.position(cursor));
            position.map(<[u8]>::to_vec).ok_or_else(|| {
                Failure::error(format!("cursor {cursor} is unknown or too old; start again with SCAN 0"))
            })?
        }
    };
    let (mut looked, mut bytes, mut position) = (0, 0, None);
    let mut found: Vec<Vec<u8>> = Vec::new();
    keyspace.visit_names(&start, |key, kind, name| {
        if looked == options.count || bytes >= SCAN_BYTES {
            position = Some(key.to_vec());
            return false;
        }
        looked += 1;
        bytes += name.len();
        if options.accepts(kind, name) {
            found.push(name.to_vec());
        }
        true
    })?;
    let next = position.map_or(0, |position| keyspace.cursors().lock().keep(position));
    replies.array(2);
    replies.bulk(next.to_string().as_bytes());
    replies.array(found.len());
    found.iter().for_each(|name| replies.bulk(name));
    Ok(())
}

/// The options of a `SCAN` request.
struct ScanOptions<'a> {
    pattern: Option<&'a [u8]>,
    count: usize,
    kind: Option<&'a [u8]>,
}

impl<'a> ScanOptions<'a> {
    fn read(request: Request<'a>) -> Result<Self, Failure> {
        let mut options = Self { pattern: None, count: DEFAULT_COUNT, kind: None };
        let mut arguments = request.arguments(2);
        while let Some(option) = arguments.next() {
            let value = arguments.next().ok_or(Failure::SYNTAX)?;
            match &*option.to_ascii_uppercase() {
                b"MATCH" => options.pattern = Some(value),
                b"TYPE" => options.kind = Some(value),
                b"COUNT" => match usize::try_from(integer(value)?) {
                    Ok(count) if count > 0 => options.count = count,
                    _ => return Err(Failure::SYNTAX),
                },
                _ => return Err(Failure::SYNTAX),
            }
        }
        Ok(options)
    }

    fn accepts(&self, kind: Kind, name: &[u8]) -> bool {
        self.kind.is_none_or(|wanted| wanted.eq_ignore_ascii_case(kind.name().as_bytes()))
            && self.pattern.is_none_or(|pattern| glob::matches(pattern, name))
    }
}
