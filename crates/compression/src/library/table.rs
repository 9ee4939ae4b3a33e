//! The table of functions that `lsmbench_codec.h` defines, and calls of these functions.
#![allow(unsafe_code)]

use std::os::raw::c_char;

use catalog::library::{FunctionTable, OK, Provider};

use crate::compression::CorruptBlock;

/// The version of the C ABI of codec libraries (`lsmbench_codec.h`).
pub(super) const ABI: u32 = 1;

/// The number of bytes by which the output of a codec library may exceed twice the length of its input. A longer output
/// counts as an error of the library.
const MAX_MORE_BYTES: usize = 1 << 20;

pub(super) type MaxOutput = unsafe extern "C" fn(usize) -> usize;
pub(super) type Compress = unsafe extern "C" fn(*const u8, usize, *mut u8, usize, *mut usize) -> i32;
pub(super) type Decompress = unsafe extern "C" fn(*const u8, usize, *mut u8, usize) -> i32;
pub(super) type MemoryBytes = unsafe extern "C" fn() -> usize;

/// The C struct `lsmbench_codec_api`: the functions that a codec library exports.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct CodecApi {
    pub(super) abi: u32,
    pub(super) name: *const c_char,
    pub(super) max_output: Option<MaxOutput>,
    pub(super) compress: Option<Compress>,
    pub(super) decompress: Option<Decompress>,
    pub(super) memory_bytes: Option<MemoryBytes>,
}

// SAFETY: it is `repr(C)`, begins with the version of the ABI, and any bit pattern is valid, because functions are
// `Option`s.
unsafe impl FunctionTable for CodecApi {}

/// The functions of a codec library. All functions are mandatory. According to the header, several threads may call the
/// functions at the same time.
pub(super) struct Functions {
    /// The name that the library gives to its stored format. Each block that the library has compressed begins with
    /// this name.
    pub(super) name: String,
    max_output: MaxOutput,
    compress: Compress,
    decompress: Decompress,
    memory_bytes: MemoryBytes,
    /// The loaded library. While this value exists, the function pointers stay valid.
    _provider: Provider,
}

impl Functions {
    /// Checks the function table of a codec library.
    ///
    /// # Errors
    /// The name of the library is not printable, or a function is missing.
    pub(super) fn checked(api: CodecApi, provider: Provider) -> Result<Self, String> {
        Ok(Self {
            // SAFETY: by the header the name is a zero-terminated text that lives as long as the library.
            name: unsafe { provider.name(api.name) }?,
            max_output: provider.require(api.max_output, "max_output")?,
            compress: provider.require(api.compress, "compress")?,
            decompress: provider.require(api.decompress, "decompress")?,
            memory_bytes: provider.require(api.memory_bytes, "memory_bytes")?,
            _provider: provider,
        })
    }

    /// Returns the maximum compressed size in bytes of a block of `length` bytes, as the library reports it. Returns
    /// `None` if this size is above the limit.
    pub(super) fn max_output(&self, length: usize) -> Option<usize> {
        // SAFETY: the function takes a number.
        let most = unsafe { (self.max_output)(length) };
        (most <= length.saturating_mul(2).saturating_add(MAX_MORE_BYTES)).then_some(most)
    }

    /// Compresses a block and returns the number of bytes written to `out`. Returns `None` if the library cannot
    /// compress the block.
    #[inline]
    pub(super) fn compress(&self, block: &[u8], out: &mut [u8]) -> Option<usize> {
        let mut written = 0;
        // SAFETY: both buffers live during the call and have the lengths that are passed with them.
        let code = unsafe {
            (self.compress)(block.as_ptr(), block.len(), out.as_mut_ptr(), out.len(), &raw mut written)
        };
        (code == OK && written <= out.len()).then_some(written)
    }

    /// Decompresses the bytes `stored` of a block into `out`.
    ///
    /// # Errors
    /// The library reports an error.
    #[inline]
    pub(super) fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        // SAFETY: both buffers live during the call and have the lengths that are passed with them.
        match unsafe { (self.decompress)(stored.as_ptr(), stored.len(), out.as_mut_ptr(), out.len()) } {
            OK => Ok(()),
            code => Err(CorruptBlock(format!(
                "library {}: the function `decompress` returned {code} instead of 0",
                self.name
            ))),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        // SAFETY: the function takes nothing.
        unsafe { (self.memory_bytes)() }
    }
}
