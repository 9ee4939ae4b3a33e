//! The key format of a workload, which maps the index of a key to the bytes of the key.

mod decimal;
mod digits;
mod numbered;
mod policy;
mod recorded;
mod u64_be;
mod user;

use catalog::Catalog;

pub use policy::{KeyBytes, KeyFormat, KeyFormatPolicy};

/// All key formats, which convert the number of a key to the bytes of the key. The first format is the default.
pub static FORMATS: Catalog<dyn KeyFormatPolicy> = Catalog::new(
    catalog::origin!(),
    "key",
    "the format of keys",
    &[u64_be::VARIANT, decimal::VARIANT, user::VARIANT, recorded::VARIANT],
);
