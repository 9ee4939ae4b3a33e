//! Declares the called functions of `rocksdb/c.h`, and helpers for these calls.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::ptr::null_mut;

use workload::TargetError;

use super::callbacks::{DeleteValue, Destroy, FullMerge, Name, PartialMerge};
use super::options::bloom_equivalent_bits;
use crate::options::{EngineOptions, Filters};
use crate::symbols::{bytes_at, functions};

/// The names of the called C functions that all supported versions have.
pub(super) const REQUIRED: &[&str] = Api::REQUIRED;

/// An opaque object of the library; only the library dereferences the pointer.
pub(super) type Object = *mut c_void;
/// Pointer through which the library returns an error message; the caller frees the message.
pub(super) type Message = *mut *mut c_char;

functions! {
    /// The functions of `rocksdb/c.h` that the adapter calls.
    #[allow(non_snake_case)] // as they are called there
    Api, "rocksdb_", linked(any(feature = "rocksdb", feature = "speedb")), newest(feature = "rocksdb"),
    required {
        free: fn(*mut c_void);
        open: fn(Object, *const c_char, Message) -> Object;
        close: fn(Object);
        put: fn(Object, Object, *const c_char, usize, *const c_char, usize, Message);
        delete: fn(Object, Object, *const c_char, usize, Message);
        merge: fn(Object, Object, *const c_char, usize, *const c_char, usize, Message);
        mergeoperator_create: fn(Object, Destroy, FullMerge, PartialMerge, DeleteValue, Name) -> Object;
        options_set_merge_operator: fn(Object, Object);
        get_pinned: fn(Object, Object, *const c_char, usize, Message) -> Object;
        pinnableslice_value: fn(Object, *mut usize) -> *const c_char;
        pinnableslice_destroy: fn(Object);
        write: fn(Object, Object, Object, Message);
        writebatch_create: fn() -> Object;
        writebatch_destroy: fn(Object);
        writebatch_put: fn(Object, *const c_char, usize, *const c_char, usize);
        writebatch_delete: fn(Object, *const c_char, usize);
        writebatch_delete_range: fn(Object, *const c_char, usize, *const c_char, usize);
        create_iterator: fn(Object, Object) -> Object;
        iter_destroy: fn(Object);
        iter_valid: fn(Object) -> c_uchar;
        iter_seek: fn(Object, *const c_char, usize);
        iter_seek_for_prev: fn(Object, *const c_char, usize);
        iter_seek_to_last: fn(Object);
        iter_next: fn(Object);
        iter_prev: fn(Object);
        iter_key: fn(Object, *mut usize) -> *const c_char;
        iter_value: fn(Object, *mut usize) -> *const c_char;
        iter_get_error: fn(Object, Message);
        compact_range: fn(Object, *const c_char, usize, *const c_char, usize);
        flush: fn(Object, Object, Message);
        flushoptions_create: fn() -> Object;
        flushoptions_destroy: fn(Object);
        column_family_handle_destroy: fn(Object);
        property_value: fn(Object, *const c_char) -> *mut c_char;
        property_int: fn(Object, *const c_char, *mut u64) -> c_int;
        options_create: fn() -> Object;
        options_destroy: fn(Object);
        get_options_from_string: fn(Object, *const c_char, Object, Message);
        options_enable_statistics: fn(Object);
        options_statistics_get_string: fn(Object) -> *mut c_char;
        readoptions_create: fn() -> Object;
        readoptions_destroy: fn(Object);
        readoptions_set_iterate_upper_bound: fn(Object, *const c_char, usize);
        readoptions_set_verify_checksums: fn(Object, c_uchar);
        writeoptions_create: fn() -> Object;
        writeoptions_destroy: fn(Object);
        writeoptions_disable_WAL: fn(Object, c_int);
        writeoptions_set_sync: fn(Object, c_uchar);
    }
    optional {
        singledelete: fn(Object, Object, *const c_char, usize, Message);
        writebatch_merge: fn(Object, *const c_char, usize, *const c_char, usize);
        writebatch_singledelete: fn(Object, *const c_char, usize);
        checkpoint_object_create: fn(Object, Message) -> Object;
        checkpoint_create: fn(Object, *const c_char, u64, Message);
        checkpoint_object_destroy: fn(Object);
        cancel_all_background_work: fn(Object, c_uchar);
        get_default_column_family_handle: fn(Object) -> Object;
        batched_multi_get_cf: fn(Object, Object, Object, usize, *const *const c_char, *const usize, *mut Object,
            *mut *mut c_char, bool);
        flush_wal: fn(Object, c_uchar, Message);
        readoptions_set_iterate_lower_bound: fn(Object, *const c_char, usize);
        options_set_statistics_level: fn(Object, c_int);
        cache_create_hyper_clock: fn(usize, usize) -> Object;
        cache_destroy: fn(Object);
        block_based_options_create: fn() -> Object;
        block_based_options_destroy: fn(Object);
        block_based_options_set_block_cache: fn(Object, Object);
        block_based_options_set_block_size: fn(Object, usize);
        block_based_options_set_block_restart_interval: fn(Object, c_int);
        block_based_options_set_filter_policy: fn(Object, Object);
        filterpolicy_create_bloom_full: fn(f64) -> Object;
        filterpolicy_create_ribbon: fn(f64) -> Object;
        options_set_block_based_table_factory: fn(Object, Object);
    }
    newest {
        get_into_buffer: fn(Object, Object, *const c_char, usize, *mut c_char, usize, *mut usize, *mut c_uchar, Message)
            -> c_uchar;
    }
}

pub(super) type GetIntoBuffer = unsafe extern "C" fn(
    Object,
    Object,
    *const c_char,
    usize,
    *mut c_char,
    usize,
    *mut usize,
    *mut c_uchar,
    Message,
) -> c_uchar;

pub(super) type BatchedMultiGet = unsafe extern "C" fn(
    Object,
    Object,
    Object,
    usize,
    *const *const c_char,
    *const usize,
    *mut Object,
    *mut *mut c_char,
    bool,
);

impl Api {
    /// Calls a C function that reports an error through a message pointer.
    ///
    /// # Errors
    /// The library returned a message. The error contains the message.
    pub(super) fn fallible<T>(&self, call: impl FnOnce(Message) -> T) -> Result<T, TargetError> {
        let mut message = null_mut();
        let result = call(&raw mut message);
        // SAFETY: A message, if any, is NUL-terminated and is ours to free.
        match unsafe { self.take_text(message) } {
            None => Ok(result),
            Some(text) => Err(text.into()),
        }
    }

    /// Creates read options. With `verify_checksums`, reads verify the checksum of each block that is not in the block
    /// cache.
    pub(super) fn read_options(&self, verify_checksums: bool) -> Object {
        // SAFETY: The functions belong to a library that is loaded, and the options are live.
        unsafe {
            let options = (self.readoptions_create)();
            // Reads verify checksums by default, so only `false` needs a call. Each scan with a bound creates read
            // options, so a second call would slow such scans.
            if !verify_checksums {
                (self.readoptions_set_verify_checksums)(options, 0);
            }
            options
        }
    }

    /// Sets the table options in `options` to these settings, with a `HyperClockCache` as the block cache. The filter
    /// bits per key may be a fraction, because every version with this cache accepts fractions.
    ///
    /// # Errors
    /// The library has no `HyperClockCache`, or the settings have ribbon filters and the library has none.
    ///
    /// # Safety
    /// `options` must be a live options object of the library.
    pub(super) unsafe fn set_hyper_clock(
        &self,
        options: Object,
        settings: &EngineOptions,
    ) -> Result<(), TargetError> {
        let functions = self
            .cache_create_hyper_clock
            .zip(self.cache_destroy)
            .zip(self.block_based_options_create.zip(self.block_based_options_destroy))
            .zip(self.block_based_options_set_block_cache.zip(self.block_based_options_set_block_size))
            .zip(self.block_based_options_set_block_restart_interval)
            .zip(self.block_based_options_set_filter_policy.zip(self.filterpolicy_create_bloom_full))
            .zip(self.options_set_block_based_table_factory);
        let Some((((((cache, tables), of_blocks), set_interval), filters), set_factory)) = functions else {
            return Err(
                "this version of the library has no HyperClockCache; set engine.cache = \"lru\"".into()
            );
        };
        let ((create_cache, destroy_cache), (create, destroy)) = (cache, tables);
        let ((set_cache, set_size), (set_filter, create_filter)) = (of_blocks, filters);
        let (create_filter, bits) = match settings.filters {
            Filters::Bloom | Filters::Other(_) => (create_filter, settings.filter_bits_per_key),
            Filters::Ribbon => {
                let create = self.filterpolicy_create_ribbon;
                (
                    create.ok_or(
                        "this version of the library has no ribbon filters; choose another filter for \
                         `bloom`",
                    )?,
                    bloom_equivalent_bits(settings),
                )
            }
        };
        // SAFETY: Each object is created and destroyed once; the table options keep the cache and own the filter.
        unsafe {
            let block_bytes = settings.block_bytes as usize;
            let (cache, tables) = (create_cache(settings.cache_bytes as usize, block_bytes), create());
            set_cache(tables, cache);
            set_size(tables, block_bytes);
            set_interval(tables, settings.restart_interval.cast_signed());
            if settings.filter_bits_per_key > 0.0 {
                set_filter(tables, create_filter(bits));
            }
            set_factory(options, tables);
            destroy(tables);
            destroy_cache(cache);
        }
        Ok(())
    }

    /// Copies a text that the library allocated, and frees it. Returns `None` for a null pointer.
    ///
    /// # Safety
    /// `text` must be null, or a NUL-terminated text that the caller owns. The text must not be used afterwards.
    pub(super) unsafe fn take_text(&self, text: *mut c_char) -> Option<String> {
        if text.is_null() {
            return None;
        }
        // SAFETY: The caller guarantees it.
        unsafe {
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            (self.free)(text.cast());
            Some(copy)
        }
    }

    /// Returns the bytes of a pinned slice.
    ///
    /// # Safety
    /// `slice` must be a pinned slice of the library that lives as long as the returned bytes.
    pub(super) unsafe fn pinned<'a>(&self, slice: Object) -> &'a [u8] {
        let mut bytes = 0;
        // SAFETY: The caller guarantees it.
        unsafe {
            let start = (self.pinnableslice_value)(slice, &raw mut bytes);
            bytes_at(start, bytes)
        }
    }
}
