//! What can be computed instead of measured: one function a line, each from first principles.

mod arguments;
mod arithmetic;
mod filter;
mod hashing;
mod levels;
mod varint;

pub use arguments::Facts;
pub(crate) use arguments::{Arguments, resolve};

/// A computation that a `[[claim]]` can name.
pub struct Computation {
    /// Its name.
    pub name: &'static str,
    /// What `with` gives it.
    pub arguments: &'static [&'static str],
    /// Those of them that are lists as a whole; any other list has one element per claim.
    pub(crate) lists: &'static [&'static str],
    pub(crate) compute: Function,
}

/// The result, or why there is none.
type Function = fn(&Arguments<'_>) -> Result<f64, String>;

const fn with(name: &'static str, arguments: &'static [&'static str], compute: Function) -> Computation {
    Computation { name, arguments, lists: &[], compute }
}

const fn with_lists(
    name: &'static str,
    arguments: &'static [&'static str],
    lists: &'static [&'static str],
    compute: Function,
) -> Computation {
    Computation { name, arguments, lists, compute }
}

/// All computations.
pub const COMPUTATIONS: &[Computation] = &[
    with("constant", &["value"], arithmetic::constant),
    with("setting", &["path", "scale", "plus"], arithmetic::setting),
    with("claim", &["of"], arithmetic::claim),
    with("quotient", &["numerator", "denominator"], arithmetic::quotient),
    with("floor_quotient", &["numerator", "denominator"], arithmetic::floor_quotient),
    with("percent_less", &["numerator", "denominator"], arithmetic::percent_less),
    with("percent_of_target", &["throughput", "target"], arithmetic::percent_of_target),
    with_lists("product", &["factors"], &["factors"], arithmetic::product),
    with("power", &["base", "exponent"], arithmetic::power),
    with_lists("largest_spread", &["of"], &["of"], arithmetic::largest_spread),
    with_lists(
        "linear_threads",
        &["efficiency", "throughput", "threads"],
        &["throughput", "threads"],
        arithmetic::linear_threads,
    ),
    with("bloom_bits", &["fpr"], filter::bloom_bits),
    with("monkey_saving_pct", &["bits_per_key", "size_ratio", "levels"], filter::monkey_saving_pct),
    with("even_shards_cv", &["keys", "shards"], hashing::even_shards_cv),
    with("even_shards_std_pct", &["keys", "shards"], hashing::even_shards_std_pct),
    with("even_shards_max_pct", &["keys", "shards"], hashing::even_shards_max_pct),
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
    with("torture_kill", &["design", "wal"], arithmetic::torture_kill),
];

/// The computation of this name.
pub(crate) fn find(name: &str) -> Option<&'static Computation> {
    COMPUTATIONS.iter().find(|computation| computation.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Claim, Claims, Rule, Standing};

    struct Nothing;

    impl Facts for Nothing {
        fn setting(&self, path: &str) -> Option<f64> {
            (path == "phase.get.absent").then_some(0.9)
        }

        fn lost_writes(&self, design: &str, _wal: &str) -> Option<f64> {
            (design == "golsm").then_some(0.0)
        }
    }

    /// The result of a computation with arguments as TOML writes them, for a claim about "a" with n = 2.
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
            standing: Standing::Exact,
        };
        let found = find(name).unwrap();
        for key in rule.with.keys() {
            assert!(found.arguments.contains(&key.as_str()), "{name} takes no {key}");
        }
        (found.compute)(&resolve(&rule, 1, &claim, &Claims::default(), found.lists, &Nothing)?)
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
            "with has no denominator, which is a number"
        );
        assert!(
            result("quotient", "numerator = [1]\ndenominator = 1").unwrap_err().contains("claims are more")
        );
        assert!(result("claim", "of = { b = 1 }").is_err());
        assert!(result("poisson", "lambda = -1.0\nk = 0").is_err());
    }

    #[test]
    fn names_are_told_apart() {
        for (at, computation) in COMPUTATIONS.iter().enumerate() {
            assert!(COMPUTATIONS[..at].iter().all(|other| other.name != computation.name));
            assert!(computation.lists.iter().all(|list| computation.arguments.contains(list)));
        }
    }
}
