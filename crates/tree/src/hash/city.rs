//! `CityHash64`, version 1.1 (Pike and Alakuijala, Google).

hash_function!(City, "city", "the hash of Google before FarmHash", |key| cityhasher::hash(key));

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The reference program.
        assert_eq!(City.hash(b"a").0, 0xb345_4265_b6df_75e3);
    }
}
