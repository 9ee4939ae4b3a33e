//! The origin of a variant: the name and the version of its crate. Manifests contain the origin of each variant.

use std::fmt;

/// The name and the version of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The name of the package, such as `lsmbench-bloom`.
    pub package: &'static str,
    /// The version of the crate, such as `0.1.0`.
    pub version: &'static str,
}

/// Returns the [`Origin`](crate::Origin) of the crate that calls the macro.
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
