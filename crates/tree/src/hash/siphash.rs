//! `SipHash`-2-4 (Aumasson and Bernstein, INDOCRYPT 2012) with the key of its test vectors.

use siphasher::sip::SipHasher24;

/// The key of the hash function: the bytes 0 to 15. The key is not secret, because filters on disk need the same hash
/// in every process.
const KEY: (u64, u64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);

hash_function!(
    Siphash,
    "siphash",
    "SipHash-2-4, a slower keyed hash that resists collision attacks",
    |key| { SipHasher24::new_with_keys(KEY.0, KEY.1).hash(key) }
);

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The test vector of the paper, appendix A.
        assert_eq!(
            Siphash.hash(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]).0,
            0xa129_ca61_49be_45e5
        );
    }
}
