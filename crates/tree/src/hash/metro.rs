//! `MetroHash64` (Rogers 2015), variant 1, seed 0.

use std::hash::Hasher;

use metrohash::MetroHash64;

hash_function!(Metro, "metro", "MetroHash64, which is fast on long keys and older than XXH3", |key| {
    let mut hasher = MetroHash64::with_seed(0);
    hasher.write(key);
    hasher.finish()
});

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The 63-byte test vector of the reference program.
        assert_eq!(
            Metro.hash(b"012345678901234567890123456789012345678901234567890123456789012").0,
            0xad4b_7006_ae3d_756b
        );
    }
}
