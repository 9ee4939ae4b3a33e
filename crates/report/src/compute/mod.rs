//! The computations that can check a claim without a measurement. Most of them are formulas that are derived from first
//! principles.

mod about;
mod arguments;
mod arithmetic;
mod caching;
mod filter;
mod gaining;
mod hashing;
mod levels;
mod merging;
mod recovering;
mod searching;
mod varint;

use std::collections::BTreeMap;

use types::valid_names;

use crate::Argument;

pub use about::Facts;
pub(crate) use about::{About, Nothing};
pub(crate) use arguments::Arguments;
use arguments::resolve;

/// A computation that a `[[claim]]` table can name.
#[derive(Clone, Copy)]
pub struct Computation {
    /// The name of the computation in `[[claim]]` tables.
    pub name: &'static str,
    /// The names of the arguments that the computation accepts in the table `with`.
    pub arguments: &'static [&'static str],
    /// The names of the arguments whose value is a whole list. In any other argument, a list contains one element per
    /// claim.
    pub(crate) lists: &'static [&'static str],
    /// The finding about a claim that contradicts the computation: impossible, or not reproduced.
    pub force: Force,
    pub(crate) compute: Function,
}

/// The finding about a claim that contradicts a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// The claim is impossible, because the computation follows from other statements of the document by arithmetic or
    /// by a theorem.
    Must,
    /// The claim is not reproduced. It may still be correct, because the computation makes assumptions, such as a
    /// choice that the document leaves open.
    Should,
    /// The claim is not reproduced. A claim that agrees with the computation counts as not tested, because the computed
    /// number was taken from the document.
    Given,
}

/// The Rust function of a computation. Returns the computed number, or the reason why there is none.
type Function = fn(&Arguments<'_>) -> Result<f64, String>;

const fn with(name: &'static str, arguments: &'static [&'static str], compute: Function) -> Computation {
    Computation { name, arguments, lists: &[], force: Force::Must, compute }
}

const fn with_lists(
    name: &'static str,
    arguments: &'static [&'static str],
    lists: &'static [&'static str],
    compute: Function,
) -> Computation {
    Computation { name, arguments, lists, force: Force::Must, compute }
}

/// Marks a computation that cannot prove a claim impossible. A claim that contradicts this computation is not
/// reproduced.
const fn should(computation: Computation) -> Computation {
    Computation { force: Force::Should, ..computation }
}

/// Marks a computation whose result was taken from the document.
const fn given(computation: Computation) -> Computation {
    Computation { force: Force::Given, ..computation }
}

/// All computations that a `[[claim]]` table can name.
pub const COMPUTATIONS: &[Computation] = &[
    with("constant", &["value"], arithmetic::constant),
    given(with("setting", &["path", "scale", "plus"], arithmetic::setting)),
    should(with("claim", &["of"], arithmetic::claim)),
    with("quotient", &["numerator", "denominator"], arithmetic::quotient),
    with("floor_quotient", &["numerator", "denominator"], arithmetic::floor_quotient),
    with("percent_less", &["numerator", "denominator"], arithmetic::percent_less),
    with("percent_of_target", &["throughput", "target"], arithmetic::percent_of_target),
    with_lists("product", &["factors"], &["factors"], arithmetic::product),
    with("power", &["base", "exponent"], arithmetic::power),
    should(with_lists("largest_spread", &["of"], &["of"], arithmetic::largest_spread)),
    should(with_lists(
        "linear_threads",
        &["efficiency", "throughput", "threads"],
        &["throughput", "threads"],
        arithmetic::linear_threads,
    )),
    with_lists("sum", &["of"], &["of"], arithmetic::sum),
    with_lists("agreeing", &["one", "other"], &["one", "other"], arithmetic::agreeing),
    should(with_lists("knee", &["x", "y"], &["x", "y"], arithmetic::knee)),
    with("bloom_bits", &["fpr"], filter::bloom_bits),
    should(with("monkey_saving_pct", &["bits_per_key", "size_ratio", "levels"], filter::monkey_saving_pct)),
    should(with("even_shards_cv", &["keys", "shards"], hashing::even_shards_cv)),
    should(with("even_shards_std_pct", &["keys", "shards"], hashing::even_shards_std_pct)),
    should(with("even_shards_max_pct", &["keys", "shards"], hashing::even_shards_max_pct)),
    with("chi_square_p", &["keys", "shards", "cv"], hashing::chi_square_p),
    with("ring_moved", &["shards"], hashing::ring_moved),
    with("zipf_share_pct", &["keys", "theta", "share"], hashing::zipf_share_pct),
    with("read_locations", &["policy", "size_ratio", "levels", "memtable"], levels::read_locations),
    with(
        "read_locations_present",
        &["policy", "size_ratio", "levels", "fpr"],
        levels::read_locations_present,
    ),
    with("btree_height", &["bytes", "entry", "page", "separator"], levels::btree_height),
    with("culling_comparisons_saved", &["segments"], levels::culling_comparisons_saved),
    with("levels_below_0", &["levels"], levels::levels_below_0),
    with("restart_mean", &["restart_interval"], levels::restart_mean),
    with("poisson", &["lambda", "k"], hashing::poisson),
    with("poisson_tail", &["lambda", "k"], hashing::poisson_tail),
    with("hash_slots_usable", &["lambda"], hashing::hash_slots_usable),
    with("hash_lookups_usable_pct", &["lambda"], hashing::hash_lookups_usable_pct),
    with("varint_length", &["number"], varint::length),
    with("varint_uniform", &["bits"], varint::uniform),
    with("varint_geometric", &["p"], varint::geometric),
    with("geometric_tail", &["p", "n"], varint::geometric_tail),
    with("percent_more", &["numerator", "denominator"], arithmetic::percent_more),
    with(
        "ratio_of_ratios",
        &["numerator", "denominator", "other_numerator", "other_denominator"],
        arithmetic::ratio_of_ratios,
    ),
    with_lists("compound_percent_less", &["steps"], &["steps"], arithmetic::compound_percent_less),
    with_lists("compound_percent_more", &["steps"], &["steps"], arithmetic::compound_percent_more),
    with_lists("greatest", &["of"], &["of"], arithmetic::greatest),
    with_lists("least", &["of"], &["of"], arithmetic::least),
    with_lists("nearest", &["of", "to"], &["of"], arithmetic::nearest),
    with("harmonic_mean", &["one", "other"], arithmetic::harmonic_mean),
    with("net_rate", &["operations", "seconds", "load"], arithmetic::net_rate),
    with(
        "cost_growth",
        &["first_operations", "first_seconds", "last_operations", "last_seconds", "load"],
        arithmetic::cost_growth,
    ),
    with(
        "rate_drop_pct",
        &["first_operations", "first_seconds", "last_operations", "last_seconds"],
        arithmetic::rate_drop_pct,
    ),
    with("rate_gain", &["operation_ns", "saved_ns"], arithmetic::rate_gain),
    with("codes_left", &["bits", "reserved"], arithmetic::codes_left),
    with("relative_error_pct", &["samples"], arithmetic::relative_error_pct),
    with("bloom_fpr_pct", &["bits_per_key", "probes"], filter::bloom_fpr_pct),
    with("filter_gain_pct", &["bits_per_key", "probes"], filter::filter_gain_pct),
    with("false_positives_saved_pct", &["from_bits", "to_bits"], filter::false_positives_saved_pct),
    should(with_lists("filter_step_pct", &["first_pct", "bits"], &["bits"], filter::filter_step_pct)),
    with("monkey_bits_gained", &["size_ratio", "levels"], filter::monkey_bits_gained),
    with("filter_test_passes", &["probes", "fpr", "expected", "within"], filter::filter_test_passes),
    should(with("ring_cv", &["virtual_nodes"], hashing::ring_cv)),
    with("sequential_hit_pct", &["keys_per_block"], caching::sequential_hit_pct),
    with("cached_speedup", &["hit_pct", "known_hit_pct", "known_speedup"], caching::cached_speedup),
    should(with("lru_hit_pct", &["keys", "theta", "share"], caching::lru_hit_pct)),
    with("eytzinger_found", &["keys", "builder"], searching::eytzinger_found),
    with("level_order_places", &["bits"], searching::level_order_places),
    with("fence_factory_cases", &["around"], searching::fence_factory_cases),
    with("comparisons_ns", &["entries", "miss_ns"], searching::comparisons_ns),
    with("separator_scan", &["per_leaf", "leaves", "start", "end"], searching::separator_scan),
    with("btree_inner_pages", &["pairs", "per_page"], searching::btree_inner_pages),
    should(with("scan_gain", &["pairs", "per_page", "keys", "tables"], searching::scan_gain)),
    with("lanes_bytes", &["entry", "index", "step"], searching::lanes_bytes),
    with("fixed_offset_blocks", &["blocks", "block_bytes", "ratio"], searching::fixed_offset_blocks),
    should(with("search_lines_ratio", &["entries", "entry_bytes"], searching::search_lines_ratio)),
    should(with("search_lines_saved_pct", &["entries", "entry_bytes"], searching::search_lines_saved_pct)),
    should(with("sorting_gain", &["entries"], searching::sorting_gain)),
    should(with("write_amp", &["policy", "size_ratio", "memtables"], merging::write_amp)),
    should(with("full_space_amp", &["policy", "size_ratio"], merging::full_space_amp)),
    should(with("growth_write_ratio", &["growth", "other", "memtables"], merging::growth_write_ratio)),
    should(with("growth_longest_ratio", &["growth", "other", "memtables"], merging::growth_longest_ratio)),
    should(with(
        "growth_drop_pct",
        &["growth", "first_memtables", "last_memtables"],
        merging::growth_drop_pct,
    )),
    with("binary_counter_write_amp", &["memtables"], merging::binary_counter_write_amp),
    with("merge_all_write_amp", &["tables", "flushes"], merging::merge_all_write_amp),
    with("merge_all_growth", &["tables", "first_flushes", "last_flushes"], merging::merge_all_growth),
    should(with("side_by_side", &["parts"], gaining::side_by_side)),
    should(with("batched", &["batch", "share"], gaining::batched)),
    with("newest_last_pct", &["runs"], recovering::newest_last_pct),
    with("log_lost_pct", &["log", "fault"], recovering::log_lost_pct),
    should(with("prefix_saved_bytes", &["p", "restart_interval"], levels::prefix_saved_bytes)),
    should(with("torture_kill", &["design", "wal"], arithmetic::torture_kill)),
];

/// An error in the arguments of a computation: the key that causes the error, and the message.
type Fault = (&'static str, String);

/// Returns the computation `name`, if `with` contains only arguments of this computation.
///
/// # Errors
/// Returns an error if the computation does not exist, or has no argument with one of the names in `with`.
pub(crate) fn known(name: &str, with: &BTreeMap<String, Argument>) -> Result<&'static Computation, Fault> {
    let Some(computation) = COMPUTATIONS.iter().find(|computation| computation.name == name) else {
        let valid = valid_names(COMPUTATIONS.iter().map(|computation| computation.name));
        return Err(("computed", format!("unknown computation \"{name}\". {valid}")));
    };
    if let Some(key) = with.keys().find(|key| !computation.arguments.contains(&key.as_str())) {
        let valid = valid_names(computation.arguments);
        return Err(("with", format!("{name} has no argument \"{key}\". {valid}")));
    }
    Ok(computation)
}

/// Runs a computation for one claim. Returns the computed number, and the finding about a claim that contradicts this
/// number.
///
/// # Errors
/// Returns a message if the computation does not exist, or if an argument is missing or invalid.
pub(crate) fn run(
    name: &str,
    with: &BTreeMap<String, Argument>,
    about: About<'_>,
) -> Result<(Force, f64), String> {
    let computation = known(name, with).map_err(|(_, message)| message)?;
    let arguments = resolve(with, about, computation.lists)?;
    Ok((computation.force, (computation.compute)(&arguments)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Claim, Claims, Rule, Statement};

    /// Facts of an experiment with one setting, and of a design whose store was killed.
    struct Known;

    impl Facts for Known {
        fn setting(&self, path: &str) -> Option<f64> {
            (path == "phase.get.absent").then_some(0.9)
        }

        fn lost_writes(&self, design: &str, _wal: &str) -> Option<f64> {
            (design == "golsm").then_some(0.0)
        }
    }

    /// Returns the result of a computation whose arguments are given as TOML. The claim is about the subject "a",
    /// and has the parameter n = 2.
    fn result(name: &str, with: &str) -> Result<f64, String> {
        let rule = Rule { with: toml::from_str(with).unwrap(), ..Rule::default() };
        let claim = Claim {
            id: "x-1".to_owned(),
            section: String::new(),
            figure: String::new(),
            subject: "a".to_owned(),
            metric: "m".to_owned(),
            params: [("n".to_owned(), "2".to_owned())].into(),
            value: 1.0,
            unit: "x".to_owned(),
            standing: Statement::Exact,
        };
        let about = About { claim: &claim, place: 1, claims: &Claims::default(), facts: &Known };
        run(name, &rule.with, about).map(|(_, result)| result)
    }

    #[track_caller]
    fn is(name: &str, with: &str, expected: f64, off: f64) {
        let found = result(name, with).unwrap();
        assert!((found - expected).abs() <= off, "{name}: {found}, expected {expected}");
    }

    #[test]
    fn filters_need_the_bits_that_theory_says() {
        is("bloom_bits", "fpr = 0.01", 9.585, 5e-4);
        is("bloom_bits", "fpr = 0.009", 9.804, 5e-4);
        is("bloom_bits", "fpr = 0.0236", 7.8, 5e-3);
        is("bloom_bits", "fpr = 0.0153", 8.7, 5e-3);
        is("bloom_bits", "fpr = 0.0177", 8.4, 5e-3);
        for (ratio, levels, saved) in [(4, 3, 9.0), (4, 5, 18.0), (10, 5, 26.0), (10, 7, 33.0)] {
            let with = format!("bits_per_key = 10\nsize_ratio = {ratio}\nlevels = {levels}");
            is("monkey_saving_pct", &with, saved, 0.5);
        }
    }

    #[test]
    fn random_keys_spread_as_theory_says() {
        let shards = "keys = 100_000_000\nshards = 16\n";
        is("even_shards_cv", shards, 0.000_387, 1e-6);
        is("even_shards_std_pct", shards, 0.0387, 1e-4);
        is("even_shards_max_pct", shards, 0.08, 2e-3);
        for cv in [0.0027, 0.0042, 0.0031] {
            is("chi_square_p", &format!("{shards}cv = {cv}"), 0.0, 1e-100);
        }
        is("chi_square_p", &format!("{shards}cv = 0.00019"), 0.997, 2e-3);
        is("ring_moved", "shards = 17", 1.0, 0.0);
        is("zipf_share_pct", "keys = 1_000_000\ntheta = 0.99\nshare = 0.2", 88.1, 0.05);
        is("zipf_share_pct", "keys = 1_000_000\ntheta = 0.99\nshare = 0.01", 66.4, 0.05);
        is("poisson", "lambda = 1.0\nk = 0", 0.3679, 1e-4);
        is("poisson", "lambda = 1.0\nk = 1", 0.3679, 1e-4);
        is("poisson_tail", "lambda = 1.0\nk = 2", 0.2642, 1e-4);
        is("poisson_tail", "lambda = 1.0\nk = 0", 1.0, 0.0);
        is("hash_slots_usable", "lambda = 1.0", 0.582, 5e-4);
        is("hash_lookups_usable_pct", "lambda = 1.0", 36.8, 0.05);
        is("hash_lookups_usable_pct", "lambda = 0.54", 58.0, 0.3);
    }

    #[test]
    fn lookups_look_where_the_shape_says() {
        for (policy, all, present) in [
            ("leveled", 6.0, 1.04),
            ("tiered", 51.0, 1.49),
            ("l0-tiered", 15.0, 1.13),
            ("lazy-leveled", 42.0, 1.4),
        ] {
            let tree = format!("policy = \"{policy}\"\nsize_ratio = 10\nlevels = 5\n");
            is("read_locations", &format!("{tree}memtable = true"), all, 1e-12);
            is("read_locations", &tree, all - 1.0, 1e-12);
            is("read_locations_present", &format!("{tree}fpr = 0.01"), present, 1e-12);
        }
        assert!(result("read_locations", "policy = \"best\"\nsize_ratio = 10\nlevels = 5").is_err());
        is("btree_height", "bytes = 10e9\nentry = 116\npage = 4096\nseparator = 24", 4.0, 0.0);
        is("btree_height", "bytes = 116.0\nentry = 116\npage = 4096\nseparator = 24", 1.0, 0.0);
        assert!(result("btree_height", "bytes = 10e9\nentry = 5000\npage = 4096\nseparator = 24").is_err());
        is("culling_comparisons_saved", "segments = 512", 494.0, 1e-9);
        is("levels_below_0", "levels = 7", 6.0, 0.0);
        is("restart_mean", "restart_interval = 10", 4.5, 0.0);
    }

    #[test]
    fn varints_are_as_long_as_counting_says() {
        for (number, bytes) in
            [(0_u64, 1.0), (127, 1.0), (128, 2.0), (16_383, 2.0), (16_384, 3.0), (4_294_967_295, 5.0)]
        {
            is("varint_length", &format!("number = {number}"), bytes, 0.0);
        }
        is("varint_uniform", "bits = 32", 4.937, 5e-4);
        is("varint_uniform", "bits = 7", 1.0, 0.0);
        is("varint_geometric", "p = 0.2", 1.0, 1e-9);
        is("varint_geometric", "p = 0.001", 1.88, 5e-3);
        is("geometric_tail", "p = 0.2\nn = 128", 3.94e-13, 5e-16);
    }

    #[test]
    fn arithmetic_is_done_on_numbers_lists_and_tables() {
        is("constant", "value = 254", 254.0, 0.0);
        is("setting", "path = \"phase.get.absent\"\nscale = 100\nplus = 1", 91.0, 1e-12);
        is("claim", "of = { b = 1, a = 3 }", 3.0, 0.0);
        is("quotient", "numerator = [1, 5]\ndenominator = { 2 = 10, 3 = 20 }", 0.5, 0.0);
        is("floor_quotient", "numerator = 4088\ndenominator = 8", 511.0, 0.0);
        is("percent_less", "numerator = 7.8\ndenominator = 9.6", 18.75, 1e-9);
        is("percent_less", "numerator = 0.9\ndenominator = 1.5", 40.0, 1e-9);
        is("percent_of_target", "throughput = [0, 532_000]\ntarget = 1_000_000", 53.2, 1e-9);
        is("product", "factors = [2, 24]", 48.0, 0.0);
        is("power", "base = 8\nexponent = 3", 512.0, 0.0);
        is("largest_spread", "of = [[1.0, 4.0], [2.0, 3.0]]", 4.0, 0.0);
        let threads = "efficiency = 0.9\nthreads = [1, 2, 4, 8]\n";
        is("linear_threads", &format!("{threads}throughput = [45, 89, 172, 324]"), 8.0, 0.0);
        is("linear_threads", &format!("{threads}throughput = [532, 900, 1600, 2580]"), 1.0, 0.0);
        is("torture_kill", "design = \"golsm\"\nwal = \"buffered\"", 0.0, 0.0);
        assert!(
            result("torture_kill", "design = \"x\"\nwal = \"none\"").unwrap_err().contains("torture kill")
        );
        assert!(result("setting", "path = \"design.bloom\"").is_err());
        assert_eq!(
            result("quotient", "numerator = 1").unwrap_err(),
            "with: the argument denominator is missing; it must be a number"
        );
        assert!(
            result("quotient", "numerator = [1]\ndenominator = 1")
                .unwrap_err()
                .contains("the [[claim]] table has more claims")
        );
        assert!(result("claim", "of = { b = 1 }").is_err());
        assert!(result("poisson", "lambda = -1.0\nk = 0").is_err());
    }

    #[test]
    fn what_contradictions_are_settled_by() {
        is("bloom_fpr_pct", "bits_per_key = 7.8", 2.36, 5e-3);
        is("bloom_fpr_pct", "bits_per_key = 1.0\nprobes = 1", 63.2, 0.05);
        is("bloom_fpr_pct", "bits_per_key = 0.1\nprobes = 1", 100.0, 0.01);
        is("monkey_bits_gained", "size_ratio = 4\nlevels = 5", -11.54, 0.01);
        let test = "probes = 1000\nexpected = 0.01\nwithin = 0.02\n";
        is("filter_test_passes", &format!("{test}fpr = 0.015"), 0.9996, 5e-4);
        is("filter_test_passes", &format!("{test}fpr = 0.1"), 0.0, 1e-12);
        is("filter_test_passes", "probes = 10\nexpected = 0.5\nwithin = 0.1\nfpr = 0.5", 0.246, 1e-3);
        is("ring_cv", "virtual_nodes = 137_174", 0.0027, 1e-7);
        is("sequential_hit_pct", "keys_per_block = 4", 75.0, 1e-9);
        is("cached_speedup", "hit_pct = 92.1\nknown_hit_pct = 78.3\nknown_speedup = 2.87", 4.28, 5e-3);
        is("cached_speedup", "hit_pct = 58.7\nknown_hit_pct = 78.3\nknown_speedup = 2.87", 1.95, 5e-3);
        for (share, hit) in [(0.01, 56.6), (0.05, 70.3), (0.1, 76.6), (0.2, 83.2)] {
            is("lru_hit_pct", &format!("keys = 1_000_000\ntheta = 0.99\nshare = {share}"), hit, 0.15);
        }
        for (flushes, amplification) in [(10, 3.1), (30, 5.8), (100, 18.2), (300, 50.8)] {
            is("merge_all_write_amp", &format!("tables = 4\nflushes = {flushes}"), amplification, 0.5);
        }
        is("merge_all_growth", "tables = 4\nfirst_flushes = 10\nlast_flushes = 10", 1.0, 0.0);
        assert!(result("merge_all_write_amp", "tables = 1\nflushes = 10").is_err());
        is("binary_counter_write_amp", "memtables = 2048", 12.0, 0.0);
        is("prefix_saved_bytes", "p = 0.77\nrestart_interval = 10", 3.0, 0.02);
    }

    #[test]
    fn merges_write_what_their_policy_says() {
        for (ratio, of_each) in [(4, [4.0, 7.75, 6.5, 4.625]), (10, [1.9375, 9.328, 5.0625, 4.281])] {
            for (policy, expected) in
                ["tiered", "leveled", "l0-tiered", "lazy-leveled"].into_iter().zip(of_each)
            {
                let with = format!("policy = \"{policy}\"\nsize_ratio = {ratio}\nmemtables = 64");
                is("write_amp", &with, expected, 5e-4);
            }
        }
        assert!(result("write_amp", "policy = \"best\"\nsize_ratio = 10\nmemtables = 64").is_err());
        is("full_space_amp", "policy = \"leveled\"\nsize_ratio = 10", 10.0 / 9.0, 1e-12);
        is("full_space_amp", "policy = \"tiered\"\nsize_ratio = 10", 10.0, 1e-12);
        assert!(result("full_space_amp", "policy = \"best\"\nsize_ratio = 10").is_err());
        let golden = "growth = 1.618\nother = 10\nmemtables = 240";
        is("growth_write_ratio", golden, 0.6, 1e-3);
        is("growth_longest_ratio", golden, 0.64, 1e-12);
        is("growth_drop_pct", "growth = 1.618\nfirst_memtables = 15\nlast_memtables = 152", 56.3, 0.05);
    }

    #[test]
    fn more_filter_bits_save_what_their_rates_say() {
        is("filter_gain_pct", "bits_per_key = 10\nprobes = 6", 2.89, 5e-3);
        is("filter_gain_pct", "bits_per_key = 10\nprobes = 7", 0.0143, 1e-4);
        is("false_positives_saved_pct", "from_bits = 0.1\nto_bits = 1", 36.8, 0.05);
        is("false_positives_saved_pct", "from_bits = 1\nto_bits = 10", 98.7, 0.05);
        is("filter_step_pct", "first_pct = 8\nbits = [0.1, 1.0, 10.0]", 14.75, 5e-3);
        assert!(result("filter_step_pct", "first_pct = 8\nbits = [0.1, 1.0]").is_err());
    }

    #[test]
    fn work_side_by_side_and_in_batches_gains_so_much() {
        is("side_by_side", "parts = 4", 4.0, 0.0);
        is("batched", "batch = 100\nshare = 1.0", 100.0, 1e-9);
        is("batched", "batch = 100\nshare = 0.5", 1.98, 5e-3);
        is("newest_last_pct", "runs = 4", 25.0, 0.0);
        assert!(result("newest_last_pct", "runs = 0").is_err());
        for (log, fault, lost) in [
            ("written", "process", 0.0),
            ("written", "power", 100.0),
            ("synced", "process", 0.0),
            ("synced", "power", 0.0),
        ] {
            is("log_lost_pct", &format!("log = \"{log}\"\nfault = \"{fault}\""), lost, 0.0);
        }
        assert!(result("log_lost_pct", "log = \"kept\"\nfault = \"power\"").is_err());
        assert!(result("log_lost_pct", "log = \"synced\"\nfault = \"flood\"").is_err());
    }

    #[test]
    fn returns_diminish_where_a_curve_bends_most() {
        let x = "x = [0, 1, 5, 10, 20]\n";
        is("knee", &format!("{x}y = [1.0, 1.35, 2.12, 2.87, 3.21]"), 10.0, 0.0);
        is("knee", &format!("{x}y = [1.0, 1.35, 2.12, 2.87, 2.87]"), 10.0, 0.0);
        is("knee", &format!("{x}y = [1.0, 1.3, 1.5, 1.8, 2.5]"), 1.0, 0.0);
        assert!(result("knee", &format!("{x}y = [0, 1, 5, 10, 20]")).is_err());
        is("sum", "of = [4, 8, 8, 8]", 28.0, 0.0);
        is("agreeing", "one = [3, 3, 3, 10]\nother = [3, 7, 19, 19]", 1.0, 0.0);
    }

    #[test]
    fn searches_find_what_their_order_says() {
        for keys in [1, 2, 7, 8, 100] {
            let with = format!("keys = {keys}\nbuilder = \"level-order\"");
            is("eytzinger_found", &with, f64::from(keys), 0.0);
        }
        is("eytzinger_found", "keys = 7\nbuilder = \"printed\"", 5.0, 0.0);
        assert!(result("eytzinger_found", "keys = 7\nbuilder = \"best\"").is_err());
        is("level_order_places", "bits = 3", 1.0, 0.0);
        is("fence_factory_cases", "around = 1", 1.0, 0.0);
        is("comparisons_ns", "entries = 10_000_000\nmiss_ns = 100", 2400.0, 0.0);
        is("separator_scan", "per_leaf = 5\nleaves = 5\nstart = 6\nend = 9", 0.0, 0.0);
        is("separator_scan", "per_leaf = 5\nleaves = 5\nstart = 6\nend = 12", 6.0, 0.0);
        let tree = "pairs = 268_435_456\nper_page = 510";
        is("btree_inner_pages", tree, 1037.0, 0.0);
        is("scan_gain", &format!("{tree}\nkeys = 100\ntables = 1"), 95.4, 0.05);
        is("scan_gain", &format!("{tree}\nkeys = 100\ntables = 11"), 9.05, 5e-3);
        is("lanes_bytes", "entry = 24\nindex = 8\nstep = 4", 34.67, 5e-3);
        is("fixed_offset_blocks", "blocks = 100\nblock_bytes = 4096\nratio = 1", 100.0, 0.0);
        is("fixed_offset_blocks", "blocks = 100\nblock_bytes = 4096\nratio = 2.1", 1.0, 0.0);
        is("search_lines_ratio", "entries = 10_000_000\nentry_bytes = 24", 0.981, 5e-4);
        is("search_lines_saved_pct", "entries = 10_000\nentry_bytes = 24", -3.70, 5e-3);
        is("search_lines_ratio", "entries = 1\nentry_bytes = 64", 1.0, 0.0);
        assert!(result("search_lines_ratio", "entries = 0\nentry_bytes = 24").is_err());
        is("sorting_gain", "entries = 65_536", 1.0304, 5e-5);
        assert!(result("sorting_gain", "entries = 1").is_err());
    }

    #[test]
    fn rates_and_times_become_one_another() {
        is("percent_more", "numerator = 23.187\ndenominator = 13.017", 78.1, 0.05);
        let random = "numerator = 1_723_645\ndenominator = 1_982_317\n";
        let both = format!("{random}other_numerator = 1_854_327\nother_denominator = 2_053_642");
        is("ratio_of_ratios", &both, 0.963, 5e-4);
        is("compound_percent_less", "steps = [8.0, 4.0]", 11.68, 1e-9);
        is("compound_percent_more", "steps = [8.0, 4.0]", 13.22, 5e-3);
        is("greatest", "of = [1.0, 3.0, 2.0]", 3.0, 0.0);
        is("least", "of = [2.0, 1.0, 3.0]", 1.0, 0.0);
        is("nearest", "of = [1.9, 10.2, 4.3, 2.7]\nto = 3.7", 4.3, 0.0);
        is("harmonic_mean", "one = 532_000\nother = 45_000", 82_981.0, 1.0);
        is("net_rate", "operations = 1_000_000\nseconds = 29.97\nload = 2.53", 36_443.0, 1.0);
        let gets = "first_operations = 10_000\nfirst_seconds = 2.61\nload = 2.53\n";
        is("cost_growth", &format!("{gets}last_operations = 2_500_000\nlast_seconds = 107.24"), 5.24, 5e-3);
        let puts = "first_operations = 1\nfirst_seconds = 2.53\n";
        is("rate_drop_pct", &format!("{puts}last_operations = 10\nlast_seconds = 136.41"), 81.45, 5e-3);
        is("rate_gain", "operation_ns = 1000\nsaved_ns = 25", 25_641.0, 1.0);
        is("codes_left", "bits = 8\nreserved = 2", 254.0, 0.0);
        is("relative_error_pct", "samples = 100", 10.0, 1e-12);
    }

    #[test]
    fn names_are_told_apart() {
        for (at, computation) in COMPUTATIONS.iter().enumerate() {
            assert!(COMPUTATIONS[..at].iter().all(|other| other.name != computation.name));
            assert!(computation.lists.iter().all(|list| computation.arguments.contains(list)));
        }
    }
}
