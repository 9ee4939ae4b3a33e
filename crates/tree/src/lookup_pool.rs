//! A pool of threads that search several sorted runs for one key at the same time.
//!
//! The caller of a get first probes the filters, because filters are in memory. If at least two runs can contain the
//! key, the caller and the threads of the pool search these runs at the same time. Each thread repeatedly takes the
//! newest run that no thread has taken. A run answers the get if it contains a value or a tombstone of the key, or if
//! the search of the run fails. No thread begins to search a run that is older than a run with an answer. The result is
//! the answer of the newest run that has an answer, as in a search that reads one run after another. A get therefore
//! searches at most as many unnecessary runs as it has helpers.
//!
//! Source: the document byron (section 1.4 B and the experiment "Mixed 1M" of section 2.1), which searches all SSTables
//! with `rayon`.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use types::{HashedKey, Lookup};

use crate::error::{Error, Result};
use crate::run_lookup::{Probe, probe, search};
use crate::stats::AllCounters;
use crate::table::Table;
use crate::version::Version;

/// A pool of threads that help the callers of gets to search sorted runs. All callers share these threads.
pub(crate) struct LookupPool {
    threads: ThreadPool,
    helpers: usize,
}

/// The level of a sorted run whose filter does not rule out the key, and the SSTable of this run to search.
struct Candidate<'v> {
    table: &'v Table,
    level: usize,
}

/// A search for one key in several sorted runs, which several threads execute together.
struct Search<'v, 'k> {
    /// The sorted runs that may contain the key, from the newest run to the oldest run.
    candidates: Vec<Candidate<'v>>,
    key: HashedKey<'k>,
    /// The index, in `candidates`, of the next sorted run that no thread has taken.
    next: AtomicUsize,
    /// The index, in `candidates`, of the newest sorted run with an answer. Runs from this index on need no search. If
    /// no run has an answer yet, the number of candidates.
    end: AtomicUsize,
    newest: Mutex<Option<Answer>>,
}

/// The result of the search in one sorted run: a value, a tombstone, or an error.
struct Answer {
    candidate: usize,
    lookup: Result<Lookup>,
    value: Vec<u8>,
}

impl LookupPool {
    /// Starts `helpers` threads that help the callers of gets to search sorted runs.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub(crate) fn start(helpers: usize) -> Result<Self> {
        let builder = ThreadPoolBuilder::new().num_threads(helpers);
        let threads = builder.thread_name(|number| format!("lsm-lookup-{number}")).build();
        let threads =
            threads.map_err(|error| Error::Failed(format!("cannot start the lookup threads: {error}")))?;
        Ok(Self { threads, helpers })
    }

    /// Looks up a key in all sorted runs of a version of the tree. If the newest version of the key is a value, appends
    /// this value to `value`.
    #[inline(never)]
    pub(crate) fn lookup(
        &self,
        version: &Version,
        key: HashedKey<'_>,
        value: &mut Vec<u8>,
        counters: &AllCounters,
    ) -> Result<Lookup> {
        let own = counters.local();
        let (mut candidates, mut otherwise) = (Vec::new(), Lookup::Absent);
        for run in &version.runs {
            match probe(run, key, own) {
                Probe::Search(table) => candidates.push(Candidate { table, level: run.level }),
                Probe::Answer(Lookup::Absent) => {}
                // A range tombstone hides the key in all older runs.
                Probe::Answer(answer) => {
                    otherwise = answer;
                    break;
                }
            }
        }
        match candidates[..] {
            [] => Ok(otherwise),
            [Candidate { table, level }] => match search(table, level, key, value, own)? {
                Lookup::Absent => Ok(otherwise),
                lookup => Ok(lookup),
            },
            _ => match self.search_together(candidates, key, counters) {
                None => Ok(otherwise),
                Some(answer) => {
                    value.extend_from_slice(&answer.value);
                    answer.lookup
                }
            },
        }
    }

    /// Searches at least two sorted runs for a key, with several threads. Returns the answer of the newest run that has
    /// an answer. Returns `None` if no run has an answer.
    fn search_together(
        &self,
        candidates: Vec<Candidate<'_>>,
        key: HashedKey<'_>,
        counters: &AllCounters,
    ) -> Option<Answer> {
        counters.local().parallel_gets.bump();
        let helpers = self.helpers.min(candidates.len() - 1);
        let shared = Search {
            key,
            next: AtomicUsize::new(0),
            end: AtomicUsize::new(candidates.len()),
            newest: Mutex::new(None),
            candidates,
        };
        self.threads.in_place_scope(|scope| {
            (0..helpers).for_each(|_| scope.spawn(|_| shared.run(counters)));
            shared.run(counters);
        });
        shared.newest.into_inner()
    }
}

impl Search<'_, '_> {
    /// Searches sorted runs until no further run can change the answer. Each step takes the newest run that no thread
    /// has taken.
    fn run(&self, counters: &AllCounters) {
        let (counters, mut value) = (counters.local(), Vec::new());
        loop {
            let candidate = self.next.fetch_add(1, Ordering::Relaxed);
            if candidate >= self.end.load(Ordering::Relaxed) {
                return;
            }
            let Candidate { table, level } = self.candidates[candidate];
            let lookup = search(table, level, self.key, &mut value, counters);
            if matches!(lookup, Ok(Lookup::Absent)) {
                continue;
            }
            self.end.fetch_min(candidate, Ordering::Relaxed);
            let mut newest = self.newest.lock();
            if newest.as_ref().is_none_or(|other| candidate < other.candidate) {
                *newest = Some(Answer { candidate, lookup, value });
            }
            return;
        }
    }
}
