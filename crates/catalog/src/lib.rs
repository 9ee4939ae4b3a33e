//! The common structure of all axes. An axis is one part of a tree, such as the filter, with several [`Variant`]s. Each
//! variant has its own parameters. In TOML, a user selects a variant by its name. In results, a label identifies a
//! variant with its parameters, and lsmbench can parse this label to a [`Choice`].
//!
//! To add a variant to an axis, add one new file and one line in the [`Catalog`] of the axis. All other parts of
//! lsmbench use the catalog. Examples are the TOML parser, `lsmbench list`, error messages, tests, benchmarks, charts
//! and documentation. The crate of every axis depends on this crate, which contains no variant of any axis.
//!
//! ```
//! use lsmbench_catalog::{Catalog, Variant, origin};
//!
//! /// An axis with two variants. A component of this axis is a function that computes the checksum of a block.
//! static CHECKSUMS: Catalog<dyn Fn(&[u8]) -> u8> = Catalog::new(
//!     origin!(),
//!     "checksum",
//!     "the checksum of a block",
//!     &[
//!         Variant::plain("sum", "adds all bytes", || Box::new(|block| block.iter().sum())),
//!         Variant::plain("xor", "xors all bytes", || Box::new(|block| block.iter().fold(0, |all, byte| all ^ byte))),
//!     ],
//! );
//!
//! let choice = CHECKSUMS.choose(&"xor".into())?;
//! assert_eq!(CHECKSUMS.build(&choice)?(&[1, 2, 3]), 0);
//! let error = CHECKSUMS.choose(&"xro".into()).unwrap_err();
//! assert_eq!(error.to_string(), "checksum: unknown variant \"xro\"; did you mean \"xor\"? Valid: \"sum\", \"xor\"");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use error::{AdditionError, ChoiceError, alternatives, suggestion};
pub use handle::CatalogHandle;
pub use label::{label_with_only, set_parameters};
pub use origin::Origin;
pub use quantity::{ByteSize, Count, Time};
pub use reading::read_value;
pub use seam::Seam;
pub use variant::{Build, Limit, Variant};
