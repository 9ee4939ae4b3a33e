//! Lazy access of a component to the catalog of its own axis.

use crate::Catalog;

/// A name for the catalog of an axis, as a type.
///
/// A variant that holds other components of its axis must look these up in the catalog that lists the variant itself.
/// Such a variant takes the handle as a type parameter, and the file of the catalog implements the handle and fills the
/// parameter in. So the file of the variant does not depend on the file of the catalog.
pub trait CatalogHandle<T: ?Sized + 'static>: Send + Sync + 'static {
    /// The catalog that lists the variant.
    fn catalog() -> &'static Catalog<T>;
}
