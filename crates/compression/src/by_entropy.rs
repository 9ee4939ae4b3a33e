//! A selector that chooses a codec by the entropy of a block's first bytes. If these bytes look random, the block is
//! stored raw. Otherwise, a light codec compresses small blocks, and a dense codec compresses large blocks.
//!
//! Source: the choice "by data" in the document of the published system cs265 (section 2.7.3), which also contains the
//! default thresholds.

use std::marker::PhantomData;
use std::sync::Arc;

use catalog::{Build, ByteSize, CatalogHandle, Variant};
use serde::{Deserialize, Serialize};

use crate::compression::{Compression, CorruptBlock, RAW};
use crate::dictionaries::Dictionaries;
use crate::entropy;
use crate::picked::{self, Picked};

/// Creates the variant `by-entropy`, which selects among codecs of the catalog `C`.
pub(crate) const fn variant<C: CatalogHandle<dyn Compression>>() -> Variant<dyn Compression> {
    Variant::new::<Builder<C>>(
        "by-entropy",
        "no codec for blocks that look random, a fast codec for small blocks, dense codecs for large blocks",
        "# Entropy in bits per byte of a block's first 4 KiB above which the block is not compressed, 0 to 8.\n\
         most_bits = 7.5\n\
         # Three codecs: for blocks smaller than `small`, for blocks smaller than `large`, and for larger\n\
         # blocks.\n\
         codecs = [\"lz4\", \"zstd(level=3)\", \"zstd(level=10)\"]\n\
         # Block size below which the first codec is used.\n\
         small = \"8KiB\"\n\
         # Block size below which the second codec is used.\n\
         large = \"256KiB\"\n",
    )
    .selector()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, bound = "C: CatalogHandle<dyn Compression>")]
struct Params<C> {
    most_bits: f64,
    codecs: [Picked<C>; 3],
    small: ByteSize,
    large: ByteSize,
}

impl<C: CatalogHandle<dyn Compression>> Default for Params<C> {
    fn default() -> Self {
        Self {
            most_bits: 7.5,
            codecs: ["lz4", "zstd", "zstd(level=10)"].map(Picked::of),
            small: ByteSize(8 << 10),
            large: ByteSize(256 << 10),
        }
    }
}

/// A selector by the entropy of blocks, with its thresholds and one codec for each range of block sizes.
struct ByEntropy {
    most_bits: f64,
    limits: [u64; 2],
    codecs: [Arc<dyn Compression>; 3],
}

/// Builds the selector `by-entropy`, which selects among codecs of the catalog `C`.
struct Builder<C>(PhantomData<C>);

impl<C: CatalogHandle<dyn Compression>> Build<dyn Compression> for Builder<C> {
    type Params = Params<C>;

    fn build(params: Params<C>) -> Result<Box<dyn Compression>, String> {
        let Params { most_bits, codecs, small, large } = params;
        if !(0.0..=8.0).contains(&most_bits) {
            return Err(format!("most_bits is {most_bits}; it must be 0 to 8 bits per byte"));
        }
        if small.0 > large.0 {
            return Err(format!("small is {small} and large is {large}; small must not exceed large"));
        }
        let [below_small, below_large, others] = &codecs;
        let codecs = [below_small.build()?, below_large.build()?, others.build()?];
        Ok(Box::new(ByEntropy { most_bits, limits: [small.0, large.0], codecs }))
    }
}

impl Compression for ByEntropy {
    fn tag(&self) -> Option<u8> {
        None
    }

    fn compress(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        if entropy::bits_per_byte(block) > self.most_bits {
            out.extend_from_slice(block);
            return RAW;
        }
        let class = self.limits.iter().filter(|limit| block.len() as u64 >= **limit).count();
        self.codecs[class].compress(level, block, out)
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
        Some(Arc::new(Self { codecs, ..*self }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_entropy_decide() {
        let codec = Builder::<crate::Codecs>::build(Params::default()).unwrap();
        let tag = |block: &[u8]| codec.compress(0, block, &mut Vec::new());
        let random: Vec<u8> =
            (0..4096u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u8).collect();
        assert_eq!(tag(&[5; 4096]), 1);
        assert_eq!(tag(&[5; 8192]), 3);
        assert_eq!(tag(&random), RAW);
    }

    #[test]
    fn impossible_thresholds_are_refused() {
        let above = Params { most_bits: 9.0, ..Params::default() };
        assert!(Builder::<crate::Codecs>::build(above).err().unwrap().contains("0 to 8"));
        let crossed = Params { small: ByteSize(1 << 20), ..Params::default() };
        assert!(
            Builder::<crate::Codecs>::build(crossed).err().unwrap().contains("small must not exceed large")
        );
    }
}
