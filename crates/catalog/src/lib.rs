//! The common structure of all axes. An axis is one part of a tree, such as the filter, with several [`Variant`]s. Each
//! variant has its own parameters. In TOML, a user selects a variant by its name. In results, a label identifies a
//! variant, and lsmbench can parse this label.
//!
//! To add a variant to an axis, add one new file and one line in the [`Catalog`] of the axis. All other parts of
//! lsmbench use the catalog. Examples are the TOML parser, `lsmbench list`, error messages, tests, benchmarks, charts
//! and documentation.

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
