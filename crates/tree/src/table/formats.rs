//! The catalog of block formats, and the layout of a block by the code in its footer.

use std::sync::LazyLock;

use catalog::Catalog;

use super::block_footer::BlockFooter;
use super::format::BlockFormat;
use super::layout::Layout;
use super::{btree_page, delta, fixed_pairs, plain};

/// All formats. The first is the baseline.
pub static CATALOG: Catalog<dyn BlockFormat> = Catalog::new(
    catalog::origin!(),
    "format",
    "how entries are laid out in a block; also written block.format",
    &[delta::VARIANT, plain::VARIANT, btree_page::VARIANT, fixed_pairs::VARIANT],
);

/// What finds the parts of a block of a format, given its footer.
type LayoutOf = fn(&[u8], &BlockFooter) -> Option<Layout>;

/// The formats of this crate by their codes in block footers, which never change their meaning.
static LAYOUTS: [LayoutOf; 4] = [delta::layout, plain::layout, btree_page::layout, fixed_pairs::layout];

/// The formats of the catalog that [`LAYOUTS`] does not have: those of other crates.
static OTHERS: LazyLock<Vec<Box<dyn BlockFormat>>> = LazyLock::new(|| {
    let formats = CATALOG.all().filter_map(|choice| CATALOG.build(&choice).ok());
    formats.filter(|format| usize::from(format.code()) >= LAYOUTS.len()).collect()
});

/// The layout of a block. `None` if the block has no valid footer, or its parts do not fit in it.
#[inline]
pub(super) fn layout_of(block: &[u8]) -> Option<Layout> {
    match BlockFooter::of(block) {
        Some(footer) => layout_behind(block, &footer),
        None => fixed_pairs::layout_of_marked(block),
    }
}

/// The layout of a block with this footer. `None` if the parts do not fit in the block.
#[inline]
pub(super) fn layout_behind(block: &[u8], footer: &BlockFooter) -> Option<Layout> {
    match footer.format {
        // Named here, so that it is compiled into the caller: each get reads a block of the default format.
        delta::CODE => delta::layout(block, footer),
        code => match LAYOUTS.get(usize::from(code)) {
            Some(layout) => layout(block, footer),
            None => OTHERS.iter().find(|format| format.code() == code)?.layout(block, footer),
        },
    }
}

#[cfg(test)]
pub(super) mod tests {
    use toml::Value;

    use super::*;
    use crate::design::BlockIndex;

    /// Every format of the catalog, and some with other parameters.
    pub(in super::super) fn formats() -> Vec<(String, Box<dyn BlockFormat>)> {
        let other = CATALOG.choose(&Value::from("plain(version=1)")).unwrap();
        let choices = CATALOG.all().chain([other]);
        choices.map(|choice| (choice.label(), CATALOG.build(&choice).unwrap())).collect()
    }

    #[test]
    fn the_catalog_keeps_its_laws() {
        catalog::laws::check(&CATALOG).unwrap();
        let error = CATALOG.choose(&Value::from("plain(version=3)")).unwrap_err();
        assert!(error.to_string().contains("cs265 prints 1 and 2"), "{error}");
    }

    #[test]
    fn every_format_has_a_code_of_its_own_and_built_in_codes_keep_their_meaning() {
        let code = |kind: &str| {
            let choice = CATALOG.choose(&Value::from(kind)).unwrap();
            CATALOG.build(&choice).unwrap().code()
        };
        assert_eq!(["delta", "plain", "btree-page", "fixed-pairs"].map(code), [0, 1, 2, 3]);
        let codes: Vec<u8> = CATALOG.all().map(|choice| code(choice.kind())).collect();
        let unique: std::collections::BTreeSet<u8> = codes.iter().copied().collect();
        assert_eq!(unique.len(), codes.len(), "two formats have one code: {codes:?}");
        assert!(codes.iter().all(|code| *code < 16), "a footer has four bits for a code: {codes:?}");
    }

    #[test]
    fn blocks_without_restart_points_or_of_unknown_formats_are_refused() {
        let block = |format: u8, restart_count: usize| {
            let footer =
                BlockFooter { format, restart_count, index: BlockIndex::None, index_at: 4, index_len: 0 };
            [&[0; 4][..], &footer.encode()].concat()
        };
        assert!(layout_of(&block(0, 1)).is_some());
        assert!(layout_of(&block(0, 0)).is_none());
        assert!((1..16).all(|format| layout_of(&block(format, 1)).is_none()));
    }
}
