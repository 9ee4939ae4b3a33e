//! Columns of `slices.csv`. Each row describes one slice of a trial that ran side by side with other trials
//! (`trials.plan`).

use crate::metric::{Better, Metric, Repeats, Unit, ValueType, columns};

columns! {
    /// The measured columns of `slices.csv`, in order.
    SLICE_METRICS
    /// Number of the slice in its phase, from 0. In a slice, a trial process executes operations without a pause.
    /// Slices with equal numbers have the same operations in every configuration.
    SLICE = "slice", "slice", Plain, Integer, Neither, Varies;
    /// Position of the trial in the order in which the trials of the round execute this slice, from 0. They execute it
    /// one after the other. With the plan `duet`, they execute it at the same time.
    SLICE_POSITION = "slice_position", "position of the slice", Plain, Integer, Neither, Varies;
    /// `true` if the slice belongs to the second trial of a baseline, which is the A/A run in `noise.csv`. For any
    /// other slice, the value is `false`.
    SLICE_AGAIN = "slice_again", "second trial", Plain, Text, Neither, Varies;
    /// Number of operations of the slice, over all threads.
    SLICE_OPS = "slice_ops", "operations of the slice", Count, Integer, Neither, Varies;
    /// Wall time of the slice.
    SLICE_NS = "slice_ns", "time of the slice", Nanoseconds, Integer, Lower, Varies;
    /// CPU time of all threads of the process in the slice.
    SLICE_CPU_NS = "slice_cpu_ns", "CPU time of the slice", Nanoseconds, Integer, Lower, Varies;
    /// Time in which the threads that issue operations were ready to run but had no CPU, summed over all issuing
    /// threads.
    SLICE_WAITED_NS = "slice_waited_ns", "run-queue wait of the slice", Nanoseconds, Integer, Lower, Varies;
}
