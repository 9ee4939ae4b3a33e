//! SSTables: their blocks, filters and fence pointers, and the code that writes, opens and reads SSTables.
//!
//! An SSTable consists of data blocks, the filter, the fence, the range tombstones, the marks of single deletes, the
//! directory, the properties, and the footer, in this order. The range tombstones and the marks are optional. The
//! option `table.layout` can move the fence before the data blocks. The checksum of every part also covers the seal of
//! the file and the offset of the part. The last bytes of a block identify its format.

mod block;
mod block_builder;
mod block_bytes;
mod block_cursor;
mod block_footer;
mod btree_page;
mod check;
mod checked;
mod context;
mod delta;
mod directory;
mod draft;
mod entry_spacing;
mod fence_view;
mod filter_file;
mod fingerprints;
mod footer;
mod format;
mod formats;
mod hash_index;
mod kept_keys;
mod layout;
mod leaves;
mod memory_index;
mod metadata;
mod names;
mod pairs;
mod prefetcher;
mod properties;
mod ranked_run;
mod read_ahead;
mod reader;
mod reseal;
mod restart_hints;
mod run_cursor;
mod run_readers;
mod samples;
mod single_marks;
mod store;
mod table_file;
mod trailer;
mod whole;
mod writer;

pub use block::{find, find_noting};
pub use block_builder::BlockBuilder;
pub use block_cursor::walk;
pub use block_footer::{BLOCK_FOOTER_BYTES, BlockFooter};
pub(crate) use context::{Component, TableContext};
pub use delta::append as append_delta;
pub use draft::{Draft, EntryWriter};
pub use format::BlockFormat;
pub use formats::{CATALOG as FORMATS, layout_of};
pub use layout::{Entries, Found, Layout, Restarts};
pub(crate) use names::{
    Names, SequenceRange, is_unfinished, table_number, table_of_companion, table_sequences,
};
pub use pairs::SENTINEL;
pub(crate) use properties::Properties;
pub(crate) use ranked_run::RankedRun;
pub(crate) use reader::Table;
pub(crate) use reseal::reseal;
pub(crate) use run_cursor::{BlockReads, EntryPosition, RunCursor};
pub(crate) use run_readers::RunReaders;
pub(crate) use single_marks::SingleMarks;
pub use trailer::TRAILER_BYTES;
pub use whole::append as append_whole;
pub(crate) use writer::{FilterBudget, TableWriter};
