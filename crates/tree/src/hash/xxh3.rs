//! XXH3 with 64 bits, from xxHash 0.8.

hash_function!(
    Xxh3,
    "xxh3",
    "XXH3, the fastest function for short and for long keys",
    xxhash_rust::xxh3::xxh3_64
);

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The result of the reference program for empty input and seed 0.
        assert_eq!(Xxh3.hash(b"").0, 0x2d06_8005_38d3_94c2);
    }
}
