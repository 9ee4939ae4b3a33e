//! Tests that a stream and the replay of its printed text have equal effects on a store.

use std::io::BufReader;

use super::workload::{
    Batch, Command, CommandReader, Extent, Kind, Model, Performer, Request, Scan, Target, write_operations,
};
use super::{loaded, plan, plan_in};

fn entries(model: &Model) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut entries = Vec::new();
    let all = Scan { low: b"", high: None, direction: types::Direction::Forward, limit: usize::MAX };
    model.range(&all, &mut |key, value| entries.push((key.to_vec(), value.to_vec()))).unwrap();
    entries
}

#[test]
fn printed_operations_replay() {
    for format in ["u64", "user", "decimal(bytes=8B)"] {
        let plan = plan(&format!(
            "key = \"{format}\"\n[[phase]]\nname = \"load\"\ninsert = 300\nbatch = 7\n\
             [[phase]]\nname = \"run\"\noperations = 1000\nbatch = 3\nabsent = 0.2\n\
             mix = {{ get = 1, put = 1, insert = 1, delete = 1, range = 1, rmw = 1, batch = 1, multi_get = 1 }}\n\
             range = {{ entries = 5, backward = 0.5 }}"
        ));
        let (direct, replayed) = (Model::default(), Model::default());
        let mut text = Vec::new();
        for (phase, from) in plan.phases().iter().zip([Extent::default(), loaded(300)]) {
            let mut performer = Performer::new(&direct);
            let mut batch = Batch::default();
            let mut stream = phase.streams(from).remove(0);
            while stream.fill(&mut batch, 64) > 0 {
                for at in batch.heads() {
                    performer.perform(&batch, at, false).unwrap();
                }
            }
            let written = write_operations(phase, from, u64::MAX, &mut text).unwrap();
            assert_eq!(Some(written), phase.operations());
        }
        let mut performer = Performer::new(&replayed);
        let mut ranges = 0;
        for command in CommandReader::new(BufReader::new(&text[..])) {
            let command = command.unwrap();
            let request = Request::of_command(command.clone()).unwrap();
            let outcome = performer.request(&request, true).unwrap();
            if let Command::Range { low, high } = &command {
                assert!(low < high, "{command}");
                assert!(outcome.entries <= 5, "{command}: {outcome:?}");
                ranges += outcome.entries;
            }
        }
        assert!(ranges > 300, "{format}: ranges found {ranges} entries");
        assert_eq!(entries(&direct), entries(&replayed), "{format}");
    }
}

/// Tests that a scan in printed text reads as many entries as the original scan. The test adds the keys in random order
/// and inserts further keys later.
#[test]
fn printed_scans_have_their_number_of_entries() {
    for format in ["u64", "user", "decimal(bytes=8B)", "u64(scattered=true)"] {
        let plan = plan(&format!(
            "key = \"{format}\"\n[[phase]]\nname = \"load\"\ninsert = 1000\n\
             [[phase]]\nname = \"run\"\noperations = 300\nmix = {{ range = 0.9, insert = 0.1 }}\n\
             range = {{ entries = 100, backward = 0.5 }}"
        ));
        let (direct, replayed) = (Model::default(), Model::default());
        let mut text = Vec::new();
        let mut entries = Vec::new();
        for (phase, from) in plan.phases().iter().zip([Extent::default(), loaded(1000)]) {
            let (mut performer, mut batch) = (Performer::new(&direct), Batch::default());
            let mut stream = phase.streams(from).remove(0);
            while stream.fill(&mut batch, 64) > 0 {
                for at in batch.heads() {
                    let outcome = performer.perform(&batch, at, false).unwrap();
                    let is_scan = batch.operations()[at].kind == Kind::Range;
                    entries.extend(is_scan.then_some(outcome.entries));
                }
            }
            write_operations(phase, from, u64::MAX, &mut text).unwrap();
        }
        let mut performer = Performer::new(&replayed);
        let mut printed = Vec::new();
        for command in CommandReader::new(BufReader::new(&text[..])) {
            let request = Request::of_command(command.unwrap()).unwrap();
            let outcome = performer.request(&request, false).unwrap();
            printed.extend((request.kind() == Kind::Range).then_some(outcome.entries));
        }
        assert_eq!(printed, entries, "{format}");
        assert!(entries.iter().filter(|entries| **entries == 100).count() > 200, "{format}: {entries:?}");
    }
}

/// Tests that `lsmbench workload --limit` prints the operations of all threads in turn.
#[test]
fn the_first_operations_are_those_of_all_threads_in_turn() {
    let plan = plan(
        "key = \"decimal(bytes=4B)\"\n[[phase]]\nname = \"load\"\ninsert = 6\norder = \"sequential\"\n\
         threads = 2\nvalue = { bytes = 0 }",
    );
    let mut text = Vec::new();
    assert_eq!(write_operations(&plan.phases()[0], Extent::default(), 5, &mut text).unwrap(), 5);
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text, "p 0000 \"\"\np 0002 \"\"\np 0004 \"\"\np 0006 \"\"\np 0008 \"\"\n");
}

#[test]
fn a_text_phase_names_its_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ops.txt"), "p a 1\ng a\n").unwrap();
    let toml = "[[phase]]\nname = \"r\"\nreplay = { kind = \"text\", file = \"ops.txt\" }";
    let plan = plan_in(toml, folder.path());
    let phase = &plan.phases()[0];
    assert_eq!((phase.operations(), phase.streams(Extent::default()).len()), (None, 0));
    let model = Model::default();
    let mut performer = Performer::new(&model);
    let mut replay = phase.replay().unwrap().open().unwrap();
    let mut found = Vec::new();
    while let Some(due) = replay.next().unwrap() {
        let outcome = performer.request(&due.request, false).unwrap();
        replay.answer(outcome);
        found.push(outcome.found);
    }
    assert_eq!((found, performer.value()), (vec![0, 1], Some(&b"1"[..])));
}
