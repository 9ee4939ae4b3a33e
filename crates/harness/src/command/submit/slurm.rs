//! Generates the jobs for Slurm. A job array has a task for each missing part. Another job runs after the array and
//! merges the parts.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::jobs::{Jobs, word_of_shell};

/// Returns a shell script that submits two jobs: a job array that runs the parts of an experiment, and a job that
/// merges them.
pub(super) fn script(jobs: &Jobs<'_>) -> String {
    let Jobs { name, count, run, merge, arguments, .. } = jobs;
    let excluded = excluded(jobs);
    let out = word_of_shell(&arguments.out.display().to_string());
    let mut text = format!(
        "#!/bin/bash\n# Submits the missing parts of {name} to Slurm, and their merge. Run it with bash.\n\
         set -euo pipefail\nmkdir -p {out}\n"
    );
    let mut after = String::new();
    if !jobs.missing.is_empty() {
        let throttle = arguments.throttle.map_or_else(String::new, |most| format!("%{most}"));
        let _ = write!(
            text,
            "parts=$(sbatch --parsable <<'PARTS'\n#!/bin/bash\n#SBATCH --job-name=lsmbench-{name}\n\
             #SBATCH --array={}{throttle}\n#SBATCH --nodes=1\n#SBATCH --exclusive\n#SBATCH --requeue\n\
             #SBATCH --open-mode=append\n{excluded}#SBATCH --output=\"{}/part-%a.log\"\n{}\
             set -euo pipefail\nexport LSMBENCH_NODE=$SLURMD_NODENAME\n{}\
             srun --cpu-bind=cores --mem-bind=local {run} --part auto/{count}\nPARTS\n)\n",
            jobs.numbers(","),
            arguments.out.display(),
            limits(jobs),
            examined(jobs),
        );
        " --dependency=afterany:\"${parts%%;*}\"".clone_into(&mut after);
    }
    let _ = write!(
        text,
        "sbatch{after} <<'MERGE'\n#!/bin/bash\n#SBATCH --job-name=lsmbench-{name}-merge\n\
         #SBATCH --output=\"{}/merge.log\"\nset -euo pipefail\n{merge}\nMERGE\n",
        arguments.out.display(),
    );
    text
}

/// The name of the file that lists the machines on which no part may run. The file is in the folder of the parts.
const EXCLUDED: &str = "excluded";

/// Returns the script lines that check the machine of a task for sources of timing noise. A machine with an issue is
/// added to the file of excluded machines, and its task ends with an error.
fn examined(jobs: &Jobs<'_>) -> String {
    let Some(examine) = &jobs.examine else { return String::new() };
    let file = word_of_shell(&jobs.arguments.out.join(EXCLUDED).display().to_string());
    format!(
        "if ! {examine}; then\n  echo \"$SLURMD_NODENAME\" >>{file}\n  echo \"$SLURMD_NODENAME is excluded\" >&2\n  \
         exit 75\nfi\n"
    )
}

/// Returns the line of the script that keeps the job array from running on excluded machines.
fn excluded(jobs: &Jobs<'_>) -> String {
    let text = std::fs::read_to_string(jobs.arguments.out.join(EXCLUDED)).unwrap_or_default();
    let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let names: BTreeSet<&str> = text.split_whitespace().filter(is_name).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("#SBATCH --exclude={}\n", names.into_iter().collect::<Vec<_>>().join(",")),
    }
}

/// Returns the script lines that limit the time and the memory of a part.
fn limits(jobs: &Jobs<'_>) -> String {
    let lines = [("time", &jobs.arguments.time), ("mem", &jobs.arguments.memory)];
    let lines = lines.iter().filter_map(|(key, of)| Some(format!("#SBATCH --{key}={}\n", of.as_ref()?)));
    lines.collect()
}
