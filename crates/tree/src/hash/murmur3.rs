//! `MurmurHash3` for x64 with 128 bits (Appleby) and seed 0. The result is the first 64 bits.

hash_function!(
    Murmur3,
    "murmur3",
    "MurmurHash3, which is common in filters and which Cassandra uses",
    |key| { fastmurmur3::hash(key) as u64 }
);

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The result of the reference program.
        assert_eq!(Murmur3.hash(b"The quick brown fox jumps over the lazy dog").0, 0xe34b_bc7b_bc07_1b6c);
    }
}
