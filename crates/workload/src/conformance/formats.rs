//! The invariants of key formats. Each invariant is a function that checks one format.

use std::collections::HashSet;
use std::sync::Arc;

use catalog::laws::Invariant;

use crate::{KeyFormat, KeyId};

/// The key format that an invariant checks.
pub(crate) struct Subject(pub(crate) Arc<dyn KeyFormat>);

/// All invariants of key formats, each with its name.
pub(crate) const INVARIANTS: &[Invariant<Subject>] = &[
    ("different keys must have different bytes", keys_differ),
    ("`ordered` must return whether keys sort by their numbers", order_is_as_announced),
    ("absent keys must be between present keys", absent_keys_lie_between),
    ("`append_above` must add the span to the number of the key", sums_are_right),
];

/// Returns the sample of key indexes that the invariants check: the smallest indexes, and the largest indexes that the
/// format can encode.
fn sample(format: &dyn KeyFormat) -> Vec<u64> {
    let capacity = format.capacity();
    let first = capacity.min(3000);
    (0..first).chain((capacity - capacity.min(1000)).max(first)..capacity).collect()
}

fn key(format: &dyn KeyFormat, id: KeyId) -> Vec<u8> {
    let mut bytes = b"before".to_vec();
    format.append(id, &mut bytes);
    bytes.split_off(6)
}

/// Checks that different keys have different bytes, and that no key is empty or longer than
/// [`max_bytes`](KeyFormat::max_bytes). The checked keys include present keys and absent keys.
fn keys_differ(Subject(format): &Subject) -> Result<(), String> {
    let format = &**format;
    let mut seen = HashSet::new();
    for index in sample(format) {
        for id in [KeyId::present(index), KeyId::absent(index)] {
            let key = key(format, id);
            if key.is_empty() || key.len() > format.max_bytes() {
                return Err(format!(
                    "key {id:?} has {} bytes; a key must have from 1 to `max_bytes` = {} bytes",
                    key.len(),
                    format.max_bytes()
                ));
            }
            if !seen.insert(key) {
                return Err(format!("key {id:?} has the same bytes as another key"));
            }
        }
    }
    Ok(())
}

/// Checks that keys sort by their numbers if [`ordered`](KeyFormat::ordered) returns true, and only then.
fn order_is_as_announced(Subject(format): &Subject) -> Result<(), String> {
    let format = &**format;
    let ids = sample(format).into_iter().flat_map(|index| [KeyId::present(index), KeyId::absent(index)]);
    let keys: Vec<Vec<u8>> = ids.map(|id| key(format, id)).collect();
    if keys.is_sorted() == format.ordered() {
        Ok(())
    } else {
        let sort = if format.ordered() { "do not sort" } else { "sort" };
        Err(format!("`ordered` returns {}, but the sampled keys {sort} by their numbers", format.ordered()))
    }
}

/// Checks that absent keys sort between the smallest and the largest present key. Of 2000 absent keys, up to 10 may
/// be outside of this range.
fn absent_keys_lie_between(Subject(format): &Subject) -> Result<(), String> {
    let format = &**format;
    let present: Vec<Vec<u8>> = (0..2000).map(|index| key(format, KeyId::present(index))).collect();
    let Some((smallest, largest)) = present.iter().min().zip(present.iter().max()) else { return Ok(()) };
    let absent = (0..2000).map(|index| key(format, KeyId::absent(index)));
    let outside = absent.filter(|key| key < smallest || key > largest).count();
    if outside <= 10 {
        Ok(())
    } else {
        Err(format!(
            "{outside} of 2000 absent keys are not between the smallest and the largest present key; the \
             maximum is 10"
        ))
    }
}

/// Checks the key that [`append_above`](KeyFormat::append_above) writes for a key and a span. The result for a larger
/// span must never be a smaller key. With a span of 0, the result must be the key itself. With a span of 2 in an
/// ordered format, the result must be the next present key.
fn sums_are_right(Subject(format): &Subject) -> Result<(), String> {
    let format = &**format;
    if !format.has_numbers() {
        return Ok(());
    }
    for index in sample(format) {
        let above = |span: u32| {
            let mut key = Vec::new();
            format.append_above(KeyId::present(index), span, &mut key);
            key
        };
        let own = key(format, KeyId::present(index));
        let next = (index + 1 < format.capacity()).then(|| key(format, KeyId::present(index + 1)));
        let is_next = !format.ordered() || next.is_none_or(|next| above(2) == next);
        let spans = [0, 1, 2, 255, 256, 70_000, u32::MAX].map(above);
        if spans[0] != own || !is_next || !spans.is_sorted() || spans[1] <= own {
            return Err(format!(
                "key {index}, {own:?}: for the spans 0, 1, 2, 255, 256, 70000 and {}, `append_above` writes \
                 {spans:?}. Expected: span 0 gives the key itself, the keys ascend, and in an ordered \
                 format span 2 gives the next present key",
                u32::MAX
            ));
        }
    }
    Ok(())
}
