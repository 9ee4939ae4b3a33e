//! Delta-encoded blocks without restart pointers, as the published system byron writes them (section 1.2 A of its
//! document).
//!
//! Every `block.restart_interval`-th entry has its full key, but no offset of such an entry is in the block. byron
//! keeps these offsets and the hash index in memory, like the option `block.memory_index`. Without this option, a
//! lookup reads the entries from the start of the block.
//!
//! ```text
//! entry*   varint shared, varint unshared, varint (value length << 1 | tombstone), key suffix, value
//! ```

use catalog::{Variant, origin};
use tree::BlockOptions;
use tree::block::{BlockFooter, BlockFormat, Draft, Entries, EntryWriter, Layout, Restarts, append_delta};
use types::{Entry, common_prefix};

/// The block format `bare-delta` of the published system byron: delta encoding without restart pointers.
pub static VARIANT: Variant<dyn BlockFormat> = Variant::<dyn BlockFormat>::plain(
    "bare-delta",
    "like \"delta\", but without restart pointers in the block; lookups are slow unless block.memory_index \
     is set (byron)",
    || Box::new(BareDelta),
)
.from(origin!());

/// The number that identifies this block format in block footers.
const CODE: u8 = 5;

/// The block format `bare-delta`, which has no state.
struct BareDelta;

impl BlockFormat for BareDelta {
    fn code(&self) -> u8 {
        CODE
    }

    fn layout(&self, _: &[u8], footer: &BlockFooter) -> Option<Layout> {
        (footer.restart_count == 1).then_some(Layout {
            entries_start: 0,
            entries_end: footer.index_at,
            entries: Entries::Delta,
            restart_count: 1,
            restarts: Restarts::Every(0),
            has_bounds: false,
            index: footer.index,
            index_len: footer.index_len,
        })
    }

    fn writer(&self, options: &BlockOptions) -> Box<dyn EntryWriter> {
        Box::new(Writer { interval: options.restart_interval as usize, entries: 0 })
    }
}

/// Encodes the entries of one block after another.
struct Writer {
    interval: usize,
    /// The number of entries in the block that is being encoded.
    entries: usize,
}

impl EntryWriter for Writer {
    fn add(&mut self, draft: &mut Draft, entry: &Entry<'_>) {
        let is_restart = self.entries.is_multiple_of(self.interval);
        let shared = if is_restart { 0 } else { common_prefix(&draft.last_key, entry.key) };
        append_delta(entry, shared, &mut draft.bytes);
        draft.set_last_key(shared, entry.key);
        self.entries += 1;
    }

    fn bytes_with(&self, draft: &Draft, entry: &Entry<'_>) -> usize {
        draft.bytes_with(entry, 0)
    }

    fn finish(&mut self, draft: &mut Draft) {
        draft.end(CODE, 1, self.entries);
        self.entries = 0;
    }
}
