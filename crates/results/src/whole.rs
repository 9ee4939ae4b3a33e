//! Atomic writes of files.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::ResultsError;

/// Writes a file atomically: readers see the old file or the new file. With `durable`, the new content survives a power
/// failure.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], durable: bool) -> Result<(), ResultsError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        // By default, only the owner can read a temporary file. Results are readable like any other file.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(ResultsError::io(path, "create"))?;
    file.write_all(bytes).map_err(ResultsError::io(path, "write"))?;
    if durable {
        file.as_file().sync_all().map_err(ResultsError::io(path, "write"))?;
    }
    file.persist(path).map_err(|error| ResultsError::io(path, "replace")(error.error))?;
    Ok(())
}
