//! Connects a process of this program to its parent process through its standard input. When the parent closes the pipe
//! or ends, standard input ends, and the process ends too.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde::de::DeserializeOwned;

use super::message::Turn;

/// Reads the task of this process from the first line of standard input. From then on, the process ends when standard
/// input ends, so it does not outlive its parent.
///
/// # Errors
///
/// The line cannot be parsed.
pub fn take_orders<T: DeserializeOwned>() -> Result<T, String> {
    Ok(take_orders_and_turns()?.0)
}

/// Reads the task of this process from the first line of standard input. Each further line is an order of the parent to
/// run a turn. The process ends when standard input ends, or when a line is not a valid order.
///
/// # Errors
///
/// The first line cannot be parsed.
pub(super) fn take_orders_and_turns<T: DeserializeOwned>() -> Result<(T, Receiver<Turn>), String> {
    let mut text = String::new();
    let read = std::io::stdin().lock().read_line(&mut text).map_err(|error| error.to_string());
    let orders = read.and_then(|_| serde_json::from_str(&text).map_err(|error| error.to_string()));
    let (sender, turns) = channel();
    let watch = std::thread::Builder::new().spawn(move || end_with_the_starter(&sender));
    watch.map_err(|error| {
        format!("cannot start the thread that reads the orders of the parent process: {error}")
    })?;
    Ok((orders?, turns))
}

/// Reads the lines of standard input, which are orders of the parent process to run turns. Sends each order to the
/// trial through `turns`. Ends this process when standard input ends, or at a line that is not a valid order.
fn end_with_the_starter(turns: &Sender<Turn>) {
    let lines = std::io::stdin().lock().lines().map_while(Result::ok);
    for turn in lines.map_while(|line| serde_json::from_str(&line).ok()) {
        // A process that takes no turns has dropped the receiver.
        let _ = turns.send(turn);
    }
    // The parent has closed its end, or the read failed: this process is no longer needed.
    std::process::exit(1);
}
