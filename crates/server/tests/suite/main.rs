//! Tests of a server in this process with clients on sockets: replies, rejected requests, and limits of resources.

mod atomic;
mod commands;
mod databases;
mod hostile;
mod limits;
mod reference;
mod served;
mod text;
