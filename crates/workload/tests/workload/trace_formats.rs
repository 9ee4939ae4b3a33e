//! Tests of the trace readers, with bytes in the published formats and with files that are not traces.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::workload::{TRACES, TraceFile, TraceOperation, TraceRecord};
use TraceOperation::{Delete, DeleteRange, Get, Merge, Put, ReadModifyWrite, Scan, SingleDelete};

/// Reads a trace with these bytes. Returns the name of the trace reader and the records, or the error.
fn read(bytes: &[u8], kind: Option<&str>) -> Result<(String, Vec<TraceRecord>), String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t"), bytes).unwrap();
    let trace = TraceFile::new("t".into(), kind).unwrap();
    let stream = trace.open(folder.path()).map_err(|error| error.to_string())?;
    let kind = stream.format().kind().to_owned();
    let records = stream.collect::<Result<Vec<_>, _>>();
    Ok((kind, records.map_err(|error| error.to_string())?))
}

/// Reads a trace with these bytes, and checks that lsmbench recognizes the file as a trace of the kind `kind`.
fn recognized(bytes: &[u8], kind: &str) -> Vec<TraceRecord> {
    let (found, records) = read(bytes, None).unwrap_or_else(|error| panic!("{kind}: {error}"));
    assert_eq!(found, kind);
    records
}

fn record(operation: TraceOperation, key: &[u8]) -> TraceRecord {
    TraceRecord::new(operation, key)
}

/// Returns the bytes of one record of a RocksDB trace.
fn rocksdb(time_us: u64, kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
    [&time_us.to_le_bytes()[..], &[kind], &length, payload].concat()
}

fn header(version: &str) -> Vec<u8> {
    let text = format!(
        "feedcafedeadbeef\tTrace Version: {version}\tRocksDB Version: 11.9\tFormat: Timestamp OpType Payload\n"
    );
    rocksdb(1, 1, text.as_bytes())
}

fn prefixed(bytes: &[u8]) -> Vec<u8> {
    [&[u8::try_from(bytes.len()).unwrap()][..], bytes].concat()
}

#[test]
fn rocksdb_query_traces() {
    let batch = [
        &[0; 8][..],
        &7u32.to_le_bytes(),
        &[1],
        &prefixed(b"put"),
        &prefixed(b"value"),
        &[0],
        &prefixed(b"gone"),
        &[0xf],
        &prefixed(b"a"),
        &prefixed(b"m"),
        &[2],
        &prefixed(b"sum"),
        &prefixed(b"+1"),
        &[3],
        &prefixed(b"a remark"),
        &[5, 9],
        &prefixed(b"far"),
        &prefixed(b"v"),
        &[7],
        &prefixed(b"single"),
    ]
    .concat();
    let write = [&2u64.to_le_bytes()[..], &prefixed(&batch)].concat();
    let get = [&0b1100u64.to_le_bytes()[..], &3u32.to_le_bytes(), &prefixed(b"key")].concat();
    let seek =
        [&0b1011_0000u64.to_le_bytes()[..], &0u32.to_le_bytes(), &prefixed(b"s"), &prefixed(b"t")].concat();
    let prev =
        [&0b0111_0000u64.to_le_bytes()[..], &0u32.to_le_bytes(), &prefixed(b"s"), &prefixed(b"r")].concat();
    let keys = [prefixed(b"k1"), prefixed(b"k2")].concat();
    let multi =
        [&0x700u64.to_le_bytes()[..], &2u32.to_le_bytes(), &prefixed(&[0; 8]), &prefixed(&keys)].concat();
    let trace = [
        header("0.2"),
        rocksdb(5, 3, &write),
        rocksdb(6, 4, &get),
        rocksdb(7, 5, &seek),
        rocksdb(8, 6, &prev),
        rocksdb(9, 13, &multi),
        rocksdb(10, 2, b""),
    ]
    .concat();
    let records = recognized(&trace, "rocksdb");
    let expected = [
        record(Put, b"put").with_value(b"value".to_vec()).at(5000),
        record(Delete, b"gone").at(5000),
        record(DeleteRange, b"a").until(b"m").at(5000),
        record(Merge, b"sum").with_value(b"+1".to_vec()).at(5000),
        record(Put, b"far").with_value(b"v".to_vec()).in_family(9).at(5000),
        record(SingleDelete, b"single").at(5000),
        record(Get, b"key").in_family(3).at(6000),
        record(Scan, b"s").until(b"t").entries(1).at(7000),
        TraceRecord { backward: true, ..record(Scan, b"s").until(b"r").entries(1).at(8000) },
        record(Get, b"k1").at(9000),
        record(Get, b"k2").at(9000),
    ];
    assert_eq!(records, expected);
    // If the recording was interrupted, the trace has no footer.
    assert_eq!(recognized(&trace[..trace.len() - 13], "rocksdb"), expected);
    assert_eq!(read(&trace, Some("rocksdb(entries=50)")).unwrap().1[7].count, Some(50));

    let old = [header("0.1"), rocksdb(6, 4, &get[8..]), rocksdb(7, 5, &seek[8..14])].concat();
    let records = recognized(&old, "rocksdb");
    assert_eq!(records, [expected[6].clone(), record(Scan, b"s").entries(1).at(7000)]);

    let cut = trace.len() - 20;
    for (bytes, message) in [
        (trace[..cut].to_vec(), "the file ends after"),
        ([header("0.2"), rocksdb(6, 4, &get[..14])].concat(), "byte 104: the record ends inside of the key"),
        ([header("0.2"), rocksdb(6, 9, b"12345678")].concat(), "type 9, which is not a query"),
        ([header("0.2"), rocksdb(6, 4, &[0; 8])].concat(), "type 4 does not contain the fields"),
        (header("7.0"), "the trace has version 7.0; the newest supported version is 0.2"),
        (
            [header("0.2"), vec![0, 0, 0, 0, 0, 0, 0, 0, 4, 255, 255, 255, 255]].concat(),
            "which is more than any record has",
        ),
    ] {
        let error = read(&bytes, Some("rocksdb")).unwrap_err();
        assert!(error.contains(message) && error.contains("byte "), "{message}: {error}");
    }
}

#[test]
fn human_readable_rocksdb_traces() {
    let text = "0x6B31 0 0 0 10\n6b32 1 2 100 11\n6b33 3 0 0 12\n6b34 4 0 0 13\n6b39 4 0 0 13\n61 7a 4 0 0 14\n\
                6b35 5 0 8 15\n6b36 7 0 0 16\n";
    assert_eq!(
        recognized(text.as_bytes(), "rocksdb-text"),
        [
            record(Get, b"k1").at(10_000),
            record(Put, b"k2").sized(100).in_family(2).at(11_000),
            record(SingleDelete, b"k3").at(12_000),
            record(DeleteRange, b"k4").until(b"k9").at(13_000),
            record(DeleteRange, b"a").until(b"z").at(14_000),
            record(Merge, b"k5").sized(8).at(15_000),
            TraceRecord { backward: true, ..record(Scan, b"k6").entries(1).at(16_000) },
        ]
    );
    for (text, message) in [
        ("6b31 0 0 0 10\n0 0 0 10\n", ":2: the line has no key"),
        ("6b3 0 0 0 10\n", ":1: the key is \"6b3\"; expected hexadecimal digits"),
        ("6b31 99 0 0 10\n", "unknown operation type \"99\""),
    ] {
        let error = read(text.as_bytes(), Some("rocksdb-text")).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

/// Returns the bytes of one record of an oracleGeneral trace.
fn request(time: u32, object: u64, size: u32, next: i64) -> Vec<u8> {
    [&time.to_le_bytes()[..], &object.to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()].concat()
}

#[test]
fn oracle_general_traces_in_every_compression() {
    let trace = [request(10, 5, 100, 2), request(10, 6, 300, -1), request(11, 5, 100, -1)].concat();
    let expected = [
        record(Get, &5u64.to_be_bytes()).at(10_000_000_000).sized(100),
        record(Get, &6u64.to_be_bytes()).at(10_000_000_000).sized(300),
        record(Get, &5u64.to_be_bytes()).at(11_000_000_000).sized(100),
    ];
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(&trace).unwrap();
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(0)).unwrap();
    xz.write_all(&trace).unwrap();
    let zst = zstd::encode_all(&trace[..], 3).unwrap();
    let gz = gz.finish().unwrap();
    for bytes in [&trace, &gz, &xz.finish().unwrap(), &zst] {
        assert_eq!(recognized(bytes, "oracle-general"), expected);
    }
    let cut = read(&trace[..50], Some("oracle-general")).unwrap_err();
    assert!(cut.contains("byte 48: the file ends after 2 of 24 bytes"), "{cut}");
    let foreign = read(&[0xff; 48], Some("oracle-general")).unwrap();
    assert_eq!(foreign.1.len(), 2, "all fields at their largest are a record without a next access");
    let wrong =
        read(&[request(1, 1, 1, 9), request(1, 1, 1, 0)].concat(), Some("oracle-general")).unwrap_err();
    assert!(
        wrong.contains("byte 24: the next access of record 1 is at 0, which is before the record"),
        "{wrong}"
    );
    assert!(read(&zst[..zst.len() - 4], Some("oracle-general")).is_err());
    assert!(read(&gz[..gz.len() - 4], Some("oracle-general")).is_err());
}

#[test]
fn a_small_file_does_not_fill_the_memory() {
    let zeros = zstd::encode_all(&vec![0; 64 << 20][..], 3).unwrap();
    assert!(zeros.len() < 64 << 10, "{}", zeros.len());
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t"), zeros).unwrap();
    let trace = TraceFile::new("t".into(), Some("raw")).unwrap();
    let error = trace.open(folder.path()).unwrap().find_map(Result::err).unwrap().to_string();
    assert!(error.contains("decompresses to more than"), "{error}");
}

#[test]
fn twitter_and_cachelib() {
    let twitter = "0,ns:a,6,3,100,1,get,0\n0,ns:b,6,0,1,gets,0\n1,ns:b,8,40,1,set,60\n2,ns:b,4,0,2,delete,0\n3,c,1,8,2,incr,0\n";
    // The first key contains a comma.
    let records = recognized(twitter.as_bytes(), "twitter");
    assert_eq!(
        records,
        [
            record(Get, b"ns:a,6").at(0).sized(100),
            record(Get, b"ns:b00").at(0),
            record(Put, b"ns:b0000").at(1_000_000_000).sized(40),
            record(Delete, b"ns:b").at(2_000_000_000),
            record(ReadModifyWrite, b"c").at(3_000_000_000).sized(8),
        ]
    );
    let error = read(b"0,a,1,1,1,get,0\n0,a,1,1,1,fly,0\n", Some("twitter")).unwrap_err();
    assert!(error.contains(":2: unknown operation \"fly\""), "{error}");

    let cachelib = "op_time,key,key_size,op,op_count,size,cache_hits\n7,1,4,GET,2,0,1\n8,22,2,SET_LEASE,1,90,0\n9,22,2,DELETE,1,0,0\n";
    let records = recognized(cachelib.as_bytes(), "cachelib");
    assert_eq!(
        records,
        [
            record(Get, b"1000").at(7_000_000_000),
            record(Get, b"1000").at(7_000_000_000),
            record(Put, b"22").at(8_000_000_000).sized(90),
            record(Delete, b"22").at(9_000_000_000),
        ]
    );
    for (text, message) in [
        ("key,size\n", ":1: the header has no column \"op\""),
        ("key,op,size\nk,GET\n", ":2: the row has 2 columns, fewer than the header"),
        ("key,op,size,op_count\nk,GET,1,99999999999\n", ":2: op_count is above 10000000"),
        ("key,op,size\nk,GET,-1\n", ":2: size is \"-1\"; expected a whole number"),
    ] {
        let error = read(text.as_bytes(), Some("cachelib")).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

/// Reads a text as a CSV trace. `columns` contains the parameters that select the columns.
fn csv(text: &str, columns: &str) -> Result<Vec<TraceRecord>, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t"), text).unwrap();
    let toml = format!("[[phase]]\nname = \"r\"\nreplay = {{ kind = \"csv\", file = \"t\", {columns} }}");
    let workload = super::read(&toml);
    let trace = &workload.phases[0].replay().unwrap().trace;
    let stream = trace.open(folder.path()).map_err(|error| error.to_string())?;
    stream.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())
}

#[test]
fn csv_with_a_map_of_its_columns() {
    let own = "time_ns,operation,key,end,count,value_bytes\n5,get,a\\x00\\x2c,,,\n6,put,\"b,\"\"c\",,,12\n,scan,d,e,7,\n,delete_range,x,y,,\n,merge,m,,,8\n";
    let records = recognized(own.as_bytes(), "csv");
    assert_eq!(
        records,
        [
            record(Get, b"a\0,").at(5),
            record(Put, b"b,\"c").at(6).sized(12),
            record(Scan, b"d").until(b"e").entries(7),
            record(DeleteRange, b"x").until(b"y"),
            record(Merge, b"m").sized(8),
        ]
    );
    // MSR Cambridge: time in units of 100 ns since 1601, host, disk, type, offset, size, response time.
    let msr = "128166372003061629,hm,1,Read,8192,4097,100\n128166372016382155,hm,1,Write,0,512,200\n";
    let columns = "header = false, time_unit = \"filetime\", operation = 4, namespace = [2, 3], key = 5, size = 6, \
                   end = 0, count = 0, block = \"4KiB\"";
    let records = csv(msr, columns).unwrap();
    let block = |number: u64| [b"hm:1:", &number.to_be_bytes()[..]].concat();
    let time = 128_166_372_003_061_629 * 100;
    assert_eq!(
        records,
        [
            record(Get, &block(2)).at(time).sized(4096),
            record(Get, &block(3)).at(time).sized(4096),
            record(Put, &block(0)).at(time + 1_332_052_600).sized(4096),
        ]
    );
    // Tencent: time in seconds, offset and size in sectors, 0 for reads and 1 for writes, volume. UMass has seconds
    // with fractions.
    let columns = "header = false, time = 1, time_unit = \"s\", key = 2, size = 3, operation = 4, namespace = [5], \
                   end = 0, count = 0, unit = \"512B\", size_unit = \"512B\", block = \"4KiB\", read = [\"0\"], write = [\"1\"]";
    let records = csv("1.5,16,8,1,283\n", columns).unwrap();
    let key = [b"283:", &2u64.to_be_bytes()[..]].concat();
    assert_eq!(records, [record(Put, &key).at(1_500_000_000).sized(4096)]);
    for (text, columns, message) in [
        ("a\n", "header = false", "the row has 1 columns, but the parameter operation selects column 2"),
        (
            "1,R,9,,,4\n",
            "header = false, read = []",
            "unknown operation \"R\"; set `read`, `write` and `delete`",
        ),
        ("x,get,9,,,4\n", "header = false", "the time is \"x\"; expected a number"),
        ("1,get,9,,,99999999999\n", "header = false, block = \"1B\"", "has more than 65536 blocks"),
        ("1,scan,9,,,\n", "header = false", "a scan has neither an end key nor a number of entries"),
    ] {
        let error = csv(text, columns).unwrap_err();
        assert!(error.contains(":1: ") && error.contains(message), "{error}");
    }
}

#[test]
fn text_of_ycsb_tectonic_and_our_own() {
    let ycsb = "YCSB Client 0.17.0\nLoading workload...\nINSERT usertable user7 [ field1=abc def field0=0123456789 ]\n\
                READ usertable user7 [ <all fields>]\nUPDATE usertable user7 [ field3=xyz ]\n\
                SCAN usertable user1 17 [ <all fields>]\nDELETE usertable user7\n[OVERALL], RunTime(ms), 5\n";
    assert_eq!(
        recognized(ycsb.as_bytes(), "ycsb"),
        [
            record(Put, b"user7").sized(17),
            record(Get, b"user7"),
            record(Put, b"user7").sized(3),
            record(Scan, b"user1").entries(17),
            record(Delete, b"user7"),
        ]
    );
    let tectonic = "FS G\nI a 1 2\nU a 3\nM a +\nP a\nSC a 4\nS a c\nD a\nR a c\nFE G run\n";
    assert_eq!(
        recognized(tectonic.as_bytes(), "tectonic"),
        [
            record(Put, b"a").with_value(b"1 2".to_vec()),
            record(Put, b"a").with_value(b"3".to_vec()),
            record(Merge, b"a").with_value(b"+".to_vec()),
            record(Get, b"a"),
            record(Scan, b"a").entries(4),
            record(Scan, b"a").until(b"c"),
            record(Delete, b"a"),
            record(DeleteRange, b"a").until(b"c"),
        ]
    );
    let error = read(b"P a\nX b\n", Some("tectonic")).unwrap_err();
    assert!(
        error.contains(
            ":2: unknown operation \"X\". Valid: \"I\", \"U\", \"M\", \"P\", \"D\", \"S\", \"SC\", \"R\""
        ),
        "{error}"
    );
    let own = "# ours\np a \"\\x00\"\ng a\nr a b\nm a 7\nd a\n";
    assert_eq!(
        recognized(own.as_bytes(), "text"),
        [
            record(Put, b"a").with_value(vec![0]),
            record(Get, b"a"),
            record(Scan, b"a").until(b"b"),
            record(Merge, b"a").with_value(b"7".to_vec()),
            record(Delete, b"a"),
        ]
    );
}

#[test]
fn redis_monitor_and_append_only_files() {
    let monitor = "OK\n1339518083.107412 [0 127.0.0.1:60866] \"set\" \"k\\x00\\\"\" \"v\\n\"\n\
                   1339518087.877697 [2 lua] \"MGET\" \"a\" \"b\"\n1339518090.420270 [0 [::1]:1] \"ping\"\n\
                   1339518096.506257 [0 unix:/s] \"hset\" \"h\" \"f\" \"1\" \"g\" \"2\"\n1339518099.4 [0 x] \"hgetall\" \"h\"\n";
    let at = |micros: u64| (1_339_518_000_000_000 + micros) * 1000;
    assert_eq!(
        recognized(monitor.as_bytes(), "redis-monitor"),
        [
            record(Put, b"k\0\"").with_value(b"v\n".to_vec()).at(at(83_107_412)),
            record(Get, b"a").in_family(2).at(at(87_877_697)),
            record(Get, b"b").in_family(2).at(at(87_877_697)),
            record(Put, b"h:f").with_value(b"1".to_vec()).at(at(96_506_257)),
            record(Put, b"h:g").with_value(b"2".to_vec()).at(at(96_506_257)),
            record(Scan, b"h:").until(b"h;").at(at(99_000_004)),
        ]
    );
    let error = read(b"1.5 [0 x] \"set\" \"k\n", Some("redis-monitor")).unwrap_err();
    assert!(error.contains(":1: an argument has no closing quote"), "{error}");
    let error = read(b"1.5 [0 x] \"set\" \"k\"\n", Some("redis-monitor")).unwrap_err();
    assert!(
        error.contains(":1: the command SET has 1 arguments; this command needs more arguments"),
        "{error}"
    );

    let aof = b"#TS:100\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\na\r\n\r\n*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n";
    let time = 100_000_000_000;
    assert_eq!(
        recognized(aof, "redis-aof"),
        [
            record(Put, b"k").with_value(b"a\r\n".to_vec()).in_family(3).at(time),
            record(Delete, b"k").in_family(3).at(time),
        ]
    );
    for (bytes, message) in [
        (&aof[..60], "byte 59: the file ends after"),
        (&b"*2\r\n$99999999999\r\n"[..], "byte 4: an argument of a command has 99999999999 bytes"),
        (b"*9999999\r\n", "byte 0: a command of the append-only file has 9999999 words"),
        (b"*1\r\n$4\r\nPINGPONG", "byte 4: the line end after the 4 bytes"),
        (b"REDIS0011\xfa\tredis-ver", "the file begins in RDB format; set aof-use-rdb-preamble no"),
        (b"*1\r\n", "byte 4: the file ends inside of a command"),
    ] {
        let error = read(bytes, Some("redis-aof")).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn block_numbers_of_arc_and_lirs() {
    let keys = |records: Vec<TraceRecord>| {
        let number = |record: TraceRecord| u64::from_be_bytes(record.key.try_into().unwrap());
        records.into_iter().map(number).collect::<Vec<_>>()
    };
    assert_eq!(keys(recognized(b"100 3 0 1\n7 1 0 2\n", "arc")), [100, 101, 102, 7]);
    assert_eq!(keys(recognized(b"5\n\n*\n6\n5\n", "lirs")), [5, 6, 5]);
    let error = read(b"1 99999999 0 1\n", Some("arc")).unwrap_err();
    assert!(error.contains(":1: a request has 99999999 blocks; the maximum is 65536"), "{error}");
    let error = read(b"1\ntwo\n", Some("lirs")).unwrap_err();
    assert!(error.contains(":2: block is \"two\"; expected a whole number"), "{error}");
}

#[test]
fn a_file_of_no_format_is_named() {
    for bytes in [&b"hello world\n"[..], b"", &[0xff; 100], b"PK\x03\x04"] {
        let error = read(bytes, None).unwrap_err();
        assert!(error.contains("unknown trace format; set kind. Valid: \"raw\", \"rocksdb"), "{error}");
    }
    let unknown = TraceFile::new(Path::new("t").to_owned(), Some("rocksdp")).unwrap_err();
    assert!(unknown.message.contains("rocksdb"), "{unknown}");
    assert!(TRACES.kinds().count() >= 14);
}
