//! `CityHash64`, version 1.1 (Pike and Alakuijala, Google).

hash_function!(City, "city", "CityHash64, Google's hash before FarmHash", |key| cityhasher::hash(key));

#[cfg(test)]
mod tests {
    use super::super::hasher::KeyHasher;
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        // The result of the reference program.
        assert_eq!(City.hash(b"a").0, 0xb345_4265_b6df_75e3);
    }
}
