//! The operations that all storage back ends on POSIX files share: all except reads and writes of file contents.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::OFlags;

use crate::holder::Held;
use crate::storage::{Purpose, ReadFile, Storage, StorageError, WriteFile};

/// The permission mode of new files. Only the owner has access.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// The flag with which `open` rejects a symbolic link.
const NO_FOLLOW: i32 = OFlags::NOFOLLOW.bits().cast_signed();

/// The part of a storage back end that creates and opens files. [`Posix`] provides all other methods of [`Storage`].
pub(crate) trait Files: Send + Sync {
    /// Creates a file for writing. See [`Storage::create`].
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError>;

    /// Opens a file for reading. See [`Storage::open`].
    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError>;
}

/// A storage back end on files of the operating system. `F` creates and opens the files.
pub(crate) struct Posix<F>(pub(crate) F);

impl<F: Files> Storage for Posix<F> {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        self.0.create(path, purpose)
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        self.0.open(path, purpose)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        fs::rename(from, to).map_err(|error| StorageError::new("rename", from, error))
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        fs::remove_file(path).map_err(|error| StorageError::new("remove", path, error))
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError> {
        fs::hard_link(existing, new).map_err(|error| StorageError::new("link", new, error))
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError> {
        file_names(directory).map_err(|error| StorageError::new("list", directory, error))
    }

    fn create_directory(&self, directory: &Path) -> Result<(), StorageError> {
        if or_here(directory).is_dir() {
            return Ok(());
        }
        let parent = directory.parent().unwrap_or(directory);
        self.create_directory(parent)?;
        match DirBuilder::new().mode(DIRECTORY_MODE).create(directory) {
            Err(error) if !directory.is_dir() => Err(StorageError::new("create directory", directory, error)),
            _ => self.sync_directory(parent),
        }
    }

    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError> {
        File::open(or_here(directory))
            .and_then(|opened| opened.sync_all())
            .map_err(|error| StorageError::new("sync directory", directory, error))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(FILE_MODE).custom_flags(NO_FOLLOW);
        let locked = loop {
            let locked = options.open(path).and_then(|file| match file.try_lock() {
                Ok(()) => Ok(file),
                Err(TryLockError::WouldBlock) => Err(Held::by(&file).into()),
                Err(TryLockError::Error(error)) => Err(error),
            });
            // Another process may have removed the file before this process locked it.
            if !locked.as_ref().is_ok_and(|file| !is_at(file, path)) {
                break locked;
            }
        };
        match locked {
            Ok(file) => Ok(Box::new(file)),
            Err(error) => Err(StorageError::new("lock", path, error)),
        }
    }

    fn lock_existing(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>, StorageError> {
        let opened = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(path);
        let locked = opened.and_then(|file| match file.try_lock_shared() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(Held::by(&file).into()),
            Err(TryLockError::Error(error)) => Err(error),
        });
        match locked {
            Ok(file) => Ok(Some(Box::new(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StorageError::new("lock", path, error)),
        }
    }
}

/// Creates a new file for writing, with the additional `flags` of open(2). A file that already has this name loses the
/// name. The function does not truncate the old file, because it may be mapped or have other names.
pub(crate) fn create_new(path: &Path, flags: i32) -> io::Result<File> {
    create_with(path, OpenOptions::new().write(true).custom_flags(flags))
}

/// Creates a new file like [`create_new`], but for writes through a memory map.
pub(crate) fn create_new_mappable(path: &Path) -> io::Result<File> {
    create_with(path, OpenOptions::new().read(true).write(true))
}

fn create_with(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    options.create_new(true).mode(FILE_MODE).open(path)
}

/// Opens a file for reading, with the additional `flags` of open(2). Returns the file and its length.
pub(crate) fn open_existing(path: &Path, flags: i32) -> io::Result<(File, u64)> {
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let len = file.metadata()?.len();
    Ok((file, len))
}

fn file_names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(or_here(directory))? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            names.push(entry.file_name());
        }
    }
    let mut names: Vec<String> =
        names.into_iter().map(OsString::into_string).filter_map(Result::ok).collect();
    names.sort_unstable();
    Ok(names)
}

/// Returns `directory`, or `.` if the path is empty, because the parent of a bare file name is an empty path.
fn or_here(directory: &Path) -> &Path {
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}

/// Returns whether the name `path` still refers to the open file `file`.
fn is_at(file: &File, path: &Path) -> bool {
    let metadata = file.metadata().ok().zip(fs::symlink_metadata(path).ok());
    metadata.is_some_and(|(open, now)| (open.dev(), open.ino()) == (now.dev(), now.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::{page_cached, pread};

    #[test]
    fn new_files_are_for_their_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let store = directory.path().join("above/store");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        Posix(pread::Pread::default()).create_directory(&store).unwrap();
        page_cached::create(&store.join("file"), Purpose::Table).unwrap();
        let _held = Posix(pread::Pread::default()).lock(&store.join("lock")).unwrap();
        for (path, expected) in
            [("", DIRECTORY_MODE), ("..", DIRECTORY_MODE), ("file", FILE_MODE), ("lock", FILE_MODE)]
        {
            assert_eq!(mode(&store.join(path)), expected, "{path}");
        }
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let [target, link] = ["target", "link"].map(|name| directory.path().join(name));
        for content in [None, Some("theirs")] {
            content.iter().for_each(|content| fs::write(&target, content).unwrap());
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(&target, &link).unwrap();
            let error = Posix(pread::Pread::default()).lock(&link).err().unwrap();
            assert!(error.to_string().contains("symbolic link"), "{error}");
            assert!(create_new(&link, 0).unwrap().metadata().unwrap().is_file());
            assert!(!fs::symlink_metadata(&link).unwrap().is_symlink(), "the link is replaced");
            assert_eq!(fs::read_to_string(&target).ok().as_deref(), content, "and its target is not touched");
        }
    }

    #[test]
    fn a_lock_file_that_is_there_is_locked_and_none_is_made() {
        let directory = tempfile::tempdir().unwrap();
        let (storage, path) = (Posix(pread::Pread::default()), directory.path().join("lock"));
        assert!(storage.lock_existing(&path).unwrap().is_none());
        assert!(!path.exists());
        let held = storage.lock(&path).unwrap();
        assert_eq!(storage.lock_existing(&path).err().unwrap().kind(), io::ErrorKind::WouldBlock);
        drop(held);
        let readers = [storage.lock_existing(&path).unwrap(), storage.lock_existing(&path).unwrap()];
        assert!(readers.iter().all(Option::is_some));
        assert_eq!(storage.lock(&path).err().unwrap().kind(), io::ErrorKind::WouldBlock);
        drop(readers);
        assert!(storage.lock(&path).is_ok());
    }

    #[test]
    fn names_that_are_not_utf8_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let odd = directory.path().join(std::ffi::OsStr::from_bytes(b"a\xffb"));
        fs::write(odd, "").unwrap();
        fs::write(directory.path().join("even"), "").unwrap();
        assert_eq!(file_names(directory.path()).unwrap(), ["even"]);
    }

    #[test]
    fn a_directory_in_place_of_a_file_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        assert!(create_new(directory.path(), 0).is_err());
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Posix(pread::Pread::default()).create_directory(&file).unwrap_err();
        assert_eq!(error.operation, "create directory");
    }
}
