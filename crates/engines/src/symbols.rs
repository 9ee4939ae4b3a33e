//! Declares tables of C functions, and looks up the functions in a shared library.
#![allow(unsafe_code)]

use std::ffi::c_char;
use std::mem::ManuallyDrop;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use workload::TargetError;

/// A loaded shared library. It stays loaded until the process ends, because an engine may have threads that outlive its
/// stores.
pub(crate) struct Loaded(ManuallyDrop<Library>);

impl Loaded {
    /// Loads a library so that its symbols are invisible to the other libraries of the process.
    pub(crate) fn open(path: &Path) -> Result<Self, TargetError> {
        // SAFETY: Loading runs the initializers of the library. The user has named this library, or the library is
        // installed under the name of the engine. Every program that is linked with the library runs the same
        // initializers.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }?;
        Ok(Self(ManuallyDrop::new(library)))
    }

    /// Returns the function with this name.
    ///
    /// # Errors
    /// The library has no symbol with this name.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to a function with the signature in the header of the library.
    pub(crate) unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, TargetError> {
        // SAFETY: The caller vouches for the type.
        let symbol = unsafe { self.0.get::<F>(name) }?;
        Ok(*symbol)
    }
}

/// Returns the slice of `bytes` bytes that begins at `start`. If `bytes` is 0, `start` may have any value.
///
/// # Safety
/// The bytes must exist, and must not change while the slice is alive.
pub(crate) unsafe fn bytes_at<'a>(start: *const c_char, bytes: usize) -> &'a [u8] {
    if bytes == 0 {
        return &[];
    }
    // SAFETY: The caller guarantees it.
    unsafe { std::slice::from_raw_parts(start.cast(), bytes) }
}

/// Declares a struct with the functions of a C library. The functions are in three groups:
///
/// - `required`: every supported version has these functions;
/// - `optional`: old versions lack these functions, but a library that is linked into this program has them;
/// - `newest`: even a library that is linked into this program may lack these functions.
///
/// The names omit their common prefix. `linked` is the build condition for linking a library into this program.
/// `newest` is the build condition for a linked library that has the functions of the group `newest`.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident, $prefix:literal, linked($linked:meta), newest($has_newest:meta),
     required { $($name:ident: fn($($argument:ty),* $(,)?) $(-> $result:ty)?;)* }
     optional { $($newer:ident: fn($($newer_argument:ty),* $(,)?) $(-> $newer_result:ty)?;)* }
     newest { $($newest:ident: fn($($newest_argument:ty),* $(,)?) $(-> $newest_result:ty)?;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $table {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            $(pub(crate) $newer: Option<unsafe extern "C" fn($($newer_argument),*) $(-> $newer_result)?>,)*
            $(pub(crate) $newest: Option<unsafe extern "C" fn($($newest_argument),*) $(-> $newest_result)?>,)*
        }

        impl $table {
            /// The names of the functions that every version of the library has.
            pub(crate) const REQUIRED: &[&str] = &[$(concat!($prefix, stringify!($name))),*];

            /// Looks up all functions.
            ///
            /// # Errors
            /// The library lacks a function that every version has.
            ///
            /// # Safety
            /// The declared signatures must equal the signatures in the library's header.
            pub(crate) unsafe fn of(
                library: &crate::symbols::Loaded,
            ) -> Result<Self, workload::TargetError> {
                // SAFETY: The caller vouches for the signatures.
                unsafe {
                    Ok(Self {
                        $($name: library.function(concat!($prefix, stringify!($name)))?,)*
                        $($newer: library.function(concat!($prefix, stringify!($newer))).ok(),)*
                        $($newest: library.function(concat!($prefix, stringify!($newest))).ok(),)*
                    })
                }
            }

            /// Returns the functions of the library that is linked into this program.
            #[cfg($linked)]
            pub(crate) const fn linked() -> Self {
                Self {
                    $($name: linked::$name,)*
                    $($newer: Some(linked::$newer),)*
                    $(
                        #[cfg($has_newest)]
                        $newest: Some(linked::$newest),
                        #[cfg(not($has_newest))]
                        $newest: None,
                    )*
                }
            }
        }

        /// Declares the functions of the linked library.
        #[cfg($linked)]
        mod linked {
            #[allow(clippy::wildcard_imports)] // the types of their signatures
            use super::*;

            unsafe extern "C" {
                $(
                    #[link_name = concat!($prefix, stringify!($name))]
                    pub(super) fn $name($(_: $argument),*) $(-> $result)?;
                )*
                $(
                    #[link_name = concat!($prefix, stringify!($newer))]
                    pub(super) fn $newer($(_: $newer_argument),*) $(-> $newer_result)?;
                )*
                $(
                    #[cfg($has_newest)]
                    #[link_name = concat!($prefix, stringify!($newest))]
                    pub(super) fn $newest($(_: $newest_argument),*) $(-> $newest_result)?;
                )*
            }
        }
    };
}

pub(crate) use functions;
