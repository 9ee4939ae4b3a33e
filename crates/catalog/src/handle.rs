//! A type parameter that gives a component access to the catalog of its own axis.

use crate::Catalog;

/// A type that stands for the catalog of an axis.
///
/// Some variants contain other components of the same axis, which they must look up in the catalog of the axis. Such a
/// variant has a handle as its type parameter. The file that defines the catalog implements the handle, and passes the
/// handle as the type parameter. The file of the variant therefore does not depend on the file of the catalog.
pub trait CatalogHandle<T: ?Sized + 'static>: Send + Sync + 'static {
    /// Returns the catalog that contains the variant.
    fn catalog() -> &'static Catalog<T>;
}
