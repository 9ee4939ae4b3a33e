//! Origin of a variant: the crate and its version. Manifests record the origin.

use std::fmt;

/// A crate at a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The name of the package: `lsmbench-bloom`.
    pub package: &'static str,
    /// Version of the crate: `0.1.0`.
    pub version: &'static str,
}

/// The [`Origin`](crate::Origin) of the crate in which the macro is called.
#[macro_export]
macro_rules! origin {
    () => {
        $crate::Origin { package: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") }
    };
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.package, self.version)
    }
}
