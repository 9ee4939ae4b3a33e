//! The common structure of all axes. An axis is a list of [`Variant`]s. A variant is built from its own parameters, is
//! chosen by name in TOML, and appears in results under a label that can be parsed again.
//!
//! To add a variant to an axis, add one new file and one line in the [`Catalog`] of the axis. TOML, `lsmbench list`,
//! error texts, conformance suites, benches, charts and documentation all iterate over the catalog.

mod axis;
mod catalog;
mod choice;
mod entry;
mod error;
mod handle;
mod label;
pub mod laws;
pub mod library;
mod origin;
mod quantity;
mod reading;
mod seam;
pub mod testing;
mod variant;

pub use axis::{Axis, VariantInfo};
pub use catalog::Catalog;
pub use choice::Choice;
pub use entry::{KeyEntry, KeyTable};
pub use error::{AdditionError, ChoiceError, suggestion};
pub use handle::CatalogHandle;
pub use origin::Origin;
pub use quantity::{ByteSize, Count, Time};
pub use reading::read_value;
pub use seam::Seam;
pub use variant::{Build, Limit, Variant};
