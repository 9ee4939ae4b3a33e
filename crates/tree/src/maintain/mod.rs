//! Background work: flushes, compactions, and their threads.

mod collect;
mod combine;
mod compact;
mod compact_range;
mod flush;
mod input_deletes;
mod input_marks;
mod install;
mod observe;
mod obsolete;
mod preempt;
mod run_writer;
mod seek;
mod separation;
mod subcompaction;
mod workers;

pub(crate) use install::run_states;
pub(crate) use preempt::scheduler;
pub(crate) use workers::Workers;
