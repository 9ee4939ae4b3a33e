//! Tests policy processes that give wrong answers, end, hang, or request jobs without end.

use std::time::Instant;

use super::*;
use crate::job::Action;
use crate::testing::shape;

/// Builds the policy of a shell that sends a correct greeting and then runs `script`.
fn policy(script: &str, timeout: &str) -> Box<dyn CompactionPolicy> {
    let script = format!("read -r greeting; echo '{{\"protocol\": 1}}'; {script}");
    built(&["sh", "-c", &script], timeout).unwrap()
}

fn built(command: &[&str], timeout: &str) -> Result<Box<dyn CompactionPolicy>, String> {
    let timeout = toml::Value::from(timeout).try_into().unwrap();
    let command = command.iter().map(|&word| word.to_owned()).collect();
    <Builder<crate::Policies> as Build<_>>::build(Params { command, timeout, ..Params::default() })
}

/// Returns the failure of a policy after one request. Checks that the policy does not recover.
fn failure(policy: &dyn CompactionPolicy) -> String {
    let shape = shape(&[&[1, 1], &[3, 3]]);
    assert_eq!(policy.failure(), None);
    assert_eq!(policy.pick(&shape), None);
    let failure = policy.failure().expect("it has failed");
    assert_eq!(policy.pick(&shape), None);
    assert_eq!(policy.failure().as_ref(), Some(&failure));
    failure
}

#[test]
fn a_process_is_asked_again_and_again() {
    let policy = policy(r#"while read -r shape; do echo '{"inputs": [1, 2], "level": 1}'; done"#, "10s");
    for _ in 0..3 {
        let job = policy.pick(&shape(&[&[1, 1], &[3, 3]])).unwrap();
        assert_eq!((&job.inputs[..], job.level, job.run, job.action), (&[1, 2][..], 1, None, Action::Merge));
    }
    assert_eq!(policy.failure(), None);
}

#[test]
fn rubbish_is_named() {
    for rubbish in ["rubbish", "{}", "[1, 2]", "{\"inputs\": []}", ""] {
        let script = format!("while read -r shape; do echo '{rubbish}'; done");
        let failure = failure(&*policy(&script, "10s"));
        assert!(failure.starts_with("the policy process [\"sh\", \"-c\", "), "{failure}");
        assert!(failure.contains("an answer of the policy process must be one line of JSON"), "{failure}");
        assert!(failure.contains(&format!("it printed: {rubbish:?}")), "{failure}");
        assert!(failure.ends_with("correct the policy and run it again; the store is intact"), "{failure}");
    }
    let failure = failure(&*policy("read -r shape; printf '\\377\\n'; cat >&2", "10s"));
    assert!(failure.contains("UTF-8"), "{failure}");
}

#[test]
fn invalid_jobs_are_named_with_the_rule_they_break() {
    for (job, rule) in [
        (r#"{"inputs": [], "level": 1}"#, "the compaction job has no input SSTables"),
        (
            r#"{"inputs": [1, 99], "level": 1}"#,
            "the compaction job names SSTable 99 twice, or the tree has no SSTable 99",
        ),
        (r#"{"inputs": [1, 2], "level": 18446744073709551615}"#, "is too deep"),
        (r#"{"inputs": [1, 2], "level": 1, "run": 7777}"#, "run 7777, which is not in level 1"),
        (r#"{"inputs": [1, 2], "level": 1, "action": "move"}"#, "cannot be moved without a merge"),
        (r#"{"inputs": [1, 2, 3, 4], "level": 1, "action": "drop"}"#, "unknown variant `drop`"),
    ] {
        let failure = failure(&*policy(&format!("while read -r shape; do echo '{job}'; done"), "10s"));
        assert!(failure.contains(rule) && failure.contains(&format!("it printed: {job:?}")), "{failure}");
    }
}

#[test]
fn a_process_that_ends_is_named_with_what_it_said() {
    let failure = failure(&*policy("echo the table is wrong >&2; exit 3", "10s"));
    assert!(failure.contains("the policy process ended before it answered (exit status: 3)"), "{failure}");
    assert!(failure.contains("on standard error: \"the table is wrong\""), "{failure}");
    let failure = self::failure(&*policy("read -r shape; printf nul", "10s"));
    assert!(
        failure.contains("in the middle of a line") && failure.contains("it printed: \"nul\""),
        "{failure}"
    );
}

#[test]
fn a_process_that_hangs_is_killed_with_what_it_started() {
    // The process does not read its input, so a large shape fills the pipe. The child process keeps the pipes open.
    let hanging = policy("sleep 600 & sleep 600", "100ms");
    let large = shape(&[&vec![1; 5000]]);
    let start = Instant::now();
    assert_eq!(hanging.pick(&large), None);
    let failure = hanging.failure().unwrap();
    assert!(failure.contains("the policy process did not answer within 100ms"), "{failure}");
    drop(hanging);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn a_process_that_floods_is_stopped() {
    let failure = failure(&*policy("read -r shape; exec tr '\\0' x < /dev/zero", "60s"));
    assert!(
        failure.contains("an answer of the policy process must have at most 16777216 bytes")
            && failure.len() < 2000,
        "{failure}"
    );
}

#[test]
fn a_process_that_speaks_another_protocol_is_refused() {
    for answer in ["{\"protocol\": 2}", "hello", "null"] {
        let script = format!("read -r greeting; echo '{answer}'; cat");
        let failure = failure(&*built(&["sh", "-c", &script], "10s").unwrap());
        assert!(failure.contains("the answer of the policy process to"), "{failure}");
        assert!(failure.contains(&format!("it printed: {answer:?}")), "{failure}");
    }
}

#[test]
fn a_policy_that_never_rests_fails() {
    // The process merges the last run into itself forever.
    let policy = policy(r#"while read -r shape; do echo '{"inputs": [1], "level": 0}'; done"#, "10s");
    let shape = shape(&[&[1]]);
    let jobs = (0..=MAX_JOBS_IN_A_ROW + 1).take_while(|_| policy.pick(&shape).is_some()).count();
    assert!(jobs <= MAX_JOBS_IN_A_ROW as usize + 1, "{jobs}");
    assert!(policy.failure().unwrap().contains("the policy does not stop"));
}

#[test]
fn impossible_parameters_are_refused() {
    let error = built(&["no-such-program-anywhere"], "10s").err().unwrap();
    assert!(error.contains("no program \"no-such-program-anywhere\""), "{error}");
    let error = built(&["./no/such/program"], "10s").err().unwrap();
    assert!(error.contains("starts at the current directory"), "{error}");
    let error = built(&["sh"], "0s").err().unwrap();
    assert!(error.contains("it must be at least 1ns"), "{error}");
    for (label, what) in [("external", "built-in"), ("fifo", "drops data"), ("tierd", "did you mean")] {
        let params = Params { identity: label.to_owned(), ..Params::default() };
        let error = <Builder<crate::Policies> as Build<_>>::build(params).err().unwrap();
        assert!(error.starts_with(&format!("identity is \"{label}\": ")) && error.contains(what), "{error}");
    }
}

/// The shell script of a policy that has no job.
const NO_JOB: &str = r#"read -r greeting; echo '{"protocol": 1}'; while read -r shape; do echo null; done"#;

#[test]
fn the_process_without_jobs_answers_every_line() {
    let mut answers = Vec::new();
    process::answer_without_jobs(&b"greeting\nshape\nshape\n"[..], &mut answers).unwrap();
    assert_eq!(answers, b"{\"protocol\": 1}\nnull\nnull\n");
}

#[test]
fn seams_work_with_a_process_and_without() {
    for label in ["external", r#"external(command=["sh"])"#] {
        let choice = crate::CATALOG.choose(&toml::Value::from(label)).unwrap();
        let mut seam = crate::seam(&choice, &["sh", "-c", NO_JOB].map(str::to_owned)).unwrap();
        (seam.through)();
        (seam.direct)();
    }
    let tiered = crate::CATALOG.choose(&toml::Value::from("tiered")).unwrap();
    assert!(crate::seam(&tiered, &[]).is_none());
}
