//! Converts errors to gRPC status codes.

use std::io::ErrorKind;

use tonic::{Code, Status};
use tree::Error;

/// Converts an error of the tree to a gRPC status with the same message.
pub(super) fn of_tree(error: &Error) -> Status {
    let code = match error {
        Error::KeyTooLong(_) | Error::ValueTooLong(_) | Error::BatchTooLong(_) | Error::Misuse(_) => {
            Code::InvalidArgument
        }
        Error::Failed(_) => Code::FailedPrecondition,
        error if error.is_damage() => Code::DataLoss,
        Error::Storage(error)
            if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) =>
        {
            Code::ResourceExhausted
        }
        _ => Code::Internal,
    };
    Status::new(code, error.to_string())
}

/// Returns the status of a call that ends early because the server shuts down.
pub(super) fn of_ending() -> Status {
    Status::unavailable("the server is shutting down")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_caller_differ_from_errors_of_the_store() {
        for (error, code) in [
            (Error::KeyTooLong(70_000), Code::InvalidArgument),
            (Error::Misuse("high is below low".to_owned()), Code::InvalidArgument),
            (Error::Failed("disk".to_owned()), Code::FailedPrecondition),
            (Error::MissingLog("000001.log".into()), Code::DataLoss),
            (Error::Policy("gone".to_owned()), Code::Internal),
        ] {
            let status = of_tree(&error);
            assert_eq!((status.code(), status.message()), (code, &*error.to_string()));
        }
    }
}
