//! A type parameter that gives a component access to the catalog of its own axis.

use crate::Catalog;

/// A type that represents the catalog of an axis.
///
/// A variant that contains other components of its axis must look up these components in the catalog of the axis.
/// Such a variant has this handle as a type parameter. The file of the catalog implements the handle and sets the
/// type parameter. The file of the variant therefore does not depend on the file of the catalog.
pub trait CatalogHandle<T: ?Sized + 'static>: Send + Sync + 'static {
    /// Returns the catalog that lists the variant.
    fn catalog() -> &'static Catalog<T>;
}
