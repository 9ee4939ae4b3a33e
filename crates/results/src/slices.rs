//! Columns of `slices.csv`: the slices of operations of trials that ran side by side (`trials.plan`).

use crate::metric::{Better, Metric, Repeats, Unit, ValueType, columns};

columns! {
    /// The measured columns of `slices.csv`, in order.
    SLICE_METRICS
    /// Number of the slice in its phase, from 0. A slice is a number of operations that a process runs without a
    /// stop. Slices with one number have the same operations in every configuration.
    SLICE = "slice", "slice", Plain, Integer, Neither, Varies;
    /// Position in time among the slices with this number, from 0. With the plan `duet`, the slices with one number
    /// ran at the same time.
    SLICE_POSITION = "slice_position", "position of the slice", Plain, Integer, Neither, Varies;
    /// Whether the slice belongs to the second trial of a baseline, the A/A run of `noise.csv`: `true` or `false`.
    SLICE_AGAIN = "slice_again", "second trial", Plain, Text, Neither, Varies;
    /// Number of operations of the slice, over all threads.
    SLICE_OPS = "slice_ops", "operations of the slice", Count, Integer, Neither, Varies;
    /// Wall time of the slice.
    SLICE_NS = "slice_ns", "time of the slice", Nanoseconds, Integer, Lower, Varies;
    /// CPU time of all threads of the process in the slice.
    SLICE_CPU_NS = "slice_cpu_ns", "CPU time of the slice", Nanoseconds, Integer, Lower, Varies;
    /// Time for which the threads that issue operations were ready to run but had no CPU, summed over these threads.
    SLICE_WAITED_NS = "slice_waited_ns", "run-queue wait of the slice", Nanoseconds, Integer, Lower, Varies;
}
