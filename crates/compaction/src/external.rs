//! A compaction policy in another process, which can be written in any language.
//!
//! lsmbench starts `command` at the first pick, and uses the standard input and output of the process. Each line is
//! one JSON value, and the process answers each line with one line. Version 1 of the protocol:
//!
//! ```text
//! to the process                                        from the process
//! {"axis": "compaction", "protocol": 1}                 {"protocol": 1}
//! {"buffer_bytes": N, "levels": [[run, …], …]}          job, or null where the tree is as the policy wants it
//! …                                                     …
//!
//! run   {"id": N, "tables": [table, …]}
//! table {"id": N, "bytes": N, "entries": N, "tombstones": N, "smallest": "HEX", "largest": "HEX"}
//! job   {"inputs": [table id, …], "level": N, "run": run id or null, "action": "merge" or "move"}
//! ```
//!
//! If `observed_flushes` is not 0, a shape also has the field `operations`. This field counts the operations in a
//! window over the latest `observed_flushes` flushes (see [`OperationWindow`](crate::OperationWindow)): `{"flushes": N,
//! "gets_found": N, "gets_missing": N, "scans": N}`. The field is missing if all four numbers are 0. lsmbench then also
//! sends a shape after every 4,096 gets and every 64 scans of a thread, so that the process can request jobs in a phase
//! without writes.
//!
//! The first line to the process is the greeting, and all other lines are shapes. [`Shape`] explains the parts of a
//! shape. Level 0 comes first, the runs of a level are ordered from newest to oldest, and the SSTables of a run are
//! in key order. Keys are bytes, and are written in hexadecimal. [`Job`] explains the parts of a job. The fields
//! `run` and `action` are optional, with the defaults `null` and `"merge"`. A job cannot drop SSTables, because the
//! variant does not declare [`catalog::Limit::DropsData`]. Numbers are integers below 2^64.
//!
//! The process must answer equal consecutive shapes with equal jobs. If `observed_flushes` is 0, the process must
//! answer all equal shapes with equal jobs. lsmbench therefore sends no time, no seed and no parameters. Pass the
//! parameters of the policy as arguments of the command. The process must end when its input ends.
//!
//! [`Job::validate`] checks every job before lsmbench applies it. The policy fails permanently if the process ends,
//! takes longer than `timeout`, prints an invalid line or requests an invalid job. After a failure, lsmbench kills
//! the process, [`pick`](CompactionPolicy::pick) returns no more jobs, and [`failure`](CompactionPolicy::failure)
//! returns the reason.
//!
//! If `command` is empty, no process is started. lsmbench then encodes shapes and decodes jobs for the built-in
//! policy that the parameter `identity` names. This configuration measures only the cost of the encoding.

mod process;
mod seam;
mod wire;

use std::marker::PhantomData;
use std::time::Duration;

use catalog::{Build, Catalog, CatalogHandle, Limit, Time, Variant};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use self::process::{Failure, PolicyProcess};
use crate::job::Job;
use crate::operations;
use crate::policy::CompactionPolicy;
use crate::shape::Shape;

pub use process::answer_without_jobs;
pub(crate) use seam::seam;

/// The name of the variant in the catalog.
const KIND: &str = "external";

/// The parameters of the variant `external` with their defaults, as TOML with comments.
const REFERENCE: &str = "\
     # Program of the policy, with its arguments. A relative path starts at the current directory. An\n\
     # empty list starts no process.\n\
     command = []\n\
     # Maximum time in which the process must answer a request.\n\
     timeout = \"10s\"\n\
     # Built-in policy that is used if command is []. lsmbench encodes the shapes of the tree and the jobs\n\
     # of this policy as for a process, so a run measures only the cost of the encoding.\n\
     identity = \"tiered\"\n\
     # Number of latest flushes whose operations the process receives as `operations`, 0 to 1000. 0 sends no\n\
     # operations. If command is [], the policy that identity names determines this number.\n\
     observed_flushes = 0\n";

/// Returns the variant `external`. The parameter `identity` may name any policy of the catalog `C`.
pub(crate) const fn variant<C: CatalogHandle<dyn CompactionPolicy>>() -> Variant<dyn CompactionPolicy> {
    Variant::new::<Builder<C>>(
        KIND,
        "a policy in another process, in any language, which receives the tree as JSON and returns compactions",
        REFERENCE,
    )
}

/// The maximum number of consecutive jobs that an external policy may return without a flush between them. A process
/// that returns more jobs would probably never stop, so the policy fails.
const MAX_JOBS_IN_A_ROW: u32 = 10_000;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    command: Vec<String>,
    timeout: Time,
    identity: String,
    observed_flushes: u64,
}

impl Default for Params {
    fn default() -> Self {
        let timeout = Time(10_000_000_000);
        Self { command: Vec::new(), timeout, identity: "tiered".to_owned(), observed_flushes: 0 }
    }
}

/// Builds policies of the variant `external`. `C` is the catalog of the built-in policies.
struct Builder<C>(PhantomData<C>);

/// A policy that lsmbench calls with the JSON format of the protocol.
enum External {
    /// A built-in policy in this process. lsmbench encodes and decodes its shapes and jobs as for another process, so
    /// that the cost of the encoding can be measured.
    Identity(Box<dyn CompactionPolicy>),
    /// A policy in another process, which lsmbench calls with lines of JSON.
    Process { caller: Mutex<Caller>, observed_flushes: usize },
}

impl<C: CatalogHandle<dyn CompactionPolicy>> Build<dyn CompactionPolicy> for Builder<C> {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        let observed_flushes = operations::window_flushes("observed_flushes", params.observed_flushes)?;
        if params.command.is_empty() {
            return Ok(Box::new(External::Identity(identity(C::catalog(), &params.identity)?)));
        }
        if params.timeout.0 == 0 {
            return Err("timeout is 0; it must be at least 1ns, and 10s is the default".to_owned());
        }
        let process = PolicyProcess::new(params.command, Duration::from_nanos(params.timeout.0))?;
        let caller = Mutex::new(Caller { process, jobs: 0, entries: 0, failure: None });
        Ok(Box::new(External::Process { caller, observed_flushes }))
    }
}

/// Builds the built-in policy that `label` names, such as `tiered(size_ratio=4)`.
///
/// # Errors
/// The label is invalid, is a policy in another process, or is a policy that drops data.
fn identity(
    catalog: &Catalog<dyn CompactionPolicy>,
    label: &str,
) -> Result<Box<dyn CompactionPolicy>, String> {
    let wrong = |reason: String| format!("identity is \"{label}\": {reason}");
    if label.split('(').next() == Some(KIND) {
        return Err(wrong("it must be a built-in policy, such as \"tiered\"".to_owned()));
    }
    let choice = catalog.choose(&toml::Value::from(label)).map_err(|error| wrong(error.to_string()))?;
    let variant = catalog.variant(choice.kind()).map_err(|error| wrong(error.to_string()))?;
    if variant.limits.contains(&Limit::DropsData) {
        return Err(wrong(
            "this policy drops data, which the protocol does not allow; choose another policy".to_owned(),
        ));
    }
    catalog.build(&choice).map_err(|error| wrong(error.to_string()))
}

impl CompactionPolicy for External {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        match self {
            Self::Identity(policy) => wire::through(&**policy, shape),
            Self::Process { caller, .. } => caller.lock().pick(shape),
        }
    }

    fn failure(&self) -> Option<String> {
        match self {
            Self::Identity(policy) => policy.failure(),
            Self::Process { caller, .. } => caller.lock().failure.clone(),
        }
    }

    fn observed_flushes(&self) -> usize {
        match self {
            Self::Identity(policy) => policy.observed_flushes(),
            Self::Process { observed_flushes, .. } => *observed_flushes,
        }
    }
}

/// The process of an external policy, the number of consecutive jobs that it returned, and the reason of its failure.
struct Caller {
    process: PolicyProcess,
    /// The number of jobs that the process has returned since the last flush. A flush is recognized by a larger number
    /// of entries in the tree.
    jobs: u32,
    /// The number of entries in the last shape that was sent to the process.
    entries: u64,
    failure: Option<String>,
}

impl Caller {
    fn pick(&mut self, shape: &Shape) -> Option<Job> {
        if self.failure.is_some() {
            return None;
        }
        match self.ask(shape) {
            Ok(job) => job,
            Err(failure) => {
                self.failure = Some(self.process.fail(&failure));
                None
            }
        }
    }

    fn ask(&mut self, shape: &Shape) -> Result<Option<Job>, Failure> {
        let answer = self.process.ask(&wire::encode_shape(shape))?;
        let job = wire::decode_job(&answer).map_err(|error| Failure::answer(&answer, error))?;
        let entries = shape.levels.tables().map(|(_, table)| table.entries).sum();
        let rests = job.is_none() || entries > self.entries;
        self.jobs = if rests { 0 } else { self.jobs + 1 };
        self.entries = entries;
        if self.jobs > MAX_JOBS_IN_A_ROW {
            let what = format!(
                "the policy does not stop: it returned {MAX_JOBS_IN_A_ROW} jobs without a flush between them"
            );
            return Err(Failure::answer(&answer, what));
        }
        if let Some(job) = &job {
            let invalid =
                |error| Failure::answer(&answer, format!("the policy requested an invalid job: {error}"));
            job.validate(&shape.levels).map_err(invalid)?;
        }
        Ok(job)
    }
}

#[cfg(test)]
mod tests;
