//! The hash axis: the function that turns a key into the 64 bits that filters and sharded structures share.
//!
//! Only functions that are the same on every machine and for good: filters on disk depend on them.

#[macro_use]
mod hasher;
mod city;
mod farm;
mod metro;
mod murmur3;
mod rapidhash;
mod siphash;
mod wyhash;
mod xxh3;
mod xxh3_128;
mod xxh64;

use catalog::Catalog;

pub use hasher::KeyHasher;

/// All hash functions. The choice changes filters on disk, so each table names the one it was written with.
pub static CATALOG: Catalog<dyn KeyHasher> = Catalog::new(
    catalog::origin!(),
    "hash",
    "the 64-bit hash of a key that filters and sharded structures share",
    &[
        xxh3::VARIANT,
        xxh3_128::VARIANT,
        rapidhash::VARIANT,
        wyhash::VARIANT,
        xxh64::VARIANT,
        metro::VARIANT,
        farm::VARIANT,
        city::VARIANT,
        murmur3::VARIANT,
        siphash::VARIANT,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Buckets that every few bits of the hash choose from.
    const BUCKETS: usize = 256;
    const KEYS: u64 = 64 * 1024;

    /// How unevenly keys fall into buckets: χ² over what each bucket should hold, in standard deviations from
    /// its mean.
    fn unevenness(bucket: impl Fn(u64) -> usize) -> f64 {
        let mut counts = [0u32; BUCKETS];
        (0..KEYS).for_each(|key| counts[bucket(key) % BUCKETS] += 1);
        let expected = KEYS as f64 / BUCKETS as f64;
        let chi_squared: f64 =
            counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
        let freedom = (BUCKETS - 1) as f64;
        (chi_squared - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn close_keys_fall_evenly_by_any_byte_of_the_hash() {
        for variant in CATALOG.variants() {
            let choice = CATALOG.choose(&toml::Value::String(variant.kind.to_owned())).unwrap();
            let hasher = CATALOG.build(&choice).unwrap();
            for shift in (0..64).step_by(8) {
                let hash = |key: &[u8]| (hasher.hash(key).0 >> shift) as usize;
                let forms: [(&str, f64); 2] = [
                    ("decimal", unevenness(|key| hash(format!("user{key:012}").as_bytes()))),
                    ("binary", unevenness(|key| hash(&key.to_be_bytes()))),
                ];
                for (form, unevenness) in forms {
                    assert!(unevenness < 5.0, "{}, {form} keys, bit {shift}: {unevenness}", variant.kind);
                }
            }
        }
        // The measure sees a bad function: bytes of the key itself.
        assert!(unevenness(|key| (key >> 10) as usize) > 5.0);
    }
}
