//! Lazy access of a component to the catalog of its own axis.

use crate::Catalog;

/// A name for the catalog of an axis, as a type.
///
/// A variant that contains other components of its axis must look them up in the catalog that lists the variant itself.
/// Such a variant takes the handle as a type parameter. The file of the catalog implements the handle and fills in the
/// parameter. The file of the variant therefore does not depend on the file of the catalog.
pub trait CatalogHandle<T: ?Sized + 'static>: Send + Sync + 'static {
    /// The catalog that lists the variant.
    fn catalog() -> &'static Catalog<T>;
}
