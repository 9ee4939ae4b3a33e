//! XXH64, the 64-bit hash of xxHash before XXH3.

hash_function!(Xxh64, "xxh64", "the older 64-bit xxHash, a little slower than XXH3 on short keys", |key| {
    xxhash_rust::xxh64::xxh64(key, 0)
});

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The result of the reference program for empty input and seed 0.
        assert_eq!(Xxh64.hash(b"").0, 0xef46_db37_51d8_e999);
    }
}
