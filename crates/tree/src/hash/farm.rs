//! `FarmHash` Fingerprint64 (Pike, Google), the variant of `FarmHash` with the same result on every machine.

hash_function!(Farm, "farm", "FarmHash, the successor of CityHash", farmhash::fingerprint64);

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The result of the reference program for empty input.
        assert_eq!(Farm.hash(b"").0, 0x9ae1_6a3b_2f90_404f);
    }
}
