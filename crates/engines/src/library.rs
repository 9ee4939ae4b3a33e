//! Finds the shared libraries of other engines, and examines their files without running their code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use memchr::memmem;
use object::{Architecture, Object, ObjectSection, ObjectSymbol};

use crate::engine::{Identity, Missing};

/// The description of an engine's shared library: how to find the file, and how to recognize a slow build.
pub(crate) struct Wanted {
    /// The file name of the library, such as `librocksdb.so`. A version may follow, as in `librocksdb.so.11`.
    pub(crate) name: &'static str,
    /// The environment variable with the path or the file name of the library.
    pub(crate) variable: &'static str,
    /// Instructions to get the library.
    pub(crate) advice: &'static str,
    /// The names of the functions that the adapter calls. A library without one of these functions is rejected.
    pub(crate) required: &'static [&'static str],
    /// The C++ namespace of the engine's functions.
    pub(crate) namespace: &'static str,
    /// Whether the engine normally computes checksums with the CRC instruction when it is built for this CPU.
    pub(crate) has_fast_checksums: bool,
}

/// The names of the function that a failing assertion calls, one for each C library.
const ASSERTION_HANDLERS: [&str; 3] = ["__assert_fail", "__assert_rtn", "__assert"];

/// The maximum number of function signatures in the strings of a library without assertions. Such a library has only a
/// few signatures, in its error messages. A library with assertions has many more, because each failing assertion
/// prints the signature of its function.
const ASSERTING_FUNCTIONS: usize = 20;

/// Compiler flags that indicate an optimized build.
const OPTIMISED: [&str; 5] = ["-O1", "-O2", "-O3", "-Os", "-Ofast"];

/// A library that this process has examined: the environment variable of its engine, its path, its size in bytes, and
/// the time of its last change.
type Examined = (&'static str, PathBuf, u64, SystemTime);

/// A cache of the identities of all examined libraries. Every load of an experiment identifies the engine of each
/// configuration, and the examination of a library is slow, because it searches the whole machine code.
static IDENTITIES: Mutex<BTreeMap<Examined, Identity>> = Mutex::new(BTreeMap::new());

impl Wanted {
    /// Whether the user names a library, by `given` or by the environment variable.
    pub(crate) fn is_named(&self, given: &str) -> bool {
        !given.is_empty() || std::env::var(self.variable).is_ok_and(|path| !path.is_empty())
    }

    /// Finds the file of the library. `given` is a path, or a file name to search for in the library folders. If
    /// `given` is empty, the function uses the environment variable of the engine, or else the default file name.
    ///
    /// # Errors
    /// No library was found, or the path is a symbolic link to a missing file. The error lists the searched folders and
    /// the instructions to get the library.
    pub(crate) fn find(&self, given: &str) -> Result<PathBuf, Missing> {
        let named = match given {
            "" => std::env::var(self.variable).ok().filter(|path| !path.is_empty()),
            given => Some(given.to_owned()),
        };
        let missing = |names: &str, searched: String| Missing::NoLibrary {
            names: names.to_owned(),
            searched,
            advice: self.advice.to_owned(),
        };
        let name = match &named {
            Some(path) if path.contains('/') => {
                let path = Path::new(path);
                let parent = path.parent().unwrap_or(Path::new("")).display().to_string();
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                return self.followed(path).unwrap_or_else(|| Err(missing(&file, parent)));
            }
            Some(name) => name,
            None => self.name,
        };
        let places = places();
        let searched =
            || places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ");
        let found = places.iter().find_map(|place| in_place(place, name));
        found.and_then(|path| self.followed(&path)).unwrap_or_else(|| Err(missing(name, searched())))
    }

    /// Follows the symbolic links of a path. Returns `None` if the path does not exist, and an error if a link points
    /// to a missing file.
    fn followed(&self, path: &Path) -> Option<Result<PathBuf, Missing>> {
        if let Ok(whole) = std::fs::canonicalize(path) {
            return Some(Ok(whole));
        }
        let target = std::fs::read_link(path).ok()?;
        let reason = format!(
            "the symbolic link leads to {target}, which does not exist; correct the link, or {advice}",
            target = target.display(),
            advice = self.advice
        );
        Some(Err(Missing::NotThis { path: path.to_owned(), reason }))
    }

    /// Identifies the library from its file. `given` is a path or a file name, or empty (see [`find`](Self::find)).
    ///
    /// # Errors
    /// The file does not exist, is not a shared library, or lacks a function that the adapter calls.
    pub(crate) fn identify(&self, given: &str) -> Result<Identity, Missing> {
        let path = self.find(given)?;
        let unreadable =
            |error| Missing::NotThis { path: path.clone(), reason: format!("{error}; {}", self.advice) };
        let metadata = std::fs::metadata(&path).map_err(unreadable)?;
        let changed = metadata.modified().map_err(unreadable)?;
        let examined = (self.variable, path.clone(), metadata.len(), changed);
        let identities = || IDENTITIES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = identities().get(&examined) {
            return Ok(known.clone());
        }
        let bytes = std::fs::read(&path).map_err(unreadable)?;
        let identity = self.examine(path, &bytes)?;
        identities().insert(examined, identity.clone());
        Ok(identity)
    }

    /// Identifies the library at `path` from the content of its file.
    ///
    /// # Errors
    /// The file is not a shared library, or lacks a function that the adapter calls.
    fn examine(&self, path: PathBuf, bytes: &[u8]) -> Result<Identity, Missing> {
        let not_this = |reason: String| Missing::NotThis { path: path.clone(), reason };
        let file = object::File::parse(bytes).map_err(|error| {
            not_this(format!("the file is not a shared library: {error}; {advice}", advice = self.advice))
        })?;
        let (mut defined, mut asserts) = (std::collections::HashSet::new(), false);
        for symbol in file.dynamic_symbols() {
            let Ok(name) = symbol.name() else { continue };
            match symbol.is_undefined() {
                true => asserts |= ASSERTION_HANDLERS.contains(&name),
                false => _ = defined.insert(name),
            }
        }
        if let Some(lacking) = self.required.iter().find(|name| !defined.contains(**name)) {
            return Err(not_this(format!(
                "the library does not export the function {lacking}; {advice}",
                advice = self.advice
            )));
        }
        let doubts = self.doubts(&file, asserts).into_iter().map(str::to_owned).collect();
        Ok(Identity { version: version_in(&path), library: Some(path), doubts })
    }

    /// Returns the reasons why measured times of a library are doubtful. `asserts` is true if the library imports an
    /// assertion handler, such as `__assert_fail`.
    fn doubts(&self, file: &object::File<'_>, asserts: bool) -> Vec<&'static str> {
        let data_of = |name| file.section_by_name(name).and_then(|section| section.data().ok());
        let mut doubts = Vec::new();
        if asserts {
            doubts.push(match names_functions(data_of(".rodata").unwrap_or_default(), self.namespace) {
                true => "the library is built with assertions, so it is slower than a release build",
                false => {
                    "the codecs inside the library are built with assertions, so they are slower than in a release build"
                }
            });
        }
        if data_of(".debug_str").is_some_and(is_unoptimised) {
            doubts.push(
                "the library is built without optimization, so its measured times are not representative",
            );
        }
        let is_slow = self.has_fast_checksums
            && file.architecture() == Architecture::X86_64
            && data_of(".text").is_some_and(|code| !has_checksum_instruction(code));
        if is_slow {
            doubts
                .push("the library computes checksums without the CRC instruction of the CPU; build the library for this CPU");
        }
        doubts
    }
}

/// Returns whether the strings of a library contain many function signatures of a C++ namespace, which shows that the
/// engine was built with assertions. An imported assertion handler does not show this, because codecs inside the
/// library import the handler, too.
fn names_functions(strings: &[u8], namespace: &str) -> bool {
    let is_signature = |text: &&[u8]| {
        let text = String::from_utf8_lossy(text);
        text.split_once(namespace).is_some_and(|(_, rest)| rest.contains('('))
    };
    strings.split(|byte| *byte == 0).filter(is_signature).nth(ASSERTING_FUNCTIONS).is_some()
}

/// Whether machine code contains the CRC instruction `crc32` for operands of 8 bytes. Its bytes are `f2`, one of the
/// prefixes `48` to `4f` for wide operands, and `0f 38 f1`.
fn has_checksum_instruction(code: &[u8]) -> bool {
    let ends = memmem::find_iter(code, &[0x0f, 0x38, 0xf1]);
    ends.map(|at| &code[..at]).any(|before| matches!(before, [.., 0xf2, 0x48..=0x4f]))
}

/// Whether the debug information shows that no part of the library was compiled with an optimization flag. Returns
/// `false` if the debug information contains no compiler flags.
fn is_unoptimised(strings: &[u8]) -> bool {
    let mut producers = strings
        .split(|byte| *byte == 0)
        .filter(|text| text.starts_with(b"GNU C"))
        .map(String::from_utf8_lossy)
        .peekable();
    producers.peek().is_some()
        && producers.all(|text| !OPTIMISED.iter().any(|flag| text.split(' ').any(|word| word == *flag)))
}

/// Returns the existing folders to search for shared libraries: `LD_LIBRARY_PATH`, then the standard folders of Linux.
fn places() -> Vec<PathBuf> {
    let set = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let multiarch = format!("{}-linux-gnu", std::env::consts::ARCH);
    let mut places: Vec<PathBuf> =
        std::env::split_paths(&set).filter(|path| !path.as_os_str().is_empty()).collect();
    for root in ["/usr/local/lib", "/usr/lib", "/lib"] {
        places.push(Path::new(root).join(&multiarch));
        places.push(PathBuf::from(format!("{root}64")));
        places.push(PathBuf::from(root));
    }
    places.retain(|place| place.is_dir());
    places
}

/// Returns the file `name` in the folder `place`. If this file does not exist, returns the file with the newest version
/// after the name, such as `librocksdb.so.11`. Returns `None` if the folder has neither.
fn in_place(place: &Path, name: &str) -> Option<PathBuf> {
    let exact = place.join(name);
    if exact.exists() {
        return Some(exact);
    }
    let versioned =
        std::fs::read_dir(place).ok()?.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
        });
    versioned.max_by_key(|path| version_in(path).map(|version| numbers(&version)))
}

/// Returns the version after `.so.` in the name of a file. Returns `None` if the version has fewer than two numbers.
pub(crate) fn version_in(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let version = name.split_once(".so.")?.1;
    (numbers(version).len() >= 2).then(|| version.to_owned())
}

fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Wanted = Wanted {
        name: "libnosuchengine.so",
        variable: "LSMBENCH_NO_SUCH",
        advice: "build it",
        required: &[],
        namespace: "none::",
        has_fast_checksums: true,
    };

    #[test]
    fn what_is_not_there_says_how_to_get_it() {
        for (given, part) in [
            ("", "cannot find libnosuchengine.so in "),
            ("libother.so", "cannot find libother.so in "),
            ("/nowhere/libx.so", "cannot find libx.so in /nowhere; build it"),
        ] {
            let error = NONE.identify(given).unwrap_err().to_string();
            assert!(error.contains(part) && error.ends_with("build it"), "{error}");
        }
    }

    #[test]
    fn a_link_is_followed_and_a_link_to_nothing_names_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("libx.so");
        std::os::unix::fs::symlink("libx.so.1", &link).unwrap();
        let error = NONE.identify(link.to_str().unwrap()).unwrap_err().to_string();
        let expected = "libx.so: the symbolic link leads to libx.so.1, which does not exist; correct the link, or build it";
        assert!(error.ends_with(expected), "{error}");
        std::fs::write(folder.path().join("libx.so.1"), "no library").unwrap();
        let error = NONE.identify(link.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("libx.so.1: the file is not a shared library"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_library_is_told_apart_from_one_that_lacks_a_function() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("libtext.so");
        std::fs::write(&text, "no library").unwrap();
        let error = NONE.identify(text.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("libtext.so: the file is not a shared library"), "{error}");
        let wanted = Wanted { required: &["no_such_function"], ..NONE };
        let own = std::env::current_exe().unwrap();
        let error = wanted.identify(own.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("does not export the function no_such_function; build it"), "{error}");
    }

    #[test]
    fn a_library_that_was_replaced_is_examined_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libown.so");
        std::fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        let first = NONE.identify(path.to_str().unwrap()).unwrap();
        assert_eq!(NONE.identify(path.to_str().unwrap()).unwrap(), first);
        std::fs::write(&path, "no library").unwrap();
        let error = NONE.identify(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("libown.so: the file is not a shared library"), "{error}");
    }

    #[test]
    fn assertions_of_an_engine_are_told_apart_from_those_of_its_codecs() {
        let signature = |name: &str| format!("bool {name}::Reader::Read(const char*, size_t)\0");
        let many = |name: &str| signature(name).repeat(ASSERTING_FUNCTIONS + 1);
        assert!(names_functions(many("leveldb").as_bytes(), "leveldb::"));
        assert!(!names_functions(many("snappy").as_bytes(), "leveldb::"));
        assert!(
            !names_functions(signature("leveldb").as_bytes(), "leveldb::"),
            "one message names a function"
        );
        assert!(!names_functions("a leveldb::Status\0".repeat(50).as_bytes(), "leveldb::"));
    }

    #[test]
    fn the_instruction_for_checksums_is_found_in_code() {
        // crc32 rax, qword [rdi]; crc32 r8, r9
        assert!(has_checksum_instruction(&[0x90, 0xf2, 0x48, 0x0f, 0x38, 0xf1, 0x07, 0xc3]));
        assert!(has_checksum_instruction(&[0xf2, 0x4d, 0x0f, 0x38, 0xf1, 0xc1]));
        // movbe [rdi], eax
        assert!(!has_checksum_instruction(&[0x90, 0x90, 0x0f, 0x38, 0xf1, 0x07, 0xc3]));
    }

    #[test]
    fn the_newest_version_is_taken_where_there_is_no_plain_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["libe.so.9.2.1", "libe.so.10.0.3", "libe.so.1", "libe.a", "libext.so"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = in_place(folder.path(), "libe.so").unwrap();
        assert!(found.ends_with("libe.so.10.0.3"), "{}", found.display());
        assert_eq!(version_in(&found).as_deref(), Some("10.0.3"));
        assert_eq!(version_in(Path::new("libe.so.1")), None);
        assert_eq!(in_place(folder.path(), "libf.so"), None);
    }
}
