//! The catalog of block formats. The code in the footer of a block selects the format, which returns the layout.

use std::sync::LazyLock;

use catalog::Catalog;

use super::block_footer::BlockFooter;
use super::format::BlockFormat;
use super::layout::Layout;
use super::{btree_page, delta};

/// The catalog of all block formats. The first format is the baseline.
pub static CATALOG: Catalog<dyn BlockFormat> = Catalog::new(
    catalog::origin!(),
    "format",
    "the encoding of the entries in a block; block.format is a second name of this axis",
    &[delta::VARIANT, btree_page::VARIANT],
);

/// All block formats of the catalog that this crate does not implement, such as the formats of the crate `study`.
static OTHERS: LazyLock<Vec<Box<dyn BlockFormat>>> = LazyLock::new(|| {
    let formats = CATALOG.all().filter_map(|choice| CATALOG.build(&choice).ok());
    formats.filter(|format| ![delta::CODE, btree_page::CODE].contains(&format.code())).collect()
});

/// Returns the positions of the parts of a data block. Returns `None` if the block format is unknown or if the parts do
/// not fit in the block.
#[inline]
pub fn layout_of(block: &[u8]) -> Option<Layout> {
    match BlockFooter::of(block) {
        Some(footer) => layout_behind(block, &footer),
        None => layout_without_footer(block),
    }
}

/// Returns the positions of the parts of a data block whose footer is `footer`. Returns `None` if the parts do not fit
/// in the block.
#[inline]
pub(super) fn layout_behind(block: &[u8], footer: &BlockFooter) -> Option<Layout> {
    match footer.format {
        // The compiler can inline the code of a format that is named here. Inlining matters, because each get reads a
        // block of the default format.
        delta::CODE => delta::layout(block, footer),
        btree_page::CODE => btree_page::layout(block, footer),
        code => OTHERS.iter().find(|format| format.code() == code)?.layout(block, footer),
    }
}

/// Returns the positions of the parts of a data block without a footer. Returns `None` if no block format recognizes
/// the block.
#[inline(never)]
pub(super) fn layout_without_footer(block: &[u8]) -> Option<Layout> {
    OTHERS.iter().find_map(|format| format.layout_without_footer(block))
}

#[cfg(test)]
pub(super) mod tests {
    use toml::Value;

    use super::*;
    use crate::design::BlockIndex;

    /// Returns every format of the catalog with its label.
    pub(in super::super) fn formats() -> Vec<(String, Box<dyn BlockFormat>)> {
        CATALOG.all().map(|choice| (choice.label(), CATALOG.build(&choice).unwrap())).collect()
    }

    #[test]
    fn the_catalog_keeps_its_laws() {
        catalog::laws::check(&CATALOG).unwrap();
    }

    #[test]
    fn every_format_has_a_code_of_its_own_and_built_in_codes_keep_their_meaning() {
        let code = |kind: &str| {
            let choice = CATALOG.choose(&Value::from(kind)).unwrap();
            CATALOG.build(&choice).unwrap().code()
        };
        assert_eq!(["delta", "btree-page"].map(code), [0, 2]);
        let codes: Vec<u8> = CATALOG.all().map(|choice| code(choice.kind())).collect();
        let unique: std::collections::BTreeSet<u8> = codes.iter().copied().collect();
        assert_eq!(unique.len(), codes.len(), "two block formats have one code: {codes:?}");
        assert!(
            codes.iter().all(|code| *code < 16),
            "the code of each block format must have at most four bits: {codes:?}"
        );
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
