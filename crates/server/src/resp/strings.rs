//! Implements the Redis commands for strings.

use super::failure::Failure;
use super::pipeline::Request;
use super::replies::Replies;
use super::transaction::{Transaction, string_of};
use crate::keyspace::Keyspace;
use crate::names::string_key;
use crate::stripes::Access;
use crate::view::{View, kind_of};

/// Returns the access of a command that sets names (Redis keys) without reading them, so that its locks may be shared.
pub(crate) fn blind(_: Request<'_>) -> Access {
    Access::Blind
}

/// Returns the access of a command that reads the names (Redis keys) that it writes, so that its locks must be
/// exclusive.
pub(crate) fn exclusive(_: Request<'_>) -> Access {
    Access::Exclusive
}

/// Returns how a `SET` request accesses its name. Without options, it sets the name without reading it.
pub(crate) fn access_of_set(request: Request<'_>) -> Access {
    if request.len() == 3 { Access::Blind } else { Access::Exclusive }
}

/// `GET name`: returns the value of a string, or null.
pub(crate) fn get(view: &dyn View, request: Request<'_>, replies: &mut Replies<'_>) -> Result<(), Failure> {
    let value = string_of(view, request.argument(1))?;
    replies.value(value.as_deref());
    Ok(())
}

/// `STRLEN name`: returns the length of a string in bytes; 0 if the name does not exist.
pub(crate) fn strlen(
    view: &dyn View,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let value = string_of(view, request.argument(1))?;
    replies.count(value.map_or(0, |value| value.len()) as u64);
    Ok(())
}

/// `MGET name…`: returns the value of each string, or null for a name that is not a string.
pub(crate) fn mget(view: &dyn View, request: Request<'_>, replies: &mut Replies<'_>) -> Result<(), Failure> {
    let keys: Vec<_> = request.arguments(1).map(string_key).collect();
    let keys: Vec<&[u8]> = keys.iter().map(|key| &**key).collect();
    replies.array(keys.len());
    view.get_many(&keys, &mut |value| {
        replies.value(value);
        replies.has_room()
    })?;
    Ok(())
}

/// `RANGE low high [LIMIT count] [REV]`: returns the strings with `low <= name < high` and their values. An empty
/// `high` means that the range has no end.
pub(crate) fn range(
    keyspace: &Keyspace,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let (low, high) = (request.argument(1), request.argument(2));
    let (mut limit, mut is_backward) = (usize::MAX, false);
    let mut options = request.arguments(3);
    while let Some(option) = options.next() {
        if option.eq_ignore_ascii_case(b"LIMIT") {
            let count = options.next().ok_or(Failure::SYNTAX)?;
            limit = usize::try_from(integer(count)?).map_err(|_| Failure::NO_INTEGER)?;
        } else if option.eq_ignore_ascii_case(b"REV") {
            is_backward = true;
        } else {
            return Err(Failure::SYNTAX);
        }
    }
    let place = replies.open();
    let mut entries = 0;
    if limit > 0 {
        let high = Some(high).filter(|high| !high.is_empty());
        keyspace.visit_strings(low, high, is_backward, &mut |name, value| {
            replies.bulk(name);
            replies.bulk(value);
            entries += 1;
            entries < limit && replies.has_room()
        })?;
    }
    replies.close_array(place, 2 * entries);
    Ok(())
}

/// `SET name value [NX | XX] [GET] [KEEPTTL]`: sets a string. With `NX`, sets the string only if the name does not
/// exist. With `XX`, sets the string only if the name exists. With `GET`, the reply is the old value. `KEEPTTL` has no
/// effect.
pub(crate) fn set(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let (name, value) = (request.argument(1), request.argument(2));
    let (mut must_exist, mut returns_old) = (None, false);
    for option in request.arguments(3) {
        match &*option.to_ascii_uppercase() {
            b"NX" if must_exist.is_none() => must_exist = Some(false),
            b"XX" if must_exist.is_none() => must_exist = Some(true),
            b"GET" => returns_old = true,
            b"KEEPTTL" => {}
            b"EX" | b"PX" | b"EXAT" | b"PXAT" => {
                return Err(Failure::error(
                    "this server does not support the expiry of keys; leave out EX, PX, EXAT and PXAT",
                ));
            }
            _ => return Err(Failure::SYNTAX),
        }
    }
    let old = if returns_old { transaction.string(name)? } else { None };
    let is_set = match must_exist {
        None => true,
        Some(must_exist) => kind_of(transaction, name)?.is_some() == must_exist,
    };
    if is_set {
        transaction.set_string(name, value)?;
    }
    match (returns_old, is_set) {
        (true, _) => replies.value(old.as_deref()),
        (false, true) => replies.ok(),
        (false, false) => replies.null(),
    }
    Ok(())
}

/// `SETNX name value`: sets a string if the name does not exist. Returns 1 if the string was set, otherwise 0.
pub(crate) fn setnx(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let is_new = kind_of(transaction, request.argument(1))?.is_none();
    if is_new {
        transaction.set_string(request.argument(1), request.argument(2))?;
    }
    replies.integer(i64::from(is_new));
    Ok(())
}

/// `GETSET name value`: sets a string, and returns the old value.
pub(crate) fn getset(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let old = transaction.string(request.argument(1))?;
    transaction.set_string(request.argument(1), request.argument(2))?;
    replies.value(old.as_deref());
    Ok(())
}

/// `GETDEL name`: removes a string, and returns its value.
pub(crate) fn getdel(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let old = transaction.string(request.argument(1))?;
    if old.is_some() {
        transaction.remove(request.argument(1))?;
    }
    replies.value(old.as_deref());
    Ok(())
}

/// `APPEND name value`: appends bytes to a string, and returns the new length.
pub(crate) fn append(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let mut value = transaction.string(request.argument(1))?.unwrap_or_default();
    value.extend_from_slice(request.argument(2));
    transaction.set_string(request.argument(1), &value)?;
    replies.count(value.len() as u64);
    Ok(())
}

/// `MSET name value…`: sets several strings.
pub(crate) fn mset(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    if request.len().is_multiple_of(2) {
        return Err(Failure::arguments("mset"));
    }
    for place in (1..request.len()).step_by(2) {
        transaction.set_string(request.argument(place), request.argument(place + 1))?;
    }
    replies.ok();
    Ok(())
}

/// `INCR name`: adds 1 to the whole number in a string, and returns the sum.
pub(crate) fn incr(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    add(transaction, request.argument(1), 1, replies)
}

/// `DECR name`: subtracts 1 from the whole number in a string, and returns the difference.
pub(crate) fn decr(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    add(transaction, request.argument(1), -1, replies)
}

/// `INCRBY name increment`: adds a whole number to the number in a string, and returns the sum.
pub(crate) fn incrby(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    add(transaction, request.argument(1), integer(request.argument(2))?, replies)
}

/// `DECRBY name decrement`: subtracts a whole number from the number in a string, and returns the difference.
pub(crate) fn decrby(
    transaction: &mut Transaction<'_>,
    request: Request<'_>,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let increment = integer(request.argument(2))?.checked_neg().ok_or(Failure::NO_INTEGER)?;
    add(transaction, request.argument(1), increment, replies)
}

fn add(
    transaction: &mut Transaction<'_>,
    name: &[u8],
    increment: i64,
    replies: &mut Replies<'_>,
) -> Result<(), Failure> {
    let before = transaction.string(name)?.map_or(Ok(0), |value| integer(&value))?;
    let after = before
        .checked_add(increment)
        .ok_or_else(|| Failure::error("increment or decrement would overflow"))?;
    transaction.set_string(name, after.to_string().as_bytes())?;
    replies.integer(after);
    Ok(())
}

/// Parses a whole number as Redis does: without blanks, without a plus sign, and without leading zeros.
pub(crate) fn integer(text: &[u8]) -> Result<i64, Failure> {
    let number: Option<i64> = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.filter(|number| number.to_string().as_bytes() == text).ok_or(Failure::NO_INTEGER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_redis() {
        for (text, number) in [("0", 0), ("-1", -1), ("9223372036854775807", i64::MAX)] {
            assert_eq!(integer(text.as_bytes()).unwrap(), number);
        }
        for text in ["", "+1", "01", "1 ", "-0", "9223372036854775808", "1.5", "a"] {
            assert!(integer(text.as_bytes()).is_err(), "{text}");
        }
    }
}
