//! Runs jobs in parallel, and returns the results in the order of the jobs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Runs `work` on all jobs with `threads` threads. Passes each job with its result to `done`, in the order of the jobs
/// and as early as this order allows.
pub fn in_order<J: Sync, R: Send>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J) -> R + Sync,
    mut done: impl FnMut(&J, R),
) {
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            let (send, next, work) = (send.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { return };
                    if send.send((index, work(job))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut waiting: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
        let mut first = 0;
        for (index, result) in receive {
            waiting[index] = Some(result);
            while let Some(result) = waiting.get_mut(first).and_then(Option::take) {
                done(&jobs[first], result);
                first += 1;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_all_of_them() {
        let jobs: Vec<u64> = (0..50).collect();
        for threads in [0, 1, 4, 100] {
            let mut seen = Vec::new();
            let work = |job: &u64| {
                thread::sleep(std::time::Duration::from_micros((50 - job) * 5));
                job * 2
            };
            in_order(&jobs, threads, work, |job, result| seen.push((*job, result)));
            assert_eq!(seen, jobs.iter().map(|job| (*job, job * 2)).collect::<Vec<_>>());
        }
    }
}
