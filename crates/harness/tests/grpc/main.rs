//! Tests of `lsmbench serve --protocol grpc` with clients of another gRPC implementation than the server's own code.

mod calls;
mod client;
mod ending;
mod families;
mod limits;
mod proto;
mod served;
