//! Tests of raw traces: small generated traces, and a published trace if its file is available.

use std::path::{Path, PathBuf};

use super::plan_in;
use super::workload::{
    AnswerDigests, Batch, Endian, Extent, Model, Performer, Profile, Recording, Shadow, TRACES, TraceError,
    TraceFile, check,
};

/// Returns the folder with downloaded data next to the repository, if the folder exists.
fn shared_data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    folder.join("orm-busy.trace.xz").is_file().then_some(folder)
}

/// Tests that a replay keeps the recorded bytes of keys and the recorded order of accesses.
#[test]
fn a_trace_is_replayed_in_recorded_order() {
    let folder = tempfile::tempdir().unwrap();
    let accesses: [u32; 8] = [7, 0xF000_0001, 7, 3, 3, 7, 42, 0];
    let bytes: Vec<u8> = accesses.iter().flat_map(|access| access.to_be_bytes()).collect();
    std::fs::write(folder.path().join("t"), bytes).unwrap();
    let toml = "key = \"trace\"\n[[phase]]\nname = \"load\"\ninsert = \"all\"\n\
                [[phase]]\nname = \"replay\"\nreplay = { kind = \"raw\", file = \"t\" }\n\
                [[phase]]\nname = \"write\"\nreplay = { kind = \"raw\", file = \"t\" }\noperations = 5\n\
                mix = { put = 1, delete = 1, rmw = 1, get = 1 }";
    let plan = plan_in(toml, folder.path());
    let (model, mut shadow) = (Model::default(), Shadow::new(plan.format()));
    let (mut extent, mut keys) = (Extent::default(), Vec::new());
    for phase in plan.phases() {
        let (mut performer, mut record) = (Performer::new(&model), AnswerDigests::new(1));
        let (mut stream, mut batch) = (phase.streams(extent).remove(0), Batch::default());
        while stream.fill(&mut batch, 3) > 0 {
            for at in batch.heads() {
                performer.perform(&batch, at, record.wants()).unwrap();
                record.done(|| performer.digest());
                keys.push(u32::from_be_bytes(batch.key(at).try_into().unwrap()));
            }
        }
        let verdict = check(phase, extent, &[record], &mut shadow);
        assert_eq!((verdict.wrong, verdict.extent.keys), (0, 5), "{:?}", verdict.examples);
        extent = verdict.extent;
    }
    assert_eq!(keys[5..13], accesses);
    assert_eq!(keys[13..], accesses[..5]);
    assert_eq!(shadow.verify(&model).unwrap().wrong, 0);

    let threads =
        plan_in(&toml.replace("file = \"t\" }\n[", "file = \"t\" }\nthreads = 3\n["), folder.path());
    let mut dealt: Vec<u64> = Vec::new();
    for thread in 0..3 {
        let all = super::operations(&threads.phases()[1], Extent::default(), thread, 2).0;
        dealt.extend(all.iter().map(|operation| operation.key.index()));
    }
    assert_eq!(dealt.len(), 8);
}

/// Tests that lsmbench rejects a workload that requests more operations than the trace has accesses, before anything
/// runs.
#[test]
fn a_trace_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t"), [0; 12]).unwrap();
    let toml = "[[phase]]\nname = \"r\"\noperations = 4\nreplay = { kind = \"raw\", file = \"t\" }";
    let error = super::workload::WorkloadPlan::new(&super::read(toml), 1, folder.path()).err().unwrap();
    assert!(error.to_string().contains("the trace has 3 accesses"), "{error}");
}

/// Tests the published trace of an object-relational mapper, which has 5 million accesses to 76 349 keys.
#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn the_real_trace_decodes() {
    let Some(data) = shared_data() else {
        eprintln!("left out: there is no ../shared/data/orm-busy.trace.xz beside the repository");
        return;
    };
    let toml = "key = \"trace\"\n[[phase]]\nname = \"load\"\ninsert = \"all\"\n[[phase]]\nname = \"replay\"\n\
                replay = { kind = \"raw\", file = \"orm-busy.trace.xz\", width = 4, endian = \"big\" }";
    let plan = plan_in(toml, &data);
    assert_eq!(plan.phases()[0].operations(), Some(76_349));
    assert_eq!(plan.phases()[1].operations(), Some(5_000_000));
    let loaded = Extent { keys: 76_349, versions: 76_349, retired: 0 };
    let profile = Profile::realised(&plan.phases()[1], loaded, None);
    assert_eq!(profile.keys_touched, Some(76_349));
    for (share, expected) in [
        (profile.hottest_key, 0.005_442),
        (profile.hottest_1_percent, 0.334_1),
        (profile.hottest_10_percent, 0.757_8),
    ] {
        assert!((share.unwrap() - expected).abs() < 2e-4, "{share:?}, expected {expected}");
    }
    let mut batch = Batch::default();
    plan.phases()[1].streams(loaded)[0].fill(&mut batch, 5);
    let first: Vec<&[u8]> = (0..5).map(|at| batch.key(at)).collect();
    let recorded = [4_026_531_841u32, 2_281_701_888, 2_281_702_400, 2_281_702_912, 2_281_703_424];
    assert_eq!(first, recorded.map(u32::to_be_bytes));
}

fn raw(folder: &Path, name: &str, bytes: &[u8], width: usize, endian: Endian) -> TraceFile {
    std::fs::write(folder.join(name), bytes).unwrap();
    TraceFile::raw(name.into(), width, endian).unwrap()
}

#[test]
fn numbers_are_read_in_both_orders_and_all_widths() {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (1..=16).collect();
    for (width, endian, first) in [
        (1, Endian::Big, 0x01),
        (2, Endian::Big, 0x0102),
        (4, Endian::Little, 0x0403_0201),
        (8, Endian::Big, 0x0102_0304_0506_0708),
    ] {
        let trace = raw(folder.path(), "t", &bytes, width, endian);
        let numbers = trace.read(folder.path()).unwrap();
        assert_eq!((numbers.len(), numbers[0]), (16 / width, first));
    }
}

#[test]
fn the_catalog_keeps_its_contract_and_a_width_is_checked() {
    catalog::laws::check(&TRACES).unwrap();
    let error = TraceFile::raw("t".into(), 3, Endian::Big).unwrap_err();
    assert!(error.message.contains("width is 3; it must be 1, 2, 4 or 8 bytes"), "{error}");
}

#[test]
fn keys_are_numbered_in_ascending_order_over_all_traces() {
    let folder = tempfile::tempdir().unwrap();
    let a = raw(folder.path(), "a", &[9, 3, 9], 1, Endian::Big);
    let b = raw(folder.path(), "b", &[5, 3], 1, Endian::Big);
    let (recording, accesses) = Recording::read(&[&a, &b], folder.path()).unwrap().unwrap();
    assert_eq!(recording.numbers(), [3, 5, 9]);
    assert_eq!([&*accesses[0], &*accesses[1]], [&[2, 0, 2][..], &[1, 0][..]]);
    assert!(Recording::read(&[], folder.path()).unwrap().is_none());
}

#[test]
fn wrong_files_are_described() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let torn = raw(at, "torn", &[1, 2, 3, 4, 5], 4, Endian::Big).read(at).unwrap_err().to_string();
    assert!(torn.contains("byte 4: the file length is not a multiple of width = 4 bytes"), "{torn}");
    let empty = raw(at, "empty", &[], 4, Endian::Big).read(at).unwrap_err();
    assert!(empty.to_string().contains("no accesses"), "{empty}");
    let broken = raw(at, "broken.xz", b"\xfd7zXZ\0garbage", 4, Endian::Big).read(at).unwrap_err();
    assert!(matches!(broken, TraceError::Read { .. }), "{broken}");
    let missing = TraceFile::raw("missing".into(), 4, Endian::Big).unwrap();
    assert!(missing.read(at).unwrap_err().to_string().contains("check the path"));
    let (a, b) = (raw(at, "a", &[1], 1, Endian::Big), raw(at, "b", &[1, 2], 2, Endian::Big));
    assert!(matches!(Recording::read(&[&a, &b], at), Err(TraceError::Widths { first: 1, second: 2 })));
}
