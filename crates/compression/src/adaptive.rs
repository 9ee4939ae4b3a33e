//! A selector that tries two codecs. In a trial, a light codec (fast) and a dense codec (small output) compress the
//! same block. The better codec then compresses all blocks until the next trial.
//!
//! A trial takes several times as long as one compression of the block. The selector therefore makes trials less often
//! while their results stay the same. If the light codec saves less than the fraction `margin`, blocks are stored raw.
//! The dense codec is used only if its output is smaller than that of the light codec by at least the fraction
//! `margin`. The published system cs265 has a similar selector (section 2.7.3 of its document). That selector adapts to
//! the load of the machine, so its decisions differ from run to run; here, the selector `by-load` works in this way.
//! This selector adapts to the data that it compresses.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use catalog::{Build, CatalogHandle, Variant};
use serde::{Deserialize, Serialize};

use crate::compression::{Compression, CorruptBlock, RAW};
use crate::dictionaries::Dictionaries;
use crate::picked::{self, Picked};

/// The parameters of the selector as commented TOML with their defaults.
const REFERENCE: &str = "\
     # Minimum share of a block that the fast codec must save, 0 to below 1. The output of the dense codec\n\
     # must be smaller than the output of the fast codec by at least this share.\n\
     margin = 0.125\n\
     # Number of blocks between two trials of both codecs. While the choice stays the same, the distance\n\
     # between trials grows up to sixteen times.\n\
     period = 64\n\
     # The fast codec.\n\
     light = \"lz4\"\n\
     # The dense codec.\n\
     dense = \"zstd(level=3)\"\n";

/// Creates the variant `adaptive`, which selects among codecs of the catalog `C`.
pub(crate) const fn variant<C: CatalogHandle<dyn Compression>>() -> Variant<dyn Compression> {
    Variant::new::<Builder<C>>(
        "adaptive",
        "no codec, a fast codec or a dense codec, depending on the bytes that each codec saved on recent blocks",
        REFERENCE,
    )
    .selector()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, bound = "C: CatalogHandle<dyn Compression>")]
struct Params<C> {
    margin: f64,
    period: u64,
    light: Picked<C>,
    dense: Picked<C>,
}

impl<C: CatalogHandle<dyn Compression>> Default for Params<C> {
    fn default() -> Self {
        Self { margin: 0.125, period: 64, light: Picked::of("lz4"), dense: Picked::of("zstd") }
    }
}

/// The result of a trial, in which both codecs compress the same block: the codec for the next blocks, or `Nothing` if
/// these blocks are stored raw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pays {
    Nothing,
    Light,
    Dense,
}

impl Pays {
    const ALL: [Self; 3] = [Self::Nothing, Self::Light, Self::Dense];
}

/// A selector of two codecs. From time to time, both codecs compress the same block (a trial), and the better codec
/// compresses the next blocks.
struct Adaptive {
    margin: f64,
    period: u64,
    /// The light codec (fast) and the dense codec (small output).
    codecs: [Arc<dyn Compression>; 2],
    blocks: AtomicU64,
    /// The number of the block on which both codecs are compared next. The value is [`IN_TRIAL`] during a comparison.
    next_trial: AtomicU64,
    /// The number of blocks from the last comparison of both codecs to the next comparison.
    gap: AtomicU64,
    /// The codec that the last trial selected, as an index into [`Pays::ALL`].
    found: AtomicU8,
}

/// The value of `next_trial` while a thread compares both codecs. No block has this number.
const IN_TRIAL: u64 = u64::MAX;

/// The maximum number of blocks between two comparisons of the codecs, as a multiple of the parameter `period`.
const MOST_PERIODS: u64 = 16;

/// Builds the selector `adaptive`, which selects among codecs of the catalog `C`.
struct Builder<C>(PhantomData<C>);

impl<C: CatalogHandle<dyn Compression>> Build<dyn Compression> for Builder<C> {
    type Params = Params<C>;

    fn build(params: Params<C>) -> Result<Box<dyn Compression>, String> {
        let Params { margin, period, light, dense } = params;
        if !(0.0..1.0).contains(&margin) {
            return Err(format!("margin is {margin}; it must be a share from 0 to below 1"));
        }
        if period == 0 {
            return Err("period is 0; it must be at least 1".to_owned());
        }
        Ok(Box::new(Adaptive::new(margin, period, [light.build()?, dense.build()?])))
    }
}

impl Adaptive {
    /// Creates a selector that compares both codecs on the first block.
    fn new(margin: f64, period: u64, codecs: [Arc<dyn Compression>; 2]) -> Self {
        let [blocks, next_trial, gap] = [0, 0, period].map(AtomicU64::new);
        Self { margin, period, codecs, blocks, next_trial, gap, found: AtomicU8::new(Pays::Light as u8) }
    }

    /// Returns whether this thread must compare both codecs on the block with the number `block`. If so, marks the
    /// comparison as in progress, so that no other thread begins one.
    fn begins_trial(&self, block: u64) -> bool {
        let due = self.next_trial.load(Ordering::Relaxed);
        let claim = || self.next_trial.compare_exchange(due, IN_TRIAL, Ordering::Relaxed, Ordering::Relaxed);
        block >= due && claim().is_ok()
    }

    /// Records the codec that was better on the block with the number `block`, and determines the block of the next
    /// comparison.
    fn end_trial(&self, block: u64, pays: Pays) {
        let is_news = self.found.swap(pays as u8, Ordering::Relaxed) != pays as u8;
        let longer = self.gap.load(Ordering::Relaxed).saturating_mul(2);
        let gap = if is_news { self.period } else { longer.min(self.period.saturating_mul(MOST_PERIODS)) };
        self.gap.store(gap, Ordering::Relaxed);
        self.next_trial.store(block.saturating_add(gap).min(IN_TRIAL - 1), Ordering::Relaxed);
    }

    /// Compresses a block with both codecs, and appends the better output, or the block itself, to `out`. Returns which
    /// codec was better, and the tag of the block.
    fn try_both(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> (Pays, u8) {
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
        out.extend_from_slice(stored);
        (pays, tag)
    }
}

impl Compression for Adaptive {
    fn tag(&self) -> Option<u8> {
        None
    }

    fn compress(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        let number = self.blocks.fetch_add(1, Ordering::Relaxed);
        if self.begins_trial(number) {
            let (pays, tag) = self.try_both(level, block, out);
            self.end_trial(number, pays);
            return tag;
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
        let codec = Builder::<crate::Codecs>::build(Params { period: 3, ..Params::default() }).unwrap();
        let text: Vec<u8> = (0..1000u32).flat_map(|i| (i * i % 1009).to_string().into_bytes()).collect();
        let mut random = vec![0; 4096];
        Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(&mut random);
        let tags: Vec<u8> = [&text, &text, &random, &random, &text, &text, &text]
            .map(|block| codec.compress(0, block, &mut Vec::new()))
            .into();
        assert_eq!(tags, [3, 3, RAW, RAW, RAW, RAW, 3]);
    }

    #[test]
    fn trials_become_rare_while_they_end_alike_and_frequent_when_they_do_not() {
        let [light, dense] = ["none", "lz4"].map(|codec| Picked::<crate::Codecs>::of(codec).build().unwrap());
        let codec = Adaptive::new(0.125, 4, [light, dense]);
        let (text, mut random) = (vec![7; 1000], vec![0; 1000]);
        Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(&mut random);
        let trials = |block: &[u8], blocks: u64| -> Vec<u64> {
            let is_trial = |_: &u64| {
                let due = codec.next_trial.load(Ordering::Relaxed);
                codec.compress(0, block, &mut Vec::new());
                codec.next_trial.load(Ordering::Relaxed) != due
            };
            (0..blocks).filter(is_trial).collect()
        };
        assert_eq!(trials(&text, 256), [0, 4, 12, 28, 60, 124, 188, 252]);
        assert_eq!(trials(&random, 74), [60, 64, 72]);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let zero = Builder::<crate::Codecs>::build(Params { period: 0, ..Params::default() });
        assert!(zero.err().unwrap().contains("period is 0"));
        let whole = Builder::<crate::Codecs>::build(Params { margin: 1.0, ..Params::default() });
        assert!(whole.err().unwrap().contains("margin is 1"));
    }
}
