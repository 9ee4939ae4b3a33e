//! A selector by the kind of content: text, other structured bytes, or already compressed bytes.
//!
//! The choice "by block content" of the cs265 document (section 2.7.4). The fraction of printable bytes and the entropy
//! of the first 4 KiB determine the kind of content.

use std::marker::PhantomData;
use std::sync::Arc;

use catalog::{Build, CatalogHandle, Variant};
use serde::{Deserialize, Serialize};

use crate::compression::{Compression, CorruptBlock, RAW};
use crate::dictionaries::Dictionaries;
use crate::entropy;
use crate::picked::{self, Picked};

/// The variant of the catalog `C`, which contains the codecs to choose from.
pub(crate) const fn variant<C: CatalogHandle<dyn Compression>>() -> Variant<dyn Compression> {
    Variant::new::<Builder<C>>(
        "by-content",
        "a dense codec for text, a fast codec for other bytes, and none for compressed data",
        "# Codec of blocks with at least 85 % printable characters.\n\
         text = \"zstd(level=3)\"\n\
         # Codec of other blocks, unless their entropy is above 7.5 bits per byte.\n\
         binary = \"lz4\"\n",
    )
    .selector()
}

/// The share of printable bytes at and above which a block is text.
const TEXT_SHARE: f64 = 0.85;

/// The entropy in bits per byte above which a block counts as already compressed.
const COMPRESSED_BITS: f64 = 7.5;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, bound = "C: CatalogHandle<dyn Compression>")]
struct Params<C> {
    text: Picked<C>,
    binary: Picked<C>,
}

impl<C: CatalogHandle<dyn Compression>> Default for Params<C> {
    fn default() -> Self {
        Self { text: Picked::of("zstd"), binary: Picked::of("lz4") }
    }
}

/// The codec for each kind of content.
struct ByContent {
    /// The codec for text, and the codec for other bytes.
    codecs: [Arc<dyn Compression>; 2],
}

/// A builder of the selector of the catalog `C`.
struct Builder<C>(PhantomData<C>);

impl<C: CatalogHandle<dyn Compression>> Build<dyn Compression> for Builder<C> {
    type Params = Params<C>;

    fn build(params: Params<C>) -> Result<Box<dyn Compression>, String> {
        Ok(Box::new(ByContent { codecs: [params.text.build()?, params.binary.build()?] }))
    }
}

impl Compression for ByContent {
    fn tag(&self) -> Option<u8> {
        None
    }

    fn compress(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        let [text, binary] = &self.codecs;
        if entropy::text_share(block) >= TEXT_SHARE {
            text.compress(level, block, out)
        } else if entropy::bits_per_byte(block) <= COMPRESSED_BITS {
            binary.compress(level, block, out)
        } else {
            out.extend_from_slice(block);
            RAW
        }
    }

    fn decompress(&self, _: &[u8], _: &mut [u8]) -> Result<(), CorruptBlock> {
        Err(CorruptBlock::of_selector())
    }

    fn sample_bytes(&self, level: usize) -> usize {
        picked::sample_bytes(&self.codecs, level)
    }

    fn foreign_bytes(&self, level: usize) -> usize {
        picked::foreign_bytes(&self.codecs, level)
    }

    fn learn(
        &self,
        level: usize,
        samples: &[&[u8]],
        dictionaries: &mut Dictionaries,
    ) -> Option<Arc<dyn Compression>> {
        let codecs = picked::learn(&self.codecs, level, samples, dictionaries)?;
        Some(Arc::new(Self { codecs }))
    }
}

#[cfg(test)]
mod tests {
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
}
