//! What the system is told of the reads of tables to come: a parameter of the back ends that read through the page cache.

use serde::{Deserialize, Serialize};

/// What the reference of a back end says of the parameter, and its default there.
macro_rules! advice_reference {
    ($default:literal) => {
        concat!(
            "# What the system is told of the reads of tables to come: \"random\" reads no page ahead, \"normal\" reads\n\
             # ahead of what looks sequential.\n\
             advice = \"",
            $default,
            "\"\n"
        )
    };
}
pub(crate) use advice_reference;

/// The reads that the system is to expect.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Expected {
    /// At any place.
    Random,
    /// As the system makes out itself.
    Normal,
}
