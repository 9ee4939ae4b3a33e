//! Folded stacks: the samples of a CPU profile, with one line per distinct stack.
//!
//! A line contains the functions of a stack, outermost function first, separated by `;`. The line ends with a space and
//! the weight of the stack, which is CPU time in nanoseconds. The format comes from the tools for flame graphs (Gregg,
//! *The Flame Graph*, Communications of the ACM 59, 2016), and many programs read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::ResultsError;
use crate::whole::write_whole;

/// The character between two function names in a line of folded stacks.
const SEPARATOR: char = ';';

/// The distinct stacks of a CPU profile, with the CPU time of each stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldedStacks {
    /// The CPU time of each stack, in nanoseconds. The key contains the functions of the stack, separated by `;`.
    stacks: BTreeMap<String, u64>,
}

impl FoldedStacks {
    /// Adds one sample of the profiler. `functions` is the stack of the sample, outermost function first, and `ns` is
    /// its CPU time in nanoseconds. In names of functions, a semicolon becomes a comma.
    pub fn add<'a>(&mut self, functions: impl IntoIterator<Item = &'a str>, ns: u64) {
        let names: Vec<String> =
            functions.into_iter().map(|name| name.replace([SEPARATOR, '\n'], ",")).collect();
        if !names.is_empty() {
            *self.stacks.entry(names.join(&SEPARATOR.to_string())).or_default() += ns;
        }
    }

    /// Adds all samples of the profile `other` to this profile.
    pub fn merge(&mut self, other: &Self) {
        for (stack, ns) in &other.stacks {
            *self.stacks.entry(stack.clone()).or_default() += ns;
        }
    }

    /// Returns the functions of each stack, outermost function first, and the CPU time of the stack in nanoseconds.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<&str>, u64)> {
        self.stacks.iter().map(|(stack, ns)| (stack.split(SEPARATOR).collect(), *ns))
    }

    /// Returns the total CPU time of the profile, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// Returns the CPU time of each function in nanoseconds, without the functions that it calls.
    pub fn self_ns(&self) -> BTreeMap<&str, u64> {
        let mut functions = BTreeMap::new();
        for (stack, ns) in &self.stacks {
            *functions.entry(stack.rsplit(SEPARATOR).next().unwrap_or_default()).or_default() += ns;
        }
        functions
    }

    /// Returns the CPU time of the function `function` for each of its callers, in nanoseconds. The CPU time does not
    /// include the functions that `function` calls. The caller in a stack is the innermost function above `function`
    /// for which `is_caller` returns true. Stacks without such a caller do not count.
    pub fn self_ns_by_caller(&self, function: &str, is_caller: impl Fn(&str) -> bool) -> BTreeMap<&str, u64> {
        let mut callers = BTreeMap::new();
        for (stack, ns) in &self.stacks {
            let mut names = stack.rsplit(SEPARATOR);
            if names.next() == Some(function)
                && let Some(caller) = names.find(|name| is_caller(name))
            {
                *callers.entry(caller).or_default() += ns;
            }
        }
        callers
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

    /// Writes the profile to a file of folded stacks.
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
        assert_eq!(stacks.self_ns(), BTreeMap::from([("get<[u8, 4]>", 150), ("main", 7)]));
        let callers = stacks.self_ns_by_caller("get<[u8, 4]>", |name| name == "main");
        assert_eq!(callers, BTreeMap::from([("main", 150)]));
        assert!(stacks.self_ns_by_caller("main", |_| true).is_empty());
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
