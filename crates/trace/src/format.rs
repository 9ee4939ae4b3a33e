//! The trace formats that lsmbench can write.

use std::fs::File;
use std::io::{self, BufWriter};

use serde::{Deserialize, Serialize};

use crate::write_csv::CsvWriter;
use crate::write_oracle_general::OracleGeneralWriter;
use crate::write_rocksdb::RocksDbWriter;
use crate::write_text::TextWriter;
use crate::writer::TraceWriter;

/// A trace format that lsmbench can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceFormat {
    /// Commands in the text language (DSL).
    Dsl,
    /// RocksDB query traces.
    RocksDb,
    /// Cache requests in the format of libCacheSim.
    OracleGeneral,
    /// CSV with the columns that the trace format `csv` expects by default.
    Csv,
}

impl TraceFormat {
    /// All trace formats that lsmbench can write.
    pub const ALL: [Self; 4] = [Self::Dsl, Self::RocksDb, Self::OracleGeneral, Self::Csv];

    /// Returns the name of the format on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dsl => "dsl",
            Self::RocksDb => "rocksdb",
            Self::OracleGeneral => "oracle-general",
            Self::Csv => "csv",
        }
    }

    /// Returns a writer of this format, which writes to `file`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn writer(self, file: File) -> io::Result<Box<dyn TraceWriter + Send>> {
        Ok(match self {
            Self::Dsl => Box::new(TextWriter::new(BufWriter::new(file))),
            Self::RocksDb => Box::new(RocksDbWriter::new(BufWriter::new(file))),
            Self::OracleGeneral => Box::new(OracleGeneralWriter::new(file)),
            Self::Csv => Box::new(CsvWriter::new(BufWriter::new(file))?),
        })
    }
}

#[cfg(test)]
mod tests {
    use workload::{TraceFile, TraceOperation, TraceRecord};

    use super::*;

    fn records() -> Vec<TraceRecord> {
        use TraceOperation::{Delete, DeleteRange, Get, Merge, Put, Scan, SingleDelete};
        let record = |operation, key: &[u8]| TraceRecord::new(operation, key);
        let records = [
            record(Put, &5u64.to_be_bytes()).with_value(b"seven".to_vec()),
            record(Get, &5u64.to_be_bytes()),
            record(Put, b"other key, \"quoted\"").with_value(vec![7; 300]),
            record(Get, &5u64.to_be_bytes()),
            record(Delete, &5u64.to_be_bytes()),
            record(Merge, b"merged").with_value(b"+1".to_vec()),
            record(Scan, b"a").until("z").entries(1),
            record(DeleteRange, b"a").until("m"),
            record(SingleDelete, b"merged"),
            record(SingleDelete, b"far").in_family(300),
            record(Put, b"far").with_value(b"v".to_vec()).in_family(300),
            record(Get, b"far").in_family(300),
            record(DeleteRange, b"a").until("m").in_family(300),
            TraceRecord { backward: true, ..record(Scan, b"s").entries(1) },
        ];
        (0..).zip(records).map(|(at, record)| record.at(1_000_000 + at * 1000)).collect()
    }

    /// Writes the records in a format, and reads the file. Returns the records that were read, the losses of the
    /// writer, and the recognized format.
    fn again(format: TraceFormat, records: &[TraceRecord]) -> (Vec<TraceRecord>, Vec<String>, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        let mut writer = format.writer(file).unwrap();
        records.iter().for_each(|record| writer.write(record).unwrap());
        writer.finish().unwrap();
        let stream = TraceFile::new("t".into(), None).unwrap().open(folder.path()).unwrap();
        let kind = stream.format().kind().to_owned();
        (stream.map(Result::unwrap).collect(), writer.losses(), kind)
    }

    #[test]
    fn rocksdb_traces_lose_nothing() {
        let (read, losses, kind) = again(TraceFormat::RocksDb, &records());
        assert_eq!((read, losses, kind.as_str()), (records(), Vec::new(), "rocksdb"));
    }

    #[test]
    fn csv_keeps_all_but_values_families_and_directions() {
        let (read, losses, kind) = again(TraceFormat::Csv, &records());
        let plain = |record: TraceRecord| TraceRecord { value: None, family: 0, backward: false, ..record };
        assert_eq!(read, records().into_iter().map(plain).collect::<Vec<_>>());
        assert_eq!((losses.len(), kind.as_str()), (2, "csv"));
    }

    #[test]
    fn text_keeps_keys_and_values() {
        let (read, losses, kind) = again(TraceFormat::Dsl, &records());
        assert_eq!((read.len(), losses.len(), kind.as_str()), (12, 2, "text"));
        assert_eq!(read[2].value, Some(vec![7; 300]));
    }

    #[test]
    fn oracle_general_knows_the_next_access() {
        let records: Vec<TraceRecord> = [4u64, 5, 4, 4, 6]
            .map(|key| TraceRecord::new(TraceOperation::Get, key.to_be_bytes()).at(9_000_000_000).sized(10))
            .into();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        let mut writer = TraceFormat::OracleGeneral.writer(file).unwrap();
        records.iter().for_each(|record| writer.write(record).unwrap());
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let next = bytes.chunks_exact(24).map(|record| i64::from_le_bytes(record[16..].try_into().unwrap()));
        assert_eq!(next.collect::<Vec<_>>(), [2, -1, 3, -1, -1]);
        let (read, losses, kind) = again(TraceFormat::OracleGeneral, &records);
        assert_eq!((read, losses, kind.as_str()), (records, Vec::new(), "oracle-general"));
    }
}
