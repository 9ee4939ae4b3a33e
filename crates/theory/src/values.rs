//! The closed forms of the axis `values`, for stores with values in blob files. They give the bytes that such a store
//! writes, and the share of live values in its blob files.
//!
//! **Load.** In a load of distinct keys, no value becomes stale. A flush writes each record of a blob file once, and
//! compactions copy only SSTables with keys and pointers. See [`separated_write_amp`].
//!
//! **Overwrites.** [`collection`] describes the steady state of a store whose N keys are overwritten at random, each
//! key with equal probability. The unit of ages is N overwrites, so the share exp(−a) of all records with the age a is
//! live. A compaction into the largest level drops the old entries of all keys. Such a compaction runs after every x·N
//! overwrites. Only then does the store detect stale values, so collections follow these compactions. u is the live
//! share of the records that are collected, s is the parameter `stale_share`.
//!
//! * `value-log` collects the oldest records (first in, first out). While the stale share is s, the log contains
//!   N / (1 − s) records, plus on average x·N / 2 records that are flushed between two compactions. The tail of the log
//!   therefore has the distance m = 1 / (1 − s) + x / 2 from the head, in units of N records. Flushes wrote the share
//!   1 − u of this distance. A collected segment has g·N records, so its mean distance is g / 2 smaller. The last
//!   records before a collection come from flushes, which adds u·g / 2. The result is the equation
//!   u = exp(−(1 − u)·(m − (1 − u)·g / 2)). The log writes 1 / (1 − u) records per flushed record. The equation for
//!   x = g = 0 is in Menon, "A Performance Comparison of RAID-5 and Log-Structured Arrays" (HPDC 1995), and in
//!   Desnoyers, "Analytic Models of SSD Write Performance" (ACM TOS 2014, LRU cleaning). The cost 1 / (1 − u) is in
//!   Rosenblum and Ousterhout, "The Design and Implementation of a Log-Structured File System" (ACM TOCS 1992).
//! * `blob-files` and the large values of `tiered-by-size` collect each file whose stale share is at least s, whatever
//!   its age is. All files lose live records at the same rate, so a file is collected at the age −ln(1 − s), rounded up
//!   to the next compaction. With `relocation = "compaction"`, the live records move one compaction later. The records
//!   of a flush have the live share v when they move, and records that were moved before have the live share u. A
//!   flushed record then causes 1 + v / (1 − u) written records. For x → 0, the value is 1 / s, and the mean live share
//!   is s / −ln(1 − s).
//! * `hash-partitioned` collects the partition with the most stale records. All versions of a key are in one partition,
//!   so a partition has N / K live records of K partitions. In the steady state, the stale records of the partitions
//!   are evenly spaced from 0 to S, and their sum is S·(K + 1) / 2 = N·(s / (1 − s) + x / 2). A collection moves N / K
//!   records for S overwrites. This derivation has no published source.
//!
//! The forms assume that a flush writes few of the N keys, and many records per blob file. If a file has few records,
//! all of them can be stale before the file is collected. The store removes such a file without a copy, and writes less
//! than the form states.

use catalog::Choice;

use crate::forms::number;

/// The maximum number of steps of the fixed-point iteration for the share of live records in a value log. In some
/// cases, the iteration would otherwise not end in time.
const STEPS: usize = 10_000;

/// The iteration for the share of live records ends when a step changes the share by less than this number.
const LEAST_CHANGE: f64 = 1e-12;

/// The smallest number of records per blob file for which the closed forms are valid.
const LEAST_RECORDS: f64 = 10.0;

/// The smallest number of earlier overwrites per key after which the blob files are in the steady state. With fewer
/// overwrites, many files still have equal ages, because the load wrote them.
const LEAST_EARLIER: f64 = 4.0;

/// The smallest number of compactions into the largest level after which the written bytes are near their mean. Garbage
/// collections of blob files follow these compactions.
const LEAST_MERGES: f64 = 5.0;

/// Overwrites of uniformly random keys.
#[derive(Clone, Copy, Debug)]
pub struct Overwrites {
    /// The number N of keys, each with one live record.
    pub keys: f64,
    /// The mean number of overwrites of each key before these overwrites.
    pub earlier: f64,
    /// The number of flushes during the overwrites.
    pub flushes: f64,
    /// The number of records that a flush writes to blob files.
    pub flush_records: f64,
    /// The number of flushes between two compactions into the largest level, at least 1.
    pub flushes_per_merge: u64,
    /// The number of records in a full blob file.
    pub file_records: f64,
    /// The mean number of records that one garbage collection takes from the tail of a value log.
    pub segment_records: f64,
    /// The number of partitions of the blob files, at least 1.
    pub partitions: u32,
}

/// The result of garbage collection of blob files in the steady state, while random keys are overwritten.
#[derive(Clone, Copy, Debug)]
pub struct Collection {
    /// The number of records that flushes and garbage collections write to blob files, per flushed record.
    pub write_amp: f64,
    /// The mean share of the bytes in blob files that is live, because SSTables refer to them.
    pub live_share: f64,
}

/// Returns the write amplification of a store with values in blob files, in a load of distinct keys.
///
/// * `growth` is the write amplification of the compaction policy.
/// * `flushed` contains the bytes that flushes write to SSTables, and to blob files.
/// * `stored` is the size of all SSTables after the load. Compactions write this size `growth − 1` times.
pub fn separated_write_amp(growth: f64, flushed: (f64, f64), stored: f64, user_bytes: f64) -> f64 {
    let (table_bytes, blob_bytes) = flushed;
    (table_bytes + (growth - 1.0) * stored + blob_bytes) / user_bytes
}

/// Returns the steady state of blob files under uniformly random overwrites, for the value policy `values`. Returns
/// `None` in these cases:
///
/// * The policy has no closed form.
/// * A blob file has fewer than 10 records.
/// * The steady state is not reached, or there are fewer than 5 compactions into the largest level.
/// * In a value log, the iteration does not converge, or segments are longer than the log.
pub fn collection(values: &Choice, overwrites: &Overwrites) -> Option<Collection> {
    let share = number(values, "stale_share").filter(|share| *share > 0.0 && *share < 1.0)?;
    let steady = Steady { share, overwrites };
    if !overwrites.are_steady(share) {
        return None;
    }
    match values.kind() {
        "value-log" => steady.log(),
        "blob-files" => {
            let is_apart =
                values.params().get("relocation").and_then(|value| value.as_str()) == Some("apart");
            Some(steady.files(u32::from(!is_apart)))
        }
        "tiered-by-size" => Some(steady.files(1)),
        "hash-partitioned" => Some(steady.partitions()),
        _ => None,
    }
}

impl Overwrites {
    /// Returns whether the overwrites reach the steady state for which the closed forms are valid. `share` is the stale
    /// share at which blob files are collected.
    fn are_steady(&self, share: f64) -> bool {
        let per_file = self.file_records.min(self.flush_records / f64::from(self.partitions));
        // A value log and partitions begin to collect after s / (1 − s) overwrites per key. Then all their records are
        // written again in at most 1 / (1 − s) overwrites per key.
        let warm_up = LEAST_EARLIER.max(2.0 / (1.0 - share));
        let merges = self.flushes / self.flushes_per_merge as f64;
        per_file >= LEAST_RECORDS && self.earlier >= warm_up && merges >= LEAST_MERGES
    }
}

/// The inputs of the closed forms: a stale share and the overwrites. Ages are in units of N overwrites, where N is the
/// number of keys.
struct Steady<'a> {
    share: f64,
    overwrites: &'a Overwrites,
}

impl Steady<'_> {
    /// Returns x: the time between two compactions into the largest level, in units of N overwrites.
    fn period(&self) -> f64 {
        self.overwrites.flush_records * self.overwrites.flushes_per_merge as f64 / self.overwrites.keys
    }

    /// Returns the mean number of records that flushes have written since the last compaction into the largest level,
    /// as a fraction of the N keys.
    fn waiting(&self) -> f64 {
        (self.period() - self.overwrites.flush_records / self.overwrites.keys) / 2.0
    }

    /// Returns the mean fraction of live records in blob files, which contain `stored`·N records directly after a
    /// garbage collection.
    fn live_share(&self, stored: f64) -> f64 {
        (1.0 + self.waiting()) / (stored + self.waiting())
    }

    fn log(&self) -> Option<Collection> {
        let segment = self.overwrites.segment_records / self.overwrites.keys;
        let tail = 1.0 / (1.0 - self.share) + self.period() / 2.0;
        let age = |live: f64| (1.0 - live) * (tail - (1.0 - live) * segment / 2.0);
        let mut steps = std::iter::successors(Some(0.0), |live: &f64| Some((-age(*live)).exp())).take(STEPS);
        let mut last = steps.next()?;
        let live = steps.find(|live| (live - std::mem::replace(&mut last, *live)).abs() < LEAST_CHANGE)?;
        if segment > tail {
            return None;
        }
        let stored = 1.0 / (1.0 - self.share) - (1.0 - live) * segment / 2.0;
        Some(Collection { write_amp: 1.0 / (1.0 - live), live_share: self.live_share(stored) })
    }

    /// Returns the steady state of blob files that are collected `delay` compactions after they reach the stale share.
    fn files(&self, delay: u32) -> Collection {
        let (period, flushes) = (self.period(), self.overwrites.flushes_per_merge);
        let threshold = -(-self.share).ln_1p();
        // The age at which the records of a file move, if their age at their first compaction is `first`.
        let age = |first: f64| {
            let further = ((threshold - first) / period).ceil().max(0.0);
            first + (further + f64::from(delay)) * period
        };
        // The mean live share and the mean age of the records of a flush when they move.
        let (mut fresh, mut fresh_age) = (0.0, 0.0);
        for flush in 0..flushes {
            let age = age(flush as f64 * period / flushes as f64);
            fresh += (-age).exp() / flushes as f64;
            fresh_age += age / flushes as f64;
        }
        // The age at which records move again.
        let old = age(period);
        let relocations = fresh / (1.0 - (-old).exp());
        let stored = fresh_age + relocations * old;
        Collection { write_amp: 1.0 + relocations, live_share: (1.0 + self.waiting()) / stored }
    }

    fn partitions(&self) -> Collection {
        let partitions = f64::from(self.overwrites.partitions);
        let threshold = self.share / (1.0 - self.share);
        let most = 2.0 * (threshold + self.period() / 2.0) / (partitions + 1.0);
        let stored = 1.0 + threshold - most / 2.0;
        Collection { write_amp: 1.0 + 1.0 / (partitions * most), live_share: self.live_share(stored) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store whose flushes and segments are small, so that the forms have the values of the literature.
    const FINE: Overwrites = Overwrites {
        keys: 1e9,
        earlier: 100.0,
        flushes: 1e9,
        flush_records: 1.0,
        flushes_per_merge: 1,
        file_records: 1.0,
        segment_records: 1.0,
        partitions: 1_000_000,
    };

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-5, "{value}, not {expected}");
    }

    #[test]
    fn small_files_have_the_cleaning_costs_of_the_literature() {
        for share in [0.1, 0.3, 0.5, 0.9] {
            let steady = Steady { share, overwrites: &FINE };
            let log = steady.log().expect("the log has stale records");
            // Desnoyers: u is the smaller solution of u = exp(−(1 − u) / (1 − s)).
            let live = 1.0 - 1.0 / log.write_amp;
            near(live, (-(1.0 - live) / (1.0 - share)).exp());
            near(log.live_share, 1.0 - share);
            for files in [steady.files(0), steady.files(1)] {
                near(files.write_amp, 1.0 / share);
                near(files.live_share, -share / (1.0 - share).ln());
            }
            let partitions = steady.partitions();
            near(partitions.write_amp, 1.0 + (1.0 - share) / share / 2.0);
            assert!(partitions.write_amp < 1.0 / share, "partitions are collected in the best order");
        }
        let whole = Overwrites { segment_records: 2e9, ..FINE };
        assert!(
            Steady { share: 0.1, overwrites: &whole }.log().is_none(),
            "a segment is larger than the log"
        );
        assert!(Steady { share: 1e-6, overwrites: &FINE }.log().is_none(), "u is almost 1");
    }

    #[test]
    fn a_store_outside_of_the_assumptions_has_no_form() {
        let steady = Overwrites { flush_records: 100.0, file_records: 100.0, partitions: 1, ..FINE };
        assert!(steady.are_steady(0.5));
        assert!(!Overwrites { file_records: 4.0, ..steady }.are_steady(0.5), "small files");
        assert!(!Overwrites { partitions: 20, ..steady }.are_steady(0.5), "small files of partitions");
        assert!(!Overwrites { earlier: 5.0, ..steady }.are_steady(0.9), "no collections yet");
        let short = Overwrites { flushes: 100.0, flushes_per_merge: 50, ..steady };
        assert!(!short.are_steady(0.5), "two compactions");
    }
}
