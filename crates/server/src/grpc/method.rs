//! Lists the methods of the gRPC service.

/// The path of a gRPC request before the name of its method.
const SERVICE: &str = "/lsmbench.v1.Store/";

/// A method of the gRPC service `Store`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Put,
    Get,
    Delete,
    Batch,
    Load,
    Range,
}

impl Method {
    /// Returns the method that the path of a request names. `None` if the service has no such method.
    pub(super) fn of(path: &str) -> Option<Self> {
        Self::named(path.strip_prefix(SERVICE)?)
    }

    /// Returns the method with this name. `None` if the service has no such method.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "Put" => Self::Put,
            "Get" => Self::Get,
            "Delete" => Self::Delete,
            "Batch" => Self::Batch,
            "Load" => Self::Load,
            "Range" => Self::Range,
            _ => return None,
        })
    }
}
