//! Fjall 2: the line that one of the source documents measured. Its 2.1 no longer builds as it is resolved; this is
//! the last of the line, 2.11.

#[cfg(feature = "peers")]
mod store;

use std::path::Path;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use types::quantity::format_bytes;
use workload::TargetError;

use crate::budget::{Budget, Codec, Log, Reads};
use crate::bundled::{self, cache, log, memtable, unequal, without_maps, without_ribbons};
use crate::peer::{Engine, Identity, Missing, Peer, Store};

pub(crate) const VARIANT: Variant<Engine> =
    Variant::new::<Fjall2>("fjall2", "Fjall 2, the line before: 2.11, since 2.1 no longer builds", "")
        .limited(&[Limit::NotDeterministic]);

struct Fjall2;

/// It has none: the budget says it all.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

/// The least cap on all memtables that it takes.
const LEAST_WRITE_BUFFER_BYTES: u64 = 1 << 20;

/// The cap on all memtables, behind which writers wait: the one that is written and the frozen ones. Its own 64 MiB would
/// end a larger memtable early, at half of them.
fn write_buffer_bytes(budget: &Budget) -> u64 {
    budget.all_memtable_bytes().max(LEAST_WRITE_BUFFER_BYTES)
}

/// The line of the frozen memtables.
fn write_buffer(budget: &Budget) -> String {
    let (bytes, frozen) = (write_buffer_bytes(budget), budget.frozen_memtables);
    let line = format!("{frozen} frozen memtables: max_write_buffer_size {}", format_bytes(bytes));
    match bytes > budget.all_memtable_bytes() {
        true => unequal(format_args!("{line}, the least that it takes")),
        false => line,
    }
}

impl Build<Engine> for Fjall2 {
    type Params = Params;

    fn build(_: Params) -> Result<Box<Engine>, String> {
        Ok(Box::new(Engine::Peer(Box::new(Self))))
    }
}

impl Peer for Fjall2 {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::identify(env!("PEERS_FJALL2"))
    }

    fn mapping(&self, budget: &Budget) -> Vec<String> {
        let mut lines = vec![
            memtable(budget, "max_memtable_size"),
            cache(budget, "cache_size"),
            format!("blocks {} bytes: block_size", budget.block_bytes),
            format!(
                "{} background threads: one of flush_workers, the others of compaction_workers",
                budget.background_threads
            ),
        ];
        let bits = format!("filters {} bits", budget.filter_bits_per_key);
        match budget.filter_bits_per_key.fract() {
            0.0 => lines.push(format!("{bits}: bloom_filter_bits")),
            _ => lines.push(unequal(format_args!("{bits}: bloom_filter_bits is a whole number"))),
        }
        lines.extend(without_ribbons(budget, "Fjall"));
        match budget.codec {
            Codec::None => lines.push("compression none: compression None".to_owned()),
            Codec::Lz4 => lines.push("compression lz4: compression Lz4".to_owned()),
            _ => lines.push(unequal(format_args!(
                "compression {}: Fjall has LZ4 alone, and runs without",
                budget.codec
            ))),
        }
        match budget.log {
            Log::Buffered => lines.push(log(budget, "the journal is written to the system at every write")),
            Log::Sync => lines.push(log(budget, "persist(SyncData) behind every write")),
            Log::Interval { .. } => lines.push(log(budget, "fsync_ms")),
            Log::None => lines
                .push(unequal("log none: Fjall always writes its journal, here with manual_journal_persist")),
        }
        lines.push(write_buffer(budget));
        if budget.reads == Reads::Direct {
            lines.push(unequal("direct I/O: Fjall has none"));
        }
        lines.extend(without_maps(budget, "Fjall"));
        lines
    }

    fn open(&self, directory: &Path, budget: &Budget) -> Result<Box<dyn Store>, TargetError> {
        bundled::open!(store::Fjall2Store, directory, budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_memtables_have_a_cap_that_lets_the_one_that_is_written_fill() {
        let large = Budget { memtable_bytes: 128 << 20, frozen_memtables: 1, ..Budget::default() };
        assert_eq!(write_buffer_bytes(&large), 256 << 20);
        assert_eq!(write_buffer(&large), "1 frozen memtables: max_write_buffer_size 256MiB");
        let small = Budget { memtable_bytes: 64 << 10, ..Budget::default() };
        assert_eq!(write_buffer_bytes(&small), LEAST_WRITE_BUFFER_BYTES);
        assert!(write_buffer(&small).starts_with("not equal: 2 frozen memtables: "));
    }
}
