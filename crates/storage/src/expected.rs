//! The access pattern of SSTables that is announced to the kernel. The pattern is a parameter of the back ends that
//! read through the page cache.

use serde::{Deserialize, Serialize};

/// Reference text of the parameter for a back end, with the default of that back end.
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

/// Access pattern that is announced to the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Expected {
    /// Random access (`POSIX_FADV_RANDOM`).
    Random,
    /// No announced pattern; the kernel detects the pattern (`POSIX_FADV_NORMAL`).
    Normal,
}
