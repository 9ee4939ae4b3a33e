//! Everything that is fuzzed.

mod block;
mod codec;
mod experiment;
mod fence;
mod filter;
mod results;
mod store;
mod workload;

use crate::target::Target;

/// All targets: what stands in a store's files from the inside out, then what stands in others.
pub static TARGETS: &[Target] = &[
    block::TARGET,
    filter::TARGET,
    fence::TARGET,
    codec::TARGET,
    codec::DICTIONARIES,
    store::TABLE,
    store::LOG,
    store::MANIFEST,
    workload::DSL,
    workload::TRACE,
    workload::COMPRESSED_TRACE,
    results::ROWS,
    results::MANIFEST,
    results::LATENCIES,
    experiment::EXPERIMENT,
    experiment::DESIGN,
    experiment::MESSAGE,
];

/// The bytes that an input may take whatever its length.
const SPARE_BYTES: usize = 1 << 20;

/// Cuts one byte off the front of an input: it chooses among variants.
fn choose(input: &[u8]) -> Option<(usize, &[u8])> {
    input.split_first().map(|(first, rest)| (usize::from(*first), rest))
}
