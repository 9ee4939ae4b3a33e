//! Exported functions for environments. Only the default environment exists, because the design determines how files
//! are accessed.
#![allow(unsafe_code, non_camel_case_types)]

use std::ffi::c_char;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::ptr::null_mut;

use super::memory::{copy_of_bytes, from_handle, into_handle};
use super::seam::contain;

/// The environment variable that names the directory for test files.
const TEST_DIRECTORY: &str = "TEST_TMPDIR";

/// The handle of the default environment, which is the only one.
pub struct leveldb_env_t {
    _private: (),
}

/// Creates the default environment.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_create_default_env() -> *mut leveldb_env_t {
    into_handle(leveldb_env_t { _private: () })
}

/// Destroys an environment.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_env_destroy(env: *mut leveldb_env_t) {
    // SAFETY: The caller keeps the rules of the interface.
    drop(unsafe { from_handle(env) });
}

/// Returns an existing directory for test files. The environment variable `TEST_TMPDIR` names this directory. Without
/// the variable, each user has a directory in the temporary directory. Returns null if the directory cannot be created.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_env_get_test_directory(_: *mut leveldb_env_t) -> *mut c_char {
    contain(null_mut(), || {
        let named = std::env::var_os(TEST_DIRECTORY).filter(|path| !path.is_empty()).map(PathBuf::from);
        let directory = named.unwrap_or_else(|| {
            let user = rustix::process::geteuid().as_raw();
            std::env::temp_dir().join(format!("lsmbench-leveldb-test-{user}"))
        });
        if std::fs::create_dir_all(&directory).is_err() {
            return null_mut();
        }
        let mut bytes = directory.into_os_string().into_vec();
        bytes.push(0);
        copy_of_bytes(&bytes)
    })
}
