//! XXH3 with 128 bits, from xxHash 0.8. The result is the lower 64 bits.

hash_function!(
    Xxh3Wide,
    "xxh3-128",
    "the lower half of the 128-bit XXH3, with which cs265 selects shards",
    |key| { xxhash_rust::xxh3::xxh3_128(key) as u64 }
);

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The result of the reference program for empty input and seed 0.
        assert_eq!(Xxh3Wide.hash(b"").0, 0x6001_c324_468d_497f);
    }
}
