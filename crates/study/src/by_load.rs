//! A selector of codecs by the load of the machine: a fast codec if the CPUs are busy, a dense codec if disks or
//! memory are short, and a codec between the two otherwise.
//!
//! Source: "adaptive selection" in the document of the published system cs265, section 2.7.3, with its thresholds and
//! its order of tests. cs265 does not say how the three loads are measured. In this selector, the loads are the share
//! of CPU time that is not idle, the share of time in which the busiest disk has requests, and the share of memory that
//! is not available. The loads are measured while blocks are compressed, once per `period` blocks.
//!
//! Measured loads differ from run to run. Counted runs, whose counters must be the same every time, therefore skip the
//! variant. With fixed `loads`, the selection of codecs and all counters are deterministic. A block always records its
//! codec, so every block can be read under any load.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use catalog::{Build, Count, Limit, Variant, origin};
use compression::picked::{self, Picked};
use compression::{Codecs, Compression, CorruptBlock, Dictionaries};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::system_load::{Snapshot, SystemLoad};

/// The variant `by-load`, which selects a codec by the load of the machine, as in the published system cs265.
pub static VARIANT: Variant<dyn Compression> = Variant::new::<ByLoad>(
    "by-load",
    "a fast codec while CPUs are busy, a dense codec while disks or memory are short (cs265)",
    "# Codec while the CPUs are busy.\n\
     speed = \"lz4\"\n\
     # Codec while nothing is busy.\n\
     balanced = \"zstd(level=3)\"\n\
     # Codec while the disks are busy or little memory is available.\n\
     ratio = \"zstd(level=10)\"\n\
     # Load above which the CPUs, the disks or the memory count as busy, 0 to 1.\n\
     busy_above = 0.8\n\
     # Loads of CPUs, disks and memory. \"measured\" measures the loads on Linux. A list of three numbers\n\
     # from 0 to 1 gives fixed loads, which counted runs need.\n\
     loads = \"measured\"\n\
     # Number of blocks between two measurements, at least 1.\n\
     period = 256\n",
)
.selector()
.limited(&[Limit::NotDeterministic])
.unless(|params| params.get("loads").is_some_and(toml::Value::is_array))
.from(origin!());

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    speed: Picked<Codecs>,
    balanced: Picked<Codecs>,
    ratio: Picked<Codecs>,
    busy_above: f64,
    loads: Loads,
    period: Count,
}

impl Default for Params {
    fn default() -> Self {
        let [speed, balanced, ratio] = ["lz4", "zstd", "zstd(level=10)"].map(Picked::of);
        Self {
            speed,
            balanced,
            ratio,
            busy_above: 0.8,
            loads: Loads::Source(Source::Measured),
            period: Count(256),
        }
    }
}

/// The source of the loads of CPUs, disks and memory: measurements, or fixed numbers.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected \"measured\", or three numbers from 0 to 1: CPUs, disks, memory")]
enum Loads {
    Source(Source),
    Fixed([f64; 3]),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Source {
    Measured,
}

/// The goal of compression, such as speed, which follows from the load of the machine. The number of a goal is the
/// index of its codec in [`ByLoad::codecs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Speed,
    Balanced,
    Ratio,
}

impl Goal {
    /// Returns the goal of compression under a load of the machine. The CPUs are tested first, as in cs265.
    fn under(load: &SystemLoad, busy_above: f64) -> Self {
        if load.cpu > busy_above {
            Self::Speed
        } else if load.io > busy_above || load.memory > busy_above {
            Self::Ratio
        } else {
            Self::Balanced
        }
    }
}

/// A selector of codecs by the load of the machine, with its codecs and its current goal.
struct ByLoad {
    /// The codec for speed, the codec for balance, and the codec for a high compression ratio.
    codecs: [Arc<dyn Compression>; 3],
    gauge: Arc<Gauge>,
}

/// The current goal of compression, which all SSTables of a tree share. The goal is fixed, or follows from measured
/// loads.
enum Gauge {
    Fixed(Goal),
    Measured(Measured),
}

/// The goal of compression (such as speed) that follows from the last measurement of the loads of the machine.
struct Measured {
    busy_above: f64,
    period: u64,
    blocks: AtomicU64,
    last: Mutex<Snapshot>,
    /// The current goal of compression, as the index of its codec.
    goal: AtomicU8,
}

impl Build<dyn Compression> for ByLoad {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Compression>, String> {
        let Params { speed, balanced, ratio, busy_above, loads, period } = params;
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        if !is_share(&busy_above) {
            return Err(format!("busy_above is {busy_above}; it must be 0 to 1"));
        }
        if period.0 == 0 {
            return Err(
                "period is 0; it must be at least 1, which measures the loads for every block".to_owned()
            );
        }
        let gauge = match loads {
            Loads::Fixed(loads) if !loads.iter().all(is_share) => {
                return Err(format!("loads is {loads:?}; each load must be 0 to 1"));
            }
            Loads::Fixed([cpu, io, memory]) => {
                Gauge::Fixed(Goal::under(&SystemLoad { cpu, io, memory }, busy_above))
            }
            Loads::Source(Source::Measured) => Gauge::Measured(Measured {
                busy_above,
                period: period.0,
                blocks: AtomicU64::new(0),
                last: Mutex::new(Snapshot::now().ok_or(
                    "loads cannot be \"measured\" on this system; set three fixed loads, such as loads = \
                     [0.9, 0.1, 0.1]",
                )?),
                goal: AtomicU8::new(Goal::Balanced as u8),
            }),
        };
        let codecs = [speed.build()?, balanced.build()?, ratio.build()?];
        Ok(Box::new(Self { codecs, gauge: Arc::new(gauge) }))
    }
}

impl Gauge {
    /// Returns the index of the codec for the next block.
    fn codec(&self) -> usize {
        match self {
            Self::Fixed(goal) => *goal as usize,
            Self::Measured(measured) => measured.codec(),
        }
    }
}

impl Measured {
    /// Returns the index of the codec for the next block. If a measurement is due and no other thread is measuring, the
    /// function first measures the loads of the machine.
    fn codec(&self) -> usize {
        let block = self.blocks.fetch_add(1, Ordering::Relaxed) + 1;
        if block.is_multiple_of(self.period)
            && let Some(mut last) = self.last.try_lock()
            && let Some(now) = Snapshot::now()
            && let Some(load) = now.since(&last)
        {
            *last = now;
            self.goal.store(Goal::under(&load, self.busy_above) as u8, Ordering::Relaxed);
        }
        usize::from(self.goal.load(Ordering::Relaxed))
    }
}

impl Compression for ByLoad {
    fn tag(&self) -> Option<u8> {
        None
    }

    fn compress(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        self.codecs[self.gauge.codec()].compress(level, block, out)
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
        Some(Arc::new(Self { codecs, gauge: Arc::clone(&self.gauge) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::register;

    fn fixed(loads: [f64; 3]) -> Result<Box<dyn Compression>, String> {
        register();
        let [balanced, ratio] = ["snappy", "zstd"].map(Picked::of);
        <ByLoad as Build<_>>::build(Params {
            balanced,
            ratio,
            loads: Loads::Fixed(loads),
            ..Params::default()
        })
    }

    #[test]
    fn the_load_selects_the_codec_in_the_order_of_the_document() {
        const LZ4: u8 = 1;
        const SNAPPY: u8 = 2;
        const ZSTD: u8 = 3;
        let tag = |loads| fixed(loads).unwrap().compress(0, &[7; 4096], &mut Vec::new());
        assert_eq!(tag([0.9, 0.9, 0.9]), LZ4, "the CPUs come first");
        assert_eq!(tag([0.8, 0.8, 0.8]), SNAPPY, "0.8 itself is not above 0.8");
        assert_eq!([tag([0.5, 0.9, 0.1]), tag([0.5, 0.1, 0.9])], [ZSTD; 2]);
    }

    #[test]
    fn impossible_loads_are_refused() {
        let error = fixed([0.5, 1.5, 0.0]).err().unwrap();
        assert!(error.contains("each load must be 0 to 1"), "{error}");
        for (params, named) in [
            (Params { busy_above: -1.0, ..Params::default() }, "busy_above is -1"),
            (Params { period: Count(0), ..Params::default() }, "period is 0"),
        ] {
            let error = <ByLoad as Build<_>>::build(params).err().unwrap();
            assert!(error.contains(named), "{error}");
        }
    }
}
