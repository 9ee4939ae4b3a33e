//! The file names of SSTables.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use types::SequenceNumber;

use crate::design::TableNames;

/// The range of sequence numbers of the writes in a sorted run. In a store without a manifest, the file name of an
/// SSTable contains this range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SequenceRange {
    /// The first sequence number of the writes in the sorted run.
    pub(crate) first: SequenceNumber,
    /// The last sequence number of the writes in the sorted run, which is not below the first.
    pub(crate) last: SequenceNumber,
}

impl SequenceRange {
    /// Returns the smallest range of sequence numbers that contains both `self` and `other`.
    pub(crate) fn joined(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

/// The file names of the SSTables of one tree. A name of the form [`TableNames::Number`] follows from the number of the
/// SSTable. All other names are recorded here.
pub(crate) struct Names {
    form: TableNames,
    recorded: Mutex<BTreeMap<u64, String>>,
}

impl Names {
    /// Creates the record of file names of a tree without SSTables. New SSTables get names of the form `form`.
    pub(crate) fn new(form: TableNames) -> Self {
        Self { form, recorded: Mutex::default() }
    }

    /// Records the file name of the existing SSTable `number`.
    pub(crate) fn record(&self, number: u64, name: &str) {
        let mut recorded = self.recorded.lock();
        match name == by_number(number) {
            // The recorded name may belong to an SSTable that a crash left incomplete.
            true => recorded.remove(&number),
            false => recorded.insert(number, name.to_owned()),
        };
    }

    /// Returns the file name of a new SSTable for `level`, and records the name. In a store without a manifest, the
    /// name contains `sequences`, the sequence numbers of the writes in the SSTable.
    pub(super) fn create(&self, number: u64, level: usize, sequences: Option<SequenceRange>) -> String {
        let name = match sequences {
            Some(sequences) => with_sequences(number, sequences),
            None => spelling(self.form, number, level),
        };
        self.record(number, &name);
        name
    }

    /// Returns the range of sequence numbers in the file name of the SSTable `number`. Returns `None` if the name
    /// contains no sequence numbers.
    pub(crate) fn sequences(&self, number: u64) -> Option<SequenceRange> {
        table_sequences(self.recorded.lock().get(&number)?)
    }

    /// Returns the file name of the SSTable `number`.
    pub(crate) fn of(&self, number: u64) -> String {
        self.recorded.lock().get(&number).cloned().unwrap_or_else(|| by_number(number))
    }

    /// Removes the recorded file name of the SSTable `number`, whose file no longer exists.
    pub(super) fn forget(&self, number: u64) {
        self.recorded.lock().remove(&number);
    }
}

fn by_number(number: u64) -> String {
    spelling(TableNames::Number, number, 0)
}

/// Returns the number of the SSTable with the file name `name`. Returns `None` if the name belongs to no SSTable.
/// `number` parses the digits of a file number.
pub(crate) fn table_number(name: &str, number: fn(&str) -> Option<u64>) -> Option<u64> {
    if let Some(stem) = name.strip_suffix(".table") {
        let Some((digits, _)) = stem.split_once('_') else { return number(stem) };
        let (table, SequenceRange { first, last }) = (number(digits)?, table_sequences(name)?);
        // Sequence numbers have the same limit as file numbers.
        let are_valid = [first, last].into_iter().all(|sequence| number(&format!("{sequence:08}")).is_some());
        return (are_valid && with_sequences(table, SequenceRange { first, last }) == name).then_some(table);
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

/// Returns the range of sequence numbers in the file name of an SSTable. Returns `None` if the name contains no
/// sequence numbers.
pub(crate) fn table_sequences(name: &str) -> Option<SequenceRange> {
    let (_, sequences) = name.strip_suffix(".table")?.split_once('_')?;
    let (first, last) = sequences.split_once('_')?;
    let range = SequenceRange { first: first.parse().ok()?, last: last.parse().ok()? };
    (range.first <= range.last).then_some(range)
}

/// Returns the file name of the SSTable `number` in a store without a manifest, which contains a range of sequence
/// numbers.
fn with_sequences(number: u64, SequenceRange { first, last }: SequenceRange) -> String {
    format!("{number:08}_{first}_{last}.table")
}

/// The ending of a file name while an SSTable is written, in a store without a manifest. The tree removes this ending
/// when the SSTable is complete.
const UNFINISHED: &str = ".tmp";

/// Returns the path that the SSTable `path` has while it is written in a store without a manifest.
pub(super) fn unfinished_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(UNFINISHED);
    name.into()
}

/// Returns whether a file name belongs to an SSTable that was not completed because of a crash. `number` parses the
/// digits of a file number.
pub(crate) fn is_unfinished(name: &str, number: fn(&str) -> Option<u64>) -> bool {
    name.strip_suffix(UNFINISHED)
        .is_some_and(|table| table_sequences(table).is_some() && table_number(table, number).is_some())
}

/// Returns the file name of the SSTable `number` in the level `level`. `form` selects the form of the name.
fn spelling(form: TableNames, number: u64, level: usize) -> String {
    match form {
        TableNames::Number => format!("{number:08}.table"),
        TableNames::LevelRun => format!("L{level}_R{number}.bin"),
        TableNames::LevelTime => format!("sst_{level:04}_{number:08}.sst"),
    }
}

/// Returns the name of the metadata file of the SSTable with the file name `name`. Returns `None` if SSTables with
/// names of this form have no metadata file.
fn metadata_name(name: &str) -> Option<String> {
    name.strip_suffix(".bin").map(|stem| format!("{stem}.meta"))
}

/// Returns the path of the metadata file of the SSTable at `table`. Returns `None` if SSTables with names of this form
/// have no metadata file.
pub(super) fn metadata_path(table: &Path) -> Option<PathBuf> {
    Some(table.with_file_name(metadata_name(table.file_name()?.to_str()?)?))
}

/// Returns the paths of all files of the SSTable at `path`. The first path is `path` itself.
pub(super) fn files_of(path: &Path, has_filter_file: bool) -> impl Iterator<Item = PathBuf> + use<> {
    let filter = has_filter_file.then(|| filter_path(path));
    std::iter::once(path.to_owned()).chain(metadata_path(path)).chain(filter)
}

/// Returns the path of the filter file of the SSTable at `table`.
pub(super) fn filter_path(table: &Path) -> PathBuf {
    table.with_extension("filter")
}

/// Returns the SSTable to which a companion file belongs, as its number and its file name. A companion file is a
/// metadata file, a filter file, or a temporary file of blocks. Returns `None` if `name` is not the name of a companion
/// file.
///
/// `number` parses the digits of a file number.
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
            let created = [names.create(1, 0, None), names.create(123_456_789, 12, None)];
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
    fn names_contain_sequence_numbers() {
        let (names, range) = (Names::new(TableNames::Number), SequenceRange { first: 41, last: 60 });
        let name = names.create(12, 0, Some(range));
        assert_eq!((name.as_str(), names.of(12)), ("00000012_41_60.table", name.clone()));
        assert_eq!((table_number(&name, number), names.sequences(12)), (Some(12), Some(range)));
        let unfinished = unfinished_path(Path::new(&name));
        assert_eq!(unfinished, Path::new("00000012_41_60.table.tmp"));
        assert!(is_unfinished(unfinished.to_str().unwrap(), number));
        assert_eq!(table_of_companion("00000012_41_60.leaves", number), Some((12, name.clone())));
        names.create(13, 0, None);
        assert_eq!(names.sequences(13), None);
        for other in ["00000012_60_41.table", "00000012_041_60.table", "00000012_41.table", "12_41_60.table"]
        {
            assert_eq!(table_number(other, number), None, "{other}");
            assert!(!is_unfinished(&format!("{other}.tmp"), number), "{other}");
        }
        assert!(!is_unfinished("00000012.table.tmp", number));
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
