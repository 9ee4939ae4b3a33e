//! A type parameter that gives a component access to the catalog of its own axis.

use crate::Catalog;

/// A type that stands for the catalog of an axis.
///
/// Some variants contain other components of the same axis, which they must look up in its catalog. Such a variant has
/// a handle as its type parameter, so the file of the variant does not depend on the file of the catalog.
pub trait CatalogHandle<T: ?Sized + 'static>: Send + Sync + 'static {
    /// Returns the catalog that contains the variant.
    fn catalog() -> &'static Catalog<T>;
}
