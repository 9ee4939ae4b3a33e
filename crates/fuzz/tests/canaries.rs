//! Readers that are wrong on purpose: a hunt that does not find what is wrong with them would find nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lsmbench_fuzz::{Form, Hunt, Target, bounded};

/// The spare memory of a canary, in bytes.
const SPARE: usize = 1 << 16;

fn seeds() -> Vec<Vec<u8>> {
    vec![b"\x04\0\0\0word\x02\0\0\0no".to_vec(), b"\x01\0\0\0x".to_vec()]
}

fn canary(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, about: "wrong on purpose", form: Form::Bytes, seeds, run }
}

/// What the hunt says of a canary.
fn found(target: &Target) -> String {
    let hunt = Hunt { seed: 1, changes: 5000, patience: Duration::from_secs(3) };
    let failure = hunt.run(target).expect_err("the hunt finds what is wrong");
    failure.message
}

/// The words of an input, each behind its length; `None` where one ends too early.
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
    let right = canary("right", |input| drop(bounded(input.len(), SPARE, || words(input))));
    assert_eq!(hunt.run(&right).expect("nothing is wrong"), 5002);
}

#[test]
fn a_length_that_is_not_checked_is_found() {
    let target = canary("unchecked", |input| {
        if let Some((len, rest)) = input.split_first_chunk::<4>() {
            let _ = &rest[..u32::from_le_bytes(*len) as usize];
        }
    });
    assert!(found(&target).contains("out of range"));
}

#[test]
fn memory_that_a_length_asks_for_is_found() {
    let target = canary("trusting", |input| {
        bounded(input.len(), SPARE, || {
            if let Some((len, rest)) = input.split_first_chunk::<4>() {
                // Within what a machine has, so that the bound is what refuses it.
                let mut word = Vec::with_capacity(u32::from_le_bytes(*len).min(1 << 28) as usize);
                word.extend_from_slice(rest);
            }
        });
    });
    assert!(found(&target).contains("bytes were held at once"));
}

#[test]
fn a_loop_without_end_is_found() {
    static SUM: AtomicU64 = AtomicU64::new(0);
    let target = canary("endless", |input| {
        let mut at = 0;
        while let Some(len) = input.get(at) {
            SUM.fetch_add(1, Ordering::Relaxed);
            // A length of 0 leads back to itself.
            at += usize::from(*len);
        }
    });
    assert!(found(&target).contains("does not end"));
}

#[test]
fn what_reads_back_otherwise_is_found() {
    let target = canary("lossy", |input| {
        let Some(read) = words(input) else { return };
        // Empty words are forgotten.
        let written = read.iter().filter(|word| !word.is_empty()).flat_map(|word| {
            (word.len() as u32).to_le_bytes().into_iter().chain(word.iter().copied()).collect::<Vec<u8>>()
        });
        assert_eq!(written.collect::<Vec<u8>>(), input, "it reads back otherwise");
    });
    assert!(found(&target).contains("reads back otherwise"));
}

#[test]
fn an_answer_that_is_not_the_input_s_is_found() {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let target = canary("forgetful", |_| {
        let answer = || ASKED.fetch_add(1, Ordering::Relaxed) % 1000 == 999;
        assert_eq!(answer(), answer(), "the same bytes answer otherwise");
    });
    assert!(found(&target).contains("answer otherwise"));
}
