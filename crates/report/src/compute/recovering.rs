//! Recovery after a crash.

use super::Arguments;

/// The percentage of the directory orders of n runs in which the newest run is last. Each run is last equally often:
/// 100 / n.
pub(super) fn newest_last_pct(with: &Arguments<'_>) -> Result<f64, String> {
    match with.count("runs")? {
        0 => Err("there must be at least one run".to_owned()),
        runs => Ok(100.0 / runs as f64),
    }
}

/// The largest percentage of acknowledged writes since the last sync that a fault loses. `written` data is in the
/// memory of the kernel, and `synced` data on the device. The end of a `process` loses neither; a loss of `power` keeps
/// the device.
pub(super) fn log_lost_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let is_on_device = match with.word("log")? {
        "written" => false,
        "synced" => true,
        other => return Err(format!("log is {other}; it must be written or synced")),
    };
    let keeps_memory = match with.word("fault")? {
        "process" => true,
        "power" => false,
        other => return Err(format!("fault is {other}; it must be process or power")),
    };
    Ok(if is_on_device || keeps_memory { 0.0 } else { 100.0 })
}
