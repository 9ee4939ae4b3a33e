//! Tests that right answers pass and wrong answers are detected, with one thread and with several.

use std::sync::atomic::{AtomicU64, Ordering};

use super::workload::{
    AnswerDigests, Batch, CheckResult, Extent, Model, NoOp, Performer, PhasePlan, Scan, Shadow, Target,
    TargetError, WorkloadPlan, Write, check,
};
use super::{mixed, plan};

/// Runs a phase with the number of threads that the phase requests. The result contains every `stride`-th answer.
fn perform(
    phase: &std::sync::Arc<PhasePlan>,
    from: Extent,
    target: &dyn Target,
    stride: u64,
) -> Vec<AnswerDigests> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = phase
            .streams(from)
            .into_iter()
            .map(|mut stream| {
                scope.spawn(move || {
                    let (mut performer, mut record) = (Performer::new(target), AnswerDigests::new(stride));
                    let mut batch = Batch::default();
                    while stream.fill(&mut batch, Batch::OPERATIONS) > 0 {
                        for at in batch.heads() {
                            performer.perform(&batch, at, record.wants()).unwrap();
                            record.done(|| performer.digest());
                        }
                    }
                    record
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Runs all phases of a plan, and checks each phase. Returns the results of the checks, and the expected state at
/// the end.
fn run(plan: &WorkloadPlan, target: &dyn Target) -> (Vec<CheckResult>, Shadow) {
    let (mut shadow, mut extent) = (Shadow::new(plan.format()), Extent::default());
    let mut verdicts = Vec::new();
    for phase in plan.phases() {
        let records = perform(phase, extent, target, 1);
        let verdict = check(phase, extent, &records, &mut shadow);
        extent = verdict.extent;
        verdicts.push(verdict);
    }
    (verdicts, shadow)
}

const EVERYTHING: &str = "operations = 6000\nbatch = 4\nabsent = 0.3\n\
    mix = { get = 3, put = 2, insert = 1, delete = 1, range = 1, rmw = 1, batch = 1, multi_get = 1 }\n\
    range = { kind = \"uniform\", max = 20, backward = 0.4 }\n\
    value = { kind = \"uniform\", min = 0, max = 300 }\nkeys = \"zipfian\"";

/// Tests scans with a span, which may be empty. The scans start at present and absent keys, in formats that keep the
/// order of keys and in a format that scatters keys.
#[test]
fn ranges_with_a_span_are_answered_right() {
    for (format, span) in [("u64", 9), ("decimal(bytes=9B)", 9), ("u64(bytes=2B, scattered=true)", 200)] {
        let plan = plan(&format!(
            "key = \"{format}\"\n[[phase]]\nname = \"load\"\ninsert = 800\n\
             [[phase]]\nname = \"run\"\noperations = 3000\nabsent = 0.5\n\
             mix = {{ range = 3, delete = 1 }}\nrange = {{ entries = 3, backward = 0.5, span = {span} }}"
        ));
        let model = Model::default();
        let (verdicts, _) = run(&plan, &model);
        assert_eq!(
            (verdicts[1].wrong, verdicts[1].unchecked),
            (0, 0),
            "{format}: {:?}",
            verdicts[1].examples
        );
        let (mut empty, mut full, mut cut) = (0, 0, 0);
        let mut stream = plan.phases()[1].streams(super::loaded(800)).remove(0);
        let (mut batch, mut performer) = (Batch::default(), Performer::new(&model));
        while stream.fill(&mut batch, Batch::OPERATIONS) > 0 {
            for at in batch.heads().filter(|at| batch.operations()[*at].span > 0) {
                let entries = performer.perform(&batch, at, false).unwrap().entries;
                assert!(batch.key(at) < batch.end(at).unwrap());
                (empty, full) = (empty + u32::from(entries == 0), full + u32::from(entries > 0));
                cut += u32::from(entries == 3);
            }
        }
        assert!(empty > 100 && full > 500 && cut > 100, "{format}: {empty} empty, {full} full, {cut} cut");
    }
}

fn everything(format: &str, more: &str) -> WorkloadPlan {
    plan(
        &format!(
            "key = \"{format}\"\n[[phase]]\nname = \"load\"\ninsert = 800\nbatch = 3\n{more}\n\
         [[phase]]\nname = \"run\"\n{EVERYTHING}\n{more}\n\
         [[phase]]\nname = \"again\"\n{EVERYTHING}\nvalue.compressible = 0.9\n{more}"
        )
        .replace(
            "max = 300 }\nkeys = \"zipfian\"\nvalue.compressible = 0.9",
            "max = 90, compressible = 0.9 }\nkeys = \"latest\"",
        ),
    )
}

/// Tests every kind of operation in every key format on the reference store. No answer may be wrong, every answer
/// must be checked, and the expected state must have the exact number of live bytes.
#[test]
fn the_reference_store_answers_rightly() {
    for format in ["u64", "decimal(scattered=true)", "user", "u64(bytes=8B, scattered=true)"] {
        let plan = everything(format, "");
        let model = Model::default();
        let (verdicts, mut shadow) = run(&plan, &model);
        for verdict in &verdicts {
            assert_eq!((verdict.wrong, verdict.unchecked), (0, 0), "{format}: {:?}", verdict.examples);
        }
        let answers = 6000.0 * 6.0 / 11.0;
        assert!((verdicts[1].checked as f64 - answers).abs() < 200.0, "{}", verdicts[1].checked);
        assert_eq!(shadow.live_keys(), model.len() as u64, "{format}");
        assert_eq!(shadow.live_bytes(), model.live_bytes(), "{format}");
        let whole = shadow.verify(&model).unwrap();
        assert_eq!((whole.entries, whole.wrong, whole.first), (model.len() as u64, 0, None));
    }
}

#[test]
fn threads_at_the_same_time_are_checked_as_far_as_can_be_known() {
    for format in ["u64", "user"] {
        let plan = everything(format, "threads = 4");
        let model = Model::default();
        let (verdicts, mut shadow) = run(&plan, &model);
        for verdict in &verdicts {
            assert_eq!(verdict.wrong, 0, "{format}: {:?}", verdict.examples);
        }
        assert!(verdicts[1].unchecked > 500 && verdicts[1].checked > 2000, "{:?}", verdicts[1]);
        assert_eq!(shadow.live_bytes(), model.live_bytes(), "{format}");
        assert_eq!(shadow.verify(&model).unwrap().wrong, 0);
    }
}

/// The reference store with one fault.
struct Faulty {
    model: Model,
    fault: Fault,
    calls: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Occasionally loses a put.
    LosesPuts,
    /// Occasionally loses a delete.
    LosesDeletes,
    /// Occasionally returns a value with one wrong bit.
    FlipsBits,
    /// Occasionally does not find an existing key.
    FindsNothing,
    /// Finds a key that is absent.
    FindsGhosts,
    /// Occasionally omits the second entry of a scan.
    SkipsEntries,
    /// Returns an additional entry at the end of a scan.
    GoesTooFar,
    /// Loses the second half of the writes of a batch.
    TearsBatches,
}

impl Faulty {
    fn new(fault: Fault) -> Self {
        Self { model: Model::default(), fault, calls: AtomicU64::new(0) }
    }

    /// Returns whether the fault occurs at the current call.
    fn strikes(&self, fault: Fault) -> bool {
        self.fault == fault && self.calls.fetch_add(1, Ordering::Relaxed) % 50 == 49
    }
}

impl Target for Faulty {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        if self.strikes(Fault::LosesPuts) { Ok(()) } else { self.model.put(key, value) }
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let found = self.model.get(key, value)?;
        if found && self.strikes(Fault::FlipsBits) {
            match value.last_mut() {
                Some(last) => *last ^= 1,
                None => value.push(1),
            }
        }
        if !found && self.fault == Fault::FindsGhosts {
            return Ok(true);
        }
        Ok(found && !self.strikes(Fault::FindsNothing))
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        if self.strikes(Fault::LosesDeletes) { Ok(()) } else { self.model.delete(key) }
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let skips = self.strikes(Fault::SkipsEntries);
        let further = usize::from(self.fault == Fault::GoesTooFar);
        let mut read = 0;
        let limit = scan.limit.saturating_add(further);
        self.model.range(&Scan { limit, ..*scan }, &mut |key, value| {
            read += 1;
            if !(skips && read == 2) {
                visit(key, value);
            }
        })
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        let whole = if self.fault == Fault::TearsBatches { writes.len() / 2 } else { writes.len() };
        self.model.write(&writes[..whole])
    }

    fn flush(&self) -> Result<(), TargetError> {
        self.model.flush()
    }

    fn settle(&self) -> Result<(), TargetError> {
        self.model.settle()
    }

    fn close(&self) -> Result<(), TargetError> {
        self.model.close()
    }
}

#[test]
fn every_fault_is_seen() {
    let faults = [
        Fault::LosesPuts,
        Fault::LosesDeletes,
        Fault::FlipsBits,
        Fault::FindsNothing,
        Fault::FindsGhosts,
        Fault::SkipsEntries,
        Fault::GoesTooFar,
        Fault::TearsBatches,
    ];
    for threads in [1, 3] {
        let plan = everything("u64", &format!("threads = {threads}"));
        for fault in faults {
            // With several threads, the answers of scans are unknown while other threads write.
            if threads > 1 && matches!(fault, Fault::SkipsEntries | Fault::GoesTooFar) {
                continue;
            }
            // With several threads, a few answers after the fault may be unknown in one run.
            let attempts = if threads > 1 { 5 } else { 1 };
            let example = (0..attempts).find_map(|_| {
                let (verdicts, _) = run(&plan, &Faulty::new(fault));
                verdicts.iter().find_map(|verdict| verdict.examples.first().map(ToString::to_string))
            });
            let example = example.unwrap_or_else(|| panic!("{threads} threads: {fault:?} was not seen"));
            assert!(example.contains("wrong answer of"), "{example}");
        }
    }
}

/// Tests that the comparison of the whole store detects a store that becomes wrong after the phase.
#[test]
fn the_whole_store_is_compared() {
    let plan = mixed(500, "operations = 1\nmix = \"get\"");
    let (model, mut shadow) = (Model::default(), Shadow::new(plan.format()));
    let phase = &plan.phases()[0];
    let records = perform(phase, Extent::default(), &model, 0);
    assert_eq!(check(phase, Extent::default(), &records, &mut shadow).checked, 0);
    assert_eq!(shadow.verify(&model).unwrap().wrong, 0);

    let mut keys = Vec::new();
    let all = Scan { low: b"", high: None, direction: types::Direction::Forward, limit: 500 };
    model.range(&all, &mut |key, _| keys.push(key.to_vec())).unwrap();
    model.delete(&keys[0]).unwrap();
    model.delete(&keys[499]).unwrap();
    model.put(&keys[100], b"another value").unwrap();
    model.put(b"a ghost", b"").unwrap();
    let verdict = shadow.verify(&model).unwrap();
    assert_eq!((verdict.entries, verdict.wrong), (499, 4));
    assert!(verdict.first.unwrap().ends_with("is missing"));
}

/// Tests that only every n-th answer is kept, and that a stopped thread is checked only up to its last executed
/// operation.
#[test]
fn samples_and_early_ends_are_checked_in_step() {
    let plan =
        mixed(300, "seconds = 1\nmix = { get = 1, put = 1, insert = 1, delete = 1, batch = 1 }\nbatch = 5");
    let (model, mut shadow) = (Model::default(), Shadow::new(plan.format()));
    let load = perform(&plan.phases()[0], Extent::default(), &model, 0);
    let loaded = check(&plan.phases()[0], Extent::default(), &load, &mut shadow).extent;

    let phase = &plan.phases()[1];
    let mut stream = phase.streams(loaded).remove(0);
    let (mut performer, mut record, mut batch) =
        (Performer::new(&model), AnswerDigests::new(7), Batch::default());
    'phase: loop {
        stream.fill(&mut batch, 100);
        for at in batch.heads() {
            if record.operations() == 1234 {
                break 'phase;
            }
            performer.perform(&batch, at, record.wants()).unwrap();
            record.done(|| performer.digest());
        }
    }
    let verdict = check(phase, loaded, &[record], &mut shadow);
    // One fifth of the operations are gets, and every seventh answer is kept.
    assert!((20..60).contains(&verdict.checked) && verdict.wrong == 0, "{verdict:?}");
    assert_eq!(shadow.verify(&model).unwrap().wrong, 0, "the shadow stands where the store does");
    assert!(verdict.extent.keys < stream.extent().keys, "what was not done does not count");
}

/// Tests that the store that does nothing accepts every write and finds nothing.
#[test]
fn the_no_op_store_takes_everything() {
    let plan = everything("u64", "");
    let (verdicts, _) = run(&plan, &NoOp);
    assert!(verdicts[1].wrong > 1000);
}

/// A store that loses some keys. If `lies` is set, the store sometimes returns an earlier value of a key.
struct Forgetful {
    model: Model,
    lies: bool,
}

impl Forgetful {
    fn forgot(key: &[u8]) -> bool {
        key.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)).is_multiple_of(8)
    }
}

impl Target for Forgetful {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        // The fault: the second version of a key is not written.
        let stale = self.lies && self.model.get(key, &mut Vec::new())?;
        if stale { Ok(()) } else { self.model.put(key, value) }
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        Ok(!Self::forgot(key) && self.model.get(key, value)?)
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.model.delete(key)
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let mut left = scan.limit;
        self.model.range(&Scan { limit: usize::MAX, ..*scan }, &mut |key, value| {
            if left > 0 && !Self::forgot(key) {
                left -= 1;
                visit(key, value);
            }
        })?;
        Ok(scan.limit - left)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        self.model.write(writes)
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        self.model.multi_get(keys, &mut |at, value| visit(at, value.filter(|_| !Self::forgot(keys[at]))))
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(())
    }
}

/// Tests a store that may drop data. For such a store, a missing key is right, but an older value is wrong.
#[test]
fn of_a_store_that_drops_only_wrong_values_are_wrong() {
    let plan = everything("u64", "");
    let judge = |lies, drops| {
        let target = Forgetful { model: Model::default(), lies };
        let shadow = Shadow::new(plan.format());
        let mut shadow = if drops { shadow.of_a_store_that_drops() } else { shadow };
        let mut sums = CheckResult::default();
        let mut extent = Extent::default();
        for phase in plan.phases() {
            let verdict = check(phase, extent, &perform(phase, extent, &target, 1), &mut shadow);
            extent = verdict.extent;
            sums.wrong += verdict.wrong;
            sums.dropped += verdict.dropped;
            sums.unchecked += verdict.unchecked;
        }
        let whole = shadow.verify(&target).unwrap();
        (sums.wrong, sums.dropped, sums.unchecked, whole.wrong, whole.dropped)
    };
    let (wrong, dropped, unchecked, missing, _) = judge(false, false);
    assert!(
        wrong > 300 && missing > 80 && dropped + unchecked == 0,
        "{wrong} {missing} {dropped} {unchecked}"
    );
    let (wrong, dropped, unchecked, missing, gone) = judge(false, true);
    assert!(dropped > 200 && unchecked > 200 && gone > 80, "{dropped} {unchecked} {gone}");
    assert_eq!((wrong, missing), (0, 0));
    let (wrong, _, _, stale, _) = judge(true, true);
    assert!(wrong > 200 && stale > 80, "{wrong} {stale}");
}
