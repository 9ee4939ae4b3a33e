//! Decompresses blocks by their stored tag. A store can therefore read all its SSTables, even if its design now names
//! another codec.

use std::sync::LazyLock;

use crate::compression::{Compression, CorruptBlock, Decode, Learner};
use crate::dictionaries::Dictionaries;

/// All codecs of the catalog. Together, they can decompress every block of a store.
struct Known {
    /// All codecs of the catalog, each with its tag.
    codecs: Vec<(u8, Box<dyn Compression>)>,
    /// For each codec that trains dictionaries, its tag and the function that opens one of its dictionaries.
    learners: Vec<Learner>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let catalog = &crate::CATALOG;
    let codecs = || {
        catalog
            .all()
            .map(|choice| catalog.build(&choice).expect("the default parameters of a codec must be valid"))
    };
    Known {
        codecs: codecs().filter_map(|codec| Some((codec.tag()?, codec))).collect(),
        learners: codecs().filter_map(|codec| codec.learner()).collect(),
    }
});

/// Decompresses bytes that were stored with `tag` into `out`, which must have the original length. The function can
/// decompress the output of any variant with any parameters, because a tag never changes its meaning.
///
/// # Errors
/// No codec has the tag, or the bytes do not decode to exactly this length. The content of `out` is then undefined,
/// but no other memory has changed.
pub fn decompress(tag: u8, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
    let codec = KNOWN.codecs.iter().find(|(own, _)| *own == tag);
    let (_, codec) = codec.ok_or_else(|| {
        CorruptBlock(format!(
            "the compressed block has the tag {tag}, but no codec has this tag, or the SSTable lacks the \
             dictionary of the block"
        ))
    })?;
    codec.decompress(stored, out)
}

/// Decompresses the blocks of one SSTable, also those that need a dictionary of the SSTable.
#[derive(Default)]
pub struct Decompressor {
    /// For each dictionary number of the SSTable, the tag of the codec and the function that decompresses blocks with
    /// this dictionary.
    learnt: Vec<(u8, Decode)>,
}

impl Decompressor {
    /// Creates the decompressor of an SSTable. `dictionaries` are the stored dictionaries of the SSTable.
    ///
    /// # Errors
    /// The bytes are not valid dictionaries of known codecs.
    pub fn open(dictionaries: &[u8]) -> Result<Self, CorruptBlock> {
        let corrupt = || CorruptBlock("the dictionaries of the SSTable cannot be read".to_owned());
        let dictionaries = Dictionaries::decode(dictionaries).ok_or_else(corrupt)?;
        let open = |(tag, bytes): (u8, &[u8])| {
            let learner = KNOWN.learners.iter().find(|learner| learner.tag == tag).ok_or_else(corrupt)?;
            Ok((tag, (learner.open)(bytes)?))
        };
        Ok(Self { learnt: dictionaries.iter().map(open).collect::<Result<_, _>>()? })
    }

    /// Decompresses a block like [`decompress`]. The block may need a dictionary of the SSTable.
    ///
    /// # Errors
    /// See [`decompress`].
    #[inline]
    pub fn decompress(&self, tag: u8, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        if let Some((number, behind)) = stored.split_first()
            && let Some((own, decode)) = self.learnt.get(usize::from(*number))
            && *own == tag
        {
            return decode(behind, out);
        }
        decompress(tag, stored, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_tag_is_named() {
        assert!(decompress(200, b"", &mut []).unwrap_err().to_string().contains("tag 200"));
    }

    #[test]
    fn tags_on_disk_never_change() {
        let tags: Vec<u8> = KNOWN.codecs.iter().map(|(tag, _)| *tag).collect();
        // None, lz4, snappy, zstd, lzma, bitpack, delta, dictionary, fsst, library; a new codec takes a new tag.
        assert_eq!(tags, [0, 1, 2, 3, 4, 5, 6, 7, 8, 10]);
        let mut tags: Vec<u8> = KNOWN.learners.iter().map(|learner| learner.tag).collect();
        tags.sort_unstable();
        assert_eq!(tags, [8, 9]);
    }

    #[test]
    fn dictionaries_of_unknown_codecs_are_refused() {
        let mut dictionaries = Dictionaries::default();
        dictionaries.add(200, b"what".to_vec());
        assert!(Decompressor::open(&dictionaries.encode()).is_err());
        assert!(Decompressor::open(b"x").is_err());
        assert!(Decompressor::open(b"").is_ok());
    }
}
