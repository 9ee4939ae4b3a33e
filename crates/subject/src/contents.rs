//! The contents of the blocks that a codec compresses: values, keys, integers, or the bytes of a file.

use std::path::{Path, PathBuf};

use catalog::{Build, ByteSize, Catalog, Variant};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use workload::{FORMATS, KeyId, Random, ValueSpec, Values};

use crate::choices::{Chosen, Menu};

/// The content of the blocks that a codec compresses in a test, such as random bytes.
pub(crate) trait Contents: Send + Sync {
    /// Returns the first `length` bytes of the content, or all bytes of the content if it is shorter.
    ///
    /// # Errors
    /// The file with the bytes cannot be read.
    fn bytes(&self, length: usize, seed: u64, base: &Path) -> Result<Vec<u8>, String>;
}

/// All kinds of contents of the blocks that a codec compresses. The first kind is the default.
pub(crate) static CONTENTS: Catalog<dyn Contents> = Catalog::new(
    catalog::origin!(),
    "content",
    "the content of the blocks that a codec compresses",
    &[
        Variant::new::<Entries>(
            "entries",
            "ascending keys of 16 bytes, each with a value like the values of workloads",
            "# Length of each value.\n\
             value = \"100B\"\n\
             # Share of a value that a fast codec saves.\n\
             compressible = 0.5\n",
        ),
        Variant::new::<Keys>("keys", "ascending decimal keys such as user000000000012, without values", ""),
        Variant::new::<Integers>("integers", "ascending 64-bit integers with small gaps", ""),
        Variant::new::<Noise>("noise", "random bytes, which no codec can compress", ""),
        Variant::new::<FileBytes>("file", "the bytes of a file", "# Path of the file.\nfile = \"\"\n"),
    ],
);

/// The catalog of the contents of blocks, whose variants are the valid values of a parameter.
pub(crate) enum ContentMenu {}

impl Menu for ContentMenu {
    type Built = dyn Contents;

    fn catalog() -> &'static Catalog<Self::Built> {
        &CONTENTS
    }
}

/// A parameter that selects the content of the blocks that a codec compresses.
pub(crate) type ContentChoice = Chosen<ContentMenu>;

/// An empty table of parameters, for a kind of content that has no parameters.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Nothing {}

struct Entries {
    spec: ValueSpec,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EntriesParams {
    value: ByteSize,
    compressible: f64,
}

impl Default for EntriesParams {
    fn default() -> Self {
        Self { value: ByteSize(100), compressible: 0.5 }
    }
}

impl Build<dyn Contents> for Entries {
    type Params = EntriesParams;

    fn build(params: EntriesParams) -> Result<Box<dyn Contents>, String> {
        let table = Table::from_iter([
            ("kind".to_owned(), Value::String("fixed".to_owned())),
            ("bytes".to_owned(), Value::String(params.value.to_string())),
            ("compressible".to_owned(), Value::Float(params.compressible)),
        ]);
        let spec = ValueSpec::from_toml(&Value::Table(table)).map_err(|error| error.message)?;
        Ok(Box::new(Self { spec }))
    }
}

impl Contents for Entries {
    fn bytes(&self, length: usize, seed: u64, _: &Path) -> Result<Vec<u8>, String> {
        let values = Values::new(&self.spec, seed).map_err(|error| error.message)?;
        let format = format("u64")?;
        Ok(filled(length, |number, bytes| {
            format.append(KeyId::present(number), bytes);
            bytes.extend_from_slice(values.value(number, 1));
        }))
    }
}

fn format(label: &str) -> Result<std::sync::Arc<dyn workload::KeyFormat>, String> {
    let choice = FORMATS.choose(&Value::String(label.to_owned())).map_err(|error| error.message)?;
    FORMATS.build(&choice).map_err(|error| error.message)?.open(None)
}

/// Fills a buffer with entries: calls `entry` with the indexes 0, 1, 2 and so on until it has appended `length` bytes,
/// and returns the first `length` bytes.
fn filled(length: usize, mut entry: impl FnMut(u64, &mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0.. {
        if bytes.len() >= length {
            break;
        }
        let before = bytes.len();
        entry(number, &mut bytes);
        debug_assert!(
            bytes.len() > before,
            "each entry of generated block contents must have at least one byte"
        );
    }
    bytes.truncate(length);
    bytes
}

struct Keys;

impl Build<dyn Contents> for Keys {
    type Params = Nothing;

    fn build(_: Nothing) -> Result<Box<dyn Contents>, String> {
        Ok(Box::new(Self))
    }
}

impl Contents for Keys {
    fn bytes(&self, length: usize, _: u64, _: &Path) -> Result<Vec<u8>, String> {
        Ok(filled(length, |number, bytes| {
            bytes.extend_from_slice(format!("user{:012}", number * 2).as_bytes());
        }))
    }
}

struct Integers;

impl Build<dyn Contents> for Integers {
    type Params = Nothing;

    fn build(_: Nothing) -> Result<Box<dyn Contents>, String> {
        Ok(Box::new(Self))
    }
}

impl Contents for Integers {
    fn bytes(&self, length: usize, seed: u64, _: &Path) -> Result<Vec<u8>, String> {
        let (mut random, mut last) = (Random::new(seed), 1 << 32);
        Ok(filled(length, |_, bytes| {
            last += 1 + random.below(1000);
            bytes.extend_from_slice(&last.to_le_bytes());
        }))
    }
}

struct Noise;

impl Build<dyn Contents> for Noise {
    type Params = Nothing;

    fn build(_: Nothing) -> Result<Box<dyn Contents>, String> {
        Ok(Box::new(Self))
    }
}

impl Contents for Noise {
    fn bytes(&self, length: usize, seed: u64, _: &Path) -> Result<Vec<u8>, String> {
        let mut random = Random::new(seed);
        Ok(filled(length, |_, bytes| bytes.extend_from_slice(&random.bits().to_le_bytes())))
    }
}

struct FileBytes(PathBuf);

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileParams {
    file: PathBuf,
}

impl Build<dyn Contents> for FileBytes {
    type Params = FileParams;

    fn build(params: FileParams) -> Result<Box<dyn Contents>, String> {
        Ok(Box::new(Self(params.file)))
    }
}

impl Contents for FileBytes {
    fn bytes(&self, length: usize, _: u64, base: &Path) -> Result<Vec<u8>, String> {
        let path = base.join(&self.0);
        let read = std::fs::read(&path);
        let mut bytes = read.map_err(|error| format!("content: cannot read {}: {error}", path.display()))?;
        bytes.truncate(length);
        match bytes.is_empty() {
            true => Err(format!("content: {} is empty", path.display())),
            false => Ok(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_content_has_the_bytes_that_were_asked_for() {
        catalog::laws::check(&CONTENTS).unwrap();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        for variant in CONTENTS.variants() {
            let label = if variant.kind == "file" { "file(file=src/contents.rs)" } else { variant.kind };
            let choice = CONTENTS.choose(&Value::String(label.to_owned())).unwrap();
            let bytes = |seed| CONTENTS.build(&choice).unwrap().bytes(1000, seed, here).unwrap();
            assert_eq!(bytes(1).len(), 1000, "{label}");
            assert_eq!(bytes(1), bytes(1), "{label}");
        }
        let missing = CONTENTS.choose(&"file(file=missing)".into()).unwrap();
        let error = CONTENTS.build(&missing).unwrap().bytes(10, 1, here).unwrap_err();
        assert!(error.contains("cannot read") && error.contains("missing"), "{error}");
        let error = CONTENTS.choose(&"entries(compressible=2)".into()).unwrap_err().message;
        assert!(error.contains("compressible is 2"), "{error}");
    }
}
