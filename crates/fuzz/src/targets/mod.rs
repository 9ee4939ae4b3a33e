//! The list of all fuzz targets.

mod block;
mod codec;
mod experiment;
mod fence;
mod filter;
#[cfg(feature = "grpc")]
mod grpc;
mod input;
mod results;
mod server;
mod store;
mod workload;

use std::sync::LazyLock;

use crate::target::FuzzTarget;

/// All fuzz targets: targets for parts of a store's files, for whole files of a store, and for all other inputs.
pub static TARGETS: LazyLock<Vec<FuzzTarget>> = LazyLock::new(|| {
    // A catalog accepts additions until its first lookup, and every target looks up a variant.
    study::register()
        .expect("the variants of the crate study must be registered before the catalogs are used");
    vec![
        block::TARGET,
        filter::TARGET,
        fence::TARGET,
        codec::TARGET,
        codec::DICTIONARIES,
        store::TABLE,
        store::BLOB,
        store::LOG,
        store::MANIFEST,
        workload::DSL,
        workload::TRACE,
        workload::COMPRESSED_TRACE,
        server::RESP,
        #[cfg(feature = "grpc")]
        grpc::GRPC,
        workload::TRACE_FORMATS,
        results::ROWS,
        results::MANIFEST,
        results::LATENCIES,
        experiment::EXPERIMENT,
        experiment::DESIGN,
        experiment::MESSAGE,
    ]
});
