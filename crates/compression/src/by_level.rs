//! A selector that chooses a codec by the level of the tree. Compactions soon rewrite the blocks of the upper levels,
//! so these levels use fast codecs. The lower levels contain most of the data, so these levels use dense codecs.
//!
//! Source: the level table in the document of the published system cs265 (section 2.7.3). The table is a parameter,
//! because the document contains two different tables.

use std::marker::PhantomData;
use std::sync::Arc;

use catalog::{Build, CatalogHandle, Variant};
use serde::{Deserialize, Serialize};

use crate::compression::{Compression, CorruptBlock};
use crate::dictionaries::Dictionaries;
use crate::picked::Picked;

/// Creates the variant `by-level`, which selects among codecs of the catalog `C`.
pub(crate) const fn variant<C: CatalogHandle<dyn Compression>>() -> Variant<dyn Compression> {
    Variant::new::<Builder<C>>(
        "by-level",
        "a separate codec per level of the tree, fast in upper levels and dense in lower levels",
        "# Codecs of level 0, level 1 and so on. The last codec applies to all deeper levels.\n\
         levels = [\"none\", \"lz4\", \"zstd(level=3)\"]\n",
    )
    .selector()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, bound = "C: CatalogHandle<dyn Compression>")]
struct Params<C> {
    levels: Vec<Picked<C>>,
}

impl<C: CatalogHandle<dyn Compression>> Default for Params<C> {
    fn default() -> Self {
        Self { levels: ["none", "lz4", "zstd"].map(Picked::of).into() }
    }
}

/// A selector by the level of the tree, with one codec for each level from level 0 on.
struct ByLevel {
    levels: Vec<Arc<dyn Compression>>,
}

/// Builds the selector `by-level`, which selects among codecs of the catalog `C`.
struct Builder<C>(PhantomData<C>);

impl<C: CatalogHandle<dyn Compression>> Build<dyn Compression> for Builder<C> {
    type Params = Params<C>;

    fn build(params: Params<C>) -> Result<Box<dyn Compression>, String> {
        if params.levels.is_empty() {
            return Err("levels is empty; name a codec for level 0, such as levels = [\"lz4\"]".to_owned());
        }
        let levels = params.levels.iter().map(Picked::build).collect::<Result<_, _>>()?;
        Ok(Box::new(ByLevel { levels }))
    }
}

impl ByLevel {
    fn codec(&self, level: usize) -> &dyn Compression {
        &*self.levels[level.min(self.levels.len() - 1)]
    }
}

impl Compression for ByLevel {
    fn tag(&self) -> Option<u8> {
        None
    }

    fn compress(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        self.codec(level).compress(level, block, out)
    }

    fn decompress(&self, _: &[u8], _: &mut [u8]) -> Result<(), CorruptBlock> {
        Err(CorruptBlock::of_selector())
    }

    fn sample_bytes(&self, level: usize) -> usize {
        self.codec(level).sample_bytes(level)
    }

    fn foreign_bytes(&self, level: usize) -> usize {
        self.codec(level).foreign_bytes(level)
    }

    fn learn(
        &self,
        level: usize,
        samples: &[&[u8]],
        dictionaries: &mut Dictionaries,
    ) -> Option<Arc<dyn Compression>> {
        // A table stays at the level for which it was written, so its codec is the codec of that level.
        self.codec(level).learn(level, samples, dictionaries)
    }
}

#[cfg(test)]
mod tests {
    use catalog::Choice;
    use toml::Value;

    fn choose(label: &str) -> Result<Choice, String> {
        crate::CATALOG.choose(&Value::from(label)).map_err(|error| error.to_string())
    }

    #[test]
    fn each_level_has_its_codec_and_the_last_serves_the_rest() {
        let choice = choose(r#"by-level(levels=["snappy", "none", "lz4"])"#).unwrap();
        let codec = crate::CATALOG.build(&choice).unwrap();
        let tags = (0..5).map(|level| codec.compress(level, &[0; 4096], &mut Vec::new()));
        assert_eq!(tags.collect::<Vec<_>>(), [2, 0, 1, 1, 1]);
    }

    #[test]
    fn the_memory_of_a_level_is_that_of_its_own_codec() {
        let build = |label: &str| crate::CATALOG.build(&choose(label).unwrap()).unwrap();
        let (codec, alone) =
            (build(r#"by-level(levels=["none", "lz4-hc", "zstd(level=1)"])"#), build("lz4-hc"));
        let told = || [0, 1, 2, 3].map(|level| codec.foreign_bytes(level));
        assert_eq!(told(), [0, alone.foreign_bytes(1), 0, 0], "zstd has compressed nothing yet");
        codec.compress(3, &vec![7; 100_000], &mut Vec::new());
        let [first, second, third, deeper] = told();
        assert_eq!(
            [first, second],
            [0, alone.foreign_bytes(1)],
            "blocks of other levels are nothing to them"
        );
        assert!(third > 10_000 && deeper == third, "{third} {deeper}");
    }

    #[test]
    fn spellings_of_one_table_are_one_choice() {
        let a = choose(r#"by-level(levels=["none", "lz4", "zstd(level=3)"])"#).unwrap();
        assert_eq!(a.label(), "by-level");
        let b = choose(r#"by-level(levels=["zstd(level=7)"])"#).unwrap();
        assert_eq!(choose(&b.label()), Ok(b));
    }

    #[test]
    fn tables_that_cannot_be_are_refused() {
        let cases = [
            ("by-level(levels=[])", "levels is empty"),
            (r#"by-level(levels=["by-level"])"#, "selects among several codecs"),
            (r#"by-level(levels=["lz5"])"#, "did you mean \"lz4\"?"),
            (r#"by-level(levels=["zstd(level=99)"])"#, "level is 99"),
        ];
        for (label, message) in cases {
            let error = choose(label).unwrap_err();
            assert!(error.contains(message), "{label}: {error}");
        }
    }
}
