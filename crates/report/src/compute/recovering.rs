//! Computations about recovery after a crash.

use super::Arguments;

/// Computes how often, in percent, a listing of n runs in random order has the newest run as its last entry: 100 / n.
pub(super) fn newest_last_pct(with: &Arguments<'_>) -> Result<f64, String> {
    match with.count("runs")? {
        0 => Err("there must be at least one run".to_owned()),
        runs => Ok(100.0 / runs as f64),
    }
}

/// Computes the largest percentage of the acknowledged writes since the last sync of the WAL that a fault can lose.
/// Data that was `written` is in the memory of the kernel. Data that was `synced` is on the device. If only the process
/// ends, written data and synced data both survive. If the `power` fails, only the data on the device survives.
pub(super) fn log_lost_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let is_on_device = match with.word("log")? {
        "written" => false,
        "synced" => true,
        other => return Err(format!("log is \"{other}\". Valid: written, synced")),
    };
    let keeps_memory = match with.word("fault")? {
        "process" => true,
        "power" => false,
        other => return Err(format!("fault is \"{other}\". Valid: process, power")),
    };
    Ok(if is_on_device || keeps_memory { 0.0 } else { 100.0 })
}
