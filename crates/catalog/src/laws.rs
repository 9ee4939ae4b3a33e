//! Checks the invariants of every catalog. The tests of each axis call these functions.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use toml::{Table, Value};

use crate::{Catalog, Variant, label};

/// An invariant of a component: its name, and the function that checks it. If the component violates the invariant, the
/// function returns a description of the violation as an error.
pub type Invariant<S> = (&'static str, fn(&S) -> Result<(), String>);

/// Returns whether tests must run all their cases. This is true if the environment variable `LSMBENCH_NIGHTLY` is set,
/// as `just nightly` does.
pub fn is_nightly() -> bool {
    std::env::var_os("LSMBENCH_NIGHTLY").is_some()
}

/// Returns whether a test with many cases should run the case with this number: every case in a [nightly run], and
/// otherwise one in `every` cases.
///
/// [nightly run]: is_nightly
pub fn is_sampled(number: usize, every: usize) -> bool {
    number.is_multiple_of(every) || is_nightly()
}

/// Returns an error if `holds` is false, for checks of invariants.
///
/// # Errors
/// If `holds` is false, returns the text from `otherwise`.
pub fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Checks a variant with its default parameters. The variant must pass [`check_variant`] and meet the `invariants` of
/// its axis. `subject` converts the component to the input of `invariants`.
///
/// # Errors
/// Returns one line per violated invariant.
pub fn check_component<T: ?Sized, S>(
    axis: &'static str,
    variant: &Variant<T>,
    subject: impl FnOnce(Box<T>) -> S,
    invariants: &[Invariant<S>],
) -> Result<(), String> {
    let mut broken: Vec<String> = check_variant(axis, variant).err().into_iter().collect();
    // If the component with default parameters cannot be built, `check_variant` has reported it.
    if let Ok(component) = variant.build_of(axis, &variant.default_choice()) {
        broken.extend(check_invariants(variant.kind, &subject(component), invariants).err());
    }
    all_kept(&broken)
}

/// Checks a component, `subject`, against all `invariants`.
///
/// # Errors
/// Returns one line per violated invariant, in the form `name: "invariant": violation`.
pub fn check_invariants<S>(name: &str, subject: &S, invariants: &[Invariant<S>]) -> Result<(), String> {
    let broken = invariants.iter().filter_map(|(invariant, check)| {
        let violation = check(subject).err()?;
        Some(format!("{name}: \"{invariant}\": {violation}"))
    });
    all_kept(&broken.collect::<Vec<_>>())
}

/// Checks a whole catalog: it must not be empty, the names of its variants must be unique, and every variant must pass
/// [`check_variant`].
///
/// # Errors
/// Returns one line per violated invariant.
pub fn check<T: ?Sized>(catalog: &Catalog<T>) -> Result<(), String> {
    let mut broken = Vec::new();
    let mut seen = HashSet::new();
    if catalog.variants().is_empty() {
        broken.push(format!("{}: the catalog is empty", catalog.axis));
    }
    for variant in catalog.variants() {
        if !seen.insert(variant.kind) {
            broken.push(format!("{}: two variants have the name \"{}\"", catalog.axis, variant.kind));
        }
        broken.extend(check_variant(catalog.axis, variant).err());
    }
    all_kept(&broken)
}

/// Checks a whole catalog with [`check`], and then checks every variant with the function `conformance` of its axis.
/// The checks use all CPU cores.
///
/// # Errors
/// Returns one line per violated invariant, in the order of the catalog.
pub fn check_each<T: ?Sized>(
    catalog: &Catalog<T>,
    conformance: impl Fn(&'static Variant<T>) -> Result<(), String> + Sync,
) -> Result<(), String> {
    check(catalog)?;
    check_all(catalog.variants(), |variant| conformance(variant))
}

/// Calls `check` for every test case, on all CPU cores.
///
/// # Errors
/// Returns one line per violated invariant, in the order of `cases`.
pub fn check_all<C: Sync>(
    cases: &[C],
    check: impl Fn(&C) -> Result<(), String> + Sync,
) -> Result<(), String> {
    let (next, broken) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((at, case)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, cases.get(at)?)))
        {
            if let Err(violations) = check(case) {
                broken.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, violations));
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    let mut broken = broken.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    broken.sort();
    all_kept(&broken.into_iter().map(|(_, violations)| violations).collect::<Vec<_>>())
}

/// Checks a variant against the invariants of all axes:
///
/// * The name consists of lower-case words joined by hyphens, and the summary is one line without a full stop.
/// * The reference text has all parameters with their defaults, and no other keys.
/// * The variant can be built from its defaults, and its label and its TOML parse to an equal choice.
///
/// # Errors
/// Returns one line per violated invariant.
pub fn check_variant<T: ?Sized>(axis: &'static str, variant: &Variant<T>) -> Result<(), String> {
    let mut broken = Vec::new();
    let name = format!("{axis}: {}", variant.kind);
    if variant.kind.is_empty()
        || !variant.kind.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    {
        broken.push(format!("{name}: a name must consist of lower-case words joined by hyphens"));
    }
    if variant.summary.is_empty() || variant.summary.contains('\n') || variant.summary.ends_with('.') {
        broken.push(format!("{name}: the summary must be one line without a full stop"));
    }
    broken.extend(check_reference(variant).err().map(|error| format!("{name}: {error}")));
    broken.extend(check_choice(axis, variant).err().map(|error| format!("{name}: {error}")));
    all_kept(&broken)
}

/// Joins descriptions of violated invariants to one error. Returns `Ok` if there are no descriptions.
///
/// # Errors
/// Returns all descriptions, one per line.
pub fn all_kept(broken: &[String]) -> Result<(), String> {
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

fn check_reference<T: ?Sized>(variant: &Variant<T>) -> Result<(), String> {
    let reference: Table = toml::from_str(variant.reference)
        .map_err(|e| format!("the reference text of the parameters is not valid TOML: {e}"))?;
    let (named, defaults) = (reference.clone(), variant.defaults());
    let normal = variant.normalize(reference).map_err(|e| {
        format!("the variant rejects the values in the reference text of its own parameters: {e}")
    })?;
    if normal != defaults || named.len() != defaults.len() {
        return Err(format!(
            "the reference text has the parameters {{ {named} }}, but the default parameters are {{ \
             {defaults} }}; both must be equal"
        ));
    }
    Ok(())
}

fn check_choice<T: ?Sized>(axis: &'static str, variant: &Variant<T>) -> Result<(), String> {
    let choice = variant.choose(axis, Table::new(), &[]).map_err(|e| e.to_string())?;
    let (kind, given) = label::parse(&choice.label())?;
    if kind != variant.kind || !given.is_empty() {
        return Err(format!(
            "the label of a variant with default parameters is \"{}\"; it must be only the name of the variant",
            choice.label()
        ));
    }
    if variant.choose(axis, choice.params().clone(), &[]).as_ref() != Ok(&choice) {
        return Err("the TOML of the default parameters does not parse to the default parameters".to_owned());
    }
    let misspelt = Table::from_iter([("no_such_parameter".to_owned(), Value::Integer(1))]);
    match variant.choose(axis, misspelt, &[]) {
        Err(error) if error.message.contains("no_such_parameter") => Ok(()),
        Err(error) => {
            Err(format!("the error for an unknown parameter does not name this parameter: {error}"))
        }
        Ok(_) => Err("the variant accepts an unknown parameter; it must return an error".to_owned()),
    }
}
