//! Reads names in the tree, or in the tree together with the uncommitted writes of a batch. A name is a key of a
//! client.

use tree::Result;

use crate::names::{Kind, hash_key, string_key};

/// A state of the names of a server that a command reads.
pub(crate) trait View {
    /// Returns the value of a key of the tree.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Passes the values of many keys of the tree to `visit`, in the order of the keys and from one consistent
    /// snapshot, until `visit` returns `false`.
    fn get_many(&self, keys: &[&[u8]], visit: &mut dyn FnMut(Option<&[u8]>) -> bool) -> Result<()>;

    /// Returns whether hashes may exist. If no hash exists, names are not searched among the hashes.
    fn may_have_hashes(&self) -> bool;
}

/// Returns the number of fields of a hash, or `None` if no such hash exists.
pub(crate) fn fields_of(view: &dyn View, name: &[u8]) -> Result<Option<u64>> {
    if !view.may_have_hashes() {
        return Ok(None);
    }
    Ok(view.get(&hash_key(name))?.map(|count| read_count(&count)))
}

/// Returns the kind of a name (string or hash); `None` if no such name exists.
pub(crate) fn kind_of(view: &dyn View, name: &[u8]) -> Result<Option<Kind>> {
    match view.get(&string_key(name))? {
        Some(_) => Ok(Some(Kind::String)),
        None => Ok(fields_of(view, name)?.map(|_| Kind::Hash)),
    }
}

/// Reads the number of fields that the key of a hash stores.
pub(crate) fn read_count(value: &[u8]) -> u64 {
    value.try_into().map_or(0, u64::from_be_bytes)
}
