//! Computations about recovery after a crash.

use super::Arguments;

/// Computes the percentage of the directory orders of n runs in which the newest run is last: 100 / n. Each run is
/// equally often the last run.
pub(super) fn newest_last_pct(with: &Arguments<'_>) -> Result<f64, String> {
    match with.count("runs")? {
        0 => Err("there must be at least one run".to_owned()),
        runs => Ok(100.0 / runs as f64),
    }
}

/// Computes the largest percentage of acknowledged writes since the last sync that a fault can lose. Data that was
/// `written` is in the memory of the kernel. Data that was `synced` is on the device. If only the process ends,
/// written data and synced data both survive. If the `power` fails, only the data on the device survives.
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
