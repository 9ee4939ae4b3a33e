//! Fingerprint arrays built by peeling, for the xor filter and the binary fuse filter. A key selects a few integers
//! of an array, and the XOR of these integers is the fingerprint of the key.
//!
//! Peeling searches for an integer that only one key selects, and removes this key. Peeling repeats this step until
//! no key is left. Afterwards, the integers are set in the reverse order of the removals. Source: Graf & Lemire, "Xor
//! filters: faster and smaller than Bloom and cuckoo filters" (2020), after Botelho, Pagh & Ziviani (2007).

use types::KeyHash;

use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput};
use crate::packed::{MOST_WIDTH, Packed};
use crate::position::{mix, remix};
use crate::stored::Head;

/// A rule that selects a few integers of a fingerprint array for each key. The XOR of these integers is the fingerprint
/// of the key.
pub(crate) trait Selection<const N: usize>: Sized + Send + Sync {
    /// Creates the selection rule for a filter with `keys` different keys. A larger number `attempt` gives a larger
    /// fingerprint array.
    fn sized(keys: usize, attempt: u64) -> Self;

    /// Returns the two parameters of this selection rule, which determine the results of [`len`](Self::len) and
    /// [`select`](Self::select).
    fn params(&self) -> [u64; 2];

    /// Creates the selection rule from its two stored parameters. Returns `None` if the parameters are invalid.
    fn from_params(params: [u64; 2]) -> Option<Self>;

    /// Returns the length of the fingerprint array.
    fn len(&self) -> u64;

    /// Returns the indices in the fingerprint array that a key selects. The indices are distinct. `mixed` is the hash
    /// of the key, mixed with a seed.
    fn select(&self, mixed: u64) -> [usize; N];
}

/// Returns the fingerprint of a key. The filter uses only the low bits of the result.
#[inline]
fn fingerprint(mixed: u64) -> u64 {
    remix(mixed ^ mixed >> 32) >> 32
}

/// Returns the fingerprint width, or an error if the width is not from 1 to `MOST_WIDTH` bits.
pub(crate) fn check_width(fingerprint_bits: u32) -> Result<u32, String> {
    if (1..=MOST_WIDTH).contains(&fingerprint_bits) {
        Ok(fingerprint_bits)
    } else {
        Err(format!("fingerprint_bits is {fingerprint_bits}; it must be from 1 to {MOST_WIDTH}"))
    }
}

/// Returns the fingerprint width in bits for the filter of one SSTable. With an allocation, the result is the largest
/// width at which the fingerprint array, with `overhead` integers per key, fits into the memory budget. Without an
/// allocation, the result is the parameter `fingerprint_bits`.
pub(crate) fn width(fingerprint_bits: u32, overhead: f64, input: &FilterInput<'_>) -> u32 {
    match input.bits_per_key {
        Some(bits) => Budget::width(bits / overhead).clamp(1, MOST_WIDTH),
        None => fingerprint_bits,
    }
}

/// Builds a fingerprint array, and returns the bytes to store: the header, the seed, the two parameters of the rule
/// that selects integers, and the array. Without keys, the result is only the header. The header field `probes` is the
/// fingerprint width.
pub(crate) fn build<const N: usize, S: Selection<N>>(
    tag: [u8; 4],
    width: u32,
    input: &FilterInput<'_>,
) -> Vec<u8> {
    let head = Head::new(tag, width, input.hashes);
    if input.hashes.is_empty() {
        return head.encode(std::iter::empty());
    }
    // The search ends, because each attempt has a larger array. Duplicate hashes are removed, because peeling cannot
    // separate two keys that select the same integers.
    let (seed, selection, order) = (0..)
        .find_map(|seed| {
            let mut keys: Vec<u64> = input.hashes.iter().map(|hash| mix(hash.0, seed)).collect();
            keys.sort_unstable();
            keys.dedup();
            let selection = S::sized(keys.len(), seed);
            peel(&keys, &selection).map(|order| (seed, selection, order))
        })
        .expect("the search for a fingerprint array must end, because each attempt has a larger array");
    let mut array = Packed::zeros(selection.len() as usize, width);
    for (mixed, place) in order.into_iter().rev() {
        let others = selection.select(mixed).into_iter().filter(|other| *other != place);
        let sum = others.fold(fingerprint(mixed), |sum, other| sum ^ array.get(other));
        array.set(place, sum);
    }
    let words: Vec<u64> = [seed].into_iter().chain(selection.params()).chain(array.to_words()).collect();
    head.encode(words.into_iter())
}

/// Returns the keys in the reverse of an order in which the fingerprint array can be filled. Each key comes with the
/// index of the array entry that is set for this key. Returns `None` if no such order exists, so that the caller tries
/// a larger array.
fn peel<const N: usize, S: Selection<N>>(keys: &[u64], selection: &S) -> Option<Vec<(u64, usize)>> {
    // For each index of the array, the number of keys that select the index, and the XOR of these keys.
    let mut selected = vec![(0u32, 0u64); selection.len() as usize];
    for key in keys {
        for place in selection.select(*key) {
            selected[place].0 += 1;
            selected[place].1 ^= key;
        }
    }
    let mut alone: Vec<usize> = (0..selected.len()).filter(|place| selected[*place].0 == 1).collect();
    let mut order = Vec::with_capacity(keys.len());
    while let Some(place) = alone.pop() {
        let (1, key) = selected[place] else { continue };
        order.push((key, place));
        for place in selection.select(key) {
            selected[place].0 -= 1;
            selected[place].1 ^= key;
            if selected[place].0 == 1 {
                alone.push(place);
            }
        }
    }
    (order.len() == keys.len()).then_some(order)
}

/// Opens a filter from the bytes that [`build`] returned.
pub(crate) fn open<const N: usize, S: Selection<N> + 'static>(
    tag: [u8; 4],
    stored: &[u8],
) -> Result<Box<dyn Filter>, CorruptFilter> {
    let (head, mut words) = Head::decode(stored, tag)?;
    if !(1..=MOST_WIDTH).contains(&head.probes) {
        return Err(CorruptFilter(format!(
            "the header of the stored filter states fingerprints of {} bits, but only 1 to {MOST_WIDTH} bits \
             are valid",
            head.probes
        )));
    }
    let (Some(seed), Some(first), Some(second)) = (words.next(), words.next(), words.next()) else {
        return match head.keys {
            0 => Ok(Box::new(SumFilter::<N, S> { parts: None })),
            keys => Err(CorruptFilter(format!(
                "the header of the stored filter states {keys} keys, but no fingerprints follow"
            ))),
        };
    };
    let fits = |selection: &S| {
        selection.len() > 0 && Packed::checked_words(selection.len(), head.probes) == Some(words.len() as u64)
    };
    let Some(selection) = S::from_params([first, second]).filter(fits) else {
        return Err(CorruptFilter(format!(
            "the stored filter has a fingerprint array of {} words, which does not match its stored \
             parameters {first} and {second}",
            words.len()
        )));
    };
    let array = Packed::from_words(words, head.probes);
    Ok(Box::new(SumFilter { parts: Some((seed, selection, array)) }))
}

/// A fingerprint array in memory. For an SSTable without keys, `parts` is `None`.
struct SumFilter<const N: usize, S> {
    parts: Option<(u64, S, Packed)>,
}

impl<const N: usize, S: Selection<N>> Filter for SumFilter<N, S> {
    fn may_contain(&self, hash: KeyHash) -> bool {
        let Some((seed, selection, array)) = &self.parts else { return false };
        let mixed = mix(hash.0, *seed);
        let sum = |sum, place| sum ^ array.get(place);
        selection.select(mixed).into_iter().fold(fingerprint(mixed) & array.mask(), sum) == 0
    }

    fn prefetch(&self, hash: KeyHash) {
        let Some((seed, selection, array)) = &self.parts else { return };
        selection.select(mix(hash.0, *seed)).into_iter().for_each(|place| array.prefetch(place));
    }

    /// Returns the false-positive rate, which is 2^−width. The XOR of the selected integers is random for an absent
    /// key, so it rarely equals the fingerprint.
    fn expected_fpr(&self) -> f64 {
        self.parts.as_ref().map_or(0.0, |(_, _, array)| 0.5f64.powf(array.width().into()))
    }

    fn memory_bytes(&self) -> usize {
        self.parts.as_ref().map_or(0, |(_, _, array)| array.memory_bytes())
    }
}
