//! Tests of rules for this repository that the compiler does not check: dependencies between crates and between files,
//! lengths of files, and dead links.

mod circles;
mod pages;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

/// Maximum number of lines of a source file.
const MOST_LINES: usize = 700;

/// Folders that are not part of the repository. Folders with these names in `docs` are part of the repository.
const FOREIGN: [&str; 4] = ["target", "results", "plots", "mutants.out"];

/// Returns the allowed dependencies: for each crate, the other crates of this repository on which it may depend. The
/// diagram in ARCHITECTURE.md shows the same dependencies.
fn arrows() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let axes = ["memtable", "bloom", "fence", "compaction", "cache", "compression"];
    let ground: &[&str] = &["types", "catalog"];
    let below_axis: &[&str] = &["types", "catalog", "prefetch"];
    let below_tree = [&axes[..], &["storage", "prefetch"], ground].concat();
    let below_subject = [&below_tree[..], &["results", "measure", "theory", "workload", "tree"]].concat();
    let stores = ["types", "catalog", "results", "measure", "workload", "tree", "engines"];
    let experiment = [&stores[..], &["bloom", "subject", "plot", "report", "verdict"]].concat();
    let components = ["bloom", "compaction", "cache", "compression", "storage", "theory"];
    let trial = [&stores[..], &["subject", "trace"], &components].concat();
    let run =
        [&stores[..], &["storage", "subject", "plot", "verdict", "experiment", "trial", "page"]].concat();
    let simulation =
        ["compaction", "storage", "theory", "engines", "experiment", "workload", "results", "tree"];
    let simulation = [&simulation[..], ground].concat();
    let tune = [&simulation[..], &["cache", "plot", "run", "simulation"]].concat();
    let all = [
        &below_subject[..],
        &experiment,
        &[
            "torture",
            "server",
            "trace",
            "experiment",
            "trial",
            "run",
            "study",
            "page",
            "site",
            "simulation",
            "tune",
        ],
    ]
    .concat();
    let everything = [&all[..], &["harness"]].concat();
    let mut arrows = BTreeMap::from([
        ("types", &[][..]),
        ("results", &["types"]),
        ("prefetch", &[]),
        ("catalog", &["types"]),
        ("storage", ground),
        ("workload", ground),
        ("measure", &["results", "types"]),
        ("theory", &["compaction", "types", "catalog"]),
        ("trace", &["types", "catalog", "workload"]),
        ("plot", &["results", "types", "catalog", "measure"]),
        ("report", &["results", "plot", "measure", "theory", "types"]),
        ("verdict", &["results", "plot", "measure", "types"]),
        ("page", &["results", "plot", "measure", "verdict", "types"]),
        ("site", &["results", "plot", "verdict", "page", "catalog", "types"]),
        ("tree", &below_tree),
        ("server", &["tree", "workload", "types"]),
        ("leveldb", &["cache", "experiment", "storage", "study", "tree", "types"]),
        ("torture", &["tree", "storage", "types"]),
        ("engines", &["types", "catalog", "workload", "results", "tree"]),
        ("study", &["bloom", "cache", "compression", "fence", "memtable", "tree", "types", "catalog"]),
        ("interleave", ground),
        ("subject", &below_subject),
        ("experiment", &experiment),
        ("trial", &trial),
        ("run", &run),
        ("simulation", &simulation),
        ("tune", &tune),
        ("harness", &all),
        ("fuzz", &everything),
    ]);
    arrows.extend(axes.map(|axis| (axis, below_axis)));
    arrows.into_iter().map(|(name, below)| (name, below.iter().copied().collect())).collect()
}

fn repository() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// Returns the paths of all files of the repository in `folder` and its subfolders, relative to the repository.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(repository().join(folder)).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = folder.join(&name);
        match entry.file_type().unwrap().is_dir() {
            true if name.starts_with('.') => {}
            true if FOREIGN.contains(&name.as_str()) && folder != Path::new("docs") => {}
            true => files.extend(files_below(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

fn with_ending(endings: &[&str]) -> Vec<PathBuf> {
    let ends = |path: &PathBuf| path.extension().is_some_and(|found| endings.iter().any(|one| found == *one));
    files_below(Path::new("")).into_iter().filter(ends).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
fn none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let mut found = Vec::new();
    for path in with_ending(&["rs"]) {
        let text = read(&path);
        let lines = text.lines().count();
        if lines > MOST_LINES {
            found.push(format!("{} has {lines} lines, {MOST_LINES} is the most", path.display()));
        }
        if !text.starts_with("//! ") {
            found.push(format!("{}:1 does not begin with what the file is: //! …", path.display()));
        }
    }
    none("too long, or without a head", &found);
}

#[test]
fn nothing_is_left_for_later_and_no_path_is_of_one_machine() {
    // Written in two parts, so that this file does not find itself.
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("dbg", "!("),
        concat!("unimplemented", "!("),
        concat!("todo", "!("),
        concat!("/wo", "rk/"),
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
    ];
    let mut found = Vec::new();
    for path in with_ending(&["rs", "toml", "md", "run"]) {
        for (number, line) in read(&path).lines().enumerate() {
            let named = words.iter().filter(|word| line.contains(*word));
            found.extend(named.map(|word| format!("{}:{}: {word}", path.display(), number + 1)));
        }
    }
    none("what does not belong here", &found);
}

/// Tests that a `mod` line refers to every source file that is not a root. A file without a `mod` line is neither
/// compiled nor tested.
#[test]
fn every_source_file_is_part_of_a_crate() {
    let files: BTreeSet<PathBuf> = with_ending(&["rs"]).into_iter().collect();
    let mut reached: BTreeSet<PathBuf> = BTreeSet::new();
    let mut to_read: Vec<PathBuf> = files.iter().filter(|path| is_root(path)).cloned().collect();
    while let Some(path) = to_read.pop() {
        for module in read(&path).lines().filter_map(module_of) {
            let folder = folder_of_modules(&path);
            let places = [folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")];
            to_read.extend(places.into_iter().filter(|place| files.contains(place)));
        }
        reached.insert(path);
    }
    let lost: Vec<String> = files.difference(&reached).map(|path| path.display().to_string()).collect();
    none("files without a `mod` line", &lost);
}

/// Returns whether a file is the root of a library, a program, a test, a bench or an example.
fn is_root(path: &Path) -> bool {
    let parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap()).collect();
    match parts[..] {
        ["crates", _, "build.rs"] | ["crates", _, "src", "lib.rs" | "main.rs"] => true,
        ["crates", _, "tests" | "benches" | "examples", ..] => {
            parts.len() == 4 || (parts.len() == 5 && parts[4] == "main.rs")
        }
        _ => false,
    }
}

/// Returns the name of the module that a line declares in a separate file.
fn module_of(line: &str) -> Option<&str> {
    let line = line.trim().strip_suffix(';')?;
    let (before, name) = line.rsplit_once("mod ")?;
    (before.is_empty() || before.starts_with("pub")).then_some(name)
}

/// Returns the folder that contains the modules of a file.
fn folder_of_modules(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap();
    let own = path.file_stem().is_some_and(|stem| ["lib", "main", "mod"].iter().any(|name| stem == *name));
    if own || is_root(path) { folder.to_owned() } else { path.with_extension("") }
}

#[test]
fn arrows_between_crates_point_down() {
    let arrows = arrows();
    let mut wrong = Vec::new();
    for manifest in files_below(Path::new("crates")).into_iter().filter(|path| path.ends_with("Cargo.toml")) {
        let name = manifest.iter().nth(1).unwrap().to_str().unwrap();
        let Some(below) = arrows.get(name) else {
            wrong.push(format!("{name} is new: say here and in ARCHITECTURE.md whom it may know"));
            continue;
        };
        let table: Table = read(&manifest).parse().unwrap();
        let dependencies = table.get("dependencies").and_then(toml::Value::as_table);
        let names: Vec<&str> = dependencies.into_iter().flat_map(Table::keys).map(String::as_str).collect();
        let ours = names.iter().filter(|dependency| arrows.contains_key(*dependency));
        wrong.extend(
            ours.filter(|one| !below.contains(*one)).map(|one| format!("{name} must not know {one}")),
        );
        if name == "types" && !names.is_empty() {
            wrong.push(format!("types stands on the standard library alone, not on {}", names.join(", ")));
        }
    }
    none("arrows that do not point down", &wrong);
    let text = read(Path::new("ARCHITECTURE.md"));
    let undrawn = arrows.keys().filter(|name| !text.contains(&format!("`{name}`")));
    none("crates that ARCHITECTURE.md does not name", &undrawn.map(ToString::to_string).collect::<Vec<_>>());
}

/// Tests that the crates that only read results depend neither on the tree nor on any engine.
#[test]
fn tools_over_results_build_without_the_tree() {
    let arrows = arrows();
    for tool in ["plot", "report", "verdict", "page"] {
        let (mut below, mut to_visit) = (BTreeSet::new(), vec![tool]);
        while let Some(name) = to_visit.pop() {
            to_visit.extend(arrows[name].iter().filter(|other| below.insert(**other)));
        }
        let found = ["tree", "engines", "storage"].iter().filter(|name| below.contains(*name));
        none(&format!("crates below {tool}"), &found.map(ToString::to_string).collect::<Vec<_>>());
    }
}

#[test]
fn arrows_between_files_point_down() {
    let mut found = Vec::new();
    for root in with_ending(&["rs"]).into_iter().filter(|path| path.ends_with("src/lib.rs")) {
        let text = |path: &Path| fs::read_to_string(repository().join(path)).ok();
        let arrows = circles::arrows(&root, &text);
        let circles = circles::circles(&arrows);
        found.extend(circles.iter().map(|circle| circles::in_words(&arrows, circle)));
    }
    none("circles of files", &found);
}

/// Crates that are tools of this repository and are not published.
const UNPUBLISHED: [&str; 2] = ["fuzz", "interleave"];

/// Returns the names of the types and traits that a crate exports from its own files.
fn exports(name: &str) -> BTreeSet<String> {
    let folder = repository().join("crates").join(name).join("src");
    let library = read(&folder.join("lib.rs"));
    let is_type = |word: &&str| word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase);
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(is_type).map(str::to_owned).collect()
    };
    let mut found = BTreeSet::new();
    for statement in library.split("\npub use ").skip(1) {
        let tree = statement.split(';').next().unwrap_or_default();
        let module = tree.trim_start_matches("self::").split("::").next().unwrap_or_default();
        let is_own = [format!("{module}.rs"), format!("{module}/mod.rs")]
            .iter()
            .any(|file| folder.join(file).exists());
        if is_own {
            // `A as B` exports B.
            found.extend(
                tree.split(',').flat_map(|path| words(path.rsplit(" as ").next().unwrap_or_default())),
            );
        }
    }
    for kind in ["struct", "enum", "trait", "type"] {
        let start = format!("\npub {kind} ");
        let items = library.split(&start).skip(1);
        found.extend(items.filter_map(|item| words(item.lines().next()?).pop_first()));
    }
    found
}

/// Tests that the engine contains no unsafe code, as `experiments/features.csv` states for byron. The only exception is
/// the comparison of fingerprints, because its CPU instructions have no safe interface.
#[test]
fn of_the_tree_only_the_search_of_fingerprints_has_unsafe_code() {
    let files =
        ["tree", "compaction", "types"].map(|name| files_below(&repository().join("crates").join(name)));
    let has_unsafe = |path: &&PathBuf| {
        path.extension().is_some_and(|ending| ending == "rs")
            && source::read(&read(path)).words.contains("unsafe")
    };
    let files: Vec<PathBuf> = files.concat().iter().filter(has_unsafe).cloned().collect();
    assert_eq!(files, [repository().join("crates/tree/src/table/fingerprints.rs")]);
}

#[test]
fn an_exported_type_has_one_meaning_in_all_crates() {
    let mut owners: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in arrows().into_keys() {
        exports(name).into_iter().for_each(|export| owners.entry(export).or_default().push(name));
    }
    assert!(owners.len() > 400, "{} exports", owners.len());
    let shared = owners.iter().filter(|(_, crates)| crates.len() > 1);
    none(
        "name of several types",
        &shared.map(|(name, crates)| format!("{name}: {crates:?}")).collect::<Vec<_>>(),
    );
}

#[test]
fn every_crate_can_be_published() {
    let mut wrong = Vec::new();
    for manifest in files_below(Path::new("crates")).into_iter().filter(|path| path.ends_with("Cargo.toml")) {
        let folder = manifest.parent().unwrap();
        let table: Table = read(&manifest).parse().unwrap();
        let package = &table["package"];
        let description = package["description"].as_str().unwrap();
        let readme = fs::read_to_string(repository().join(folder).join("README.md")).unwrap_or_default();
        let head = format!("# {}\n\n{description}\n", package["name"].as_str().unwrap());
        if !readme.starts_with(&head) {
            wrong.push(format!("{}/README.md begins with the name and the description", folder.display()));
        }
        let is_tool = package.get("publish").and_then(toml::Value::as_bool) == Some(false);
        if is_tool != UNPUBLISHED.iter().any(|name| folder.ends_with(name)) {
            wrong.push(format!("{}: publish = false is for {}", manifest.display(), UNPUBLISHED.join(", ")));
        }
        let sources = files_below(&folder.join("src")).into_iter();
        for source in sources.filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
            wrong.extend(
                included(&source)
                    .filter(|file| !is_tool && !file.starts_with(folder))
                    .map(|file| format!("{} reads {} of another crate", source.display(), file.display())),
            );
        }
    }
    none("what a package would miss", &wrong);
}

/// Returns the files whose contents a source file includes. If the code assembles a path from several parts, the result
/// contains the part before the first gap.
fn included(source: &Path) -> impl Iterator<Item = PathBuf> {
    let text = read(source);
    let mut found = Vec::new();
    for start in ["include_str!(", "include_bytes!(", "include!(", "#[path = "] {
        for after in text.split(start).skip(1) {
            let path = after.split('"').nth(1).unwrap_or_default();
            let mut file = source.parent().unwrap().to_owned();
            for part in Path::new(path).components() {
                match part {
                    std::path::Component::ParentDir => drop(file.pop()),
                    part => file.push(part),
                }
            }
            found.push(file);
        }
    }
    found.into_iter()
}

#[test]
fn links_and_paths_in_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for page in with_ending(&["md"]) {
        let text = read(&page);
        let folder = page.parent().unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            let elsewhere = file.is_empty() || file.contains("://");
            if !elsewhere && !repository().join(folder).join(file).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
        let named = text.split('`').skip(1).step_by(2).filter(|named| is_path_of_source(named));
        broken.extend(
            named
                .filter(|path| !["", "crates"].iter().any(|root| repository().join(root).join(path).exists()))
                .map(|path| format!("{}: `{path}`", page.display())),
        );
    }
    none("links that lead nowhere", &broken);
}

/// Returns whether a quoted word is the path of a source file, such as `bloom/src/filter.rs`.
fn is_path_of_source(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    word.contains("/src/")
        && Path::new(word).extension().is_some_and(|ending| ending == "rs")
        && word.chars().all(is_plain)
}
