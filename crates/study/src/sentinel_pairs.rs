//! Block format of fixed-size pairs in which the value `INT_MAX` marks a tombstone, as in the published system csc443.
//!
//! Source: sections 4.1.1 and 4.3.1 of the document. A delete writes the value `INT_MAX`, and a compaction drops pairs
//! with this value. A tombstone therefore takes as many bytes as a pair, and a page with tombstones stays a page of
//! pairs. In the document, a put of `INT_MAX` is a delete (contradiction T9 in the report). In this crate, the write
//! path marks tombstones with a flag, so every value can be stored. A block with a put of `INT_MAX`, or with a value
//! that does not have four bytes, gets the layout of a B-tree page ("btree-page"). All other blocks have the layout of
//! "fixed-pairs".

use catalog::{Variant, origin};
use tree::block::{BlockFormat, Entries, SENTINEL};

use crate::fixed_pairs::{FixedPairs, Form};

/// The block format `sentinel-pairs`: the leaves of the static B-tree of the published system csc443, in which a
/// special value marks a tombstone.
pub static VARIANT: Variant<dyn BlockFormat> = Variant::<dyn BlockFormat>::plain(
    "sentinel-pairs",
    "like \"fixed-pairs\", but values have 4 bytes, and the value INT_MAX marks a tombstone (csc443)",
    || Box::new(FixedPairs::new(FORM)),
)
.from(origin!());

/// The version of the pair format in which tombstones are pairs with a special value.
const FORM: Form = Form { code: 4, entries: Entries::SentinelPairs, tombstone: Some(&SENTINEL) };

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use tree::BlockOptions;
    use tree::block::{BlockBuilder, CATALOG, Found, find};
    use types::{Entry, HashedKey, KeyHash};

    use super::*;
    use crate::testing::register;

    /// Returns the format from its catalog.
    fn format() -> &'static dyn BlockFormat {
        static FORMAT: LazyLock<Box<dyn BlockFormat>> = LazyLock::new(|| {
            register();
            CATALOG.build(&VARIANT.default_choice()).unwrap()
        });
        &**FORMAT
    }

    /// Builds a block of pairs in which every third key is deleted and one key has another value.
    fn block(other: Option<&'static [u8]>) -> (Vec<Option<Vec<u8>>>, Vec<u8>) {
        let value = |number: u32| match number {
            50 => other.map(<[u8]>::to_vec),
            _ => (!number.is_multiple_of(3)).then(|| number.to_le_bytes().to_vec()),
        };
        let values: Vec<Option<Vec<u8>>> = (0..200).map(value).collect();
        let mut builder = BlockBuilder::new(format(), &BlockOptions::default());
        for (number, value) in (0u32..).zip(&values) {
            builder.add(Entry { key: &number.to_be_bytes(), value: value.as_deref() }, KeyHash(0));
        }
        (values, builder.finish(<[u8]>::to_vec))
    }

    #[test]
    fn a_tombstone_is_the_value_int_max() {
        let (_, block) = block(None);
        // Two sizes, 200 pairs, and a mark.
        assert_eq!(block.len(), 2 + 200 * 8 + 1);
        assert_eq!(block[2..][50 * 8 + 4..][..4], [0xff, 0xff, 0xff, 0x7f]);
    }

    #[test]
    fn int_max_and_other_values_can_be_stored_all_the_same() {
        for other in
            [None, Some(&[1, 2, 3, 4][..]), Some(&SENTINEL[..]), Some(b"longer than an int"), Some(b"")]
        {
            let (values, block) = block(other);
            for (number, value) in (0u32..).zip(&values) {
                let key = number.to_be_bytes();
                let found = find(&block, HashedKey { bytes: &key, hash: KeyHash(0) }).unwrap();
                match value {
                    None => assert_eq!(found, Found::Tombstone, "{other:?}"),
                    Some(value) => {
                        assert!(
                            matches!(found, Found::Value(place) if block[place.clone()] == value[..]),
                            "{other:?}"
                        );
                    }
                }
            }
        }
    }
}
