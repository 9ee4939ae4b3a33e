//! Implements the Redis commands for hashes.

use super::failure::Failure;
use super::pipeline::Request;
use super::replies::Replies;
use super::strings::integer;
use super::transaction::Transaction;
use crate::keyspace::Keyspace;
use crate::names::{MAX_FIELD_BYTES, field_key, string_key};
use crate::view::{View, fields_of};

/// `HGET name field`: returns the value of a field, or null.
pub(crate) fn hget(view: &dyn View, request: Request<'_>, replies: &mut Replies<'_>) -> Result<(), Failure> {
    let value = read(view, request.argument(1), request.argument(2))?;
    replies.value(value.as_deref());
    Ok(())
}

/// `HEXISTS name field`: returns 1 if the field exists, otherwise 0.
pub(crate) fn hexists(
    view: &dyn View,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let value = read(view, request.argument(1), request.argument(2))?;
    replies.integer(i64::from(value.is_some()));
    Ok(())
}

/// `HMGET name field…`: returns the value of each field, or null for a field that does not exist.
pub(crate) fn hmget(view: &dyn View, request: Request<'_>, replies: &mut Replies<'_>) -> Result<(), Failure> {
    let name = request.argument(1);
    let keys: Vec<_> = request.arguments(2).map(|field| field_key(name, field)).collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).filter(|key| is_short(key)).collect();
    if keys.len() < request.len() - 2 {
        return Err(field_too_long());
    }
    replies.array(keys.len());
    let mut found = 0;
    if view.may_have_hashes() {
        view.get_many(&keys, &mut |value| {
            found += usize::from(value.is_some());
            replies.value(value);
            replies.has_room()
        })?;
    } else {
        keys.iter().for_each(|_| replies.null());
    }
    if found == 0 {
        refuse_string(view, name)?;
    }
    Ok(())
}

/// `HLEN name`: returns the number of fields of a hash.
pub(crate) fn hlen(view: &dyn View, request: Request<'_>, replies: &mut Replies<'_>) -> Result<(), Failure> {
    let fields = fields_of(view, request.argument(1))?;
    if fields.is_none() {
        refuse_string(view, request.argument(1))?;
    }
    replies.count(fields.unwrap_or(0));
    Ok(())
}

/// `HGETALL name`: returns all fields of a hash with their values.
pub(crate) fn hgetall(
    keyspace: &Keyspace,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let place = replies.open();
    let fields = write_fields(keyspace, request, replies, |replies, field, value| {
        replies.bulk(field);
        replies.bulk(value);
    })?;
    replies.close_map(place, fields);
    Ok(())
}

/// `HKEYS name`: returns all fields of a hash.
pub(crate) fn hkeys(
    keyspace: &Keyspace,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let place = replies.open();
    let fields = write_fields(keyspace, request, replies, |replies, field, _| replies.bulk(field))?;
    replies.close_array(place, fields);
    Ok(())
}

/// `HVALS name`: returns the values of all fields of a hash.
pub(crate) fn hvals(
    keyspace: &Keyspace,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let place = replies.open();
    let fields = write_fields(keyspace, request, replies, |replies, _, value| replies.bulk(value))?;
    replies.close_array(place, fields);
    Ok(())
}

/// Calls `write` with each field and value of a hash, and returns the number of fields.
fn write_fields(
    keyspace: &Keyspace,
    request: Request<'_>,
    replies: &mut Replies<'_>,
    write: impl Fn(&mut Replies<'_>, &[u8], &[u8]),
) -> Result<usize, Failure> {
    let name = request.argument(1);
    let mut fields = 0;
    let found = keyspace.visit_fields(name, |field, value| {
        write(replies, field, value);
        fields += 1;
        replies.has_room()
    })?;
    if found.is_none() {
        refuse_string(keyspace, name)?;
    }
    Ok(fields)
}

/// Returns the value of a field of a hash. Returns `None` if the field does not exist.
fn read(view: &dyn View, name: &[u8], field: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
    let key = field_key(name, field);
    if !is_short(&key) {
        return Err(field_too_long());
    }
    let value = if view.may_have_hashes() { view.get(&key)? } else { None };
    if value.is_none() {
        refuse_string(view, name)?;
    }
    Ok(value)
}

/// Returns an error if `name` is the name of a string.
fn refuse_string(view: &dyn View, name: &[u8]) -> Result<(), Failure> {
    match view.get(&string_key(name))?.is_some() {
        true => Err(Failure::WRONG_TYPE),
        false => Ok(()),
    }
}

fn is_short(key: &[u8]) -> bool {
    key.len() <= types::MAX_KEY_BYTES
}

fn field_too_long() -> Failure {
    Failure::error(format!(
        "the name and the field of a hash may have at most {MAX_FIELD_BYTES} bytes together"
    ))
}

/// `HSET name field value…`: sets fields of a hash, and returns the number of new fields.
pub(crate) fn hset(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let added = put_fields(transaction, request, "hset")?;
    replies.count(added);
    Ok(())
}

/// `HMSET name field value…`: sets fields of a hash.
pub(crate) fn hmset(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    put_fields(transaction, request, "hmset")?;
    replies.ok();
    Ok(())
}

/// `HSETNX name field value`: sets a field of a hash if the field does not exist. Returns 1 if the field was set,
/// otherwise 0.
pub(crate) fn hsetnx(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let (name, field) = (request.argument(1), request.argument(2));
    check_fields(name, [field].into_iter())?;
    transaction.hash(name)?;
    let is_new = transaction.get(&field_key(name, field))?.is_none();
    if is_new {
        put_fields(transaction, request, "hsetnx")?;
    }
    replies.integer(i64::from(is_new));
    Ok(())
}

/// `HINCRBY name field increment`: adds a whole number to the value of a field, and returns the sum.
pub(crate) fn hincrby(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let (name, field) = (request.argument(1), request.argument(2));
    let increment = integer(request.argument(3))?;
    check_fields(name, [field].into_iter())?;
    let fields = transaction.hash(name)?;
    let key = field_key(name, field);
    let value = transaction.get(&key)?;
    let before = value
        .as_ref()
        .map_or(Ok(0), |value| integer(value).map_err(|_| Failure::error("hash value is not an integer")))?;
    let after = before
        .checked_add(increment)
        .ok_or_else(|| Failure::error("increment or decrement would overflow"))?;
    transaction.put(&key, after.to_string().as_bytes())?;
    if value.is_none() {
        transaction.set_fields(name, fields, fields.unwrap_or(0) + 1)?;
    }
    replies.integer(after);
    Ok(())
}

/// `HDEL name field…`: deletes fields of a hash, and returns how many of the fields existed.
pub(crate) fn hdel(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let name = request.argument(1);
    check_fields(name, request.arguments(2))?;
    let before = transaction.hash(name)?;
    let mut removed = 0;
    if let Some(fields) = before {
        for field in request.arguments(2) {
            let key = field_key(name, field);
            if transaction.get(&key)?.is_some() {
                transaction.delete(&key)?;
                removed += 1;
            }
        }
        if removed > 0 {
            transaction.set_fields(name, before, fields.saturating_sub(removed))?;
        }
    }
    replies.count(removed);
    Ok(())
}

/// Sets the fields of a hash that a request lists, and returns the number of new fields.
fn put_fields(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    command: &str,
) -> Result<u64, Failure> {
    if !request.len().is_multiple_of(2) {
        return Err(Failure::arguments(command));
    }
    let name = request.argument(1);
    check_fields(name, request.arguments(2).step_by(2))?;
    let before = transaction.hash(name)?;
    let mut added = 0;
    for place in (2..request.len()).step_by(2) {
        let key = field_key(name, request.argument(place));
        added += u64::from(transaction.get(&key)?.is_none());
        transaction.put(&key, request.argument(place + 1))?;
    }
    if added > 0 {
        transaction.set_fields(name, before, before.unwrap_or(0) + added)?;
    }
    Ok(added)
}

/// Returns an error if the name of the hash and the name of a field together are too long.
fn check_fields<'a>(name: &[u8], mut fields: impl Iterator<Item = &'a [u8]>) -> Result<(), Failure> {
    match fields.any(|field| name.len() + field.len() > MAX_FIELD_BYTES) {
        true => Err(field_too_long()),
        false => Ok(()),
    }
}
