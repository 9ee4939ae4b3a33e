//! Opens and checks shared libraries that implement a component in C.
//!
//! A library exports one function without arguments. This function returns a table of functions, which lives as long as
//! the library. The first member of the table is a `uint32_t` with the ABI version for which the library was compiled.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::os::raw::c_char;
use std::path::PathBuf;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// The return code of a function of a C component that has succeeded.
pub const OK: i32 = 0;
/// The return code of a function of a C component whose input bytes are corrupt, or come from another component.
pub const DAMAGED: i32 = 1;
/// The return code of a function of a C component whose output does not fit into the buffer.
pub const NO_SPACE: i32 = 3;

/// The interface that the shared libraries of an axis must have: the exported function, the header and the ABI version.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// The name of the exported function, such as `lsmbench_filter`.
    pub symbol: &'static str,
    /// The header file that declares the table of functions, such as `lsmbench_filter.h`.
    pub header: &'static str,
    /// The version of the interface (ABI) for which this program was compiled.
    pub abi: u32,
}

/// The owner of a table of C functions: a shared library, or this program. A library stays loaded until this value is
/// dropped.
#[derive(Debug)]
pub struct Provider {
    /// The path of the shared library. Empty if the functions are part of this program.
    path: PathBuf,
    /// The header file that declares the table of functions.
    header: &'static str,
    /// The handle that keeps the shared library loaded. `None` if the functions are part of this program.
    _library: Option<Library>,
}

/// A Rust type for the function table that a C header declares.
///
/// # Safety
/// The type is `repr(C)`, and its first member is a `u32` with the ABI version. Every other member accepts any bit
/// pattern that a C compiler may write, so functions are `Option`s and pointers are raw pointers.
pub unsafe trait FunctionTable: Copy {}

/// Opens the library at `path`, and reads its function table. If `path` is empty, returns `built_in`. A relative path
/// is relative to the current directory.
///
/// # Errors
/// The file is missing, is not a library, lacks the exported function, or was compiled for another ABI version. The
/// message contains a remedy.
pub fn open<T: FunctionTable>(
    path: &str,
    interface: Interface,
    built_in: T,
) -> Result<(T, Provider), String> {
    if path.is_empty() {
        return Ok((built_in, Provider { path: PathBuf::new(), header: interface.header, _library: None }));
    }
    let Interface { symbol, header, abi } = interface;
    let place = std::env::current_dir().unwrap_or_default();
    let full = place.join(path);
    if !full.is_file() {
        return Err(format!(
            "library is \"{path}\": no such file in {}; build the library, or correct the path",
            place.display()
        ));
    }
    // SAFETY: loading a library may run its code; the user named this one for that purpose.
    let library = unsafe { Library::open(Some(&full), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| {
        format!(
            "library \"{path}\" cannot be loaded: {error}; compile the library with -shared -fPIC for this machine"
        )
    })?;
    // SAFETY: the header declares the symbol as a function without arguments that returns a pointer.
    let function = unsafe { library.get::<unsafe extern "C" fn() -> *const u32>(symbol) };
    let function = function.map_err(|_| {
        format!("library \"{path}\" does not export the function {symbol}; include {header} and define it")
    })?;
    // SAFETY: the header declares a function without arguments that returns a pointer.
    let table = unsafe { function() };
    if table.is_null() {
        return Err(format!(
            "library \"{path}\": {symbol} returned NULL; it must return its table of functions"
        ));
    }
    if !table.cast::<T>().is_aligned() {
        return Err(format!(
            "library \"{path}\": {symbol} did not return a valid table of functions; {header} defines the table"
        ));
    }
    // SAFETY: the header promises a table whose first member is this number.
    let found = unsafe { table.read() };
    if found != abi {
        return Err(format!(
            "library \"{path}\" has version {found} of the ABI of {header}, this program has version {abi}; \
             compile the library again with the {header} of this program"
        ));
    }
    // SAFETY: a table of this ABI version has the members of `T`, which accepts any value of them.
    let table = unsafe { table.cast::<T>().read() };
    Ok((table, Provider { path: full, header, _library: Some(library) }))
}

impl Provider {
    /// Returns a mandatory function of a library's table, or an error if the library sets the function to NULL.
    ///
    /// # Errors
    /// The library lacks the function. The message contains the name of the function.
    pub fn require<F>(&self, function: Option<F>, name: &str) -> Result<F, String> {
        let (path, header) = (self.path.display(), self.header);
        let missing =
            || format!("library \"{path}\" sets {name} to NULL; define this function as {header} describes");
        function.ok_or_else(missing)
    }

    /// Checks the name of a library's stored format, which must have 1 to 32 printable ASCII characters.
    ///
    /// # Errors
    /// The name is missing or invalid.
    ///
    /// # Safety
    /// `name` is NULL, or points to a zero-terminated text that lives until the call returns.
    pub unsafe fn name(&self, name: *const c_char) -> Result<String, String> {
        let wrong = |found: &str| {
            format!(
                "library \"{}\" returns the name {found}; a name must have 1 to 32 printable ASCII \
                 characters",
                self.path.display()
            )
        };
        if name.is_null() {
            return Err(wrong("NULL"));
        }
        // SAFETY: guaranteed by the caller.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let is_plain = (1..=32).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
        if is_plain { Ok(name.into_owned()) } else { Err(wrong(&format!("{name:?}"))) }
    }
}
