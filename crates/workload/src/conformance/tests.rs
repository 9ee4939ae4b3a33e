//! Tests of the invariants with non-default parameters and with canaries. A canary is a deliberately wrong
//! implementation that breaks one invariant. The tests also compare drawn keys with exact probabilities.

use std::collections::HashSet;
use std::sync::Arc;

use catalog::laws::check_invariants;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal as NormalLaw};

use super::keys::{draw, scope};
use super::{formats, keys, lengths};
use crate::{
    FORMATS, KEYS, KeyDistribution, KeyFormat, KeyId, KeySampler, LengthDistribution, Random, Scope,
};

/// Returns the check function of the invariant with the name `name`.
fn check_of<S>(invariants: &[catalog::laws::Invariant<S>], name: &str) -> fn(&S) -> Result<(), String> {
    invariants.iter().find(|(other, _)| *other == name).expect("an invariant with this name must exist").1
}

#[test]
fn distributions_with_other_parameters_keep_every_invariant() {
    let zipfian = ["zipfian(theta=0)", "zipfian(theta=1)", "zipfian(theta=1.3)", "latest(theta=1)"];
    let others = [
        "hotspot(data=0.01, accesses=0.5)",
        "hotspot(contiguous=true)",
        "exponential(frac=0.1)",
        "normal(mean=0.1, deviation=0.3)",
    ];
    for label in zipfian.into_iter().chain(others) {
        check_invariants(label, &keys::Subject(distribution(label)), keys::INVARIANTS).unwrap();
    }
}

/// A function from the index of a key to a number that is proportional to the probability of the key.
type Weight = Box<dyn Fn(u64) -> f64>;

/// Tests that drawn keys pass a χ² test against the exact probability of each key, for distributions with a known
/// probability of each key.
#[test]
fn indexes_match_their_exact_probabilities() {
    const KEYS: u64 = 200;
    const DRAWS: usize = 400_000;
    let age = |key: u64| (KEYS - key) as f64;
    let exponential_mean = -0.857_142_857_1 / 0.05f64.ln() * KEYS as f64;
    let within = move |age: f64| (-age / exponential_mean).exp();
    let normal = NormalLaw::new(0.4 * KEYS as f64, 0.2 * KEYS as f64).unwrap();
    let laws: [(&str, Weight); 6] = [
        ("uniform", Box::new(|_| 1.0)),
        ("zipfian(theta=0)", Box::new(|_| 1.0)),
        ("latest(theta=1.1)", Box::new(move |key| age(key).powf(-1.1))),
        ("exponential", Box::new(move |key| within(age(key) - 1.0) - within(age(key)))),
        (
            "normal(mean=0.4, deviation=0.2)",
            Box::new(move |key| normal.cdf(key as f64 + 1.0) - normal.cdf(key as f64)),
        ),
        ("hotspot(contiguous=true)", Box::new(|key| if key < KEYS / 5 { 0.8 / 0.2 } else { 0.2 / 0.8 })),
    ];
    for (label, weight) in laws {
        let law = distribution(label);
        let mut counts = vec![0.0; KEYS as usize];
        for key in draw(&mut *law.sampler(&scope(KEYS, KEYS)), 21, KEYS, DRAWS) {
            counts[key as usize] += 1.0;
        }
        let total: f64 = (0..KEYS).map(&weight).sum();
        let chi2: f64 = (0..KEYS)
            .map(|key| {
                let expected = weight(key) / total * DRAWS as f64;
                let count: f64 = counts[key as usize];
                (count - expected).powi(2) / expected
            })
            .sum();
        let p = ChiSquared::new((KEYS - 1) as f64).unwrap().sf(chi2);
        // The p-value has an upper limit too, because draws that are too even are not random.
        assert!((1e-4..1.0 - 1e-4).contains(&p), "{label}: p = {p}");
    }
}

/// Tests that all threads have the same popular keys, and that most popular keys stay popular while keys are added.
#[test]
fn popular_keys_stay_popular() {
    let zipfian = distribution("zipfian(theta=1.2)");
    let hottest = |scope: &Scope, existing: u64| {
        let mut counts = vec![0u32; existing as usize];
        for key in draw(&mut *zipfian.sampler(scope), 3, existing, 50_000) {
            counts[key as usize] += 1;
        }
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|key| std::cmp::Reverse(counts[*key]));
        order.into_iter().take(5).collect::<HashSet<_>>()
    };
    let before = hottest(&scope(700, 1000), 700);
    assert_eq!(before, hottest(&Scope { thread: 3, threads: 4, ..scope(700, 1000) }, 700));
    let after = hottest(&scope(700, 1000), 800);
    assert!(before.intersection(&after).count() >= 3, "{before:?} {after:?}");
    let neighbours = before.iter().filter(|key| before.contains(&(*key + 1))).count();
    assert!(neighbours <= 1, "popular keys must be scattered, but they are adjacent: {before:?}");
}

fn distribution(label: &str) -> Box<dyn KeyDistribution> {
    KEYS.build(&KEYS.choose(&label.into()).unwrap()).unwrap()
}

/// A deliberately wrong key distribution, with one seeded fault that an invariant must detect.
#[derive(Clone, Copy)]
enum Canary {
    /// Sometimes draws a key that does not exist: the key after the last key.
    Beyond,
    /// Draws other keys if one call requests all keys than if several calls request them.
    ByCall,
    /// Announces a uniform distribution and draws small indexes more often.
    Skewed,
    /// Draws small indexes most often, although the distribution announces that the popular keys are scattered.
    Crowded,
}

impl KeyDistribution for Canary {
    fn sampler(&self, _: &Scope) -> Box<dyn KeySampler> {
        Box::new(*self)
    }

    fn share(&self, keys: u64, hottest: u64) -> Option<f64> {
        let share = hottest as f64 / keys as f64;
        Some(if matches!(self, Self::Crowded) { 1.0 - (1.0 - share).powi(2) } else { share })
    }
}

impl KeySampler for Canary {
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]) {
        let asked = keys.len() as u64;
        for key in keys {
            *key = match self {
                Self::Beyond => random.below(existing + 1),
                Self::ByCall => (random.below(existing) + asked) % existing,
                Self::Skewed | Self::Crowded => random.below(existing).min(random.below(existing)),
            };
        }
    }
}

#[test]
fn canary_samplers_are_caught() {
    let is_kept =
        |canary: Canary, name| check_of(keys::INVARIANTS, name)(&keys::Subject(Box::new(canary))).is_ok();
    let [below, pieces] = [
        "the index of a drawn key must be below the number of existing keys",
        "the drawn keys must be equal whether one call or several calls draw them",
    ];
    let [share, standing] = [
        "the share of draws that select the most popular keys must equal the result of `share`",
        "`standing` must return whether popular keys are adjacent, scattered or drawn in sequence",
    ];
    assert!(
        !is_kept(Canary::Beyond, below)
            && !is_kept(Canary::ByCall, pieces)
            && !is_kept(Canary::Skewed, share)
    );
    assert!(is_kept(Canary::Crowded, share) && !is_kept(Canary::Crowded, standing));
    assert!(is_kept(Canary::ByCall, below) && is_kept(Canary::Skewed, pieces));
}

/// Deliberately wrong length distributions, each with one seeded fault that an invariant must detect.
enum BadLengths {
    /// The longest drawn length exceeds the announced maximum.
    Longer,
    /// The length depends on the number of earlier draws, not only on the random bits.
    Counts(std::sync::atomic::AtomicU32),
    /// The announced mean is not the mean of the drawn lengths.
    OtherMean,
}

impl LengthDistribution for BadLengths {
    fn length(&self, bits: u64) -> u32 {
        match self {
            Self::Longer => 1 + (bits >> 56) as u32,
            Self::Counts(drawn) => 1 + drawn.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 100,
            Self::OtherMean => 1 + (bits >> 57) as u32,
        }
    }

    fn max(&self) -> u32 {
        200
    }

    fn mean(&self) -> f64 {
        100.0
    }
}

#[test]
fn canary_lengths_are_caught() {
    let cases = [
        (BadLengths::Longer, "each length must be between the minimum and the maximum"),
        (BadLengths::Counts(0.into()), "equal random bits must give equal lengths"),
        (BadLengths::OtherMean, "the mean of drawn lengths must be the value that `mean` returns"),
    ];
    for (bad, name) in cases {
        let subject = lengths::Subject { lengths: Box::new(bad), least: 1 };
        assert!(
            check_of(lengths::INVARIANTS, name)(&subject).is_err(),
            "the invariant \"{name}\" did not detect its fault"
        );
    }
    let empty = lengths::Subject { lengths: Box::new(crate::length::Fixed(0)), least: 1 };
    assert!(
        check_of(lengths::INVARIANTS, "each length must be between the minimum and the maximum")(&empty)
            .is_err()
    );
}

#[test]
fn formats_with_other_parameters_keep_every_invariant() {
    let labels = [
        "u64(bytes=3B)",
        "u64(bytes=8B)",
        "u64(bytes=100B, scattered=true)",
        "u64(bytes=4B, scattered=true)",
        "u64(bytes=8B, scattered=true)",
        "decimal(bytes=5B)",
        "decimal(bytes=5B, scattered=true)",
        "decimal(bytes=30B)",
        "decimal(bytes=20B, scattered=true)",
    ];
    for label in labels {
        check_invariants(label, &formats::Subject(format(label)), formats::INVARIANTS).unwrap();
    }
}

fn format(label: &str) -> Arc<dyn KeyFormat> {
    FORMATS.build(&FORMATS.choose(&label.into()).unwrap()).unwrap().open(None).unwrap()
}

/// A deliberately wrong key format. The function `F` maps each key to another key, and the format writes the bytes of
/// that other key.
struct WrongFormat<F>(Arc<dyn KeyFormat>, F);

impl<F: Fn(KeyId) -> KeyId + Send + Sync> KeyFormat for WrongFormat<F> {
    fn append(&self, id: KeyId, out: &mut Vec<u8>) {
        self.0.append(self.1(id), out);
    }

    fn has_numbers(&self) -> bool {
        self.0.has_numbers()
    }

    fn append_above(&self, id: KeyId, span: u32, out: &mut Vec<u8>) {
        self.0.append_above(id, span, out);
    }

    fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    fn ordered(&self) -> bool {
        self.0.ordered()
    }

    fn max_bytes(&self) -> usize {
        self.0.max_bytes()
    }
}

#[test]
fn canary_formats_are_caught() {
    fn is_kept(format: impl KeyFormat + 'static, names: &[&str]) -> bool {
        let subject = formats::Subject(Arc::new(format));
        names.iter().all(|name| check_of(formats::INVARIANTS, name)(&subject).is_ok())
    }
    let [bytes, order] = [
        "different keys must have different bytes",
        "`ordered` must return whether keys sort by their numbers",
    ];
    let [absent, sums] = [
        "absent keys must be between present keys",
        "`append_above` must add the span to the number of the key",
    ];
    assert!(!is_kept(WrongFormat(format("u64"), |id: KeyId| KeyId::present(id.index())), &[bytes]));
    let far = |id: KeyId| if id.is_absent() { KeyId::present(id.index() + (1 << 40)) } else { id };
    let above = || WrongFormat(format("u64"), far);
    assert!(!is_kept(above(), &[absent]) && is_kept(above(), &[bytes]));
    let swap = |id: KeyId| KeyId::present((id.index() ^ 1) * 2 + u64::from(id.is_absent()));
    let swapped = || WrongFormat(format("u64"), swap);
    assert!(!is_kept(swapped(), &[order]) && !is_kept(swapped(), &[sums]));
}

/// Tests that a format with too few keys for a workload returns an error before anything is written.
#[test]
fn impossible_formats_are_refused() {
    for (label, message) in [
        ("u64(bytes=0B)", "the length of a key must be 1B to 64KiB"),
        ("decimal(bytes=1MiB)", "the length of a key must be 1B to 64KiB"),
        ("user(bytes=16B)", "this variant has no parameters"),
        ("u46", "did you mean \"u64\"?"),
    ] {
        let error = FORMATS.choose(&label.into()).unwrap_err();
        assert!(error.message.contains(message), "{label}: {error}");
    }
    let error = FORMATS.build(&FORMATS.variant("trace").unwrap().default_choice()).unwrap().open(None);
    assert!(error.err().unwrap().contains("no phase replays a raw trace"));
}
