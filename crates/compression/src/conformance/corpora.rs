//! Test blocks: empty, tiny, constant, random, text, integers, and a mixture of these.

use types::SplitMix64;

type Corpus = (&'static str, Vec<u8>);

/// Returns test blocks of every kind, in several sizes.
pub(crate) fn all() -> Vec<Corpus> {
    let random = &mut SplitMix64::new(5);
    let mut corpora = small();
    corpora.extend([
        ("one byte", vec![7]),
        ("zeros 4 KiB", vec![0; 4 << 10]),
        ("zeros 64 KiB", vec![0; 64 << 10]),
        ("random 4 KiB", noise(4 << 10, random)),
        ("random 64 KiB", noise(64 << 10, random)),
        ("text 4 KiB", text(4 << 10, random)),
        ("text 16 KiB", text(16 << 10, random)),
        ("text 200 KiB", text(200 << 10, random)),
        ("mixed 4 KiB", mixed(4 << 10, random)),
        ("mixed 16 KiB", mixed(16 << 10, random)),
        ("mixed 64 KiB", mixed(64 << 10, random)),
        ("65535 bytes", mixed(65_535, random)),
        ("integers 4 KiB", integers(4 << 10, random)),
        ("integers 65539 B", integers(65_539, random)),
    ]);
    corpora
}

/// Returns small test blocks, for which a test can try every possible corruption.
pub(crate) fn small() -> Vec<Corpus> {
    let random = &mut SplitMix64::new(6);
    vec![
        ("empty", Vec::new()),
        ("zeros 300 B", vec![0; 300]),
        ("random 200 B", noise(200, random)),
        ("text 700 B", text(700, random)),
        ("mixed 600 B", mixed(600, random)),
        ("integers 605 B", integers(605, random)),
    ]
}

/// Returns the blocks of one test SSTable, which contain text with random bytes at regular intervals.
pub(crate) fn table() -> Vec<Vec<u8>> {
    let random = &mut SplitMix64::new(7);
    (0..64).map(|n| if n % 8 == 5 { mixed(1000, random) } else { text(1000, random) }).collect()
}

fn noise(len: usize, random: &mut SplitMix64) -> Vec<u8> {
    (0..len).map(|_| random.next_u64() as u8).collect()
}

fn text(len: usize, random: &mut SplitMix64) -> Vec<u8> {
    let words =
        ["the ", "tree ", "merges ", "runs, ", "\"key\": ", "level ", "1.618", "\n", "newest ", "of "];
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend_from_slice(words[random.below(words.len() as u64) as usize].as_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Returns a column of increasing 8-byte words for the integer codecs. The differences between neighboring words have
/// only few different values.
fn integers(len: usize, random: &mut SplitMix64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + 8);
    let mut word = 1_700_000_000_000u64;
    while bytes.len() < len {
        word += 1000 * u64::from(random.chance(0.25));
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Returns a block whose matches are at short and long distances. Each entry of 150 bytes has random bytes in its first
/// third, the same bytes in its second third, and one repeated byte in its last third.
fn mixed(len: usize, random: &mut SplitMix64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + 150);
    while bytes.len() < len {
        let fresh = noise(50, random);
        bytes.extend([&fresh[..], &fresh, &[b'x'; 50]].concat());
    }
    bytes.truncate(len);
    bytes
}
