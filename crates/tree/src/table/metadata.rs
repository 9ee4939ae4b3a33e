//! Writes the metadata file of an SSTable, a description in JSON with the fields of the document cs265 (section 2.8.1).
//!
//! Only SSTables with names of the form [`TableNames::LevelRun`](crate::TableNames::LevelRun) have this file. The tree
//! never reads the file. The fence pointers are in the SSTable, so their optional field is always `null`.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use storage::Purpose;

use super::context::TableContext;
use super::names::metadata_path;
use super::reader::Table;
use crate::error::Result;

/// The values in the metadata file of an SSTable that are not read from the open SSTable.
pub(super) struct Description {
    /// The level of the tree for which the SSTable was written.
    pub(super) level: usize,
    /// The number of data blocks of the SSTable.
    pub(super) blocks: u32,
    /// The memory budget of the filter, in bits per key. `None` if the filter has no budget.
    pub(super) bits_per_key: Option<f64>,
}

/// Writes the metadata file of an SSTable and makes its bytes durable. Does nothing if the form of the file name has no
/// metadata file.
pub(super) fn write(context: &TableContext, table: &Table, description: &Description) -> Result<()> {
    let Some(path) = metadata_path(&context.table_path(table.id())) else { return Ok(()) };
    let properties = table.properties();
    let created_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let metadata = json!({
        "id": table.id(),
        "level": description.level,
        "created_at": created_at.as_secs(),
        "entry_count": properties.entries,
        "min_key": in_hexadecimal(&properties.smallest),
        "max_key": in_hexadecimal(&properties.largest),
        "bloom_filter_bits_per_key": description.bits_per_key,
        "compression": context.compression_label,
        "block_size": context.options.block.size.0,
        "block_count": description.blocks,
        "fence_pointers": null,
    });
    let mut file = context.storage.create(&path, Purpose::Manifest)?;
    file.append(format!("{metadata:#}\n").as_bytes())?;
    Ok(file.sync()?)
}

fn in_hexadecimal(key: &[u8]) -> String {
    key.iter().fold(String::with_capacity(2 * key.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
