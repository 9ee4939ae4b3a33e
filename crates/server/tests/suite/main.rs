//! A server in this process, with clients on sockets: what it answers, what it refuses, and what clients may cost.

mod atomic;
mod commands;
mod hostile;
mod limits;
mod reference;
mod served;
mod text;
