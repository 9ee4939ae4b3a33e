//! Shared libraries that implement a component by C ABI: how one is opened and checked.
//!
//! A library exports one function without arguments. It returns a table of functions that lives as long as the
//! library, and whose first member is the number of the ABI that it was compiled for, a `uint32_t`.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::os::raw::c_char;
use std::path::PathBuf;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// The code of a function that did its work.
pub const OK: i32 = 0;
/// The code of a function whose input bytes are not those that it wrote.
pub const DAMAGED: i32 = 1;
/// The code of a function whose output does not fit its buffer.
pub const NO_SPACE: i32 = 3;

/// What a library must offer for one axis.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// The exported function: `lsmbench_filter`.
    pub symbol: &'static str,
    /// The header that declares it: `lsmbench_filter.h`.
    pub header: &'static str,
    /// The number of the ABI that this program was compiled for.
    pub abi: u32,
}

/// What provides the functions of a table: a library that stays loaded as long as this value lives, or this program.
#[derive(Debug)]
pub struct Provider {
    /// The file; empty for functions of this program.
    path: PathBuf,
    /// The header that declares the table.
    header: &'static str,
    /// Held so that the functions stay mapped. `None` for functions of this program.
    _library: Option<Library>,
}

/// A table of functions as a C header declares it.
///
/// # Safety
/// The type is `repr(C)`, its first member is a `u32` that holds the number of the ABI, and every other member may
/// have any bit pattern that a C compiler puts there: functions are `Option`s, pointers are raw.
pub unsafe trait FunctionTable: Copy {}

/// Reads the table of functions of the library at `path`, or takes `built_in` where `path` is empty. A relative path
/// starts at the current directory.
///
/// # Errors
/// A sentence that says what is wrong and what to do: there is no such file, it is no library, it lacks the function,
/// or it was compiled for another ABI.
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
            "library is \"{path}\": there is no such file in {}; build it, or correct the path",
            place.display()
        ));
    }
    // SAFETY: a library may run code when it is loaded; the user has named this one to have its code run.
    let library = unsafe { Library::open(Some(&full), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| {
        format!(
            "library \"{path}\" cannot be loaded: {error}; compile it with -shared -fPIC for this machine"
        )
    })?;
    // SAFETY: the header declares the symbol as a function without arguments that returns a pointer.
    let function = unsafe { library.get::<unsafe extern "C" fn() -> *const u32>(symbol) };
    let function = function.map_err(|_| {
        format!("library \"{path}\" does not export the function {symbol}; include {header} and define it")
    })?;
    // SAFETY: as declared in the header, the function takes nothing and returns a pointer.
    let table = unsafe { function() };
    if table.is_null() {
        return Err(format!(
            "library \"{path}\": {symbol} returned NULL; it must return its table of functions"
        ));
    }
    if !table.cast::<T>().is_aligned() {
        return Err(format!("library \"{path}\": {symbol} returned no table of functions; see {header}"));
    }
    // SAFETY: by the header the pointer leads to a table whose first member is this number.
    let found = unsafe { table.read() };
    if found != abi {
        return Err(format!(
            "library \"{path}\" has version {found} of the ABI of {header}, this program has version {abi}; compile \
             the library again with the header of this version"
        ));
    }
    // SAFETY: a table of this version of the ABI has the members of `T`, which takes whatever stands in them.
    let table = unsafe { table.cast::<T>().read() };
    Ok((table, Provider { path: full, header, _library: Some(library) }))
}

impl Provider {
    /// Returns a function of the table that must not be NULL.
    ///
    /// # Errors
    /// Names the function that the library lacks.
    pub fn require<F>(&self, function: Option<F>, name: &str) -> Result<F, String> {
        let (path, header) = (self.path.display(), self.header);
        let missing =
            || format!("library \"{path}\" leaves {name} NULL; define the function, as {header} says");
        function.ok_or_else(missing)
    }

    /// The name that the table gives to what the library stores: 1 to 32 printable ASCII characters.
    ///
    /// # Errors
    /// If it is anything else.
    ///
    /// # Safety
    /// `name` is NULL or leads to a text that ends with a zero and lives as long as the call.
    pub unsafe fn name(&self, name: *const c_char) -> Result<String, String> {
        let wrong = |found: &str| {
            format!(
                "library \"{}\" has the name {found}; it must be 1 to 32 printable ASCII characters",
                self.path.display()
            )
        };
        if name.is_null() {
            return Err(wrong("NULL"));
        }
        // SAFETY: the caller vouches for the text.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let is_plain = (1..=32).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
        if is_plain { Ok(name.into_owned()) } else { Err(wrong(&format!("{name:?}"))) }
    }
}
