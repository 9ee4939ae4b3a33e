//! A selector that chooses a codec by the content of a block: text, binary data, or already compressed data.
//!
//! Source: the choice "by block content" in the document of the published system cs265 (section 2.7.4). The fraction of
//! printable bytes and the entropy of the first 4 KiB of a block determine its kind of content. If a block is of none
//! of these kinds, the level of the SSTable selects a codec of the parameter `levels`, as in the document.

use std::marker::PhantomData;
use std::sync::Arc;

use catalog::{Build, CatalogHandle, Variant};
use serde::{Deserialize, Serialize};

use crate::compression::{Compression, CorruptBlock, RAW};
use crate::dictionaries::Dictionaries;
use crate::entropy;
use crate::picked::{self, Picked};

/// Creates the variant `by-content`, which selects among codecs of the catalog `C`.
pub(crate) const fn variant<C: CatalogHandle<dyn Compression>>() -> Variant<dyn Compression> {
    Variant::new::<Builder<C>>(
        "by-content",
        "a dense codec for text, a fast codec for other bytes, and no codec for data that is already \
         compressed",
        "# Codec of blocks with at least 85 % printable characters.\n\
         text = \"zstd(level=3)\"\n\
         # Codec of blocks that are binary, unless their entropy is above 7.5 bits per byte.\n\
         binary = \"lz4\"\n\
         # Share of printable characters below which a block is binary, 0 to 0.85. If this value is below 0.85,\n\
         # blocks with a share from this value to 85 % use the codecs in `levels`.\n\
         binary_below = 0.85\n\
         # Codecs of blocks between text and binary, on level 0, level 1 and so on. The last codec applies to\n\
         # all deeper levels. Set this list only if `binary_below` is below 0.85.\n\
         levels = []\n",
    )
    .selector()
}

/// The smallest fraction of printable bytes in a text block.
const TEXT_SHARE: f64 = 0.85;

/// The entropy in bits per byte above which a block counts as already compressed.
const COMPRESSED_BITS: f64 = 7.5;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, bound = "C: CatalogHandle<dyn Compression>")]
struct Params<C> {
    text: Picked<C>,
    binary: Picked<C>,
    binary_below: f64,
    levels: Vec<Picked<C>>,
}

impl<C: CatalogHandle<dyn Compression>> Default for Params<C> {
    fn default() -> Self {
        let (text, binary) = (Picked::of("zstd"), Picked::of("lz4"));
        Self { text, binary, binary_below: TEXT_SHARE, levels: Vec::new() }
    }
}

/// A selector by the content of blocks, with a codec for each kind of content.
struct ByContent {
    /// The codec for text, and the codec for binary blocks.
    codecs: [Arc<dyn Compression>; 2],
    /// The fraction of printable bytes below which a block counts as binary.
    binary_below: f64,
    /// The codecs for blocks that are neither text nor binary, one for each level of the tree from level 0 on. The list
    /// is not empty.
    levels: Vec<Arc<dyn Compression>>,
}

impl ByContent {
    /// Returns all codecs that can compress blocks of a level: the codec for text, the codec for binary blocks, and the
    /// codec for other blocks of this level.
    fn codecs_at(&self, level: usize) -> [Arc<dyn Compression>; 3] {
        let [text, binary] = self.codecs.each_ref().map(Arc::clone);
        [text, binary, Arc::clone(&self.levels[level.min(self.levels.len() - 1)])]
    }
}

/// Builds the selector `by-content`, which selects among codecs of the catalog `C`.
struct Builder<C>(PhantomData<C>);

impl<C: CatalogHandle<dyn Compression>> Build<dyn Compression> for Builder<C> {
    type Params = Params<C>;

    fn build(params: Params<C>) -> Result<Box<dyn Compression>, String> {
        let Params { text, binary, binary_below, levels } = params;
        if !(0.0..=TEXT_SHARE).contains(&binary_below) {
            return Err(format!("binary_below is {binary_below}; it must be 0 to {TEXT_SHARE}"));
        }
        if levels.is_empty() != (binary_below == TEXT_SHARE) {
            let some = if levels.is_empty() { "some" } else { "no" };
            return Err(format!(
                "with `binary_below` = {binary_below}, {some} blocks need the codecs in `levels`; set `levels` \
                 together with a `binary_below` below {TEXT_SHARE}, or set neither"
            ));
        }
        let mut levels = levels.iter().map(Picked::build).collect::<Result<Vec<_>, _>>()?;
        if levels.is_empty() {
            levels.push(Picked::<C>::of("none").build()?);
        }
        Ok(Box::new(ByContent { codecs: [text.build()?, binary.build()?], binary_below, levels }))
    }
}

impl Compression for ByContent {
    fn tag(&self) -> Option<u8> {
        None
    }

    fn compress(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        let [text, binary, other] = self.codecs_at(level);
        let text_share = entropy::text_share(block);
        if text_share >= TEXT_SHARE {
            text.compress(level, block, out)
        } else if entropy::bits_per_byte(block) > COMPRESSED_BITS {
            out.extend_from_slice(block);
            RAW
        } else if text_share < self.binary_below {
            binary.compress(level, block, out)
        } else {
            other.compress(level, block, out)
        }
    }

    fn decompress(&self, _: &[u8], _: &mut [u8]) -> Result<(), CorruptBlock> {
        Err(CorruptBlock::of_selector())
    }

    fn sample_bytes(&self, level: usize) -> usize {
        picked::sample_bytes(&self.codecs_at(level), level)
    }

    fn foreign_bytes(&self, level: usize) -> usize {
        picked::foreign_bytes(&self.codecs_at(level), level)
    }

    fn learn(
        &self,
        level: usize,
        samples: &[&[u8]],
        dictionaries: &mut Dictionaries,
    ) -> Option<Arc<dyn Compression>> {
        let [text, binary, other] = picked::learn(&self.codecs_at(level), level, samples, dictionaries)?;
        // An SSTable stays on the level for which it was written, so the learnt codec needs only this level.
        Some(Arc::new(Self { codecs: [text, binary], binary_below: self.binary_below, levels: vec![other] }))
    }
}

#[cfg(test)]
mod tests {
    use toml::Value;

    use super::*;

    #[test]
    fn content_decides() {
        let codec = Builder::<crate::Codecs>::build(Params::default()).unwrap();
        let tag = |block: &[u8]| codec.compress(0, block, &mut Vec::new());
        let random: Vec<u8> =
            (0..4096u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u8).collect();
        assert_eq!(tag(&b"a line of text\n".repeat(100)), 3);
        assert_eq!(tag(&[0, 1, 2, 200].repeat(100)), 1);
        assert_eq!(tag(&random), RAW);
    }

    #[test]
    fn a_level_table_has_the_last_word() {
        let label = r#"by-content(binary_below=0.3, levels=["none", "snappy", "zstd"])"#;
        let codec = crate::CATALOG.build(&crate::CATALOG.choose(&Value::from(label)).unwrap()).unwrap();
        let tags = |block: &[u8]| [0, 1, 2, 5].map(|level| codec.compress(level, block, &mut Vec::new()));
        assert_eq!(tags(&b"a line of text\n".repeat(100)), [3; 4], "text");
        assert_eq!(tags(&[0, 1, 2, 200].repeat(100)), [1; 4], "binary");
        assert_eq!(tags(&b"half\0\x01\x02\x03".repeat(100)), [0, 2, 3, 3], "half of the bytes are printable");
    }

    #[test]
    fn a_level_table_without_blocks_is_refused() {
        for (label, named) in [
            (r#"by-content(levels=["lz4"])"#, "no blocks need the codecs in `levels`"),
            ("by-content(binary_below=0.5)", "some blocks need the codecs in `levels`"),
            (r#"by-content(binary_below=0.9, levels=["lz4"])"#, "must be 0 to 0.85"),
        ] {
            let error = crate::CATALOG.choose(&Value::from(label)).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
