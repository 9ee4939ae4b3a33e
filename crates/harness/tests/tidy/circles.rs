//! Finds dependency cycles between the files of a crate. Nobody can understand one file of a cycle without the other
//! files.
//!
//! A file depends on another file if its code names an item that the other file defines. Re-exports are followed to the
//! definition. The line `mod name;` and a re-export are not dependencies. The search does not detect dependencies
//! through methods, or through implementations of a trait in other files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::source::{self, Module};

/// The dependencies of each file: the other files, and the names that the file uses from each of these files.
pub(crate) type Arrows = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// A module of a crate, with the file that contains the module.
struct Placed {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    contents: Module,
}

/// All modules of a crate. The first module is the root of the crate.
struct Crate {
    modules: Vec<Placed>,
}

/// Returns the dependencies between the files of the crate whose root is the file `root`. `read` returns the text of a
/// file, if the file exists.
pub(crate) fn arrows(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Arrows {
    let mut found = Crate { modules: Vec::new() };
    let contents = source::read(&read(root).unwrap_or_default());
    let folder = root.parent().unwrap_or(Path::new("")).to_owned();
    found.place(contents, root, &folder, None, read);
    found.arrows()
}

/// Returns the dependency cycles. A cycle is a set of at least two files that all depend on each other.
pub(crate) fn circles(arrows: &Arrows) -> Vec<BTreeSet<PathBuf>> {
    let reached: BTreeMap<&Path, BTreeSet<&Path>> =
        arrows.keys().map(|file| (file.as_path(), reached_from(arrows, file))).collect();
    let leads = |from: &Path, to: &Path| reached.get(from).is_some_and(|files| files.contains(to));
    let mut circles = BTreeSet::new();
    for file in arrows.keys().filter(|file| leads(file, file)) {
        let circle: BTreeSet<PathBuf> =
            arrows.keys().filter(|other| leads(file, other) && leads(other, file)).cloned().collect();
        circles.insert(circle);
    }
    circles.into_iter().collect()
}

/// Returns a text with the dependencies of a cycle, each with the names that cause the dependency.
pub(crate) fn in_words(arrows: &Arrows, circle: &BTreeSet<PathBuf>) -> String {
    let mut text = format!("a circle of {} files:", circle.len());
    for from in circle {
        for (to, names) in arrows[from].iter().filter(|(to, _)| circle.contains(*to)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let _ = write!(text, "\n    {} -> {}: {}", from.display(), to.display(), names.join(", "));
        }
    }
    text
}

fn reached_from<'a>(arrows: &'a Arrows, file: &Path) -> BTreeSet<&'a Path> {
    let mut reached = BTreeSet::new();
    let mut to_visit = vec![file];
    while let Some(next) = to_visit.pop() {
        for to in arrows.get(next).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(to.as_path()) {
                to_visit.push(to);
            }
        }
    }
    reached
}

impl Crate {
    /// Adds a module and all modules inside it. `folder` contains the files of these inner modules.
    fn place(
        &mut self,
        mut contents: Module,
        file: &Path,
        folder: &Path,
        parent: Option<usize>,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> usize {
        let index = self.modules.len();
        let (inline, files) = (std::mem::take(&mut contents.inline), std::mem::take(&mut contents.files));
        self.modules.push(Placed { file: file.to_owned(), parent, children: BTreeMap::new(), contents });
        for (name, inner) in inline {
            let child = self.place(inner, file, &folder.join(&name), Some(index), read);
            self.modules[index].children.insert(name, child);
        }
        for (name, path) in files {
            let beside = file.parent().unwrap_or(Path::new(""));
            let places = match path {
                Some(path) => vec![beside.join(path)],
                None => vec![folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")],
            };
            let found = places.into_iter().find_map(|place| Some((read(&place)?, place)));
            let Some((text, place)) = found else { continue };
            let child = self.place(source::read(&text), &place, &folder.join(&name), Some(index), read);
            self.modules[index].children.insert(name, child);
        }
        index
    }

    fn arrows(&self) -> Arrows {
        let mut macros = BTreeMap::new();
        for module in &self.modules {
            macros.extend(module.contents.macros.iter().map(|name| (name.as_str(), &module.file)));
        }
        let mut arrows = Arrows::new();
        for (index, module) in self.modules.iter().enumerate() {
            let from = arrows.entry(module.file.clone()).or_default();
            let contents = &module.contents;
            let imports =
                contents.imports.iter().filter(|import| !import.is_public).map(|import| &import.path);
            for path in imports.chain(&contents.paths) {
                if let Some((file, name)) = self.definition(index, path, 0)
                    && *file != module.file
                {
                    from.entry(file.clone()).or_default().insert(name);
                }
            }
            let has_globs = contents.imports.iter().any(|import| import.name == "*");
            for word in contents.words.iter().filter(|word| has_globs && !contents.items.contains(*word)) {
                if let Some((file, name)) = self.by_globs(index, std::slice::from_ref(word), 0)
                    && *file != module.file
                {
                    from.entry(file.clone()).or_default().insert(name);
                }
            }
            for name in &contents.calls {
                if let Some(file) = macros.get(name.as_str()).filter(|file| ***file != module.file) {
                    from.entry((*file).clone()).or_default().insert(format!("{name}!"));
                }
            }
        }
        arrows
    }

    /// Returns the file that defines the item that `path` names in a module, and the name of the item. Returns `None`
    /// for items of other crates, and for modules.
    fn definition(&self, from: usize, path: &[String], hops: usize) -> Option<(&PathBuf, String)> {
        // Longer than any chain of re-exports; imports of globs can lead in circles.
        const MOST_HOPS: usize = 16;
        if hops > MOST_HOPS {
            return None;
        }
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.inside(0, rest, hops),
            "self" => self.inside(from, rest, hops),
            "super" => self.inside(self.modules[from].parent?, rest, hops),
            // A name of another crate is none that the module has.
            _ => self.inside(from, path, hops),
        }
    }

    fn inside(&self, module: usize, path: &[String], hops: usize) -> Option<(&PathBuf, String)> {
        let placed = &self.modules[module];
        let (name, rest) = path.split_first()?;
        if name == "super" {
            return self.inside(placed.parent?, rest, hops);
        }
        if let Some(child) = placed.children.get(name)
            && let Some(found) = self.inside(*child, rest, hops)
        {
            return Some(found);
        }
        if placed.contents.items.contains(name) {
            return Some((&placed.file, name.clone()));
        }
        for import in placed.contents.imports.iter().filter(|import| import.name == *name) {
            // An import of a single name would lead back here.
            let is_of_itself = import.path.first() == Some(name);
            let whole: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            if !is_of_itself && let Some(found) = self.definition(module, &whole, hops + 1) {
                return Some(found);
            }
        }
        self.by_globs(module, path, hops)
    }

    /// Returns the same as [`definition`](Self::definition), for a name that a glob import adds to the module.
    fn by_globs(&self, module: usize, path: &[String], hops: usize) -> Option<(&PathBuf, String)> {
        self.modules[module].contents.imports.iter().filter(|import| import.name == "*").find_map(|import| {
            let whole: Vec<String> = import.path.iter().chain(path).cloned().collect();
            let is_local = matches!(import.path.first()?.as_str(), "crate" | "self" | "super");
            if is_local { self.definition(module, &whole, hops + 1) } else { None }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the dependency cycles of a crate with these files, as text.
    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        let arrows = arrows(Path::new("src/lib.rs"), &read);
        circles(&arrows).iter().map(|circle| in_words(&arrows, circle)).collect()
    }

    /// The root file of a crate with three modules. One module is in a folder, and the root re-exports a name.
    const ROOT: (&str, &str) = ("src/lib.rs", "mod block;\nmod format;\nmod tail;\npub use block::Block;\n");

    #[test]
    fn a_planted_circle_is_found_whatever_the_spelling() {
        let plants = [
            "use crate::block::Block;",
            "use crate::Block;",
            "use super::{tail::Tail, block::Block as B};",
            "use super::*;\nfn f(_: &Block) {}",
            "fn f(_: crate::block::Block) {}",
            "use crate::block;\nfn f() { block::Block::new() }",
            "fn f() { { use crate::Block; } }",
        ];
        for plant in plants {
            let block = ("src/block.rs", "use crate::format::Format;\npub struct Block(Format);");
            let format = format!("{plant}\npub(crate) struct Format;");
            let tail = ("src/tail.rs", "pub struct Tail;");
            let found = circles_of(&[ROOT, block, ("src/format/mod.rs", &format), tail]);
            assert_eq!(found.len(), 1, "{plant}");
            assert!(found[0].contains("src/format/mod.rs -> src/block.rs: Block"), "{}", found[0]);
        }
    }

    #[test]
    fn macros_tie_files_too() {
        let block = ("src/block.rs", "macro_rules! declare { () => {} }\nuse crate::format::FORMAT;");
        let format = ("src/format.rs", "declare!();\npub(crate) const FORMAT: u8 = 1;");
        assert_eq!(circles_of(&[ROOT, block, format]).len(), 1);
    }

    #[test]
    fn comments_tests_strings_and_re_exports_are_no_arrows() {
        let block =
            ("src/block.rs", "mod part;\npub use part::Part;\npub struct Block;\nuse crate::format::F;");
        let part = ("src/block/part.rs", "pub struct Part;");
        let others = [
            "// crate::block::Block\n/* use crate::block::Block; /* nested */ */",
            "#[cfg(test)]\nmod tests { use crate::block::Block; }",
            "#[cfg(test)]\nuse crate::block::Block;",
            "const A: &str = \"crate::block::Block\"; const B: &str = r#\"\" crate::block::Block\"#;",
            "use crate::block::Part;",
            "fn f<'a>(_: &'a u8) -> char { '\"' }",
        ];
        for other in others {
            let format = format!("{other}\npub(crate) struct F;");
            let found = circles_of(&[ROOT, block, part, ("src/format.rs", &format)]);
            assert!(found.is_empty(), "{other}: {found:?}");
        }
    }
}
