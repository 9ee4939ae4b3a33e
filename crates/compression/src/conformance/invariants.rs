//! The invariants of compression, as functions of a codec, a decompressor and a block.

use std::panic::{AssertUnwindSafe, catch_unwind};

use catalog::laws::{Invariant, ensure};

use super::corpora;
use crate::{CATALOG, Compression, CorruptBlock, Decompressor, Dictionaries, RAW, decompress};

/// The codec or selector whose invariants are checked.
pub(crate) struct Subject(pub(crate) Box<dyn Compression>);

/// All invariants of compression, each with its name and the function that checks it.
pub(crate) const INVARIANTS: &[Invariant<Subject>] = &[
    ("each block tag belongs to exactly one codec", a_tag_is_one_codec),
    ("decompression restores every block, and no block grows", every_block_comes_back),
    ("corrupt input gives an error or wrong bytes, and never a panic", corruption_is_an_error),
    ("a codec with trained dictionaries restores its blocks", what_is_learnt_is_read),
    (
        "a codec that was trained with too few samples still restores its blocks",
        nothing_is_learnt_from_nothing,
    ),
    ("several threads can use one codec at the same time", threads_share_one_codec),
];

/// Checks that no two codecs of the catalog have the same tag. The tag of a block then always identifies its codec.
fn a_tag_is_one_codec(subject: &Subject) -> Result<(), String> {
    let Some(tag) = subject.0.tag() else { return Ok(()) };
    let others = CATALOG.all().filter_map(|choice| CATALOG.build(&choice).ok());
    let owners = others.filter(|codec| codec.tag() == Some(tag)).count();
    ensure(owners == 1, || {
        format!("{owners} codecs of the catalog have the tag {tag}; exactly one codec must have it")
    })
}

fn every_block_comes_back(subject: &Subject) -> Result<(), String> {
    corpora::all().into_iter().try_for_each(|(name, block)| {
        check(&*subject.0, &decompress, &block).map_err(|broken| format!("{name}: {broken}"))
    })
}

fn corruption_is_an_error(subject: &Subject) -> Result<(), String> {
    corpora::small().into_iter().try_for_each(|(name, block)| {
        check_corruption(&*subject.0, &decompress, &block).map_err(|broken| format!("{name}: {broken}"))
    })
}

/// Opens the stored dictionaries of an SSTable, as a tree does. Returns the function that decompresses the blocks of
/// this SSTable.
fn open(dictionaries: &[u8]) -> Result<Opened, CorruptBlock> {
    let opened = Decompressor::open(dictionaries)?;
    Ok(Box::new(move |tag, stored, out| opened.decompress(tag, stored, out)))
}

fn what_is_learnt_is_read(subject: &Subject) -> Result<(), String> {
    let table = corpora::table();
    let samples: Vec<&[u8]> = table.iter().map(Vec::as_slice).collect();
    let mut blocks = table.clone();
    blocks.extend(corpora::all().into_iter().map(|(_, block)| block));
    let learnt = check_learning(&*subject.0, &open, &samples, &blocks)?;
    let asks = (0..8).any(|level| subject.0.sample_bytes(level) > 0);
    ensure(asks == (learnt > 0), || {
        let sample_bytes = if asks { "above 0" } else { "0 at every level" };
        format!(
            "`learn` returned a trained codec at {learnt} levels, but `sample_bytes` is {sample_bytes}; `learn` must \
             return a trained codec if and only if `sample_bytes` is above 0"
        )
    })
}

fn nothing_is_learnt_from_nothing(subject: &Subject) -> Result<(), String> {
    let blocks = &corpora::table()[..3];
    for samples in [&[][..], &[&b""[..]], &[&b"a"[..], b"b"]] {
        check_learning(&*subject.0, &open, samples, blocks)?;
    }
    Ok(())
}

fn threads_share_one_codec(subject: &Subject) -> Result<(), String> {
    std::thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(|| every_block_comes_back(subject)));
        threads.into_iter().try_for_each(|thread| {
            thread.join().map_err(|_| "a thread panicked while several threads used the codec".to_owned())?
        })
    })
}

/// A function that decompresses a block by its tag.
pub(crate) type Decompress<'a> = &'a dyn Fn(u8, &[u8], &mut [u8]) -> Result<(), CorruptBlock>;

/// A function that decompresses a block by its tag, with the dictionaries of an SSTable.
pub(crate) type Opened = Box<dyn Fn(u8, &[u8], &mut [u8]) -> Result<(), CorruptBlock>>;

/// A function that opens the dictionaries of an SSTable.
pub(crate) type Open<'a> = &'a dyn Fn(&[u8]) -> Result<Opened, CorruptBlock>;

/// The levels of the tree for which codecs are checked.
const LEVELS: [usize; 4] = [0, 1, 2, 7];

/// Checks at several levels of the tree that decompression restores a block, and that no block grows.
pub(crate) fn check(codec: &dyn Compression, decompress: Decompress<'_>, block: &[u8]) -> Result<(), String> {
    LEVELS.into_iter().try_for_each(|level| check_at(codec, decompress, level, block))
}

/// Checks for one level of the tree that decompression restores a block, and that no block grows.
pub(crate) fn check_at(
    codec: &dyn Compression,
    decompress: Decompress<'_>,
    level: usize,
    block: &[u8],
) -> Result<(), String> {
    let mut stored = b"before".to_vec();
    let tag = codec.compress(level, block, &mut stored);
    let appended = stored.strip_prefix(b"before").ok_or(
        "invariant 1: the codec overwrote earlier bytes of the output buffer; it must only append bytes",
    )?;
    if tag == RAW && appended != block {
        return Err("invariant 2: a block that is stored raw differs from the input".to_owned());
    }
    if tag != RAW && appended.len() >= block.len() {
        return Err(format!(
            "invariant 2: a block of {} bytes became {} bytes with tag {tag}; a block that does not become \
             smaller must be stored raw",
            block.len(),
            appended.len()
        ));
    }
    let mut out = vec![0xaa; block.len()];
    decompress(tag, appended, &mut out).map_err(|error| format!("invariant 1: {error}"))?;
    if out == block {
        Ok(())
    } else {
        Err("invariant 1: decompression did not return the original block".to_owned())
    }
}

/// Checks that corrupt input gives an error or wrong bytes, and never a panic. The check truncates the stored bytes at
/// every length, extends them, flips every bit, and decompresses with wrong lengths. A codec must return an error for a
/// truncated block and for a wrong length.
pub(crate) fn check_corruption(
    codec: &dyn Compression,
    decompress: Decompress<'_>,
    block: &[u8],
) -> Result<(), String> {
    let mut stored = Vec::new();
    let tag = codec.compress(2, block, &mut stored);
    let attempt = |stored: &[u8], len: usize| {
        let mut out = vec![0; len];
        let decoded = catch_unwind(AssertUnwindSafe(|| decompress(tag, stored, &mut out)));
        decoded
            .map(|result| result.is_ok())
            .map_err(|_| "invariant 3: decompression of corrupt bytes panicked".to_owned())
    };
    for len in [block.len() + 1, block.len() * 2 + 7, block.len().saturating_sub(1)] {
        if len != block.len() && attempt(&stored, len)? {
            return Err(format!(
                "invariant 3: a block of {} bytes was decompressed to the wrong length of {len} bytes \
                 without an error",
                block.len()
            ));
        }
    }
    for cut in 0..stored.len() {
        if attempt(&stored[..cut], block.len())? {
            return Err(format!(
                "invariant 3: stored bytes that were truncated to {cut} bytes were decompressed without an \
                 error"
            ));
        }
    }
    for bit in 0..stored.len() * 8 {
        let mut flipped = stored.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        attempt(&flipped, block.len())?;
    }
    attempt(&[&stored[..], &stored].concat(), block.len()).map(drop)
}

/// Checks that a trained codec restores its blocks, and that corrupt input never causes a panic. The codec is trained
/// with `samples` at each level of [`LEVELS`]. Returns the number of levels at which [`Compression::learn`] returned a
/// trained codec.
pub(crate) fn check_learning(
    codec: &dyn Compression,
    open: Open<'_>,
    samples: &[&[u8]],
    blocks: &[Vec<u8>],
) -> Result<usize, String> {
    let invariant = |broken: String| format!("invariant 4: {broken}");
    let mut learnt_at = 0;
    for level in LEVELS {
        let mut dictionaries = Dictionaries::default();
        let learnt = codec.learn(level, samples, &mut dictionaries);
        if learnt.is_none() && !dictionaries.is_empty() {
            return Err(invariant(
                "`learn` added a dictionary, but returned no codec that uses it".to_owned(),
            ));
        }
        let Some(learnt) = learnt else { continue };
        learnt_at += 1;
        let stored = dictionaries.encode();
        let decompress = open(&stored).map_err(|error| invariant(error.to_string()))?;
        for block in blocks {
            check_at(&*learnt, &*decompress, level, block).map_err(invariant)?;
        }
        if level == LEVELS[2] {
            check_corruption(&*learnt, &*decompress, &blocks[0]).map_err(invariant)?;
            check_corrupt_dictionaries(&*learnt, open, &stored, &blocks[0]).map_err(invariant)?;
        }
    }
    Ok(learnt_at)
}

/// Checks that corrupt dictionaries cause an error or wrong bytes, and never a panic. The dictionaries are truncated,
/// or have flipped bits.
fn check_corrupt_dictionaries(
    learnt: &dyn Compression,
    open: Open<'_>,
    dictionaries: &[u8],
    block: &[u8],
) -> Result<(), String> {
    let mut stored = Vec::new();
    let tag = learnt.compress(LEVELS[2], block, &mut stored);
    let attempt = |dictionaries: &[u8]| {
        let attempt =
            || open(dictionaries).and_then(|opened| opened(tag, &stored, &mut vec![0; block.len()]));
        catch_unwind(AssertUnwindSafe(attempt)).map(drop).map_err(|_| "a panic".to_owned())
    };
    for at in (0..dictionaries.len()).step_by(1 + dictionaries.len() / 200) {
        attempt(&dictionaries[..at])?;
        let mut flipped = dictionaries.to_vec();
        flipped[at] ^= 1 << (at % 8);
        attempt(&flipped)?;
    }
    Ok(())
}
