//! wyhash, final version 4 (Wang Yi), seed 0.

use wyhash_final4::generics::WyHasher;
use wyhash_final4::wyhash64::WyHash64;

hash_function!(
    Wyhash,
    "wyhash",
    "wyhash, with one wide multiplication per 16 bytes; used by several language runtimes",
    |key| WyHasher::<WyHash64>::from_seed(0).hash(key)
);

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The result of the reference program for empty input and seed 0.
        assert_eq!(Wyhash.hash(b"").0, 0x0409_638e_e2bd_e459);
    }
}
