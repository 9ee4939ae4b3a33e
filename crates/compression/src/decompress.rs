//! Decompression by tag alone: any table can be read under any design.

use std::sync::LazyLock;

use crate::compression::{Compression, DamagedBlock};

/// The codec of each tag, from every variant of the catalog that has one.
static CODECS: LazyLock<Vec<(u8, Box<dyn Compression>)>> = LazyLock::new(|| {
    let catalog = &crate::CATALOG;
    let codecs = catalog.all().map(|choice| catalog.build(&choice).expect("defaults build"));
    codecs.filter_map(|codec| Some((codec.tag()?, codec))).collect()
});

/// Decompresses bytes that were stored under `tag` into `out`, whose length is the original one. Any
/// variant's output is read, under any parameters, since a tag never changes its meaning.
///
/// # Errors
/// If no codec has the tag, or the bytes do not decode to exactly that length; what `out` holds then is
/// undefined, but nothing outside of it was touched.
pub fn decompress(tag: u8, stored: &[u8], out: &mut [u8]) -> Result<(), DamagedBlock> {
    let codec = CODECS.iter().find(|(own, _)| *own == tag);
    let (_, codec) = codec.ok_or_else(|| DamagedBlock(format!("no codec has the tag {tag}")))?;
    codec.decompress(stored, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_tag_is_named() {
        assert!(decompress(200, b"", &mut []).unwrap_err().to_string().contains("tag 200"));
    }

    #[test]
    fn tags_on_disk_never_change() {
        let tags: Vec<u8> = CODECS.iter().map(|(tag, _)| *tag).collect();
        // None, lz4, snappy, zstd, lzma, bitpack, delta, dictionary; a new codec takes a new tag at the end.
        assert_eq!(tags, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
