//! The shape every axis has: a list of [`Variant`]s, each built from its own parameters, chosen by name
//! in TOML, and named in results by a label that parses back.
//!
//! Adding a variant to an axis is one new file and one line in that axis' [`Catalog`]; TOML, `lsmbench
//! list`, error texts, conformance suites, benches, charts and documentation all walk the catalog.

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
