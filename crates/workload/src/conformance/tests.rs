//! The laws of key distributions and key formats, walked over their catalogs, with canaries that break one
//! law each and must be caught.

use std::collections::HashSet;
use std::sync::Arc;

use catalog::laws;
use lsmbench_workload as workload;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal as NormalLaw};
use workload::{
    FORMATS, KEYS, KeyDistribution, KeyFormat, KeyId, KeySampler, Plan, Random, Scope, Standing, Workload,
};

/// Every distribution with its defaults, and some with other parameters.
fn distributions() -> Vec<(String, Box<dyn KeyDistribution>)> {
    let more = ["zipfian(theta=0)", "zipfian(theta=1)", "zipfian(theta=1.3)", "latest(theta=1)"];
    let hotspots = [
        "hotspot(data=0.01, accesses=0.5)",
        "hotspot(contiguous=true)",
        "exponential(frac=0.1)",
        "normal(mean=0.1, deviation=0.3)",
    ];
    let labels = more.into_iter().chain(hotspots).map(|label| KEYS.choose(&label.into()).unwrap());
    KEYS.all().chain(labels).map(|choice| (choice.label(), KEYS.build(&choice).unwrap())).collect()
}

fn scope(keys: u64, planned: u64) -> Scope {
    Scope { keys, planned, popularity: 77, thread: 0, threads: 1 }
}

fn draw(sampler: &mut dyn KeySampler, seed: u64, existing: u64, count: usize) -> Vec<u64> {
    let mut keys = vec![0; count];
    sampler.fill(&mut Random::new(seed), existing, &mut keys);
    keys
}

/// Every index is below the number of keys that exist, also while more join.
fn stays_below(distribution: &dyn KeyDistribution) -> Result<(), String> {
    for (keys, planned) in
        [(1, 1), (2, 2), (3, 3), (100, 100), (1000, 1000), (1, 500), (100, 150), (100, 5000)]
    {
        let mut sampler = distribution.sampler(&scope(keys, planned));
        for (call, existing) in (keys..=planned.max(keys + 20)).step_by(7).enumerate() {
            let drawn = draw(&mut *sampler, call as u64, existing, 50);
            if let Some(key) = drawn.iter().find(|key| **key >= existing) {
                return Err(format!("key {key} of {existing}"));
            }
        }
    }
    Ok(())
}

/// The same random numbers give the same indexes, in one call or in many.
fn repeats_in_pieces(distribution: &dyn KeyDistribution) -> Result<(), String> {
    for keys in [1, 10, 777] {
        let whole = draw(&mut *distribution.sampler(&scope(keys, keys)), 5, keys, 500);
        let mut sampler = distribution.sampler(&scope(keys, keys));
        let (mut random, mut pieces) = (Random::new(5), vec![0; 500]);
        let mut rest = &mut pieces[..];
        for size in (1..).take_while(|size| size * (size - 1) / 2 < 500) {
            let (piece, behind) = rest.split_at_mut(size.min(rest.len()));
            sampler.fill(&mut random, keys, piece);
            rest = behind;
        }
        if whole != pieces {
            return Err(format!("with {keys} keys, several calls drew other keys than one"));
        }
    }
    Ok(())
}

/// The announced shares of the most popular keys are what is drawn.
fn keeps_its_share(distribution: &dyn KeyDistribution) -> Result<(), String> {
    const KEYS: u64 = 500;
    const DRAWS: usize = 500_000;
    let mut counts = vec![0u32; KEYS as usize];
    for key in draw(&mut *distribution.sampler(&scope(KEYS, KEYS)), 9, KEYS, DRAWS) {
        counts[key as usize] += 1;
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    for hottest in [1, 5, 50, 250, 500] {
        let Some(announced) = distribution.share(KEYS, hottest) else { continue };
        let drawn: u32 = counts[..hottest as usize].iter().sum();
        let share = f64::from(drawn) / DRAWS as f64;
        // Sorting by what was drawn picks the luckiest: a few standard deviations of the least popular.
        if (share - announced).abs() > 0.015 {
            return Err(format!("the {hottest} hottest keys: announced {announced}, drawn {share}"));
        }
        let several = distribution.shares(KEYS, &[1, hottest]).and_then(|mut shares| shares.pop());
        if several.is_none_or(|several| (several - announced).abs() > 1e-9) {
            return Err(format!("the {hottest} hottest keys: {announced} alone, {several:?} among several"));
        }
    }
    Ok(())
}

/// Popular keys stand where they are said to.
fn stands_where_it_says(distribution: &dyn KeyDistribution) -> Result<(), String> {
    const KEYS: u64 = 500;
    const HOTTEST: usize = 50;
    let drawn = draw(&mut *distribution.sampler(&scope(KEYS, KEYS)), 10, KEYS, 200_000);
    let in_turn = drawn.windows(2).filter(|pair| pair[1] == (pair[0] + 1) % KEYS).count() + 1 == drawn.len();
    let mut counts: Vec<(usize, u64)> = (0..KEYS).map(|key| (0, key)).collect();
    drawn.iter().for_each(|key| counts[*key as usize].0 += 1);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let hottest = counts[..HOTTEST].iter().map(|(_, key)| *key);
    let span = hottest.clone().max().unwrap_or(0) - hottest.min().unwrap_or(0);
    // An even law has no popular keys, and then the luckiest stand anywhere.
    let is_skewed = distribution.share(KEYS, HOTTEST as u64).is_some_and(|share| share > 0.15);
    let standing = distribution.standing();
    let is_right = match standing {
        Standing::InTurn => in_turn,
        Standing::Together => !in_turn && span < KEYS / 2,
        Standing::Scattered => !in_turn && (!is_skewed || span > KEYS / 2),
    };
    if is_right { Ok(()) } else { Err(format!("{standing:?}, and the {HOTTEST} hottest span {span} keys")) }
}

#[test]
fn key_distributions_keep_their_laws() {
    laws::check(&KEYS).unwrap();
    for (label, distribution) in distributions() {
        stays_below(&*distribution).unwrap_or_else(|error| panic!("{label}: {error}"));
        repeats_in_pieces(&*distribution).unwrap_or_else(|error| panic!("{label}: {error}"));
        keeps_its_share(&*distribution).unwrap_or_else(|error| panic!("{label}: {error}"));
        stands_where_it_says(&*distribution).unwrap_or_else(|error| panic!("{label}: {error}"));
    }
}

/// The probability of an index, up to a factor.
type Weight = Box<dyn Fn(u64) -> f64>;

/// Where the probability of each index is known, the draws pass χ² against it.
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
        // Both ends: draws that are too even are no draws.
        assert!((1e-4..1.0 - 1e-4).contains(&p), "{label}: p = {p}");
    }
}

/// Popular keys are popular in every phase and thread, and stay so while others join.
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
    assert!(neighbours <= 1, "popular keys stand anywhere: {before:?}");
}

fn distribution(label: &str) -> Box<dyn KeyDistribution> {
    KEYS.build(&KEYS.choose(&label.into()).unwrap()).unwrap()
}

/// A sampler that is wrong in one way.
#[derive(Clone, Copy)]
enum Canary {
    /// Draws the key behind the last, now and then.
    Beyond,
    /// Goes by how many keys it is asked for.
    ByCall,
    /// Announces an even spread and draws small indexes more often.
    Skewed,
    /// Draws small indexes most often, and announces that the popular ones stand anywhere.
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
    assert!(stays_below(&Canary::Beyond).is_err());
    assert!(repeats_in_pieces(&Canary::ByCall).is_err());
    assert!(keeps_its_share(&Canary::Skewed).is_err());
    assert!(keeps_its_share(&Canary::Crowded).is_ok() && stands_where_it_says(&Canary::Crowded).is_err());
    assert!(stays_below(&Canary::ByCall).is_ok() && repeats_in_pieces(&Canary::Skewed).is_ok());
}

/// Every format with its defaults, and some with other parameters; the trace format over a small trace.
fn formats() -> Vec<(String, Arc<dyn KeyFormat>)> {
    let more = [
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
    let labels = more.into_iter().map(|label| FORMATS.choose(&label.into()).unwrap());
    let plain = FORMATS.all().filter(|choice| choice.kind() != "trace").chain(labels);
    let mut formats: Vec<(String, Arc<dyn KeyFormat>)> =
        plain.map(|choice| (choice.label(), FORMATS.build(&choice).unwrap().open(None).unwrap())).collect();
    formats.push(("trace".to_owned(), trace_format()));
    formats
}

fn trace_format() -> Arc<dyn KeyFormat> {
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<u8> = (0..3000u32).flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_be_bytes()).collect();
    std::fs::write(folder.path().join("t"), numbers).unwrap();
    let text = "key = \"trace\"\n[[phase]]\nname = \"r\"\nreplay = { kind = \"raw\", file = \"t\" }";
    let workload: Workload = toml::from_str(text).unwrap();
    Arc::clone(Plan::new(&workload, 1, folder.path()).unwrap().format())
}

/// The keys that are looked at: the first ones, and the last that the format can tell apart.
fn sample(format: &dyn KeyFormat) -> Vec<u64> {
    let capacity = format.capacity();
    let first = capacity.min(3000);
    (0..first).chain((capacity - capacity.min(1000)).max(first)..capacity).collect()
}

fn key(format: &dyn KeyFormat, id: KeyId) -> Vec<u8> {
    let mut bytes = b"before".to_vec();
    format.append(id, &mut bytes);
    bytes.split_off(6)
}

/// Different keys have different bytes, present or absent, and none is longer than announced.
fn keys_differ(format: &dyn KeyFormat) -> Result<(), String> {
    let mut seen = HashSet::new();
    for index in sample(format) {
        for id in [KeyId::present(index), KeyId::absent(index)] {
            let key = key(format, id);
            if key.is_empty() || key.len() > format.max_bytes() {
                return Err(format!("{id:?} has {} bytes, announced {}", key.len(), format.max_bytes()));
            }
            if !seen.insert(key) {
                return Err(format!("{id:?} is another key as well"));
            }
        }
    }
    Ok(())
}

/// Where keys are announced to be in the order of their numbers, they are.
fn order_is_as_announced(format: &dyn KeyFormat) -> Result<(), String> {
    let ids = sample(format).into_iter().flat_map(|index| [KeyId::present(index), KeyId::absent(index)]);
    let keys: Vec<Vec<u8>> = ids.map(|id| key(format, id)).collect();
    if keys.is_sorted() == format.ordered() {
        Ok(())
    } else {
        Err(format!("ordered is {}, and the keys are not so", format.ordered()))
    }
}

/// The absent keys lie among the present ones, and not all on one side of them.
fn absent_keys_lie_between(format: &dyn KeyFormat) -> Result<(), String> {
    let present: Vec<Vec<u8>> = (0..2000).map(|index| key(format, KeyId::present(index))).collect();
    let (smallest, largest) = (present.iter().min().unwrap(), present.iter().max().unwrap());
    let absent = (0..2000).map(|index| key(format, KeyId::absent(index)));
    let outside = absent.filter(|key| key < smallest || key > largest).count();
    if outside <= 10 { Ok(()) } else { Err(format!("{outside} of 2000 absent keys lie outside")) }
}

/// The key whose number is so much above that of another: itself, the next ones of an ordered format, and always
/// a larger key.
fn sums_are_right(format: &dyn KeyFormat) -> Result<(), String> {
    if !format.has_numbers() {
        return Ok(());
    }
    for index in sample(format) {
        let above = |span: u32| {
            let mut key = Vec::new();
            format.append_above(KeyId::present(index), span, &mut key);
            key
        };
        let own = key(format, KeyId::present(index));
        let next = (index + 1 < format.capacity()).then(|| key(format, KeyId::present(index + 1)));
        let is_next = !format.ordered() || next.is_none_or(|next| above(2) == next);
        let spans = [0, 1, 2, 255, 256, 70_000, u32::MAX].map(above);
        if spans[0] != own || !is_next || !spans.is_sorted() || spans[1] <= own {
            return Err(format!("{index}: {spans:?} are not above {own:?} by so much"));
        }
    }
    Ok(())
}

#[test]
fn key_formats_keep_their_laws() {
    laws::check(&FORMATS).unwrap();
    for (label, format) in formats() {
        keys_differ(&*format).unwrap_or_else(|error| panic!("{label}: {error}"));
        order_is_as_announced(&*format).unwrap_or_else(|error| panic!("{label}: {error}"));
        absent_keys_lie_between(&*format).unwrap_or_else(|error| panic!("{label}: {error}"));
        sums_are_right(&*format).unwrap_or_else(|error| panic!("{label}: {error}"));
    }
}

/// Writes the keys of one format in a wrong way.
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
    let format =
        FORMATS.build(&FORMATS.variant("u64").unwrap().default_choice()).unwrap().open(None).unwrap();
    let shared = WrongFormat(Arc::clone(&format), |id: KeyId| KeyId::present(id.index()));
    assert!(keys_differ(&shared).is_err());
    let far = |id: KeyId| if id.is_absent() { KeyId::present(id.index() + (1 << 40)) } else { id };
    let above = WrongFormat(Arc::clone(&format), far);
    assert!(absent_keys_lie_between(&above).is_err() && keys_differ(&above).is_ok());
    let swapped =
        WrongFormat(format, |id: KeyId| KeyId::present((id.index() ^ 1) * 2 + u64::from(id.is_absent())));
    assert!(order_is_as_announced(&swapped).is_err() && sums_are_right(&swapped).is_err());
}

/// Formats too small for the keys say so before anything is written.
#[test]
fn impossible_formats_are_refused() {
    for (label, message) in [
        ("u64(bytes=0B)", "a key has 1B to 64KiB"),
        ("decimal(bytes=1MiB)", "a key has 1B to 64KiB"),
        ("user(bytes=16B)", "it takes none"),
        ("u46", "did you mean \"u64\"?"),
    ] {
        let error = FORMATS.choose(&label.into()).unwrap_err();
        assert!(error.message.contains(message), "{label}: {error}");
    }
    let error = FORMATS.build(&FORMATS.variant("trace").unwrap().default_choice()).unwrap().open(None);
    assert!(error.err().unwrap().contains("no phase replays a raw trace"));
}
