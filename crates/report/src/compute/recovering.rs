//! Computations about recovery after a crash.

use super::Arguments;

/// Computes the probability, in percent, that the newest of n sorted runs is the last entry of a listing in random
/// order: 100 / n.
pub(super) fn newest_last_pct(with: &Arguments<'_>) -> Result<f64, String> {
    match with.count("runs")? {
        0 => Err("the argument `runs` must be at least 1".to_owned()),
        runs => Ok(100.0 / runs as f64),
    }
}

/// Computes how many percent of the newest acknowledged writes a fault can lose: 0 or 100. The newest writes are those
/// since the last sync of the WAL. The argument `log` is `written` if they are only in the memory of the kernel, and
/// `synced` if they are on the device. A power failure (`fault` is `power`) loses `written` data, but not `synced`
/// data. The end of the process (`fault` is `process`) loses neither.
pub(super) fn log_lost_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let is_on_device = match with.word("log")? {
        "written" => false,
        "synced" => true,
        other => return Err(format!("`log` is \"{other}\". Valid: \"written\", \"synced\"")),
    };
    let keeps_memory = match with.word("fault")? {
        "process" => true,
        "power" => false,
        other => return Err(format!("`fault` is \"{other}\". Valid: \"process\", \"power\"")),
    };
    Ok(if is_on_device || keeps_memory { 0.0 } else { 100.0 })
}
