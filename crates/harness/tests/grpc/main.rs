//! Tests of `lsmbench serve --protocol grpc`. The clients use another implementation of gRPC than the server.

mod calls;
mod client;
mod ending;
mod families;
mod limits;
mod proto;
mod served;
