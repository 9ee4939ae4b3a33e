//! The commands besides `run`.

mod describe;
mod doctor;
mod list;
mod meta;
mod plot;
mod race;
mod shell;
mod soak;
mod torture;
mod verify;
mod workload;

pub(crate) use describe::describe;
pub(crate) use doctor::doctor;
pub(crate) use list::list;
pub(crate) use meta::{completions, man};
pub(crate) use plot::plot;
pub(crate) use shell::shell;
pub(crate) use torture::torture;
pub(crate) use verify::verify;
pub(crate) use workload::workload;
