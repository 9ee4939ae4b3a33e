//! Another engine as a target of workloads, what its rows hold, and what a run says of it.

use peers::{Identity, Stats, UNEQUAL};
use results::{Cells, EngineInfo, columns as c};
use workload::{Target, TargetError};

use super::target::{Look, Store};
use crate::experiment::{Cell, budget, engine_label, peer};

/// Opens a store of another engine, as often as it is asked to.
type Open = Box<dyn Fn() -> Result<Box<dyn peers::Store>, TargetError> + Send + Sync>;

/// A store of another engine.
pub(super) struct PeerTarget {
    store: Box<dyn peers::Store>,
    open: Open,
}

impl PeerTarget {
    /// Drives the store that `open` opens.
    pub(super) fn open(open: Open) -> Result<Self, TargetError> {
        Ok(Self { store: open()?, open })
    }
}

impl Store for PeerTarget {
    fn target(&self) -> &dyn Target {
        &*self.store
    }

    fn look(&self) -> Look {
        Look::Peer(self.store.stats())
    }

    fn version(&self) -> Option<String> {
        self.store.version()
    }

    fn reopen(self, between: &dyn Fn() -> Result<(), TargetError>) -> Result<Self, TargetError> {
        self.store.flush()?;
        self.store.settle()?;
        self.store.close()?;
        let Self { store, open } = self;
        drop(store);
        between()?;
        Self::open(open)
    }
}

/// Fills the row of a phase from what an engine told before it, when its last operation had ended, and when nothing
/// was left to be done. What it does not tell stays empty.
pub(super) fn set_phase(row: &mut Cells, [before, burst, settled]: [&Stats; 3], figures: &Figures) {
    let since = |of: fn(&Stats) -> Option<u64>, after: &Stats| Some(of(after)?.saturating_sub(of(before)?));
    let flush = |after| since(|stats| stats.flush_bytes, after);
    let merged = |after| since(|stats| stats.compaction_bytes_written, after);
    let user = figures.user_bytes;
    row.set_some(&c::USER_BYTES_WRITTEN, user);
    row.set_some(&c::WAL_BYTES, since(|stats| stats.wal_bytes, burst));
    row.set_some(&c::FLUSH_BYTES, flush(burst));
    row.set_some(&c::COMPACTION_BYTES_READ, since(|stats| stats.compaction_bytes_read, burst));
    row.set_some(&c::COMPACTION_BYTES_WRITTEN, merged(burst));
    row.set_some(&c::FLUSH_BYTES_SETTLED, flush(settled));
    row.set_some(&c::COMPACTION_BYTES_WRITTEN_SETTLED, merged(settled));
    let amplification = |after| {
        let user = user.filter(|user| *user > 0)?;
        Some((flush(after)? + merged(after)?) as f64 / user as f64)
    };
    row.set_some(&c::WRITE_AMP, amplification(burst));
    row.set_some(&c::WRITE_AMP_SETTLED, amplification(settled));
    let (read, cached) =
        (since(|stats| stats.blocks_read, burst), since(|stats| stats.blocks_from_cache, burst));
    row.set_some(&c::BLOCKS_READ, read).set_some(&c::BLOCKS_FROM_CACHE, cached);
    let asked = read.zip(cached).filter(|(read, cached)| read + cached > 0);
    // Which operation a block was for, engines do not tell: among others, nothing is known of gets.
    let gets = figures.gets_alone.filter(|gets| *gets > 0);
    row.set_some(
        &c::BLOCKS_PER_GET,
        asked.zip(gets).map(|((read, cached), gets)| (read + cached) as f64 / gets as f64),
    );
    row.set_some(&c::CACHE_HIT_RATE, asked.map(|(read, cached)| cached as f64 / (read + cached) as f64));
    row.set_some(&c::LEVELS, burst.levels).set_some(&c::LEVELS_SETTLED, settled.levels);
    row.set_some(&c::RUNS, burst.runs).set_some(&c::RUNS_SETTLED, settled.runs);
    row.set_some(&c::TABLE_BYTES, burst.table_bytes).set_some(&c::TABLE_BYTES_SETTLED, settled.table_bytes);
    row.set_some(&c::LIVE_BYTES, figures.live_bytes);
    let live = figures.live_bytes.filter(|live| *live > 0);
    let space = |stats: &Stats| Some(stats.table_bytes? as f64 / live? as f64);
    row.set_some(&c::SPACE_AMP, space(burst)).set_some(&c::SPACE_AMP_SETTLED, space(settled));
    row.set_some(&c::MEMTABLE_BYTES, burst.memtable_bytes).set_some(&c::CACHE_BYTES, burst.cache_bytes);
    row.set_some(&c::TABLE_MEMORY_BYTES, burst.table_memory_bytes);
    row.set_some(&c::STALL_SECONDS, since(|stats| stats.stall_ns, burst).map(|ns| ns as f64 / 1e9));
}

/// What is known of a phase without asking the engine.
pub(super) struct Figures {
    /// Key and value bytes of its writes.
    pub(super) user_bytes: Option<u64>,
    /// Key and value bytes of all that is live behind it.
    pub(super) live_bytes: Option<u64>,
    /// Its gets, where it does nothing else.
    pub(super) gets_alone: Option<u64>,
}

/// Fills the row of an interval from what an engine told at both of its ends.
pub(super) fn set_interval(row: &mut Cells, start: &Stats, end: &Stats) {
    let since = |of: fn(&Stats) -> Option<u64>| Some(of(end)?.saturating_sub(of(start)?));
    row.set_some(&c::WAL_BYTES, since(|stats| stats.wal_bytes));
    row.set_some(&c::FLUSH_BYTES, since(|stats| stats.flush_bytes));
    row.set_some(&c::COMPACTION_BYTES_READ, since(|stats| stats.compaction_bytes_read));
    row.set_some(&c::COMPACTION_BYTES_WRITTEN, since(|stats| stats.compaction_bytes_written));
    row.set_some(&c::BLOCKS_READ, since(|stats| stats.blocks_read));
    row.set_some(&c::BLOCKS_FROM_CACHE, since(|stats| stats.blocks_from_cache));
    row.set_some(&c::LEVELS, end.levels).set_some(&c::RUNS, end.runs);
    row.set_some(&c::TABLE_BYTES, end.table_bytes).set_some(&c::MEMTABLE_BYTES, end.memtable_bytes);
    row.set_some(&c::CACHE_BYTES, end.cache_bytes);
    row.set_some(&c::STALL_SECONDS, since(|stats| stats.stall_ns).map(|ns| ns as f64 / 1e9));
}

/// What a run writes down of the engine of a cell; nothing of our own tree, of which it says everything anyway.
pub(crate) fn engine_info(cell: &Cell) -> Option<EngineInfo> {
    let peer = peer(&cell.engine)?;
    // A cell whose engine is not there was left out; what goes away later has no identity.
    let Identity { version, library, doubts } = peer.identify().unwrap_or_default();
    Some(EngineInfo {
        name: engine_label(&cell.engine),
        version,
        library: library.map(|path| path.to_string_lossy().into_owned()),
        doubts,
        mapping: peer.mapping(&budget(&cell.design)),
    })
}

/// What a run says of an engine before it begins: where it comes from, and what the terms of the design are called
/// there.
pub(crate) fn introduction(info: &EngineInfo) -> Vec<String> {
    let version = info.version.as_deref().unwrap_or("of a version that it tells when it runs");
    let library = info.library.as_ref().map_or_else(String::new, |library| format!(", {library}"));
    let (unequal, equal): (Vec<&String>, Vec<&String>) =
        info.mapping.iter().partition(|line| line.starts_with(UNEQUAL));
    let mut lines = vec![format!("engine {}: {version}{library}", info.name)];
    lines.extend(equal.into_iter().chain(unequal).map(|line| format!("  {line}")));
    lines
}
