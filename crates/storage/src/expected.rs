//! The access pattern that lsmbench announces to the kernel for SSTables. The access pattern is a parameter of the back
//! ends that read through the page cache.

use serde::{Deserialize, Serialize};

/// Expands to the description of the parameter `advice` in the TOML reference. The argument is the default of the back
/// end. `advice` is the access pattern that a back end announces to the kernel.
macro_rules! advice_reference {
    ($default:literal) => {
        concat!(
            "# Advice to the kernel about reads of SSTables. \"random\" disables read-ahead. With \"normal\", the\n\
             # kernel reads ahead during sequential reads.\n\
             advice = \"",
            $default,
            "\"\n"
        )
    };
}
pub(crate) use advice_reference;

/// The access pattern that a back end announces to the kernel for SSTables.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Expected {
    /// Random access, without read-ahead (`POSIX_FADV_RANDOM`).
    Random,
    /// No special pattern: the kernel detects sequential reads itself (`POSIX_FADV_NORMAL`).
    Normal,
}
