//! Reads names from the tree, and from the uncommitted writes of a batch. A name is what Redis calls a key: it
//! identifies a string or a hash.

use tree::Result;

use crate::names::{Kind, hash_key, string_key};

/// A consistent state of a database, from which commands read names (Redis keys).
pub(crate) trait View {
    /// Returns the value of a key in the tree.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Reads the values of `keys`, which are keys of the tree, from one consistent state. Passes each value to `visit`
    /// until it returns `false`. The value is `None` if the key is absent.
    fn get_many(&self, keys: &[&[u8]], visit: &mut dyn FnMut(Option<&[u8]>) -> bool) -> Result<()>;

    /// Returns whether the database may contain hashes. If not, commands need not check whether a name belongs to a
    /// hash.
    fn may_have_hashes(&self) -> bool;
}

/// Returns the number of fields of a hash. `None` if there is no hash with this name.
pub(crate) fn fields_of(view: &dyn View, name: &[u8]) -> Result<Option<u64>> {
    if !view.may_have_hashes() {
        return Ok(None);
    }
    Ok(view.get(&hash_key(name))?.map(|count| read_count(&count)))
}

/// Returns the kind of a name (a Redis key): string or hash. Returns `None` if the name does not exist.
pub(crate) fn kind_of(view: &dyn View, name: &[u8]) -> Result<Option<Kind>> {
    match view.get(&string_key(name))? {
        Some(_) => Ok(Some(Kind::String)),
        None => Ok(fields_of(view, name)?.map(|_| Kind::Hash)),
    }
}

/// Decodes the stored number of fields of a hash.
pub(crate) fn read_count(value: &[u8]) -> u64 {
    value.try_into().map_or(0, u64::from_be_bytes)
}
