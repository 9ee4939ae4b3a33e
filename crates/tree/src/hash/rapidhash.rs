//! rapidhash, version 3 (Nicoshev), the successor of wyhash.

hash_function!(
    Rapidhash,
    "rapidhash",
    "rapidhash, the successor of wyhash, which also multiplies 64-bit numbers to 128-bit products",
    rapidhash::v3::rapidhash_v3
);

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The result of the reference program for empty input.
        assert_eq!(Rapidhash.hash(b"").0, 0x0338_dc4b_e2ce_cdae);
    }
}
