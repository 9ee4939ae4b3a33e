//! Tests that every model passes, and that each weakened memory ordering makes a model fail. The listed orderings are
//! exceptions.

#![allow(clippy::print_stdout)] // what was tried is worth reading in the output of a test

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::thread;

use catalog::laws::{check_all, ensure, is_sampled};
use lsmbench_interleave::{LoomModel, LoomVerdict, MODELS, Site};

/// The weakened sites with which no model fails: the operation, a part of its source line, and the reason.
const UNNOTICED: [(&str, &str, &str); 5] = [
    (
        "load",
        "self.present.load(Ordering::Acquire)",
        "the fence of readers orders as much; the process barrier does not",
    ),
    ("fetch_add", "self.present.fetch_add(1, Ordering::AcqRel)", "as above"),
    ("store", "self.0.store(to.0, Ordering::Release)", "the swing that makes a tower public comes behind it"),
    (
        "compare_exchange",
        "version + 1, Acquire, Relaxed",
        "references are acquired by themselves, and a writer has read what it changes",
    ),
    (
        "compare_exchange that fails",
        "Ordering::AcqRel, Ordering::Acquire",
        "the number that it finds was made visible by another",
    ),
];

/// The verdicts of all models without a weakened site, which both tests use.
static VERDICTS: LazyLock<Vec<LoomVerdict>> = LazyLock::new(|| {
    thread::scope(|scope| {
        let running: Vec<_> = MODELS.iter().map(|model| scope.spawn(|| model.run(None))).collect();
        running.into_iter().map(|model| model.join().expect("a model catches panics")).collect()
    })
});

/// Returns the source line of a site.
fn line_of(site: &Site) -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let file = crates.join(site.file.trim_start_matches("crates/"));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let line = text.lines().nth(site.place.0 as usize - 1).unwrap_or_default().trim().to_owned();
    assert!(!line.is_empty(), "{site:?} is not in {}", file.display());
    line
}

#[test]
fn every_model_holds() {
    for (model, verdict) in MODELS.iter().zip(&*VERDICTS) {
        println!("{}: {} interleavings", model.name, verdict.interleavings);
        assert_eq!(verdict.failure, None, "{}", model.name);
        assert!(verdict.interleavings > 100, "{}: a model of {}", model.name, verdict.interleavings);
    }
}

#[test]
fn every_ordering_that_is_weakened_is_noticed() {
    // Models are expected to fail here; their panics are reported below.
    std::panic::set_hook(Box::new(|_| {}));
    let mut sites: BTreeMap<Site, Vec<&LoomModel>> = BTreeMap::new();
    for (model, verdict) in MODELS.iter().zip(&*VERDICTS) {
        // The sites in the models themselves are not under test.
        let own = |site: &Site| site.file.ends_with("models.rs");
        let passed = verdict.sites.iter().filter(|site| !own(site));
        passed.for_each(|site| sites.entry(site.clone()).or_default().push(model));
    }
    let sampled = (0..).zip(sites).filter(|(number, _)| is_sampled(*number, 8)).collect::<Vec<_>>();
    let check = |(_, (site, models)): &(usize, (Site, Vec<&LoomModel>))| {
        let failure = models.iter().find_map(|model| model.run(Some(site)).failure);
        let line = line_of(site);
        let first = failure.as_deref().and_then(|failure| failure.lines().next()).unwrap_or("not noticed");
        println!("{}:{} {} `{line}`: {first}", site.file, site.place.0, site.operation);
        let is_listed =
            UNNOTICED.iter().any(|(operation, part, _)| site.operation == *operation && line.contains(part));
        ensure(failure.is_some() || is_listed, || format!("no model notices {site:?} relaxed: `{line}`"))
    };
    check_all(&sampled, check).unwrap();
}
