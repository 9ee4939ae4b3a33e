//! Tests of replays of recorded operations: values, misses, limits and assumptions.

use std::fs;

use super::plan_in;
use super::workload::{AnswerDigests, Kind, Model, Performer, WorkloadPlan, model_check};

/// Plans one phase that replays the trace `text`. `replay` contains the settings of the replay, and `others` contains
/// the other settings of the phase. The files are in a new folder.
fn plan(text: &str, replay: &str, others: &str) -> (tempfile::TempDir, WorkloadPlan) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t"), text).unwrap();
    let toml = format!("[[phase]]\nname = \"r\"\nreplay = {{ file = \"t\", {replay} }}\n{others}");
    let plan = plan_in(&toml, folder.path());
    (folder, plan)
}

const TWITTER: &str = "1,a,1,30,1,get,0\n2,b,1,50,1,set,0\n2,a,1,30,1,get,0\n4,b,1,50,1,get,0\n5,b,1,0,1,delete,0\n6,b,1,0,1,get,0\n";

/// Executes a replay. Returns the kinds of the operations, the sizes of the written values, and the model.
fn run(plan: &WorkloadPlan) -> (Vec<Kind>, Vec<usize>, Model, AnswerDigests) {
    let (model, mut record) = (Model::default(), AnswerDigests::new(1));
    let mut performer = Performer::new(&model);
    let mut replay = plan.phases()[0].replay().unwrap().open().unwrap();
    let (mut kinds, mut sizes) = (Vec::new(), Vec::new());
    while let Some(due) = replay.next().unwrap() {
        let outcome = performer.request(&due.request, true).unwrap();
        replay.answer(outcome);
        record.done(|| performer.digest());
        kinds.push(due.request.kind());
        if let super::workload::Request::Put { value, .. } = &due.request {
            sizes.push(value.len());
        }
    }
    (kinds, sizes, model, record)
}

#[test]
fn a_cache_is_filled_where_a_get_misses() {
    use Kind::{Delete, Get, Put};
    let (_folder, absent) = plan(TWITTER, "", "");
    let (kinds, sizes, model, _) = run(&absent);
    assert_eq!((kinds, sizes, model.len()), (vec![Get, Put, Get, Get, Delete, Get], vec![50], 0));
    let (_folder, fill) = plan(TWITTER, "miss = \"fill\"", "value = { bytes = 7 }");
    let (kinds, sizes, model, record) = run(&fill);
    assert_eq!(kinds, [Get, Put, Put, Get, Get, Delete, Get, Put]);
    assert_eq!((sizes, model.len(), model.live_bytes()), (vec![30, 50, 7], 2, 39));
    let replay = fill.phases()[0].replay().unwrap();
    let again = Model::default();
    let verdict = model_check::check(replay.open().unwrap(), &record, &again, u64::MAX).unwrap();
    assert_eq!((verdict.checked, verdict.wrong, verdict.has_stopped), (4, 0, false));
    assert_eq!(model_check::compare(&model, &again).unwrap(), None);
    // The check stops because the model exceeds the size limit.
    let verdict = model_check::check(replay.open().unwrap(), &record, &Model::default(), 40).unwrap();
    assert!(verdict.has_stopped && verdict.checked < 4);
    let assumed = replay.check().unwrap().join("\n");
    assert!(assumed.contains("t is recognized as a trace of kind \"twitter\""), "{assumed}");
    assert!(assumed.contains("the trace does not record the values of 1 writes; lsmbench gen"), "{assumed}");
    assert!(assumed.contains("after a get that finds no value, the replay puts"), "{assumed}");
}

#[test]
fn operations_end_a_replay_and_speed_keeps_its_times() {
    let (_folder, three) = plan(TWITTER, "speed = 2.0", "operations = 3");
    let mut replay = three.phases()[0].replay().unwrap().open().unwrap();
    let mut due = Vec::new();
    while let Some(next) = replay.next().unwrap() {
        due.push(next.due_ns);
    }
    assert_eq!(due, [Some(0), Some(500_000_000), Some(500_000_000)]);
}

#[test]
fn scans_range_deletes_and_merges_do_what_they_say() {
    let text = "I a 1\nI b 2\nI c 3\nI d 4\nSC b 2\nS a c\nM a 9\nR b d\nSC a 9\n";
    let (_folder, plan) = plan(text, "", "");
    let (kinds, _, model, record) = run(&plan);
    assert_eq!(kinds[4..], [Kind::Range, Kind::Range, Kind::Merge, Kind::DeleteRange, Kind::Range]);
    assert_eq!((model.len(), record.operations()), (2, 9));
    let assumed = plan.phases()[0].replay().unwrap().check().unwrap().join("\n");
    assert!(assumed.contains("executes 1 range deletes as a scan and a delete per key"), "{assumed}");
    assert!(assumed.contains("executes 1 merges as a get of the key and a put whose value"), "{assumed}");
}

#[test]
fn what_a_replay_cannot_do_names_its_key() {
    for (phase, key, message) in [
        (
            "replay = { file = \"t\", width = 4 }",
            "replay.width",
            "a replay without a kind has no key \"width\"",
        ),
        ("replay = { file = \"t\", speed = 0 }", "replay.speed", "it must be above 0"),
        ("replay = { file = \"t\", miss = \"hit\" }", "replay.miss", "fill"),
        (
            "replay = { file = \"t\" }\nthreads = 2",
            "threads",
            "a replay keeps the recorded order of operations; set threads = 1",
        ),
        ("replay = { file = \"t\", speed = 1.0 }\nrate = 100", "rate", "remove `rate` or `replay.speed`"),
        (
            "replay = { file = \"t\" }\nrange = 4",
            "range",
            "the operations of the trace determine this setting",
        ),
        (
            "replay = { file = \"t\", miss = \"fill\" }\nmix = \"get\"",
            "replay.miss",
            "remove `miss` or `mix`",
        ),
        (
            "replay = { kind = \"twitter\", file = \"t\" }\nmix = \"get\"",
            "replay.kind",
            "a mix cannot use them",
        ),
        ("replay = { kind = \"lirz\", file = \"t\" }", "replay.kind", "did you mean \"lirs\""),
    ] {
        let table = format!("[[phase]]\nname = \"x\"\n{phase}").parse().unwrap();
        let error = super::workload::Workload::from_toml(&table).unwrap_err();
        assert_eq!(error.key, Some(format!("phase.x.{key}")), "{phase}: {error}");
        assert!(error.message.contains(message), "{phase}: {error}");
    }
}

/// Tests that the TOML of a replay phase parses to an equal phase.
#[test]
fn replays_read_back() {
    for phase in [
        "replay = { file = \"t\" }",
        "replay = { kind = \"text\", file = \"t\" }",
        "replay = { kind = \"lirs\", file = \"t\" }",
        "replay = { kind = \"lirs\", file = \"t\", miss = \"fill\" }",
        "replay = { kind = \"lirs\", file = \"t\", miss = \"absent\" }",
        "replay = { kind = \"csv\", file = \"t\", size = 0, speed = 2.5 }\noperations = 9",
        "replay = { kind = \"oracle-general\", file = \"t\" }\nmix = { get = 1, put = 1 }",
    ] {
        let workload = super::read(&format!("[[phase]]\nname = \"x\"\n{phase}"));
        assert_eq!(super::workload::Workload::from_toml(&workload.to_toml()), Ok(workload), "{phase}");
    }
}
