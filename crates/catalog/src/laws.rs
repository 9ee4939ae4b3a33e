//! The laws every catalog keeps, as functions that an axis' tests call.

use std::collections::HashSet;

use toml::{Table, Value};

use crate::{Catalog, Variant, label};

/// An invariant of an axis: its name, and a check that says what broke.
pub type Invariant<S> = (&'static str, fn(&S) -> Result<(), String>);

/// Succeeds if `holds`; otherwise fails with the text that `otherwise` makes.
///
/// # Errors
/// The text of `otherwise`.
pub fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Checks a variant against the invariants of its axis: those of [`check_variant`], and `invariants` for what the
/// variant builds from its defaults. `subject` makes of the component what the checks take.
///
/// # Errors
/// One line per broken invariant.
pub fn check_component<T: ?Sized, S>(
    axis: &'static str,
    variant: &Variant<T>,
    subject: impl FnOnce(Box<T>) -> S,
    invariants: &[Invariant<S>],
) -> Result<(), String> {
    let mut broken: Vec<String> = check_variant(axis, variant).err().into_iter().collect();
    // Where the defaults do not build, `check_variant` has reported it.
    if let Ok(component) = variant.build_of(axis, &variant.default_choice()) {
        broken.extend(check_invariants(variant.kind, &subject(component), invariants).err());
    }
    all_kept(&broken)
}

/// Checks `subject` against all `invariants`.
///
/// # Errors
/// One line per broken invariant: `name: "invariant": what broke`.
pub fn check_invariants<S>(name: &str, subject: &S, invariants: &[Invariant<S>]) -> Result<(), String> {
    let broken = invariants.iter().filter_map(|(invariant, check)| {
        let what = check(subject).err()?;
        Some(format!("{name}: \"{invariant}\": {what}"))
    });
    all_kept(&broken.collect::<Vec<_>>())
}

/// Checks a whole catalog and reports every law that is broken: names are unique, and every variant keeps the laws of
/// [`check_variant`].
///
/// # Errors
/// One line per broken law.
pub fn check<T: ?Sized>(catalog: &Catalog<T>) -> Result<(), String> {
    let mut broken = Vec::new();
    let mut seen = HashSet::new();
    if catalog.variants().is_empty() {
        broken.push(format!("{}: the catalog is empty", catalog.axis));
    }
    for variant in catalog.variants() {
        if !seen.insert(variant.kind) {
            broken.push(format!("{}: {}: the name stands twice", catalog.axis, variant.kind));
        }
        broken.extend(check_variant(catalog.axis, variant).err());
    }
    all_kept(&broken)
}

/// Checks what every variant of any axis owes its users:
///
/// * the name consists of lower-case words joined by hyphens, and the summary is one line without a full stop;
/// * the reference text holds exactly the default parameters;
/// * it can be built from its defaults, rejects a parameter it does not have, and its label and its TOML read back
///   as the same choice.
///
/// # Errors
/// One line per broken law.
pub fn check_variant<T: ?Sized>(axis: &'static str, variant: &Variant<T>) -> Result<(), String> {
    let mut broken = Vec::new();
    let name = format!("{axis}: {}", variant.kind);
    if variant.kind.is_empty()
        || !variant.kind.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    {
        broken.push(format!("{name}: a name is lower-case words joined by hyphens"));
    }
    if variant.summary.is_empty() || variant.summary.contains('\n') || variant.summary.ends_with('.') {
        broken.push(format!("{name}: the summary is one line without a full stop"));
    }
    broken.extend(check_reference(variant).err().map(|error| format!("{name}: {error}")));
    broken.extend(check_choice(axis, variant).err().map(|error| format!("{name}: {error}")));
    all_kept(&broken)
}

/// Joins what broke into one error.
///
/// # Errors
/// All of `broken`, one line each, unless it is empty.
pub fn all_kept(broken: &[String]) -> Result<(), String> {
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

fn check_reference<T: ?Sized>(variant: &Variant<T>) -> Result<(), String> {
    let reference: Table =
        toml::from_str(variant.reference).map_err(|e| format!("the reference is no TOML: {e}"))?;
    let (named, defaults) = (reference.clone(), variant.defaults());
    let normal = variant.normalize(reference).map_err(|e| format!("the reference is refused: {e}"))?;
    if normal != defaults || named.len() != defaults.len() {
        return Err(format!("the reference says {{ {named} }}, the defaults are {{ {defaults} }}"));
    }
    Ok(())
}

fn check_choice<T: ?Sized>(axis: &'static str, variant: &Variant<T>) -> Result<(), String> {
    let choice = variant.choose(axis, Table::new(), &[]).map_err(|e| e.to_string())?;
    let (kind, given) = label::parse(&choice.label())?;
    if kind != variant.kind || !given.is_empty() {
        return Err(format!("the label of the defaults is \"{}\"", choice.label()));
    }
    if variant.choose(axis, choice.params().clone(), &[]).as_ref() != Ok(&choice) {
        return Err("its TOML does not read back".to_owned());
    }
    let misspelt = Table::from_iter([("no_such_parameter".to_owned(), Value::Integer(1))]);
    match variant.choose(axis, misspelt, &[]) {
        Err(error) if error.message.contains("no_such_parameter") => Ok(()),
        Err(error) => Err(format!("a misspelt parameter is refused without being named: {error}")),
        Ok(_) => Err("a misspelt parameter is accepted".to_owned()),
    }
}
