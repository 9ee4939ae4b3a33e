//! The values that operations write. Each value depends only on its key and its version. lsmbench can therefore
//! generate a value quickly, and check a value without a stored copy.

use catalog::ChoiceError;
use types::avalanche;

use crate::length::LengthDistribution;
use crate::operation::Span;
use crate::pool::Pool;
use crate::random::{Concern, fold, sub_seed};
use crate::value::{SIZES, ValueSpec};

/// Generates the values that a phase writes. A value is a part of a pool of random bytes, which a hash of the key and
/// the version selects.
///
/// If the values of a key have more than eight bytes, the values of two versions are equal with a probability of about
/// 10⁻⁵. A check therefore detects almost all wrong versions.
pub struct Values {
    pool: Pool,
    sizes: Sizes,
    bytes_seed: [u64; 2],
    size_seed: [u64; 2],
}

/// The source of the sizes of values: one size, or a distribution.
enum Sizes {
    /// The size that all values have, so no random number is drawn for a size.
    Fixed(u32),
    Drawn(Box<dyn LengthDistribution>),
}

impl Values {
    /// Creates the values of `spec` in a run with the seed `seed`.
    ///
    /// # Errors
    /// Returns an error if the distribution of sizes cannot be built.
    pub fn new(spec: &ValueSpec, seed: u64) -> Result<Self, ChoiceError> {
        let sizes = SIZES.build(&spec.size)?;
        let seeds = |concern| {
            let seed = sub_seed(seed, concern, "", 0);
            // A multiplier must not be 0, and must not become 0 for a small index or version.
            [seed | 1 << 63, avalanche(seed) | 1 << 63]
        };
        let longest = sizes.max();
        let pool =
            Pool::new(sub_seed(seed, Concern::ValueBytes, "pool", 0), spec.compressible, longest as usize);
        let fixed = sizes.length(0) == sizes.length(u64::MAX);
        let sizes = if fixed { Sizes::Fixed(sizes.length(0)) } else { Sizes::Drawn(sizes) };
        let (bytes_seed, size_seed) = (seeds(Concern::ValueBytes), seeds(Concern::ValueSize));
        Ok(Self { pool, sizes, bytes_seed, size_seed })
    }

    /// Returns the position in the pool of the value that belongs to one version of a key. [`slice`](Self::slice)
    /// returns the bytes at this position.
    #[inline]
    pub fn locate(&self, index: u64, version: u32) -> Span {
        let offset = self.pool.start(identity(self.bytes_seed, index, version));
        Span { offset, bytes: self.bytes(index, version) }
    }

    /// Returns the result of [`locate`](Self::locate) if `wanted` is true, and a position without bytes otherwise.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the generator of operations calls this function for each operation, and a measurement showed \
                  that inlining it is faster"
    )]
    pub(crate) fn locate_if(&self, wanted: bool, index: u64, version: u32) -> Span {
        match &self.sizes {
            Sizes::Fixed(bytes) => {
                let offset = self.pool.start(identity(self.bytes_seed, index, version));
                Span { offset: offset * u32::from(wanted), bytes: bytes * u32::from(wanted) }
            }
            Sizes::Drawn(_) if wanted => self.locate(index, version),
            Sizes::Drawn(_) => Span::default(),
        }
    }

    /// Returns the size of the value that belongs to one version of a key, in bytes.
    #[inline]
    pub fn bytes(&self, index: u64, version: u32) -> u32 {
        match &self.sizes {
            Sizes::Fixed(bytes) => *bytes,
            Sizes::Drawn(sizes) => sizes.length(identity(self.size_seed, index, version)),
        }
    }

    /// Returns the bytes of the value at a position in the value pool, which [`locate`](Self::locate) returned.
    #[inline]
    pub fn slice(&self, span: Span) -> &[u8] {
        self.pool.slice(span.offset, span.bytes)
    }

    /// Returns the value that belongs to one version of a key.
    pub fn value(&self, index: u64, version: u32) -> &[u8] {
        self.slice(self.locate(index, version))
    }

    /// Appends a value of `bytes` bytes to `out`, for write number `number` of a replay. The value has exactly this
    /// size, whatever size distribution the settings define.
    pub(crate) fn append_sized(&self, number: u64, bytes: u32, out: &mut Vec<u8>) {
        let mut left = bytes;
        for part in 0.. {
            let start = self.pool.start(identity(self.bytes_seed, number, part));
            let taken = left.min(self.pool.longest());
            out.extend_from_slice(self.pool.slice(start, taken));
            left -= taken;
            if left == 0 {
                break;
            }
        }
    }

    /// Returns the mean size of the values in bytes.
    pub fn mean_bytes(&self) -> f64 {
        match &self.sizes {
            Sizes::Fixed(bytes) => f64::from(*bytes),
            Sizes::Drawn(sizes) => sizes.mean(),
        }
    }
}

/// Returns a hash of two seeds, the index of a key and a version number, from which the bytes of the value follow.
#[inline]
fn identity(seed: [u64; 2], index: u64, version: u32) -> u64 {
    fold(fold(index ^ seed[0], u64::from(version) ^ seed[1]) | 1, seed[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(toml: &str, seed: u64) -> Values {
        let table: toml::Table = toml::from_str(&format!("x = {toml}")).unwrap();
        Values::new(&ValueSpec::from_toml(&table["x"]).unwrap(), seed).unwrap()
    }

    #[test]
    fn a_value_is_a_function_of_seed_key_and_version() {
        let spec = "{ kind = \"uniform\", min = 20, max = 400 }";
        let (a, same, other) = (values(spec, 1), values(spec, 1), values(spec, 2));
        let mut differ = 0;
        for index in 0..500 {
            for version in 1..4 {
                assert_eq!(a.value(index, version), same.value(index, version));
                differ += usize::from(a.value(index, version) != other.value(index, version));
                assert_eq!(a.value(index, version).len(), a.bytes(index, version) as usize);
                assert_ne!(a.value(index, version), a.value(index, version + 1), "{index} {version}");
                assert_ne!(a.value(index, version), a.value(index + 1, version), "{index} {version}");
            }
        }
        assert!(differ > 1490);
    }

    /// Tests that sizes and bytes come from separate random numbers, and that sizes follow their distribution.
    #[test]
    fn sizes_are_apart_from_bytes() {
        let plain = values("{ kind = \"pareto\", compressible = 0.5 }", 7);
        let packed = values("{ kind = \"pareto\", compressible = 0.9 }", 7);
        let mut sum = 0.0;
        for index in 0..100_000 {
            assert_eq!(plain.bytes(index, 3), packed.bytes(index, 3));
            sum += f64::from(plain.bytes(index, 3));
        }
        assert!((sum / 1e5 / plain.mean_bytes() - 1.0).abs() < 0.02, "{} {}", sum / 1e5, plain.mean_bytes());
        assert_eq!(values("\"fixed\"", 7).mean_bytes().to_bits(), 100f64.to_bits());
    }

    /// Tests that the values of all versions of one key start at positions everywhere in the pool. Also tests this for
    /// the values of all keys in one version.
    #[test]
    fn values_start_all_over_the_pool() {
        let values = values("\"fixed\"", 9);
        for by_version in [true, false] {
            let mut eighths = [0u32; 8];
            for i in 0..80_000u32 {
                let span = if by_version { values.locate(5, i) } else { values.locate(u64::from(i), 1) };
                eighths[(span.offset >> 17).min(7) as usize] += 1;
            }
            assert!(eighths.iter().all(|count| count.abs_diff(10_000) < 500), "{eighths:?}");
        }
    }
}
