//! A codec in a shared library that implements the C ABI of `lsmbench_codec.h`.
//!
//! The library compresses and decompresses blocks. The library may be written in any language that has C functions.
//! Every call goes through a table of function pointers. If the parameter `library` is empty, the functions in the
//! table call the built-in codec `lz4`. Such a codec shows only the cost of the C ABI.
//!
//! Decompression finds a codec by the tag of the block, but all libraries share one tag. Each block therefore begins
//! with the name of its library: one byte for the length, and the text. [`decompress`](crate::decompress()) searches
//! for this name among the libraries that this process has loaded. An SSTable does not store the path of a library,
//! because opening an SSTable must not run code from a path in the SSTable. The design of the store names the library
//! to load.

mod identity;
mod table;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use catalog::library::{Interface, open};
use catalog::{Build, Choice, Seam, Variant};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};

use self::table::Functions;
use crate::compression::{Compression, CorruptBlock};
use crate::{lz4, shrunk};

pub(crate) const VARIANT: Variant<dyn Compression> = Variant::new::<Library>(
    "library",
    "a codec in a shared library, called through a C ABI, for codecs in other languages",
    "# Path of the shared library, relative to the current directory. \"\" calls the built-in codec \"lz4\"\n\
     # through the same C ABI.\n\
     library = \"\"\n",
);

/// The tag that identifies blocks of codec libraries on disk.
const TAG: u8 = 10;

const INTERFACE: Interface =
    Interface { symbol: "lsmbench_codec", header: "lsmbench_codec.h", abi: table::ABI };

/// The codec libraries that this process has loaded, by name. If two libraries have the same name, the later library
/// replaces the earlier library. Libraries stay loaded, because any SSTable may contain their blocks.
static LOADED: LazyLock<RwLock<BTreeMap<String, Arc<Functions>>>> = LazyLock::new(RwLock::default);

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    library: String,
}

/// The codec of a shared library. Each block that it compresses begins with the name of the library.
struct Library {
    functions: Arc<Functions>,
}

impl Build<dyn Compression> for Library {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Compression>, String> {
        let (api, provider) = open(&params.library, INTERFACE, identity::API)?;
        let functions = Functions::checked(api, provider)?;
        let functions = Arc::new(functions);
        LOADED.write().insert(functions.name.clone(), Arc::clone(&functions));
        Ok(Box::new(Self { functions }))
    }
}

impl Compression for Library {
    fn tag(&self) -> Option<u8> {
        Some(TAG)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        let name = self.functions.name.as_bytes();
        let head = name.len() + 1;
        // If the library reports an output size above the limit, the block is stored raw.
        let Some(most) = self.functions.max_output(block.len()) else {
            return shrunk::append(TAG, 0, block, out, |_| None);
        };
        shrunk::append(TAG, head + most, block, out, |space| {
            let (before, body) = space.split_at_mut(head);
            before[0] = u8::try_from(name.len()).ok()?;
            before[1..].copy_from_slice(name);
            Some(head + self.functions.compress(block, body)?)
        })
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        let short = || CorruptBlock::impossible("library");
        let (length, rest) = stored.split_first().ok_or_else(short)?;
        let (name, body) = rest.split_at_checked(usize::from(*length)).ok_or_else(short)?;
        if name == self.functions.name.as_bytes() {
            return self.functions.decompress(body, out);
        }
        let name = str::from_utf8(name).map_err(|_| short())?;
        let found = LOADED.read().get(name).cloned();
        let functions = found.ok_or_else(|| {
            CorruptBlock(format!(
                "the codec library {name:?} compressed this block, but this library is not loaded; name the \
                 library in the design of the store"
            ))
        })?;
        functions.decompress(body, out)
    }

    fn foreign_bytes(&self, _: usize) -> usize {
        self.functions.memory_bytes()
    }
}

/// The number of blocks that are compressed and decompressed per time measurement of the C ABI.
const CALLS: u32 = 100;

/// Prepares a measurement of the cost of the C ABI. Returns two closures, whose times the caller measures. Each closure
/// compresses and decompresses [`Seam::calls`] blocks of 4 KiB with `lz4`. One closure makes the calls through the C
/// ABI, and the other closure makes them directly. Returns `None` if `choice` is not the variant `library`.
pub fn seam(choice: &Choice) -> Option<Seam> {
    if choice.kind() != VARIANT.kind {
        return None;
    }
    let block: Vec<u8> = (0..4096u32).map(|at| (at / 7 % 251) as u8).collect();
    let rounds = |variant: &Variant<dyn Compression>| -> Option<Box<dyn FnMut()>> {
        let codec = variant.build(variant.defaults()).ok()?;
        let (block, mut stored, mut out) = (block.clone(), Vec::new(), vec![0; block.len()]);
        Some(Box::new(move || {
            for _ in 0..CALLS {
                stored.clear();
                codec.compress(0, std::hint::black_box(&block), &mut stored);
                std::hint::black_box(codec.decompress(&stored, &mut out).is_ok());
            }
        }))
    };
    let (through, direct) = (rounds(&VARIANT)?, rounds(&lz4::VARIANT)?);
    let call = "compression and decompression of a block of 4 KiB";
    Some(Seam { axis: "compression", kind: VARIANT.kind, call, calls: CALLS, through, direct })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codec(label: &str) -> Box<dyn Compression> {
        crate::CATALOG.build(&crate::CATALOG.choose(&label.into()).unwrap()).unwrap()
    }

    #[test]
    fn the_identity_stores_its_name_and_what_lz4_stores() {
        let block = vec![7; 1000];
        let [mut through, mut direct] = [Vec::new(), Vec::new()];
        assert_eq!(codec("library").compress(0, &block, &mut through), TAG);
        codec("lz4").compress(0, &block, &mut direct);
        assert_eq!(through, [b"\x03lz4".as_slice(), &direct].concat());
    }

    #[test]
    fn a_library_that_is_not_loaded_is_named() {
        let mut out = [0; 10];
        let error = codec("library").decompress(b"\x05other...", &mut out).unwrap_err().to_string();
        assert!(error.contains("the codec library \"other\" compressed this block"), "{error}");
        for short in [&b""[..], b"\x05oth", b"\x02\xff\xff"] {
            assert!(codec("library").decompress(short, &mut out).is_err());
        }
    }

    #[test]
    fn the_seam_of_the_variant_can_be_timed() {
        let choose = |label: &str| crate::CATALOG.choose(&label.into()).unwrap();
        let mut seam = seam(&choose("library")).unwrap();
        (seam.through)();
        (seam.direct)();
        assert!(super::seam(&choose("lz4")).is_none());
    }
}
