//! The ribbon filter, which solves a system of linear equations. The fingerprint of a key is the sum (XOR) of some of
//! 64 adjacent rows of the solution. A ribbon filter takes only a few percent more memory than the minimum for any
//! filter.
//!
//! In the equation of a key, the coefficients select rows of the solution. The sum of these rows must be the
//! fingerprint of the key (see `banding`). The solution is stored by columns, so 64 rows (a block) take one 64-bit
//! word per column. A lookup reads two adjacent blocks, and computes an AND and a parity for each column. With r
//! columns, the false-positive rate is 2^−r. If the memory budget is not a whole number of columns, some blocks have
//! one column more than the others.
//!
//! The filter has three constructions:
//! * **`balanced`**: the system has fewer rows than keys. If the equation of a key contradicts other equations, the
//!   filter moves ("bumps") keys to a second system, which is much smaller. In a bucket of 128 start rows, the filter
//!   bumps all keys whose start row is below a threshold. Keys of the second system can be bumped to a third or
//!   fourth system. The last system has the construction `standard`. This construction takes about 1.015 · r bits per
//!   key, including 8 bits of threshold per bucket. Source: Dillinger, Hübschle-Schneider, Sanders & Walzer, "Fast
//!   succinct retrieval and approximate membership using ribbon" (2022).
//! * **`homogeneous`**: all fingerprints are 0, so the equations cannot contradict each other. Rows at which no
//!   equation begins get random values. With few rows, the equations of some absent keys are sums of equations of
//!   stored keys, so these absent keys are false positives. The false-positive rate of large SSTables increases by up
//!   to a fifth. The builder measures the increase. This construction takes (1 + (4 + r/4)/64) · r bits per key.
//!   Source: section 4 of the same paper.
//! * **`standard`**: the builder increases the number of rows until no equations contradict each other. This
//!   construction takes 1.1 to 1.2 · r bits per key, and the factor grows with the logarithm of the number of keys.
//!   Source: Dillinger & Walzer, "Ribbon filter: practically smaller than Bloom and Xor" (2021).
//!
//! The filter takes `bits_per_key` / 8 bytes per key. A probe reads two adjacent blocks of r words each, in two to four
//! neighboring cache lines. With the construction `balanced`, a probe of a bumped key also reads two blocks of the next
//! system.
#![allow(clippy::inline_always)] // The lookup is compiled for three CPU feature sets.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, KeyHash};

use crate::banding::{Banding, Equation, WIDTH};
use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::position::mix;
use crate::processor::Portable;
#[cfg(target_arch = "x86_64")]
use crate::processor::{Avx512Popcnt, Popcnt};
use crate::stored::Head;
use prefetch::large;
use prefetch::prefetch;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Ribbon>(
    "ribbon",
    "stores the solution of one linear equation per key; close to the minimum memory for a false-positive \
     rate, but slow to probe",
    "# Memory in bits per key, 0.001 to 64. More bits lower the false-positive rate.\n\
     bits_per_key = 10\n\
     # Construction of the filter. \"balanced\" takes the least memory. \"homogeneous\" is the simplest, and\n\
     # its construction cannot fail. \"standard\" is the original construction.\n\
     form = \"balanced\"\n",
);

/// The number of adjacent rows that form a bucket and share a threshold. If the equation of a key begins in a row below
/// the threshold of its bucket, the key is moved to the next system of equations ("bumped").
const BUCKET: usize = 128;

/// The largest number of systems of equations (layers) in a filter with the construction `balanced`, including the last
/// system.
const MOST_LAYERS: usize = 4;

/// The number of stored words of a layer in addition to its thresholds and its solution.
const LAYER_WORDS: usize = 4;

/// If fewer keys than this number are bumped, the builder puts all of them into one last system with the construction
/// `standard`.
const FEW_KEYS: usize = 512;

/// The number of seeds that the builder of a homogeneous filter tries. The builder keeps the seed that causes the
/// fewest false positives.
const HOMOGENEOUS_SEEDS: u64 = 3;

/// The number of rows per key in a system of equations from which keys can be bumped to the next system. With a value
/// below 1, not all keys fit into the system, but few of its rows remain unused.
const ROWS_PER_BUMPED_KEY: f64 = 0.96;

/// Builds ribbon filters, which store the solution of one linear equation per key.
struct Ribbon {
    budget: Budget,
    form: Form,
}

/// The construction of a ribbon filter. It determines the number of rows, and what happens to equations that contradict
/// each other.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    Balanced,
    Homogeneous,
    Standard,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bits_per_key: f64,
    form: Form,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits_per_key: 10.0, form: Form::Balanced }
    }
}

impl Build<dyn FilterPolicy> for Ribbon {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self { budget: Budget::from_param(params.bits_per_key)?, form: params.form }))
    }
}

impl FilterPolicy for Ribbon {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let keys: Vec<u64> = input.hashes.iter().map(|hash| hash.0).collect();
        let bits_per_key = self.budget.bits_per_key(input);
        let layers = match self.form {
            _ if keys.is_empty() => Vec::new(),
            Form::Balanced => balanced(keys),
            Form::Homogeneous => vec![homogeneous(&keys, bits_per_key)],
            Form::Standard => vec![standard(&keys, 0)],
        };
        encode(self.form, input, &layers, self.budget.units(input, 64))
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let system = decode(self.form, &stored)?;
        #[cfg(target_arch = "x86_64")]
        if let Some(lookup) = Avx512Popcnt::detect() {
            return Ok(Box::new(RibbonFilter { system, lookup }));
        } else if let Some(lookup) = Popcnt::detect() {
            return Ok(Box::new(RibbonFilter { system, lookup }));
        }
        Ok(Box::new(RibbonFilter { system, lookup: Portable }))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.budget.param())
    }
}

/// One system of equations (layer) of a ribbon filter, before its solution is computed.
struct Layer {
    banding: Banding,
    rows: usize,
    seed: u64,
    /// The threshold of each bucket of 128 rows. A key whose equation begins in a row below the threshold of its bucket
    /// is not in this system, but in the next one. The list is empty if no keys are moved.
    thresholds: Vec<u8>,
    /// The estimated fraction of absent keys whose equation is a sum of equations of stored keys (see [`spanned`]).
    /// These keys are false positives, even with many columns. The value is 0 unless the filter is homogeneous.
    spanned: f64,
}

/// Mixes the hashes of the keys with a seed, and sorts them by the first rows of their equations. The result has no
/// duplicates.
fn mixed(keys: &[u64], seed: u64) -> Vec<u64> {
    let mut keys: Vec<u64> = keys.iter().map(|key| mix(*key, seed)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Rounds a number of rows up to a multiple of 64, which is the number of rows of a block. The result is at least one
/// block.
fn whole_blocks(rows: f64) -> usize {
    ((rows / WIDTH as f64).ceil() as usize).max(1) * WIDTH
}

fn homogeneous(keys: &[u64], bits_per_key: f64) -> Layer {
    let overhead = |columns: f64| 1.0 + (4.0 + columns / 4.0) / WIDTH as f64;
    // The number of columns and the overhead depend on each other, so the computation is iterated.
    let columns = (0..20).fold(bits_per_key, |columns, _| bits_per_key / overhead(columns));
    let rows = whole_blocks(keys.len() as f64 * overhead(columns) + WIDTH as f64);
    let mut best: Option<(usize, Layer)> = None;
    for seed in 0..HOMOGENEOUS_SEEDS {
        let mut banding = Banding::new(rows);
        let mut dependent = 0;
        for key in mixed(keys, seed) {
            let equation = Equation { fingerprint: 0, ..Equation::of(key, rows) };
            dependent += usize::from(banding.spans(equation));
            banding.add(equation);
        }
        if best.as_ref().is_none_or(|(least, _)| dependent < *least) {
            best = Some((dependent, Layer { banding, rows, seed, thresholds: Vec::new(), spanned: 0.0 }));
        }
        if dependent == 0 {
            break;
        }
    }
    let (_, mut layer) = best.expect("the builder of a homogeneous ribbon filter must try at least one seed");
    layer.spanned = spanned(&layer, keys.len());
    layer
}

/// Estimates the fraction of absent keys that are false positives because their equation is a sum of equations of
/// stored keys. The function tests `samples` absent keys, because the fraction differs between SSTables.
fn spanned(layer: &Layer, samples: usize) -> f64 {
    let absent = (0..samples as u64).map(|sample| Equation::of(mix(sample, !layer.seed), layer.rows));
    absent.filter(|equation| layer.banding.spans(*equation)).count() as f64 / samples as f64
}

/// Builds a system of equations that contains the equations of all keys. The function tries further seeds and more rows
/// until no equations contradict each other. With two rows per key, few seeds fail.
fn standard(keys: &[u64], first_seed: u64) -> Layer {
    let count = keys.len() as f64;
    let mut rows_per_key = 1.0 + 0.006 * count.log2();
    for seed in first_seed.. {
        let rows = whole_blocks(count * rows_per_key + 8.0);
        let mut banding = Banding::new(rows);
        if mixed(keys, seed).into_iter().all(|key| banding.add(Equation::of(key, rows))) {
            return Layer { banding, rows, seed, thresholds: Vec::new(), spanned: 0.0 };
        }
        rows_per_key *= 1.01;
    }
    unreachable!("the search for a ribbon system must end, because each attempt has more rows")
}

fn balanced(mut keys: Vec<u64>) -> Vec<Layer> {
    let mut layers = Vec::new();
    while layers.len() < MOST_LAYERS - 1 && keys.len() >= FEW_KEYS {
        let (layer, bumped) = bumping(&keys, layers.len() as u64);
        layers.push(layer);
        keys = bumped;
    }
    if !keys.is_empty() {
        layers.push(standard(&keys, layers.len() as u64));
    }
    layers
}

/// Builds a system with fewer rows than keys. The second result has the keys that do not fit, which the next system
/// must contain.
///
/// The function adds equations bucket by bucket, in ascending order. Within a bucket, it adds equations in descending
/// order of their first rows, because the rows after the bucket are still free.
fn bumping(keys: &[u64], seed: u64) -> (Layer, Vec<u64>) {
    let keys = mixed(keys, seed);
    let rows = whole_blocks(keys.len() as f64 * ROWS_PER_BUMPED_KEY);
    let mut banding = Banding::new(rows);
    let mut thresholds = vec![0; rows.div_ceil(BUCKET)];
    let mut bumped = Vec::new();
    let start = |key: &u64| Equation::of(*key, rows).start;
    for bucket in keys.chunk_by(|a, b| start(a) / BUCKET == start(b) / BUCKET) {
        let refused = bucket.iter().rev().find(|key| !banding.add(Equation::of(**key, rows)));
        if let Some(refused) = refused {
            let offset = start(refused) % BUCKET;
            thresholds[start(refused) / BUCKET] = offset as u8 + 1;
            bumped.extend(bucket.iter().take_while(|key| start(key) % BUCKET <= offset));
        }
    }
    (Layer { banding, rows, seed, thresholds, spanned: 0.0 }, bumped)
}

/// The positions of the blocks in the stored solution. A block has 64 rows of the solution, with one word for each
/// column. The first `split` blocks have `columns` columns, and all other blocks have one more column.
#[derive(Clone, Copy)]
struct Layout {
    columns: usize,
    split: usize,
}

impl Layout {
    /// Creates the layout in which `blocks` blocks of the solution take `words` words.
    fn spending(words: usize, blocks: usize) -> Self {
        let words = words.min(blocks * u64::BITS as usize);
        Self { columns: words / blocks, split: blocks - words % blocks }
    }

    #[inline]
    fn columns(self, block: usize) -> usize {
        self.columns + usize::from(block >= self.split)
    }

    #[inline]
    fn offset(self, block: usize) -> usize {
        block * self.columns + block.saturating_sub(self.split)
    }
}

/// Encodes the filter. Each layer (system of equations) is stored as its number of rows, its seed, its fraction
/// `spanned`, and its thresholds. The solution with the blocks of all layers follows. The header field `probes` is the
/// number of layers.
fn encode(form: Form, input: &FilterInput<'_>, layers: &[Layer], words: usize) -> Vec<u8> {
    let mut stored: Vec<u64> = Vec::with_capacity(words);
    for layer in layers {
        let buckets = layer.thresholds.len() as u64;
        stored.extend([layer.rows as u64, layer.seed, layer.spanned.to_bits(), buckets]);
        stored.extend(layer.thresholds.chunks(8).map(|eight| {
            let mut word = [0; 8];
            word[..eight.len()].copy_from_slice(eight);
            u64::from_le_bytes(word)
        }));
    }
    let blocks: usize = layers.iter().map(|layer| layer.rows / WIDTH).sum();
    if blocks > 0 {
        let layout = Layout::spending(words.saturating_sub(stored.len()), blocks);
        let (meta, mut first) = (stored.len(), 0);
        stored.resize(meta + layout.offset(blocks), 0);
        for layer in layers {
            layer.banding.solve(
                |block| layout.columns(first + block),
                |block, words| {
                    let at = meta + layout.offset(first + block);
                    stored[at..at + words.len()].copy_from_slice(words);
                },
            );
            first += layer.rows / WIDTH;
        }
    }
    let head = Head { tag: tag(form), probes: layers.len() as u32, keys: input.hashes.len() as u64 };
    head.encode(stored.into_iter())
}

fn tag(form: Form) -> [u8; 4] {
    match form {
        Form::Balanced => *b"ribb",
        Form::Homogeneous => *b"ribh",
        Form::Standard => *b"ribs",
    }
}

/// One system of equations (layer) of a ribbon filter that was opened from stored bytes.
struct OpenLayer {
    /// The index of the first block of this layer in the solution of all layers.
    first: usize,
    rows: usize,
    seed: u64,
    thresholds: Vec<u8>,
    spanned: f64,
}

impl OpenLayer {
    /// Decodes a layer (system of equations) from stored words. `first` is the index of the layer's first block among
    /// the blocks of all layers.
    fn decode(first: usize, words: &mut impl ExactSizeIterator<Item = u64>) -> Result<Self, CorruptFilter> {
        /// The largest number of rows of all systems of a filter. The limit prevents overflow of sums of row numbers.
        const MOST_ROWS: u64 = 1 << 40;
        let mut next =
            || words.next().ok_or_else(|| corrupt("the stored filter ends in the middle of a layer"));
        let (rows, seed, spanned, buckets) = (next()?, next()?, f64::from_bits(next()?), next()?);
        if !(0.0..=1.0).contains(&spanned) {
            return Err(corrupt(
                "a layer of the stored filter has a fraction of false positives that is not between 0 and 1",
            ));
        }
        if rows == 0 || !rows.is_multiple_of(WIDTH as u64) || rows > MOST_ROWS {
            return Err(corrupt(
                "a layer of the stored filter has a number of rows that is 0, too large, or not a multiple \
                 of 64",
            ));
        }
        if buckets != 0 && buckets != rows.div_ceil(BUCKET as u64) || buckets.div_ceil(8) > words.len() as u64
        {
            return Err(corrupt(
                "a layer of the stored filter has thresholds that are incomplete, or do not match its \
                 number of rows",
            ));
        }
        let buckets = buckets as usize;
        let mut thresholds: Vec<u8> = words.take(buckets.div_ceil(8)).flat_map(u64::to_le_bytes).collect();
        thresholds.truncate(buckets);
        if thresholds.iter().any(|threshold| usize::from(*threshold) > BUCKET) {
            return Err(corrupt("a threshold of the stored filter exceeds the size of its bucket"));
        }
        Ok(Self { first, rows: rows as usize, seed, thresholds, spanned })
    }

    fn blocks(&self) -> usize {
        self.rows / WIDTH
    }

    /// Returns the equation of a key in this layer, or `None` if a later layer contains the key.
    #[inline]
    fn equation(&self, mixed: u64) -> Option<Equation> {
        let equation = Equation::of(mixed, self.rows);
        let threshold = self.thresholds.get(equation.start / BUCKET).copied().unwrap_or(0);
        (equation.start % BUCKET >= usize::from(threshold)).then_some(equation)
    }
}

fn corrupt(what: &str) -> CorruptFilter {
    CorruptFilter(format!("ribbon filter: {what}"))
}

fn decode(form: Form, stored: &[u8]) -> Result<System, CorruptFilter> {
    let (head, mut words) = Head::decode(stored, tag(form))?;
    if head.probes as usize > MOST_LAYERS {
        return Err(corrupt("the header of the stored filter states more layers than a filter can have"));
    }
    let (mut layers, mut blocks) = (Vec::new(), 0);
    for _ in 0..head.probes {
        let layer = OpenLayer::decode(blocks, &mut words)?;
        blocks += layer.blocks();
        layers.push(layer);
    }
    let layout = match blocks {
        0 => Layout { columns: 0, split: 0 },
        _ => Layout::spending(words.len(), blocks),
    };
    if words.len() != layout.offset(blocks) {
        return Err(corrupt(
            "the stored filter has a number of solution words that does not match its number of rows",
        ));
    }
    // A probe that starts in the last block also reads the words after this block, whose bits have no effect.
    let room = words.len() + layout.columns + 1;
    let mut solution = large::with_room(room);
    solution.extend(words);
    solution.resize(room, 0);
    Ok(System { homogeneous: form == Form::Homogeneous, layers, layout, solution })
}

/// A ribbon filter without its lookup code: all systems of equations (layers) and their solutions.
struct System {
    homogeneous: bool,
    layers: Vec<OpenLayer>,
    layout: Layout,
    solution: Vec<u64>,
}

impl System {
    #[inline(always)]
    fn may_contain(&self, hash: KeyHash) -> bool {
        let mut mixed = hash.0;
        for layer in &self.layers {
            mixed = mix(mixed, layer.seed);
            if let Some(equation) = layer.equation(mixed) {
                return self.fulfils(layer.first, equation);
            }
        }
        false
    }

    /// Whether the sum (XOR) of the rows that the equation selects equals the fingerprint of the equation. `first` is
    /// the index of the layer's first block.
    #[inline(always)]
    fn fulfils(&self, first: usize, equation: Equation) -> bool {
        let (block, shift) = (first + equation.start / WIDTH, equation.start % WIDTH);
        let (offset, columns) = (self.layout.offset(block), self.layout.columns(block));
        let low = equation.coefficients << shift;
        let high = equation.coefficients >> 1 >> (WIDTH - 1 - shift);
        let fingerprint = if self.homogeneous { 0 } else { equation.fingerprint };
        let rows = self.solution[offset..offset + 2 * columns].split_at(columns);
        // The test has no branches, because a branch misprediction costs more than the test of all columns.
        let mut differing = 0;
        for (column, (here, next)) in rows.0.iter().zip(rows.1).enumerate() {
            let sum = u64::from((here & low ^ next & high).count_ones());
            differing |= sum ^ fingerprint >> column;
        }
        differing & 1 == 0
    }

    fn prefetch(&self, hash: KeyHash) {
        let Some(layer) = self.layers.first() else { return };
        let block = layer.first + Equation::of(mix(hash.0, layer.seed), layer.rows).start / WIDTH;
        let offset = self.layout.offset(block);
        prefetch(&self.solution, offset);
        prefetch(&self.solution, offset + self.layout.columns(block));
    }

    /// Returns the expected false-positive rate: the mean over all rows at which the equation of a key can begin. If
    /// the keys of a row are bumped to a later layer, the rate of this layer counts.
    fn expected_fpr(&self) -> f64 {
        let rate = |block: usize| 0.5f64.powf(self.layout.columns(block) as f64);
        let (mut sum, mut reach) = (0.0, 1.0);
        for layer in &self.layers {
            let starts = (layer.rows - (WIDTH - 1)) as f64;
            let mut bumped = 0.0;
            // First, the sum is computed as if no keys were bumped: blocks with `columns` columns, and then blocks
            // with one more column. Bumped start rows are subtracted below.
            let few = self.layout.split.clamp(layer.first, layer.first + layer.blocks()) - layer.first;
            let more = layer.blocks() - few;
            let mut hits = (few * WIDTH) as f64 * rate(0) + (more * WIDTH) as f64 * rate(self.layout.split);
            hits -= (WIDTH - 1) as f64 * rate(layer.first + layer.blocks() - 1);
            for (bucket, threshold) in layer.thresholds.iter().enumerate() {
                for offset in 0..usize::from(*threshold) {
                    let start = bucket * BUCKET + offset;
                    if start <= layer.rows - WIDTH {
                        bumped += 1.0;
                        hits -= rate(layer.first + start / WIDTH);
                    }
                }
            }
            sum += reach * (layer.spanned + (1.0 - layer.spanned) * hits / starts);
            reach *= bumped / starts;
        }
        sum
    }

    fn memory_bytes(&self) -> usize {
        let layer = |layer: &OpenLayer| LAYER_WORDS * size_of::<u64>() + layer.thresholds.len();
        size_of_val(&*self.solution) + self.layers.iter().map(layer).sum::<usize>()
    }
}

/// A ribbon filter in memory, with lookup code for the features of the CPU.
struct RibbonFilter<L> {
    system: System,
    lookup: L,
}

impl<L: Lookup> Filter for RibbonFilter<L> {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.lookup.may_contain(&self.system, hash)
    }

    fn prefetch(&self, hash: KeyHash) {
        self.system.prefetch(hash);
    }

    fn expected_fpr(&self) -> f64 {
        self.system.expected_fpr()
    }

    fn memory_bytes(&self) -> usize {
        self.system.memory_bytes()
    }
}

/// Looks up a key, with code that is compiled for one CPU feature set. The answers are equal for every set of CPU
/// features.
trait Lookup: Copy + Send + Sync {
    fn may_contain(self, system: &System, hash: KeyHash) -> bool;
}

impl Lookup for Portable {
    fn may_contain(self, system: &System, hash: KeyHash) -> bool {
        system.may_contain(hash)
    }
}

/// The lookup for CPUs that count the bits of a word in one instruction.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod counting {
    use super::{Avx512Popcnt, KeyHash, Lookup, Popcnt, System};

    impl Lookup for Popcnt {
        #[inline]
        fn may_contain(self, system: &System, hash: KeyHash) -> bool {
            #[inline]
            #[target_feature(enable = "popcnt")]
            fn compiled(system: &System, hash: KeyHash) -> bool {
                system.may_contain(hash)
            }
            // SAFETY: `self` exists only if the CPU has the instruction.
            unsafe { compiled(system, hash) }
        }
    }

    impl Lookup for Avx512Popcnt {
        #[inline]
        fn may_contain(self, system: &System, hash: KeyHash) -> bool {
            #[inline]
            #[target_feature(enable = "popcnt,avx512f,avx512vl,avx512vpopcntdq")]
            fn compiled(system: &System, hash: KeyHash) -> bool {
                system.may_contain(hash)
            }
            // SAFETY: `self` exists only if the CPU has the instructions.
            unsafe { compiled(system, hash) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(count: u64, seed: u64) -> Vec<KeyHash> {
        (0..count).map(|i| KeyHash(mix(i, seed))).collect()
    }

    fn system(form: Form, hashes: &[KeyHash], bits_per_key: f64) -> System {
        let policy = <Ribbon as Build<_>>::build(Params { bits_per_key, form }).ok().unwrap();
        let stored = policy.build(&FilterInput { hashes, bits_per_key: None, keys: None });
        decode(form, &stored).unwrap()
    }

    /// Tests the claim for ribbon filters: each column takes slightly more than one bit per key, and each column
    /// halves the false-positive rate.
    #[test]
    fn a_column_costs_little_more_than_a_bit_per_key() {
        let hashes = hashes(300_000, 9);
        let bits_per_column = |form| {
            let system = system(form, &hashes, 8.0);
            let columns =
                system.solution.len() as f64 / system.layers.iter().map(|l| l.blocks() as f64).sum::<f64>();
            let bits = system.memory_bytes() as f64 * 8.0 / hashes.len() as f64;
            // The second ratio includes bumped keys and dependent absent keys.
            [bits / columns, bits / -system.expected_fpr().log2()]
        };
        let costs = [Form::Balanced, Form::Homogeneous, Form::Standard].map(bits_per_column);
        let most = [[1.02, 1.02], [1.10, 1.12], [1.15, 1.15]];
        let fits = costs.iter().flatten().zip(most.iter().flatten()).all(|(cost, most)| cost <= most);
        assert!(fits, "{costs:?}");
    }

    #[test]
    fn all_ways_to_look_up_agree() {
        for form in [Form::Balanced, Form::Homogeneous, Form::Standard] {
            let system = system(form, &hashes(3000, 1), 5.5);
            for hash in hashes(3000, 1).into_iter().chain(hashes(3000, 2)) {
                let answer = Portable.may_contain(&system, hash);
                #[cfg(target_arch = "x86_64")]
                {
                    let same = |other: Option<bool>| other.is_none_or(|other| other == answer);
                    assert!(same(Popcnt::detect().map(|lookup| lookup.may_contain(&system, hash))));
                    assert!(same(Avx512Popcnt::detect().map(|lookup| lookup.may_contain(&system, hash))));
                }
                assert_eq!(answer, system.may_contain(hash));
            }
        }
    }

    #[test]
    fn layouts_spend_every_word() {
        for blocks in 1..20 {
            for words in 0..blocks * 64 {
                let layout = Layout::spending(words, blocks);
                assert_eq!(layout.offset(blocks), words);
                let mut offset = 0;
                for block in 0..blocks {
                    assert_eq!(layout.offset(block), offset);
                    offset += layout.columns(block);
                }
            }
            assert_eq!(Layout::spending(usize::MAX, blocks).columns(0), 64);
        }
    }
}
