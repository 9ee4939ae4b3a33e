//! What is found again after a crash.

use super::Arguments;

/// The percentage of the orders that a directory may list runs in which put the newest run last: each of n runs is last in
/// as many of them, 100 / n.
pub(super) fn newest_last_pct(with: &Arguments<'_>) -> Result<f64, String> {
    match with.count("runs")? {
        0 => Err("there is a run at least".to_owned()),
        runs => Ok(100.0 / runs as f64),
    }
}

/// The percentage of acknowledged writes since the last sync that a fault takes, at most. What is `written` lies in the
/// system's memory, and what is `synced` on the device; the end of a `process` leaves both, that of `power` the device.
pub(super) fn log_lost_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let is_on_device = match with.word("log")? {
        "written" => false,
        "synced" => true,
        other => return Err(format!("log is written or synced, and not {other}")),
    };
    let keeps_memory = match with.word("fault")? {
        "process" => true,
        "power" => false,
        other => return Err(format!("fault is process or power, and not {other}")),
    };
    Ok(if is_on_device || keeps_memory { 0.0 } else { 100.0 })
}
