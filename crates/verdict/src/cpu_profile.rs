//! Compares the CPU profiles of two configurations, and names the functions that cause most of the difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use results::{FoldedStacks, Unit};

use crate::words::{percent, quoted, shown};

/// The largest number of functions with more CPU time that a summary names. The limit for functions with less CPU time
/// is the same.
const MOST_NAMED: usize = 3;

/// A summary names a function only if the function causes at least this share of the total increase, or of the total
/// decrease.
const LEAST_SHARE: f64 = 0.05;

/// A summary names a function only if the difference of its CPU times is at least this number of standard errors.
const LEAST_ERRORS: f64 = 3.0;

/// The CPU profile of one configuration in one phase: samples of the stacks of its threads.
#[derive(Clone, Debug, Default)]
pub struct CpuProfile {
    /// The name of the configuration.
    pub name: String,
    /// The sampled stacks with their CPU times.
    pub stacks: FoldedStacks,
    /// The number of operations of the phase.
    pub operations: u64,
    /// The number of samples in the profile. Together with the total CPU time, this number gives the CPU time of one
    /// sample.
    pub samples: u64,
}

/// The difference in the CPU time of one function between two profiles. The CPU time does not include the functions
/// that this function calls.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDifference {
    /// The full name of the function.
    pub function: String,
    /// CPU time of the candidate minus CPU time of the baseline, per operation, in nanoseconds.
    pub difference_ns: f64,
    /// The standard error of the difference per operation, computed from the numbers of samples, in nanoseconds.
    pub error_ns: f64,
}

impl CpuProfile {
    /// Returns the total CPU time of the profile per operation, in nanoseconds.
    pub fn ns_per_operation(&self) -> f64 {
        self.stacks.total_ns() as f64 / self.operations.max(1) as f64
    }

    /// Returns the CPU time per operation that one sample stands for, in nanoseconds.
    fn weight(&self) -> f64 {
        self.ns_per_operation() / self.samples.max(1) as f64
    }

    /// Returns the differences of all functions between this profile and the profile of the baseline, largest
    /// difference first. The standard errors assume that the number of samples of a function has a Poisson
    /// distribution.
    pub fn against(&self, baseline: &Self) -> Vec<FunctionDifference> {
        let [own, base] = [self, baseline].map(|profile| profile.stacks.self_ns());
        let functions: BTreeSet<&str> = own.keys().chain(base.keys()).copied().collect();
        let per_operation = |ns: Option<&u64>, profile: &Self| {
            ns.copied().unwrap_or(0) as f64 / profile.operations.max(1) as f64
        };
        let difference = |function: &str| {
            let new = per_operation(own.get(function), self);
            let old = per_operation(base.get(function), baseline);
            FunctionDifference {
                function: function.to_owned(),
                difference_ns: new - old,
                error_ns: (new * self.weight() + old * baseline.weight()).sqrt(),
            }
        };
        let mut differences: Vec<FunctionDifference> = functions.into_iter().map(difference).collect();
        differences.sort_by(|a, b| b.difference_ns.abs().total_cmp(&a.difference_ns.abs()));
        differences
    }

    /// Returns the function of lsmbench whose calls cause most of the increase (`sign` is 1) or decrease (-1) in the
    /// CPU time of a library function. Returns `None` if `function` belongs to lsmbench, or if no function of lsmbench
    /// calls it.
    fn main_caller(&self, baseline: &Self, function: &str, sign: f64) -> Option<String> {
        if is_own(function) {
            return None;
        }
        let callers = |profile: &Self| -> BTreeMap<String, f64> {
            let split = profile.stacks.self_ns_by_caller(function, is_own);
            let operations = profile.operations.max(1) as f64;
            split.into_iter().map(|(caller, ns)| (caller.to_owned(), ns as f64 / operations)).collect()
        };
        let mut differences = callers(self);
        for (caller, ns) in callers(baseline) {
            *differences.entry(caller).or_default() -= ns;
        }
        let largest = differences.into_iter().max_by(|a, b| (a.1 * sign).total_cmp(&(b.1 * sign)));
        largest.map(|(caller, _)| caller)
    }

    /// Describes how the CPU time per operation differs from the profile of the baseline, and names the functions that
    /// cause the difference. For a library function, the text also names the function of lsmbench that mainly calls it.
    pub fn summary(&self, baseline: &Self, phase: &str) -> String {
        let [new, old] = [self, baseline].map(Self::ns_per_operation);
        let ns = |value: f64| shown(value, Unit::Nanoseconds);
        let mut text = format!(
            "In phase {phase}, {name} uses {new} of CPU time per operation, and {base} uses {old}.",
            name = quoted(&self.name),
            new = ns(new),
            base = quoted(&baseline.name),
            old = ns(old)
        );
        let differences = self.against(baseline);
        let mut is_named = false;
        for (sign, word, total) in [(1.0, "more", "increase"), (-1.0, "less", "decrease")] {
            let all = || differences.iter().filter(move |of| of.difference_ns * sign > 0.0);
            let sum: f64 = all().map(|of| of.difference_ns.abs()).sum();
            let is_clear = |of: &&FunctionDifference| {
                let size = of.difference_ns.abs();
                size >= LEAST_ERRORS * of.error_ns && size >= LEAST_SHARE * sum
            };
            let named: Vec<String> = all()
                .filter(is_clear)
                .take(MOST_NAMED)
                .map(|of| {
                    let size = of.difference_ns.abs();
                    let share = percent(size / sum);
                    let caller = self.main_caller(baseline, &of.function, sign);
                    let caller =
                        caller.map_or_else(String::new, |caller| format!(" in {}", short_name(&caller)));
                    format!(
                        "{function}{caller} ({size}, {share} of the {total})",
                        function = short_name(&of.function),
                        size = ns(size)
                    )
                })
                .collect();
            if !named.is_empty() {
                is_named = true;
                let _ = write!(
                    text,
                    " Functions of {name} with {word} CPU time: {functions}.",
                    name = quoted(&self.name),
                    functions = named.join(", ")
                );
            }
        }
        if !is_named {
            text += " No function differs by more than the sampling error.";
        }
        text
    }
}

/// Returns whether a full name is the name of a function of lsmbench, such as `lsmbench_tree::read::get` or
/// `<lsmbench_fence::linear::Linear as lsmbench_fence::fence::Fence>::seek`.
fn is_own(function: &str) -> bool {
    function.trim_start_matches(|letter: char| !letter.is_alphabetic()).starts_with("lsmbench")
}

/// Shortens each Rust path in the name of a function to its last two segments:
/// `<lsmbench_fence::linear::Linear as lsmbench_fence::fence::Fence>::seek` becomes
/// `<linear::Linear as fence::Fence>::seek`.
pub fn short_name(function: &str) -> String {
    let is_of_path = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':' | '$');
    let mut short = String::new();
    let mut rest = function;
    while let Some(start) = rest.find(is_of_path) {
        let (before, from) = rest.split_at(start);
        let (path, after) = from.split_at(from.find(|letter| !is_of_path(letter)).unwrap_or(from.len()));
        let names: Vec<&str> = path.split("::").collect();
        short += before;
        short += &names[names.len().saturating_sub(2)..].join("::");
        rest = after;
    }
    short + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(name: &str, functions: &[(&str, u64)]) -> CpuProfile {
        let mut stacks = FoldedStacks::default();
        for (function, ns) in functions {
            stacks.add(["main", *function], *ns);
        }
        let samples = stacks.total_ns() / 1_000_000;
        CpuProfile { name: name.to_owned(), stacks, operations: 1_000_000, samples }
    }

    #[test]
    fn the_functions_that_carry_the_difference_are_named() {
        let slow = profile(
            "compressed",
            &[("a::b::CompressedFence::seek", 500_000_000), ("a::tree::get", 702_000_000)],
        );
        let fast =
            profile("binary", &[("a::b::BinaryFence::seek", 100_000_000), ("a::tree::get", 700_000_000)]);
        let text = slow.summary(&fast, "get");
        assert_eq!(
            text,
            "In phase get, compressed uses 1.20 µs of CPU time per operation, and binary uses 800 ns. Functions of \
             compressed with more CPU time: CompressedFence::seek (500 ns, 99.6% of the increase). Functions of \
             compressed with less CPU time: BinaryFence::seek (100 ns, 100.0% of the decrease)."
        );
        // 2 ns in 702 samples are chance, and equal profiles differ in no function.
        assert!(!text.contains("get (") && slow.against(&fast)[2].error_ns > 2.0, "{text}");
        let equal = slow.summary(&slow, "get");
        assert!(equal.ends_with("No function differs by more than the sampling error."), "{equal}");
    }

    #[test]
    fn a_library_function_is_named_with_the_function_that_it_works_for() {
        let mut slow = profile("slow", &[]);
        let [get, scan] = ["<lsmbench_memtable::vector::Vector>::get", "lsmbench_memtable::vector::scan"];
        slow.stacks.add(["main", get, "core::fold<lsmbench_types::Key>", "memcmp"], 600_000_000);
        slow.stacks.add(["main", scan, "memcmp"], 300_000_000);
        slow.stacks.add(["main", "syscall"], 100_000_000);
        slow.samples = 1000;
        let mut fast = profile("fast", &[]);
        fast.stacks.add(["main", scan, "memcmp"], 200_000_000);
        fast.samples = 200;
        let text = slow.summary(&fast, "get");
        let named = "more CPU time: memcmp in <vector::Vector>::get (700 ns, 87.5% of the increase), syscall (100 ns, \
                     12.5% of the increase).";
        assert!(text.ends_with(named), "{text}");
        assert_eq!(fast.main_caller(&slow, "memcmp", -1.0).as_deref(), Some(get));
        assert_eq!(slow.main_caller(&fast, get, 1.0), None);
    }

    #[test]
    fn paths_are_shortened_everywhere() {
        let full = "<lsmbench_fence::linear::Linear as lsmbench_fence::fence::Fence>::seek";
        assert_eq!(short_name(full), "<linear::Linear as fence::Fence>::seek");
        assert_eq!(short_name("memcmp"), "memcmp");
        assert_eq!(short_name("a::b::c::{{closure}}"), "c::{{closure}}");
        assert_eq!(short_name("core::ptr::drop<alloc::vec::Vec<u8>>"), "ptr::drop<vec::Vec<u8>>");
    }
}
