//! Defines a part of an experiment: the trials that one machine runs, if an experiment runs on several machines.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use measure::probe;
use results::PartInfo;
use types::Outcome;

use super::environment::container_image;
use super::fixture::program_identity;

/// The environment variables in which schedulers pass the number of an array task. Each variable comes with the number
/// that its scheduler gives to the first task.
const NUMBERS: [(&str, u64); 5] = [
    ("SLURM_ARRAY_TASK_ID", 1),
    ("HQ_TASK_ID", 1),
    ("JOB_COMPLETION_INDEX", 0),
    ("PARALLEL_SEQ", 1),
    ("SGE_TASK_ID", 1),
];

/// The environment variable in which Slurm passes the number of tasks of an array.
const COUNT: &str = "SLURM_ARRAY_TASK_COUNT";

/// The environment variable with which the user sets the name of this machine.
const NODE: &str = "LSMBENCH_NODE";

/// The name of the folder that contains one folder per machine, inside the folder of the parts.
const NODES: &str = "nodes";

/// The value of `--part` with which lsmbench reads the number of the part from an environment variable of a scheduler.
const AUTO: &str = "auto";

/// One part of an experiment, which one machine runs: its number, and the number of all parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of this part, starting at 1.
    number: u64,
    /// The number of all parts of the experiment.
    count: u64,
}

impl Part {
    /// Creates a part. Returns `None` if `number` is not between 1 and `count`.
    pub fn new(number: u64, count: u64) -> Option<Self> {
        (1..=count).contains(&number).then_some(Self { number, count })
    }

    /// Returns the number of this part, starting at 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Returns the number of all parts of the experiment.
    pub fn count(self) -> u64 {
        self.count
    }

    /// Returns the entry of this part for the manifest. The list of machines in the entry is empty.
    pub(super) fn info(self) -> Outcome<PartInfo> {
        Ok(PartInfo {
            number: self.number,
            count: self.count,
            program: program_identity()?,
            image: container_image(),
            nodes: Vec::new(),
        })
    }

    /// Parses the value of `--part`, such as `2/4`. For `auto`, reads the number of the part from the environment
    /// variables of a scheduler. `variable` returns the value of an environment variable.
    fn read(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let wrong =
            || format!("\"{text}\" is not a part; write K/N with K from 1 to N, or {AUTO}, or {AUTO}/N");
        let (number, count) = match text.split_once('/') {
            Some((number, count)) => (number, Some(count.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        if number != AUTO {
            let number = number.parse().map_err(|_| wrong())?;
            return count.and_then(|count| Self::new(number, count)).ok_or_else(wrong);
        }
        let names: Vec<&str> = NUMBERS.iter().map(|(name, _)| *name).collect();
        let found = NUMBERS.iter().find_map(|(name, first)| Some((name, variable(name)?, first)));
        let (name, value, first) = found.ok_or_else(|| {
            format!(
                "the number of the part is unknown, because none of these environment variables of \
                 schedulers is set: {}; write --part K/N",
                names.join(", ")
            )
        })?;
        let number: u64 = value
            .parse()
            .map_err(|_| format!("the environment variable {name} is \"{value}\"; expected a number"))?;
        let count = count.or_else(|| variable(COUNT)?.parse().ok());
        let count = count.ok_or_else(|| format!("the number of parts is unknown; write --part {AUTO}/N"))?;
        number.saturating_add(1).checked_sub(*first).and_then(|number| Self::new(number, count)).ok_or_else(
            || {
                format!(
                    "the environment variable {name} is {value}, but the experiment has only {count} parts; \
                     number the tasks of the scheduler from {first}"
                )
            },
        )
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text, &|name| std::env::var(name).ok())
    }
}

/// Returns the folder for the data of this machine inside the folder `parts`. All parts that this machine runs share
/// it.
pub(super) fn node_folder(parts: &Path) -> PathBuf {
    parts.join(NODES).join(folder_name(&node_name()))
}

/// Converts the name of a machine to the name of a folder. Characters that are not allowed become `_`.
fn folder_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    if name.starts_with('.') { format!("_{name}") } else { name }
}

/// Returns the name of this machine, by which the results distinguish the machines of an experiment.
pub(super) fn node_name() -> String {
    let name = std::env::var(NODE).ok().or_else(probe::host_name).unwrap_or_default();
    match name.trim() {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variable =
            |name: &str| variables.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).to_owned());
        Part::read(text, &variable).map(|part| part.to_string())
    }

    #[test]
    fn a_machine_has_a_folder_of_its_own() {
        for (name, expected) in [("node-7.cluster", "node-7.cluster"), ("../x y", "_.._x_y"), (".", "_.")] {
            assert_eq!(folder_name(name), expected);
        }
    }

    #[test]
    fn a_part_is_written_or_numbered_by_a_scheduler() {
        assert_eq!(read("2/4", &[]).unwrap(), "2/4");
        assert_eq!(read("auto/4", &[("SLURM_ARRAY_TASK_ID", "3")]).unwrap(), "3/4");
        let slurm = [("SLURM_ARRAY_TASK_ID", "3"), ("SLURM_ARRAY_TASK_COUNT", "5")];
        assert_eq!(read("auto", &slurm).unwrap(), "3/5");
        assert_eq!(read("auto/4", &[("JOB_COMPLETION_INDEX", "0")]).unwrap(), "1/4");
        for name in ["HQ_TASK_ID", "PARALLEL_SEQ", "SGE_TASK_ID"] {
            assert_eq!(read("auto/4", &[(name, "4")]).unwrap(), "4/4");
        }
        for (text, variables) in [
            ("0/4", &[][..]),
            ("5/4", &[]),
            ("2", &[]),
            ("x/y", &[]),
            ("auto/4", &[]),
            ("auto", &[("PARALLEL_SEQ", "1")]),
            ("auto/4", &[("SGE_TASK_ID", "undefined")]),
            ("auto/4", &[("SLURM_ARRAY_TASK_ID", "5")]),
            ("auto/4", &[("SLURM_ARRAY_TASK_ID", "0")]),
        ] {
            assert!(read(text, variables).is_err(), "{text} {variables:?}");
        }
    }
}
