//! A codec by trial: every so many blocks both a light and a dense codec have a go, and the blocks up to the
//! next trial go to the one that paid.
//!
//! Blocks that hardly shrink under the light codec are stored as they are; the dense codec must save its margin
//! over the light one. The cs265 document (section 2.7.3) adapts to the load of the machine, which no run
//! repeats; this adapts to the data.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::compression::{Compression, DamagedBlock, RAW};
use crate::dictionaries::Dictionaries;
use crate::picked::{self, Picked};

pub(crate) const VARIANT: Variant<dyn Compression> = Variant::new::<Adaptive>(
    "adaptive",
    "the codec that paid on recent blocks: none, a light one, or a dense one",
    "# What the light codec must save of a block to be used, and the dense one beyond the light one: a share.\n\
     margin = 0.125\n\
     # Every how many blocks both have a go.\n\
     period = 64\n\
     light = \"lz4\"\n\
     dense = \"zstd(level=3)\"\n",
);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    margin: f64,
    period: u64,
    light: Picked,
    dense: Picked,
}

impl Default for Params {
    fn default() -> Self {
        Self { margin: 0.125, period: 64, light: Picked::of("lz4"), dense: Picked::of("zstd") }
    }
}

/// What the blocks up to the next trial get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pays {
    Nothing,
    Light,
    Dense,
}

impl Pays {
    const ALL: [Self; 3] = [Self::Nothing, Self::Light, Self::Dense];
}

/// The codecs, and what the last trial found.
struct Adaptive {
    margin: f64,
    period: u64,
    /// The light one and the dense one.
    codecs: [Arc<dyn Compression>; 2],
    blocks: AtomicU64,
    /// A place in [`Pays::ALL`].
    found: AtomicU8,
}

impl Build<dyn Compression> for Adaptive {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Compression>, String> {
        let Params { margin, period, light, dense } = params;
        if !(0.0..1.0).contains(&margin) {
            return Err(format!("margin is {margin}; it is a share of 0 to below 1"));
        }
        if period == 0 {
            return Err("period is 0; 1 tries both codecs on every block".to_owned());
        }
        Ok(Box::new(Self::new(margin, period, [light.build()?, dense.build()?])))
    }
}

impl Adaptive {
    /// One that has tried nothing yet.
    fn new(margin: f64, period: u64, codecs: [Arc<dyn Compression>; 2]) -> Self {
        let (blocks, found) = (AtomicU64::new(0), AtomicU8::new(Pays::Light as u8));
        Self { margin, period, codecs, blocks, found }
    }

    /// Has both codecs compress a block, keeps the better for it, and remembers which paid.
    fn try_both(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        let (mut light, mut dense) = (Vec::new(), Vec::new());
        let light_tag = self.codecs[0].compress(level, block, &mut light);
        let dense_tag = self.codecs[1].compress(level, block, &mut dense);
        let saves = |stored: &[u8], of: usize| stored.len() as f64 <= of as f64 * (1.0 - self.margin);
        let (pays, tag, stored) = if saves(&dense, light.len().min(block.len())) {
            (Pays::Dense, dense_tag, &dense[..])
        } else if saves(&light, block.len()) {
            (Pays::Light, light_tag, &light[..])
        } else {
            (Pays::Nothing, RAW, block)
        };
        self.found.store(pays as u8, Ordering::Relaxed);
        out.extend_from_slice(stored);
        tag
    }
}

impl Compression for Adaptive {
    fn tag(&self) -> Option<u8> {
        None
    }

    fn compress(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        if self.blocks.fetch_add(1, Ordering::Relaxed).is_multiple_of(self.period) {
            return self.try_both(level, block, out);
        }
        match Pays::ALL[usize::from(self.found.load(Ordering::Relaxed))] {
            Pays::Light => self.codecs[0].compress(level, block, out),
            Pays::Dense => self.codecs[1].compress(level, block, out),
            Pays::Nothing => {
                out.extend_from_slice(block);
                RAW
            }
        }
    }

    fn decompress(&self, _: &[u8], _: &mut [u8]) -> Result<(), DamagedBlock> {
        Err(DamagedBlock::of_selector())
    }

    fn sample_bytes(&self, level: usize) -> usize {
        picked::sample_bytes(&self.codecs, level)
    }

    fn learn(
        &self,
        level: usize,
        samples: &[&[u8]],
        dictionaries: &mut Dictionaries,
    ) -> Option<Arc<dyn Compression>> {
        let codecs = picked::learn(&self.codecs, level, samples, dictionaries)?;
        Some(Arc::new(Self::new(self.margin, self.period, codecs)))
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn what_paid_last_is_used_until_the_next_trial() {
        let codec = Adaptive::build(Params { period: 3, ..Params::default() }).unwrap();
        let text: Vec<u8> = (0..1000u32).flat_map(|i| (i * i % 1009).to_string().into_bytes()).collect();
        let mut random = vec![0; 4096];
        Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(&mut random);
        let tags: Vec<u8> = [&text, &text, &random, &random, &text, &text, &text]
            .map(|block| codec.compress(0, block, &mut Vec::new()))
            .into();
        assert_eq!(tags, [3, 3, RAW, RAW, RAW, RAW, 3]);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let zero = Adaptive::build(Params { period: 0, ..Params::default() });
        assert!(zero.err().unwrap().contains("period is 0"));
        let whole = Adaptive::build(Params { margin: 1.0, ..Params::default() });
        assert!(whole.err().unwrap().contains("margin is 1"));
    }
}
