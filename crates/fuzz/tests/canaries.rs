//! Readers with seeded faults, which the search for failing inputs must find.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lsmbench_fuzz::{FuzzTarget, Hunt, InputForm, bounded};

/// The constant part of the memory limit for a canary, in bytes.
const SPARE: usize = 1 << 16;

fn seeds() -> Vec<Vec<u8>> {
    vec![b"\x04\0\0\0word\x02\0\0\0no".to_vec(), b"\x01\0\0\0x".to_vec()]
}

fn canary(name: &'static str, run: fn(&[u8]) -> bool) -> FuzzTarget {
    FuzzTarget { name, about: "wrong on purpose", form: InputForm::Bytes, seeds, run }
}

/// Returns the message of the failure that the search finds for a canary.
fn found(target: &FuzzTarget) -> String {
    let hunt = Hunt { seed: 1, changes: 5000, patience: Duration::from_secs(3) };
    let failure = hunt.run(target).expect_err("the hunt finds what is wrong");
    failure.message
}

/// Parses the length-prefixed words of an input. Returns `None` if the input ends before a word is complete.
fn words(mut input: &[u8]) -> Option<Vec<&[u8]>> {
    let mut words = Vec::new();
    while !input.is_empty() {
        let (len, rest) = input.split_first_chunk::<4>()?;
        let (word, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        words.push(word);
        input = rest;
    }
    Some(words)
}

#[test]
fn a_reader_that_is_right_passes() {
    let hunt = Hunt { seed: 1, changes: 5000, patience: Duration::from_secs(30) };
    let right = canary("right", |input| bounded(input.len(), SPARE, || words(input).is_some()));
    let fed = hunt.run(&right).expect("nothing is wrong");
    assert!(fed.inputs == 5002 && (100..4000).contains(&fed.accepted), "{fed:?}");
}

#[test]
fn a_length_that_is_not_checked_is_found() {
    let target = canary("unchecked", |input| {
        if let Some((len, rest)) = input.split_first_chunk::<4>() {
            let _ = &rest[..u32::from_le_bytes(*len) as usize];
        }
        true
    });
    assert!(found(&target).contains("out of range"));
}

#[test]
fn memory_that_a_length_asks_for_is_found() {
    let target = canary("trusting", |input| {
        bounded(input.len(), SPARE, || {
            if let Some((len, rest)) = input.split_first_chunk::<4>() {
                // Within the memory of the machine, so that the memory bound rejects it.
                let mut word = Vec::with_capacity(u32::from_le_bytes(*len).min(1 << 28) as usize);
                word.extend_from_slice(rest);
            }
            true
        })
    });
    assert!(found(&target).contains("bytes of memory at once"));
}

#[test]
fn a_loop_without_end_is_found() {
    static SUM: AtomicU64 = AtomicU64::new(0);
    let target = canary("endless", |input| {
        let mut at = 0;
        while let Some(len) = input.get(at) {
            SUM.fetch_add(1, Ordering::Relaxed);
            // A length of 0 never advances.
            at += usize::from(*len);
        }
        true
    });
    assert!(found(&target).contains("did not finish"));
}

#[test]
fn what_reads_back_otherwise_is_found() {
    let target = canary("lossy", |input| {
        let Some(read) = words(input) else { return false };
        // Empty words are dropped.
        let written = read.iter().filter(|word| !word.is_empty()).flat_map(|word| {
            (word.len() as u32).to_le_bytes().into_iter().chain(word.iter().copied()).collect::<Vec<u8>>()
        });
        assert_eq!(
            written.collect::<Vec<u8>>(),
            input,
            "the file is different after it is written and read again"
        );
        true
    });
    assert!(found(&target).contains("written and read again"));
}

#[test]
fn an_answer_that_is_not_the_input_s_is_found() {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let target = canary("forgetful", |_| {
        let answer = || ASKED.fetch_add(1, Ordering::Relaxed) % 1000 == 999;
        assert_eq!(answer(), answer(), "a second filter from the same bytes gives other answers");
        true
    });
    assert!(found(&target).contains("gives other answers"));
}

#[test]
fn a_corpus_that_is_rejected_or_empty_is_found() {
    let strict = canary("strict", |input| words(input).is_some_and(|words| words.len() > 1));
    assert!(found(&strict).contains("rejects this input of its corpus"));
    let without = FuzzTarget { seeds: Vec::new, ..strict };
    assert!(found(&without).contains("has no corpus"));
}
