//! Client requests of this process to callgrind, the valgrind tool that counts executed instructions. Outside of
//! valgrind, a client request has no effect.
//!
//! A client request is a sequence of instructions without effect, which valgrind recognizes (`valgrind.h` and
//! `callgrind.h` of valgrind). With client requests, the load phase of a trial can run without instrumentation.
#![allow(unsafe_code)]

/// The client request that returns how many valgrind processes are nested around this process. The number is 0 outside
/// of valgrind.
const RUNNING_ON_VALGRIND: usize = 0x1001;

/// The number of the first client request of callgrind. Its two highest bytes are `'C'` and `'T'`, which valgrind
/// reserves for callgrind.
const CALLGRIND: usize = 0x4354_0000;

const TOGGLE_COLLECT: usize = CALLGRIND + 2;
const START_INSTRUMENTATION: usize = CALLGRIND + 4;
const STOP_INSTRUMENTATION: usize = CALLGRIND + 5;

/// Whether the CPU architecture of this program supports client requests to valgrind.
pub const IS_SUPPORTED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Returns whether this process runs under valgrind.
pub fn is_running() -> bool {
    request(RUNNING_ON_VALGRIND) > 0
}

/// Starts the instrumentation of the code of all threads by callgrind. Callgrind counts instructions only in
/// instrumented code, which runs much more slowly.
pub fn start_instrumentation() {
    request(START_INSTRUMENTATION);
}

/// Stops the instrumentation of the code of all threads by callgrind.
pub fn stop_instrumentation() {
    request(STOP_INSTRUMENTATION);
}

/// Switches the counting of this thread's instructions by callgrind on or off.
pub fn toggle_collection() {
    request(TOGGLE_COLLECT);
}

/// Sends a client request without arguments to valgrind. Returns the answer, or 0 outside of valgrind.
#[cfg(target_arch = "x86_64")]
fn request(code: usize) -> usize {
    let arguments = [code, 0, 0, 0, 0, 0];
    let mut answer = 0_usize;
    // SAFETY: On a CPU, the four rotations restore `rdi`, and the exchange changes nothing. Valgrind reads `arguments`
    // and changes only `rdx`.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") answer,
            out("rdi") _,
            options(nostack),
        );
    }
    answer
}

/// Sends a client request without arguments to valgrind. Returns the answer, or 0 outside of valgrind.
#[cfg(target_arch = "aarch64")]
fn request(code: usize) -> usize {
    let arguments = [code, 0, 0, 0, 0, 0];
    let mut answer = 0_usize;
    // SAFETY: On a CPU, the four rotations restore `x12`, and the operation on `x10` changes nothing. Valgrind reads
    // `arguments` and changes only `x3`.
    unsafe {
        std::arch::asm!(
            "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61", "orr x10, x10, x10",
            in("x4") arguments.as_ptr(),
            inout("x3") answer,
            out("x10") _,
            out("x12") _,
            options(nostack),
        );
    }
    answer
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn request(_: usize) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_outside_of_valgrind_have_no_effect() {
        assert!(!is_running());
        start_instrumentation();
        toggle_collection();
        stop_instrumentation();
    }
}
