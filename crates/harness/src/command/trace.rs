//! `lsmbench trace` analyzes, converts, samples, fits and records traces.

mod table;

use std::fs::{self, File};
use std::path::Path;

use experiment::Experiment;
use run::interrupt;
use trace::{CurvePoint, Sampler, Statistics, TraceFormat};
use trial::{Recorded, RecordingSpec};
use types::{Outcome, Problem};
use workload::{TraceError, TraceFile, TraceRecord, TraceStream};

use crate::cli::{
    TraceCommand, TraceConvertArguments, TraceFitArguments, TraceInputArguments, TraceRecordArguments,
    TraceSampleArguments, TraceStatArguments,
};
use crate::{output, overrides};

/// Executes a subcommand of `lsmbench trace`.
pub(crate) fn trace(command: &TraceCommand) -> Outcome<()> {
    match command {
        TraceCommand::Stat(arguments) => stat(arguments),
        TraceCommand::Convert(arguments) => convert(arguments),
        TraceCommand::Sample(arguments) => sample(arguments),
        TraceCommand::Fit(arguments) => fit(arguments),
        TraceCommand::Record(arguments) => record(arguments),
    }
}

fn stat(arguments: &TraceStatArguments) -> Outcome<()> {
    let mut statistics = Statistics::new(arguments.keys);
    let stream = each(&arguments.input, |record| {
        statistics.add(&record);
        Ok(())
    })?;
    let summary = statistics.summary(&stream.format().label(), stream.notes());
    if let Some(path) = &arguments.curves {
        let rows = [vec![CurvePoint::HEADER.to_owned()], CurvePoint::rows(&summary)].concat();
        fs::write(path, rows.join("\n") + "\n")
            .map_err(|error| Problem::doing(format!("write {}", path.display()), error))?;
    }
    match arguments.json {
        true => {
            let json = serde_json::to_string_pretty(&summary)
                .map_err(|error| Problem::doing("write the statistics as JSON", error))?;
            output::print(&(json + "\n"))
        }
        false => output::print(&table::of(&summary)),
    }
}

fn convert(arguments: &TraceConvertArguments) -> Outcome<()> {
    copy(&arguments.input, arguments.to.0, &arguments.out, |_| true)
}

fn sample(arguments: &TraceSampleArguments) -> Outcome<()> {
    let rate = arguments.rate;
    if !(rate > 0.0 && rate <= 1.0) {
        return Err(Problem::new(format!("--rate is {rate}; it must be above 0 and at most 1")));
    }
    let sampler = Sampler::new(rate);
    let mut ranges = 0;
    copy(&arguments.input, arguments.to.0, &arguments.out, |record| {
        let is_taken = sampler.takes(record);
        ranges += u64::from(is_taken && !Sampler::is_exact(record));
        is_taken
    })?;
    if ranges > 0 {
        output::line(&format!(
            "note: {ranges} scans and range deletes of the sample also cover keys that are not in the sample"
        ));
    }
    Ok(())
}

fn fit(arguments: &TraceFitArguments) -> Outcome<()> {
    let mut statistics = Statistics::default();
    let stream = each(&arguments.input, |record| {
        statistics.add(&record);
        Ok(())
    })?;
    let name = arguments.input.file.file_name().unwrap_or_default().to_string_lossy();
    let fit = trace::fit(&statistics, &name)?;
    for sentence in fit.distances.sentences().iter().chain(&fit.notes).chain(&stream.notes()) {
        output::line(sentence);
    }
    match &arguments.out {
        Some(path) => fs::write(path, &fit.toml)
            .map_err(|error| Problem::doing(format!("write {}", path.display()), error)),
        None => output::print(&fit.toml),
    }
}

/// Runs a configuration up to a phase, and records the operations of this phase into a new file.
fn record(arguments: &TraceRecordArguments) -> Outcome<()> {
    let experiment = Experiment::load(&arguments.config, &overrides(arguments.overrides.clone()))?;
    let number = arguments.configuration;
    let cell = experiment.cells.iter().find(|cell| cell.number == number).ok_or_else(|| {
        let numbers = experiment.cells.iter().map(|cell| cell.number.to_string()).collect::<Vec<_>>();
        Problem::new(format!(
            "--configuration: there is no configuration {number}. Valid: {}",
            numbers.join(", ")
        ))
    })?;
    let (phase, format, file) = (arguments.phase.clone(), arguments.to.0, arguments.out.clone());
    let recording = RecordingSpec { phase, format, file };
    interrupt::install();
    let Some(recorded) = run::record(&experiment, cell, recording, output::line)? else { return Ok(()) };
    let Recorded { records, losses } = recorded;
    output::line(&format!(
        "recorded {records} operations of phase \"{phase}\" in the format {format} as {path}",
        phase = arguments.phase,
        format = format.name(),
        path = arguments.out.display()
    ));
    losses.iter().for_each(|loss| output::line(&format!("note: {loss}")));
    Ok(())
}

/// Writes the records for which `takes` returns true into a new file. Prints which properties of the trace the new
/// format cannot express.
///
/// # Errors
/// The trace cannot be read or is empty, or the file exists or cannot be written.
fn copy(
    input: &TraceInputArguments,
    to: TraceFormat,
    out: &Path,
    mut takes: impl FnMut(&TraceRecord) -> bool,
) -> Outcome<()> {
    let failed = |error: std::io::Error| Problem::doing(format!("write {}", out.display()), error);
    // The trace is opened first, so that a wrong one leaves no file.
    open(input)?;
    let file = File::options().read(true).write(true).create_new(true).open(out).map_err(failed)?;
    let mut writer = to.writer(file).map_err(failed)?;
    let (mut read, mut written) = (0u64, 0u64);
    let stream = each(input, |record| {
        read += 1;
        if takes(&record) {
            written += 1;
            writer.write(&record).map_err(failed)?;
        }
        Ok(())
    })?;
    writer.finish().map_err(failed)?;
    output::line(&format!(
        "wrote {written} of {read} records, from the format \"{from}\" to the format {to}",
        from = stream.format().kind(),
        to = to.name()
    ));
    for note in writer.losses().iter().chain(&stream.notes()) {
        output::line(&format!("note: {note}"));
    }
    Ok(())
}

/// Calls `visit` with each record of a trace, up to `input.limit` records. Returns the stream, whose notes and key
/// width then cover all visited records.
///
/// # Errors
/// The trace cannot be read or has no records, or `visit` returns an error.
fn each(
    input: &TraceInputArguments,
    mut visit: impl FnMut(TraceRecord) -> Outcome<()>,
) -> Outcome<TraceStream> {
    let mut stream = open(input)?;
    let limit = input.limit.unwrap_or(u64::MAX);
    let mut read = 0;
    while read < limit
        && let Some(record) = stream.next()
    {
        visit(record.map_err(problem)?)?;
        read += 1;
    }
    if read == 0 {
        return Err(problem(TraceError::Empty { path: input.file.clone() }));
    }
    Ok(stream)
}

fn open(input: &TraceInputArguments) -> Outcome<TraceStream> {
    let trace = TraceFile::new(input.file.clone(), input.kind.as_deref())
        .map_err(|error| Problem::new(format!("--kind: {}", error.message)))?;
    trace.open(Path::new("")).map_err(problem)
}

fn problem(error: TraceError) -> Problem {
    match error {
        TraceError::Line { path, line, message } => Problem::at(&path, usize::try_from(line).ok(), message),
        TraceError::Malformed { path, message } => Problem::at(&path, None, message),
        error => Problem::new(error.to_string()),
    }
}
