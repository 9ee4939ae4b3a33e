//! The program that runs the fuzz targets. In a build with coverage (`just fuzz`), the program is a libFuzzer program,
//! and the environment variable `FUZZ` names its target. In a normal build, the program lists the targets, writes their
//! corpora, and runs targets on files.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
mod guided {
    use std::sync::LazyLock;

    use lsmbench_fuzz::{FuzzTarget, TARGETS};

    /// The fuzz target that the environment variable `FUZZ` names.
    static TARGET: LazyLock<&FuzzTarget> = LazyLock::new(|| {
        let name = std::env::var("FUZZ").unwrap_or_default();
        let target = TARGETS.iter().find(|target| target.name == name);
        target
            .unwrap_or_else(|| panic!("the environment variable FUZZ=\"{name}\" does not name a fuzz target"))
    });

    libfuzzer_sys::fuzz_target!(|input: &[u8]| {
        (TARGET.run)(input);
    });
}

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    plain::main()
}

#[cfg(not(fuzzing))]
mod plain {
    use std::io::Write;
    use std::path::Path;
    use std::process::ExitCode;
    use std::{env, fs, io};

    use lsmbench_fuzz::{FuzzTarget, TARGETS, regressions};

    const USAGE: &str = "usage: fuzz list | fuzz corpus TARGET FOLDER | fuzz feed TARGET FILE...";

    pub(super) fn main() -> ExitCode {
        let arguments: Vec<String> = env::args().skip(1).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let done = match arguments[..] {
            ["list"] => list(),
            ["corpus", target, folder] => {
                named(target).and_then(|target| write_corpus(target, folder.as_ref()))
            }
            ["feed", target, ref files @ ..] => named(target).and_then(|target| feed(target, files)),
            _ => Err(io::Error::other(USAGE)),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(io::stderr(), "{error}");
                ExitCode::from(2)
            }
        }
    }

    fn named(name: &str) -> io::Result<&'static FuzzTarget> {
        let target = TARGETS.iter().find(|target| target.name == name);
        target
            .ok_or_else(|| io::Error::other(format!("unknown target {name}; `fuzz list` lists all targets")))
    }

    fn list() -> io::Result<()> {
        TARGETS.iter().try_for_each(|target| writeln!(io::stdout(), "{}: {}", target.name, target.about))
    }

    /// Writes the initial corpus of a target to a folder, with one file per input. The corpus includes inputs that
    /// failed in the past.
    fn write_corpus(target: &FuzzTarget, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        for (number, input) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:04}")), input)?;
        }
        regressions(target.name).iter().try_for_each(|(name, input)| fs::write(folder.join(name), input))
    }

    fn feed(target: &FuzzTarget, files: &[&str]) -> io::Result<()> {
        files.iter().try_for_each(|file| {
            let is_accepted = (target.run)(&fs::read(file)?);
            let what = if is_accepted { "accepted" } else { "rejected" };
            writeln!(io::stdout(), "{file}: {what}; all invariants hold")
        })
    }
}
