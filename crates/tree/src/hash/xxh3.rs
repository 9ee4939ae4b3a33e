//! XXH3, 64 bits: xxHash 0.8.

hash_function!(Xxh3, "xxh3", "fastest on short keys and long ones alike", xxhash_rust::xxh3::xxh3_64);

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The reference program, empty input, seed 0.
        assert_eq!(Xxh3.hash(b"").0, 0x2d06_8005_38d3_94c2);
    }
}
