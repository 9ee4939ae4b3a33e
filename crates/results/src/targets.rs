//! Checks output paths before a long run starts, so that a wrong path fails at once and not after the run.

use std::io::ErrorKind;
use std::path::Path;

use rustix::fs::{Access, access};
use types::{Outcome, Problem};

/// Returns an error if an output file is a symbolic link.
pub fn refuse_link(path: &Path) -> Outcome<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => Err(Problem::new(format!(
            "{path} is a symbolic link, and lsmbench does not write through links; remove the link",
            path = path.display()
        ))),
        _ => Ok(()),
    }
}

/// Checks that a folder can be created and written. The check changes nothing on disk, so it does not find every
/// problem.
pub fn check_folder(folder: &Path) -> Outcome<()> {
    let exists = |above: &&Path| above.symlink_metadata().is_ok() || above.as_os_str().is_empty();
    let existing = folder.ancestors().find(exists).filter(|above| !above.as_os_str().is_empty());
    let existing = existing.unwrap_or(Path::new("."));
    let usable = match existing.is_dir() {
        true => access(existing, Access::WRITE_OK | Access::EXEC_OK).map_err(Into::into),
        false => Err(ErrorKind::NotADirectory.into()),
    };
    usable.map_err(|error: std::io::Error| {
        let why = if existing == folder { String::new() } else { format!("{}: ", existing.display()) };
        Problem::doing(format!("write to {}", folder.display()), format!("{why}{error}"))
    })
}

/// Checks that a file can be created at the path `path`. Returns an error if the path is a folder or a symbolic link.
pub fn check_file(path: &Path) -> Outcome<()> {
    refuse_link(path)?;
    if path.is_dir() {
        let error = std::io::Error::from(ErrorKind::IsADirectory);
        return Err(Problem::doing(format!("write {}", path.display()), error));
    }
    check_folder(path.parent().unwrap_or(Path::new("")))
}

/// Checks that the name of an experiment can be the name of its results folder. The name must not be empty, `.` or
/// `..`, and must not contain a slash or a control character.
pub fn check_name(experiment: &str) -> Outcome<()> {
    let is_folder = !matches!(experiment, "" | "." | "..") && !experiment.contains('/');
    if is_folder && !experiment.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Problem::new(format!(
        "the experiment name {experiment:?} cannot be the name of a results folder; rename the file of the experiment"
    )))
}

/// Creates a folder and its parents.
pub fn create_folder(folder: &Path) -> Outcome<()> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Problem::doing(format!("create {}", folder.display()), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_way_is_told_before_anything_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        assert_eq!(check_folder(&at("new/er")), Ok(()));
        assert_eq!(check_file(&at("new/er/page.md")), Ok(()));
        assert_eq!(check_file(&at("file")), Ok(()));
        assert!(check_folder(&at("file/below")).unwrap_err().to_string().contains("file: "));
        assert!(check_file(&at("file/below")).is_err());
        assert!(check_file(folder.path()).is_err());
        assert!(check_file(&at("link")).unwrap_err().to_string().contains("is a symbolic link"));
        assert!(!at("new").exists());
    }
}
