//! The jobs that run the parts of one experiment on a cluster, and functions that quote words for a shell.

use crate::cli::SubmitArguments;

/// The jobs that run the parts of one experiment. A scheduler, such as Slurm, receives a text that is generated from
/// this value.
pub(super) struct Jobs<'a> {
    /// The name of the experiment.
    pub(super) name: String,
    /// The number of parts of the experiment.
    pub(super) count: u64,
    /// The numbers of the parts that are not finished.
    pub(super) missing: Vec<u64>,
    /// The command that checks a machine for sources of timing noise, quoted for a shell. `None` without the option
    /// `--require`.
    pub(super) examine: Option<String>,
    /// The command that runs one part of the experiment, without the option `--part`, quoted for a shell.
    pub(super) run: String,
    /// The command that merges the parts, quoted for a shell.
    pub(super) merge: String,
    pub(super) arguments: &'a SubmitArguments,
}

impl Jobs<'_> {
    /// Returns the command that first checks the machine, if this is required, and then runs a part of the experiment.
    /// The command is quoted for a shell. `part` is the argument of `--part`, such as `3/8`.
    pub(super) fn part(&self, part: &str) -> String {
        let examine = self.examine.as_ref().map_or_else(String::new, |examine| format!("{examine} >&2 && "));
        format!("{examine}{} --part {part}", self.run)
    }

    /// Returns the numbers of the parts that are not finished as text, separated by `between`.
    pub(super) fn numbers(&self, between: &str) -> String {
        self.missing.iter().map(u64::to_string).collect::<Vec<_>>().join(between)
    }
}

/// Joins words to a command for a shell, and quotes words where necessary.
pub(super) fn quoted(words: &[String]) -> String {
    words.iter().map(|word| word_of_shell(word)).collect::<Vec<_>>().join(" ")
}

/// Formats a word for a shell, with quotes if the word needs quotes.
pub(super) fn word_of_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn words_reach_a_program_through_a_shell() {
        for word in
            ["plain", "a b", "it's", "", "$HOME", "sweep.\"design.bloom\"=[\"a\"]", "#x", "a;b", "a\nb"]
        {
            let command = format!("printf %s {}", word_of_shell(word));
            let output = Command::new("bash").args(["-c", &command]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }
}
