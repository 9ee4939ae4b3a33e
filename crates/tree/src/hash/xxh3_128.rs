//! XXH3, 128 bits, of which the lower 64 are kept: xxHash 0.8.

hash_function!(Xxh3Wide, "xxh3-128", "half of the wide XXH3, which cs265 routes its shards by", |key| {
    xxhash_rust::xxh3::xxh3_128(key) as u64
});

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The reference program, empty input, seed 0.
        assert_eq!(Xxh3Wide.hash(b"").0, 0x6001_c324_468d_497f);
    }
}
