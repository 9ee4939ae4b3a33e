//! The file names of SSTables.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::design::TableNames;

/// The file names of the SSTables of one tree. A name of the form [`TableNames::Number`] depends only on the number of
/// the SSTable. All other names are recorded here.
pub(crate) struct Names {
    form: TableNames,
    recorded: Mutex<BTreeMap<u64, String>>,
}

impl Names {
    /// Creates the names of a tree without tables. `form` is the form of the names of new tables.
    pub(crate) fn new(form: TableNames) -> Self {
        Self { form, recorded: Mutex::default() }
    }

    /// Records the file name of the existing table `number`.
    pub(crate) fn record(&self, number: u64, name: &str) {
        let mut recorded = self.recorded.lock();
        match name == by_number(number) {
            // The recorded name may belong to an incomplete table, which a crash interrupted.
            true => recorded.remove(&number),
            false => recorded.insert(number, name.to_owned()),
        };
    }

    /// Returns the name of a new table for `level`, and records the name.
    pub(super) fn create(&self, number: u64, level: usize) -> String {
        let name = spelling(self.form, number, level);
        self.record(number, &name);
        name
    }

    /// Returns the file name of the table `number`.
    pub(crate) fn of(&self, number: u64) -> String {
        self.recorded.lock().get(&number).cloned().unwrap_or_else(|| by_number(number))
    }

    /// Removes the recorded file name of the table `number`, which no longer exists.
    pub(super) fn forget(&self, number: u64) {
        self.recorded.lock().remove(&number);
    }
}

fn by_number(number: u64) -> String {
    spelling(TableNames::Number, number, 0)
}

/// Returns the number of the table with this file name. `number` parses the digits of a file number. Returns `None` if
/// the name belongs to no table.
pub(crate) fn table_number(name: &str, number: fn(&str) -> Option<u64>) -> Option<u64> {
    if let Some(digits) = name.strip_suffix(".table") {
        return number(digits);
    }
    let (form, (level, digits)) = if let Some(stem) = name.strip_suffix(".sst") {
        (TableNames::LevelTime, stem.strip_prefix("sst_")?.split_once('_')?)
    } else {
        let stem = name.strip_suffix(".bin")?.strip_prefix('L')?;
        (TableNames::LevelRun, stem.split_once("_R")?)
    };
    let number = number(&format!("{:08}", digits.parse::<u64>().ok()?))?;
    // The name must be exactly the name that the tree would write, for example with the same number of leading zeros.
    (spelling(form, number, level.parse().ok()?) == name).then_some(number)
}

/// Returns the name of table `number` for `level` in one form.
fn spelling(form: TableNames, number: u64, level: usize) -> String {
    match form {
        TableNames::Number => format!("{number:08}.table"),
        TableNames::LevelRun => format!("L{level}_R{number}.bin"),
        TableNames::LevelTime => format!("sst_{level:04}_{number:08}.sst"),
    }
}

/// Returns the name of the metadata file of the table with this file name. Returns `None` if the table has no metadata
/// file.
fn metadata_name(name: &str) -> Option<String> {
    name.strip_suffix(".bin").map(|stem| format!("{stem}.meta"))
}

/// Returns the path of the metadata file of the table with this path. Returns `None` if the table has no metadata file.
pub(super) fn metadata_path(table: &Path) -> Option<PathBuf> {
    Some(table.with_file_name(metadata_name(table.file_name()?.to_str()?)?))
}

/// Returns the paths of all files of the table at `path`, with the table first.
pub(super) fn files_of(path: &Path, has_filter_file: bool) -> impl Iterator<Item = PathBuf> + use<> {
    let filter = has_filter_file.then(|| filter_path(path));
    std::iter::once(path.to_owned()).chain(metadata_path(path)).chain(filter)
}

/// Returns the path of the filter file of the table with this path.
pub(super) fn filter_path(table: &Path) -> PathBuf {
    table.with_extension("filter")
}

/// Returns the number and the file name of the table with this metadata file, filter file or temporary file of
/// blocks. `number` parses the digits of a file number. Returns `None` if `name` is not the name of a companion file.
pub(crate) fn table_of_companion(name: &str, number: fn(&str) -> Option<u64>) -> Option<(u64, String)> {
    let (stem, endings) = if let Some(stem) = name.strip_suffix(".meta") {
        (stem, &["bin"][..])
    } else {
        let stem = name.strip_suffix(".filter").or_else(|| name.strip_suffix(".leaves"))?;
        (stem, &["table", "bin", "sst"][..])
    };
    let mut tables = endings.iter().map(|ending| format!("{stem}.{ending}"));
    tables.find_map(|table| Some((table_number(&table, number)?, table)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(digits: &str) -> Option<u64> {
        digits.parse().ok().filter(|number| format!("{number:08}") == digits)
    }

    #[test]
    fn names_lead_back_to_their_numbers() {
        for (form, expected) in [
            (TableNames::Number, ["00000001.table", "123456789.table"]),
            (TableNames::LevelRun, ["L0_R1.bin", "L12_R123456789.bin"]),
            (TableNames::LevelTime, ["sst_0000_00000001.sst", "sst_0012_123456789.sst"]),
        ] {
            let names = Names::new(form);
            let created = [names.create(1, 0), names.create(123_456_789, 12)];
            assert_eq!(created, expected);
            assert_eq!(
                created.each_ref().map(|name| table_number(name, number)),
                [Some(1), Some(123_456_789)]
            );
            assert_eq!(names.of(1), created[0]);
            names.forget(1);
            assert_eq!(names.of(1), "00000001.table");
        }
    }

    #[test]
    fn other_spellings_are_other_files() {
        for name in [
            "1.table",
            "L0_R01.bin",
            "L00_R1.bin",
            "L0_1.bin",
            "L0_RR1.bin",
            "L0_R1.sst",
            "sst_0_00000001.sst",
            "sst_0000_1.sst",
            "sst_0000_R0000001.sst",
            "L_R1.bin",
            "L0_R+1.bin",
            "L0_R1.bin.bin",
            "L0_R1.meta",
            ".bin",
        ] {
            assert_eq!(table_number(name, number), None, "{name}");
        }
        let names = ["L3_R7.meta", "L3_R7.filter", "sst_0003_00000007.filter", "00000007.filter"];
        let tables = ["L3_R7.bin", "L3_R7.bin", "sst_0003_00000007.sst", "00000007.table"];
        for (name, table) in names.into_iter().zip(tables) {
            assert_eq!(table_of_companion(name, number), Some((7, table.to_owned())));
        }
        let names = ["sst_0003_00000007.meta", "00000007.meta", "L3_R07.filter", "7.filter", ".meta"];
        assert!(names.iter().all(|name| table_of_companion(name, number).is_none()));
        assert_eq!(metadata_name("L3_R7.bin").as_deref(), Some("L3_R7.meta"));
        assert_eq!(metadata_name("00000007.table"), None);
    }
}
