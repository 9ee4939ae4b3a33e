//! The codec `lz4`, called through the C ABI. The time of a call differs from that of the variant `lz4` only by the
//! cost of the ABI.
#![allow(unsafe_code)]

use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::LazyLock;

use catalog::library::{DAMAGED, NO_SPACE, OK};
use lz4_flex::block::get_maximum_output_size;

use super::table::{ABI, CodecApi};
use crate::compression::Compression;
use crate::lz4::Lz4;

/// The function table of the C ABI whose functions call the codec `lz4`.
pub(super) const API: CodecApi = CodecApi {
    abi: ABI,
    name: c"lz4".as_ptr(),
    max_output: Some(max_output),
    compress: Some(compress),
    decompress: Some(decompress),
    memory_bytes: Some(memory_bytes),
};

static LZ4: LazyLock<Lz4> = LazyLock::new(Lz4::new);

unsafe extern "C" fn max_output(length: usize) -> usize {
    get_maximum_output_size(length)
}

unsafe extern "C" fn compress(
    block: *const u8,
    length: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> i32 {
    // SAFETY: by the ABI `block` points to `length` bytes and `out` to `capacity` bytes that are ours during the
    // call.
    let (block, out) = unsafe { (from_raw_parts(block, length), from_raw_parts_mut(out, capacity)) };
    let Some(count) = LZ4.compress_into(block, out) else { return NO_SPACE };
    // SAFETY: by the ABI `written` points to writable memory for a number.
    unsafe { written.write(count) };
    OK
}

unsafe extern "C" fn decompress(stored: *const u8, length: usize, out: *mut u8, out_length: usize) -> i32 {
    // SAFETY: by the ABI `stored` points to `length` bytes and `out` to `out_length` bytes that are ours during the
    // call.
    let (stored, out) = unsafe { (from_raw_parts(stored, length), from_raw_parts_mut(out, out_length)) };
    match LZ4.decompress(stored, out) {
        Ok(()) => OK,
        Err(_) => DAMAGED,
    }
}

unsafe extern "C" fn memory_bytes() -> usize {
    0
}
