//! Tests that the profiles of executed operations equal the profiles of requested operations.

use super::workload::{Extent, Profile};
use super::{loaded, mixed, plan};

fn close(a: Option<f64>, b: Option<f64>, tolerance: f64) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= tolerance * b.abs().max(1e-9),
        (None, None) => true,
        _ => false,
    }
}

#[test]
fn what_came_out_is_what_was_intended() {
    for keys in
        ["zipfian", "zipfian(theta=1.2)", "ycsb-scrambled", "latest", "hotspot", "uniform", "exponential"]
    {
        let lines = format!(
            "operations = 400_000\nkeys = \"{keys}\"\nabsent = 0.25\nrange = \"uniform\"\nvalue = \"pareto\"\n\
             mix = {{ get = 0.6, put = 0.3, range = 0.1 }}"
        );
        let plan = mixed(1000, &lines);
        let phase = &plan.phases()[1];
        let intended = Profile::intended(phase, loaded(1000));
        let realised = Profile::realised(phase, loaded(1000), None);
        assert_eq!(realised.operations, Some(400_000));
        for (kind, share) in &intended.mix {
            assert!((realised.mix[kind] - share).abs() < 0.005, "{keys}: {kind}");
        }
        assert!(close(realised.absent, intended.absent, 0.02), "{keys}: {realised:?}");
        assert!(close(realised.value_bytes, intended.value_bytes, 0.03), "{keys}: {realised:?} {intended:?}");
        assert!(close(realised.range_entries, intended.range_entries, 0.02), "{keys}: {realised:?}");
        // The hottest keys are selected by the same counts that are summed. This selection overstates the share for
        // a uniform distribution.
        for (got, wanted, tolerance) in [
            (realised.hottest_key, intended.hottest_key, if keys == "uniform" { 0.3 } else { 0.15 }),
            (realised.hottest_1_percent, intended.hottest_1_percent, 0.2),
            (realised.hottest_10_percent, intended.hottest_10_percent, 0.12),
        ] {
            assert!(close(got, wanted, tolerance), "{keys}: {got:?}, intended {wanted:?}");
        }
        assert_eq!(realised.key_bytes, Some(16.0));
        assert!(realised.keys_touched.unwrap() <= 1000);
    }
}

/// Tests the shares of the hottest keys among a million keys at θ = 0.99: 6.5 %, 66.4 % and 83.0 %.
#[test]
fn a_true_zipf_law_has_the_skew_of_the_sums() {
    let plan = mixed(1_000_000, "operations = 4_000_000\nmix = \"get\"\nkeys = \"zipfian\"");
    let realised = Profile::realised(&plan.phases()[1], loaded(1_000_000), None);
    for (share, expected) in [
        (realised.hottest_key, 0.065),
        (realised.hottest_1_percent, 0.664),
        (realised.hottest_10_percent, 0.830),
    ] {
        assert!(close(share, Some(expected), 0.02), "{share:?}, expected {expected}");
    }
}

/// Tests that equal streams have equal hashes, and that any change of a stream changes its hash.
#[test]
fn the_hash_names_the_stream() {
    let hash = |lines: &str, performed: Option<&[u64]>| {
        let plan = mixed(100, lines);
        Profile::realised(&plan.phases()[1], loaded(100), performed).stream_hash.unwrap()
    };
    let base = "operations = 1000\nmix = { get = 1, put = 1 }";
    assert_eq!(hash(base, None), hash(base, None));
    for other in [
        "operations = 1001\nmix = { get = 1, put = 1 }",
        "operations = 1000\nmix = { get = 1, put = 1 }\nkeys = \"latest\"",
        "operations = 1000\nmix = { get = 1, put = 1 }\nvalue = { bytes = 99 }",
        "operations = 1000\nmix = { get = 1, put = 1 }\nvalue = { bytes = 100, compressible = 0.2 }",
    ] {
        assert_ne!(hash(base, None), hash(other, None), "{other}");
    }
    assert_eq!(hash(base, Some(&[400])), hash("operations = 400\nmix = { get = 1, put = 1 }", None));
}

#[test]
fn a_load_touches_every_key() {
    let plan = plan("[[phase]]\nname = \"load\"\ninsert = 1234\nthreads = 3\nbatch = 10");
    let phase = &plan.phases()[0];
    let (intended, realised) =
        (Profile::intended(phase, Extent::default()), Profile::realised(phase, Extent::default(), None));
    assert_eq!(realised.keys_touched, Some(1234));
    assert_eq!((intended.operations, intended.keys_touched), (realised.operations, Some(1234)));
    assert_eq!(realised.mix, intended.mix);
    assert_eq!(realised.hottest_key, None);
}
