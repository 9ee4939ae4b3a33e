//! Folded stacks: the samples of a CPU profile, with one line per distinct stack.
//!
//! A line contains the functions of a stack, outermost function first, separated by `;`. After a space follows the
//! weight of the stack, which is CPU time in nanoseconds. The format comes from the tools for flame graphs (Gregg,
//! *The Flame Graph*, Communications of the ACM 59, 2016), and many programs read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::ResultsError;
use crate::whole::write_whole;

/// The separator between two functions of a stack.
const SEPARATOR: char = ';';

/// The distinct stacks of a CPU profile, with the CPU time of each stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldedStacks {
    /// CPU time in nanoseconds, by stack.
    stacks: BTreeMap<String, u64>,
}

impl FoldedStacks {
    /// Adds a sample: the functions of a stack, outermost function first, and the CPU time of the sample in
    /// nanoseconds. In names of functions, a semicolon becomes a comma.
    pub fn add<'a>(&mut self, functions: impl IntoIterator<Item = &'a str>, ns: u64) {
        let names: Vec<String> =
            functions.into_iter().map(|name| name.replace([SEPARATOR, '\n'], ",")).collect();
        if !names.is_empty() {
            *self.stacks.entry(names.join(&SEPARATOR.to_string())).or_default() += ns;
        }
    }

    /// Adds all samples that `other` contains.
    pub fn merge(&mut self, other: &Self) {
        for (stack, ns) in &other.stacks {
            *self.stacks.entry(stack.clone()).or_default() += ns;
        }
    }

    /// Returns the functions of each stack, outermost function first, and the CPU time of the stack in nanoseconds.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<&str>, u64)> {
        self.stacks.iter().map(|(stack, ns)| (stack.split(SEPARATOR).collect(), *ns))
    }

    /// Returns the CPU time of all stacks, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// Returns the CPU time of each function itself, in nanoseconds. The time of the functions that it calls is not
    /// included. If the name of a function does not contain `own`, its time is split by the innermost function above it
    /// in the stack whose name contains `own`. This second name is `None` if no such function is above it.
    pub fn self_ns(&self, own: &str) -> BTreeMap<(&str, Option<&str>), u64> {
        let mut functions = BTreeMap::new();
        for (stack, ns) in &self.stacks {
            let mut names = stack.rsplit(SEPARATOR);
            let function = names.next().unwrap_or_default();
            let caller = names.find(|name| name.contains(own)).filter(|_| !function.contains(own));
            *functions.entry((function, caller)).or_default() += ns;
        }
        functions
    }

    /// Reads a file of folded stacks.
    ///
    /// # Errors
    /// The file cannot be read, or a line does not consist of a stack, a space and a whole number.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let text = std::fs::read_to_string(path).map_err(ResultsError::io(path, "read"))?;
        let mut stacks = Self::default();
        for (number, line) in text.lines().enumerate() {
            let parsed = line.rsplit_once(' ').and_then(|(stack, ns)| Some((stack, ns.parse().ok()?)));
            let (stack, ns) = parsed.ok_or_else(|| ResultsError::Row {
                path: path.to_owned(),
                line: number as u64 + 1,
                message: "expected a stack, a space, and its CPU time in nanoseconds".to_owned(),
            })?;
            stacks.add(stack.split(SEPARATOR), ns);
        }
        Ok(stacks)
    }

    /// Writes the stacks to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ResultsError> {
        let mut text = String::new();
        for (stack, ns) in &self.stacks {
            let _ = writeln!(text, "{stack} {ns}");
        }
        write_whole(path, text.as_bytes(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_summed_and_read_back() {
        let mut stacks = FoldedStacks::default();
        stacks.add(["main", "get<[u8; 4]>"], 100);
        stacks.add(["main", "get<[u8; 4]>"], 50);
        stacks.add(["main"], 7);
        stacks.add([], 9);
        assert_eq!(stacks.total_ns(), 157);
        assert_eq!(stacks.self_ns(""), BTreeMap::from([(("get<[u8, 4]>", None), 150), (("main", None), 7)]));
        let split = BTreeMap::from([(("get<[u8, 4]>", Some("main")), 150), (("main", None), 7)]);
        assert_eq!(stacks.self_ns("main"), split);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cell-0.folded");
        stacks.write(&path).unwrap();
        assert_eq!(FoldedStacks::read(&path).unwrap(), stacks);
        let mut twice = stacks.clone();
        twice.merge(&stacks);
        assert_eq!(twice.iter().last(), Some((vec!["main", "get<[u8, 4]>"], 300)));
        std::fs::write(&path, "main\n").unwrap();
        let error = FoldedStacks::read(&path).unwrap_err().to_string();
        assert!(error.contains("cell-0.folded:1: expected a stack"), "{error}");
    }
}
