//! The command line of `lsmbench trace`, which analyzes, converts, samples, fits and records traces.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use trace::TraceFormat;

use super::OverrideArguments;

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Print operation mix, sizes, skew, LRU miss ratios and working set
    Stat(TraceStatArguments),
    /// Write a trace in another format
    Convert(TraceConvertArguments),
    /// Write only the records of a fraction of the keys
    Sample(TraceSampleArguments),
    /// Write a workload with the statistics of a trace
    Fit(TraceFitArguments),
    /// Run an experiment up to a phase and record this phase
    Record(TraceRecordArguments),
}

#[derive(Debug, Args)]
pub(crate) struct TraceInputArguments {
    /// Trace file; may be compressed with gzip, xz or zstd
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Format of the trace [default: recognized by content].
    ///
    /// Write parameters in parentheses, such as `raw(width=8)`. `lsmbench list trace` prints all formats.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Read at most this many records
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct TraceStatArguments {
    #[command(flatten)]
    pub(crate) input: TraceInputArguments,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write miss ratios and working set into this CSV file
    #[arg(long, value_name = "CSV")]
    pub(crate) curves: Option<PathBuf>,
    /// Keep at most this many keys; sample larger traces by key hash
    #[arg(long, value_name = "N", default_value_t = 4_000_000)]
    pub(crate) keys: usize,
}

#[derive(Debug, Args)]
pub(crate) struct TraceConvertArguments {
    #[command(flatten)]
    pub(crate) input: TraceInputArguments,
    /// Format to write
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: FormatArgument,
    /// File to write; the file must not exist yet
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct TraceSampleArguments {
    #[command(flatten)]
    pub(crate) input: TraceInputArguments,
    /// Fraction of the keys, above 0 and up to 1
    #[arg(long, value_name = "SHARE")]
    pub(crate) rate: f64,
    /// Format to write
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    pub(crate) to: FormatArgument,
    /// File to write; the file must not exist yet
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct TraceFitArguments {
    #[command(flatten)]
    pub(crate) input: TraceInputArguments,
    /// Workload file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TraceRecordArguments {
    /// Experiment file
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Phase to record
    #[arg(long, value_name = "NAME")]
    pub(crate) phase: String,
    /// Configuration to run, by its number in `lsmbench describe`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) configuration: u64,
    /// Format to write
    #[arg(long, value_name = "FORMAT", default_value = "rocksdb")]
    pub(crate) to: FormatArgument,
    /// File to write; the file must not exist yet
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
}

/// A file format that `lsmbench trace` can write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormatArgument(pub(crate) TraceFormat);

impl ValueEnum for FormatArgument {
    fn value_variants<'a>() -> &'a [Self] {
        const {
            &[
                Self(TraceFormat::ALL[0]),
                Self(TraceFormat::ALL[1]),
                Self(TraceFormat::ALL[2]),
                Self(TraceFormat::ALL[3]),
            ]
        }
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}
