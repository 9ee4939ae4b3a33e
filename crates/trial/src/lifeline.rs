//! The connection of a process of this program to its parent. The connection is standard input, which ends when the
//! parent closes it or dies.

use std::io::{BufRead, Read};

use serde::de::DeserializeOwned;

/// Reads the specification of the process from the first line of standard input, and ends the process when standard
/// input ends.
///
/// # Errors
/// The line cannot be parsed.
pub fn take_orders<T: DeserializeOwned>() -> Result<T, String> {
    let mut text = String::new();
    let read = std::io::stdin().lock().read_line(&mut text).map_err(|error| error.to_string());
    let orders = read.and_then(|_| serde_json::from_str(&text).map_err(|error| error.to_string()));
    let watch = std::thread::Builder::new().spawn(end_with_the_starter);
    watch.map_err(|error| format!("no thread can be started: {error}"))?;
    orders
}

/// Ends the process when standard input ends.
fn end_with_the_starter() {
    // The parent has closed its end, or the read failed. This process is then no longer needed.
    let _ = std::io::stdin().lock().read(&mut [0]);
    std::process::exit(1);
}
